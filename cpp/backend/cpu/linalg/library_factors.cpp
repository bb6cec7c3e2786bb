// Cholesky, LU and QR factorisations and triangular solves of one matrix.
#include <algorithm>
#include <cmath>
#include <complex>

#include "backend/cpu/linalg/library_call.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int kLeft = 141, kUpper = 121, kNoUnit = 131;
constexpr int64_t kCholeskyRows = 128;   // rows factorised at a time
constexpr int64_t kCholeskyStrip = 64;   // rows below these per thread
constexpr int64_t kLargeCholesky = 256;  // by size alone, so that threads change no bits

// A scalar as the library takes it.
template <class T>
typename Lapack<T>::Alpha passed(const T& x) {
  if constexpr (Lapack<T>::kComplex) {
    return &x;
  } else {
    return x;
  }
}

double scaled(double x, int exponent) { return std::ldexp(x, exponent); }
std::complex<double> scaled(const std::complex<double>& x, int exponent) {
  return {std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent)};
}

// The product of n numbers, in double and with exponents aside: partial products may leave the
// range of the result.
template <class T>
T product_of_diagonal(const T* x, int64_t n, int64_t step, bool negative) {
  using Wide = std::conditional_t<Lapack<T>::kComplex, std::complex<double>, double>;
  Wide product{negative ? -1.0 : 1.0};
  int64_t exponents = 0;
  const auto normal = [&](const Wide& value) {
    int exponent = 0;
    std::frexp(std::max(std::abs(std::real(value)), std::abs(std::imag(value))), &exponent);
    exponents += exponent;
    return scaled(value, -exponent);
  };
  for (int64_t i = 0; i < n; ++i) product = normal(product * normal(Wide(x[i * step])));
  constexpr int64_t kBeyond = 5000;  // of every exponent
  return static_cast<T>(
      scaled(product, static_cast<int>(std::clamp(exponents, -kBeyond, kBeyond))));
}

// Factorises the lower triangle in place; some of the upper one is overwritten. Threads share the
// rows below the factorised ones.
template <class T>
Problem large_cholesky(const Lapack<T>& lapack, int64_t n, T* l) {
  const T one{1}, minus{-1};
  const int lead = static_cast<int>(n);
  for (int64_t j = 0; j < n && !stop_requested(); j += kCholeskyRows) {
    const int64_t rows = std::min(kCholeskyRows, n - j), next = j + rows;
    const int width = static_cast<int>(rows);
    T* corner = l + j * n + j;
    if (lapack.potrf(kColumnMajor, 'U', width, corner, lead)) return Problem::NotPositive;
    const auto over_strips = [&](auto&& each) {
      parallel_for(ceil_div(n - next, kCholeskyStrip), true, [&](int64_t strip) {
        const int64_t first = next + strip * kCholeskyStrip;
        each(first, std::min(kCholeskyStrip, n - first));
      });
    };
    over_strips([&](int64_t first, int64_t count) {
      lapack.trsm(kColumnMajor, kLeft, kUpper, kAdjoint, kNoUnit, width, static_cast<int>(count),
                  passed(one), corner, lead, l + first * n + j, lead);
    });
    over_strips([&](int64_t first, int64_t count) {
      lapack.gemm(kColumnMajor, kAdjoint, kNotTransposed, static_cast<int>(first + count - next),
                  static_cast<int>(count), width, passed(minus), l + next * n + j, lead,
                  l + first * n + j, lead, passed(one), l + first * n + next, lead);
    });
  }
  return Problem::None;
}

}  // namespace

template <class T>
Problem MatrixRun<T>::cholesky(int64_t at) const {
  if (n == 0) return Problem::None;
  const T* a = in(0, at, n * n);
  T* l = out(0, at, n * n);
  const bool large = n >= kLargeCholesky;
  const int64_t rows = large ? kCholeskyStrip : n;
  const auto each_row = [&](auto&& f) {
    parallel_for(ceil_div(n, rows), true, [&](int64_t part) {
      for (int64_t i = part * rows; i < std::min((part + 1) * rows, n); ++i) f(i);
    });
  };
  each_row([&](int64_t i) { std::copy_n(a + i * n, i + 1, l + i * n); });
  const int order = static_cast<int>(n);
  const Problem problem = large ? large_cholesky(lapack, n, l)
                          : lapack.potrf(kColumnMajor, 'U', order, l, order) ? Problem::NotPositive
                                                                             : Problem::None;
  each_row([&](int64_t i) { std::fill_n(l + i * n + i + 1, n - i - 1, T{}); });
  return problem;
}

