// Runs Fourier transforms: by the registered routine, in lanes, or composed of shorter transforms.
//
// Columns are copied into rows, a few at a time, transformed in a cache and copied back. A long
// transform of n1 n2 points is n2 short ones of columns, twiddle factors, and n1 short ones of
// rows: D. Bailey, "FFTs in external or hierarchical memory" (1990). A real transform uses a
// complex one of half the length. A long transform without suitable factors is a convolution with a
// chirp: L. Bluestein, "A linear filtering approach to the computation of discrete Fourier
// transform" (1970).
#include "backend/cpu/fourier/fourier_run.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "backend/cpu/fourier/fourier_parts.h"
#include "backend/cpu/fourier/fourier_routine.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kBlockBytes = 128;       // of a row from which columns are copied
constexpr int64_t kChunkPoints = 1 << 14;  // points per chunk

template <class T>
class Run {
  using C = std::complex<T>;
  static constexpr int64_t kBlock = kBlockBytes / static_cast<int64_t>(sizeof(C));

 public:
  Run(const FourierStep& step, const Slots& slots)
      : step_(step),
        form_(step.call.form.fourier),
        transform_(transform_of(step.call)),
        batch_(step.call.batch),
        n_(step.call.form.n),
        points_(form_.points),
        half_(points_ / 2 + 1),
        in_(slots.at(step.call.in[0])),
        out_(slots.at(step.call.out[0])) {}

  Status run() {
    if (batch_ * n_ == 0) return {};
    // The routine cannot report a failed allocation on our threads, so long transforms are checked
    // here.
    const int64_t long_ones = long_points(step_.call);
    const int64_t chirp = long_ones ? chirp_points(long_ones) : 0;
    const int64_t whole = chirp ? chirp : long_ones, factor = short_points(whole);
    const int64_t library = whole ? std::max(left(factor), left(whole / factor)) : left(points_);
    if (!StepMemory(8 * library * static_cast<int64_t>(sizeof(C))).data()) {
      return failure(Problem::Memory);
    }
    if (n_ > 1 || needs_ends_before()) return columns();
    if (!long_ones) return rows();
    chirp_ = std::make_unique<Chirp>(*this, long_ones, chirp);
    if (chirp && !chirp_->ready) return failure(Problem::Memory);
    return is_whole(transform_) ? long_whole() : points_ % 2 ? long_odd() : long_real();
  }

 private:
  bool needs_ends_before() const { return transform_ == Transform::RealFrom && form_.ends != 1; }
  const FourierLanes* lanes_of(int64_t points) const {
    const auto at = std::ranges::find(step_.lanes, points, &FourierLanes::points);
    return at == step_.lanes.end() ? nullptr : &*at;
  }
  // Points of a transform that the routine does; 0 if it is done in lanes.
  int64_t left(int64_t points) const { return lanes_of(points) ? 0 : points; }
  const RootsOfUnity& roots_of(int64_t points) const {
    return *std::ranges::find(step_.roots, points, &RootsOfUnity::points);
  }
  bool backward() const { return transform_ == Transform::Backward; }
  int64_t length_in() const { return transform_ == Transform::RealFrom ? half_ : points_; }
  int64_t length_out() const { return transform_ == Transform::HalfOf ? half_ : points_; }
  int64_t bytes_in() const { return transform_ == Transform::HalfOf ? sizeof(T) : sizeof(C); }
  int64_t bytes_out() const { return transform_ == Transform::RealFrom ? sizeof(T) : sizeof(C); }

  // Transforms contiguous rows by the routine; returns false if there is no memory.
  bool call(Transform transform, const void* in, void* out, int64_t rows, int64_t points,
            double factor) const {
    return fourier_routine({transform, sizeof(T) == 4, in, out, rows, points, factor});
  }

