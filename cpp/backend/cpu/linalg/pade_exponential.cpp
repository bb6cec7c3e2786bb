// The matrix exponential. N. Higham, "The scaling and squaring method for the matrix exponential
// revisited" (2005). The number of halvings, for a matrix whose powers are smaller than its norm
// suggests: A. Al-Mohy, N. Higham, "A new scaling and squaring algorithm for the matrix
// exponential" (2009).
#include "backend/cpu/linalg/pade_exponential.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kLongMatrix = 128;              // rows from which the interrupt flag is checked
constexpr int64_t kSliceWork = int64_t{1} << 28;  // multiplications per slice, some 20 ms

constexpr double kCoefficients3[] = {120, 60, 12, 1};
constexpr double kCoefficients5[] = {30240, 15120, 3360, 420, 30, 1};
constexpr double kCoefficients7[] = {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1};
constexpr double kCoefficients13[] = {64764752532480000,
                                      32382376266240000,
                                      7771770303897600,
                                      1187353796428800,
                                      129060195264000,
                                      10559470521600,
                                      670442572800,
                                      33522128640,
                                      1323241920,
                                      40840800,
                                      960960,
                                      16380,
                                      182,
                                      1};

// The norms up to which each approximant has the accuracy of the dtype, and the last degree.
template <class Real>
struct Bounds {
  static constexpr int kLast = 13;
  static constexpr double k3 = 1.495585217958292e-2, k5 = 2.539398330063230e-1,
                          k7 = 9.504178996162932e-1, kMost = 4.25;
};
template <>
struct Bounds<float> {
  static constexpr int kLast = 7;
  static constexpr double k3 = 4.258730016922831e-1, k5 = 1.880152677804762, k7 = 3.925724783138660,
                          kMost = k7;
};

template <class T>
class Exponential {
  using L = Lapack<T>;
  using Real = typename L::Real;
  using Limits = Bounds<Real>;

 public:
  Exponential(const L& lapack, int64_t n, const ExponentialArrays<T>& arrays)
      : lapack_(lapack), n_(n), count_(n * n), p_(arrays) {}

  void run(const T* x, T* y) {
    const double norm = norm_of(x);
    if (!std::isfinite(norm)) {
      std::fill_n(y, count_, T(std::numeric_limits<Real>::quiet_NaN()));
      return;
    }
    // So that no power overflows.
    int halved = std::max(0, norm > 0 ? std::ilogb(norm) - (Limits::kLast == 7 ? 10 : 30) : 0);
    scaled(x, halved, p_.a);
    multiply(p_.a, p_.a, p_.a2);
    if (norm <= Limits::k3) {
      small(kCoefficients3, 3);
    } else {
      multiply(p_.a2, p_.a2, p_.a4);
      if (norm <= Limits::k5) {
        small(kCoefficients5, 5);
      } else {
        multiply(p_.a4, p_.a2, p_.a6);
        if (stopped()) return;
        if (norm > Limits::k7) halved += halve_further();
        if (Limits::kLast == 7 || norm <= Limits::k7) {
          small(kCoefficients7, 7);
        } else {
          large(y);
        }
      }
    }
    if (stopped()) return;
    solve(y);
    for (; halved > 0 && !stopped(); --halved) {
      std::copy_n(y, count_, p_.u);
      multiply(p_.u, p_.u, y);
    }
  }

