// copy_node: a copy takes over all properties of a node except its number, flags and depth. A read
// keeps its variable, so that gradients still find it.
#include "graph/rebuild.h"

#include <algorithm>

#include "graph/make.h"
#include "graph/operation.h"
#include "graph/recorder.h"
#include "graph/rule.h"

namespace pullback {

NodeRef copy_node(const Node* node, std::span<Node* const> inputs) {
  if (node->op == Op::scalar) {
    NodeRef copy = make_scalar(node->dtype, node->scalar, node->flags & ~kTraced);
    if (!(node->flags & kTraced)) copy->origin = node->origin;  // a callback
    return copy;
  }
  NodeRef copy = make_node(node->op, node->dtype, node->shape, inputs, node->attr);
  if (recording) record_as(copy->seq, node->seq);
  copy->output = node->output;
  copy->rule = node->rule;
  const auto tracked = [](const Node* input) { return input->tracked(); };
  if (copy->rule && std::any_of(inputs.begin(), inputs.end(), tracked)) copy->flags |= kTracked;
  copy->in_composite = node->in_composite;
  if (node->op == Op::read) {
    copy->flags |= kTracked;
    copy->variable = node->variable;
  }
  if (node->slice) copy->slice = std::make_unique<StridedSlice>(*node->slice);
  copy->operation = node->operation;
  // A draw for vmap, or an operation whose bodies draw, is traced although its inputs are not.
  const auto traced = [](const Node* input) { return (input->flags & kTraced) != 0; };
  const StepKind step = traits(node->op).step;
  const bool draws = step == StepKind::Random ||
                     (step == StepKind::Control && std::ranges::any_of(node->inputs(), is_draw));
  if (draws && std::ranges::none_of(node->inputs(), traced)) {
    copy->flags |= node->flags & kTraced;
  }
  return copy;
}

}  // namespace pullback
