// Makes slots and tile groups. A value that another group reads is stored, or computed again if
// that is cheaper. Values of a group are numbered loads first, then scalars.
#include "plan/passes/lower.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "graph/recorder.h"
#include "graph/walk.h"
#include "ops/reduce.h"
#include "plan/passes/cache.h"
#include "plan/passes/lowering.h"

namespace pullback {

Plan Lowering::run() {
  const Snapshot& s = *analysis_.snapshot;
  plan_.scalars = static_cast<int32_t>(s.scalars.size());
  for (size_t k = 0; k < s.scalars.size(); ++k) {
    scalar_[s.scalars[k]] = RunScalar{static_cast<int32_t>(k)};
  }
  for (size_t k = 0; k < s.arguments.size(); ++k) {
    const Node* node = nodes_[s.arguments[k]];
    slot_[s.arguments[k]] = add_slot(SlotKind::Argument, node->dtype, node->bytes());
    plan_.slots.back().index = static_cast<int64_t>(k);
    plan_.arguments.push_back(slot_[s.arguments[k]]);
  }
  find_stored();
  find_shared();
  find_outputs();
  find_kept();
  find_composites();
  for (uint32_t g = 0; g < fusion_.groups.size(); ++g) {
    const FusionGroup& fused = fusion_.groups[g];
    named_ = fused.members[0];
    labels_ = labels_of(fused.members);
    if (!fused.tiles) {
      emit_other(fused.members[0]);
      if (fused.epilogue < 0) continue;
      std::vector<Label>& labels = plan_.steps.back().labels;
      const auto more = labels_of(fusion_.groups[g + 1].members);
      labels.insert(labels.end(), more.begin(), more.end());
      Op source;
      TileGroup group = tiles(++g, &source);
      std::visit(
          [&](auto& work) {
            if constexpr (requires { work.epilogue; }) work.epilogue = std::move(group);
          },
          plan_.steps.back().work);
      continue;
    }
    if (fused.members.size() == 1 && emit_copy(fused.members[0])) continue;
    Op source;
    TileGroup group = tiles(g, &source);
    if (group.count > 0 || !group.reductions.empty()) add_step(std::move(group), source);
  }
  for (uint32_t position : s.outputs)
    plan_.outputs.push_back(slot_[analysis_.source[position].base]);
  plan_.replaced = s.replaced;
  return std::move(plan_);
}

int32_t Lowering::add_slot(SlotKind kind, DType dtype, int64_t bytes) {
  Slot slot{kind, dtype};
  slot.bytes = bytes;
  plan_.slots.push_back(slot);
  return static_cast<int32_t>(plan_.slots.size()) - 1;
}

// The slot of a computed node, made with its step.
int32_t Lowering::slot_of(uint32_t position) {
  position = memory_of_[position];
  int32_t& slot = slot_[position];
  if (slot < 0) {
    const Node* node = nodes_[position];
    if (analysis_.kind[position] == Analysis::Number) {  // one element, for any shape
      slot = add_slot(SlotKind::Temporary, node->dtype, size_of(node->dtype));
    } else if (analysis_.stored[position]) {
      slot = add_slot(SlotKind::Output, node->dtype, node->bytes());
      plan_.slots.back().index = static_cast<int64_t>(plan_.output_bytes.size());
      plan_.output_bytes.push_back(node->bytes());
    } else {
      slot = add_slot(SlotKind::Temporary, node->dtype, node->bytes());
    }
  }
  return slot;
}

View Lowering::view_of(const Read& read) {
  return {slot_of(read.base), nodes_[read.base]->dtype, analysis_.strided(read)};
}

bool Lowering::can_recompute(uint32_t reader, const Read& read) const {
  const FusionGroup& fused = fusion_.groups[fusion_.group_of[reader]];
  return fused.tiles && fused.count == nodes_[read.base]->shape.size() && analysis_.is_flat(read) &&
         analysis_.kind[reader] == Analysis::Elementwise && !fusion_.domains.row[reader];
}

// A value that another group reads is in memory, or can be computed again from values in memory.
void Lowering::store(const Read& read) {
  if (!recomputed_[read.base]) {
    stored_[read.base] |= analysis_.computed(read.base);
  } else {
    for (const Read& below : analysis_.reads(read.base)) store(below);
  }
}

// Values that another group reads, or that leave the plan, are stored, unless every reader computes
// them again at less cost.
void Lowering::find_stored() {
  stored_ = analysis_.stored;
  recomputed_ = fusion_.cheap;
  const auto outside = [&](uint32_t i, const Read& read) {
    return analysis_.computed(read.base) && fusion_.group_of[read.base] != fusion_.group_of[i];
  };
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const Read& read : analysis_.reads(i)) {
      if (outside(i, read) && !can_recompute(i, read)) recomputed_[read.base] = 0;
    }
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const Read& read : analysis_.reads(i)) {
      if (outside(i, read)) store(read);
    }
  }
  find_repeated();
}

