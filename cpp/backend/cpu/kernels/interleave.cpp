// Splits and joins interleaved columns of one memory: coordinates of points, real and imaginary
// parts, corners of boxes. A strided loop per column would read all of the memory each time; here
// one pass reads (writes) it in order and shuffles.
//
// Sixteen bytes of each of S columns are S times sixteen bytes of the block, and shuffles stay
// within them, so wider vectors process several such groups at once. With AVX-512 one instruction
// shuffles all lanes of two vectors, so the block is read and written in whole vectors. Compiled
// once per instruction set, flags as in elementwise.h.
#include <utility>

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

// Shuffles `columns` vectors, each with sixteen bytes of the block, to one vector per column; and
// back. float64 represents all elements of 8 bytes, float32 those of 4.
template <int columns>
void separate(Lanes<float>::Vector* v) {
  using L = Lanes<float>;
  if constexpr (columns == 2) {
    const auto first = v[0];
    v[0] = L::choose<0, 2, 4, 6>(first, v[1]);
    v[1] = L::choose<1, 3, 5, 7>(first, v[1]);
  } else if constexpr (columns == 3) {
    // a0 b0 c0 a1, b1 c1 a2 b2, c2 a3 b3 c3
    const auto low = L::choose<1, 2, 4, 5>(v[0], v[1]);   // b0 c0 b1 c1
    const auto high = L::choose<2, 3, 5, 6>(v[1], v[2]);  // a2 b2 a3 b3
    v[0] = L::choose<0, 3, 4, 6>(v[0], high);
    v[1] = L::choose<0, 2, 5, 7>(low, high);
    v[2] = L::choose<1, 3, 4, 7>(low, v[2]);
  } else {
    L::transpose(v[0], v[1], v[2], v[3]);
  }
}
template <int columns>
void join(Lanes<float>::Vector* v) {
  using L = Lanes<float>;
  if constexpr (columns == 2) {
    const auto first = v[0];
    v[0] = L::choose<0, 4, 1, 5>(first, v[1]);
    v[1] = L::choose<2, 6, 3, 7>(first, v[1]);
  } else if constexpr (columns == 3) {
    const auto ab = L::choose<0, 2, 4, 6>(v[0], v[1]);  // a0 a2 b0 b2
    const auto bc = L::choose<1, 3, 5, 7>(v[1], v[2]);  // b1 b3 c1 c3
    const auto ca = L::choose<0, 2, 5, 7>(v[2], v[0]);  // c0 c2 a1 a3
    v[0] = L::choose<0, 2, 4, 6>(ab, ca);
    v[1] = L::choose<0, 2, 5, 7>(bc, ab);
    v[2] = L::choose<1, 3, 5, 7>(ca, bc);
  } else {
    L::transpose(v[0], v[1], v[2], v[3]);
  }
}
template <int columns>
void separate(Lanes<double>::Vector* v) {
  using L = Lanes<double>;
  if constexpr (columns == 3) {
    // a0 b0, c0 a1, b1 c1
    const auto first = v[0];
    const auto middle = v[1];
    v[0] = L::choose<0, 3>(first, middle);
    v[1] = L::choose<1, 2>(first, v[2]);
    v[2] = L::choose<0, 3>(middle, v[2]);
  } else {
    constexpr int half = columns / 2;  // a0 b0 (c0 d0), a1 b1 (c1 d1)
    const auto first = v[0];
    const auto second = v[half - 1];
    const auto third = v[half];
    const auto last = v[columns - 1];
    v[0] = L::choose<0, 2>(first, third);
    v[1] = L::choose<1, 3>(first, third);
    v[columns - 2] = L::choose<0, 2>(second, last);
    v[columns - 1] = L::choose<1, 3>(second, last);
  }
}
template <int columns>
void join(Lanes<double>::Vector* v) {
  using L = Lanes<double>;
  const auto a = v[0];
  const auto b = v[1];
  if constexpr (columns == 2) {
    v[0] = L::choose<0, 2>(a, b);
    v[1] = L::choose<1, 3>(a, b);
  } else if constexpr (columns == 3) {
    const auto c = v[2];
    v[0] = L::choose<0, 2>(a, b);
    v[1] = L::choose<0, 3>(c, a);
    v[2] = L::choose<1, 3>(b, c);
  } else {
    const auto c = v[2];
    const auto d = v[3];
    v[0] = L::choose<0, 2>(a, b);
    v[1] = L::choose<0, 2>(c, d);
    v[2] = L::choose<1, 3>(a, b);
    v[3] = L::choose<1, 3>(c, d);
  }
}

constexpr bool kWholeShuffles = PULLBACK_KERNELS::kVectorBytes == 64;

