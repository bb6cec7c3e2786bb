// Batches one node, by the kind of its operation. A node that depends on no batch is copied. Start
// at Batcher::make.

#include "transform/batcher.h"

#include <algorithm>

#include "base/error.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/rebuild.h"
#include "graph/rule.h"
#include "ops/batch_scope.h"
#include "ops/convolve.h"
#include "ops/linalg/attention.h"
#include "ops/linalg/linalg.h"
#include "transform/batch_control.h"
#include "transform/batch_index.h"

namespace pullback {
namespace {

// The strided view with one more axis in front, which it covers.
StridedSlice shifted(const StridedSlice& range) {
  const int64_t rank = range.start.rank;
  StridedSlice out(rank + 1);
  for (int64_t d = 0; d < rank; ++d) {
    out.start[d + 1] = range.start[d];
    out.step[d + 1] = range.step[d];
  }
  return out;
}

}  // namespace

bool always_true(const Node* node) {
  if (node->op != Op::logical_or || node->inputs_count != 2) return false;
  const Node* a = node->in[0];
  const Node* b = node->in[1];
  return a->op == Op::equal && b->op == Op::not_equal && a->inputs_count == 2 &&
         b->inputs_count == 2 && a->in[0] == a->in[1] && a->in[0] == b->in[0] &&
         b->in[0] == b->in[1];
}

Shape with_batch(int64_t count, const Shape& shape, int64_t rank) {
  Shape out;
  out.append(count);
  for (int64_t d = shape.rank; d < rank; ++d) out.append(1);
  for (int64_t n : shape) out.append(n);
  return out;
}

NodeRef entry_of(const NodeRef& batch, int64_t i) {
  return squeeze(narrow(batch, 0, i, 1), Axes{{0}});
}

bool draws_since(const Node* node, uint64_t first) {
  const StepKind step = traits(node->op).step;
  // A rule that rebuilds a draw from an older seed repeats its numbers.
  if (step == StepKind::Random) {
    return node->inputs_count != 0 && node->inputs()[0]->seq >= first;  // none: sealed
  }
  if (const Node* seed = seed_of_routine(node)) return seed->seq >= first;
  return node->seq >= first && step == StepKind::Control && draws_inside(*node->operation);
}

Made Batcher::make(const Node* node, std::span<const Made* const> in) {
  node_ = node;
  in_ = in;
  if (node->shape.rank == kMaxRank) {
    fail(ErrorKind::NotImplemented, "vmap: ", display_name(node), ": expected at most ",
         kMaxRank - 1, " axes of a batched tensor, got shape ", node->shape);
  }
  if (always_true(node)) return {first_entry(), false};
  const bool draws_anew = draws_since(node, batching_.first);
  if (traits(node->op).step == StepKind::Random && draws_anew) return {drawn()};
  const bool differs =
      std::ranges::any_of(in, [](const Made* one) { return one && one->has_batch; });
  if (node->op == Op::custom_call && (differs || node->rule)) return {call_of(node)};
  if (node->op == Op::result) return {differs ? result() : nullptr};
  if (node->op == Op::custom && differs && operation_of(node)) return {result()};
  if (node->op == Op::routine && (differs || draws_anew)) {
    if (seed_of_routine(node) && !draws_anew) {
      fail(ErrorKind::NotImplemented, "vmap: ", display_name(node),
           ": its dropout mask was drawn outside of the mapped function; call it inside");
    }
    std::vector<NodeRef> inputs;
    for (size_t k = 0; k < in.size(); ++k) {
      inputs.push_back(is_shared(node, k) ? shared(k) : full(k));
    }
    const NodeRef made = routine_like(NodeRef(const_cast<Node*>(node)), inputs);
    std::vector<BatchedOutput>& outputs = controls_[node];
    for (size_t k = 0; k < node->operation->outputs.size(); ++k) {
      outputs.push_back({{made, true}, static_cast<int32_t>(k), false});
    }
    return {NodeRef(const_cast<Node*>(node))};  // placeholder; its outputs are in controls_
  }
  if (traits(node->op).step == StepKind::Control && (differs || draws_anew)) {
    controls_[node] = batched_control(node, in, batching_);
    return {NodeRef(const_cast<Node*>(node))};  // placeholder; its outputs are in controls_
  }
  if (const auto found = controls_.find(node->op == Op::output ? node->in[0] : nullptr);
      found != controls_.end()) {
    return made_of(found->second[node->output]);
  }
  if (!differs) {
    std::vector<Node*> inputs;
    for (size_t k = 0; k < in.size(); ++k) inputs.push_back(input(k).get());
    NodeRef copy = copy_node(node, inputs);
    if (rules_since(node, batching_.first)) refuse_mapped(copy.get(), batching_);
    return {std::move(copy), false};
  }
  if (by_users_rule(node)) return {with_rule()};
  NodeRef out = whole();
  if (out == nullptr) {
    fail(ErrorKind::NotImplemented, "vmap: ", display_name(node),
         " cannot be computed for a batch; call it outside of the function, or call the function ",
         "in a loop");
  }
  return {std::move(out)};
}

NodeRef Batcher::broadcasting(size_t k, int64_t rank) const {
  if (!has_batch(k)) return input(k);
  return reshape(input(k), with_batch(count_, node_->inputs()[k]->shape, rank));
}

NodeRef Batcher::full(size_t k) const {
  if (has_batch(k)) return input(k);
  const NodeRef same = input(k);
  return broadcast_to(same, with_batch(count_, same->shape, same->shape.rank));
}

// An input that attention shares between matrices: a number, or a mask, which may have axes of size
// 1.
NodeRef Batcher::shared(size_t k) const {
  if (has_batch(k) || node_->inputs()[k]->shape.rank == 0) return input(k);
  return expand_dims(input(k), {0});
}

NodeRef Batcher::first_entry() const {
  std::vector<NodeRef> inputs;
  for (size_t k = 0; k < in_.size(); ++k) {
    inputs.push_back(has_batch(k) ? entry_of(input(k), 0) : input(k));
  }
  return copy_node(node_, pointers(inputs));
}

NodeRef Batcher::drawn() const {
  std::vector<NodeRef> held{input(0), input(1)};
  for (size_t k = 2; k < in_.size(); ++k) held.push_back(full(k));
  const Shape shape = with_batch(count_, node_->shape, node_->shape.rank);
  const bool permutation = node_->op == Op::permutation;
  const NodeRef made =
      make_node(permutation ? Op::random_uniform : node_->op,
                permutation ? DType::Float64 : node_->dtype, shape, pointers(held));
  if (BatchScope::active()) made->flags |= kTraced;  // vmap of vmap: batched again later
  return permutation ? sort(Op::argsort, made, 1, false) : made;
}

NodeRef Batcher::with_rule() const {
  const bool custom = node_->op == Op::custom;
  NodeRef inside = custom ? full(0) : whole();
  if (inside == nullptr || !is_inexact(node_->dtype)) return inside;
  std::vector<NodeRef> held{inside};
  for (size_t k = custom; k < in_.size(); ++k) held.push_back(full(k));
  Attr attr;
  attr.keep = node_->attr.keep;
  NodeRef out = make_node(Op::custom, node_->dtype, inside->shape, pointers(held), attr);
  out->rule = batched_rule(node_, batching_);
  return out;
}

NodeRef Batcher::call_of(const Node* call) {
  NodeRef& made = calls_[call];
  if (made != nullptr) return made;
  std::vector<NodeRef> held;
  for (size_t k = 0; k < call->inputs_count; ++k) {
    const bool ours = call == node_;
    const NodeRef same(call->inputs()[k]);
    held.push_back(ours ? full(k)
                        : broadcast_to(same, with_batch(count_, same->shape, same->shape.rank)));
  }
  made = make_node(Op::custom_call, DType::Bool, {}, pointers(held), call->attr);
  if (call->rule) {
    made->attr.composite = Composite::None;  // a late rule would replace that of one example
    made->rule = batched_rule(call, batching_);
  }
  made->operation = new Operation;
  for (const TensorType& type : call->operation->outputs) {
    made->operation->outputs.push_back(
        {type.dtype, with_batch(count_, type.shape, type.shape.rank)});
  }
  return made;
}

NodeRef Batcher::result() {
  const NodeRef inside = full(0);
  const NodeRef call = call_of(node_->in[1]);
  Node* edges[] = {inside.get(), call.get()};
  NodeRef out = make_node(node_->op, inside->dtype, inside->shape, edges, node_->attr);
  out->output = node_->output;
  return out;
}

NodeRef Batcher::like(const std::vector<NodeRef>& inputs, const Attr& attr) const {
  const Shape shape = with_batch(count_, node_->shape, node_->shape.rank);
  NodeRef out = make_node(node_->op, node_->dtype, shape, pointers(inputs), attr);
  if (node_->slice) out->slice = std::make_unique<StridedSlice>(shifted(*node_->slice));
  out->in_composite = node_->in_composite;
  if (!by_users_rule(node_)) out->rule = node_->rule;
  return out;
}

NodeRef Batcher::whole() const {
  const OpTraits& of = traits(node_->op);
  Attr attr = node_->attr;
  std::vector<NodeRef> inputs;
  switch (of.kind) {
    case OpKind::Leaf:
      break;
    case OpKind::View:
      return view(of.view);
    case OpKind::Elementwise:
      for (size_t k = 0; k < in_.size(); ++k) {
        inputs.push_back(broadcasting(k, node_->shape.rank));
      }
      return like(inputs, attr);
    case OpKind::Fold:
      attr.axes = static_cast<AxisMask>(attr.axes << 1);
      return like({full(0)}, attr);
    case OpKind::Pick:
    case OpKind::Place:
      return like({full(0), full(1)}, attr);
    case OpKind::Step:
      return step(of.step, attr);
  }
  return nullptr;
}

NodeRef Batcher::view(ViewKind kind) const {
  const Shape shape = with_batch(count_, node_->shape, node_->shape.rank);
  switch (kind) {
    case ViewKind::Alias:
      return node_->op == Op::custom ? composite() : like({full(0)}, node_->attr);
    case ViewKind::Reshape:
      return reshape(full(0), shape);
    case ViewKind::Transpose: {
      std::vector<int64_t> order{0};
      for (int64_t d = 0; d < node_->shape.rank; ++d) order.push_back(node_->attr.order[d] + 1);
      return transpose(full(0), order);
    }
    case ViewKind::Broadcast:
      return broadcast_to(broadcasting(0, node_->shape.rank), shape);
    case ViewKind::Slice:
      return like({full(0)}, node_->attr);
    case ViewKind::None:
      break;
  }
  return nullptr;
}

NodeRef Batcher::composite() const {
  const Attr& attr = node_->attr;
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < kMaxRank; ++d) {
    if (attr.axes >> d & 1) axes.push_back(d + 1);
  }
  switch (attr.composite) {
    case Composite::None:  // a result of a traced function
      return full(0);
    case Composite::mean:
      return mean(full(1), axes, attr.keepdims);
    case Composite::prod:
      return prod(full(1), axes, attr.keepdims);
    case Composite::max:
      return reduce(Op::max, full(1), axes, attr.keepdims);
    case Composite::min:
      return reduce(Op::min, full(1), axes, attr.keepdims);
    case Composite::logsumexp:
      return logsumexp(full(1), axes, attr.keepdims);
    case Composite::softmax:
      return softmax(full(1), attr.axis + 1);
    case Composite::log_softmax:
      return log_softmax(full(1), attr.axis + 1);
    case Composite::softmax_cross_entropy:
      return softmax_cross_entropy(full(1), full(2));
    case Composite::pow: {
      if (has_batch(2)) return nullptr;
      Node* inputs[] = {in_[1]->node.get(), node_->inputs()[2]};
      return elementwise(Op::pow, inputs);
    }
    case Composite::solve:
      return attr.reversed ? solve_adjoint(full(1), full(2)) : solve(full(1), full(2));
    case Composite::det:
      return det(full(1));
    case Composite::logabsdet:
      return slogdet(full(1)).logabsdet;
    case Composite::sparse_softmax_cross_entropy:  // only its inner nodes use the labels
      return like({full(0), full(1)}, attr);
    case Composite::count:
      break;
  }
  // A named result: its operations are batched, and a late rule sees the batch.
  std::vector<NodeRef> all;
  for (size_t k = 0; k < in_.size(); ++k) all.push_back(full(k));
  NodeRef out = like(all, attr);
  out->output = node_->output;
  return out;
}

