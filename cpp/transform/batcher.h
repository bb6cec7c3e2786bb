// How one operation of a piece takes a first axis more (transform/batch.h makes the piece).
#pragma once

#include <span>
#include <unordered_map>

#include "ops/ops.h"
#include "transform/batch.h"

namespace pullback {

struct Body;

// What stands for a node of the piece: with a batch axis, or the same for the whole batch.
struct Made {
  NodeRef node;
  bool has_batch = true;
};

// The shape with a first axis of length `count`, and 1s behind that up to `rank` more axes.
Shape with_batch(int64_t count, const Shape& shape, int64_t rank);
// Entry i of a batch.
NodeRef entry_of(const NodeRef& batch, int64_t i);
// Whether it draws random numbers of seeds that were made since the node of this number.
bool draws_since(const Node* node, uint64_t first);
// Whether a node is true whatever its inputs are: it depends on them for the planner's sake alone,
// see checkpoint().
bool always_true(const Node* node);
// What stands for an output of a loop or a branch, made when it is asked for.
struct BatchedOutput {
  Made made;                      // itself, or the operation …
  int32_t output = -1;            // … whose output of this number it is
  bool along_iterations = false;  // the iterations come before the batch
};

// The inputs of a subgraph and what replaces each in the batch.
struct BatchedInputs {
  std::vector<Node*> from;
  std::vector<Made> to;
  const Body* whole = nullptr;  // if not null, every node of this body belongs to the subgraph
};
std::vector<Made> made_in_batch(std::vector<NodeRef> roots, const BatchedInputs& replaced,
                                const Batching& batching);
// A rule for all around that of `node`, which is about one entry.
Ref<Rule> batched_rule(const Node* node, const Batching& batching);

class Batcher {
 public:
  explicit Batcher(const Batching& batching) : batching_(batching), count_(batching.count) {}

  // `in`: what stands for the inputs of the node; null where an input does not depend on the batch.
  Made make(const Node* node, std::span<const Made* const> in);

 private:
  bool has_batch(size_t k) const { return in_[k] && in_[k]->has_batch; }
  NodeRef input(size_t k) const { return in_[k] ? in_[k]->node : NodeRef(node_->inputs()[k]); }
  // Input k, with a batch only where it depends on one; then there are `rank` axes behind that.
  NodeRef broadcasting(size_t k, int64_t rank) const;
  // Input k with the batch axis.
  NodeRef full(size_t k) const;
  // The node for the first entry of the batch.
  NodeRef shared(size_t k) const;
  NodeRef first_entry() const;
  // Drawn for every entry: all of the batch is one draw.
  NodeRef drawn() const;
  // The operation with its rule for a batch, around the value for all.
  NodeRef with_rule() const;
  // An operation with several outputs, some of which may depend on the batch though no input does.
  NodeRef call_of(const Node* call);
  NodeRef result();
  NodeRef like(const std::vector<NodeRef>& inputs, const Attr& attr) const;
  NodeRef whole() const;
  NodeRef view(ViewKind kind) const;
  // Input 0 has the value, the others are what it was made from.
  NodeRef composite() const;
  NodeRef step(StepKind kind, Attr attr) const;
  NodeRef like_product(const NodeRef& a, const NodeRef& b) const;
  const Batching& batching_;
  int64_t count_;
  const Node* node_ = nullptr;       // the one that is made now, and …
  std::span<const Made* const> in_;  // … what stands for its inputs
  std::unordered_map<const Node*, NodeRef> calls_;
  std::unordered_map<const Node*, std::vector<BatchedOutput>> controls_;
};

}  // namespace pullback
