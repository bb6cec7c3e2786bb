// Batcher: how one operation takes an additional first axis. transform/batch.h batches the whole
// subgraph. Start at Batcher::make.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>

#include "ops/ops.h"
#include "transform/batch.h"

namespace pullback {

struct Body;

// The node that replaces a node of the subgraph: with a batch axis, or shared by the whole batch.
struct Made {
  NodeRef node;
  bool has_batch = true;
};

// The shape with a first axis of size `count`, followed by 1s up to `rank` more axes.
Shape with_batch(int64_t count, const Shape& shape, int64_t rank);
// Entry i of a batch.
NodeRef entry_of(const NodeRef& batch, int64_t i);
// True if the node draws from a seed made at number `first` or later.
bool draws_since(const Node* node, uint64_t first);
// True for a node whose value is true for any inputs: it depends on them only for the planner, see
// checkpoint().
bool always_true(const Node* node);
// The replacement for an output of a loop or branch; made when first used.
struct BatchedOutput {
  Made made;                      // the tensor, or the operation
  std::optional<int32_t> output;  // output number of that operation
  bool iterations_first = false;  // the axis of iterations comes before the batch
};

// The inputs of a subgraph and what replaces each in the batch.
struct BatchedInputs {
  std::vector<Node*> from;
  std::vector<Made> to;
  const Body* whole_body = nullptr;  // if not null, every node of this body belongs to the subgraph
};
std::vector<Made> batch_subgraph(std::vector<NodeRef> roots, const BatchedInputs& replaced,
                                 const Batching& batching);
// Lets the rule of a node without a batch axis raise an error if its answers depend on
// placeholders.
void refuse_mapped(Node* node, const Batching& batching);
// A rule for the whole batch around the rule of `node`, which handles one entry.
Ref<Rule> batched_rule(const Node* node, const Batching& batching);

class Batcher {
 public:
  explicit Batcher(const Batching& batching) : batching_(batching), count_(batching.count) {}

  // `in`: the replacements of the node's inputs; null if an input does not depend on the batch.
  Made make(const Node* node, std::span<const Made* const> in);

 private:
  bool has_batch(size_t k) const { return in_[k] && in_[k]->has_batch; }
  NodeRef input(size_t k) const { return in_[k] ? in_[k]->node : NodeRef(node_->inputs()[k]); }
  // Input k, followed by axes of size 1 up to `rank`; without a batch axis if it does not depend on
  // it.
  NodeRef broadcasting(size_t k, int64_t rank) const;
  // Input k with the batch axis.
  NodeRef full(size_t k) const;
  // Input k of attention if it may be shared by matrices.
  NodeRef shared(size_t k) const;
  NodeRef first_entry() const;
  // A draw for the whole batch at once.
  NodeRef drawn() const;
  // The product of a shared matrix with all unit vectors: its rows or columns. Null if the other
  // operand is not one.
  NodeRef product_with_units() const;
  // The product of a shared matrix with matrices of few columns. Null for other operands.
  NodeRef product_of_columns() const;
  // The operation with a batched rule around the batched value.
  NodeRef with_rule() const;
  // An operation with several outputs. Some may depend on the batch even if no input does.
  NodeRef call_of(const Node* call);
  NodeRef result();
  NodeRef like(const std::vector<NodeRef>& inputs, const Attr& attr) const;
  NodeRef whole() const;
  NodeRef view(ViewKind kind) const;
  // Input 0 is the value; the others are the composite's arguments.
  NodeRef composite() const;
  NodeRef step(StepKind kind, Attr attr) const;
  NodeRef like_product(const NodeRef& a, const NodeRef& b) const;
  const Batching& batching_;
  int64_t count_;
  const Node* node_ = nullptr;       // the node being batched
  std::span<const Made* const> in_;  // the replacements of its inputs
  std::unordered_map<const Node*, NodeRef> calls_;
  std::unordered_map<const Node*, std::vector<BatchedOutput>> controls_;
};

}  // namespace pullback