NodeRef Batcher::step(StepKind kind, Attr attr) const {
  std::vector<NodeRef> inputs;
  switch (kind) {
    case StepKind::Product: {
      const int64_t rank = node_->shape.rank;
      if (batching_.units) {
        if (NodeRef out = product_with_units()) return out;
      }
      if (NodeRef out = product_of_columns()) return out;
      return like_product(broadcasting(0, rank), broadcasting(1, rank));
    }
    case StepKind::Concat:
      ++attr.axis;
      for (size_t k = 0; k < in_.size(); ++k) inputs.push_back(full(k));
      return like(inputs, attr);
    case StepKind::ArgFold:
      ++attr.axis;
      return like({full(0)}, attr);
    case StepKind::Scan:
    case StepKind::Sort:
      ++attr.axis;
      for (size_t k = 0; k < in_.size(); ++k) inputs.push_back(full(k));
      return like(inputs, attr);
    case StepKind::Search:
      if (has_batch(0)) return batched_search(node_, input(0), input(1), count_);
      return like({input(0), full(1)}, attr);
    case StepKind::Convolve:
    case StepKind::Pool: {
      std::vector<bool> batched;
      for (size_t k = 0; k < in_.size(); ++k) {
        batched.push_back(has_batch(k) || kind == StepKind::Pool);
        inputs.push_back(batched[k] ? full(k) : input(k));
      }
      NodeRef out = batched_windows(node_, inputs, batched, count_);
      out->in_composite = node_->in_composite;
      return out;
    }
    case StepKind::Embed:
      return like({full(0)}, attr);
    case StepKind::AtSlice:
      return like({full(0), full(1)}, attr);
    case StepKind::Indexed:  // with the positions as the last input
      if (node_->op == Op::sum_duplicates) return nullptr;
      if (has_batch(in_.size() - 1)) {
        const bool one_table = node_->op == Op::take && !has_batch(0);
        for (size_t k = 0; k < in_.size(); ++k) {
          inputs.push_back(one_table && k == 0 ? input(0) : full(k));
        }
        return batched_index(node_, inputs, count_);
      }
      ++attr.axis;
      for (size_t k = 0; k + 1 < in_.size(); ++k) inputs.push_back(full(k));
      inputs.push_back(input(in_.size() - 1));
      return like(inputs, attr);
    case StepKind::Callback: {
      const Ref<CallbackOrigin> function(
          dynamic_cast<CallbackOrigin*>(node_->inputs()[0]->origin.get()));
      if (!function->takes_batches) return nullptr;
      for (size_t k = 1; k < in_.size(); ++k) inputs.push_back(full(k));
      return callback(inputs, node_->dtype, with_batch(count_, node_->shape, node_->shape.rank),
                      function);
    }
    case StepKind::Iota:
    case StepKind::Random:
    case StepKind::Control:
    case StepKind::Library:
    case StepKind::Output:
    case StepKind::None:
      break;
  }
  return nullptr;
}

}  // namespace pullback
