// Runs functions of matrices. A function of the transpose is the transpose of the function, so
// row-major matrices are passed unchanged to LAPACK. In a Sylvester equation aᵀ and bᵀ change
// places.
#include "backend/cpu/linalg/matrix_functions.h"

#include <cmath>
#include <limits>

#include "backend/cpu/linalg/lapack.h"
#include "backend/cpu/linalg/library_call.h"
#include "backend/cpu/linalg/pade_exponential.h"
#include "backend/cpu/linalg/triangle_functions.h"

namespace pullback {
namespace {

// The Schur factorisation a = z t zᴴ; t replaces the matrix.
template <class T>
class Schur {
  using L = Lapack<T>;
  using Real = typename L::Real;

 public:
  Schur(const L& lapack, int64_t n) : lapack_(lapack), n_(static_cast<int>(n)) {
    if (n == 0) return;
    T size{};
    call(nullptr, nullptr, {}, &size, -1);
    work_ = static_cast<int64_t>(std::real(size));
  }

  struct Arrays {
    T *z, *values, *work;
    Real* reals;
  };
  Arrays take(Workspace* space) const {
    return {space->take<T>(int64_t{n_} * n_), space->take<T>(2 * n_), space->take<T>(work_),
            space->take<Real>(n_)};
  }
  bool run(T* a, const Arrays& arrays) const {
    return n_ == 0 || call(a, arrays.z, arrays, arrays.work, static_cast<int>(work_)) == 0;
  }

 private:
  int call(T* a, T* z, const Arrays& arrays, T* work, int size) const {
    int chosen = 0, none = 0;
    if constexpr (L::kComplex) {
      return lapack_.gees(kColumnMajor, 'V', 'N', nullptr, n_, a, n_, &chosen, arrays.values, z, n_,
                          work, size, arrays.reals, &none);
    } else {
      return lapack_.gees(kColumnMajor, 'V', 'N', nullptr, n_, a, n_, &chosen, arrays.values,
                          arrays.values ? arrays.values + n_ : nullptr, z, n_, work, size, &none);
    }
  }

  const L& lapack_;
  int n_;
  int64_t work_ = 0;
};

template <class T>
class FunctionRun {
  using L = Lapack<T>;
  using Real = typename L::Real;
  using Wide = std::conditional_t<L::kComplex, Complex, double>;  // dtype of functions by Schur
                                                                  // factors

 public:
  FunctionRun(const L& library, const LibraryCall& call, const Slots& slots)
      : lapack_(library),
        complex_(*lapack<Complex>()),
        form_(call.form),
        m_(call.form.m),
        n_(call.form.n),
        k_(call.form.k),
        schur_(*lapack<Wide>(), by_schur() ? n_ : 0),
        schur_a_(library, sylvester() ? n_ : 0),
        schur_b_(library, sylvester() ? k_ : 0) {
    for (const View& view : call.in) in_.push_back(slots.at(view));
    out_ = slots.at(call.out[0]);
    swaps_ = form_.routine == Routine::swap_rows ? call.in[1].shape.size() / call.batch : 0;
  }

  int64_t workspace_bytes() const {
    Workspace space(nullptr);
    take(&space);
    return std::max<int64_t>(space.used(), 64);
  }

  // A rough estimate, to decide about threads.
  double nanoseconds() const {
    const auto m = static_cast<double>(m_), n = static_cast<double>(n_),
               k = static_cast<double>(k_);
    switch (form_.routine) {
      case Routine::banded_solve:
        return 200 + 2 * m * n * (k + m);
      case Routine::swap_rows:
        return 50 + m * n;
      case Routine::sylvester:
        return 2000 + 10 * (m * m * m + k * k * k);
      case Routine::expm:
        return 1000 + 5 * n * n * n;
      default:
        return 2000 + 30 * n * n * n;
    }
  }

  Status one(int64_t at, char* memory) {
    Workspace space(memory);
    const Arrays arrays = take(&space);
    switch (form_.routine) {
      case Routine::expm:
        exponential(lapack_, in(0, at, n_ * n_), n_, arrays.exponential, out(at, n_ * n_));
        return {};
      case Routine::sylvester:
        return failure(sylvester(at, arrays));
      case Routine::banded_solve:
        return failure(banded_solve(at, arrays));
      case Routine::swap_rows:
        return swap_rows(at);
      default:
        return failure(by_schur(at, arrays));
    }
  }

 private:
  struct Arrays {
    ExponentialArrays<T> exponential;
    Wide* wide;  // to `spare`: for functions by Schur factors
    Complex *t, *z, *f, *spare;
    typename Schur<Wide>::Arrays schur;
    T *a, *b, *x, *y;  // to `schur_b`: for equations
    typename Schur<T>::Arrays schur_a, schur_b;
    int* pivots;
  };

