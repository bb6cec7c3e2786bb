// The rows whose values are scalar functions (special::) but whose kernels compute blocks where
// they can: incomplete gamma and beta functions. The blocks are in elementwise_shares.h.
#pragma once

#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

template <Op op>
constexpr bool kIsGammaShare = op == Op::gammainc_da || op == Op::gammainc_daa;
template <Op op>
constexpr bool kIsStudent =
    op == Op::stdtr || op == Op::stdtr_da || op == Op::stdtr_daa || op == Op::student_density;
template <Op op>
constexpr bool kIsBeta = op == Op::betainc || op == Op::betaincc || op == Op::betainc_da ||
                         op == Op::betainc_db || op == Op::betainc_daa || op == Op::betainc_dab ||
                         op == Op::betainc_dbb || op == Op::beta_density;
template <Op op>
constexpr bool kIsShareInverse = op == Op::gammaincinv || op == Op::gammainccinv ||
                                 op == Op::betaincinv || op == Op::betainccinv || op == Op::stdtrit;
template <Op op>
constexpr bool kIsPath = op == Op::log_gamma_path || op == Op::log_gamma_path_da;
template <Op op>
constexpr bool kIsLogShare =
    op == Op::log_gammainc || op == Op::log_gammainc_da || op == Op::log_gammainc_daa ||
    op == Op::log_gammainc_dx || op == Op::log_gammaincc || op == Op::log_gammaincc_da ||
    op == Op::log_gammaincc_daa || op == Op::log_gammaincc_dx;
template <Op op>
constexpr bool kIsGammaValue = op == Op::gammainc || op == Op::gammaincc;
template <Op op>
constexpr bool kHasShares =
    kIsGammaValue<op> || kIsGammaShare<op> || kIsStudent<op> || kIsBeta<op> ||
    kIsShareInverse<op> || kIsLogShare<op> || kIsPath<op> || op == Op::polygamma_gap;

// Arguments and results of n elements; `c` is `b` for functions of two arguments.
template <Op op, class Row, class T>
void by_shares(T* y, const T* a, const T* b, const T* c, int64_t n);

}  // namespace
}  // namespace pullback
