// Lowers operations with several outputs: operands in memory, the outputs that are read, and the
// plans of the bodies of loops and branches.
#include <algorithm>

#include "graph/callback_origin.h"
#include "graph/operation.h"
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

void Lowering::emit_loop(uint32_t member) {
  const Operation& operation = *nodes_[member]->operation;
  const LoopForm& form = operation.loop;
  const std::vector<const Node*>& outputs = outputs_of(member);
  const Body& body = *operation.bodies[0];
  std::vector<uint8_t> wanted(body.roots.size(), 1);
  for (size_t k = form.carries; k < wanted.size(); ++k) wanted[k] = outputs[k] != nullptr;
  Loop loop;
  loop.body = plan_of(body, wanted, operation.inputs[0]);
  const auto bytes_of_root = [](const NodeRef& root) {
    return root->shape.size() * size_of(root->dtype);
  };
  if (operation.replays()) {
    const Body& replayed = *operation.bodies[1];
    loop.residuals = operation.residuals;
    for (size_t k = 0; k < replayed.roots.size(); ++k) {
      loop.replayed_from.push_back(operation.inputs[1][k]);
      loop.replayed_bytes.push_back(bytes_of_root(replayed.roots[k]));
    }
    const std::vector<uint8_t> all(replayed.roots.size(), 1);
    loop.replayed = plan_of(replayed, all, operation.inputs[1]);
    loop.memory = form.memory;
  } else if (form.trips == kWhile) {
    const uint8_t one = 1;
    loop.condition = plan_of(*operation.bodies[1], {&one, 1}, operation.inputs[1]);
  }
  for (int32_t k = 0; k < form.carries; ++k) {
    loop.carry_bytes.push_back(bytes_of_root(body.roots[k]));
  }
  loop.stacked_in = form.stacked_in;
  loop.stacked_out = form.stacked_out;
  if (form.trips >= 0) loop.trips = form.trips;
  loop.counted = form.trips == kCounted;
  loop.reversed = form.reversed;
  loop.in = bind_operands(member);
  loop.out = bind_outputs(outputs);
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