  bool by_schur() const {
    return form_.routine == Routine::logm || form_.routine == Routine::sqrtm;
  }
  bool sylvester() const { return form_.routine == Routine::sylvester; }
  bool tridiagonal() const { return form_.below == 1 && m_ == 3 && n_ > 1; }

  Arrays take(Workspace* space) const {
    const bool sylvester = this->sylvester(), banded = form_.routine == Routine::banded_solve;
    const int64_t square = by_schur() ? n_ * n_ : 0;
    // Pivoting needs additional bands.
    const int64_t bands = (m_ + std::max(form_.below, m_ - 1 - form_.below)) * n_;
    return {.exponential = {space, form_.routine == Routine::expm ? n_ : 0},
            .wide = space->take<Wide>(square),
            .t = space->take<Complex>(square),
            .z = space->take<Complex>(square),
            .f = space->take<Complex>(square),
            .spare = space->take<Complex>(2 * square),
            .schur = schur_.take(space),
            .a = space->take<T>(sylvester ? n_ * n_
                                : banded  ? bands
                                          : 0),
            .b = space->take<T>(sylvester ? k_ * k_ : 0),
            .x = space->take<T>(sylvester || banded ? n_ * k_ : 0),
            .y = space->take<T>(sylvester ? n_ * k_ : 0),
            .schur_a = schur_a_.take(space),
            .schur_b = schur_b_.take(space),
            .pivots = space->take<int>(banded ? n_ : 0)};
  }

  const T* in(size_t which, int64_t at, int64_t size) const {
    return reinterpret_cast<const T*>(in_[which]) + at * size;
  }
  T* out(int64_t at, int64_t size) const { return reinterpret_cast<T*>(out_) + at * size; }

  Problem by_schur(int64_t at, const Arrays& p) {
    const T* a = in(0, at, n_ * n_);
    T* y = out(at, n_ * n_);
    if (!finite(a, n_ * n_)) return Problem::NotConverged;
    if (n_ == 0) return Problem::None;
    std::copy_n(a, n_ * n_, p.wide);
    if (!schur_.run(p.wide, p.schur)) return Problem::NotConverged;
    if constexpr (L::kComplex) {
      std::copy_n(p.wide, n_ * n_, p.t);
      std::copy_n(p.schur.z, n_ * n_, p.z);
    } else {
      triangle_of_blocks(p.wide, p.schur.z, n_, p.t, p.z);
    }
    const bool found = form_.routine == Routine::logm ? logarithm_of_triangle(p.t, n_, p.f, p.spare)
                                                      : square_root_of_triangle(p.t, n_, p.f);
    if (!found) return Problem::Singular;
    const int n = static_cast<int>(n_);
    product(complex_, kNotTransposed, p.z, kNotTransposed, p.f, n, n, n, p.spare);
    product(complex_, kNotTransposed, p.spare, kAdjoint, p.z, n, n, n, p.f);
    if constexpr (L::kComplex) {
      std::copy_n(p.f, n_ * n_, y);
    } else {
      real_parts(p.f, y);
    }
    return Problem::None;
  }

  // NaN if a real matrix has no real result, that is if the imaginary part is more than rounding.
  void real_parts(const Complex* f, T* y) const {
    double real = 0, imaginary = 0;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      real = std::max(real, std::abs(f[i].real()));
      imaginary = std::max(imaginary, std::abs(f[i].imag()));
    }
    const double bound = std::sqrt(std::numeric_limits<double>::epsilon()) * 10;
    const bool is_real = imaginary <= bound * real || imaginary <= bound * bound;
    for (int64_t i = 0; i < n_ * n_; ++i) {
      y[i] = is_real ? static_cast<T>(f[i].real()) : std::numeric_limits<T>::quiet_NaN();
    }
  }

  // As the library sees it: bᵀ xᵀ + xᵀ aᵀ = cᵀ. n is the size of a, k the size of b.
  Problem sylvester(int64_t at, const Arrays& p) {
    T* x = out(at, n_ * k_);
    std::copy_n(in(0, at, n_ * n_), n_ * n_, p.a);
    std::copy_n(in(1, at, k_ * k_), k_ * k_, p.b);
    const T* c = in(2, at, n_ * k_);
    if (!finite(p.a, n_ * n_) || !finite(p.b, k_ * k_)) return Problem::NotConverged;
    if (n_ == 0 || k_ == 0) return Problem::None;
    if (!schur_a_.run(p.a, p.schur_a) || !schur_b_.run(p.b, p.schur_b)) {
      return Problem::NotConverged;
    }
    const int n = static_cast<int>(n_), k = static_cast<int>(k_);
    product(lapack_, kAdjoint, p.schur_b.z, kNotTransposed, c, k, k, n, p.x);
    product(lapack_, kNotTransposed, p.x, kNotTransposed, p.schur_a.z, k, n, n, p.y);
    Real scale = 1;
    if (lapack_.trsyl(kColumnMajor, 'N', 'N', 1, k, n, p.b, k, p.a, n, p.y, k, &scale)) {
      return Problem::NotUnique;
    }
    product(lapack_, kNotTransposed, p.schur_b.z, kNotTransposed, p.y, k, k, n, p.x);
    product(lapack_, kNotTransposed, p.x, kAdjoint, p.schur_a.z, k, n, n, x);
    if (scale != 1) {
      for (int64_t i = 0; i < n_ * k_; ++i) x[i] /= scale;
    }
    return Problem::None;
  }

