// Helpers of long Fourier transforms: products with a root, a parallel loop.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>

#include "backend/common/slots.h"
#include "base/threads.h"

namespace pullback {

template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<double>& root) {
  const T c = static_cast<T>(root.real()), s = static_cast<T>(root.imag());
  return {a.real() * c - a.imag() * s, a.real() * s + a.imag() * c};
}

// Calls f for ranges [first, end) that cover [0, count), in chunks.
template <class F>
void over_ranges(int64_t count, F&& f) {
  constexpr int64_t kChunkPoints = 4096;
  parallel_for(ceil_div(count, kChunkPoints), true, [&](int64_t chunk) {
    f(chunk * kChunkPoints, std::min((chunk + 1) * kChunkPoints, count));
  });
}
// Calls f for each k below `count`, in chunks.
template <class F>
void for_each_in_chunks(int64_t count, F&& f) {
  over_ranges(count, [&](int64_t first, int64_t end) {
    for (int64_t k = first; k < end; ++k) f(k);
  });
}

}  // namespace pullback
