// Finds for each node of a body the set of inputs that it depends on, and keeps those of the roots.
#include "graph/body_dependence.h"

#include <algorithm>
#include <unordered_map>

#include "graph/walk.h"

namespace pullback {

BodyDependence::BodyDependence(const Body& body)
    : inputs_(body.inputs.size()), roots_(body.roots.size()), words_((inputs_ + 63) / 64) {
  std::vector<Node*> nodes;
  walk(pointers(body.roots), &nodes, [](const Node* node) { return node->inputs(); });
  std::vector<uint64_t> sets(nodes.size() * words_);  // by Node::index
  std::unordered_map<const Node*, size_t> positions;
  for (size_t i = 0; i < inputs_; ++i) positions[body.inputs[i].get()] = i;
  for (size_t n = 0; n < nodes.size(); ++n) {
    uint64_t* set = sets.data() + n * words_;
    const auto found = positions.find(nodes[n]);
    if (found != positions.end()) set[found->second / 64] |= uint64_t{1} << found->second % 64;
    for (const Node* input : nodes[n]->inputs()) {
      const uint64_t* from = sets.data() + input->index * words_;
      for (size_t w = 0; w < words_; ++w) set[w] |= from[w];
    }
    // The results of a composite without a rule depend on the operations inside of them.
    const bool named = nodes[n]->op == Op::custom_call && !nodes[n]->rule;
    exact_ &= named || !is_operation(nodes[n]->op);
  }
  sets_.reserve(roots_ * words_);
  for (const Node* root : pointers(body.roots)) {
    const uint64_t* set = sets.data() + root->index * words_;
    sets_.insert(sets_.end(), set, set + words_);
  }
}

Flags BodyDependence::inputs_of(const Flags& roots) const {
  Flags out(inputs_);
  for (size_t k = 0; k < roots_; ++k) {
    for (size_t i = 0; roots[k] && i < inputs_; ++i) out[i] |= depends(k, i);
  }
  return out;
}

Flags BodyDependence::roots_of(const Flags& inputs) const {
  Flags out(roots_);
  for (size_t i = 0; i < inputs_; ++i) {
    for (size_t k = 0; inputs[i] && k < roots_; ++k) out[k] |= depends(k, i);
  }
  return out;
}

Flags BodyDependence::iterated(Flags inputs, const Flags& allowed) const {
  std::vector<size_t> pending;
  for (size_t i = 0; i < inputs_; ++i) {
    if (inputs[i]) pending.push_back(i);
  }
  while (!pending.empty()) {
    const size_t i = pending.back();
    pending.pop_back();
    for (size_t k = 0; k < allowed.size(); ++k) {
      if (!allowed[k] || inputs[k] || !depends(k, i)) continue;
      inputs[k] = 1;
      pending.push_back(k);
    }
  }
  return inputs;
}

}  // namespace pullback