  Problem banded_solve(int64_t at, const Arrays& p) {
    const T* bands = in(0, at, m_ * n_);
    const T* b = in(1, at, n_ * k_);
    T* x = out(at, n_ * k_);
    if (n_ == 0 || k_ == 0) return Problem::None;
    const bool transposed = form_.transposition == Transposition::Adjoint;
    const int64_t above_of_a = m_ - 1 - form_.below;
    const int64_t below = transposed ? above_of_a : form_.below;
    const int64_t above = transposed ? form_.below : above_of_a;
    const auto entry = [&](int64_t i, int64_t j) {
      return transposed ? conj(bands[(above_of_a + j - i) * n_ + i])
                        : bands[(above_of_a + i - j) * n_ + j];
    };
    T* y = k_ == 1 ? x : p.x;
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t j = 0; j < k_; ++j) y[j * n_ + i] = b[i * k_ + j];
    }
    const int n = static_cast<int>(n_), k = static_cast<int>(k_);
    int info;
    if (tridiagonal()) {
      T *low = p.a, *middle = low + n_, *high = middle + n_;
      for (int64_t i = 0; i < n_; ++i) {
        middle[i] = entry(i, i);
        if (i + 1 == n_) break;
        low[i] = entry(i + 1, i);
        high[i] = entry(i, i + 1);
      }
      info = lapack_.gtsv(kColumnMajor, n, k, low, middle, high, y, n);
    } else {
      const int64_t rows = 2 * below + above + 1;
      for (int64_t j = 0; j < n_; ++j) {
        const int64_t last = std::min(n_ - 1, j + below);
        for (int64_t i = std::max<int64_t>(0, j - above); i <= last; ++i) {
          p.a[j * rows + below + above + i - j] = entry(i, j);
        }
      }
      info = lapack_.gbsv(kColumnMajor, n, static_cast<int>(below), static_cast<int>(above), k, p.a,
                          static_cast<int>(rows), p.pivots, y, n);
    }
    if (info) return Problem::Singular;
    for (int64_t i = 0; i < n_ && k_ > 1; ++i) {
      for (int64_t j = 0; j < k_; ++j) x[i * k_ + j] = y[j * n_ + i];
    }
    return Problem::None;
  }

  static T conj(const T& x) {
    if constexpr (L::kComplex) {
      return std::conj(x);
    } else {
      return x;
    }
  }

  Status swap_rows(int64_t at) {
    T* x = out(at, m_ * n_);
    std::copy_n(in(0, at, m_ * n_), m_ * n_, x);
    const auto* others = reinterpret_cast<const int64_t*>(in_[1]) + at * swaps_;
    for (int64_t step = 0; step < swaps_; ++step) {
      const int64_t i = form_.backwards ? swaps_ - 1 - step : step;
      const int64_t other = others[i];
      if (other < 0 || other >= m_) {
        Status out = failure(Problem::IndexOutOfRange);
        out.detail = other;
        out.bound = m_;
        return out;
      }
      if (other != i) std::swap_ranges(x + i * n_, x + (i + 1) * n_, x + other * n_);
    }
    return {};
  }

  const L& lapack_;
  const Lapack<Complex>& complex_;
  const RoutineForm& form_;
  std::vector<char*> in_;
  char* out_;
  const int64_t m_, n_, k_;
  int64_t swaps_ = 0;
  Schur<Wide> schur_;
  Schur<T> schur_a_, schur_b_;
};

template <class T>
Status run_function(const LibraryCall& call, const Slots& slots) {
  const Lapack<T>* library = lapack<T>();
  if (!library || !lapack<Complex>() || !lapack<double>()) return failure(Problem::NoLibrary);
  if (call.batch == 0) return {};
  FunctionRun<T> run(*library, call, slots);
  return in_chunks(call.batch, run.nanoseconds(), 1, [&](int64_t first, int64_t end) -> Status {
    const StepMemory memory(run.workspace_bytes());
    if (!memory.data()) return failure(Problem::Memory);
    for (int64_t i = first; i < end; ++i) {
      Status found = run.one(i, memory.data());
      if (found) continue;
      if (found.bound == 0) {  // number of the matrix in the batch
        found.detail = i;
        found.bound = call.batch;
      }
      return found;
    }
    return {};
  });
}

}  // namespace

Status run_matrix_function(const LibraryCall& call, const Slots& slots) {
  return by_dtype(call, [&]<class T>(T*) { return run_function<T>(call, slots); });
}

}  // namespace pullback