// Large results of arithmetic on values that are in memory anyway are computed again instead of
// stored, by groups that read no more for it: all operands but one are read there already.
void Lowering::find_repeated() {
  constexpr int64_t kLarge = 256 * 1024;                       // elements: fewer stay in a cache
  std::unordered_map<uint32_t, std::vector<int32_t>> readers;  // of candidates: groups
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (stored_[i] && !analysis_.stored[i] && analysis_.kind[i] == Analysis::Elementwise &&
        !fusion_.domains.row[i] && analysis_.elements(i) >= kLarge &&
        traits(nodes_[i]->op).cost == Cost::Arithmetic) {
      readers[i];
    }
  }
  if (readers.empty()) return;
  std::unordered_set<uint64_t> read_by;  // group and node
  const auto key = [](int32_t group, uint32_t base) {
    return static_cast<uint64_t>(group) << 32 | base;
  };
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const Read& read : analysis_.reads(i)) {
      const int32_t group = fusion_.group_of[i];
      read_by.insert(key(group, read.base));
      const auto found = readers.find(read.base);
      if (found == readers.end() || fusion_.group_of[read.base] == group) continue;
      if (can_recompute(i, read)) {
        found->second.push_back(group);
      } else {
        readers.erase(found);
      }
    }
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const auto found = readers.find(i);
    if (found == readers.end()) continue;
    const auto is_small = [&](const Read& read) {
      return analysis_.elements(read.base) <= analysis_.elements(i) / 16;
    };
    const auto reads = analysis_.reads(i);
    const bool in_memory = std::ranges::all_of(reads, [&](const Read& read) {
      return is_small(read) || analysis_.kind[read.base] == Analysis::Input ||
             (stored_[read.base] && !recomputed_[read.base]);
    });
    const bool read_there = std::ranges::all_of(found->second, [&](int32_t group) {
      return 1 >= std::ranges::count_if(reads, [&](const Read& read) {
               return !is_small(read) && !read_by.contains(key(group, read.base));
             });
    });
    if (!in_memory || !read_there) continue;
    recomputed_[i] = 1;
    stored_[i] = 0;
  }
}

// at_slice and at_index write to the memory of their base if it is not needed afterwards.
void Lowering::find_shared() {
  shares_.assign(nodes_.size(), -1);
  std::vector<int32_t> last(nodes_.size(), -1);  // last group that reads each node
  const auto use = [&](const Read& read, int32_t group, const auto& self) -> void {
    last[read.base] = std::max(last[read.base], group);
    if (!recomputed_[read.base] || fusion_.group_of[read.base] == group) return;
    for (const Read& below : analysis_.reads(read.base)) self(below, group, self);
  };
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    for (const Read& read : analysis_.reads(i)) use(read, fusion_.group_of[i], use);
  }
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (analysis_.kind[i] != Analysis::Other) continue;
    if (nodes_[i]->op != Op::at_slice && nodes_[i]->op != Op::at_index) continue;
    const auto operands = analysis_.reads(i);
    const Read& base = operands[0];
    const bool also_else = std::any_of(operands.begin() + 1, operands.end(),
                                       [&](const auto& o) { return o.base == base.base; });
    if (analysis_.computed(base.base) && !analysis_.stored[base.base] && analysis_.is_flat(base) &&
        last[base.base] == fusion_.group_of[i] && !also_else) {
      shares_[base.base] = static_cast<int32_t>(i);
    }
  }
  memory_of_.resize(nodes_.size());
  for (size_t i = nodes_.size(); i-- > 0;) {
    memory_of_[i] = shares_[i] < 0 ? static_cast<uint32_t>(i) : memory_of_[shares_[i]];
  }
}

