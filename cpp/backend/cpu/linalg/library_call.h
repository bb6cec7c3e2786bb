// MatrixRun: one step that calls LAPACK: its operands, and helpers of the files that implement
// routines.
//
// LAPACK reads a row-major matrix as its transpose. Nothing is transposed in memory if the factors
// of the transpose give those of the matrix: its lower triangle is the upper one, and aᵀ = u s vᴴ
// means a = conj(v) s uᵀ.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/linalg/lapack.h"
#include "backend/cpu/linalg/library_run.h"
#include "base/threads.h"

namespace pullback {

// Divides a workspace into arrays, one after the other.
class Workspace {
 public:
  explicit Workspace(char* data) : data_(data) {}
  template <class P>
  P* take(int64_t count) {
    P* out = reinterpret_cast<P*>(data_ + used_);
    used_ += round_up(count * static_cast<int64_t>(sizeof(P)), 64);
    return out;
  }
  int64_t used() const { return used_; }

 private:
  char* data_;
  int64_t used_ = 0;
};

template <class T>
struct LibraryArrays {
  using Real = typename RealOf<T>::type;
  T *matrix, *vectors, *others, *factors, *tau, *work;
  Real *values, *reals;
  int* ints;
};

// Operands of a call with the element type T. Arrays is the workspace of one thread.
template <class T>
struct MatrixRun {
  using Real = typename RealOf<T>::type;
  using Arrays = LibraryArrays<T>;

  const Lapack<T>& lapack;
  const LibraryStep& step;
  const RoutineForm& form;
  int64_t m, n, least;
  std::vector<char*> inputs, outputs;

  MatrixRun(const Lapack<T>& lapack, const LibraryStep& step, const Slots& slots)
      : lapack(lapack),
        step(step),
        form(step.call.form),
        m(form.m),
        n(form.n),
        least(std::min(form.m, form.n)) {
    for (const View& view : step.call.in) inputs.push_back(slots.at(view));
    for (const std::optional<View>& view : step.call.out) outputs.push_back(slots.at(view));
  }

  const T* in(size_t which, int64_t at, int64_t size) const {
    return reinterpret_cast<const T*>(inputs[which]) + at * size;
  }
  // Null if the plan does not read it.
  template <class R = T>
  R* out(size_t which, int64_t at, int64_t size) const {
    return outputs[which] ? reinterpret_cast<R*>(outputs[which]) + at * size : nullptr;
  }

  // Computes a block of columns of matrix `at`; only right-hand sides have several (column_blocks).
  Problem one(int64_t at, int64_t block, const Arrays& arrays) const {
    switch (form.routine) {
      case Routine::cholesky:
        return cholesky(at);
      case Routine::triangular_solve:
        return triangular_solve(at, block);
      case Routine::lu:
        return lu(at, arrays);
      case Routine::qr:
        return qr(at, arrays);
      case Routine::svd:
        return svd(at, arrays);
      case Routine::pseudo_inverse:
        return pseudo_inverse(at, arrays);
      case Routine::eigh:
        return eigh(at, arrays);
      case Routine::eig:
        return eig(at, arrays);
      case Routine::absent:
        return absent(at);
      default:  // matrix_functions.cpp
        break;
    }
    return Problem::None;
  }

