// Runs scans: row by row, or many neighbouring columns together. Float32 sums, products and
// recurrences are computed in float64. Sums along a row restart every kBlock entries and add the
// sum before, so that several threads can share a long row and return the bits of one thread.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "backend/cpu/data/scan_sort_run.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kBlock = 16 * 1024;
constexpr int64_t kStrip = 64;  // columns scanned together

// The initial value leaves the first entry unchanged, including the sign of a zero.
template <class A>
constexpr A kNothing = std::is_floating_point_v<A> ? static_cast<A>(-0.0) : A(0);

struct Add {
  template <class A>
  static A step(A so_far, A x) {
    return so_far + x;
  }
  template <class A>
  static constexpr A start = kNothing<A>;
};
struct Multiply {
  template <class A>
  static A step(A so_far, A x) {
    return so_far * x;
  }
  template <class A>
  static constexpr A start = A(1);
};
// A NaN stays.
struct Largest {
  template <class A>
  static A step(A so_far, A x) {
    return x > so_far || x != x ? x : so_far;
  }
};
struct Smallest {
  template <class A>
  static A step(A so_far, A x) {
    return x < so_far || x != x ? x : so_far;
  }
};

// The entries of an operand, in the direction of the scan.
struct Side {
  int64_t first = 0, along = 1, outer = 0, inner = 1;

  Side(const Strides& stride, int64_t length, bool reversed)
      : first(reversed && length ? (length - 1) * stride[1] : 0),
        along(reversed ? -stride[1] : stride[1]),
        outer(stride[0]),
        inner(stride[2]) {}
};

template <class T, class A, class R>
struct Operands {
  const T* in;
  const T* factors;
  R* out;
  Side from, by, to;
  int64_t length;
};

// Scans entries of a row, starting with `so_far`; returns the last result.
template <class F, class A, class T, class R>
A scan_row(const T* x, int64_t dx, R* y, int64_t dy, int64_t n, A so_far) {
  for (int64_t i = 0; i < n; ++i) {
    so_far = F::step(so_far, static_cast<A>(x[i * dx]));
    y[i * dy] = static_cast<R>(so_far);
  }
  return so_far;
}

// The same for a block of a sum, where `before` is the sum before it. Works on four entries at a
// time, so that each waits for one addition only. Returns the sum of the block. If that is finite,
// no result overflows but those that do so entry by entry.
template <bool store, class A, class T, class R>
A sum_block(const T* x, int64_t dx, R* y, int64_t dy, int64_t n, A before) {
  A sum = kNothing<A>;
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    const A a = static_cast<A>(x[i * dx]);
    const A b = a + static_cast<A>(x[(i + 1) * dx]);
    const A c = b + static_cast<A>(x[(i + 2) * dx]);
    const A d = c + static_cast<A>(x[(i + 3) * dx]);
    if constexpr (store) {
      const A so_far = before + sum;
      y[i * dy] = static_cast<R>(so_far + a);
      y[(i + 1) * dy] = static_cast<R>(so_far + b);
      y[(i + 2) * dy] = static_cast<R>(so_far + c);
      y[(i + 3) * dy] = static_cast<R>(so_far + d);
    }
    sum = sum + d;
  }
  for (; i < n; ++i) {
    sum = sum + static_cast<A>(x[i * dx]);
    if constexpr (store) y[i * dy] = static_cast<R>(before + sum);
  }
  return sum;
}

template <bool store, class A, class T, class R>
A sum_block_of(const T* x, int64_t dx, R* y, int64_t dy, int64_t n, A before) {
  if (dx == 1 && dy == 1) return sum_block<store, A>(x, 1, y, 1, n, before);
  return sum_block<store, A>(x, dx, y, dy, n, before);
}

template <class A>
bool is_finite(A a) {
  return a - a == 0;
}

// Scans a block after `before`; returns the sum up to its end. The sum of the block alone may
// overflow where the sum so far does not: then it is added entry by entry.
template <class A, class T, class R>
A scan_block(const T* x, int64_t dx, R* y, int64_t dy, int64_t n, A before) {
  const A sum = sum_block_of<true, A>(x, dx, y, dy, n, before);
  return is_finite(sum) ? before + sum : scan_row<Add, A>(x, dx, y, dy, n, before);
}