ScalarLoad Lowering::scalar_load(uint32_t position) const {
  return {scalar_[position], nodes_[position]->dtype, analysis_.value[position]};
}

// Loads and scalars of a group, which are collected first because their numbers come first.
class Lowering::Leaves {
 public:
  Leaves(Lowering* lowering, TileGroup* group) : lowering_(*lowering), group_(*group) {}

  void add(const Read& read) {
    if (lowering_.recomputed_[read.base]) {
      for (const Read& below : lowering_.analysis_.reads(read.base)) add(below);
    } else if (lowering_.analysis_.kind[read.base] == Analysis::Number) {
      int32_t& number = lowering_.value_[read.base];
      if (number >= 0) return;
      number = static_cast<int32_t>(group_.scalars.size());
      group_.scalars.push_back(lowering_.scalar_load(read.base));
      numbers_.push_back(read.base);
    } else if (find(read) < 0) {
      known_.emplace(key(read), static_cast<int32_t>(group_.loads.size()));
      group_.loads.push_back(lowering_.view_of(read));
    }
  }
  // The number of a value, after all were added.
  int32_t number(const Read& read) const {
    if (lowering_.analysis_.kind[read.base] != Analysis::Number) return find(read);
    return static_cast<int32_t>(group_.loads.size()) + lowering_.value_[read.base];
  }
  ~Leaves() {
    for (uint32_t position : numbers_) lowering_.value_[position] = -1;
  }

 private:
  // Nodes that share memory have one slot.
  uint64_t key(const Read& read) const {
    return static_cast<uint64_t>(lowering_.slot_of(read.base)) << 32 | read.view;
  }
  int32_t find(const Read& read) const {
    const auto found = known_.find(key(read));
    return found == known_.end() ? -1 : found->second;
  }

  Lowering& lowering_;
  TileGroup& group_;
  std::unordered_map<uint64_t, int32_t> known_;
  std::vector<uint32_t> numbers_;
};

// The dtype in which a member computes; for `where`, the dtype of its branches.
DType Lowering::computed_dtype(uint32_t member) const {
  if (analysis_.kind[member] == Analysis::Place || analysis_.kind[member] == Analysis::Copy) {
    return nodes_[member]->dtype;
  }
  return nodes_[analysis_.reads(member)[nodes_[member]->op == Op::where].base]->dtype;
}

// A view that must be copied and is the only member of its group: copied by blocks, which tiles are
// not.
bool Lowering::emit_copy(uint32_t member) {
  if (analysis_.kind[member] != Analysis::Copy) return false;
  const Read& read = analysis_.reads(member)[0];
  if (analysis_.kind[read.base] == Analysis::Number) return false;
  const View out{slot_of(member), nodes_[member]->dtype, whole(analysis_.strided(read).shape)};
  add_step(Layout{view_of(read), out}, nodes_[member]->op);
  return true;
}

// From the last node to the first, so that the outermost of nested composites is found first.
void Lowering::find_composites() {
  composites_.assign(nodes_.size(), Composite::None);
  std::vector<uint32_t> pending;
  std::vector<uint32_t> given_to(nodes_.size(), 0);  // number of the last one that it was given to
  uint32_t number = 0;
  const Node* last_call = nullptr;
  for (auto i = static_cast<uint32_t>(nodes_.size()); i-- > 0;) {
    const Node* node = nodes_[i];
    if (node->attr.composite == Composite::None || composites_[i] != Composite::None) continue;
    const Node* call = operation_of(node);
    if (!call || call != last_call) {  // results of one call were given the same
      ++number;
      for (const Node* input : given_inputs(node)) {
        if (analysis_.snapshot->has(input)) given_to[input->index] = number;
      }
    }
    last_call = call;
    pending.push_back(i);
    while (!pending.empty()) {
      const uint32_t at = pending.back();
      pending.pop_back();
      if (is_input(nodes_[at])) continue;
      composites_[at] = node->attr.composite;
      for (const Node* input : value_inputs(nodes_[at])) {
        const uint32_t below = input->index;
        if (given_to[below] == number || composites_[below] != Composite::None) continue;
        pending.push_back(below);
      }
    }
  }
}

