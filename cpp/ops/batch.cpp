// How each kind of operation takes a first axis more: elementwise operations and products broadcast
// over it, what names axes counts from one further, what names positions shares them, and
// composites are made again, so that they keep their names and rules.
#include "ops/batch.h"

#include <algorithm>

#include "base/error.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/rule.h"
#include "ops/ops.h"

namespace pullback {
namespace {

// What stands for a node of the piece: with a batch axis, or the same for the whole batch.
struct Made {
  Ref<Node> node;
  bool has_batch = true;
};

Shape with_batch(int64_t count, const Shape& shape, int64_t rank) {
  Shape out;
  out.append(count);
  for (int64_t d = shape.rank; d < rank; ++d) out.append(1);
  for (int64_t n : shape) out.append(n);
  return out;
}

// A window of one more axis, all of which it takes.
Window shifted(const Window& window) {
  const int64_t rank = window.start.rank;
  Window out(rank + 1);
  for (int64_t d = 0; d < rank; ++d) {
    out.start[d + 1] = window.start[d];
    out.step[d + 1] = window.step[d];
  }
  return out;
}

Ref<Node> entry_of(const Ref<Node>& batch, int64_t i) {
  Window window(batch->shape.rank);
  window.start[0] = i;
  Shape one = batch->shape;
  one[0] = 1;
  return squeeze(slice(batch, one, window), Axes{{0}});
}

// True whatever the batch is: it depends on an input for the planner's sake alone, see
// checkpoint().
bool always_true(const Node* node) {
  if (node->op != Op::logical_or || node->inputs_count != 2) return false;
  const Node* a = node->in[0];
  const Node* b = node->in[1];
  return a->op == Op::equal && b->op == Op::not_equal && a->inputs_count == 2 &&
         b->inputs_count == 2 && a->in[0] == a->in[1] && a->in[0] == b->in[0] &&
         b->in[0] == b->in[1];
}

bool by_users_rule(const Node* node) {
  return (node->rule && !node->rule->of_library) || node->op == Op::custom_call ||
         node->op == Op::result;
}

class Batching {
 public:
  explicit Batching(int64_t count) : count_(count) {}

  // Null where it cannot be. `in`: what stands for the inputs of the node; null where an input does
  // not depend on the batch.
  Made make(const Node* node, std::span<const Made* const> in) {
    node_ = node;
    in_ = in;
    if (node->shape.rank == kMaxRank) return {};
    const StepKind step = traits(node->op).step;
    const bool places_differ = step == StepKind::Indexed && has_batch(node->inputs_count - 1);
    const bool sorted_differ = step == StepKind::Search && has_batch(0);
    if (places_differ || sorted_differ || node->op == Op::sum_duplicates ||
        step == StepKind::Random || step == StepKind::Host) {
      return {};
    }
    if (always_true(node)) return {first_entry(), false};
    if (std::ranges::none_of(in, [](const Made* one) { return one && one->has_batch; })) {
      std::vector<Node*> inputs;
      for (size_t k = 0; k < in.size(); ++k) inputs.push_back(input(k).get());
      return {copy_node(node, inputs), false};
    }
    return {whole()};
  }

 private:
  bool has_batch(size_t k) const { return in_[k] && in_[k]->has_batch; }
  Ref<Node> input(size_t k) const { return in_[k] ? in_[k]->node : Ref<Node>(node_->inputs()[k]); }
  // Input k, with a batch only where it depends on one; then there are `rank` axes behind that.
  Ref<Node> broadcasting(size_t k, int64_t rank) const {
    if (!has_batch(k)) return input(k);
    return reshape(input(k), with_batch(count_, node_->inputs()[k]->shape, rank));
  }
  // Input k with the batch axis.
  Ref<Node> full(size_t k) const {
    if (has_batch(k)) return input(k);
    const Ref<Node> same = input(k);
    return broadcast_to(same, with_batch(count_, same->shape, same->shape.rank));
  }

  // The node for the first entry of the batch.
  Ref<Node> first_entry() const {
    std::vector<Ref<Node>> inputs;
    std::vector<Node*> below;
    for (size_t k = 0; k < in_.size(); ++k) {
      inputs.push_back(has_batch(k) ? entry_of(input(k), 0) : input(k));
      below.push_back(inputs.back().get());
    }
    return copy_node(node_, below);
  }

  Ref<Node> like(const std::vector<Ref<Node>>& inputs, const Attr& attr) const {
    std::vector<Node*> below;
    for (const Ref<Node>& one : inputs) below.push_back(one.get());
    const Shape shape = with_batch(count_, node_->shape, node_->shape.rank);
    Ref<Node> out = make_node(node_->op, node_->dtype, shape, below, attr);
    if (node_->window) out->window = std::make_unique<Window>(shifted(*node_->window));
    out->part = node_->part;
    out->rule = node_->rule;
    return out;
  }