  // Transforms all sequences in lanes; `of` is the first.
  static void by_lanes(const FourierLanes& lanes, int64_t sequences, FourierSequences of,
                       char* memory) {
    const C* in = static_cast<const C*>(of.in);
    C* out = static_cast<C*>(of.out);
    for (int64_t k = 0; k < sequences; k += lanes.at_once()) {
      of.in = in + k * of.in_sequence;
      of.out = out + k * of.out_sequence;
      of.count = std::min(lanes.at_once(), sequences - k);
      transform(lanes, of, memory);
    }
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
    const FourierLanes* lanes = lanes_of(points_);
    const int64_t least = lanes ? lanes->at_once() : 1;
    const int64_t per_chunk = round_up(std::max<int64_t>(1, kChunkPoints / points_), least);
    FirstProblem problem;
    parallel_for(ceil_div(batch_, per_chunk), worth(batch_ * points_), [&](int64_t chunk) {
      const int64_t first = chunk * per_chunk, count = std::min(per_chunk, batch_ - first);
      const char* in = in_ + first * length_in() * bytes_in();
      char* out = out_ + first * length_out() * bytes_out();
      if (lanes) {
        const StepMemory memory(lanes->memory_bytes());
        if (!memory.data()) return problem.report(chunk, Problem::Memory);
        by_lanes(*lanes, count, {in, 1, points_, out, 1, points_, 0, backward(), form_.factor},
                 memory.data());
        return;
      }
      if (!call(transform_, in, out, count, points_, form_.factor)) {
        return problem.report(chunk, Problem::Memory);
      }
      if (transform_ == Transform::HalfOf && form_.ends != 1) {
        for (int64_t i = 0; i < count; ++i) scale_ends(reinterpret_cast<C*>(out) + i * half_);
      }
    });
    return problem.status();
  }

