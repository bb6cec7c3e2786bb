// Training steps take rows of a table and write them back at the same positions. Knowing that these
// were checked already means that the second step cannot fail, so it can write in donated memory.
#include "plan/checked_indices.h"
#include "plan/step_views.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace pullback {
namespace {

struct Positions {
  const View* indices = nullptr;
  int64_t axis = 0;
};

// The positions that a step reads; null for other steps.
Positions positions_of(const Step& step) {
  if (const auto* gather = std::get_if<Gather>(&step.work)) return {&gather->indices, gather->axis};
  const auto* scatter = std::get_if<ScatterAdd>(&step.work);
  if (!scatter || scatter->equal) return {};
  return {&scatter->indices, scatter->axis};
}

// Ranges of slots whose integers are known to lie inside an axis: where each range ends, and the
// size of that axis.
class Known {
 public:
  // The smallest axis inside of which all elements of a row-major view are known to lie; 0:
  // unknown.
  int64_t axis_of(const View& view) const {
    int64_t axis = 0;
    const int64_t end = view.offset + view.shape.size();
    for (int64_t at = view.offset; at < end;) {
      auto found = ranges_.upper_bound({view.slot, at});
      if (found == ranges_.begin()) return 0;
      --found;
      if (found->first.first != view.slot || found->second.end <= at) return 0;
      axis = std::max(axis, found->second.axis);
      at = found->second.end;
    }
    return axis;
  }
  void set(const View& view, int64_t axis) {
    const int64_t end = view.offset + view.shape.size();
    if (view.offset == end) return;
    forget(view.slot, view.offset, end);
    ranges_[{view.slot, view.offset}] = {end, axis};
  }
  // Forgets the range of a slot from one offset to another. (Ranges do not overlap; one may begin
  // before.)
  void forget(int32_t slot, int64_t first, int64_t last) {
    auto at = ranges_.lower_bound({slot, first});
    if (at != ranges_.begin() && std::prev(at)->first.first == slot) --at;
    while (at != ranges_.end() && at->first.first == slot && at->first.second < last) {
      const int64_t begin = at->first.second;
      const CopiedRange range = at->second;
      if (range.end <= first) {
        ++at;
        continue;
      }
      at = ranges_.erase(at);
      if (begin < first) ranges_[{slot, begin}] = {first, range.axis};
      if (range.end > last) ranges_[{slot, last}] = range;
    }
  }

 private:
  struct CopiedRange {
    int64_t end = 0, axis = 0;
  };
  std::map<std::pair<int32_t, int64_t>, CopiedRange> ranges_;  // by slot and first element
};

}  // namespace

std::vector<bool> find_checked(const Plan& plan) {
  std::vector<bool> out(plan.steps.size(), false);
  Known known;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    if (const Positions p = positions_of(plan.steps[i]); p.indices) {
      const int64_t axis = known.axis_of(*p.indices);
      out[i] = axis > 0 && axis <= p.axis;
      if (!axis || p.axis < axis) known.set(*p.indices, p.axis);
    }
    // A copy, which may be a part of a concatenation.
    const auto* copy = std::get_if<Layout>(&plan.steps[i].work);
    const bool moves =
        copy && !copy->clear && !copy->add && is_row_major(copy->in) && is_row_major(copy->out);
    const int64_t axis = moves ? known.axis_of(copy->in) : 0;
    for_each_view(plan.steps[i], [&](const View& view, bool write) {
      if (!write) return;
      const int64_t end = view.offset + view.shape.size();
      known.forget(view.slot, moves ? view.offset : 0, moves ? end : INT64_MAX);
    });
    if (axis) known.set(copy->out, axis);
  }
  return out;
}

bool writes_after_checking(const Plan& plan, size_t step) {
  if (step == 0) return false;
  const auto* copy = std::get_if<Layout>(&plan.steps[step - 1].work);
  const auto* scatter = std::get_if<ScatterAdd>(&plan.steps[step].work);
  return copy && scatter && !copy->clear && !copy->add && !scatter->clear && is_flat(copy->in) &&
         is_flat(copy->out) && copy->out.slot == scatter->out.slot;
}

void mark_checked(Plan* plan) {
  const std::vector<bool> checked = find_checked(*plan);
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    Work& work = plan->steps[i].work;
    if (auto* gather = std::get_if<Gather>(&work)) gather->checked = checked[i];
    if (auto* scatter = std::get_if<ScatterAdd>(&work)) scatter->checked = checked[i];
  }
}

}  // namespace pullback
