// Debye's expansion of modified Bessel functions, DLMF 10.41.3, in double but for its exponent.

#include "backend/cpu/kernels/vec_gamma_terms.h"
#include "backend/cpu/special/debye.h"

namespace pullback::special {
namespace {

// v^2 + x^2 from which few terms matter.
constexpr double kFarSquare = 1e4, kMostFar = 0x1p500;
constexpr int kFarTerms = 12;

// u_k(p) / p^k by powers of p^2, each computed from the one before (DLMF 10.41.9).
struct FarTable {
  double of[kFarTerms + 1][kFarTerms + 1];
};
constexpr FarTable far_table() {
  FarTable table{};
  table.of[0][0] = 1;
  for (int k = 0; k < kFarTerms; ++k) {
    for (int j = 0; j <= k; ++j) {
      const double c = table.of[k][j], power = k + 2 * j;
      table.of[k + 1][j] += c * (power / 2 + 1 / (8 * (power + 1)));
      table.of[k + 1][j + 1] -= c * (power / 2 + 5 / (8 * (power + 3)));
    }
  }
  return table;
}
constexpr FarTable kFarTable = far_table();

}  // namespace

bool is_far_i(double v, double x) noexcept {
  return x > 0x1p-500 && x < kMostFar && v < kMostFar && v * v + x * x >= kFarSquare;
}

// The sum of w^k u_k(p) / p^k for w = 1 / hypot(v, x) and p = v w.
double far_i(double v, double x, bool is_scaled) noexcept {
  using m::TwoPart;
  const TwoPart square = m::two_product(v, v), one = {1.0, 0.0}, at = {x, 0.0};
  const TwoPart size = m::square_root(square + m::two_product(x, x)), both = size + v;
  // v log(x / (v + size)) + size, less x if scaled
  const TwoPart less = square / (size + x);  // size - x
  const TwoPart log = m::relative(-((less + v) / both), at, one / both).log;
  const TwoPart power = v * log + (is_scaled ? less : size);
  const double w = 1.0 / size.high, q = (v * w) * (v * w);
  double sum = 0;
  for (int k = kFarTerms; k > 0; --k) {
    double u = 0;
    for (int j = k; j >= 0; --j) u = u * q + kFarTable.of[k][j];
    sum = (sum + u) * w;
  }
  const TwoPart root = m::square_root(m::kTwoPi * size), top = m::two_sum(1.0, sum) / root;
  return power.high > 800 ? m::kInfinity<double> : m::times_exp(top, power);
}

}  // namespace pullback::special
