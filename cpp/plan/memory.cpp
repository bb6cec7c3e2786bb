// Three passes: lifetimes; groups that write where they read (InPlace); best fit in one arena.
#include "plan/memory.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/error.h"
#include "plan/verify.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

constexpr int64_t kAlign = 64;

// Free gaps of the arena, by offset and by size: best fit, neighbours merged.
class Gaps {
 public:
  int64_t take(int64_t bytes) {
    const auto fit = by_size_.lower_bound({bytes, -1});
    if (fit == by_size_.end()) {
      if (bytes > kLargestBlock - end_) out_of_memory(bytes);
      const int64_t at = end_;
      end_ += bytes;
      if (end_ > kMaxBytes) {
        fail(ErrorKind::Memory, "cannot allocate ", end_,
             " bytes for temporary values: evaluate smaller pieces");
      }
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

// The steps that touch each slot.
void find_lifetimes(Plan* plan) {
  for (int32_t i = 0; i < static_cast<int32_t>(plan->steps.size()); ++i) {
    for_each_view(plan->steps[i], [&](const View& view, bool) {
      Slot& slot = plan->slots[view.slot];
      if (slot.first < 0) slot.first = i;
      slot.last = i;
    });
  }
}

TileGroup* group_of(Step* step) {
  if (auto* group = std::get_if<TileGroup>(&step->work)) return group;
  auto* gemm = std::get_if<Gemm>(&step->work);
  return gemm && gemm->then ? &*gemm->then : nullptr;
}

bool is_whole(const Plan& plan, const View& view) {
  const int64_t bytes = view.shape.size() * size_of(view.dtype);
  return view.offset == 0 && bytes == plan.slots[view.slot].bytes && bytes > 0 &&
         view.strides == row_major(view.shape);
}

bool can_fail(const Instruction& instruction) {
  switch (traits(instruction.op).fails) {
    case Fails::Always:
      return true;
    case Fails::Integers:
      return !is_float(instruction.dtype);
    case Fails::Never:
      break;
  }
  return false;
}

// One for each kind of step, so that a new one does not compile before it has its own.
bool can_fail(const TileGroup& group) {
  return std::any_of(group.instructions.begin(), group.instructions.end(),
                     [](const Instruction& instruction) { return can_fail(instruction); });
}
bool can_fail(const Gemm& gemm) { return gemm.then && can_fail(*gemm.then); }
bool can_fail(const Layout&) { return false; }
bool can_fail(const Gather&) { return true; }
bool can_fail(const ScatterAdd&) { return true; }
bool can_fail(const ArgReduce&) { return false; }
bool can_fail(const Random&) { return false; }
bool can_fail(const Iota&) { return false; }

bool can_fail(const Step& step) {
  return std::visit([](const auto& work) { return can_fail(work); }, step.work);
}

// Lets groups write where they read: a store takes the memory of a load that ends in the group and
// that no instruction reads after the one that makes the stored value. Between temporaries and
// outputs the two slots become one; the memory of an argument may be taken at run time (donors).
class InPlace {
 public:
  explicit InPlace(Plan* plan) : plan_(*plan), same_(plan->slots.size()) {
    for (size_t i = 0; i < same_.size(); ++i) same_[i] = static_cast<int32_t>(i);
  }

  void run() {
    plan_.donors.assign(plan_.output_bytes.size(), -1);
    donated_.assign(plan_.arguments.size(), 0);
    for (int32_t slot : plan_.outputs) {
      if (plan_.slots[slot].kind == SlotKind::Argument) donated_[plan_.slots[slot].index] = 1;
    }
    int32_t last_failing = -1;
    const auto steps = static_cast<int32_t>(plan_.steps.size());
    for (int32_t i = 0; i < steps; ++i) {
      if (can_fail(plan_.steps[i])) last_failing = i;
    }
    for (int32_t i = 0; i < steps; ++i) {
      if (TileGroup* group = group_of(&plan_.steps[i])) join(i, *group, i > last_failing);
    }
    for (Step& step : plan_.steps) {
      for_each_view(
          step, [&](const View& view, bool) { const_cast<View&>(view).slot = find(view.slot); });
    }
    for (int32_t& slot : plan_.outputs) slot = find(slot);
  }

 private:
  // Shortens the way: a chain of updates in place is as long as the program.
  int32_t find(int32_t slot) {
    while (same_[slot] != slot) slot = same_[slot] = same_[same_[slot]];
    return slot;
  }

  // The last instruction that reads each value of a group; none: -1; after all: the largest number.
  // A place clears its whole result first, so what it reads is needed after it is made.
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

  // Slots of one dtype and size whose memory a store may take, the one that is read last on top.
  struct Free {
    std::vector<int32_t> temporaries, arguments;
  };

  // Of the loads that no instruction reads after a stored value is made, a store takes the one that
  // is read last: temporaries first, since they certainly die; of arguments the late ones, as the
  // old value of a variable is by its update, since not all that could be taken may be at run time.
  void join(int32_t step, const TileGroup& group, bool may_donate) {
    std::unordered_map<int32_t, int> reads;  // of each slot by this step
    for_each_view(plan_.steps[step], [&](const View& view, bool write) {
      if (!write) ++reads[find(view.slot)];
    });
    const std::vector<int32_t> last = last_reads(group);
    std::vector<int32_t> loads;  // whose memory may be taken, in the order of their last reads
    for (auto k = static_cast<int32_t>(group.loads.size()); k-- > 0;) {
      const int32_t slot = find(group.loads[k].slot);
      if (reads[slot] == 1 && plan_.slots[slot].last == step && is_whole(plan_, group.loads[k])) {
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
      if (target.first != step || !is_whole(plan_, store->view)) continue;
      Free& same = free[{store->view.dtype, target.bytes}];
      if (!same.temporaries.empty()) {
        share(to, same.temporaries.back());
        same.temporaries.pop_back();
      } else if (!same.arguments.empty() && target.kind == SlotKind::Output &&
                 plan_.donors[target.index] < 0) {
        donate(to, same.arguments.back(), step);
        same.arguments.pop_back();
      }
    }
  }

  // Makes `to`, written first by a step, and the temporary `from`, read last by it, one memory. One
  // of them stays: an output, or the older temporary.
  void share(int32_t to, int32_t from) {
    const bool output = plan_.slots[to].kind == SlotKind::Output;
    Slot& stays = plan_.slots[output ? to : from];
    const Slot& goes = plan_.slots[output ? from : to];
    stays.first = std::min(stays.first, goes.first);
    stays.last = std::max(stays.last, goes.last);
    same_[output ? from : to] = output ? to : from;
  }

  // Lets the output `to` have the memory of the argument `from` at run time.
  void donate(int32_t to, int32_t from, int32_t step) {
    const auto argument = static_cast<int32_t>(plan_.slots[from].index);
    plan_.donors[plan_.slots[to].index] = argument;
    donated_[argument] = 1;
    plan_.point_of_no_return = std::min(plan_.point_of_no_return, step);
  }

  Plan& plan_;
  std::vector<int32_t> same_;
  std::vector<uint8_t> donated_;
};

}  // namespace

void plan_memory(Plan* plan) {
  find_lifetimes(plan);
  InPlace(plan).run();
  std::vector<std::vector<int32_t>> starts(plan->steps.size());
  std::vector<std::vector<int32_t>> ends(plan->steps.size());
  std::vector<uint8_t> used(plan->slots.size(), 0);
  for (const Step& step : plan->steps) {
    for_each_view(step, [&](const View& view, bool) { used[view.slot] = 1; });
  }
  for (int32_t s = 0; s < static_cast<int32_t>(plan->slots.size()); ++s) {
    const Slot& slot = plan->slots[s];
    if (slot.kind != SlotKind::Temporary || slot.first < 0 || !used[s]) continue;
    starts[slot.first].push_back(s);
    ends[slot.last].push_back(s);
  }
  Gaps gaps;
  const auto size = [](const Slot& slot) {
    if (slot.bytes > kLargestBlock) out_of_memory(slot.bytes);
    return (slot.bytes + kAlign - 1) / kAlign * kAlign;
  };
  for (size_t i = 0; i < plan->steps.size(); ++i) {
    for (int32_t s : starts[i]) {
      Slot& slot = plan->slots[s];
      slot.index = size(slot) ? gaps.take(size(slot)) : 0;
    }
    // A slot is free from the step after its last use on.
    for (int32_t s : ends[i]) {
      const Slot& slot = plan->slots[s];
      if (size(slot)) gaps.give(slot.index, size(slot));
    }
  }
  plan->arena_bytes = gaps.end();
}

}  // namespace pullback
