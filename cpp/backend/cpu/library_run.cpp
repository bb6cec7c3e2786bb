// One routine, matrix by matrix: each is one thread's, and so is the workspace of the library.
//
// A row-major matrix is, for a library that wants columns, its transposed. Where that has the same
// factors in other words nothing is turned: the lower triangle is the upper one, and aᵀ = u s vᴴ
// says conj(v) s uᵀ of a.
#include "backend/cpu/library_run.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>

#include "backend/cpu/lapack.h"
#include "base/threads.h"

namespace pullback {
namespace {

// What a call needs beside its operands, one part after the other.
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
class Run {
  using L = Lapack<T>;
  using Real = typename L::Real;
  static constexpr int kColumns = L::kColumns;

 public:
  Run(const L& library, const LibraryCall& call, const Slots& slots)
      : lapack_(library), form_(call.form), m_(call.form.m), n_(call.form.n) {
    for (const View& view : call.in) in_.push_back(slots.at(view));
    for (const View& view : call.out) out_.push_back(view.slot < 0 ? nullptr : slots.at(view));
    least_ = std::min(m_, n_);
    // The sizes that the library asks for.
    Workspace nothing(nullptr);
    T size{};
    Real real{};
    int ints = 0;
    const int m = static_cast<int>(m_), n = static_cast<int>(n_), k = static_cast<int>(least_);
    if (least_ == 0) return;
    switch (form_.routine) {
      case Routine::cholesky:
      case Routine::triangular_solve:
      case Routine::lu:
        return;
      case Routine::qr: {
        lapack_.geqrf(kColumns, m, n, nullptr, m, nullptr, &size, -1);
        work_ = count(size);
        const int q = form_.full ? m : k;
        lapack_.orgqr(kColumns, m, q, k, nullptr, m, nullptr, &size, -1);
        work_ = std::max(work_, count(size));
        return;
      }
      case Routine::svd: {
        const char job = job_of_svd();
        const int ldvt = job == 'A' ? m : k;
        if constexpr (L::kComplex) {
          lapack_.gesdd(kColumns, job, n, m, nullptr, n, nullptr, nullptr, n, nullptr, ldvt, &size,
                        -1, &real, &ints);
        } else {
          lapack_.gesdd(kColumns, job, n, m, nullptr, n, nullptr, nullptr, n, nullptr, ldvt, &size,
                        -1, &ints);
        }
        work_ = count(size);
        const int64_t most = std::max(m_, n_);
        // As the routine's own text says.
        reals_ = least_ * std::max(5 * least_ + 7, 2 * most + 2 * least_ + 1);
        ints_ = 8 * least_;
        return;
      }
      case Routine::eigh:
        if constexpr (L::kComplex) {
          lapack_.heevd(kColumns, job_of_eigh(), 'U', n, nullptr, n, nullptr, &size, -1, &real, -1,
                        &ints, -1);
          reals_ = static_cast<int64_t>(real);
        } else {
          lapack_.heevd(kColumns, job_of_eigh(), 'U', n, nullptr, n, nullptr, &size, -1, &ints, -1);
        }
        work_ = count(size);
        ints_ = ints;
        return;
    }
  }

  // Of one matrix.
  int64_t workspace_bytes() const {
    Workspace space(nullptr);
    take_all(&space);
    return std::max<int64_t>(space.used(), 64);
  }

  Problem one(int64_t at, char* memory) {
    Workspace space(memory);
    const Parts parts = take_all(&space);
    switch (form_.routine) {
      case Routine::cholesky:
        return cholesky(at);
      case Routine::triangular_solve:
        return triangular_solve(at);
      case Routine::lu:
        return lu(at, parts);
      case Routine::qr:
        return qr(at, parts);
      case Routine::svd:
        return svd(at, parts);
      case Routine::eigh:
        return eigh(at, parts);
    }
    return Problem::None;
  }

  // Rough, for the decision how many threads it is worth.
  double nanoseconds() const {
    const double columns = form_.k ? static_cast<double>(form_.k) : static_cast<double>(n_);
    return 500 + 0.5 * static_cast<double>(m_) * static_cast<double>(n_) * columns;
  }

 private:
  struct Parts {
    T *matrix, *vectors, *tau, *work;
    Real *values, *reals;
    int* ints;
  };

  static int64_t count(const T& size) { return static_cast<int64_t>(std::real(size)); }

  Parts take_all(Workspace* space) const {
    Parts out{};
    const bool in_place =
        form_.routine == Routine::cholesky || form_.routine == Routine::triangular_solve;
    if (!in_place) out.matrix = space->take<T>(m_ * n_);
    if (form_.routine == Routine::svd) out.vectors = space->take<T>(std::max(m_ * m_, n_ * n_));
    if (form_.routine == Routine::qr) out.vectors = space->take<T>(m_ * (form_.full ? m_ : least_));
    if (form_.routine == Routine::qr) out.tau = space->take<T>(least_);
    out.values = space->take<Real>(least_);
    out.work = space->take<T>(work_);
    out.reals = space->take<Real>(reals_);
    out.ints = space->take<int>(form_.routine == Routine::lu ? least_ : ints_);
    return out;
  }

