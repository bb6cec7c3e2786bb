// The terms of vec_gamma_terms.h for a block of elements. Those of numbers in two parts are calls,
// not inlined: their code is long, and a dozen blocks need each.
#pragma once

#include "backend/cpu/kernels/vec_gamma_terms.h"

namespace pullback {
namespace {
namespace m {

constexpr int kShareLanes = 16;
template <class N>
using ShareColumn = Column<N, kShareLanes>;

template <class N>
struct Relatives {
  ShareColumn<N> excess, log;
};

template <class N>
PULLBACK_INLINE void stirling_rests(ShareColumn<N>& out, const ShareColumn<N>& z) {
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) out.set(i, stirling_rest(z.at(i)));
}
template <bool next, class N>
PULLBACK_INLINE void logs_less_digamma(ShareColumn<N>& out, const ShareColumn<N>& z) {
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) out.set(i, log_less_digamma(z.at(i), next));
}
template <bool next, class N>
PULLBACK_INLINE void trigammas(ShareColumn<N>& out, const ShareColumn<N>& z) {
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) out.set(i, trigamma_of(z.at(i), next));
}
template <class N>
PULLBACK_INLINE void relatives(Relatives<N>& out, const ShareColumn<N>& rise,
                               const ShareColumn<N>& x, const ShareColumn<N>& per_mean) {
#pragma GCC ivdep
  for (int i = 0; i < kShareLanes; ++i) {
    const Relative<N> of = relative(rise.at(i), x.at(i), per_mean.at(i));
    out.excess.set(i, of.excess);
    out.log.set(i, of.log);
  }
}

// More specialised, so they are chosen for numbers in two parts.
[[gnu::noinline]] void stirling_rests(ShareColumn<TwoPart>& out, const ShareColumn<TwoPart>& z) {
  stirling_rests<TwoPart>(out, z);
}
template <bool next>
[[gnu::noinline]] void logs_less_digamma(ShareColumn<TwoPart>& out, const ShareColumn<TwoPart>& z) {
  logs_less_digamma<next, TwoPart>(out, z);
}
template <bool next>
[[gnu::noinline]] void trigammas(ShareColumn<TwoPart>& out, const ShareColumn<TwoPart>& z) {
  trigammas<next, TwoPart>(out, z);
}
[[gnu::noinline]] void relatives(Relatives<TwoPart>& out, const ShareColumn<TwoPart>& rise,
                                 const ShareColumn<TwoPart>& x,
                                 const ShareColumn<TwoPart>& per_mean) {
  relatives<TwoPart>(out, rise, x, per_mean);
}

}  // namespace m
}  // namespace
}  // namespace pullback
