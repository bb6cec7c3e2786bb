// Pieces and their copies: one walk, then rebuild's copy_node, inputs before users.
#include "graph/recompute.h"

#include <unordered_map>

#include "graph/rebuild.h"
#include "graph/walk.h"
#include "ops/op.h"

namespace pullback {

bool Piece::inside(const Node* node) const {
  return node->seq >= first && node->inputs_count > 0 && node->op != Op::read;
}

std::vector<Node*> Piece::nodes() const {
  std::vector<Node*> tops, out;
  for (const Ref<Node>& root : roots) tops.push_back(root.get());
  walk(std::span<Node* const>(tops), &out,
       [&](const Node* node) { return inside(node) ? node->inputs() : std::span<Node* const>(); });
  return out;
}

std::vector<Ref<Node>> Piece::inputs() const {
  std::vector<Ref<Node>> out;
  for (Node* node : nodes()) {
    if (!inside(node) && node->tracked()) out.emplace_back(node);
  }
  return out;
}

void Piece::never_keep() const {
  for (Node* node : nodes()) {
    if (inside(node)) node->attr.keep = Keep::Never;
  }
}

std::vector<Ref<Node>> Piece::copy(std::span<const Ref<Node>> inputs,
                                   std::span<const Ref<Node>> others, Keep keep_roots) const {
  std::unordered_map<const Node*, Ref<Node>> made;
  for (size_t i = 0; i < inputs.size(); ++i) made[inputs[i].get()] = others[i];
  std::vector<Node*> below;
  for (Node* node : nodes()) {
    if (made.contains(node)) continue;
    if (!inside(node)) {
      made[node] = Ref<Node>(node);
      continue;
    }
    below.clear();
    for (const Node* input : node->inputs()) below.push_back(made.at(input).get());
    made[node] = copy_node(node, below);
    made[node]->attr.keep = Keep::Never;
  }
  std::vector<Ref<Node>> out;
  for (const Ref<Node>& root : roots) {
    out.push_back(made.at(root.get()));
    if (inside(root.get())) out.back()->attr.keep = keep_roots;
  }
  return out;
}

}  // namespace pullback
