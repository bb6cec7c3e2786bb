// Lowering: the state of one lowering. lower.cpp makes slots and tile groups, lower_steps.cpp all
// other steps, lower_control.cpp loops, branches and routines. Nodes are referred to by their
// position in the snapshot. Start at Lowering::run.
#pragma once

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/passes/fuse.h"
#include "plan/passes/kept_products.h"
#include "plan/plan.h"

namespace pullback {

class Lowering {
 public:
  Lowering(const Analysis& analysis, const Fusion& fusion)
      : analysis_(analysis),
        fusion_(fusion),
        nodes_(analysis.snapshot->nodes),
        slot_(nodes_.size(), -1),
        scalar_(nodes_.size()),
        value_(nodes_.size(), -1) {}

  Plan run();

 private:
  class Leaves;

  void add_step(Work work, Op source) {
    plan_.steps.push_back({std::move(work), source, composites_[named_], labels_});
  }
  std::vector<Label> labels_of(std::span<const uint32_t> members) const;
  View view_of(const Read& read);
  // All of a node's own memory, in its shape.
  View whole_view(uint32_t position) {
    return {slot_of(position), nodes_[position]->dtype, whole(nodes_[position]->shape)};
  }

  int32_t add_slot(SlotKind kind, DType dtype, int64_t bytes);
  int32_t slot_of(uint32_t position);
  bool can_recompute(uint32_t reader, const Read& read) const;
  void store(const Read& read);
  void find_stored();
  void find_repeated();
  void find_shared();
  RunScalar run_scalar(const Read& read) const {
    return scalar_[read.base].value_or(RunScalar{-1});
  }
  ScalarLoad scalar_load(uint32_t position) const;
  DType computed_dtype(uint32_t member) const;
  bool emit_copy(uint32_t member);
  TileGroup tiles(uint32_t group_number, Op* source);
  void find_composites();

  View operand(uint32_t member, size_t k);
  View dense_operand(uint32_t member, size_t k);
  void emit_other(uint32_t member);
  View place_of(const Node* node);
  void copy_base(uint32_t member);
  View three_axes(uint32_t member, size_t k, int64_t axis, int64_t count);
  void emit_random(uint32_t member);
  void emit_indexed(uint32_t member);
  void emit_slices(uint32_t member);
  void emit_matmul(uint32_t member);
  void emit_concat(uint32_t member);
  void emit_windows(uint32_t member);

  // In lower_control.cpp.
  void find_outputs();
  std::vector<const Node*>& outputs_of(uint32_t member);
  std::vector<BodyInput> bind_operands(uint32_t member);
  std::vector<std::optional<View>> bind_outputs(std::span<const Node* const> outputs);
  std::vector<uint8_t> wanted_roots(uint32_t member);
  void find_kept();
  void emit_loop(uint32_t member);
  void emit_branch(uint32_t member);
  void emit_routine(uint32_t member);

  const Analysis& analysis_;
  const Fusion& fusion_;
  const std::vector<Node*>& nodes_;
  Plan plan_;
  std::vector<int32_t> slot_;                     // per node
  std::vector<int32_t> shares_;                   // per node: the later node that uses its memory
  std::vector<uint32_t> memory_of_;               // per node: the last node that uses its memory
  std::vector<std::optional<RunScalar>> scalar_;  // per node that a run provides
  std::vector<int32_t> value_;                    // per node: its number in the current group
  std::vector<Composite> composites_;  // per node: the outermost composite that it is inside of
  uint32_t named_ = 0;                 // the node that the next step is named after
  std::vector<Label> labels_;          // of the next step
  std::vector<uint8_t> stored_;  // per node: stored, because another group reads it or it leaves
                                 // the plan
  std::vector<uint8_t> recomputed_;  // per node: computed again in every group that reads it
  std::unordered_map<uint32_t, std::vector<const Node*>> outputs_;  // of operations, by number
  // Of loops: see find_kept_products.
  std::unordered_map<const Node*, std::vector<StackedNode>> kept_outputs_, kept_inputs_;
};

}  // namespace pullback
