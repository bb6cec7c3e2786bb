// Counts bytes and operations of a step from its views, and keeps the records of a thread. Costs
// nothing without a recording.
#include "plan/profile.h"
#include "plan/step_views.h"

#include <algorithm>
#include <bit>

namespace pullback {
namespace {

thread_local Recording* open_recording = nullptr;

int64_t elements_in_memory(const View& view) {
  int64_t count = 1;
  for (int64_t d = 0; d < view.shape.rank; ++d) {
    if (view.strides[d] != 0 || view.shape[d] == 0) count *= view.shape[d];
  }
  return count;
}

// A view read twice comes from a cache; one that is read and written is moved twice.
bool same_place(const View& a, const View& b) {
  return a.slot == b.slot && static_cast<const Strided&>(a) == static_cast<const Strided&>(b);
}

int64_t bytes_of(const Step& step) {
  std::vector<std::pair<const View*, bool>> seen;
  int64_t bytes = 0;
  const auto* gather = std::get_if<Gather>(&step.work);
  for_each_view(step, [&](const View& view, bool written) {
    for (const auto& [other, how] : seen) {
      if (how == written && same_place(*other, view)) return;
    }
    seen.emplace_back(&view, written);
    int64_t elements = elements_in_memory(view);
    // A gather reads as much of its input as it writes.
    if (gather && &view == &gather->in) {
      elements = std::min(elements, elements_in_memory(gather->out));
    }
    bytes += elements * size_of(view.dtype);
  });
  return bytes;
}

// One for each kind of step, so that a new one does not compile before it has its own.
int64_t operations_of(const TileGroup& group) {
  int64_t total = static_cast<int64_t>(group.reductions.size()) * group.count;
  for (const Instruction& instruction : group.instructions) {
    total += instruction.row && !is_fold(instruction.op) ? group.rows() : group.count;
  }
  return total;
}

int64_t operations_of(const Gemm& gemm) {
  const Shape& c = gemm.c.shape;
  const int64_t product = 2 * c.size() * gemm.a.shape[gemm.a.shape.rank - 1];
  return product + (gemm.epilogue ? operations_of(*gemm.epilogue) : 0);
}

int64_t operations_of(const Convolution& convolution) {
  const Shape& w = convolution.w.shape;
  const int64_t product = 2 * convolution.y.shape.size() * w[0] * w[1] * w[2] * w[4];
  return product + (convolution.epilogue ? operations_of(*convolution.epilogue) : 0);
}

int64_t operations_of(const Pool& pool) {
  const PerWindow& taps = pool.windows.size;
  const int64_t windows = std::min(pool.in.shape.size(), pool.out.shape.size());
  return windows * taps[0] * taps[1] * taps[2];
}
int64_t operations_of(const ScatterAdd& scatter) { return scatter.in.shape.size(); }
int64_t operations_of(const ArgReduce& reduce) { return reduce.in.shape.size(); }
int64_t operations_of(const Scan& scan) { return scan.in.shape.size(); }
int64_t operations_of(const Sort& sort) { return sort.in.shape.size(); }
int64_t operations_of(const Search& search) { return search.in.shape.size(); }
int64_t operations_of(const Random& random) { return random.out.shape.size(); }
int64_t operations_of(const LibraryCall& call) {
  const RoutineForm& form = call.form;
  if (form.routine == Routine::attention) return 4 * call.batch * form.m * form.n * form.k;
  if (form.routine == Routine::attention_cotangents) {
    return 10 * call.batch * form.m * form.n * form.k;
  }
  if (form.routine == Routine::fourier) {
    const int64_t points = std::max<int64_t>(form.fourier.points, 1);
    return 5 * call.batch * form.n * points * (std::bit_width(static_cast<uint64_t>(points)) - 1);
  }
  return 2 * call.batch * form.m * form.n * (form.k ? form.k : std::min(form.m, form.n));
}
// These only move data, or their work is that of a callback or of their bodies' plans.
int64_t operations_of(const Layout&) { return 0; }
int64_t operations_of(const Gather&) { return 0; }
int64_t operations_of(const Iota&) { return 0; }
int64_t operations_of(const CallbackCall&) { return 0; }
int64_t operations_of(const Loop&) { return 0; }
int64_t operations_of(const Branch&) { return 0; }

}  // namespace

StepCost cost_of(const Step& step) {
  return {bytes_of(step),
          std::visit([](const auto& work) { return operations_of(work); }, step.work)};
}

Recording::Recording() : outer_(open_recording) { open_recording = this; }

Recording::~Recording() { open_recording = outer_; }

Recording* Recording::open() { return open_recording; }

void Recording::add(const Step& step, double seconds) noexcept {
  const StepCost cost = cost_of(step);
  for (size_t i = loop_begin_; i < steps_.size(); ++i) {
    if (of_[i] != &step) continue;
    steps_[i].seconds += seconds;
    steps_[i].cost.bytes += cost.bytes;
    steps_[i].cost.operations += cost.operations;
    return;
  }
  try {
    of_.push_back(&step);
    steps_.push_back({kWorkNames[step.work.index()], name_of(step), cost, seconds});
  } catch (...) {
    complete_ = false;
  }
}

}  // namespace pullback
