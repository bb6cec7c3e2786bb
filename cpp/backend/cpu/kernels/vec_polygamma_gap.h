// polygamma(n, x) - polygamma(n, x + d) for blocks of elements with the orders 0 and 1. The terms
// are formed for both arguments without their common parts, so little cancels for a small d.
#pragma once

#include "backend/cpu/kernels/vec_gamma_terms.h"

namespace pullback {
namespace {
namespace m {

constexpr int kGapLanes = 16;

template <class N>
[[gnu::noinline]] void gap_block(double* out, const double* n, const double* x, const double* d) {
#pragma GCC ivdep
  for (int i = 0; i < kGapLanes; ++i) {
    const N p = number<N>(x[i]), s = sum_of<N>(x[i], d[i]), rise = number<N>(d[i]) / p;
    const Relative<N> of = relative(rise, s, number<N>(1.0) / p);
    const N zero = log_less_digamma(s) - log_less_digamma(p) - of.log;
    const N one = trigamma_of(p) - trigamma_of(s);
    out[i] = leading(either(n[i] == 1.0, one, zero) + 0.0);
  }
}

// True for arguments of gap_block().
template <class F>
PULLBACK_INLINE bool is_gap_block(F n, F x, F d) {
  constexpr F least = F(0x1p-40), most = F(0x1p60), near = sizeof(F) == 4 ? F(0x1p-10) : F(0x1p-8);
  return ((n == F(0)) | (n == F(1))) & (x > least) & (x < most) & (d > near * x) & (d < most);
}

}  // namespace m
}  // namespace
}  // namespace pullback
