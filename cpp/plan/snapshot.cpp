#include "plan/snapshot.h"

#include <cstring>
#include <utility>

#include "base/hash.h"
#include "graph/variable.h"
#include "graph/walk.h"

namespace pullback {
namespace {

// Reductions of fewer elements cost less than keeping their result does.
constexpr int64_t kLargeReduction = 32768;

bool expensive(const Node* node) {
  switch (node->op) {
    case Op::matmul:
    case Op::scatter_add:
    case Op::at_index:
      return true;
    case Op::argmax:
    case Op::argmin:
      return node->in[0]->shape.size() >= kLargeReduction;
    default:
      return is_reduction(node->op) && node->in[0]->shape.size() >= kLargeReduction;
  }
}

// Marks expensive nodes whose value outlives this evaluation: somebody outside the walk holds them,
// or a node that outlives it may ask for them.
void mark_kept(Snapshot* s) {
  const size_t n = s->nodes.size();
  std::vector<uint32_t> uses(n, 0);
  const auto inside = [&](const Node* node) {
    return node->index < n && s->nodes[node->index] == node;
  };
  for (const Node* node : s->nodes) {
    if (is_input(node)) continue;
    for (const Node* input : node->inputs()) {
      if (inside(input)) ++uses[input->index];
    }
  }
  // A variable lets go of its update, and of the read of it, once they are computed.
  for (const Variable* variable : pending_variables()) {
    if (inside(variable->current.get())) ++uses[variable->current->index];
    if (variable->reading && inside(variable->reading.get())) ++uses[variable->reading->index];
  }
  std::vector<uint8_t>& outlives = s->outlives;
  outlives.assign(n, 0);
  for (size_t i = n; i-- > 0;) {
    const Node* node = s->nodes[i];
    outlives[i] |= node->refs > static_cast<int64_t>(uses[i]);
    if (!outlives[i] || is_input(node)) continue;
    if (expensive(node)) s->wanted[i] = 1;
    // It will be sealed. Any other one keeps its inputs, or is still to be computed from them.
    if (s->wanted[i] && (!node->tracked() || node->op == Op::read)) continue;
    for (const Node* input : node->inputs()) {
      if (inside(input)) outlives[input->index] = 1;
    }
  }
}

// Puts each leaf before the first node that uses it. By creation, a read that an earlier evaluation
// left behind stands elsewhere than one made on the way, and the same program would have two keys.
void order_leaves(std::vector<Node*>* nodes) {
  std::vector<Node*> ordered;
  ordered.reserve(nodes->size());
  std::vector<uint8_t> placed(nodes->size(), 0);
  const auto place = [&](Node* node) {
    if (std::exchange(placed[node->index], 1)) return;
    ordered.push_back(node);
  };
  for (Node* node : *nodes) {
    if (is_input(node)) continue;
    for (Node* input : value_inputs(node)) place(input);
    place(node);
  }
  for (Node* node : *nodes) place(node);  // leaves that are roots
  for (size_t i = 0; i < ordered.size(); ++i) ordered[i]->index = static_cast<uint32_t>(i);
  nodes->swap(ordered);
}

class KeyWriter {
 public:
  explicit KeyWriter(Snapshot* s) : s_(*s), out_(&s->key) {}

  template <class T>
  void put(const T& value) {
    const size_t at = out_->size();
    out_->resize(at + sizeof value);
    std::memcpy(out_->data() + at, &value, sizeof value);
  }

  void node(const Node* node, bool wanted, uint32_t position) {
    const bool leaf = is_input(node);
    const bool constant = node->op == Op::scalar && s_.is_constant(node);
    const Op op = node->op == Op::scalar ? Op::scalar : leaf ? Op::value : node->op;
    put(static_cast<uint32_t>(op) | static_cast<uint32_t>(node->dtype) << 16 |
        static_cast<uint32_t>(wanted) << 24 | static_cast<uint32_t>(constant) << 25 |
        static_cast<uint32_t>(node->shape.rank) << 28);
    for (int64_t i = 0; i < node->shape.rank; ++i) put(node->shape[i]);
    if (leaf) {
      if (constant) put(node->scalar.i);
      return;
    }
    put(node->attr);
    if (node->window) {
      for (int64_t i = 0; i < node->shape.rank; ++i) put(node->window->start[i]);
      for (int64_t i = 0; i < node->shape.rank; ++i) put(node->window->step[i]);
    }
    const auto inputs = value_inputs(node);
    put(static_cast<uint32_t>(inputs.size()));
    // Relative positions: the same step later in a loop writes the same bytes.
    for (const Node* input : inputs) put(position - input->index);
  }

 private:
  const Snapshot& s_;
  std::vector<unsigned char>* out_;
};

}  // namespace

Snapshot take_snapshot(std::span<Node* const> roots, bool traced) {
  Snapshot s;
  s.traced = traced;
  std::vector<Node*> pending;
  for (Node* root : roots) {
    if (!root->has_value()) pending.push_back(root);
  }
  walk(std::span<Node* const>(pending), &s.nodes, [](const Node* node) {
    return is_input(node) ? std::span<Node* const>() : value_inputs(node);
  });
  order_leaves(&s.nodes);
  s.wanted.assign(s.nodes.size(), 0);
  for (const Node* root : pending) s.wanted[root->index] = 1;
  if (!traced) mark_kept(&s);
  s.key.reserve(s.nodes.size() * 56);
  KeyWriter writer(&s);
  for (uint32_t i = 0; i < s.nodes.size(); ++i) {
    const Node* node = s.nodes[i];
    writer.node(node, s.wanted[i], i);
    if (s.wanted[i]) s.outputs.push_back(i);
    if (node->op == Op::scalar) {
      if (!s.is_constant(node)) s.scalars.push_back(i);
    } else if (is_input(node)) {
      s.arguments.push_back(i);
    }
  }
  s.hash = hash_bytes(s.key.data(), s.key.size());
  return s;
}

}  // namespace pullback
