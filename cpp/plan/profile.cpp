// Counts bytes and operations of a step from its views, and keeps the records of a thread. Costs
// nothing without a recording.
#include "plan/profile.h"
#include "plan/step_views.h"

#include <algorithm>

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
  int64_t bytes = 0, written_elements = 0;
  for_each_view(step, [&](const View& view, bool written) {
    if (written) written_elements = std::max(written_elements, elements_in_memory(view));
  });
  for_each_operand<View>(step, [&](const View& view, Use use) {
    for (const bool written : {false, true}) {
      if (!(written ? use.write : use.read)) continue;
      const bool known = std::ranges::any_of(seen, [&](const auto& other) {
        return other.second == written && same_place(*other.first, view);
      });
      if (known) continue;
      seen.emplace_back(&view, written);
      int64_t elements = elements_in_memory(view);
      if (use.indexed) elements = std::min(elements, written_elements);
      bytes += elements * size_of(view.dtype);
    }
  });
  return bytes;
}

DType dtype_of(const Step& step) {
  DType dtype = DType::Bool;
  for_each_view(step, [&](const View& view, bool written) {
    if (written) dtype = view.dtype;
  });
  return dtype;
}

}  // namespace

StepCost cost_of(const Step& step) {
  int64_t operations = std::visit([](const auto& work) { return work.operations(); }, step.work);
  if (const TileGroup* epilogue = epilogue_of(step)) operations += epilogue->operations();
  int64_t elements = 0;
  if (const auto* group = std::get_if<TileGroup>(&step.work)) {
    elements = group->count;
  } else {
    for_each_view(step, [&](const View& view, bool) {
      elements = std::max(elements, elements_in_memory(view));
    });
  }
  return {bytes_of(step), operations, elements};
}

Recording::Recording() : outer_(open_recording) { open_recording = this; }

Recording::~Recording() { open_recording = outer_; }

Recording* Recording::open() { return open_recording; }

void Recording::add(const Step& step, double seconds) noexcept {
  const StepCost cost = cost_of(step);
  for (size_t i = loop_begin_; i < steps_.size(); ++i) {
    if (of_[i] != &step) continue;
    steps_[i].seconds += seconds;
    ++steps_[i].runs;
    steps_[i].cost.bytes += cost.bytes;
    steps_[i].cost.operations += cost.operations;
    steps_[i].cost.elements += cost.elements;
    return;
  }
  try {
    of_.push_back(&step);
    steps_.push_back({kWorkNames[step.work.index()], name_of(step), dtype_of(step), cost, 1,
                      seconds, step.labels});
  } catch (...) {
    complete_ = false;
  }
}

}  // namespace pullback
