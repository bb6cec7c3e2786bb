// The gradient of a tensor that was sliced is a sum of parts: the first is embedded into zeros, the
// others are added. If the parts are disjoint, they are written instead of added; if they fill the
// memory, the zeros are dropped. A group that computes such a part, or a part of a concatenation,
// stores it at its final place instead of in a temporary; an elementwise group whose result is
// copied with other axes, such as the gradient of a transpose, computes its elements in the order
// of that copy. Copies of columns that together fill a memory become a group, which reads and
// writes that memory once.
#include "plan/passes/coalesce_writes.h"
#include "plan/step_views.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pullback {
namespace {

constexpr size_t kMostWrites = 64;    // compared with each other
constexpr int64_t kShortestRow = 16;  // elements that a group stores contiguously, or with one
                                      // stride

bool covers_slot(const Plan& plan, const View& view) {
  return is_flat(view) && view.shape.size() * size_of(view.dtype) == plan.slots[view.slot].bytes;
}

// The stride of elements that all have the same one; 0 for other views.
int64_t single_stride(const View& view) {
  int64_t count = 1;
  int64_t stride = 0;
  for (int64_t d = view.shape.rank; d-- > 0;) {
    if (view.shape[d] == 1) continue;
    if (stride == 0) stride = view.strides[d];
    if (view.strides[d] != count * stride) return 0;
    count *= view.shape[d];
  }
  return stride;
}

// An order of the elements of a view: its axes, outermost first, some of which are reversed. Axes
// with one entry are left out.
struct ElementOrder {
  struct Axis {
    int64_t axis;
    bool reversed;
  };
  std::vector<Axis> axes;

  // The order of memory.
  static ElementOrder of(const Strided& view) {
    ElementOrder out;
    for (int64_t d = 0; d < view.shape.rank; ++d) {
      if (view.shape[d] > 1) out.axes.push_back({d, view.strides[d] < 0});
    }
    std::ranges::stable_sort(out.axes, std::greater(),
                             [&](const Axis& a) { return std::abs(view.strides[a.axis]); });
    return out;
  }
  Strided apply(const Strided& view) const {
    Strided out{view.offset, {}, {}};
    out.shape.resize(static_cast<int64_t>(axes.size()));
    out.strides.resize(out.shape.rank);
    for (int64_t d = 0; d < out.shape.rank; ++d) {
      const auto [axis, reversed] = axes[static_cast<size_t>(d)];
      const int64_t stride = view.strides[axis];
      out.shape[d] = view.shape[axis];
      out.strides[d] = reversed ? -stride : stride;
      if (reversed) out.offset += (view.shape[axis] - 1) * stride;
    }
    return out;
  }
};

View applied(const ElementOrder& order, const View& view) {
  return {view.slot, view.dtype, order.apply(view)};
}

// Turns additions into writes and drops zeros.
class Additions {
 public:
  explicit Additions(Plan* plan) : plan_(*plan) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      auto* layout = std::get_if<Layout>(&plan_.steps[i].work);
      if (!layout) {
        for_each_view(plan_.steps[i], [&](const View& view, bool) { close(view.slot); });
        continue;
      }
      close(layout->in.slot);
      if (layout->clear) {
        close(layout->out.slot);
        open_[layout->out.slot] = {i, {layout->out}};
      } else if (!continues(layout)) {
        close(layout->out.slot);
      }
    }
    while (!open_.empty()) close(open_.begin()->first);
  }

 private:
  struct Filling {
    size_t clears;  // the step that clears the slot
    std::vector<View> writes;
  };

  bool continues(Layout* layout) {
    const auto found = open_.find(layout->out.slot);
    if (found == open_.end() || found->second.writes.size() >= kMostWrites) return false;
    std::vector<View>& writes = found->second.writes;
    const auto is_disjoint = [&](const View& write) { return disjoint(write, layout->out); };
    if (!std::all_of(writes.begin(), writes.end(), is_disjoint)) return false;
    layout->add = false;
    writes.push_back(layout->out);
    return true;
  }

  void close(int32_t slot) {
    const auto found = open_.find(slot);
    if (found == open_.end()) return;
    int64_t bytes = 0;
    for (const View& write : found->second.writes) {
      bytes += write.shape.size() * size_of(write.dtype);
    }
    if (bytes == plan_.slots[slot].bytes) {
      std::get<Layout>(plan_.steps[found->second.clears].work).clear = false;
    }
    open_.erase(found);
  }

  Plan& plan_;
  std::unordered_map<int32_t, Filling> open_;  // by slot
};