  Ref<Node> whole() const {
    const OpTraits& of = traits(node_->op);
    Attr attr = node_->attr;
    std::vector<Ref<Node>> inputs;
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

  Ref<Node> view(ViewKind kind) const {
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

  // Input 0 has the value, the others are what it was made from.
  Ref<Node> composite() const {
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
      case Composite::sparse_softmax_cross_entropy:  // its labels are inside alone
      case Composite::count:
        break;
    }
    return nullptr;
  }

  Ref<Node> step(StepKind kind, Attr attr) const {
    std::vector<Ref<Node>> inputs;
    switch (kind) {
      case StepKind::Product: {
        const int64_t rank = node_->shape.rank;
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
        return like({input(0), full(1)}, attr);
      case StepKind::Embed:
        return like({full(0)}, attr);
      case StepKind::AtWindow:
        return like({full(0), full(1)}, attr);
      case StepKind::Indexed:  // with the positions last, the same for the whole batch
        ++attr.axis;
        for (size_t k = 0; k + 1 < in_.size(); ++k) inputs.push_back(full(k));
        inputs.push_back(input(in_.size() - 1));
        return like(inputs, attr);
      case StepKind::Iota:
      case StepKind::Random:
      case StepKind::Host:
      case StepKind::None:
        break;
    }
    return nullptr;
  }

  Ref<Node> like_product(const Ref<Node>& a, const Ref<Node>& b) const {
    Ref<Node> out = matmul(a, b);
    out->part = node_->part;
    out->rule = node_->rule;
    return out;
  }

  int64_t count_;
  const Node* node_ = nullptr;       // the one that is made now, and …
  std::span<const Made* const> in_;  // … what stands for its inputs
};

void check(std::span<const Ref<Node>> inputs, std::span<const Ref<Node>> batches) {
  if (inputs.empty() || inputs.size() != batches.size()) {
    fail(ErrorKind::Value, "batched: ", static_cast<int64_t>(batches.size()), " batches for ",
         static_cast<int64_t>(inputs.size()), " inputs");
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Node* input = inputs[k].get();
    const Node* batch = batches[k].get();
    if (input->op != Op::argument || input->dtype != batch->dtype || batch->shape.rank == 0 ||
        batch->shape[0] != batches[0]->shape[0] ||
        !(batch->shape == with_batch(batch->shape[0], input->shape, input->shape.rank))) {
      fail(ErrorKind::Value, "batched: a batch of ", batch->dtype, " ", batch->shape,
           " for an argument of ", input->dtype, " ", input->shape);
    }
  }
}

// All at once; nothing where some operation cannot be.
std::optional<std::vector<Ref<Node>>> at_once(const Subgraph& piece,
                                              std::span<const Ref<Node>> batches) {
  const int64_t count = batches[0]->shape[0];
  std::vector<Made> made(piece.size());
  Batching batching(count);
  std::vector<const Made*> below;
  for (size_t i = 0; i < piece.size(); ++i) {
    const Subgraph::Entry& entry = piece[i];
    if (entry.input >= 0) {
      made[i].node = batches[entry.input];
      continue;
    }
    below.clear();
    for (size_t k = 0; k < entry.node->inputs_count; ++k) {
      const int32_t at = piece.link(i, k);
      below.push_back(at == Subgraph::kOutside ? nullptr : &made[at]);
    }
    made[i] = batching.make(entry.node, below);
    if (!made[i].node) return std::nullopt;
  }
  std::vector<Ref<Node>> out;
  for (size_t k = 0; k < piece.roots().size(); ++k) {
    const int32_t at = piece.root_at(k);
    const Ref<Node> root = at == Subgraph::kOutside ? piece.roots()[k] : made[at].node;
    const bool has_batch = at != Subgraph::kOutside && made[at].has_batch;
    out.push_back(has_batch ? root
                            : broadcast_to(root, with_batch(count, root->shape, root->shape.rank)));
  }
  return out;
}

std::vector<Ref<Node>> one_by_one(const Subgraph& piece, std::span<const Ref<Node>> batches) {
  const int64_t count = batches[0]->shape[0];
  std::vector<std::vector<Ref<Node>>> entries(piece.roots().size());
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Ref<Node>> inputs;
    for (const Ref<Node>& batch : batches) inputs.push_back(entry_of(batch, i));
    const auto copies = piece.rebuild(
        inputs, [](size_t, const Node* node, auto below) { return copy_node(node, below); });
    for (size_t k = 0; k < copies.size(); ++k) entries[k].push_back(copies[k]);
  }
  std::vector<Ref<Node>> out;
  for (size_t k = 0; k < entries.size(); ++k) {
    const Ref<Node>& root = piece.roots()[k];
    out.push_back(count ? stack(entries[k], 0)
                        : zeros(with_batch(0, root->shape, root->shape.rank), root->dtype));
  }
  return out;
}

}  // namespace

std::optional<std::vector<Ref<Node>>> batched(std::vector<Ref<Node>> roots,
                                              std::span<const Ref<Node>> inputs,
                                              std::span<const Ref<Node>> batches) {
  check(inputs, batches);
  // What is made here stands for operations that were made before, by whoever made these.
  const NoOverrides none;
  std::vector<Node*> arguments;
  for (const Ref<Node>& input : inputs) arguments.push_back(input.get());
  const Subgraph piece(std::move(roots), arguments, [](const Node*) { return false; });
  for (size_t i = 0; i < piece.size(); ++i) {
    if (by_users_rule(piece[i].node)) return std::nullopt;
  }
  auto out = batches[0]->shape[0] ? at_once(piece, batches) : std::nullopt;
  return out ? std::move(out) : one_by_one(piece, batches);
}

}  // namespace pullback
