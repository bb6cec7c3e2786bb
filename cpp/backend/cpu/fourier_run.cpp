// Fourier transforms: which rows a library transforms, from where and to where.
//
// Columns are copied into rows, a few at a time, transformed in a cache and copied back. A long
// transform of n1 n2 points is n2 short ones of columns, factors, and n1 short ones of rows: D.
// Bailey, "FFTs in external or hierarchical memory" (1990). One of real numbers is made of a
// complex one of half the length.
#include "backend/cpu/fourier_run.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>
#include <vector>

#include "backend/cpu/fourier.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kLong = 1 << 14;         // points from which on a transform is made of short ones
constexpr int64_t kBlockBytes = 128;       // of a row that columns are copied from
constexpr int64_t kChunkPoints = 1 << 14;  // that a thread takes at a time

// The powers of exp(±2πi / n), each the product of two that are kept.
class Roots {
 public:
  Roots(int64_t n, bool backward) : low_(kLow), high_(ceil_div(n, kLow)) {
    const double sign = backward ? 1 : -1;
    for (int64_t i = 0; i < kLow; ++i) low_[i] = root(i, n, sign);
    for (int64_t i = 0; i < ceil_div(n, kLow); ++i) high_[i] = root(i * kLow, n, sign);
  }
  // Of 0 ≤ i < n.
  std::complex<double> operator[](int64_t i) const {
    const std::complex<double> a = low_[i % kLow], b = high_[i / kLow];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  static constexpr int64_t kLow = 1024;

  // Of an angle in the first eighth of the circle: there its rounding hardly shows.
  static std::complex<double> root(int64_t i, int64_t n, double sign) {
    i %= n;
    int64_t eighth = 8 * i / n;
    const int64_t odd = eighth % 2;
    // The distance from the nearest axis, in parts of 8 n.
    const int64_t rest = odd ? (eighth + 1) * n - 8 * i : 8 * i - eighth * n;
    const double angle = std::numbers::pi / 4 * static_cast<double>(rest) / static_cast<double>(n);
    double c = std::cos(angle), s = std::sin(angle);
    if (odd) std::swap(c, s);
    double x = c, y = s;
    for (int64_t quarter = eighth / 2; quarter > 0; --quarter) x = std::exchange(y, x), x = -x;
    return {x, sign * y};
  }

  std::vector<std::complex<double>> low_, high_;
};

template <class T>
std::complex<T> times(const std::complex<T>& a, const std::complex<double>& root) {
  const T c = static_cast<T>(root.real()), s = static_cast<T>(root.imag());
  return {a.real() * c - a.imag() * s, a.real() * s + a.imag() * c};
}

template <class T>
class Run {
  using C = std::complex<T>;
  static constexpr int64_t kBlock = kBlockBytes / static_cast<int64_t>(sizeof(C));

 public:
  Run(const LibraryCall& call, const Slots& slots)
      : form_(call.form.fourier),
        batch_(call.batch),
        n_(call.form.n),
        points_(form_.points),
        half_(points_ / 2 + 1),
        in_(slots.at(call.in[0])),
        out_(slots.at(call.out[0])) {
    const bool to_complex = call.out[0].shape.size() == 2 * batch_ * n_ * points_;
    transform_ = !call.form.is_complex ? Transform::HalfOf
                 : !to_complex         ? Transform::RealFrom
                 : form_.backward      ? Transform::Backward
                                       : Transform::Forward;
  }

  Status run() {
    if (batch_ * n_ == 0) return {};
    // A library that finds no memory has no way to say so on a thread of ours.
    if (!StepMemory(8 * points_ * static_cast<int64_t>(sizeof(C))).data()) {
      return failure(Problem::Memory);
    }
    if (n_ > 1 || needs_ends_before()) return columns();
    const bool whole = transform_ == Transform::Forward || transform_ == Transform::Backward;
    if (whole && points_ >= kLong && split(points_)) return long_whole();
    if (!whole && points_ >= 2 * kLong && points_ % 2 == 0 && split(points_ / 2)) {
      return long_real();
    }
    return rows();
  }

 private:
  bool needs_ends_before() const { return transform_ == Transform::RealFrom && form_.ends != 1; }
  int64_t length_in() const { return transform_ == Transform::RealFrom ? half_ : points_; }
  int64_t length_out() const { return transform_ == Transform::HalfOf ? half_ : points_; }
  int64_t bytes_in() const { return transform_ == Transform::HalfOf ? sizeof(T) : sizeof(C); }
  int64_t bytes_out() const { return transform_ == Transform::RealFrom ? sizeof(T) : sizeof(C); }

  bool call(Transform transform, const void* in, void* out, int64_t rows, int64_t points,
            double factor) const {
    return fourier_routine({transform, sizeof(T) == 4, in, out, rows, points, factor});
  }

  void scale_ends(C* half) const {
    const T ends = static_cast<T>(form_.ends);
    half[0] *= ends;
    if (points_ % 2 == 0) half[half_ - 1] *= ends;
  }

