// Runs Fourier transforms over the columns of matrices.
#include "backend/cpu/fourier/fourier_run.h"

#include <algorithm>
#include <cmath>
#include <complex>

#include "backend/cpu/fourier/fourier_parts.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kChunkPoints = 1 << 14;  // points per chunk
constexpr int64_t kLanesBytes = 1 << 13;   // of the parts of all lanes
constexpr int64_t kCopiedColumns = 8;      // columns that are copied at once

template <class T>
class FourierRun {
  using C = std::complex<T>;

 public:
  FourierRun(const FourierStep& step, const Slots& slots)
      : step_(step),
        form_(step.call.form.fourier),
        batch_(step.call.batch),
        n_(step.call.form.n),
        length_in_(step.transform == Transform::RealFrom ? form_.points / 2 + 1 : form_.points),
        length_out_(step.transform == Transform::HalfOf ? form_.points / 2 + 1 : form_.points),
        bytes_in_(step.transform == Transform::HalfOf ? sizeof(T) : sizeof(C)),
        bytes_out_(step.transform == Transform::RealFrom ? sizeof(T) : sizeof(C)),
        in_(slots.at(step.call.in[0])),
        out_(slots.at(step.call.out[0])) {}

  Status run() {
    if (batch_ * n_ == 0) return {};
    const bool is_short = step_.short_ones.has_value();
    if (n_ > 1 && (!is_short || step_.short_ones->passes.points >= kCopiedPoints))
      return copied_columns();
    return is_short ? short_ones(*step_.short_ones) : long_rows();
  }

 private:
  // As many sequences as fit in a near cache, but no fewer than a vector has lanes.
  int64_t lanes_of(const ShortFourier& of) const {
    if (of.passes.alone) return 1;
    const int64_t vector = vector_lanes(of.narrow());
    const int64_t fit = kLanesBytes / (2 * of.passes.points * of.passes.real_bytes());
    const int64_t all = n_ > 1 ? n_ : batch_;
    return std::max(vector, std::min(fit, round_up(all, vector)) / vector * vector);
  }

  FourierSequences sequences_of(const char* in, char* out, int64_t point, bool rows,
                                int64_t count) const {
    return {.in = in,
            .in_point = point,
            .in_sequence = rows ? length_in_ : 1,
            .out = out,
            .out_point = point,
            .out_sequence = rows ? length_out_ : 1,
            .count = count,
            .backward = form_.backward,
            .factor = form_.factor,
            .ends = form_.ends};
  }

  // Blocks of adjacent columns, or of rows if there is one column.
  Status short_ones(const ShortFourier& of) {
    const int64_t lanes = lanes_of(of), sequences = n_ > 1 ? n_ : batch_;
    const int64_t blocks = ceil_div(sequences, lanes), matrices = n_ > 1 ? batch_ : 1;
    const int64_t per_chunk = std::max<int64_t>(1, kChunkPoints / (form_.points * lanes));
    const double points = static_cast<double>(batch_ * n_ * form_.points);
    const bool worth =
        worth_threads(0.3 * points * std::log2(static_cast<double>(form_.points) + 1));
    FirstProblem problem;
    parallel_for(ceil_div(matrices * blocks, per_chunk), worth, [&](int64_t chunk) {
      const StepMemory memory(of.memory_bytes(lanes));
      if (!memory.data()) return problem.report(chunk, Problem::Memory);
      const int64_t end = std::min((chunk + 1) * per_chunk, matrices * blocks);
      for (int64_t at = chunk * per_chunk; at < end; ++at) {
        const int64_t matrix = at / blocks, first = at % blocks * lanes;
        const bool rows = n_ == 1;
        const int64_t in = rows ? first * length_in_ : matrix * length_in_ * n_ + first;
        const int64_t out = rows ? first * length_out_ : matrix * length_out_ * n_ + first;
        const int64_t count = std::min(lanes, sequences - first);
        transform(of, sequences_of(in_ + in * bytes_in_, out_ + out * bytes_out_, n_, rows, count),
                  of.passes.alone ? 1 : round_up(count, vector_lanes(of.narrow())), memory.data());
      }
    });
    return problem.status();
  }

  int64_t scratch_points() const {
    if (step_.long_ones) return step_.long_ones->scratch_points();
    if (!step_.long_reals) return 0;
    return step_.long_reals->complex.scratch_points() + step_.long_reals->scratch_points();
  }
  bool prepare_scratch(C* scratch) const {
    if (step_.long_ones) return prepare(*step_.long_ones, scratch);
    return step_.long_reals && prepare(step_.long_reals->complex, scratch);
  }
  // One contiguous sequence.
  bool long_one(const char* x, char* y, C* scratch) const {
    if (step_.long_ones) {
      return transform(*step_.long_ones, reinterpret_cast<const C*>(x), reinterpret_cast<C*>(y),
                       form_.backward, form_.factor, scratch);
    }
    return step_.long_reals &&
           transform(*step_.long_reals, x, y, form_.factor, form_.ends, scratch);
  }