  // library_factors.cpp
  Problem cholesky(int64_t at) const;
  Problem triangular_solve(int64_t at, int64_t block) const;
  Problem lu(int64_t at, const Arrays& arrays) const;
  Problem qr(int64_t at, const Arrays& arrays) const;
  // library_pseudo_inverse.cpp
  Problem pseudo_inverse(int64_t at, const Arrays& arrays) const;
  bool invert_triangle(int64_t lead, bool left, Real tolerance, const T* r, T* inverse) const;
  // library_spectra.cpp
  Problem svd(int64_t at, const Arrays& arrays) const;
  // The factors of one finite matrix; u and vh may be null.
  Problem svd_of(const T* a, const Arrays& arrays, T* u, Real* s, T* vh) const;
  Problem eigh(int64_t at, const Arrays& arrays) const;
  Problem eig(int64_t at, const Arrays& arrays) const;
  Problem absent(int64_t at) const;
};

// Calls run(first, end), which returns a status, in chunks of some 20 µs that depend on sizes
// alone. Each of `count` items takes so many nanoseconds; chunks are multiples of `together`.
template <class Run>
Status in_chunks(int64_t count, double each, int64_t together, const Run& run) {
  const int64_t per_chunk =
      round_up(std::max<int64_t>(1, static_cast<int64_t>(20000 / each)), together);
  FirstProblem problem;
  parallel_for(ceil_div(count, per_chunk), worth_threads(each * static_cast<double>(count)),
               [&](int64_t chunk) {
                 const int64_t first = chunk * per_chunk;
                 const Status status = run(first, std::min(first + per_chunk, count));
                 if (!status) problem.report(chunk, status);
               });
  return problem.status();
}

// Calls f with a null pointer to the element type of the matrices.
template <class F>
auto by_dtype(const LibraryCall& call, F&& f) {
  const bool narrow = call.in[0].dtype == DType::Float32;
  if (call.form.is_complex) {
    return narrow ? f(static_cast<std::complex<float>*>(nullptr))
                  : f(static_cast<std::complex<double>*>(nullptr));
  }
  return narrow ? f(static_cast<float*>(nullptr)) : f(static_cast<double*>(nullptr));
}

constexpr int kColumnMajor = 102;
constexpr int kNotTransposed = 111, kAdjoint = 113;

// c = op(a) op(b), square or not, column-major.
template <class T>
void product(const Lapack<T>& lapack, int transpose_a, const T* a, int transpose_b, const T* b,
             int m, int k, int n, T* c) {
  const T one{1}, zero{};
  const int lda = transpose_a == kNotTransposed ? m : k,
            ldb = transpose_b == kNotTransposed ? k : n;
  if constexpr (Lapack<T>::kComplex) {
    lapack.gemm(kColumnMajor, transpose_a, transpose_b, m, n, k, &one, a, lda, b, ldb, &zero, c, m);
  } else {
    lapack.gemm(kColumnMajor, transpose_a, transpose_b, m, n, k, one, a, lda, b, ldb, zero, c, m);
  }
}

// The number of column blocks of one matrix, by size alone: right-hand sides are independent.
constexpr int64_t kBlockColumns = 64;
inline int64_t column_blocks(const RoutineForm& form) {
  const bool large = form.routine == Routine::triangular_solve && form.n >= kBlockColumns;
  return large ? std::max<int64_t>(1, ceil_div(form.k, kBlockColumns)) : 1;
}

// True if LAPACK computes a QR factorisation before the singular values.
inline bool is_tall(const RoutineForm& form) { return 6 * form.m >= 11 * form.n; }
// LAPACK's letter for the singular vectors that the plan reads.
inline char job_of_svd(const LibraryCall& call) {
  if (call.form.routine == Routine::pseudo_inverse) return 'S';
  return !call.out[0] && !call.out[2] ? 'N' : call.form.full ? 'A' : 'S';
}
// The same for eigenvectors. For a general matrix they are always computed: without them, LAPACK
// returns the eigenvalues in another order.
inline char job_of_vectors(const LibraryCall& call) {
  return !call.out[1] && call.form.routine != Routine::eig ? 'N' : 'V';
}

// The transpose of a row-major matrix.
template <class T>
void transpose(const T* x, int64_t rows, int64_t columns, T* y) {
  constexpr int64_t kBlock = 16;
  for (int64_t i0 = 0; i0 < rows; i0 += kBlock) {
    for (int64_t j0 = 0; j0 < columns; j0 += kBlock) {
      const int64_t i1 = std::min(i0 + kBlock, rows), j1 = std::min(j0 + kBlock, columns);
      for (int64_t i = i0; i < i1; ++i) {
        for (int64_t j = j0; j < j1; ++j) y[j * rows + i] = x[i * columns + j];
      }
    }
  }
}

// True if all numbers are finite; LAPACK may not terminate otherwise.
template <class T>
bool finite(const T* x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i]))) return false;
  }
  return true;
}

template <class T>
void fill_identity(T* x, int64_t rows, int64_t columns) {
  std::fill_n(x, rows * columns, T{});
  for (int64_t i = 0; i < std::min(rows, columns); ++i) x[i * columns + i] = T{1};
}

}  // namespace pullback
