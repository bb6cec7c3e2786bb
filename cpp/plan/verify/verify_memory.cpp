// Verifies memory, derived from the steps alone. A slot is live from the first to the last step
// that accesses it. Slots that are live at the same time must not overlap, and an argument whose
// memory an output takes must have been read for the last time. (Reads and writes of one step are
// checked with the step.)
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "plan/checked_indices.h"
#include "plan/step_views.h"
#include "plan/verify/verify.h"

namespace pullback {
namespace {

constexpr int32_t kNever = -1;

struct Life {
  int32_t first = kNever, last = kNever;  // steps that access the slot
};

std::vector<Life> lives_of(const Plan& plan) {
  std::vector<Life> lives(plan.slots.size());
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    for_each_view(plan.steps[i], [&](const View& view, bool) {
      Life& life = lives[view.slot];
      life.last = static_cast<int32_t>(i);
      if (life.first == kNever) life.first = life.last;
    });
  }
  return lives;
}

// Visits the steps with the places that are live.
void check_arena(const Plan& plan, const std::vector<Life>& lives) {
  std::vector<std::pair<int64_t, int32_t>> events;  // twice the step, odd at the end of a lifetime;
                                                    // slot
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind != SlotKind::Temporary || lives[s].first == kNever || slot.bytes == 0) continue;
    const auto step = static_cast<size_t>(lives[s].first);
    if (slot.index < 0 || sum_of(step, slot.index, slot.bytes) > plan.arena_bytes) {
      broken(step, "a temporary outside the arena");
    }
    if (slot.index % size_of(slot.dtype)) broken(step, "a temporary that is not aligned");
    events.emplace_back(int64_t{2} * lives[s].first, static_cast<int32_t>(s));
    events.emplace_back(int64_t{2} * lives[s].last + 1, static_cast<int32_t>(s));
  }
  std::sort(events.begin(), events.end());
  std::map<int64_t, int64_t> live;  // begin and end of each
  for (const auto& [when, s] : events) {
    const Slot& slot = plan.slots[s];
    if (when % 2) {
      live.erase(slot.index);
      continue;
    }
    const int64_t end = slot.index + slot.bytes;
    const auto next = live.lower_bound(slot.index);
    if ((next != live.end() && next->first < end) ||
        (next != live.begin() && std::prev(next)->second > slot.index)) {
      broken(static_cast<size_t>(when / 2), "two live temporaries at one place");
    }
    live.emplace_hint(next, slot.index, end);
  }
}

// Checks donated arguments: each is read for the last time before its output is written, and from
// then on no step can fail.
void check_donated(const Plan& plan, const std::vector<Life>& lives) {
  int32_t first_write = INT32_MAX;
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind != SlotKind::Output || plan.donated_arguments.empty()) continue;
    const std::optional<int32_t> donated = plan.donated_arguments[slot.index];
    if (!donated) continue;
    const int32_t begin = lives[s].first;
    if (begin == kNever) broken(plan.steps.size(), "donated memory that no output takes");
    if (lives[plan.arguments[*donated]].last > begin) {
      broken(static_cast<size_t>(begin), "a donated argument that is still read");
    }
    const auto next = static_cast<size_t>(begin) + 1;
    const bool checks_first = next < plan.steps.size() && writes_after_checking(plan, next);
    first_write = std::min(first_write, checks_first ? begin + 1 : begin);
  }
  if (first_write == INT32_MAX) return;
  if (plan.point_of_no_return > first_write) {
    broken(static_cast<size_t>(first_write), "donated memory is written before there is no return");
  }
  const std::vector<bool> checked = find_checked(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const auto* gather = std::get_if<Gather>(&plan.steps[i].work);
    const auto* scatter = std::get_if<ScatterAdd>(&plan.steps[i].work);
    if (((gather && gather->checked) || (scatter && scatter->checked)) && !checked[i]) {
      broken(i, "positions that no step has checked");
    }
  }
  auto no_failure = static_cast<size_t>(first_write);
  if (writes_after_checking(plan, no_failure)) ++no_failure;
  for (size_t i = no_failure; i < plan.steps.size(); ++i) {
    if (can_fail(plan.steps[i])) broken(i, "a step that can fail when there is no return");
  }
}

}  // namespace

std::vector<int32_t> memory_of_slots(const Plan& plan) {
  const auto require = [&](bool holds, const char* what) {
    if (!holds) broken(plan.steps.size(), what);
  };
  const auto inside = [](int64_t index, size_t count) {
    return index >= 0 && static_cast<size_t>(index) < count;
  };
  std::vector<int32_t> memory(plan.slots.size());
  std::vector<int32_t> output(plan.output_bytes.size(), -1);  // slot of each output
  for (size_t s = 0; s < memory.size(); ++s) {
    const Slot& slot = plan.slots[s];
    memory[s] = static_cast<int32_t>(s);
    require(slot.bytes >= 0, "a slot of a negative size");
    if (slot.kind == SlotKind::Argument) {
      require(inside(slot.index, plan.arguments.size()) && plan.arguments[slot.index] == memory[s],
              "an argument in another place");
    } else if (slot.kind == SlotKind::Output) {
      require(inside(slot.index, output.size()) && output[slot.index] < 0,
              "two outputs in a place");
      require(plan.output_bytes[slot.index] == slot.bytes, "an output of another size");
      output[slot.index] = memory[s];
    }
  }
  std::vector<uint8_t> stays(plan.arguments.size(), 0);  // it leaves the plan, or is donated
                                                         // already
  for (int32_t slot : plan.outputs) {
    require(inside(slot, plan.slots.size()) && plan.slots[slot].kind != SlotKind::Temporary,
            "an output in no memory of its own");
    if (plan.slots[slot].kind == SlotKind::Argument) stays[plan.slots[slot].index] = 1;
  }
  require(plan.donated_arguments.empty() || plan.donated_arguments.size() == output.size(),
          "donated arguments of other outputs");
  std::vector<int32_t> replaced_by(stays.size(), -1);  // by argument: the slot that replaces it
  for (const auto& [argument, place] : plan.replaced) {
    require(argument < stays.size() && place < plan.outputs.size(),
            "a replacement of nothing, or by nothing");
    replaced_by[argument] = plan.outputs[place];
  }
  for (size_t k = 0; k < plan.donated_arguments.size(); ++k) {
    const std::optional<int32_t> argument = plan.donated_arguments[k];
    if (!argument) continue;
    const int32_t donated = *argument;
    require(inside(donated, stays.size()) && !stays[donated]++,
            "an argument that donates twice, or leaves the plan");
    const int32_t from = plan.arguments[donated];
    require(output[k] >= 0 && plan.slots[from].bytes == plan.output_bytes[k],
            "a donated argument of another size");
    require(plan.replaced.empty() || replaced_by[donated] == output[k],
            "a donated argument to an output that does not replace it");
    memory[from] = output[k];
  }
  return memory;
}

void verify_memory(const Plan& plan) {
  const std::vector<Life> lives = lives_of(plan);
  check_arena(plan, lives);
  check_donated(plan, lives);
}

}  // namespace pullback
