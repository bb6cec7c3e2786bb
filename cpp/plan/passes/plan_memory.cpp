// Three passes: lifetimes of slots (find_lifetimes), steps in place and donated arguments
// (InPlace), and places in the arena by best fit (place_temporaries). Start at plan_memory().
#include "plan/passes/plan_memory.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "plan/backend.h"
#include "plan/checked_indices.h"
#include "plan/step_views.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

constexpr int64_t kAlign = 64;

// Free gaps of the arena, by offset and by size; neighbouring gaps are merged.
class Gaps {
 public:
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, -1});
    if (fit == by_size_.end()) {
      if (bytes > kLargestBlock - end_) out_of_memory(bytes);
      const int64_t at = end_;
      end_ += bytes;
      return at;
    }
    const auto [size, at] = fit->first;
    erase(at, size);
    if (size > bytes) insert(at + bytes, size - bytes);
    return at;
  }

  void give(int64_t at, int64_t bytes) {
    auto next = by_offset_.lower_bound(at);
    if (next != by_offset_.end() && at + bytes == next->first) {
      bytes += next->second;
      erase(next->first, next->second);
    }
    auto previous = by_offset_.lower_bound(at);
    if (previous != by_offset_.begin() && (--previous)->first + previous->second == at) {
      at = previous->first;
      bytes += previous->second;
      erase(previous->first, previous->second);
    }
    insert(at, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void insert(int64_t at, int64_t bytes) {
    by_offset_[at] = bytes;
    by_size_[{bytes, at}] = true;
  }
  void erase(int64_t at, int64_t bytes) {
    by_offset_.erase(at);
    by_size_.erase({bytes, at});
  }

  std::map<int64_t, int64_t> by_offset_;
  std::map<std::pair<int64_t, int64_t>, bool> by_size_;
  int64_t end_ = 0;
};

// The first and the last step that accesses a slot.
struct Lifetime {
  int32_t first = -1, last = -1;
};

std::vector<Lifetime> find_lifetimes(const Plan& plan) {
  std::vector<Lifetime> out(plan.slots.size());
  for (int32_t i = 0; i < static_cast<int32_t>(plan.steps.size()); ++i) {
    for_each_view(plan.steps[i], [&](const View& view, bool) {
      Lifetime& life = out[view.slot];
      if (life.first < 0) life.first = i;
      life.last = i;
    });
  }
  return out;
}

bool is_whole(const Plan& plan, const View& view) {
  const int64_t bytes = view.shape.size() * size_of(view.dtype);
  return is_flat(view) && bytes == plan.slots[view.slot].bytes && bytes > 0;
}

// True if a step calls a callback.
bool calls_back(const Plan& plan) {
  return std::ranges::any_of(plan.steps, [](const Step& step) {
    bool found = std::holds_alternative<CallbackCall>(step.work);
    for_each_body(step,
                  [&](const BodyPlan& body) { found = found || calls_back(body.plan->plan); });
    return found;
  });
}

// True for a group of special functions that takes so long that it must be interruptible. A run
// cannot be interrupted after it has begun to write to donated memory, so such a group takes none.
bool is_slow(const TileGroup& group) {
  constexpr int64_t kMany = 32 * 1024;  // elements that take a microsecond or more each
  return group.count >= kMany &&
         std::ranges::any_of(group.instructions, [](const Instruction& instruction) {
           return traits(instruction.op).cost == Cost::Power && instruction.op != Op::pow;
         });
}

// Lets groups write where they read. A store takes the memory of a load that is last used in the
// group, if no instruction reads that load after the stored value is computed. Between temporaries
// and outputs the two slots become one. The memory of an argument may be taken at run time
// (donated_arguments). An output that replaces an argument takes its memory if it is not read
// afterwards.
class InPlace {
 public:
  InPlace(Plan* plan, std::vector<Lifetime>* lives)
      : plan_(*plan), lives_(*lives), memory_of_(plan->slots.size()) {
    for (size_t i = 0; i < memory_of_.size(); ++i) memory_of_[i] = static_cast<int32_t>(i);
  }

  void run() {
    plan_.donated_arguments.assign(plan_.output_bytes.size(), std::nullopt);
    donated_.assign(plan_.arguments.size(), 0);
    for (int32_t slot : plan_.outputs) {
      if (plan_.slots[slot].kind == SlotKind::Argument) donated_[plan_.slots[slot].index] = 1;
    }
    find_replaced();
    int32_t last_failing = -1;
    const auto steps = static_cast<int32_t>(plan_.steps.size());
    for (int32_t i = 0; i < steps; ++i) {
      if (can_fail(plan_.steps[i])) last_failing = i;
    }
    // While the run calls back, other threads must find every value.
    if (calls_back(plan_)) last_failing = steps;
    for (int32_t i = 0; i < steps; ++i) {
      if (TileGroup* group = group_of(plan_.steps[i])) {
        join(i, *group, i > last_failing && !is_slow(*group));
      }
      // An update by positions checks all positions before it writes; it can fail only before that.
      const bool updates = i + 1 < steps && writes_after_checking(plan_, i + 1);
      const int32_t write = updates ? i + 1 : i;
      if (write > last_failing || (updates && write == last_failing)) keep_base(i, write);
    }
    for (int32_t to = 0; to < static_cast<int32_t>(replaced_.size()); ++to) {
      const int32_t from = replaced_[to];
      const int32_t begin = lives_[to].first;
      if (from >= 0 && may_take(to, from) && lives_[from].last < begin && begin > last_failing) {
        donate(to, from, begin);
      }
    }
    for (Step& step : plan_.steps) {
      for_each_view(
          step, [&](const View& view, bool) { const_cast<View&>(view).slot = find(view.slot); });
    }
    for (int32_t& slot : plan_.outputs) slot = find(slot);
  }

 private:
  void find_replaced() {
    if (plan_.replaced.empty()) return;
    replaced_.assign(plan_.slots.size(), -1);
    for (const auto& [argument, output] : plan_.replaced) {
      replaced_[plan_.outputs[output]] = plan_.arguments[argument];
    }
  }

  // True if an output may take the memory of an argument after its last read.
  bool may_take(int32_t to, int32_t from) const {
    const Slot& slot = plan_.slots[from];
    const Slot& target = plan_.slots[to];
    return slot.kind == SlotKind::Argument && target.kind == SlotKind::Output &&
           slot.bytes == target.bytes && !donated_[slot.index] &&
           !plan_.donated_arguments[target.index] && (replaced_.empty() || replaced_[to] == from);
  }

  // Shortens the path: a chain of updates in place is as long as the program.
  int32_t find(int32_t slot) {
    while (memory_of_[slot] != slot) slot = memory_of_[slot] = memory_of_[memory_of_[slot]];
    return slot;
  }

  // For each value of a group, the last instruction that reads it; never: -1; after all: INT32_MAX.
  // `place` clears its whole result first, so its operands must stay until it is done.
  static std::vector<int32_t> last_reads(const TileGroup& group) {
    const size_t leaves = group.loads.size() + group.scalars.size();
    std::vector<int32_t> last(leaves + group.instructions.size(), -1);
    for (size_t i = 0; i < group.instructions.size(); ++i) {
      const bool clears = group.instructions[i].op == Op::place;
      for (int32_t in : group.instructions[i].in) {
        if (in >= 0) last[in] = static_cast<int32_t>(leaves + i + clears);
      }
    }
    for (const Store& store : group.stores) {
      if (store.value < static_cast<int32_t>(leaves)) last[store.value] = INT32_MAX;
    }
    for (const Reduction& r : group.reductions) last[r.value] = INT32_MAX;
    return last;
  }

  // Slots of one dtype and size that a store may take; the last one read is at the end.
  struct Free {
    std::vector<int32_t> temporaries, arguments;
  };

  // Of the loads that are not read after a stored value is computed, a store takes that of the
  // argument which it replaces, otherwise the one read last. Temporaries are preferred, since they
  // are certainly unused afterwards. Of arguments later ones are preferred, as the old value of a
  // variable is read by its update: not every donation of the plan happens at run time.
  void join(int32_t step, const TileGroup& group, bool may_donate) {
    std::unordered_map<int32_t, int> reads;  // number of reads per slot by this step
    for_each_view(plan_.steps[step], [&](const View& view, bool write) {
      if (!write) ++reads[find(view.slot)];
    });
    const std::vector<int32_t> last = last_reads(group);
    std::vector<int32_t> loads;  // that may be taken, by last read
    for (auto k = static_cast<int32_t>(group.loads.size()); k-- > 0;) {
      const int32_t slot = find(group.loads[k].slot);
      if (reads[slot] == 1 && lives_[slot].last == step && is_whole(plan_, group.loads[k])) {
        loads.push_back(k);
      }
    }
    std::stable_sort(loads.begin(), loads.end(),
                     [&](int32_t x, int32_t y) { return last[x] < last[y]; });
    std::vector<const Store*> stores;
    for (const Store& store : group.stores) stores.push_back(&store);
    std::stable_sort(stores.begin(), stores.end(),
                     [](const Store* x, const Store* y) { return x->value < y->value; });
    std::map<std::pair<DType, int64_t>, Free> free;
    auto next = loads.begin();
    for (const Store* store : stores) {
      for (; next != loads.end() && last[*next] <= store->value; ++next) {
        const View& load = group.loads[*next];
        const int32_t from = find(load.slot);
        const Slot& slot = plan_.slots[from];
        Free& same = free[{load.dtype, slot.bytes}];
        if (slot.kind == SlotKind::Temporary) same.temporaries.push_back(from);
        const bool argument = slot.kind == SlotKind::Argument && may_donate;
        if (argument && !donated_[slot.index]) same.arguments.push_back(from);
      }
      const int32_t to = find(store->view.slot);
      const Slot& target = plan_.slots[to];
      if (lives_[to].first != step || !is_whole(plan_, store->view)) continue;
      Free& same = free[{store->view.dtype, target.bytes}];
      const auto ended = [&](int32_t from) {
        return lives_[from].last < step || std::find(same.arguments.begin(), same.arguments.end(),
                                                     from) != same.arguments.end();
      };
      const int32_t own = replaced_.empty() ? -1 : replaced_[to];
      if (own >= 0 && may_donate && may_take(to, own) && ended(own)) {
        donate(to, own, step);
      } else if (!same.temporaries.empty()) {
        share(to, same.temporaries.back());
        same.temporaries.pop_back();
      } else if (!same.arguments.empty() && may_take(to, same.arguments.back())) {
        donate(to, same.arguments.back(), step);
        same.arguments.pop_back();
      }
    }
  }

  // A copy of an argument at its last read (the base of an update by positions) is unnecessary if
  // the result takes the argument's memory. `write` is the first step that writes there.
  void keep_base(int32_t step, int32_t write) {
    const auto* copy = std::get_if<Layout>(&plan_.steps[step].work);
    if (!copy || copy->clear || copy->add) return;
    if (!is_whole(plan_, copy->in) || !is_whole(plan_, copy->out)) return;
    const int32_t from = find(copy->in.slot);
    const int32_t to = find(copy->out.slot);
    if (lives_[from].last == step && lives_[to].first == step && may_take(to, from)) {
      donate(to, from, write);
    }
  }

  // Merges `to`, first written by a step, with the temporary `from`, last read by it. The output
  // stays, or else the older temporary.
  void share(int32_t to, int32_t from) {
    const bool output = plan_.slots[to].kind == SlotKind::Output;
    const int32_t stays = output ? to : from;
    const int32_t goes = output ? from : to;
    lives_[stays] = {lives_[from].first, lives_[to].last};
    lives_[goes] = {};
    memory_of_[goes] = stays;
  }

  // Lets output `to` take the memory of argument `from` at run time.
  void donate(int32_t to, int32_t from, int32_t step) {
    const auto argument = static_cast<int32_t>(plan_.slots[from].index);
    plan_.donated_arguments[plan_.slots[to].index] = argument;
    donated_[argument] = 1;
    plan_.point_of_no_return = std::min(plan_.point_of_no_return, step);
  }

  Plan& plan_;
  std::vector<Lifetime>& lives_;
  std::vector<int32_t> memory_of_;
  std::vector<uint8_t> donated_;
  std::vector<int32_t> replaced_;  // per slot, the argument that it replaces; empty: unknown
};

// Places each temporary for its lifetime by best fit.
void place_temporaries(Plan* plan, const std::vector<Lifetime>& lives) {
  std::vector<std::pair<int64_t, int32_t>> events;  // twice the step, odd at the end of a lifetime;
                                                    // slot
  for (int32_t s = 0; s < static_cast<int32_t>(plan->slots.size()); ++s) {
    if (plan->slots[s].kind != SlotKind::Temporary || lives[s].first < 0) continue;
    events.emplace_back(int64_t{2} * lives[s].first, s);
    events.emplace_back(int64_t{2} * lives[s].last + 1, s);
  }
  std::sort(events.begin(), events.end());
  Gaps gaps;
  for (const auto& [when, s] : events) {
    Slot& slot = plan->slots[s];
    if (slot.bytes > kLargestBlock) out_of_memory(slot.bytes);
    const int64_t size = (slot.bytes + kAlign - 1) / kAlign * kAlign;
    if (size == 0) continue;
    if (when % 2) {
      gaps.give(slot.index, size);
    } else {
      slot.index = gaps.take(size);
    }
  }
  plan->arena_bytes = gaps.end();
}

}  // namespace

void plan_memory(Plan* plan) {
  std::vector<Lifetime> lives = find_lifetimes(*plan);
  InPlace(plan, &lives).run();
  place_temporaries(plan, lives);
}

}  // namespace pullback
