// Splits and joins interleaved columns of one memory: coordinates of points, real and imaginary
// parts, corners of boxes. A strided loop per column would read all of the memory each time; here
// one pass reads (writes) it in order and shuffles.
//
// Sixteen bytes of each of S columns are S times sixteen bytes of the block, and shuffles stay
// within them, so wider vectors process several such groups at once. Compiled once per instruction
// set, flags as in elementwise.h.
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

template <class T, int columns>
void deinterleave(void* const* out, const void* block, int64_t n) noexcept {
  using L = Lanes<T>;
  T* y[columns];
  for (int k = 0; k < columns; ++k) y[k] = static_cast<T*>(out[k]);
  const auto* x = static_cast<const T*>(block);
  int64_t r = 0;
  for (; r + L::kCount <= n; r += L::kCount, x += columns * L::kCount) {
    typename L::Vector v[columns];
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