template <class A, class T, class R>
void sum_row(const T* x, int64_t dx, R* y, int64_t dy, int64_t n) {
  A before = kNothing<A>;
  for (int64_t i = 0; i < n; i += kBlock) {
    if (i > 0 && stop_requested()) return;
    before = scan_block<A>(x + i * dx, dx, y + i * dy, dy, std::min(kBlock, n - i), before);
  }
}

// For a row that is worth several threads.
template <class A, class T, class R>
bool sum_long_row(const T* x, int64_t dx, R* y, int64_t dy, int64_t n) {
  const int64_t blocks = ceil_div(n, kBlock);
  const StepMemory memory(blocks * static_cast<int64_t>(sizeof(A)));
  if (!memory.data()) return false;
  A* before = reinterpret_cast<A*>(memory.data());
  const auto length = [&](int64_t b) { return std::min(kBlock, n - b * kBlock); };
  parallel_for(blocks, true, [&](int64_t b) {
    before[b] = sum_block_of<false, A>(x + b * kBlock * dx, dx, y, dy, length(b), A(0));
  });
  A sum = kNothing<A>;
  for (int64_t b = 0; b < blocks; ++b) {
    const A own = before[b];
    before[b] = sum;
    const int64_t first = b * kBlock;
    sum = is_finite(own) ? sum + own
                         : scan_block<A>(x + first * dx, dx, y + first * dy, dy, length(b), sum);
  }
  parallel_for(blocks, true, [&](int64_t b) {
    scan_block<A>(x + b * kBlock * dx, dx, y + b * kBlock * dy, dy, length(b), before[b]);
  });
  return true;
}

template <class F, class A, class T, class R>
void scan_whole_row(const Operands<T, A, R>& s, int64_t o) {
  const T* x = s.in + s.from.first + o * s.from.outer;
  R* y = s.out + s.to.first + o * s.to.outer;
  const int64_t dx = s.from.along;
  const int64_t dy = s.to.along;
  if constexpr (std::is_same_v<F, Add>) {
    if (!s.factors) return sum_row<A>(x, dx, y, dy, s.length);
    const T* a = s.factors + s.by.first + o * s.by.outer;
    A r = static_cast<A>(x[0]);
    y[0] = static_cast<R>(r);
    for (int64_t i = 1; i < s.length; ++i) {
      r = static_cast<A>(a[i * s.by.along]) * r + static_cast<A>(x[i * dx]);
      y[i * dy] = static_cast<R>(r);
    }
  } else if constexpr (std::is_same_v<F, Multiply>) {
    scan_row<F, A>(x, dx, y, dy, s.length, F::template start<A>);
  } else {
    y[0] = x[0];
    scan_row<F, A>(x + dx, dx, y + dy, dy, s.length - 1, static_cast<A>(x[0]));
  }
}

// Columns first … first + count - 1 of outer block o.
template <class F, class A, class T, class R>
void scan_columns(const Operands<T, A, R>& s, int64_t o, int64_t first, int64_t count) {
  A so_far[kStrip] = {};
  const T* x = s.in + s.from.first + o * s.from.outer + first * s.from.inner;
  const T* a = s.factors ? s.factors + s.by.first + o * s.by.outer + first * s.by.inner : nullptr;
  R* y = s.out + s.to.first + o * s.to.outer + first;
  const auto each = [&](const T* in, const T* by, auto&& step) {
    for (int64_t j = 0; j < count; ++j) {
      so_far[j] = step(so_far[j], by ? static_cast<A>(by[j * s.by.inner]) : A(0),
                       static_cast<A>(in[j * s.from.inner]));
    }
    for (int64_t j = 0; j < count; ++j) y[j] = static_cast<R>(so_far[j]);
  };
  for (int64_t i = 0; i < s.length; ++i) {
    if (i % 65536 == 65535 && stop_requested()) return;
    if (i == 0) {
      each(x, nullptr, [](A, A, A v) { return v; });
    } else if (a) {
      each(x, a, [](A r, A f, A v) { return f * r + v; });
    } else if (s.from.inner == 1) {
      for (int64_t j = 0; j < count; ++j) {
        so_far[j] = F::step(so_far[j], static_cast<A>(x[j]));
        y[j] = static_cast<R>(so_far[j]);
      }
    } else {
      each(x, nullptr, [](A r, A, A v) { return F::step(r, v); });
    }
    x += s.from.along;
    y += s.to.along;
    if (a) a += s.by.along;
  }
}