// Lets groups store directly where a later step would copy their result.
class Stores {
 public:
  explicit Stores(Plan* plan) : plan_(*plan), uses_(plan->slots.size()) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for_each_view(plan_.steps[i], [&](const View& view, bool) {
        std::vector<size_t>& uses = uses_[view.slot];
        if (uses.size() < kMostWrites) uses.push_back(i);
      });
    }
    std::vector<uint8_t> done(plan_.steps.size(), 0);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const auto* layout = std::get_if<Layout>(&plan_.steps[i].work);
      done[i] = layout && !layout->add && !layout->clear && move_into_group(*layout, i);
    }
    size_t kept = 0;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (done[i]) continue;
      if (kept != i) plan_.steps[kept] = std::move(plan_.steps[i]);
      ++kept;
    }
    plan_.steps.resize(kept);
  }

 private:
  bool move_into_group(const Layout& copy, size_t step) {
    const std::vector<size_t>& uses = uses_[copy.in.slot];
    if (plan_.slots[copy.in.slot].kind != SlotKind::Temporary || uses.size() != 2 ||
        uses[1] != step || copy.in.dtype != copy.out.dtype || copy.in.shape.size() == 0) {
      return false;
    }
    // In the order of the group, which is the order of the temporary.
    const ElementOrder order = ElementOrder::of(copy.in);
    View out = applied(order, copy.out);
    if (!covers_slot(plan_, applied(order, copy.in))) return false;
    const size_t from = uses[0];
    auto* group = std::get_if<TileGroup>(&plan_.steps[from].work);
    const auto fits = [&] { return is_even(out) && is_free(out, from, step); };
    const bool ordered = in_order(out);
    // A group may have many stores and loads: those are visited after all that is cheap.
    if (!group || (ordered && !fits())) return false;
    const auto store = std::ranges::find_if(
        group->stores, [&](const Store& s) { return s.view.slot == copy.in.slot; });
    if (store == group->stores.end()) return false;
    if (!ordered) {
      std::optional<std::vector<View>> loads = reordered_loads(*group, &out);
      if (!loads || !in_order(out) || !fits()) return false;
      group->loads = std::move(*loads);
    }
    store->view = out;
    std::vector<size_t>& others = uses_[out.slot];
    std::replace(others.begin(), others.end(), step, from);
    return true;
  }

  // Changes the order of the elements of `out`, the only store of a group, to the order of memory,
  // and returns the loads in that order. Null if the group needs its order, or if more loads would
  // then be out of order.
  static std::optional<std::vector<View>> reordered_loads(const TileGroup& group, View* out) {
    if (group.length > 1 || group.stores.size() > 1 || !group.reductions.empty() ||
        group.can_fail()) {
      return std::nullopt;
    }
    const auto is_strided = [](const View& view) {
      return !is_row_major(view) && !is_one_number(view);
    };
    const ElementOrder order = ElementOrder::of(*out);
    std::vector<View> loads = group.loads;
    for (View& load : loads) {
      const auto same = reshaped(load, out->shape);
      if (!same) return std::nullopt;
      load = applied(order, {load.slot, load.dtype, *same});
    }
    *out = applied(order, *out);
    if (std::ranges::count_if(loads, is_strided) > std::ranges::count_if(group.loads, is_strided)) {
      return std::nullopt;
    }
    return loads;
  }

  // Rows that are long, or elements with one stride.
  static bool is_even(const View& view) {
    int64_t row = 1;     // contiguous elements, or elements with one stride
    int64_t stride = 0;  // of these elements
    for (int64_t d = view.shape.rank; d-- > 0;) {
      if (view.shape[d] == 1) continue;
      if (stride == 0) stride = view.strides[d];
      if (view.strides[d] != row * stride) return row >= kShortestRow;
      row *= view.shape[d];
    }
    return true;
  }

  // True if from step `first` to the copy at `last`, other steps access the slot only outside of
  // the view.
  bool is_free(const View& target, size_t first, size_t last) const {
    const std::vector<size_t>& uses = uses_[target.slot];
    if (uses.size() >= kMostWrites) return false;
    for (const size_t i : uses) {
      if (i < first || i >= last) continue;
      const auto* layout = std::get_if<Layout>(&plan_.steps[i].work);
      if (i != first && !(layout && !layout->add && !layout->clear)) return false;
      bool beside = true;
      for_each_view(plan_.steps[i], [&](const View& view, bool write) {
        if (view.slot == target.slot) beside &= write && disjoint(view, target);
      });
      if (!beside) return false;
    }
    return true;
  }

  Plan& plan_;
  std::vector<std::vector<size_t>> uses_;  // per slot: the steps, limited to a number
};

