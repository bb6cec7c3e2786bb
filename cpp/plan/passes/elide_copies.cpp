// A temporary y that is copied to another place of a second temporary, as in
// concatenate([one, y[:-1]]) or in the gradient of y[1:], needs no copy: both temporaries become
// one slot with room for the entries that only one of them has, here [one, y]. Each is then a view
// of that slot, read in place as a slice is.
//
// Invariant: the two temporaries have exactly the copied elements in common, so that all other
// writes to one of them miss the other. Start reading at CopyElision::merge().
#include "plan/passes/elide_copies.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "plan/step_views.h"

namespace pullback {
namespace {

constexpr size_t kMostUses = 64;        // of a slot: all are visited for each copy
constexpr int64_t kFewestBytes = 2048;  // fewer are copied in the time of a short step

class CopyElision {
 public:
  explicit CopyElision(Plan* plan) : plan_(*plan), uses_(plan->slots.size()) {}

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for_each_operand<View>(plan_.steps[i], [&](const View& view, Use) {
        std::vector<size_t>& uses = uses_[view.slot];
        if (uses.size() < kMostUses && (uses.empty() || uses.back() != i)) uses.push_back(i);
      });
    }
    std::vector<uint8_t> elided(plan_.steps.size(), 0);
    for (size_t i = 0; i < plan_.steps.size(); ++i) elided[i] = merge(i);
    size_t kept = 0;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      if (elided[i]) continue;
      if (kept != i) plan_.steps[kept] = std::move(plan_.steps[i]);
      ++kept;
    }
    plan_.steps.resize(kept);
  }

 private:
  // Merges the two temporaries of a copy. True if nothing remains of the step.
  bool merge(size_t i) {
    const auto* layout = std::get_if<Layout>(&plan_.steps[i].work);
    if (!layout || layout->add) return false;
    const Layout copy = *layout;
    Slot& in = plan_.slots[copy.in.slot];
    const Slot& out = plan_.slots[copy.out.slot];
    const int64_t element = size_of(in.dtype);
    const int64_t copied = copy.in.shape.size();
    if (copy.in.slot == copy.out.slot || in.kind != SlotKind::Temporary ||
        out.kind != SlotKind::Temporary || in.dtype != out.dtype || !is_float(in.dtype) ||
        !is_row_major(copy.in) || !is_row_major(copy.out) || copied * element < kFewestBytes) {
      return false;
    }
    const int64_t in_size = in.bytes / element;
    const int64_t out_size = out.bytes / element;
    if (2 * copied < std::max(in_size, out_size)) return false;
    // Element k of `in` is element k + shift of `out`, where both have it.
    const int64_t shift = copy.out.offset - copy.in.offset;
    const int64_t end = copy.out.offset + copied;
    if (std::max<int64_t>(0, shift) != copy.out.offset ||
        std::min(out_size, in_size + shift) != end) {
      return false;
    }
    const int64_t before = copy.out.offset;
    const int64_t after = out_size - end;
    if (copy.clear && before > 0 && after > 0 && before != after) return false;
    std::vector<size_t> uses;
    std::ranges::set_union(uses_[copy.in.slot], uses_[copy.out.slot], std::back_inserter(uses));
    if (!can_share(copy, i, uses)) return false;

    const int64_t start = std::min<int64_t>(0, shift);
    in.bytes = (std::max(out_size, in_size + shift) - start) * element;
    bool remains = false;
    if (copy.clear && (before > 0 || after > 0)) {
      plan_.steps[i].work = zeros(copy.out, before, after, end);
      remains = true;
    }
    for (const size_t k : uses) {
      for_each_operand<View>(plan_.steps[k], [&](const View& operand, Use) {
        auto& view = const_cast<View&>(operand);
        if (view.slot == copy.in.slot) {
          view.offset += shift - start;
        } else if (view.slot == copy.out.slot) {
          view.offset -= start;
          view.slot = copy.in.slot;
        }
      });
    }
    if (!remains) std::erase(uses, i);
    uses_[copy.in.slot] = std::move(uses);
    uses_[copy.out.slot].clear();
    return !remains;
  }

  // True if all other steps may access the two temporaries of a copy in one memory: groups and
  // copies, which read and write at any offset.
  bool can_share(const Layout& copy, size_t at, const std::vector<size_t>& uses) const {
    if (uses_[copy.in.slot].size() == kMostUses || uses_[copy.out.slot].size() == kMostUses) {
      return false;
    }
    const auto is_shared = [&](const View& view) {
      return view.slot == copy.in.slot || view.slot == copy.out.slot;
    };
    return std::ranges::all_of(uses, [&](size_t k) {
      if (k == at) return true;
      const Step& step = plan_.steps[k];
      const auto* layout = std::get_if<Layout>(&step.work);
      if (!layout && !std::holds_alternative<TileGroup>(step.work)) return false;
      if (layout && layout->clear && is_shared(layout->out)) return false;  // clears the whole slot
      bool reads = false, writes = false, fits = true;
      for_each_operand<View>(step, [&](const View& view, Use use) {
        if (!is_shared(view)) return;
        fits &= use.strided;
        (use.write ? writes : reads) = true;
        // The copied elements are written before the copy alone.
        if (use.write) {
          fits &= view.slot == copy.in.slot ? k < at : disjoint(view, copy.out);
        }
      });
      return fits && !(reads && writes);
    });
  }

  // A group that clears the elements of `out` outside of the copied ones.
  static TileGroup zeros(const View& out, int64_t before, int64_t after, int64_t end) {
    TileGroup group;
    group.count = std::max(before, after);
    group.scalars.push_back({std::nullopt, out.dtype, {}});
    const auto clear = [&](int64_t offset, int64_t count) {
      if (count > 0) group.stores.push_back({0, {out.slot, out.dtype, offset, {count}, {1}}});
    };
    clear(0, before);
    clear(end, after);
    return group;
  }

  Plan& plan_;
  std::vector<std::vector<size_t>> uses_;  // per slot: the steps, limited to a number
};

}  // namespace

void elide_copies(Plan* plan) { CopyElision(plan).run(); }

}  // namespace pullback