// Numbers of lanes for shuffles of whole vectors. Entry e of the block is entry e / columns of
// column e % columns; lanes of the second operand count from kCount.
template <class T, int columns>
struct WholeLanes {
  static constexpr int kCount = Lanes<T>::kCount;
  static constexpr int entry_of(int j, int column) { return j * columns + column; }
  // Column k: from the first two vectors of the block, then with the third; of four, from each two.
  static constexpr int split_first(int j, int k) { return entry_of(j, k) % (2 * kCount); }
  static constexpr int split_third(int j, int k) {
    return entry_of(j, k) < 2 * kCount ? j : entry_of(j, k) - kCount;
  }
  static constexpr int split_halves(int j, int k) {
    return entry_of(j, k) < 2 * kCount ? j : kCount + j;
  }
  // Vector i of the block: likewise from the columns.
  static constexpr int column_of(int j, int i) { return (i * kCount + j) % columns; }
  static constexpr int row_of(int j, int i) { return (i * kCount + j) / columns; }
  static constexpr int join_first(int j, int i) {
    return column_of(j, i) % 2 * kCount + row_of(j, i);
  }
  static constexpr int join_third(int j, int i) {
    return column_of(j, i) < 2 ? j : kCount + row_of(j, i);
  }
  static constexpr int join_halves(int j, int i) { return column_of(j, i) < 2 ? j : kCount + j; }
};

template <class T, int columns, int k>
typename Lanes<T>::Vector split_whole(const typename Lanes<T>::Vector* v) {
  using L = Lanes<T>;
  using W = WholeLanes<T, columns>;
  const auto first = L::template shuffled<W::split_first, k>(v[0], v[1]);
  if constexpr (columns == 2) return first;
  if constexpr (columns == 3) return L::template shuffled<W::split_third, k>(first, v[2]);
  const auto second = L::template shuffled<W::split_first, k>(v[columns - 2], v[columns - 1]);
  return L::template shuffled<W::split_halves, k>(first, second);
}
template <class T, int columns, int i>
typename Lanes<T>::Vector join_whole(const typename Lanes<T>::Vector* v) {
  using L = Lanes<T>;
  using W = WholeLanes<T, columns>;
  const auto first = L::template shuffled<W::join_first, i>(v[0], v[1]);
  if constexpr (columns == 2) return first;
  if constexpr (columns == 3) return L::template shuffled<W::join_third, i>(first, v[2]);
  const auto second = L::template shuffled<W::join_first, i>(v[columns - 2], v[columns - 1]);
  return L::template shuffled<W::join_halves, i>(first, second);
}

// Stores all columns, or all vectors of the block.
template <class T, int columns, int... k>
[[gnu::always_inline]] inline void store_split(T* const* y, int64_t r,
                                               const typename Lanes<T>::Vector* v,
                                               std::integer_sequence<int, k...> /*each*/) {
  (Lanes<T>::store(y[k] + r, split_whole<T, columns, k>(v)), ...);
}
template <class T, int columns, int... i>
[[gnu::always_inline]] inline void store_joined(T* y, const typename Lanes<T>::Vector* v,
                                                std::integer_sequence<int, i...> /*each*/) {
  (Lanes<T>::store(y + i * Lanes<T>::kCount, join_whole<T, columns, i>(v)), ...);
}

template <class T, int columns>
void deinterleave(void* const* out, const void* block, int64_t n) noexcept {
  using L = Lanes<T>;
  T* y[columns];
  for (int k = 0; k < columns; ++k) y[k] = static_cast<T*>(out[k]);
  const auto* x = static_cast<const T*>(block);
  int64_t r = 0;
  for (; r + L::kCount <= n; r += L::kCount, x += columns * L::kCount) {
    typename L::Vector v[columns];
    if constexpr (kWholeShuffles) {
#pragma GCC unroll 4
      for (int k = 0; k < columns; ++k) v[k] = L::load(x + k * L::kCount);
      store_split<T, columns>(y, r, v, std::make_integer_sequence<int, columns>());
      continue;
    }
#pragma GCC unroll 4
    for (int k = 0; k < columns; ++k) {
      v[k] = L::load_shorts([&](int i) { return x + (i * columns + k) * L::kShort; });
    }
    separate<columns>(v);
#pragma GCC unroll 4
    for (int k = 0; k < columns; ++k) L::store(y[k] + r, v[k]);
  }
  for (; r < n; ++r, x += columns) {
    for (int k = 0; k < columns; ++k) y[k][r] = x[k];
  }
}

template <class T, int columns>
void interleave(void* block, const void* const* in, int64_t n) noexcept {
  using L = Lanes<T>;
  const T* x[columns];
  for (int k = 0; k < columns; ++k) x[k] = static_cast<const T*>(in[k]);
  auto* y = static_cast<T*>(block);
  int64_t r = 0;
  for (; r + L::kCount <= n; r += L::kCount, y += columns * L::kCount) {
    typename L::Vector v[columns];
#pragma GCC unroll 4
    for (int k = 0; k < columns; ++k) v[k] = L::load(x[k] + r);
    if constexpr (kWholeShuffles) {
      store_joined<T, columns>(y, v, std::make_integer_sequence<int, columns>());
      continue;
    }
    join<columns>(v);
#pragma GCC unroll 4
    for (int k = 0; k < columns; ++k) {
      L::store_shorts(v[k], [&](int i) { return y + (i * columns + k) * L::kShort; });
    }
  }
  for (; r < n; ++r, y += columns) {
    for (int k = 0; k < columns; ++k) y[k] = x[k][r];
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const InterleaveTable kInterleaveTable = {
    {{&interleave<float, 2>, &interleave<double, 2>},
     {&interleave<float, 3>, &interleave<double, 3>},
     {&interleave<float, 4>, &interleave<double, 4>}},
    {{&deinterleave<float, 2>, &deinterleave<double, 2>},
     {&deinterleave<float, 3>, &deinterleave<double, 3>},
     {&deinterleave<float, 4>, &deinterleave<double, 4>}},
};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