template <class T>
Problem MatrixRun<T>::triangular_solve(int64_t at, int64_t block) const {
  const int64_t first = block * kBlockColumns;
  const int64_t columns =
      column_blocks(form) > 1 ? std::min(kBlockColumns, form.k - first) : form.k;
  const T* t = in(0, at, n * n);
  const T* b = in(1, at, n * form.k) + first;
  T* x = out(0, at, n * form.k) + first;
  for (int64_t i = 0; i < n; ++i) std::copy_n(b + i * form.k, columns, x + i * form.k);
  for (int64_t i = 0; i < n && !form.unit; ++i) {
    if (t[i * n + i] == T{}) return Problem::Singular;
  }
  if (n == 0 || form.k == 0) return Problem::None;
  constexpr int kRows = 101;
  const int order = static_cast<int>(n), k = static_cast<int>(form.k);
  const T one{1};
  lapack.trsm(kRows, kLeft, kUpper + form.lower,
              kNotTransposed + static_cast<int>(form.transposition), kNoUnit + form.unit, order,
              static_cast<int>(columns), passed(one), t, order, x, k);
  return Problem::None;
}

template <class T>
Problem MatrixRun<T>::lu(int64_t at, const Arrays& arrays) const {
  transpose(in(0, at, m * n), m, n, arrays.matrix);
  T* packed = out(0, at, m * n);
  int64_t* positions = out<int64_t>(1, at, m);
  int64_t* swaps = out<int64_t>(3, at, least);
  Real* sign = out<Real>(2, at, 1);
  if (least > 0) {
    const int info = lapack.getrf(kColumnMajor, static_cast<int>(m), static_cast<int>(n),
                                  arrays.matrix, static_cast<int>(m), arrays.ints);
    if (info < 0) return Problem::NoLibrary;  // invalid argument; above 0 a pivot is zero
  }
  bool odd = false;
  for (int64_t i = 0; i < m && positions; ++i) positions[i] = i;
  for (int64_t i = 0; i < least; ++i) {
    const int64_t other = arrays.ints[i] - 1;
    odd ^= other != i;
    if (positions) std::swap(positions[i], positions[other]);
    if (swaps) swaps[i] = other;
  }
  if (sign) *sign = odd ? Real(-1) : Real(1);
  if (T* det = m == n ? out(4, at, 1) : nullptr) {
    *det = product_of_diagonal(arrays.matrix, least, m + 1, odd);
  }
  if (packed) transpose(arrays.matrix, n, m, packed);
  return Problem::None;  // a pivot of zero is valid: the determinant is 0
}

template <class T>
Problem MatrixRun<T>::qr(int64_t at, const Arrays& arrays) const {
  const int64_t columns = form.full ? m : least;  // columns of q, rows of r
  T* q = out(0, at, m * columns);
  T* r = out(1, at, columns * n);
  transpose(in(0, at, m * n), m, n, arrays.matrix);
  const int rows = static_cast<int>(m), k = static_cast<int>(least);
  const int work = static_cast<int>(step.work);
  if (k && lapack.geqrf(kColumnMajor, rows, static_cast<int>(n), arrays.matrix, rows, arrays.tau,
                        arrays.work, work)) {
    return Problem::NoLibrary;
  }
  for (int64_t i = 0; i < columns && r; ++i) {
    for (int64_t c = 0; c < n; ++c) r[i * n + c] = i <= c ? arrays.matrix[c * m + i] : T{};
  }
  if (!q) return Problem::None;
  if (!k) {
    fill_identity(q, m, columns);
    return Problem::None;
  }
  std::copy_n(arrays.matrix, least * m, arrays.vectors);
  lapack.orgqr(kColumnMajor, rows, static_cast<int>(columns), k, arrays.vectors, rows, arrays.tau,
               arrays.work, work);
  transpose(arrays.vectors, columns, m, q);
  return Problem::None;
}

#define PULLBACK_FACTORS(T)                                                  \
  template Problem MatrixRun<T>::cholesky(int64_t) const;                    \
  template Problem MatrixRun<T>::triangular_solve(int64_t, int64_t) const;   \
  template Problem MatrixRun<T>::lu(int64_t, const LibraryArrays<T>&) const; \
  template Problem MatrixRun<T>::qr(int64_t, const LibraryArrays<T>&) const;
PULLBACK_FACTORS(float)
PULLBACK_FACTORS(double)
PULLBACK_FACTORS(std::complex<float>)
PULLBACK_FACTORS(std::complex<double>)
#undef PULLBACK_FACTORS

}  // namespace pullback
