// Lowers operations with several outputs: operands in memory, the outputs that are read, and the
// plans of the bodies of loops and branches.
#include <algorithm>
#include <iterator>

#include "graph/callback_origin.h"
#include "graph/operation.h"
#include "ops/body.h"
#include "plan/passes/bodies.h"
#include "plan/passes/lowering.h"

namespace pullback {

// For each operation, its computed outputs by number; null for the others.
void Lowering::find_outputs() {
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (analysis_.kind[i] != Analysis::Other || nodes_[i]->op != Op::output) continue;
    outputs_of(analysis_.reads(i)[0].base)[nodes_[i]->output] = nodes_[i];
  }
}

std::vector<const Node*>& Lowering::outputs_of(uint32_t member) {
  std::vector<const Node*>& out = outputs_[member];
  out.resize(nodes_[member]->operation->outputs.size());
  return out;
}

// Draws and callbacks are scalars of the run; everything else has memory.
std::vector<BodyInput> Lowering::bind_operands(uint32_t member) {
  const Node* node = nodes_[member];
  std::vector<BodyInput> out;
  for (size_t k = 0; k < node->inputs_count; ++k) {
    if (is_run_scalar(node->inputs()[k])) {
      out.push_back(run_scalar(analysis_.reads(member)[k]));
    } else {
      out.push_back(dense_operand(member, k));
    }
  }
  return out;
}

std::vector<std::optional<View>> Lowering::bind_outputs(std::span<const Node* const> outputs) {
  std::vector<std::optional<View>> out(outputs.size());
  for (size_t k = 0; k < out.size(); ++k) {
    if (outputs[k]) out[k] = whole_view(outputs[k]->index);
  }
  return out;
}

// All carries are computed; a stacked output is if it is read.
std::vector<uint8_t> Lowering::wanted_roots(uint32_t member) {
  const Operation& operation = *nodes_[member]->operation;
  const std::vector<const Node*>& outputs = outputs_of(member);
  std::vector<uint8_t> wanted(operation.bodies[0]->roots.size(), 1);
  for (size_t k = operation.loop.carries; k < wanted.size(); ++k) wanted[k] = outputs[k] != nullptr;
  return wanted;
}

void Lowering::find_kept() {
  std::vector<LoopRoots> loops;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    if (analysis_.kind[i] == Analysis::Other && nodes_[i]->op == Op::loop) {
      loops.push_back({nodes_[i], wanted_roots(i)});
    }
  }
  for (const KeptProduct& kept : find_kept_products(loops)) {
    std::vector<StackedNode>& outputs = kept_outputs_[kept.loop];
    auto found = std::ranges::find(outputs, kept.node, &StackedNode::node);
    if (found == outputs.end()) {
      const int64_t trips = kept.loop->operation->loop.trips;
      const TensorType type = stacked(kept.node, trips);
      const int32_t slot = add_slot(SlotKind::Temporary, type.dtype, trips * kept.node->bytes());
      outputs.push_back({kept.node, {slot, type.dtype, whole(type.shape)}});
      found = std::prev(outputs.end());
    }
    kept_inputs_[kept.reverse].push_back(*found);
  }
}

void Lowering::emit_loop(uint32_t member) {
  const Operation& operation = *nodes_[member]->operation;
  const LoopForm& form = operation.loop;
  const std::vector<const Node*>& outputs = outputs_of(member);
  const Body& body = *operation.bodies[0];
  std::vector<uint8_t> wanted = wanted_roots(member);
  const std::vector<StackedNode>& kept_outputs = kept_outputs_[nodes_[member]];
  const std::vector<StackedNode>& kept_inputs = kept_inputs_[nodes_[member]];
  Loop loop;
  if (kept_outputs.empty() && kept_inputs.empty()) {
    loop.body = plan_of(body, wanted, operation.inputs[0]);
  } else {
    const ExtendedBody extended = extend_body(operation, kept_outputs, kept_inputs);
    wanted.resize(extended.body->roots.size(), 1);
    loop.body = plan_of(*extended.body, wanted, extended.sources);
  }
  const auto bytes_of_root = [](const NodeRef& root) {
    return root->shape.size() * size_of(root->dtype);
  };
  if (operation.replays()) {
    const Body& replayed = *operation.bodies[1];
    loop.residuals = operation.residuals;
    for (size_t k = 0; k < replayed.roots.size(); ++k) {
      loop.replayed_from.push_back(operation.inputs[1][k].number);
      loop.replayed_bytes.push_back(bytes_of_root(replayed.roots[k]));
    }
    const std::vector<uint8_t> all(replayed.roots.size(), 1);
    loop.replayed = plan_of(replayed, all, operation.inputs[1]);
    loop.memory = form.memory;
  } else if (form.end == LoopEnd::Condition) {
    const uint8_t one = 1;
    loop.condition = plan_of(*operation.bodies[1], {&one, 1}, operation.inputs[1]);
  }
  for (int32_t k = 0; k < form.carries; ++k) {
    loop.carry_bytes.push_back(bytes_of_root(body.roots[k]));
  }
  loop.stacked_in = form.stacked_in + static_cast<int32_t>(kept_inputs.size());
  loop.stacked_out = form.stacked_out + static_cast<int32_t>(kept_outputs.size());
  if (form.has_trips()) loop.trips = form.trips;
  loop.counted = form.end == LoopEnd::Count;
  loop.reversed = form.reversed;
  loop.in = bind_operands(member);
  loop.out = bind_outputs(outputs);
  const auto insert = [](auto* views, int32_t at, const auto& kept) {
    for (const StackedNode& one : kept) views->insert(views->begin() + at++, one.view);
  };
  insert(&loop.in, form.carries + form.stacked_in, kept_inputs);
  insert(&loop.out, form.carries + form.stacked_out, kept_outputs);
  add_step(std::move(loop), Op::loop);
}

void Lowering::emit_branch(uint32_t member) {
  const Operation& operation = *nodes_[member]->operation;
  const std::vector<const Node*>& outputs = outputs_of(member);
  std::vector<uint8_t> wanted;
  for (const Node* output : outputs) wanted.push_back(output != nullptr);
  Branch branch;
  for (size_t b = 0; b < operation.bodies.size(); ++b) {
    branch.choices.push_back(plan_of(*operation.bodies[b], wanted, operation.inputs[b]));
  }
  branch.in = bind_operands(member);
  branch.out = bind_outputs(outputs);
  add_step(std::move(branch), Op::branch);
}

void Lowering::emit_routine(uint32_t member) {
  const Node* node = nodes_[member];
  LibraryCall call{node->operation->form, node->operation->batch, {}, {}};
  for (size_t k = 0; k < node->inputs_count; ++k) call.in.push_back(dense_operand(member, k));
  call.out = bind_outputs(outputs_of(member));
  add_step(std::move(call), Op::routine);
}

}  // namespace pullback
