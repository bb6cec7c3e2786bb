// BatchedLoop: a loop over a batch, for batch_loops.cpp and batch_replayed.cpp. BodyBatcher has the
// helpers that branches use too. A `place` is the number of an input of the operation.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/body_dependence.h"
#include "graph/callback_origin.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "ops/body.h"
#include "ops/expr.h"
#include "transform/batcher.h"

namespace pullback {

// Exchanges the first two axes, which are the iterations and the batch.
inline NodeRef swapped(const NodeRef& x) {
  std::vector<int64_t> order{1, 0};
  for (int64_t d = 2; d < x->shape.rank; ++d) order.push_back(d);
  return transpose(x, order);
}

inline NodeRef plus_one(const NodeRef& x) { return Expr(x) + Expr(scalar(DType::Int64, 1)); }

class BodyBatcher {
 public:
  BodyBatcher(const Node* node, std::span<const Made* const> in, const Batching& batching)
      : node_(node), operation_(*node->operation), in_(in), batching_(batching) {}

 protected:
  bool has_batch(int32_t place) const { return in_[place] && in_[place]->has_batch; }
  NodeRef value(int32_t place) const {
    return in_[place] ? in_[place]->node : NodeRef(node_->inputs()[place]);
  }
  // One node per place, since a body and a body that it replays may read the same place.
  NodeRef full(int32_t place) const {
    NodeRef& made = full_[place];
    if (made == nullptr) made = with_batch_axis(value(place), has_batch(place));
    return made;
  }
  NodeRef with_batch_axis(const NodeRef& x, bool has) const {
    return has ? x : broadcast_to(x, with_batch(batching_.count, x->shape, x->shape.rank));
  }
  NodeRef argument_like(const NodeRef& x, bool batch) const {
    return make_argument(x->dtype,
                         batch ? with_batch(batching_.count, x->shape, x->shape.rank) : x->shape);
  }

  // The roots of a body, batched in its flagged inputs; `arguments` replace all of its inputs.
  std::vector<Made> inside(const Body& body, const Flags& flags,
                           std::span<const NodeRef> arguments) const {
    BatchedInputs replaced;
    for (size_t i = 0; i < flags.size(); ++i) {
      if (arguments[i] == body.inputs[i]) continue;
      replaced.from.push_back(body.inputs[i].get());
      replaced.to.push_back({arguments[i], flags[i] != 0});
    }
    // User-defined rules may reference nodes inside and outside of the body.
    Batching batching = batching_;
    for (size_t i = 0; i < flags.size(); ++i) {
      if (!flags[i]) continue;
      batching.inputs.push_back(body.inputs[i]);
      batching.batches.push_back(arguments[i]);
    }
    return batch_subgraph(body.roots, replaced, batching);
  }

  // The roots of a body with the operation's inputs in place of the body's inputs.
  std::vector<Made> outside(const Body& body, const std::vector<InputSource>& sources) const {
    BatchedInputs replaced;
    replaced.whole_body = &body;
    Batching batching = batching_;  // as in inside()
    batching.body = Ref<Body>(const_cast<Body*>(&body));
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      replaced.from.push_back(body.inputs[i].get());
      replaced.to.push_back({value(sources[i].number), has_batch(sources[i].number)});
      if (is_run_scalar(body.inputs[i].get())) continue;
      batching.inputs.push_back(body.inputs[i]);
      batching.batches.push_back(full(sources[i].number));
    }
    return batch_subgraph(body.roots, replaced, batching);
  }

  // `then` for entries that still run, `before` for finished ones.
  static NodeRef unless_done(const NodeRef& runs, const NodeRef& then, const NodeRef& before) {
    Shape shape{runs->shape[0]};
    for (int64_t d = 1; d < then->shape.rank; ++d) shape.append(1);
    return formula::where(Expr(reshape(runs, shape)), Expr(then), Expr(before));
  }

  const Node* node_;
  const Operation& operation_;
  std::span<const Made* const> in_;
  const Batching& batching_;
  mutable std::unordered_map<int32_t, NodeRef> full_;
};

// The batched body of a loop while it is built.
struct BatchedBody {
  Flags flags;                     // per input of the body: has a batch
  std::vector<NodeRef> arguments;  // their placeholders
  std::vector<Made> roots;
};

class BatchedLoop : BodyBatcher {
 public:
  using BodyBatcher::BodyBatcher;

  std::vector<BatchedOutput> run();

 private:
  // True if entries have different numbers of iterations.
  bool has_separate_counts() const;

  // The condition for a state; if it has a batch, entries stop at different iterations.
  Made condition(const BatchedBody& batched) const;

  std::pair<Flags, std::vector<NodeRef>> condition_arguments(const BatchedBody& batched) const;

  // Repeats until no further carry gets a batch. `scanned`: scanned inputs made by the loop itself
  // that have a batch. `others`: inputs that get one in any case. `all`: every carry gets one.
  BatchedBody batch_body(const Body& body, const std::vector<InputSource>& sources, int32_t carries,
                         bool all, const Flags& scanned, const Flags& others) const;

  NodeRef root(const BatchedBody& batched, size_t k) const;

  // The value of input i of the body.
  NodeRef value_for(const BatchedBody& batched, const std::vector<InputSource>& sources,
                    size_t i) const {
    return batched.flags[i] ? full(sources[i].number) : value(sources[i].number);
  }

  // Adds carry k. `runs`: the entries that still run; null if all do.
  void add_carry(const BatchedBody& batched, const std::vector<InputSource>& sources, size_t k,
                 const NodeRef& runs, DerivedLoop* out) const;

  std::vector<BatchedOutput> make(const BatchedBody& batched, bool separate);

  // The number of iterations of each entry.
  NodeRef counts() const { return full(static_cast<int32_t>(node_->inputs_count) - 1); }

  // Sets the loop's condition, equal for all entries.
  void set_condition(const BatchedBody& batched, LoopRequest* request);
  // Sets the condition for entries that differ: true while any entry runs. The flags are the last
  // carry.
  static void set_condition_of_any(std::span<const NodeRef> carries, const std::string& name,
                                   LoopRequest* request);

  // The reverse of a loop that it replays: see grad/control/loop_replayed.cpp. In the replayed loop
  // a finished entry keeps its state. The reverse visits the iterations after that first, and
  // ignores them.
  std::vector<BatchedOutput> replaying();
  std::pair<BatchedBody, BatchedBody> matched(bool separate) const;

  void close_replayed(const BatchedBody& batched, bool separate, LoopRequest* request);

  BodyNumbers numbers_, of_replayed_;
};

}  // namespace pullback