std::vector<Label> Lowering::labels_of(std::span<const uint32_t> members) const {
  std::vector<Label> out;
  if (!locating_plans && !analysis_.snapshot->has_sites) return out;
  std::vector<uint32_t> order(members.begin(), members.end());
  std::ranges::stable_sort(order, std::greater(), [&](uint32_t i) {
    const Cost cost = traits(nodes_[i]->op).cost;
    return cost == Cost::Copy || cost == Cost::Fold ? Cost::Arithmetic : cost;
  });
  for (const uint32_t i : order) {
    out.push_back({nodes_[i]->op, composites_[i], site_number(nodes_[i])});
  }
  return out;
}

TileGroup Lowering::tiles(uint32_t group_number, Op* source) {
  const FusionGroup& fused = fusion_.groups[group_number];
  TileGroup group;
  group.count = fused.count;
  group.length = fused.length;
  const auto outside = [&](const Read& read) {
    return fusion_.group_of[read.base] != static_cast<int32_t>(group_number);
  };
  Leaves leaves(this, &group);
  for (uint32_t member : fused.members) {
    for (const Read& read : analysis_.reads(member)) {
      if (outside(read)) leaves.add(read);
    }
  }
  const auto first = static_cast<int32_t>(group.loads.size() + group.scalars.size());
  // The number of a value from outside: of its load, or of the instruction that computes it again.
  std::unordered_map<uint32_t, int32_t> made;
  const auto number_of = [&](const Read& read, const auto& self) -> int32_t {
    const uint32_t base = read.base;
    if (!recomputed_[base]) return leaves.number(read);
    if (const auto known = made.find(base); known != made.end()) return known->second;
    Instruction instruction{nodes_[base]->op, computed_dtype(base), nodes_[base]->dtype};
    const auto below = analysis_.reads(base);
    for (const Read& one : below) instruction.in.push_back(self(one, self));
    group.instructions.push_back(instruction);
    return made[base] = first + static_cast<int32_t>(group.instructions.size()) - 1;
  };
  *source = Op::count;
  for (uint32_t member : fused.members) {
    const Node* node = nodes_[member];
    if (*source == Op::count || is_elementwise(node->op)) {
      *source = node->op;
      named_ = member;
    }
    Instruction::Inputs in;
    const auto reads = analysis_.reads(member);
    for (const Read& read : reads) {
      in.push_back(outside(read) ? number_of(read, number_of) : value_[read.base]);
    }
    const FoldKind fold = fusion_.domains.fold[member];
    if (fold == FoldKind::End || fold == FoldKind::General) {
      const FoldedShape f = folded_shape(analysis_.strided(reads[0]).shape, node->attr.axes);
      group.reductions.push_back({node->op, in[0], nodes_[reads[0].base]->dtype, f.outer, f.reduced,
                                  f.inner, whole_view(member)});
      *source = node->op;
      named_ = member;
      continue;
    }
    const bool row = fusion_.domains.row[member] != 0;
    const bool spreads = !outside(reads[0]) && !row && fusion_.domains.row[reads[0].base];
    if (analysis_.kind[member] == Analysis::Copy && !spreads) {
      value_[member] = in[0];
    } else {
      value_[member] = first + static_cast<int32_t>(group.instructions.size());
      group.instructions.push_back({analysis_.kind[member] == Analysis::Copy ? Op::cast : node->op,
                                    computed_dtype(member), node->dtype, in, row});
    }
    if (stored_[member]) group.stores.push_back({value_[member], whole_view(member)});
  }
  return group;
}

Plan lower(const Analysis& analysis, const Fusion& fusion) {
  return Lowering(analysis, fusion).run();
}

}  // namespace pullback
