// Verifies that memory is written completely before it is read or leaves the plan. Steps may fill a
// slot in parts (a concatenation, the gradient of slices). Parts fill a slot if they are disjoint
// and have all of its bytes.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "plan/step_views.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

constexpr size_t kMostWritten = 64;  // compared with each other; of more parts only bytes count

struct Written {
  bool whole = false;
  int64_t bytes = 0;
  std::vector<Strided> parts;  // the first of them
};

// The same elements in ascending order.
Strided as_in_memory(Strided view) {
  for (int64_t d = 0; d < view.shape.rank; ++d) {
    if (view.strides[d] >= 0) continue;
    view.offset += (view.shape[d] - 1) * view.strides[d];
    view.strides[d] = -view.strides[d];
  }
  for (int64_t end = view.shape.rank; end > 1; --end) {
    for (int64_t d = 1; d < end; ++d) {
      if (view.strides[d - 1] >= view.strides[d]) continue;
      std::swap(view.strides[d - 1], view.strides[d]);
      std::swap(view.shape[d - 1], view.shape[d]);
    }
  }
  return view;
}

class WriteCheck {
 public:
  explicit WriteCheck(const Plan& plan) : plan_(plan), written_(plan.slots.size()) {
    for (size_t s = 0; s < written_.size(); ++s) {
      const Slot& slot = plan.slots[s];
      written_[s].whole = slot.kind == SlotKind::Argument || slot.bytes == 0;
    }
  }

  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (const auto* layout = std::get_if<Layout>(&step.work); layout && layout->clear) {
        written_[layout->out.slot].whole = true;
      }
      for_each_view(step, [&](const View& view, bool write) {
        if (write) {
          add(view);
        } else if (view.shape.size() > 0) {
          require(i, view.slot, "a read before any write",
                  "a read of memory that is not all written");
        }
      });
    }
    for (const int32_t slot : plan_.outputs) {
      require(plan_.steps.size(), slot, "an output that no step writes",
              "an output that is not all written");
    }
  }

 private:
  void require(size_t step, int32_t slot, const char* nothing, const char* part) const {
    const Written& written = written_[slot];
    if (!written.whole) broken(step, written.bytes == 0 ? nothing : part);
  }

  // A part counts if it is shown to be disjoint from the parts before.
  void add(const View& view) {
    Written& written = written_[view.slot];
    if (written.whole || view.shape.size() == 0) return;
    const Strided part = as_in_memory(view);
    if (!in_order(part)) return;
    const int64_t bytes = part.shape.size() * size_of(view.dtype);
    const int64_t all = plan_.slots[view.slot].bytes;
    const auto is_disjoint = [&](const Strided& other) { return disjoint(part, other); };
    if (bytes < all && !std::all_of(written.parts.begin(), written.parts.end(), is_disjoint)) {
      return;
    }
    if (written.parts.size() < kMostWritten) written.parts.push_back(part);
    written.bytes += bytes;
    written.whole = bytes == all || written.bytes == all;
  }

  const Plan& plan_;
  std::vector<Written> written_;
};

}  // namespace

void verify_written(const Plan& plan) { WriteCheck(plan).run(); }

}  // namespace pullback