// Replaces copies to all columns of a memory by a group.
class Columns {
 public:
  explicit Columns(Plan* plan) : steps_(plan->steps) {}

  void run() {
    size_t kept = 0;
    for (size_t i = 0; i < steps_.size(); ++kept) {
      const size_t copies = columns_from(i);
      if (copies) {
        TileGroup group;
        for (size_t k = i; k < i + copies; ++k) {
          const auto& copy = std::get<Layout>(steps_[k].work);
          group.count = copy.out.shape.size();
          group.stores.push_back({static_cast<int32_t>(group.loads.size()), copy.out});
          group.loads.push_back(copy.in);
        }
        steps_[i].work = std::move(group);
      }
      if (kept != i) steps_[kept] = std::move(steps_[i]);
      i += std::max<size_t>(1, copies);
    }
    steps_.resize(kept);
  }

 private:
  static constexpr int64_t kMostColumns = 4;  // that one pass of a backend splits or joins
  static constexpr int64_t kManyRows = 1024;  // fewer are copied in less time than a group starts

  const Layout* copy_at(size_t i) const {
    const auto* copy = i < steps_.size() ? std::get_if<Layout>(&steps_[i].work) : nullptr;
    return copy && !copy->clear && !copy->add ? copy : nullptr;
  }

  // The number of steps from step i on that copy columns which together fill rows; else 0.
  size_t columns_from(size_t i) const {
    const Layout* first = copy_at(i);
    if (!first || first->in.dtype != first->out.dtype || is_storage(first->out.dtype) ||
        size_of(first->out.dtype) < 4 || first->out.shape.size() < kManyRows) {
      return 0;
    }
    const int64_t columns = single_stride(first->out);
    // Pairs of eight bytes are copied as fast column by column.
    const int64_t fewest = size_of(first->out.dtype) == 8 ? 3 : 2;
    if (columns < fewest || columns > kMostColumns) return 0;
    int64_t start = first->out.offset;
    for (int64_t k = 1; k < columns; ++k) {
      const Layout* copy = copy_at(i + k);
      if (!copy) return 0;
      start = std::min(start, copy->out.offset);
    }
    std::vector<bool> filled(static_cast<size_t>(columns), false);
    for (int64_t k = 0; k < columns; ++k) {
      const Layout* copy = copy_at(i + k);
      const int64_t column = copy->out.offset - start;
      if (copy->out.slot != first->out.slot || copy->in.slot == first->out.slot ||
          copy->in.dtype != first->out.dtype || single_stride(copy->out) != columns ||
          copy->out.shape.size() != first->out.shape.size() || column >= columns ||
          filled[static_cast<size_t>(column)]) {
        return 0;
      }
      filled[static_cast<size_t>(column)] = true;
    }
    return static_cast<size_t>(columns);
  }

  std::vector<Step>& steps_;
};

}  // namespace

void coalesce_writes(Plan* plan) {
  Additions(plan).run();
  Stores(plan).run();
  Columns(plan).run();
}

}  // namespace pullback