  const T* in(size_t which, int64_t at, int64_t size) const {
    return reinterpret_cast<const T*>(in_[which]) + at * size;
  }
  template <class R = T>
  R* out(size_t which, int64_t at, int64_t size) const {
    return out_[which] ? reinterpret_cast<R*>(out_[which]) + at * size : nullptr;
  }

  static bool finite(const T* x, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      if (!std::isfinite(std::real(x[i])) || !std::isfinite(std::imag(x[i]))) return false;
    }
    return true;
  }

  Problem cholesky(int64_t at) {
    const T* a = in(0, at, n_ * n_);
    T* l = out(0, at, n_ * n_);
    for (int64_t i = 0; i < n_; ++i) {
      std::copy_n(a + i * n_, i + 1, l + i * n_);
      std::fill_n(l + i * n_ + i + 1, n_ - i - 1, T{});
    }
    if (n_ == 0) return Problem::None;
    const int n = static_cast<int>(n_);
    return lapack_.potrf(kColumns, 'U', n, l, n) ? Problem::NotPositive : Problem::None;
  }

  Problem triangular_solve(int64_t at) {
    const T* t = in(0, at, n_ * n_);
    T* x = out(0, at, n_ * form_.k);
    std::copy_n(in(1, at, n_ * form_.k), n_ * form_.k, x);
    for (int64_t i = 0; i < n_ && !form_.unit; ++i) {
      if (t[i * n_ + i] == T{}) return Problem::Singular;
    }
    if (n_ == 0 || form_.k == 0) return Problem::None;
    constexpr int kRows = 101, kLeft = 141, kUpper = 121, kNoTurn = 111, kNoUnit = 131;
    const int n = static_cast<int>(n_), k = static_cast<int>(form_.k);
    const T one{1};
    typename L::Alpha alpha;
    if constexpr (L::kComplex) {
      alpha = &one;
    } else {
      alpha = one;
    }
    lapack_.trsm(kRows, kLeft, kUpper + form_.lower, kNoTurn + static_cast<int>(form_.turn),
                 kNoUnit + form_.unit, n, k, alpha, t, n, x, k);
    return Problem::None;
  }

  Problem lu(int64_t at, const Parts& parts) {
    turn(in(0, at, m_ * n_), m_, n_, parts.matrix);
    const int m = static_cast<int>(m_), n = static_cast<int>(n_);
    T* packed = out(0, at, m_ * n_);
    int64_t* positions = out<int64_t>(1, at, m_);
    Real* sign = out<Real>(2, at, 1);
    if (least_ > 0) lapack_.getrf(kColumns, m, n, parts.matrix, m, parts.ints);
    bool odd = false;
    for (int64_t i = 0; i < m_ && positions; ++i) positions[i] = i;
    for (int64_t i = 0; i < least_; ++i) {
      const int64_t other = parts.ints[i] - 1;
      odd ^= other != i;
      if (positions) std::swap(positions[i], positions[other]);
    }
    if (sign) *sign = odd ? Real(-1) : Real(1);
    if (packed) turn(parts.matrix, n_, m_, packed);
    return Problem::None;  // a pivot of zero is a number like any other: the determinant is 0
  }

  Problem qr(int64_t at, const Parts& parts) {
    const int64_t columns = form_.full ? m_ : least_;  // of q; rows of r
    T* q = out(0, at, m_ * columns);
    T* r = out(1, at, columns * n_);
    turn(in(0, at, m_ * n_), m_, n_, parts.matrix);
    const int m = static_cast<int>(m_), n = static_cast<int>(n_), k = static_cast<int>(least_);
    const int work = static_cast<int>(work_);
    if (k) lapack_.geqrf(kColumns, m, n, parts.matrix, m, parts.tau, parts.work, work);
    for (int64_t i = 0; i < columns && r; ++i) {
      for (int64_t c = 0; c < n_; ++c) r[i * n_ + c] = i <= c ? parts.matrix[c * m_ + i] : T{};
    }
    if (!q) return Problem::None;
    if (!k) {
      fill_identity(q, m_, columns);
      return Problem::None;
    }
    std::copy_n(parts.matrix, least_ * m_, parts.vectors);
    lapack_.orgqr(kColumns, m, static_cast<int>(columns), k, parts.vectors, m, parts.tau,
                  parts.work, work);
    turn(parts.vectors, columns, m_, q);
    return Problem::None;
  }

