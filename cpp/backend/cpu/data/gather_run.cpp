// Runs Gather. All indices are checked before anything is written, unless an earlier step has
// checked them, and not again.
#include <cstring>

#include "backend/cpu/data/index_parts.h"
#include "backend/cpu/data/index_run.h"

namespace pullback {
namespace {

template <class T, class I>
void gather_elements(const T* in, int64_t stride, const I* indices, T* out, int64_t n,
                     int64_t axis) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = in[index_parts::position(indices[i], axis)];
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = in[index_parts::position(indices[i], axis) * stride];
  }
}

// For rows too short for a call of memcpy.
void copy_bytes(char* to, const char* from, int64_t bytes) {
  constexpr int64_t kStep = 16;
  if (bytes < kStep) {
    for (int64_t i = 0; i < bytes; i += 4) std::memcpy(to + i, from + i, 4);
    return;
  }
  for (int64_t i = 0; i + kStep < bytes; i += kStep) std::memcpy(to + i, from + i, kStep);
  std::memcpy(to + bytes - kStep, from + bytes - kStep, kStep);
}

// Copies rows of `inner` elements that are `stride` elements apart in the input.
template <class T, class I>
void gather_rows(const T* in, int64_t stride, int64_t inner, int64_t inner_stride, const I* indices,
                 T* out, int64_t n, int64_t axis) {
  const int64_t bytes = inner * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < n; ++i, out += inner) {
    const T* row = in + index_parts::position(indices[i], axis) * stride;
    if (i + index_parts::kAhead < n)
      __builtin_prefetch(in +
                         index_parts::position(indices[i + index_parts::kAhead], axis) * stride);
    if (inner_stride == 1 && sizeof(T) >= 4 && bytes <= 256) {
      copy_bytes(reinterpret_cast<char*>(out), reinterpret_cast<const char*>(row), bytes);
    } else if (inner_stride == 1) {
      std::memcpy(out, row, static_cast<size_t>(bytes));
    } else {
      for (int64_t j = 0; j < inner; ++j) out[j] = row[j * inner_stride];
    }
  }
}

// Many blocks, a few elements of each: columns of a long matrix.
template <class T, class I>
void gather_small_blocks(const Gather& g, const I* indices, const T* in, T* out) {
  const Strides& stride = g.in.strides;
  const int64_t elements = g.indices.shape.size() * g.inner;
  int64_t from[index_parts::kSmallBlock];
  for (int64_t e = 0; e < elements; ++e) {
    from[e] =
        index_parts::position(indices[e / g.inner], g.axis) * stride[1] + e % g.inner * stride[2];
  }
  index_parts::for_small_blocks(g.outer, elements, [&](int64_t first, int64_t last) {
    const T* x = in + first * stride[0];
    T* y = out + first * elements;
    for (int64_t o = first; o < last; ++o, x += stride[0], y += elements) {
      for (int64_t e = 0; e < elements; ++e) y[e] = x[from[e]];
    }
  });
}

// True if many elements are read of few, or of adjacent ones: the blocks of some positions are then
// in a near cache, whatever their order.
bool are_near(const Gather& g, int64_t n) {
  constexpr int64_t kNear = 256 * 1024;  // bytes
  constexpr int64_t kMany = 512;         // positions
  // Fewer blocks take longer than computing offsets again, more would leave threads idle.
  constexpr int64_t kLeast = 4, kMost = 128;
  if (g.outer < kLeast || g.outer > kMost || g.inner != 1 || n < kMany) return false;
  return g.in.strides[0] == 1 || g.outer * g.axis * size_of(g.in.dtype) <= kNear;
}

// An element of each of several blocks at each position, whose offset is computed once.
template <class T, class I>
void gather_near(const Gather& g, const I* indices, const T* in, T* out, int64_t n) {
  constexpr int64_t kSome = 512;
  const Strides& stride = g.in.strides;
  parallel_for(ceil_div(n, kSome), g.outer * n > 64 * 1024, [&](int64_t chunk) {
    const int64_t first = chunk * kSome;
    const int64_t count = std::min(kSome, n - first);
    int64_t from[kSome];
    for (int64_t i = 0; i < count; ++i) {
      from[i] = index_parts::position(indices[first + i], g.axis) * stride[1];
    }
    for (int64_t o = 0; o < g.outer; ++o) {
      const T* x = in + o * stride[0];
      T* y = out + o * n + first;
      for (int64_t i = 0; i < count; ++i) y[i] = x[from[i]];
    }
  });
}

template <class T, class I>
Status gather(const Gather& g, const Slots& slots) {
  const auto* indices = reinterpret_cast<const I*>(slots.at(g.indices));
  const int64_t n = g.indices.shape.size();
  const Status checked = g.checked ? Status{} : index_parts::check(indices, n, g.axis);
  if (!checked || g.outer * n * g.inner == 0) return checked;
  const T* in = reinterpret_cast<const T*>(slots.at(g.in));
  T* out = reinterpret_cast<T*>(slots.at(g.out));
  if (g.outer > 1 && n * g.inner <= index_parts::kSmallBlock) {
    gather_small_blocks(g, indices, in, out);
    return {};
  }
  if (are_near(g, n)) {
    gather_near(g, indices, in, out, n);
    return {};
  }
  const Strides& stride = g.in.strides;
  const int64_t rows = g.outer * n;
  const int64_t per_chunk = chunk_size(rows, g.inner);
  parallel_for(ceil_div(rows, per_chunk), rows * g.inner > 64 * 1024, [&](int64_t chunk) {
    int64_t r = chunk * per_chunk;
    const int64_t end = std::min(r + per_chunk, rows);
    while (r < end) {
      const int64_t o = r / n;
      const int64_t first = r - o * n;
      const int64_t take = std::min(end - r, n - first);
      const T* from = in + o * stride[0];
      if (g.inner == 1) {
        gather_elements(from, stride[1], indices + first, out + r, take, g.axis);
      } else {
        gather_rows(from, stride[1], g.inner, stride[2], indices + first, out + r * g.inner, take,
                    g.axis);
      }
      r += take;
    }
  });
  return {};
}

template <class T>
Status gather_of(const Gather& g, const Slots& slots) {
  return g.indices.dtype == DType::Int32 ? gather<T, int32_t>(g, slots)
                                         : gather<T, int64_t>(g, slots);
}

}  // namespace

Status run_gather(const Gather& g, const Slots& slots) {
  switch (size_of(g.in.dtype)) {
    case 1:
      return gather_of<uint8_t>(g, slots);
    case 2:
      return gather_of<uint16_t>(g, slots);
    case 4:
      return gather_of<uint32_t>(g, slots);
    default:
      return gather_of<uint64_t>(g, slots);
  }
}

}  // namespace pullback