 private:
  double norm_of(const T* x) const {
    double out = 0;
    for (int64_t j = 0; j < n_; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < n_; ++i) sum += std::abs(x[j * n_ + i]);
      if (!(sum <= out)) out = sum;
    }
    return out;
  }

  void scaled(const T* x, int halvings, T* y) const {
    const Real factor = std::ldexp(Real(1), -halvings);
    for (int64_t i = 0; i < count_; ++i) y[i] = x[i] * factor;
  }

  // The number of further halvings; a and its powers have been halved `halved` times.
  int halve_further() {
    const double d4 = norm_of(p_.a4), d6 = norm_of(p_.a6);
    const double d8 = std::min(d4 * d4, norm_of(p_.a2) * d6);
    const double size = std::max(std::pow(d6, 1.0 / 6), std::pow(d8, 1.0 / 8));
    const auto halvings = [](double ratio) {
      return ratio > 1 ? static_cast<int>(std::ceil(std::log2(ratio))) : 0;
    };
    int out = halvings(size / Limits::kMost);
    halve(out);
    const int more = rounding_halvings();
    halve(more);
    return out + more;
  }

  void halve(int times) {
    if (times == 0) return;
    scaled(p_.a, times, p_.a);
    scaled(p_.a2, 2 * times, p_.a2);
    scaled(p_.a4, 4 * times, p_.a4);
    scaled(p_.a6, 6 * times, p_.a6);
  }

  // If a is much larger in absolute values than its powers, without cancellation rounding errors
  // would show (Al-Mohy and Higham, (5.4)).
  int rounding_halvings() {
    constexpr int degree = Limits::kLast;
    std::fill_n(p_.sums, n_, 1.0);
    for (int power = 0; power < 2 * degree + 1; ++power) {
      for (int64_t j = 0; j < n_; ++j) {
        double sum = 0;
        for (int64_t i = 0; i < n_; ++i) sum += std::abs(p_.a[j * n_ + i]) * p_.sums[i];
        p_.next[j] = sum;
      }
      std::swap(p_.sums, p_.next);
    }
    const double largest = *std::max_element(p_.sums, p_.sums + n_);
    if (largest == 0) return 0;
    const double log_coefficient = 2 * std::lgamma(degree + 1.0) - std::lgamma(2 * degree + 1.0) -
                                   std::lgamma(2 * degree + 2.0);
    const double logs = log_coefficient + std::log(largest) - std::log(norm_of(p_.a)) -
                        std::log(std::numeric_limits<Real>::epsilon() / 2);
    return std::max(0, static_cast<int>(std::ceil(logs / std::log(2.0) / (2 * degree))));
  }

  // True if the run was interrupted; its result is not used.
  bool stopped() const { return n_ >= kLongMatrix && stop_requested(); }

  // In groups of columns, between which the run may be interrupted.
  void multiply(const T* a, const T* b, T* c) const {
    const int64_t columns = std::max<int64_t>(kLongMatrix, kSliceWork / count_);
    for (int64_t first = 0; first < n_ && !stopped(); first += columns) {
      const int n = static_cast<int>(n_);
      const int count = static_cast<int>(std::min(columns, n_ - first));
      product(lapack_, kNotTransposed, a, kNotTransposed, b + first * n_, n, n, count,
              c + first * n_);
    }
  }

  // y = c0 + c2 a² + c4 a⁴ + c6 a⁶
  void combine(double c0, double c2, double c4, double c6, T* y) const {
    const Real f2 = static_cast<Real>(c2), f4 = static_cast<Real>(c4), f6 = static_cast<Real>(c6);
    for (int64_t i = 0; i < count_; ++i) {
      T sum = f2 * p_.a2[i];
      if (c4 != 0) sum += f4 * p_.a4[i];
      if (c6 != 0) sum += f6 * p_.a6[i];
      y[i] = sum;
    }
    for (int64_t i = 0; i < n_; ++i) y[i * (n_ + 1)] += static_cast<Real>(c0);
  }

  // The odd part in u, the even part in v.
  void small(const double* c, int degree) {
    const auto at = [&](int k) { return k <= degree ? c[k] : 0.0; };
    combine(c[1], c[3], at(5), at(7), p_.v);
    multiply(p_.a, p_.v, p_.u);
    combine(c[0], c[2], degree > 4 ? c[4] : 0.0, degree > 6 ? c[6] : 0.0, p_.v);
  }

  void large(T* work) {
    const double* c = kCoefficients13;
    combine(0, c[9], c[11], c[13], p_.v);
    multiply(p_.a6, p_.v, work);
    combine(c[1], c[3], c[5], c[7], p_.v);
    for (int64_t i = 0; i < count_; ++i) p_.v[i] += work[i];
    multiply(p_.a, p_.v, p_.u);
    combine(0, c[8], c[10], c[12], work);
    multiply(p_.a6, work, p_.v);
    combine(c[0], c[2], c[4], c[6], work);
    for (int64_t i = 0; i < count_; ++i) p_.v[i] += work[i];
  }

  // (v - u) y = v + u
  void solve(T* y) {
    for (int64_t i = 0; i < count_; ++i) {
      const T odd = p_.u[i], even = p_.v[i];
      y[i] = even + odd;
      p_.v[i] = even - odd;
    }
    const int n = static_cast<int>(n_);
    // Pivoting exchanges rows of a lower triangle. Rounding then fills the zeros of y, which the
    // squarings multiply by the largest entries. An upper triangle needs no elimination. Functions
    // of one matrix commute, so (v - u)ᵀ yᵀ = (v + u)ᵀ holds too.
    const bool transposed = is_lower_triangle(p_.v);
    if (transposed) transpose(p_.v);
    if (transposed) transpose(y);
    lapack_.gesv(kColumnMajor, n, n, p_.v, n, p_.pivots, y, n);
    if (transposed) transpose(y);
  }

  bool is_lower_triangle(const T* x) const {
    for (int64_t j = 1; j < n_; ++j) {
      if (std::any_of(x + j * n_, x + j * n_ + j, [](const T& above) { return above != T(0); })) {
        return false;
      }
    }
    return true;
  }

  void transpose(T* x) const {
    for (int64_t j = 1; j < n_; ++j) {
      for (int64_t i = 0; i < j; ++i) std::swap(x[j * n_ + i], x[i * n_ + j]);
    }
  }

  const L& lapack_;
  const int64_t n_, count_;
  ExponentialArrays<T> p_;
};

}  // namespace

template <class T>
ExponentialArrays<T>::ExponentialArrays(Workspace* space, int64_t n) {
  for (T** part : {&a, &a2, &a4, &a6, &u, &v}) *part = space->take<T>(n * n);
  sums = space->take<double>(n);
  next = space->take<double>(n);
  pivots = space->take<int>(n);
}

template <class T>
void exponential(const Lapack<T>& lapack, const T* x, int64_t n, const ExponentialArrays<T>& arrays,
                 T* y) {
  if (n) Exponential<T>(lapack, n, arrays).run(x, y);
}

#define EACH(T)                         \
  template struct ExponentialArrays<T>; \
  template void exponential(const Lapack<T>&, const T*, int64_t, const ExponentialArrays<T>&, T*);
EACH(float)
EACH(double)
EACH(std::complex<float>)
EACH(std::complex<double>)
#undef EACH

}  // namespace pullback