  bool worth(int64_t points) const {
    return worth_threads(2.0 * static_cast<double>(points) *
                         std::log2(static_cast<double>(points_) + 1));
  }

  Status rows() {
    const int64_t per_chunk = std::max<int64_t>(1, kChunkPoints / points_);
    FirstProblem problem;
    parallel_for(ceil_div(batch_, per_chunk), worth(batch_ * points_), [&](int64_t chunk) {
      const int64_t first = chunk * per_chunk, count = std::min(per_chunk, batch_ - first);
      char* out = out_ + first * length_out() * bytes_out();
      if (!call(transform_, in_ + first * length_in() * bytes_in(), out, count, points_,
                form_.factor)) {
        return problem.report(chunk, Problem::Memory);
      }
      if (transform_ == Transform::HalfOf && form_.ends != 1) {
        for (int64_t i = 0; i < count; ++i) scale_ends(reinterpret_cast<C*>(out) + i * half_);
      }
    });
    return problem.status();
  }

  // [length][count] of rows of `row` entries to [count][length], or back.
  template <class E>
  static void gather(const E* x, int64_t row, int64_t length, int64_t count, E* y) {
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t k = 0; k < count; ++k) y[k * length + i] = x[i * row + k];
    }
  }
  template <class E>
  static void scatter(const E* y, int64_t row, int64_t length, int64_t count, E* x) {
    for (int64_t i = 0; i < length; ++i) {
      for (int64_t k = 0; k < count; ++k) x[i * row + k] = y[k * length + i];
    }
  }

  Status columns() {
    const int64_t blocks = ceil_div(n_, kBlock);
    const int64_t most = std::min(kBlock, n_);
    const int64_t per_chunk = std::max<int64_t>(1, kChunkPoints / (points_ * kBlock));
    FirstProblem problem;
    parallel_for(
        ceil_div(batch_ * blocks, per_chunk), worth(batch_ * n_ * points_), [&](int64_t chunk) {
          const StepMemory memory(2 * most * (points_ + 2) * static_cast<int64_t>(sizeof(C)));
          if (!memory.data()) return problem.report(chunk, Problem::Memory);
          const int64_t end = std::min((chunk + 1) * per_chunk, batch_ * blocks);
          for (int64_t at = chunk * per_chunk; at < end; ++at) {
            const int64_t first = at % blocks * kBlock;
            if (!block(at / blocks, first, std::min(kBlock, n_ - first), memory.data())) {
              return problem.report(chunk, Problem::Memory);
            }
          }
        });
    return problem.status();
  }

  bool block(int64_t matrix, int64_t first, int64_t count, char* memory) const {
    char* made = memory + std::min(kBlock, n_) * (points_ + 2) * static_cast<int64_t>(sizeof(C));
    const char* in = in_ + (matrix * length_in() * n_ + first) * bytes_in();
    if (transform_ == Transform::HalfOf) {
      gather(reinterpret_cast<const T*>(in), n_, points_, count, reinterpret_cast<T*>(memory));
    } else {
      C* taken = reinterpret_cast<C*>(memory);
      gather(reinterpret_cast<const C*>(in), n_, length_in(), count, taken);
      for (int64_t k = 0; k < count && needs_ends_before(); ++k) scale_ends(taken + k * half_);
    }
    if (!call(transform_, memory, made, count, points_, form_.factor)) return false;
    char* out = out_ + (matrix * length_out() * n_ + first) * bytes_out();
    if (transform_ == Transform::RealFrom) {
      scatter(reinterpret_cast<T*>(made), n_, points_, count, reinterpret_cast<T*>(out));
      return true;
    }
    C* rows = reinterpret_cast<C*>(made);
    const bool ends = transform_ == Transform::HalfOf && form_.ends != 1;
    for (int64_t k = 0; k < count && ends; ++k) scale_ends(rows + k * half_);
    scatter(rows, n_, length_out(), count, reinterpret_cast<C*>(out));
    return true;
  }

  // The factor of n nearest its root from below, if that is not much smaller; else 0.
  static int64_t split(int64_t n) {
    const int64_t root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
    for (int64_t k = root; k > root / 8 && k > 1; --k) {
      if (n % k == 0) return k;
    }
    return 0;
  }

  // One long transform of complex numbers.
  bool long_one(const C* x, C* y, C* between, int64_t n, bool backward, double factor,
                const Roots& roots) const {
    const int64_t n1 = split(n), n2 = n / n1;
    const Transform transform = backward ? Transform::Backward : Transform::Forward;
    FirstProblem problem;
    parallel_for(ceil_div(n2, kBlock), true, [&](int64_t chunk) {
      const StepMemory memory(kBlock * n1 * static_cast<int64_t>(sizeof(C)));
      if (!memory.data()) return problem.report(chunk, Problem::Memory);
      C* rows = reinterpret_cast<C*>(memory.data());
      const int64_t first = chunk * kBlock, count = std::min(kBlock, n2 - first);
      gather(x + first, n2, n1, count, rows);
      if (!call(transform, rows, rows, count, n1, 1)) return problem.report(chunk, Problem::Memory);
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t i = 0; i < n1; ++i)
          rows[k * n1 + i] = times(rows[k * n1 + i], roots[i * (first + k)]);
      }
      scatter(rows, n2, n1, count, between + first);
    });
    if (problem.status().problem != Problem::None) return false;
    parallel_for(ceil_div(n1, kBlock), true, [&](int64_t chunk) {
      const int64_t first = chunk * kBlock, count = std::min(kBlock, n1 - first);
      C* rows = between + first * n2;
      if (!call(transform, rows, rows, count, n2, factor)) {
        return problem.report(chunk, Problem::Memory);
      }
      scatter(rows, n1, n2, count, y + first);
    });
    return problem.status().problem == Problem::None;
  }

  Status long_whole() {
    const bool backward = transform_ == Transform::Backward;
    const Roots roots(points_, backward);
    const StepMemory between(points_ * static_cast<int64_t>(sizeof(C)));
    if (!between.data()) return failure(Problem::Memory);
    for (int64_t i = 0; i < batch_; ++i) {
      const C* x = reinterpret_cast<const C*>(in_) + i * points_;
      C* y = reinterpret_cast<C*>(out_) + i * points_;
      if (!long_one(x, y, reinterpret_cast<C*>(between.data()), points_, backward, form_.factor,
                    roots)) {
        return failure(Problem::Memory);
      }
    }
    return {};
  }

  // Of real numbers, the even ones taken as real parts and the odd ones as imaginary ones.
  Status long_real() {
    const int64_t h = points_ / 2;
    const bool to_real = transform_ == Transform::RealFrom;
    const Roots roots(points_, to_real), short_roots(h, to_real);
    const StepMemory memory((h + h) * static_cast<int64_t>(sizeof(C)));
    if (!memory.data()) return failure(Problem::Memory);
    C* between = reinterpret_cast<C*>(memory.data());
    C* folded = between + h;
    for (int64_t i = 0; i < batch_; ++i) {
      if (to_real) {
        const C* x = reinterpret_cast<const C*>(in_) + i * half_;
        C* y = reinterpret_cast<C*>(reinterpret_cast<T*>(out_) + i * points_);
        fold(x, folded, h, roots);
        if (!long_one(folded, y, between, h, true, form_.factor, short_roots)) {
          return failure(Problem::Memory);
        }
      } else {
        const C* x = reinterpret_cast<const C*>(reinterpret_cast<const T*>(in_) + i * points_);
        C* y = reinterpret_cast<C*>(out_) + i * half_;
        if (!long_one(x, y, between, h, false, form_.factor / 2, short_roots)) {
          return failure(Problem::Memory);
        }
        unfold(y, h, roots);
        if (form_.ends != 1) scale_ends(y);
      }
    }
    return {};
  }

  template <class F>
  static void over_pairs(int64_t h, F&& f) {
    constexpr int64_t kPiece = 4096;
    const int64_t count = h / 2 + 1;
    parallel_for(ceil_div(count, kPiece), true, [&](int64_t chunk) {
      const int64_t end = std::min((chunk + 1) * kPiece, count);
      for (int64_t k = chunk * kPiece; k < end; ++k) f(k, h - k);
    });
  }

  static void fold(const C* x, C* z, int64_t h, const Roots& roots) {
    over_pairs(h, [&](int64_t k, int64_t l) {
      C a = x[k], b = x[l];
      if (k == 0) a = a.real(), b = b.real();
      // root(l) = -conj(root(k)), so the one below is the conjugate of what l has.
      const C sum = a + std::conj(b), turned = times(a - std::conj(b), roots[k]);
      z[k] = {sum.real() - turned.imag(), sum.imag() + turned.real()};
      if (k && k != l) z[l] = {sum.real() + turned.imag(), turned.real() - sum.imag()};
    });
  }

  static void unfold(C* y, int64_t h, const Roots& roots) {
    y[h] = y[0];
    over_pairs(h, [&](int64_t k, int64_t l) {
      const C a = y[k], b = y[l];
      const C sum = a + std::conj(b), turned = times(a - std::conj(b), roots[k]);
      y[k] = {sum.real() + turned.imag(), sum.imag() - turned.real()};
      if (k != l) y[l] = {sum.real() - turned.imag(), -sum.imag() - turned.real()};
    });
  }

  const FourierForm& form_;
  Transform transform_;
  int64_t batch_, n_, points_, half_;
  char *in_, *out_;
};

}  // namespace

Status run_fourier(const LibraryCall& call, const Slots& slots) {
  if (!fourier_routine) return failure(Problem::NoLibrary);
  if (call.out[0].slot < 0) return {};
  return call.in[0].dtype == DType::Float32 ? Run<float>(call, slots).run()
                                            : Run<double>(call, slots).run();
}

}  // namespace pullback