  Status long_rows() {
    const StepMemory memory(scratch_points() * static_cast<int64_t>(sizeof(C)));
    C* scratch = reinterpret_cast<C*>(memory.data());
    if (!scratch || !prepare_scratch(scratch)) return failure(Problem::Memory);
    return rows_of(in_, out_, batch_, scratch) ? Status{} : failure(Problem::Memory);
  }

  // Columns that are copied to rows and back, some at once.
  Status copied_columns() {
    const int64_t block = std::min(kCopiedColumns, n_), blocks = ceil_div(n_, block);
    const int64_t scratch_points = step_.short_ones ? 0 : this->scratch_points();
    const StepMemory memory((scratch_points + 2 * block * form_.points) *
                            static_cast<int64_t>(sizeof(C)));
    C* scratch = reinterpret_cast<C*>(memory.data());
    if (!scratch) return failure(Problem::Memory);
    if (!step_.short_ones && !prepare_scratch(scratch)) return failure(Problem::Memory);
    char* in = reinterpret_cast<char*>(scratch + scratch_points);
    char* out = reinterpret_cast<char*>(scratch + scratch_points + block * form_.points);
    for (int64_t at = 0; at < batch_ * blocks; ++at) {
      const int64_t matrix = at / blocks, first = at % blocks * block;
      const int64_t count = std::min(block, n_ - first);
      const char* from = in_ + (matrix * length_in_ * n_ + first) * bytes_in_;
      char* to = out_ + (matrix * length_out_ * n_ + first) * bytes_out_;
      copy(bytes_in_, from, n_, 1, in, 1, length_in_, length_in_, count);
      if (!rows_of(in, out, count, scratch)) return failure(Problem::Memory);
      copy(bytes_out_, out, 1, length_out_, to, n_, 1, length_out_, count);
    }
    return {};
  }
  // Contiguous sequences; returns false if there is no memory.
  bool rows_of(const char* in, char* out, int64_t count, C* scratch) {
    if (!step_.short_ones) {
      for (int64_t k = 0; k < count; ++k) {
        const char* x = in + k * length_in_ * bytes_in_;
        if (!long_one(x, out + k * length_out_ * bytes_out_, scratch)) return false;
      }
      return true;
    }
    FirstProblem problem;
    parallel_for(count, true, [&](int64_t k) {
      const StepMemory memory(step_.short_ones->memory_bytes(1));
      if (!memory.data()) return problem.report(k, Problem::Memory);
      const FourierSequences one = sequences_of(in + k * length_in_ * bytes_in_,
                                                out + k * length_out_ * bytes_out_, 1, true, 1);
      transform(*step_.short_ones, one, 1, memory.data());
    });
    return static_cast<bool>(problem.status());
  }

  // Copies points of `count` sequences; points and sequences are these numbers of entries apart.
  static void copy(int64_t bytes, const char* x, int64_t x_point, int64_t x_sequence, char* y,
                   int64_t y_point, int64_t y_sequence, int64_t points, int64_t count) {
    if (bytes == sizeof(T)) {
      copy<T>(x, x_point, x_sequence, y, y_point, y_sequence, points, count);
    } else {
      copy<C>(x, x_point, x_sequence, y, y_point, y_sequence, points, count);
    }
  }
  template <class E>
  static void copy(const char* x, int64_t x_point, int64_t x_sequence, char* y, int64_t y_point,
                   int64_t y_sequence, int64_t points, int64_t count) {
    const E* from = reinterpret_cast<const E*>(x);
    E* to = reinterpret_cast<E*>(y);
    for_each_in_chunks(points, [&](int64_t i) {
      for (int64_t k = 0; k < count; ++k) {
        to[i * y_point + k * y_sequence] = from[i * x_point + k * x_sequence];
      }
    });
  }

  const FourierStep& step_;
  const FourierForm& form_;
  int64_t batch_, n_, length_in_, length_out_, bytes_in_, bytes_out_;
  char *in_, *out_;
};

}  // namespace

Status run_fourier(const FourierStep& step, const Slots& slots) {
  if (!step.call.out[0]) return {};
  return step.call.in[0].dtype == DType::Float32 ? FourierRun<float>(step, slots).run()
                                                 : FourierRun<double>(step, slots).run();
}

}  // namespace pullback
