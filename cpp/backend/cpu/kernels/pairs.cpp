// Two functions of one value at the price of little more than one: tanh or sigmoid and its slope
// share an exponential, sine and cosine the reduction of the argument. Each result has the bits of
// its own kernel. Compiled once per instruction set, flags as elementwise.cpp.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"
#include "backend/cpu/kernels/wide_float.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

// As elementwise.cpp computes each of them.
void tanh_values(double* value, double* slope, const double* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto parts = m::tanh_parts(x[i]);
    value[i] = parts.value;
    slope[i] = parts.slope;
  }
}
void tanh_values(float* value, float* slope, const float* x, int64_t n) {
#if defined(__AVX512F__)
  wide::over_tile(
      value, slope, x, n, [](__m512 v) { return wide::tanh(v); },
      [](__m512 v) { return wide::tanh_slope(v); });
#else
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto parts = m::tanh_parts(x[i]);
    value[i] = parts.value;
    slope[i] = parts.slope;
  }
#endif
}

template <class T>
int tanh_pair(void* first, void* second, const void* a, int64_t n) noexcept {
  tanh_values(static_cast<T*>(first), static_cast<T*>(second), static_cast<const T*>(a), n);
  return kFine;
}

template <class T>
int sigmoid_pair(void* first, void* second, const void* a, int64_t n) noexcept {
  auto* value = static_cast<T*>(first);
  auto* slope = static_cast<T*>(second);
  const auto* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto parts = m::sigmoid_parts(x[i]);
    value[i] = parts.value;
    slope[i] = parts.slope;
  }
  return kFine;
}

template <class T>
int sine_pair(void* first, void* second, const void* a, int64_t n) noexcept {
  auto* sine = static_cast<T*>(first);
  auto* cosine = static_cast<T*>(second);
  const auto* x = static_cast<const T*>(a);
  int far = 0;
  for (int64_t i = 0; i < n; ++i) far |= !m::is_small_angle(x[i]);
  if (far) {
    for (int64_t i = 0; i < n; ++i) {
      const T angle = x[i];
      sine[i] = m::sin(angle);
      cosine[i] = m::cos(angle);
    }
    return kFine;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T angle = x[i];
    sine[i] = m::sin_small(angle);
    cosine[i] = m::cos_small(angle);
  }
  return kFine;
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const PairTable kPairTable = {{
    {Op::tanh, Op::tanh_slope, {&tanh_pair<float>, &tanh_pair<double>}},
    {Op::sigmoid, Op::sigmoid_slope, {&sigmoid_pair<float>, &sigmoid_pair<double>}},
    {Op::sin, Op::cos, {&sine_pair<float>, &sine_pair<double>}},
}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
