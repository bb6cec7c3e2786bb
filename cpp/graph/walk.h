// The traversal of the graph: walk() collects the nodes that are reachable from some roots,
// iteratively, in creation order. Every pass uses it.
//
// It marks nodes with an epoch and numbers them in Node::index, so two walks must not overlap: a
// callback does not start another one. Under the interpreter lock.
#pragma once

#include <span>
#include <vector>

#include "graph/node.h"

namespace pullback {

// A new epoch for Node::mark. Marks of older epochs are stale, so nothing is cleared until the
// numbers have all been used.
uint32_t new_epoch();
// For tests: the number before the next epoch.
void set_epoch(uint32_t epoch);

// By the number of creation.
void sort_by_creation(std::span<Node*> nodes);

// Appends every node reachable from `roots` to `out` in creation order (inputs before users) and
// numbers them in Node::index. `inputs(node)` returns the edges to follow from a node (a span
// of Node*); an empty span makes it a leaf.
template <class Inputs>
void walk(std::span<Node* const> roots, std::vector<Node*>* out, Inputs&& inputs) {
  const uint32_t epoch = new_epoch();
  const size_t begin = out->size();
  if (begin == 0) out->reserve(32);  // most graphs are small
  for (Node* root : roots) {
    if (root->mark == epoch) continue;
    root->mark = epoch;
    out->push_back(root);
  }
  for (size_t i = begin; i < out->size(); ++i) {
    for (Node* input : inputs((*out)[i])) {
      if (input->mark == epoch) continue;
      input->mark = epoch;
      out->push_back(input);
    }
  }
  sort_by_creation(std::span(*out).subspan(begin));
  for (size_t i = begin; i < out->size(); ++i) (*out)[i]->index = static_cast<uint32_t>(i - begin);
}

// Edges that carry values: the inputs that must be computed before the node.
inline std::span<Node* const> value_inputs(const Node* node) {
  auto all = node->inputs();
  const bool first = node->op == Op::custom || node->op == Op::result;
  return first && !all.empty() ? all.first(1) : all;
}

// Edges that carry gradients only: the inputs of a node with a rule that get its cotangents. Those
// of a result belong to its operation.
inline std::span<Node* const> rule_inputs(const Node* node) {
  const auto all = node->inputs();
  if (node->op == Op::custom && !all.empty()) return all.subspan(1);
  return node->op == Op::custom_call ? all : all.first(0);
}

// The operation of which a node is an output: of a composite with several results, their call. Null
// for any other node.
inline Node* operation_of(const Node* node) {
  if (node->op == Op::custom) {
    const bool one = node->inputs_count == 2 && node->in[1]->op == Op::custom_call;
    return one ? node->in[1] : nullptr;
  }
  const bool one = node->op == Op::result || node->op == Op::output;
  return one && node->inputs_count > 0 ? node->inputs().back() : nullptr;
}

// The tensors that a composite was given.
inline std::span<Node* const> given_inputs(const Node* node) {
  return rule_inputs(operation_of(node) ? operation_of(node) : node);
}

}  // namespace pullback