  Status columns() {
    constexpr int64_t entry = sizeof(C);
    const FourierLanes* lanes = lanes_of(points_);
    const int64_t blocks = ceil_div(n_, kBlock);
    const int64_t most = std::min(kBlock, n_);
    const int64_t per_chunk = std::max<int64_t>(1, kChunkPoints / (points_ * kBlock));
    FirstProblem problem;
    parallel_for(
        ceil_div(batch_ * blocks, per_chunk), worth(batch_ * n_ * points_), [&](int64_t chunk) {
          const StepMemory memory(lanes ? lanes->memory_bytes() : 2 * most * entry * (points_ + 2));
          if (!memory.data()) return problem.report(chunk, Problem::Memory);
          const int64_t end = std::min((chunk + 1) * per_chunk, batch_ * blocks);
          for (int64_t at = chunk * per_chunk; at < end; ++at) {
            const int64_t matrix = at / blocks, first = at % blocks * kBlock;
            const int64_t count = std::min(kBlock, n_ - first);
            if (lanes) {
              const int64_t from = (matrix * points_ * n_ + first) * entry;
              by_lanes(*lanes, count,
                       {in_ + from, n_, 1, out_ + from, n_, 1, 0, backward(), form_.factor},
                       memory.data());
            } else if (!block(matrix, first, count, memory.data())) {
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

  // The chirp exp(-πi k² / n), and the transform of its conjugate, which is placed at both ends of
  // `points` points.
  struct Chirp {
    int64_t n, points;
    const RootsOfUnity* roots = nullptr;
    bool ready = false;  // false: no memory
    StepMemory memory;   // the transformed chirp, the sequence and a buffer

    Chirp(const Run& run, int64_t n, int64_t points)
        : n(n), points(points), memory(3 * points * static_cast<int64_t>(sizeof(C))) {
      if (!points || !memory.data()) return;
      roots = &run.roots_of(2 * n);
      C* kernel = data();
      over_pieces(points, [&](int64_t k) {
        const int64_t from = std::min(k, points - k);
        kernel[k] = from < n ? C(std::conj(at(from))) : C();
      });
      ready = run.product_one(kernel, kernel, data() + 2 * points, points, false, 1);
    }
    C* data() const { return reinterpret_cast<C*>(memory.data()); }
    std::complex<double> at(int64_t k) const { return (*roots)[k * k % (2 * n)]; }
  };

  // A convolution with the chirp, between products with it. Backward is the conjugate of forward.
  bool chirp_one(const C* x, C* y, bool backward, double factor) const {
    const Chirp& chirp = *chirp_;
    const C* kernel = chirp.data();
    C* sequence = chirp.data() + chirp.points;
    C* between = sequence + chirp.points;
    over_pieces(chirp.points, [&](int64_t k) {
      sequence[k] = k < chirp.n ? times(backward ? std::conj(x[k]) : x[k], chirp.at(k)) : C();
    });
    if (!product_one(sequence, sequence, between, chirp.points, false, 1)) return false;
    over_pieces(chirp.points, [&](int64_t k) {
      sequence[k] = times(sequence[k], std::complex<double>(kernel[k]));
    });
    const double scale = factor / static_cast<double>(chirp.points);
    if (!product_one(sequence, sequence, between, chirp.points, true, scale)) return false;
    over_pieces(chirp.n, [&](int64_t k) {
      const C made = times(sequence[k], chirp.at(k));
      y[k] = backward ? std::conj(made) : made;
    });
    return true;
  }

  // One long complex transform.
  bool long_one(const C* x, C* y, C* between, int64_t n, bool backward, double factor) const {
    return chirp_->points ? chirp_one(x, y, backward, factor)
                          : product_one(x, y, between, n, backward, factor);
  }

  // One long complex transform of a composite length; y may be x.
  bool product_one(const C* x, C* y, C* between, int64_t n, bool backward, double factor) const {
    const int64_t n1 = short_points(n), n2 = n / n1;
    const Transform kind = backward ? Transform::Backward : Transform::Forward;
    const RootsOfUnity& roots = roots_of(n);
    const FourierLanes *first_lanes = lanes_of(n1), *second_lanes = lanes_of(n2);
    const int64_t block = first_lanes ? first_lanes->at_once() : kBlock;
    FirstProblem problem;
    parallel_for(ceil_div(n2, block), true, [&](int64_t chunk) {
      const int64_t first = chunk * block, count = std::min(block, n2 - first);
      if (first_lanes) {
        const StepMemory memory(first_lanes->memory_bytes() + twiddle_bytes(*first_lanes));
        if (!memory.data()) return problem.report(chunk, Problem::Memory);
        const TwiddleFactors twiddles =
            fill_twiddles(*first_lanes, roots, first, memory.data() + first_lanes->memory_bytes());
        transform(*first_lanes,
                  {x + first, n2, 1, between + first, n2, 1, count, backward, 1, &twiddles},
                  memory.data());
        return;
      }
      const StepMemory memory(block * n1 * static_cast<int64_t>(sizeof(C)));
      if (!memory.data()) return problem.report(chunk, Problem::Memory);
      C* rows = reinterpret_cast<C*>(memory.data());
      gather(x + first, n2, n1, count, rows);
      if (!call(kind, rows, rows, count, n1, 1)) return problem.report(chunk, Problem::Memory);
      for (int64_t k = 0; k < count; ++k) {
        for (int64_t i = 0; i < n1; ++i) {
          const std::complex<double> root = roots[i * (first + k)];
          rows[k * n1 + i] = times(rows[k * n1 + i], backward ? std::conj(root) : root);
        }
      }
      scatter(rows, n2, n1, count, between + first);
    });
    if (problem.status().problem != Problem::None) return false;
    parallel_for(ceil_div(n1, kBlock), true, [&](int64_t chunk) {
      const int64_t first = chunk * kBlock, count = std::min(kBlock, n1 - first);
      C* rows = between + first * n2;
      if (second_lanes) {
        const StepMemory memory(second_lanes->memory_bytes());
        if (!memory.data()) return problem.report(chunk, Problem::Memory);
        by_lanes(*second_lanes, count, {rows, 1, n2, y + first, n1, 1, 0, backward, factor},
                 memory.data());
        return;
      }
      if (!call(kind, rows, rows, count, n2, factor)) {
        return problem.report(chunk, Problem::Memory);
      }
      scatter(rows, n1, n2, count, y + first);
    });
    return problem.status().problem == Problem::None;
  }

  Status long_whole() {
    const StepMemory between(points_ * static_cast<int64_t>(sizeof(C)));
    if (!between.data()) return failure(Problem::Memory);
    for (int64_t i = 0; i < batch_; ++i) {
      const C* x = reinterpret_cast<const C*>(in_) + i * points_;
      C* y = reinterpret_cast<C*>(out_) + i * points_;
      if (!long_one(x, y, reinterpret_cast<C*>(between.data()), points_, backward(),
                    form_.factor)) {
        return failure(Problem::Memory);
      }
    }
    return {};
  }

  // An odd number of real points, as complex points.
  Status long_odd() {
    const bool to_real = transform_ == Transform::RealFrom;
    const StepMemory memory(points_ * static_cast<int64_t>(sizeof(C)));
    if (!memory.data()) return failure(Problem::Memory);
    C* all = reinterpret_cast<C*>(memory.data());
    for (int64_t i = 0; i < batch_; ++i) {
      T* reals = reinterpret_cast<T*>(to_real ? out_ : in_) + i * points_;
      C* half = reinterpret_cast<C*>(to_real ? in_ : out_) + i * half_;
      over_pieces(points_, [&](int64_t k) {
        all[k] = !to_real    ? C(reals[k])
                 : k == 0    ? C(half[0].real())
                 : k < half_ ? half[k]
                             : std::conj(half[points_ - k]);
      });
      if (!chirp_one(all, all, to_real, form_.factor)) return failure(Problem::Memory);
      over_pieces(to_real ? points_ : half_, [&](int64_t k) {
        to_real ? void(reals[k] = all[k].real()) : void(half[k] = all[k]);
      });
      if (!to_real && form_.ends != 1) scale_ends(half);
    }
    return {};
  }

  // An even number of real points: even points as real parts, odd points as imaginary parts.
  Status long_real() {
    const int64_t h = points_ / 2;
    const bool to_real = transform_ == Transform::RealFrom;
    const RootsOfUnity& roots = roots_of(points_);
    const StepMemory memory((h + h) * static_cast<int64_t>(sizeof(C)));
    if (!memory.data()) return failure(Problem::Memory);
    C* between = reinterpret_cast<C*>(memory.data());
    C* folded = between + h;
    for (int64_t i = 0; i < batch_; ++i) {
      if (to_real) {
        const C* x = reinterpret_cast<const C*>(in_) + i * half_;
        C* y = reinterpret_cast<C*>(reinterpret_cast<T*>(out_) + i * points_);
        fold(x, folded, h, roots);
        if (!long_one(folded, y, between, h, true, form_.factor)) {
          return failure(Problem::Memory);
        }
      } else {
        const C* x = reinterpret_cast<const C*>(reinterpret_cast<const T*>(in_) + i * points_);
        C* y = reinterpret_cast<C*>(out_) + i * half_;
        if (!long_one(x, y, between, h, false, form_.factor / 2)) {
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
    over_pieces(h / 2 + 1, [&](int64_t k) { f(k, h - k); });
  }

  static void fold(const C* x, C* z, int64_t h, const RootsOfUnity& roots) {
    over_pairs(h, [&](int64_t k, int64_t l) {
      C a = x[k], b = x[l];
      if (k == 0) a = a.real(), b = b.real();
      // root(l) = -conj(root(k)), so the second result is the conjugate of what index l needs.
      const C sum = a + std::conj(b), turned = times(a - std::conj(b), std::conj(roots[k]));
      z[k] = {sum.real() - turned.imag(), sum.imag() + turned.real()};
      if (k && k != l) z[l] = {sum.real() + turned.imag(), turned.real() - sum.imag()};
    });
  }

  static void unfold(C* y, int64_t h, const RootsOfUnity& roots) {
    y[h] = y[0];
    over_pairs(h, [&](int64_t k, int64_t l) {
      const C a = y[k], b = y[l];
      const C sum = a + std::conj(b), turned = times(a - std::conj(b), roots[k]);
      y[k] = {sum.real() + turned.imag(), sum.imag() - turned.real()};
      if (k != l) y[l] = {sum.real() - turned.imag(), -sum.imag() - turned.real()};
    });
  }

  const FourierStep& step_;
  const FourierForm& form_;
  Transform transform_;
  int64_t batch_, n_, points_, half_;
  std::unique_ptr<Chirp> chirp_;  // of a long transform
  char *in_, *out_;
};

}  // namespace

Status run_fourier(const FourierStep& step, const Slots& slots) {
  if (!fourier_routine) return failure(Problem::NoLibrary);
  if (step.call.out[0].slot < 0) return {};
  return step.call.in[0].dtype == DType::Float32 ? Run<float>(step, slots).run()
                                                 : Run<double>(step, slots).run();
}

}  // namespace pullback
