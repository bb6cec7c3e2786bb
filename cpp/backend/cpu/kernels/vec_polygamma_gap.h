// polygamma(n, x) - polygamma(n, x + d) for blocks of elements with the orders 0 and 1. The terms
// are formed for both arguments without their common parts, so little cancels for a small d.
#pragma once

#include "backend/cpu/kernels/vec_share_terms.h"

namespace pullback {
namespace {
namespace m {

template <class N>
[[gnu::noinline]] void gap_block(double* out, const double* n, const double* x, const double* d) {
  ShareColumn<N> p, s, rise, inverse, less_p, less_s, slope_p, slope_s;
  Relatives<N> of;
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N at = number<N>(x[i]);
    p.set(i, at);
    s.set(i, sum_of<N>(x[i], d[i]));
    rise.set(i, number<N>(d[i]) / at);
    inverse.set(i, number<N>(1.0) / at);
  }
  relatives(of, rise, s, inverse);
  logs_less_digamma<false>(less_p, p);
  logs_less_digamma<false>(less_s, s);
  trigammas<false>(slope_p, p);
  trigammas<false>(slope_s, s);
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const N zero = less_s.at(i) - less_p.at(i) - of.log.at(i);
    const N one = slope_p.at(i) - slope_s.at(i);
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
