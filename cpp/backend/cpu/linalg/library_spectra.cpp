// Singular values and eigenvalues of one matrix.
#include "backend/cpu/linalg/library_call.h"

namespace pullback {

template <class T>
Problem MatrixRun<T>::svd(int64_t at, const Arrays& arrays) const {
  const int64_t left = form.full ? m : least;
  const int64_t right = form.full ? n : least;
  T* u = out(0, at, m * left);
  Real* s = out<Real>(1, at, least);
  T* vh = out(2, at, right * n);
  if (least == 0) {
    if (u) fill_identity(u, m, left);
    if (vh) fill_identity(vh, right, n);
    return Problem::None;
  }
  const T* a = in(0, at, m * n);
  if (!finite(a, m * n)) return Problem::NotConverged;
  return svd_of(a, arrays, u, s ? s : arrays.values, vh);
}

template <class T>
Problem MatrixRun<T>::svd_of(const T* a, const Arrays& arrays, T* u, Real* s, T* vh) const {
  const int64_t left = form.full ? m : least;
  const int64_t right = form.full ? n : least;
  // `rows` and `columns` of the matrix as the library sees it.
  const auto decompose = [&](int64_t rows, int64_t columns, T* of_columns, int64_t count_rows,
                             T* of_rows) {
    const int height = static_cast<int>(rows), width = static_cast<int>(columns);
    const int lead = static_cast<int>(count_rows), work = static_cast<int>(step.work);
    int info;
    if constexpr (Lapack<T>::kComplex) {
      info = lapack.gesdd(kColumnMajor, job_of_svd(step.call), height, width, arrays.matrix, height,
                          s, of_columns, height, of_rows, lead, arrays.work, work, arrays.reals,
                          arrays.ints);
    } else {
      info = lapack.gesdd(kColumnMajor, job_of_svd(step.call), height, width, arrays.matrix, height,
                          s, of_columns, height, of_rows, lead, arrays.work, work, arrays.ints);
    }
    return info ? Problem::NotConverged : Problem::None;
  };
  if (is_tall(form)) {  // LAPACK is faster by QR than by LQ, so the matrix is transposed
    transpose(a, m, n, arrays.matrix);
    const Problem problem = decompose(m, n, arrays.vectors, right, arrays.others);
    if (u) transpose(arrays.vectors, left, m, u);
    if (vh) transpose(arrays.others, n, right, vh);
    return problem;
  }
  // The transpose has the factors in exchanged roles. LAPACK computes both, even if one is not
  // wanted.
  std::copy_n(a, m * n, arrays.matrix);
  return decompose(n, m, vh ? vh : arrays.vectors, left, u ? u : arrays.vectors);
}

template <class T>
Problem MatrixRun<T>::eigh(int64_t at, const Arrays& arrays) const {
  if (n == 0) return Problem::None;
  const T* a = in(0, at, n * n);
  for (int64_t i = 0; i < n; ++i) {
    if (!finite(a + i * n, i + 1)) return Problem::NotConverged;
  }
  std::copy_n(a, n * n, arrays.matrix);
  Real* values = outputs[0] ? out<Real>(0, at, n) : arrays.values;
  const int order = static_cast<int>(n);
  const int work = static_cast<int>(step.work), ints = static_cast<int>(step.ints);
  int info;
  if constexpr (Lapack<T>::kComplex) {
    info = lapack.heevd(kColumnMajor, job_of_vectors(step.call), 'U', order, arrays.matrix, order,
                        values, arrays.work, work, arrays.reals, static_cast<int>(step.reals),
                        arrays.ints, ints);
  } else {
    info = lapack.heevd(kColumnMajor, job_of_vectors(step.call), 'U', order, arrays.matrix, order,
                        values, arrays.work, work, arrays.ints, ints);
  }
  if (info) return Problem::NotConverged;
  T* vectors = out(1, at, n * n);
  if (!vectors) return Problem::None;
  transpose(arrays.matrix, n, n, vectors);
  if constexpr (Lapack<T>::kComplex) {  // of the transpose: conjugate
    for (int64_t i = 0; i < n * n; ++i) vectors[i] = std::conj(vectors[i]);
  }
  return Problem::None;
}

template <class T>
Problem MatrixRun<T>::eig(int64_t at, const Arrays& arrays) const {
  using Complex = std::complex<Real>;
  if (n == 0) return Problem::None;
  const T* a = in(0, at, n * n);
  if (!finite(a, n * n)) return Problem::NotConverged;
  transpose(a, n, n, arrays.matrix);
  Complex* values = out<Complex>(0, at, n);
  Complex* vectors = out<Complex>(1, at, n * n);
  const char job = job_of_vectors(step.call);
  const int order = static_cast<int>(n), work = static_cast<int>(step.work);
  if constexpr (Lapack<T>::kComplex) {
    T* found = values ? values : arrays.tau;
    if (lapack.geev(kColumnMajor, 'N', job, order, arrays.matrix, order, found, nullptr, order,
                    arrays.vectors, order, arrays.work, work, arrays.reals)) {
      return Problem::NotConverged;
    }
    if (vectors) transpose(arrays.vectors, n, n, vectors);
  } else {
    Real *re = arrays.reals, *im = arrays.reals + n;
    if (lapack.geev(kColumnMajor, 'N', job, order, arrays.matrix, order, re, im, nullptr, order,
                    arrays.vectors, order, arrays.work, work)) {
      return Problem::NotConverged;
    }
    for (int64_t k = 0; k < n && values; ++k) values[k] = {re[k], im[k]};
    // For a conjugate pair, LAPACK returns the real part and then the imaginary part of the first
    // vector.
    for (int64_t k = 0; k < n && vectors; ++k) {
      const int64_t first = im[k] < 0 ? k - 1 : k;
      const T* real = arrays.vectors + first * n;
      for (int64_t i = 0; i < n; ++i) {
        vectors[i * n + k] = {real[i],
                              im[k] == 0 ? Real(0) : std::copysign(Real(1), im[k]) * real[n + i]};
      }
    }
  }
  return Problem::None;
}

template <class T>
Problem MatrixRun<T>::absent(int64_t at) const {
  const T* marks = in(0, at, m * n);
  if (T* zeros = out(0, at, m * n)) std::copy_n(marks, m * n, zeros);
  const bool none = std::all_of(marks, marks + m * n, [](const T& mark) { return mark == T{}; });
  return none ? Problem::None : Problem::Degenerate;
}

#define PULLBACK_SPECTRA(T)                                                    \
  template Problem MatrixRun<T>::svd(int64_t, const LibraryArrays<T>&) const;  \
  template Problem MatrixRun<T>::eigh(int64_t, const LibraryArrays<T>&) const; \
  template Problem MatrixRun<T>::eig(int64_t, const LibraryArrays<T>&) const;  \
  template Problem MatrixRun<T>::svd_of(const T*, const LibraryArrays<T>&, T*, \
                                        typename RealOf<T>::type*, T*) const;  \
  template Problem MatrixRun<T>::absent(int64_t) const;
PULLBACK_SPECTRA(float)
PULLBACK_SPECTRA(double)
PULLBACK_SPECTRA(std::complex<float>)
PULLBACK_SPECTRA(std::complex<double>)
#undef PULLBACK_SPECTRA

}  // namespace pullback
