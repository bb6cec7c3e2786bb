// The kernels of incomplete gamma and beta functions and of Student's distribution, with their
// derivatives by parameters and inverses, in blocks: float64 in two parts, float32 in double.
// Elements outside of the domain of the blocks are left to the scalar functions. Start at
// by_shares().
#pragma once

#include "backend/cpu/kernels/gammainc_values.h"
#include "backend/cpu/kernels/share_rows.h"
#include "backend/cpu/kernels/vec_betainc.h"
#include "backend/cpu/kernels/vec_gammainc.h"
#include "backend/cpu/kernels/vec_log_gammainc.h"
#include "backend/cpu/kernels/vec_polygamma_gap.h"
#include "backend/cpu/kernels/vec_share_inverse.h"

namespace pullback {
namespace {

constexpr int kShareBlock = m::kShareLanes;

template <Op op>
constexpr bool kHasThree =
    kIsBeta<op> || op == Op::betaincinv || op == Op::betainccinv || op == Op::polygamma_gap;

// The number type of the blocks.
template <class T>
struct ShareNumber {
  using Type = m::TwoPart;
};
template <>
struct ShareNumber<float> {
  using Type = double;
};

template <Op op>
constexpr m::Beta beta_of() {
  if (op == Op::betaincc) return m::Beta::Above;
  if (op == Op::betainc_da) return m::Beta::ByA;
  if (op == Op::betainc_db) return m::Beta::ByB;
  if (op == Op::betainc_daa) return m::Beta::ByAA;
  if (op == Op::betainc_dab) return m::Beta::ByAB;
  if (op == Op::betainc_dbb) return m::Beta::ByBB;
  return op == Op::beta_density ? m::Beta::Density : m::Beta::Below;
}
template <Op op>
constexpr m::Student student_of() {
  if (op == Op::stdtr_da) return m::Student::Slope;
  if (op == Op::stdtr_daa) return m::Student::Bend;
  return op == Op::student_density ? m::Student::Density : m::Student::Value;
}

template <Op op>
constexpr m::LogGamma log_gamma_of() {
  if (op == Op::log_gammainc_da || op == Op::log_gammaincc_da) return m::LogGamma::ByA;
  if (op == Op::log_gammainc_daa || op == Op::log_gammaincc_daa) return m::LogGamma::ByAA;
  const bool by_x = op == Op::log_gammainc_dx || op == Op::log_gammaincc_dx;
  return by_x ? m::LogGamma::ByX : m::LogGamma::Value;
}
template <Op op>
constexpr bool kIsUpperLog = op == Op::log_gammaincc || op == Op::log_gammaincc_da ||
                             op == Op::log_gammaincc_daa || op == Op::log_gammaincc_dx;

template <Op op, class N>
void share_block(double* y, const double* a, const double* b, const double* c) {
  if constexpr (kIsGammaShare<op>) {
    m::gamma_block<op == Op::gammainc_da ? 1 : 2, N>(y, a, b);
  } else if constexpr (kIsStudent<op>) {
    m::student_block<student_of<op>(), N>(y, a, b);
  } else if constexpr (kIsBeta<op>) {
    m::beta_block<beta_of<op>(), N>(y, a, b, c);
  } else if constexpr (kIsPath<op>) {
    m::path_block<op == Op::log_gamma_path ? 1 : 2, N>(y, a, b);
  } else if constexpr (kIsLogShare<op>) {
    m::log_gamma_block<log_gamma_of<op>(), N>(y, a, b, kIsUpperLog<op>);
  } else if constexpr (op == Op::polygamma_gap) {
    m::gap_block<N>(y, a, b, c);
  } else if constexpr (op == Op::stdtrit) {
    m::student_inverse_block<N>(y, a, b);
  } else if constexpr (op == Op::betaincinv || op == Op::betainccinv) {
    m::beta_inverse_block<N>(y, a, b, c, op == Op::betainccinv);
  } else {
    m::gamma_inverse_block<N>(y, a, b, op == Op::gammainccinv);
  }
}
template <Op op, class T>
PULLBACK_INLINE bool is_in_shares(T a, T b, T c) {
  if constexpr (kIsGammaShare<op>) return m::is_incomplete_block(a, b);
  if constexpr (kIsLogShare<op>) return m::is_log_gamma_block<log_gamma_of<op>()>(a, b);
  if constexpr (kIsStudent<op>) return m::is_student_block(a, b);
  if constexpr (kIsBeta<op>) return m::is_beta_block<beta_of<op>()>(a, b, c);
  if constexpr (kIsPath<op>) return m::is_path_block(a, b);
  if constexpr (op == Op::polygamma_gap) return m::is_gap_block(a, b, c);
  if constexpr (op == Op::stdtrit) return m::is_student_inverse_block(a, b);
  if constexpr (op == Op::betaincinv || op == Op::betainccinv) {
    return m::is_beta_inverse_block(a, b, c);
  }
  return m::is_gamma_inverse_block(a, b);
}
template <Op op, class Row, class T>
void by_shares(T* y, const T* a, const T* b, const T* c, int64_t n) {
  if constexpr (kIsGammaValue<op>) {
    for (int64_t i = 0; i < n; ++i) y[i] = special::incomplete(a[i], b[i], op == Op::gammainc);
    return;
  }
  using N = typename ShareNumber<T>::Type;
  constexpr double kDummy = kIsShareInverse<op> ? 0.25 : 2.0;
  for (int64_t from = 0; from < n; from += kShareBlock) {
    const int size = n - from < kShareBlock ? static_cast<int>(n - from) : kShareBlock;
    double out[kShareBlock], x0[kShareBlock], x1[kShareBlock], x2[kShareBlock];
    for (int i = 0; i < kShareBlock; ++i) {
      const int64_t at = from + (i < size ? i : 0);
      const bool inside = is_in_shares<op>(a[at], b[at], c[at]);
      x0[i] = inside ? static_cast<double>(a[at]) : 2.0;
      x1[i] = inside ? static_cast<double>(b[at]) : kDummy;
      x2[i] = inside ? static_cast<double>(c[at]) : 0.25;
    }
    share_block<op, N>(out, x0, x1, x2);
    for (int i = 0; i < size; ++i) {
      const T p = a[from + i], q = b[from + i], r = c[from + i];
      if (is_in_shares<op>(p, q, r) && out[i] == out[i]) {
        y[from + i] = static_cast<T>(out[i]);
      } else if constexpr (kHasThree<op>) {
        y[from + i] = Row::of(p, q, r);
      } else {
        y[from + i] = Row::of(p, q);
      }
    }
  }
}

}  // namespace
}  // namespace pullback
