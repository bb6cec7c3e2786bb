// Pairs of functions of one argument for little more than the price of one: tanh or sigmoid and its
// slope share an exponential, sine and cosine the reduction of the argument, a root and its inverse
// the root. A product and the sum that it is a term of are one pass over memory. Each result has
// the bits of its own kernel. Compiled once per instruction set, flags as in elementwise.h.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"
#include "backend/cpu/kernels/wide_float.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

template <class T, class Parts>
PULLBACK_INLINE int with_slope(void* first, void* second, const void* a, int64_t n,
                               Parts parts_of) {
  auto* value = static_cast<T*>(first);
  auto* slope = static_cast<T*>(second);
  const auto* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const auto parts = parts_of(x[i]);
    value[i] = parts.value;
    slope[i] = parts.slope;
  }
  return kFine;
}

template <class T>
int tanh_pair(void* first, void* second, const void* a, int64_t n) noexcept {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == sizeof(float)) {
    wide::over_tile(
        static_cast<T*>(first), static_cast<T*>(second), static_cast<const T*>(a), n,
        [](__m512 v) { return wide::tanh(v); }, [](__m512 v) { return wide::tanh_slope(v); });
    return kFine;
  }
#endif
  return with_slope<T>(first, second, a, n, [](T x) { return m::tanh_parts(x); });
}

template <class T>
int sigmoid_pair(void* first, void* second, const void* a, int64_t n) noexcept {
  return with_slope<T>(first, second, a, n, [](T x) { return m::sigmoid_parts(x); });
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

template <class T>
int root_pair(void* first, void* second, const void* a, int64_t n) noexcept {
  auto* root = static_cast<T*>(first);
  auto* inverse = static_cast<T*>(second);
  const auto* x = static_cast<const T*>(a);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T value = x[i];
    root[i] = m::sqrt(value);
    inverse[i] = m::rsqrt(value);
  }
  return kFine;
}

enum class ProductSum : uint8_t { Add, Subtract, SubtractFrom };

template <class T, ProductSum form>
int product_sum(void* out, const void* a, const void* b, const void* c, int64_t n) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* p = static_cast<const T*>(a);
  const auto* q = static_cast<const T*>(b);
  const auto* r = static_cast<const T*>(c);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T product = p[i] * q[i];
    if constexpr (form == ProductSum::Add) y[i] = product + r[i];
    if constexpr (form == ProductSum::Subtract) y[i] = product - r[i];
    if constexpr (form == ProductSum::SubtractFrom) y[i] = r[i] - product;
  }
  return kFine;
}

template <class T, bool subtracts>
int sum_of_products(void* out, const void* a, const void* b, const void* c, const void* d,
                    int64_t n) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* p = static_cast<const T*>(a);
  const auto* q = static_cast<const T*>(b);
  const auto* r = static_cast<const T*>(c);
  const auto* s = static_cast<const T*>(d);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T first = p[i] * q[i];
    const T second = r[i] * s[i];
    y[i] = subtracts ? first - second : first + second;
  }
  return kFine;
}

}  // namespace

namespace PULLBACK_KERNELS {

#define PULLBACK_PRODUCT_SUM(form) \
  {&product_sum<float, ProductSum::form>, &product_sum<double, ProductSum::form>}

constinit const PairTable kPairTable = {
    {
        {Op::tanh, Op::tanh_slope, {&tanh_pair<float>, &tanh_pair<double>}},
        {Op::sigmoid, Op::sigmoid_slope, {&sigmoid_pair<float>, &sigmoid_pair<double>}},
        {Op::sin, Op::cos, {&sine_pair<float>, &sine_pair<double>}},
        {Op::sqrt, Op::rsqrt, {&root_pair<float>, &root_pair<double>}},
    },
    {PULLBACK_PRODUCT_SUM(Add), PULLBACK_PRODUCT_SUM(Subtract), PULLBACK_PRODUCT_SUM(SubtractFrom)},
    {{&sum_of_products<float, false>, &sum_of_products<double, false>},
     {&sum_of_products<float, true>, &sum_of_products<double, true>}},
};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
