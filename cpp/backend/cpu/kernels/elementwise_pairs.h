// The kernels of large functions of two arguments: beta, zeta and derivatives of gamma. Blocks in
// double serve both dtypes. Elements outside of the domain of the blocks, and sums next to the
// limits of the range, are left to the scalar functions. Start at by_pairs().
#pragma once

#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_math.h"
#include "backend/cpu/special/gamma.h"

namespace pullback {
namespace {

constexpr int kPairBlock = m::kZetaBlock;
template <Op op>
constexpr bool kIsZeta = op == Op::zeta || op == Op::zeta_ds || op == Op::zeta_dq;
template <Op op>
constexpr bool kHasPairs = kIsZeta<op> || op == Op::gamma_nth || op == Op::rgamma_nth ||
                           op == Op::beta || op == Op::betaln;
template <Op op>
[[gnu::noinline]] void zeta_pairs(double* y, const double* s, const double* q) {
  if constexpr (op == Op::zeta_ds) return m::zeta_block<m::Zeta::ByExponent>(y, s, q);
  if constexpr (op == Op::zeta_dq) return m::zeta_block<m::Zeta::ByOffset>(y, s, q);
  double error[kPairBlock], other[kPairBlock], reflections = 0.0, riemann = 0.0;
  for (int i = 0; i < kPairBlock; ++i) {
    const bool reflected = m::is_zeta_reflected(s[i], q[i]);
    other[i] = reflected ? 1.0 - s[i] : s[i];
    reflections += reflected ? 1.0 : 0.0;
    riemann += q[i] == 1.0 ? 1.0 : 0.0;
  }
  if (riemann < kPairBlock) m::zeta_block<m::Zeta::Value>(y, s, q);
  if (riemann == 0.0) return;
#pragma GCC ivdep
  for (int i = 0; i < kPairBlock; ++i) {
    const m::TwoPart value = m::riemann_zeta(q[i] == 1.0 ? other[i] : 2.0);
    y[i] = q[i] == 1.0 ? value.high : y[i];
    error[i] = q[i] == 1.0 ? value.low : error[i];
  }
  if (reflections == 0.0) return;
#pragma GCC ivdep
  for (int i = 0; i < kPairBlock; ++i) {
    const bool reflected = m::is_zeta_reflected(s[i], q[i]);
    const double at = reflected ? s[i] : m::kZetaReflected;
    const double value = m::reflected_zeta(at, {y[i], error[i]});
    y[i] = reflected ? value : y[i];
  }
}
template <Op op>
[[gnu::noinline]] void pair_block(double* y, const double* a, const double* b) {
  if constexpr (kIsZeta<op>) return zeta_pairs<op>(y, a, b);
#pragma GCC ivdep
  for (int i = 0; i < kPairBlock; ++i) {
    if constexpr (op == Op::gamma_nth) y[i] = m::factorial<m::Factorial::GammaSlope>(b[i]);
    if constexpr (op == Op::rgamma_nth) y[i] = m::factorial<m::Factorial::ReciprocalSlope>(b[i]);
    if constexpr (op == Op::beta) y[i] = m::beta_near(a[i], b[i]);
    if constexpr (op == Op::betaln) y[i] = m::betaln_near(a[i], b[i]);
  }
}
template <Op op, class T>
PULLBACK_INLINE bool is_in_pairs(T a, T b) {
  if constexpr (op == Op::zeta) return m::is_zeta_block(a, b, T(1)) | m::is_zeta_reflected(a, b);
  if constexpr (op == Op::zeta_ds) return m::is_zeta_block(a, b, T(1));
  if constexpr (op == Op::zeta_dq) return (a > T(0)) & m::is_zeta_block(a, b, T(0));
  if constexpr (op == Op::beta || op == Op::betaln) return m::is_beta_near(a, b);
  return m::is_factorial_slope(a, b);
}
template <Op op, class T>
PULLBACK_INLINE T outside_pairs(T a, T b) {
  if constexpr (op == Op::zeta) return special::zeta(a, b);
  if constexpr (op == Op::zeta_ds) return special::zeta_ds(a, b);
  if constexpr (op == Op::zeta_dq) return special::zeta_dq(a, b);
  if constexpr (op == Op::gamma_nth) return special::gamma_nth(a, b);
  if constexpr (op == Op::rgamma_nth) return special::rgamma_nth(a, b);
  if constexpr (op == Op::beta) return special::beta(a, b);
  return special::betaln(a, b);
}
template <Op op, class T>
PULLBACK_INLINE bool is_valid_pair(double y) {
  // Next to the root of betaln its terms cancel.
  if constexpr (op == Op::betaln) return sizeof(T) == 4 || m::magnitude(y) > 0x1p-4;
  return !kIsZeta<op> || (m::magnitude(y) > 0x1p-960 && m::magnitude(y) < 0x1p1000);
}
template <Op op, class T>
PULLBACK_INLINE void by_pairs(T* y, const T* a, const T* b, int64_t n) {
  for (int64_t from = 0; from < n; from += kPairBlock) {
    const int size = n - from < kPairBlock ? static_cast<int>(n - from) : kPairBlock;
    double out[kPairBlock], x0[kPairBlock], x1[kPairBlock];
    for (int i = 0; i < kPairBlock; ++i) {
      const int64_t at = from + (i < size ? i : 0);
      const bool inside = is_in_pairs<op>(a[at], b[at]);
      x0[i] = inside ? static_cast<double>(a[at]) : 2.0;
      x1[i] = inside ? static_cast<double>(b[at]) : 1.0;
    }
    pair_block<op>(out, x0, x1);
    for (int i = 0; i < size; ++i) {
      const T p = a[from + i], q = b[from + i];
      const bool inside = is_in_pairs<op>(p, q) && is_valid_pair<op, T>(out[i]);
      y[from + i] = inside ? static_cast<T>(out[i]) : outside_pairs<op>(p, q);
    }
  }
}

}  // namespace
}  // namespace pullback
