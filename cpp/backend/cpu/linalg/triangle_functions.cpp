// Square root and logarithm of triangles. Sources: Å. Björck, S. Hammarling, "A Schur method for
// the square root of a matrix" (1983); N. Higham, "Functions of Matrices" (2008), section 11.6; A.
// Al-Mohy, N. Higham, "Improved inverse scaling and squaring algorithms for the matrix logarithm"
// (2012).
#include "backend/cpu/linalg/triangle_functions.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace pullback {
namespace {

// Without the treatment of infinities of C's Annex G.
Complex times(const Complex& a, const Complex& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// y -= f x
void subtract(const Complex& f, const Complex* x, int64_t count, Complex* y) {
  for (int64_t i = 0; i < count; ++i) y[i] -= times(f, x[i]);
}

// e^z - 1, accurate for e^z near 1.
Complex expm1(const Complex& z) {
  const double s = std::sin(z.imag() / 2);
  return {std::expm1(z.real()) * std::cos(z.imag()) - 2 * s * s,
          std::exp(z.real()) * std::sin(z.imag())};
}

// The 1-norm of r - 1: the largest column sum of absolute values.
double distance_from_one(const Complex* r, int64_t n) {
  double out = 0;
  for (int64_t j = 0; j < n; ++j) {
    double sum = std::abs(r[j * n + j] - 1.0);
    for (int64_t i = 0; i < j; ++i) sum += std::abs(r[j * n + i]);
    if (!(sum <= out)) out = sum;
  }
  return out;
}

// (log b - log a) / (b - a), accurate also if a and b are close (Higham, (11.28)).
Complex divided_difference(const Complex& a, const Complex& b) {
  if (a == b) return 1.0 / a;
  const Complex logs = std::log(b) - std::log(a);
  const Complex z = (b - a) / (b + a);
  if (!(std::abs(z) < 0.5)) return logs / (b - a);
  const double turns = std::ceil((logs.imag() - std::numbers::pi) / (2 * std::numbers::pi));
  return (2.0 * std::atanh(z) + Complex(0, 2 * std::numbers::pi * turns)) / (b - a);
}

// Multiplies columns j and j + 1 of x (`count` rows) by [p, -q; q, conj(p)].
void turn_columns(const Complex& p, double q, int64_t j, int64_t n, int64_t count, Complex* x) {
  Complex *left = x + j * n, *right = left + n;
  for (int64_t i = 0; i < count; ++i) {
    const Complex a = left[i], b = right[i];
    left[i] = times(a, p) + q * b;
    right[i] = times(b, std::conj(p)) - q * a;
  }
}

}  // namespace

void triangle_of_blocks(const double* real_t, const double* real_z, int64_t n, Complex* t,
                        Complex* z) {
  std::copy_n(real_t, n * n, t);
  std::copy_n(real_z, n * n, z);
  for (int64_t j = 0; j + 1 < n; ++j) {
    const double below = real_t[j * n + j + 1];
    if (below == 0) continue;
    // An eigenvalue of the block, and its eigenvector (p, q).
    const double a = real_t[j * n + j], b = real_t[(j + 1) * n + j],
                 d = real_t[(j + 1) * n + j + 1];
    const double half = (a - d) / 2;
    Complex p = half + std::sqrt(Complex(half * half + b * below));
    const double length = std::hypot(std::abs(p), below);
    p /= length;
    const double q = below / length;
    turn_columns(p, q, j, n, n, z);
    turn_columns(p, q, j, n, j + 2, t);
    for (int64_t k = j; k < n; ++k) {  // rows, by the adjoint
      const Complex upper = t[k * n + j], lower = t[k * n + j + 1];
      t[k * n + j] = times(std::conj(p), upper) + q * lower;
      t[k * n + j + 1] = times(p, lower) - q * upper;
    }
    t[j * n + j + 1] = 0;
  }
}

bool square_root_of_triangle(const Complex* t, int64_t n, Complex* r) {
  for (int64_t j = 0; j < n; ++j) {
    Complex* column = r + j * n;
    std::copy_n(t + j * n, j + 1, column);
    std::fill_n(column + j + 1, n - j - 1, Complex());
    column[j] = std::sqrt(column[j]);
    for (int64_t k = j - 1; k >= 0; --k) {
      const Complex sum = r[k * n + k] + column[j];
      if (sum == 0.0) {
        if (column[k] != 0.0) return false;
        continue;
      }
      column[k] /= sum;
      subtract(column[k], r + k * n, k, column);
    }
  }
  return true;
}

bool logarithm_of_triangle(const Complex* t, int64_t n, Complex* l, Complex* work) {
  for (int64_t i = 0; i < n; ++i) {
    if (t[i * n + i] == 0.0) return false;
  }
  // Takes square roots until r is near 1, where a Padé approximant of degree 7 suffices.
  constexpr double kNear = 2.64e-1;
  constexpr int kMost = 100;
  Complex* r = work;
  Complex* root = work + n * n;
  std::copy_n(t, n * n, r);
  int roots = 0;
  for (; roots < kMost && distance_from_one(r, n) > kNear; ++roots) {
    if (!square_root_of_triangle(r, n, root)) return false;
    std::swap(r, root);
  }
  for (int64_t i = 0; i < n; ++i) {
    r[i * n + i] = expm1(std::ldexp(1.0, -roots) * std::log(t[i * n + i]));
  }
  // The approximant of log(1 + r): the sum of r / (1 + x r) over Gauss nodes.
  constexpr double kNodes[] = {
      -0.949107912342758524526, -0.741531185599394439864, -0.405845151377397166907, 0,
      0.405845151377397166907,  0.741531185599394439864,  0.949107912342758524526};
  constexpr double kWeights[] = {0.129484966168869693271, 0.279705391489276667901,
                                 0.381830050505118944951, 0.417959183673469387755,
                                 0.381830050505118944951, 0.279705391489276667901,
                                 0.129484966168869693271};
  std::fill_n(l, n * n, Complex());
  Complex* y = root;
  for (int node = 0; node < 7; ++node) {
    const double x = (1 + kNodes[node]) / 2, weight = kWeights[node] / 2;
    for (int64_t j = 0; j < n; ++j) {
      std::copy_n(r + j * n, j + 1, y);
      for (int64_t k = j; k >= 0; --k) {
        y[k] /= 1.0 + x * r[k * n + k];
        subtract(x * y[k], r + k * n, k, y);
      }
      for (int64_t i = 0; i <= j; ++i) l[j * n + i] += weight * y[i];
    }
  }
  for (int64_t i = 0; i < n * n; ++i) l[i] *= std::ldexp(1.0, roots);
  // The diagonal and the entries above it have more accurate formulas.
  for (int64_t i = 0; i < n; ++i) {
    l[i * n + i] = std::log(t[i * n + i]);
    if (i) {
      const int64_t above = i * n + i - 1;
      l[above] = t[above] * divided_difference(t[(i - 1) * n + i - 1], t[i * n + i]);
    }
  }
  return true;
}

}  // namespace pullback
