// The gamma family, one element at a time. Compiled once, so the bits are equal on every processor.
// Names and special values are SciPy's; elementwise.def describes each row.
#pragma once

namespace pullback::special {

#define PULLBACK_SPECIAL_1(name) \
  double name(double a);         \
  float name(float a);
#define PULLBACK_SPECIAL_2(name)   \
  double name(double a, double b); \
  float name(float a, float b);
#define PULLBACK_SPECIAL_3(name)             \
  double name(double a, double b, double c); \
  float name(float a, float b, float c);

PULLBACK_SPECIAL_1(gammaln)
PULLBACK_SPECIAL_1(digamma)
PULLBACK_SPECIAL_1(gamma)
PULLBACK_SPECIAL_1(rgamma)
PULLBACK_SPECIAL_2(polygamma)  // (order, x)
PULLBACK_SPECIAL_2(gamma_nth)  // the derivative of gamma of an order: (order, x)
PULLBACK_SPECIAL_2(rgamma_nth)
PULLBACK_SPECIAL_2(beta)
PULLBACK_SPECIAL_2(betaln)
PULLBACK_SPECIAL_3(polygamma_gap)  // polygamma(n, x) - polygamma(n, x + d): (n, x, d)

PULLBACK_SPECIAL_2(zeta)  // Riemann's for q = 1, also for s < 1: (s, q)
PULLBACK_SPECIAL_2(zeta_dq)
PULLBACK_SPECIAL_2(zeta_ds)
PULLBACK_SPECIAL_2(zeta_dss)

// Arguments (a, x); and the derivatives that are not composed of other rows. The density is the
// derivative by x.
PULLBACK_SPECIAL_2(gammainc)
PULLBACK_SPECIAL_2(gammaincc)
PULLBACK_SPECIAL_2(gammainc_da)
PULLBACK_SPECIAL_2(gammainc_daa)
PULLBACK_SPECIAL_2(gamma_density)
// Arguments (a, y): dy/da for constant P(a, exp(y)), and the derivative of that by a.
PULLBACK_SPECIAL_2(log_gamma_path)
PULLBACK_SPECIAL_2(log_gamma_path_da)
PULLBACK_SPECIAL_2(gamma_density_da)
PULLBACK_SPECIAL_2(gamma_density_dx)
PULLBACK_SPECIAL_2(gammaincinv)
PULLBACK_SPECIAL_2(gammainccinv)
PULLBACK_SPECIAL_2(log_gammainc)
PULLBACK_SPECIAL_2(log_gammainc_da)
PULLBACK_SPECIAL_2(log_gammainc_daa)
PULLBACK_SPECIAL_2(log_gammainc_dx)
PULLBACK_SPECIAL_2(log_gammaincc)
PULLBACK_SPECIAL_2(log_gammaincc_da)
PULLBACK_SPECIAL_2(log_gammaincc_daa)
PULLBACK_SPECIAL_2(log_gammaincc_dx)

// Arguments (a, b, x), as for gammainc.
PULLBACK_SPECIAL_3(betainc)
PULLBACK_SPECIAL_3(betainc_da)
PULLBACK_SPECIAL_3(betainc_db)
PULLBACK_SPECIAL_3(betainc_daa)
PULLBACK_SPECIAL_3(betainc_dab)
PULLBACK_SPECIAL_3(betainc_dbb)
PULLBACK_SPECIAL_3(beta_density)
PULLBACK_SPECIAL_3(beta_density_da)
PULLBACK_SPECIAL_3(beta_density_db)
PULLBACK_SPECIAL_3(beta_density_dx)
PULLBACK_SPECIAL_3(betaincc)
PULLBACK_SPECIAL_3(betaincinv)
PULLBACK_SPECIAL_3(betainccinv)

// Student's distribution: arguments (df, x), the inverse (df, p).
PULLBACK_SPECIAL_2(stdtr)
PULLBACK_SPECIAL_2(stdtr_da)
PULLBACK_SPECIAL_2(stdtr_daa)
PULLBACK_SPECIAL_2(student_density)
PULLBACK_SPECIAL_2(stdtrit)

#undef PULLBACK_SPECIAL_1
#undef PULLBACK_SPECIAL_2
#undef PULLBACK_SPECIAL_3

}  // namespace pullback::special
