// Finds for each node of a body the set of inputs that it depends on.
#include "graph/dependence.h"

#include <unordered_map>

#include "graph/walk.h"

namespace pullback {

Dependence::Dependence(const Body& body) : inputs_(body.roots.size()), roots_(body.inputs.size()) {
  std::vector<Node*> roots, nodes;
  for (const NodeRef& root : body.roots) roots.push_back(root.get());
  walk(roots, &nodes, [](const Node* node) { return node->inputs(); });
  const size_t words = (body.inputs.size() + 63) / 64;
  std::vector<uint64_t> sets(nodes.size() * words);  // a bit for each input, by Node::index
  std::unordered_map<const Node*, size_t> positions;
  for (size_t i = 0; i < body.inputs.size(); ++i) positions[body.inputs[i].get()] = i;
  for (size_t n = 0; n < nodes.size(); ++n) {
    uint64_t* set = sets.data() + n * words;
    const auto found = positions.find(nodes[n]);
    if (found != positions.end()) set[found->second / 64] |= uint64_t{1} << found->second % 64;
    for (const Node* input : nodes[n]->inputs()) {
      const uint64_t* from = sets.data() + input->index * words;
      for (size_t w = 0; w < words; ++w) set[w] |= from[w];
    }
  }
  for (size_t k = 0; k < roots.size(); ++k) {
    const uint64_t* set = sets.data() + roots[k]->index * words;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      if (!(set[i / 64] >> i % 64 & 1)) continue;
      inputs_[k].push_back(static_cast<uint32_t>(i));
      roots_[i].push_back(static_cast<uint32_t>(k));
    }
  }
}

Flags Dependence::inputs_of(const Flags& roots) const {
  Flags out(roots_.size());
  for (size_t k = 0; k < roots.size(); ++k) {
    if (!roots[k]) continue;
    for (uint32_t i : inputs_[k]) out[i] = 1;
  }
  return out;
}

Flags Dependence::roots_of(const Flags& inputs) const {
  Flags out(inputs_.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    for (uint32_t k : roots_[i]) out[k] = 1;
  }
  return out;
}

Flags Dependence::iterated(Flags inputs, const Flags& allowed) const {
  std::vector<size_t> pending;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) pending.push_back(i);
  }
  while (!pending.empty()) {
    const size_t i = pending.back();
    pending.pop_back();
    for (uint32_t k : roots_[i]) {
      if (k >= allowed.size() || !allowed[k] || inputs[k]) continue;
      inputs[k] = 1;
      pending.push_back(k);
    }
  }
  return inputs;
}

}  // namespace pullback