template <class F, class T, class A, class R>
Status scan_of(const Scan& s, const Slots& slots) {
  const int64_t size = s.outer * s.length * s.inner;
  if (size == 0) return {};
  Strides dense;
  dense.resize(3);
  dense[0] = s.length * s.inner;
  dense[1] = s.inner;
  dense[2] = 1;
  const Strides& by = s.factors ? s.factors->strides : s.in.strides;
  const Operands<T, A, R> operands{
      reinterpret_cast<const T*>(slots.at(s.in)),
      s.factors ? reinterpret_cast<const T*>(slots.at(*s.factors)) : nullptr,
      reinterpret_cast<R*>(slots.at(s.out)),
      {s.in.strides, s.length, s.reversed},
      {by, s.length, s.reversed},
      {dense, s.length, s.reversed},
      s.length};
  const bool parallel = size > 128 * 1024;
  if (s.inner == 1) {
    if constexpr (std::is_same_v<F, Add>) {
      if (!s.factors && parallel && s.length >= 4 * kBlock && s.outer < 8 && num_threads() > 1) {
        for (int64_t o = 0; o < s.outer; ++o) {
          const bool done = sum_long_row<A>(
              operands.in + operands.from.first + o * operands.from.outer, operands.from.along,
              operands.out + operands.to.first + o * operands.to.outer, operands.to.along,
              s.length);
          if (!done) return failure(Problem::Memory);
        }
        return {};
      }
    }
    const int64_t per_chunk = chunk_size(s.outer, s.length);
    parallel_for(ceil_div(s.outer, per_chunk), parallel, [&](int64_t chunk) {
      const int64_t end = std::min((chunk + 1) * per_chunk, s.outer);
      for (int64_t o = chunk * per_chunk; o < end; ++o) scan_whole_row<F, A>(operands, o);
    });
    return {};
  }
  const int64_t strips = ceil_div(s.inner, kStrip);
  const int64_t units = s.outer * strips;
  const int64_t per_chunk = chunk_size(units, s.length * ceil_div(s.inner, strips));
  parallel_for(ceil_div(units, per_chunk), parallel, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      const int64_t left = unit % strips * s.inner / strips;
      const int64_t right = (unit % strips + 1) * s.inner / strips;
      scan_columns<F, A>(operands, unit / strips, left, right - left);
    }
  });
  return {};
}

// Integers are scanned as unsigned, which wraps.
template <class F>
Status arithmetic(const Scan& s, const Slots& slots) {
  switch (s.in.dtype) {
    case DType::Bool:
      return scan_of<F, uint8_t, uint64_t, uint64_t>(s, slots);
    case DType::Int32:
      if (size_of(s.out.dtype) == 4) return scan_of<F, int32_t, uint32_t, uint32_t>(s, slots);
      return scan_of<F, int32_t, uint64_t, uint64_t>(s, slots);
    case DType::Int64:
      return scan_of<F, uint64_t, uint64_t, uint64_t>(s, slots);
    case DType::Float32:
      return scan_of<F, float, double, float>(s, slots);
    case DType::Float64:
      return scan_of<F, double, double, double>(s, slots);
    case DType::UInt64:
      return scan_of<F, uint64_t, uint64_t, uint64_t>(s, slots);
    default:  // widened around the step
      break;
  }
  return {};
}

template <class F>
Status extreme(const Scan& s, const Slots& slots) {
  switch (s.in.dtype) {
    case DType::Bool:
      return scan_of<F, uint8_t, uint8_t, uint8_t>(s, slots);
    case DType::Int32:
      return scan_of<F, int32_t, int32_t, int32_t>(s, slots);
    case DType::Int64:
      return scan_of<F, int64_t, int64_t, int64_t>(s, slots);
    case DType::Float32:
      return scan_of<F, float, float, float>(s, slots);
    case DType::Float64:
      return scan_of<F, double, double, double>(s, slots);
    case DType::UInt64:
      return scan_of<F, uint64_t, uint64_t, uint64_t>(s, slots);
    default:  // widened around the step
      break;
  }
  return {};
}

}  // namespace

Status run_scan(const Scan& s, const Slots& slots) {
  switch (s.op) {
    case Op::cumulative_prod:
      return arithmetic<Multiply>(s, slots);
    case Op::cumulative_max:
      return extreme<Largest>(s, slots);
    case Op::cumulative_min:
      return extreme<Smallest>(s, slots);
    default:  // sums, and scans with factors
      return arithmetic<Add>(s, slots);
  }
}

}  // namespace pullback