  // The transposed of a row-major matrix.
  static void turn(const T* x, int64_t rows, int64_t columns, T* y) {
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

  static void fill_identity(T* x, int64_t rows, int64_t columns) {
    std::fill_n(x, rows * columns, T{});
    for (int64_t i = 0; i < std::min(rows, columns); ++i) x[i * columns + i] = T{1};
  }

  char job_of_svd() const { return !out_[0] && !out_[2] ? 'N' : form_.full ? 'A' : 'S'; }

  Problem svd(int64_t at, const Parts& parts) {
    const int64_t left = form_.full ? m_ : least_;
    const int64_t right = form_.full ? n_ : least_;
    T* u = out(0, at, m_ * left);
    Real* s = out<Real>(1, at, least_);
    T* vh = out(2, at, right * n_);
    if (least_ == 0) {
      if (u) fill_identity(u, m_, left);
      if (vh) fill_identity(vh, right, n_);
      return Problem::None;
    }
    const T* a = in(0, at, m_ * n_);
    if (!finite(a, m_ * n_)) return Problem::NotConverged;
    std::copy_n(a, m_ * n_, parts.matrix);
    // One of them is not wanted: the library makes it nevertheless.
    T* columns = vh ? vh : parts.vectors;
    T* rows = u ? u : parts.vectors;
    Real* values = s ? s : parts.values;
    const int m = static_cast<int>(m_), n = static_cast<int>(n_);
    int info;
    if constexpr (L::kComplex) {
      info = lapack_.gesdd(kColumns, job_of_svd(), n, m, parts.matrix, n, values, columns, n, rows,
                           static_cast<int>(left), parts.work, static_cast<int>(work_), parts.reals,
                           parts.ints);
    } else {
      info = lapack_.gesdd(kColumns, job_of_svd(), n, m, parts.matrix, n, values, columns, n, rows,
                           static_cast<int>(left), parts.work, static_cast<int>(work_), parts.ints);
    }
    return info ? Problem::NotConverged : Problem::None;
  }

  char job_of_eigh() const { return out_[1] ? 'V' : 'N'; }

  Problem eigh(int64_t at, const Parts& parts) {
    if (n_ == 0) return Problem::None;
    const T* a = in(0, at, n_ * n_);
    for (int64_t i = 0; i < n_; ++i) {
      if (!finite(a + i * n_, i + 1)) return Problem::NotConverged;
    }
    std::copy_n(a, n_ * n_, parts.matrix);
    Real* values = out_[0] ? out<Real>(0, at, n_) : parts.values;
    const int n = static_cast<int>(n_);
    const int work = static_cast<int>(work_), ints = static_cast<int>(ints_);
    int info;
    if constexpr (L::kComplex) {
      info = lapack_.heevd(kColumns, job_of_eigh(), 'U', n, parts.matrix, n, values, parts.work,
                           work, parts.reals, static_cast<int>(reals_), parts.ints, ints);
    } else {
      info = lapack_.heevd(kColumns, job_of_eigh(), 'U', n, parts.matrix, n, values, parts.work,
                           work, parts.ints, ints);
    }
    if (info) return Problem::NotConverged;
    T* vectors = out(1, at, n_ * n_);
    if (!vectors) return Problem::None;
    turn(parts.matrix, n_, n_, vectors);
    if constexpr (L::kComplex) {  // they are of the transposed, the conjugate
      for (int64_t i = 0; i < n_ * n_; ++i) vectors[i] = std::conj(vectors[i]);
    }
    return Problem::None;
  }

  const L& lapack_;
  const MatrixForm& form_;
  std::vector<char*> in_, out_;
  int64_t m_, n_, least_ = 0;
  int64_t work_ = 0, reals_ = 0, ints_ = 0;
};

template <class T>
Status run_with(const LibraryCall& call, const Slots& slots) {
  const Lapack<T>* library = lapack<T>();
  if (!library) return failure(Problem::NoLibrary);
  Run<T> run(*library, call, slots);
  const double each = run.nanoseconds();
  // Chunks of some 20 µs, by size alone.
  const int64_t per_chunk = std::max<int64_t>(1, static_cast<int64_t>(20000 / each));
  FirstProblem problem;
  parallel_for(ceil_div(call.batch, per_chunk),
               worth_threads(each * static_cast<double>(call.batch)), [&](int64_t chunk) {
                 const StepMemory memory(run.workspace_bytes());
                 if (!memory.data()) return problem.report(chunk, Problem::Memory);
                 const int64_t end = std::min((chunk + 1) * per_chunk, call.batch);
                 for (int64_t i = chunk * per_chunk; i < end; ++i) {
                   const Problem found = run.one(i, memory.data());
                   if (found == Problem::None) continue;
                   Status status = failure(found);
                   status.detail = i;
                   status.bound = call.batch;
                   return problem.report(chunk, status);
                 }
               });
  return problem.status();
}

}  // namespace

Status run_library(const LibraryCall& call, const Slots& slots) {
  const bool narrow = call.in[0].dtype == DType::Float32;
  if (call.form.is_complex) {
    return narrow ? run_with<std::complex<float>>(call, slots)
                  : run_with<std::complex<double>>(call, slots);
  }
  return narrow ? run_with<float>(call, slots) : run_with<double>(call, slots);
}

}  // namespace pullback
