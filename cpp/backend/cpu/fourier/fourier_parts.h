// Helpers of Fourier transforms: products with a root, moves of columns, a parallel loop.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "backend/cpu/common/slots.h"
#include "base/threads.h"

namespace pullback {

template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<double>& root) {
  const T c = static_cast<T>(root.real()), s = static_cast<T>(root.imag());
  return {a.real() * c - a.imag() * s, a.real() * s + a.imag() * c};
}

// Transposes [length][count] rows of `row` entries to [count][length], or back.
template <class E>
void gather(const E* x, int64_t row, int64_t length, int64_t count, E* y) {
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < count; ++k) y[k * length + i] = x[i * row + k];
  }
}
template <class E>
void scatter(const E* y, int64_t row, int64_t length, int64_t count, E* x) {
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t k = 0; k < count; ++k) x[i * row + k] = y[k * length + i];
  }
}

// Calls f for each k below `count`, in chunks.
template <class F>
void over_pieces(int64_t count, F&& f) {
  constexpr int64_t kPiece = 4096;
  parallel_for(ceil_div(count, kPiece), true, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * kPiece, count);
    for (int64_t k = chunk * kPiece; k < end; ++k) f(k);
  });
}

}  // namespace pullback
