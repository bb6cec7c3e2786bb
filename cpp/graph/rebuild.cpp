// What a copy of a node takes over: all that the node says of itself. Its number, flags and depth
// are its own; a read keeps its variable, so that a gradient still finds it.
#include "graph/rebuild.h"

#include <algorithm>

#include "graph/make.h"
#include "graph/operation.h"
#include "graph/recorder.h"
#include "graph/rule.h"

namespace pullback {

Ref<Node> copy_node(const Node* node, std::span<Node* const> inputs) {
  if (node->op == Op::scalar) {
    Ref<Node> copy = make_scalar(node->dtype, node->scalar, node->flags & ~kTraced);
    if (!(node->flags & kTraced)) copy->origin = node->origin;  // a host function
    return copy;
  }
  Ref<Node> copy = make_node(node->op, node->dtype, node->shape, inputs, node->attr);
  if (recording) record_as(copy.get(), node);
  copy->output = node->output;
  copy->rule = node->rule;
  const auto tracked = [](const Node* input) { return input->tracked(); };
  if (copy->rule && std::any_of(inputs.begin(), inputs.end(), tracked)) copy->flags |= kTracked;
  copy->part = node->part;
  if (node->op == Op::read) {
    copy->flags |= kTracked;
    copy->variable = node->variable;
  }
  if (node->window) copy->window = std::make_unique<Window>(*node->window);
  copy->operation = node->operation;
  return copy;
}

}  // namespace pullback
