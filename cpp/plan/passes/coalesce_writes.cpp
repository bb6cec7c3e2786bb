// The gradient of something taken apart by slices arrives in pieces: the first is embedded into
// zeros, the others are added to it. Where the pieces are disjoint, adding is writing; where they
// fill the memory, nobody sees the zeros; and a group that makes such a piece, or one of a
// concatenation, stores it where it belongs, not in memory of its own to be copied.
#include "plan/passes/coalesce_writes.h"
#include "plan/step_views.h"

#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

namespace pullback {
namespace {

constexpr size_t kMostPieces = 64;    // that are compared with each other
constexpr int64_t kShortestRow = 16;  // elements that a group stores side by side, or all evenly

bool covers_slot(const Plan& plan, const View& view) {
  return is_flat(view) && view.shape.size() * size_of(view.dtype) == plan.slots[view.slot].bytes;
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
    size_t clears;  // the step that does
    std::vector<View> pieces;
  };

  bool continues(Layout* layout) {
    const auto found = open_.find(layout->out.slot);
    if (found == open_.end() || found->second.pieces.size() >= kMostPieces) return false;
    std::vector<View>& pieces = found->second.pieces;
    const auto is_disjoint = [&](const View& piece) { return disjoint(piece, layout->out); };
    if (!std::all_of(pieces.begin(), pieces.end(), is_disjoint)) return false;
    layout->add = false;
    pieces.push_back(layout->out);
    return true;
  }

  void close(int32_t slot) {
    const auto found = open_.find(slot);
    if (found == open_.end()) return;
    int64_t bytes = 0;
    for (const View& piece : found->second.pieces) {
      bytes += piece.shape.size() * size_of(piece.dtype);
    }
    if (bytes == plan_.slots[slot].bytes) {
      std::get<Layout>(plan_.steps[found->second.clears].work).clear = false;
    }
    open_.erase(found);
  }

  Plan& plan_;
  std::unordered_map<int32_t, Filling> open_;  // by slot
};

// Lets groups store in place what a step would only copy there.
class Stores {
 public:
  explicit Stores(Plan* plan) : plan_(*plan), uses_(plan->slots.size()) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for_each_view(plan_.steps[i], [&](const View& view, bool) {
        std::vector<size_t>& uses = uses_[view.slot];
        if (uses.size() < kMostPieces) uses.push_back(i);
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
        uses[1] != step || copy.in.dtype != copy.out.dtype || copy.in.shape.size() == 0 ||
        !covers_slot(plan_, copy.in) || !in_order(copy.out) || !is_even(copy.out)) {
      return false;
    }
    const size_t from = uses[0];
    auto* group = std::get_if<TileGroup>(&plan_.steps[from].work);
    if (!group || !is_free(copy.out, from, step)) return false;
    for (Store& store : group->stores) {
      if (store.view.slot != copy.in.slot) continue;
      store.view = copy.out;
      std::vector<size_t>& others = uses_[copy.out.slot];
      std::replace(others.begin(), others.end(), step, from);
      return true;
    }
    return false;
  }

  // Rows of a piece that are long, or all its elements one stride apart.
  static bool is_even(const View& view) {
    int64_t row = 1;     // elements side by side, or evenly
    int64_t stride = 0;  // of them
    for (int64_t d = view.shape.rank; d-- > 0;) {
      if (view.shape[d] == 1) continue;
      if (stride == 0) stride = view.strides[d];
      if (view.strides[d] != row * stride) return row >= kShortestRow;
      row *= view.shape[d];
    }
    return true;
  }

  // Whether from step `first` on, up to the copy at `last`, others only write beside the window.
  bool is_free(const View& window, size_t first, size_t last) const {
    const std::vector<size_t>& uses = uses_[window.slot];
    if (uses.size() >= kMostPieces) return false;
    for (const size_t i : uses) {
      if (i < first || i >= last) continue;
      const auto* layout = std::get_if<Layout>(&plan_.steps[i].work);
      if (i != first && !(layout && !layout->add && !layout->clear)) return false;
      bool beside = true;
      for_each_view(plan_.steps[i], [&](const View& view, bool write) {
        if (view.slot == window.slot) beside &= write && disjoint(view, window);
      });
      if (!beside) return false;
    }
    return true;
  }

  Plan& plan_;
  std::vector<std::vector<size_t>> uses_;  // of each slot: the steps, up to a number
};

}  // namespace

void coalesce_writes(Plan* plan) {
  Additions(plan).run();
  Stores(plan).run();
}

}  // namespace pullback
