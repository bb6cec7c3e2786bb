// The pseudo-inverse of one matrix as two factors. A matrix that certainly has full rank needs no
// singular values: with a = q r the factors are r⁻¹ and qᴴ. It has full rank if 1 / (‖r‖ ‖r⁻¹‖),
// in Frobenius norms, is above the tolerance, because that is at most the ratio of its smallest
// singular value to the largest. Otherwise the factors are v s⁺ and uᴴ.
//
// The inverse of a triangle solves as accurately as substitution if the product on the side of the
// right-hand sides is close to the unit matrix: N. J. Higham, "Accuracy and stability of numerical
// algorithms", 14.2.
#include <limits>

#include "backend/cpu/linalg/library_call.h"

namespace pullback {
namespace {

template <class T>
T conjugate_of(const T& x) {
  if constexpr (std::is_same_v<T, typename RealOf<T>::type>) {
    return x;
  } else {
    return std::conj(x);
  }
}

// The Frobenius norm of the upper triangle, without overflow of squares.
template <class T>
double triangle_norm(const T* x, int64_t n, int64_t lead) {
  double largest = 0, sum = 0;
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = 0; r <= c; ++r) {
      largest = std::max(largest, static_cast<double>(std::abs(x[c * lead + r])));
    }
  }
  if (!(largest > 0)) return largest;
  for (int64_t c = 0; c < n; ++c) {
    for (int64_t r = 0; r <= c; ++r) {
      const double part = static_cast<double>(std::abs(x[c * lead + r])) / largest;
      sum += part * part;
    }
  }
  return largest * std::sqrt(sum);
}

}  // namespace

// Inverts an upper triangle with `lead` rows in memory, with r⁻¹ r or, if `left`, r r⁻¹ close to
// the unit matrix. Returns false if a singular value may be within the tolerance.
template <class T>
bool MatrixRun<T>::invert_triangle(int64_t lead, bool left, Real tolerance, const T* r,
                                   T* inverse) const {
  constexpr int kLeft = 141, kRight = 142, kUpper = 121, kNoUnit = 131;
  constexpr double kMargin = 4;  // for rounding errors
  for (int64_t i = 0; i < least; ++i) {
    if (r[i * (lead + 1)] == T{}) return false;
  }
  fill_identity(inverse, least, least);
  const int k = static_cast<int>(least);
  const T one{1};
  typename Lapack<T>::Alpha alpha;
  if constexpr (Lapack<T>::kComplex) {
    alpha = &one;
  } else {
    alpha = one;
  }
  lapack.trsm(kColumnMajor, left ? kLeft : kRight, kUpper, kNotTransposed, kNoUnit, k, k, alpha, r,
              static_cast<int>(lead), inverse, k);
  const double resolution =
      static_cast<double>(std::max(m, n)) * std::numeric_limits<Real>::epsilon();
  const double smallest = kMargin * std::max(static_cast<double>(tolerance), resolution);
  return triangle_norm(r, least, lead) * triangle_norm(inverse, least, least) * smallest < 1;
}

template <class T>
Problem MatrixRun<T>::pseudo_inverse(int64_t at, const Arrays& arrays) const {
  if (least == 0) return Problem::None;
  const T* a = in(0, at, m * n);
  const Real tolerance = reinterpret_cast<const Real*>(inputs[1])[at];
  T* left = out(0, at, n * least);
  T* right = out(1, at, least * m);
  if (!finite(a, m * n)) return Problem::NotConverged;
  // A wide matrix is inverted by its adjoint.
  const bool tall = m >= n;
  const int64_t height = std::max(m, n);
  if (tall) {
    transpose(a, m, n, arrays.matrix);
  } else {
    for (int64_t i = 0; i < m * n; ++i) arrays.matrix[i] = conjugate_of(a[i]);
  }
  const int rows = static_cast<int>(height), k = static_cast<int>(least);
  const int work = static_cast<int>(step.work);
  if (lapack.geqrf(kColumnMajor, rows, k, arrays.matrix, rows, arrays.tau, arrays.work, work)) {
    return Problem::NoLibrary;
  }
  T* const inverse = arrays.factors;
  if (invert_triangle(height, !tall, tolerance, arrays.matrix, inverse)) {
    T* const q = arrays.matrix;
    lapack.orgqr(kColumnMajor, rows, k, k, q, rows, arrays.tau, arrays.work, work);
    if (tall) {
      if (left) transpose(inverse, n, n, left);
      for (int64_t i = 0; right && i < n * m; ++i) right[i] = conjugate_of(q[i]);
    } else {
      if (left) transpose(q, m, n, left);
      for (int64_t i = 0; right && i < m * m; ++i) right[i] = conjugate_of(inverse[i]);
    }
    return Problem::None;
  }
  T* const u = arrays.factors;
  T* const vh = u + m * least;
  Real* const s = arrays.values;
  const Problem problem = svd_of(a, arrays, u, s, vh);
  if (problem != Problem::None) return problem;
  const Real bound = s[0] * std::max(tolerance, Real{0});
  for (int64_t j = 0; j < least; ++j) {
    const Real factor = s[j] > bound ? 1 / s[j] : Real{0};
    for (int64_t i = 0; left && i < n; ++i) {
      left[i * least + j] = factor * conjugate_of(vh[j * n + i]);
    }
    for (int64_t i = 0; right && i < m; ++i) right[j * m + i] = conjugate_of(u[i * least + j]);
  }
  return Problem::None;
}

#define PULLBACK_PSEUDO_INVERSES(T)                                                              \
  template Problem MatrixRun<T>::pseudo_inverse(int64_t, const LibraryArrays<T>&) const;         \
  template bool MatrixRun<T>::invert_triangle(int64_t, bool, typename RealOf<T>::type, const T*, \
                                              T*) const;
PULLBACK_PSEUDO_INVERSES(float)
PULLBACK_PSEUDO_INVERSES(double)
PULLBACK_PSEUDO_INVERSES(std::complex<float>)
PULLBACK_PSEUDO_INVERSES(std::complex<double>)
#undef PULLBACK_PSEUDO_INVERSES

}  // namespace pullback
