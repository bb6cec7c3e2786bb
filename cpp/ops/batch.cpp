// How each kind of operation takes a first axis more: elementwise operations and products broadcast
// over it, what names axes counts from one further, what names positions shares them.
#include "ops/batch.h"

#include <algorithm>

#include "base/error.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "ops/ops.h"

namespace pullback {
namespace {

// What stands for a node of the piece: one tensor with all rows, or, for an operation that has no
// value of its own, a copy for each row.
struct Rows {
  Ref<Node> all;
  std::vector<Ref<Node>> each;
};

Shape with_rows(int64_t rows, const Shape& shape, int64_t rank) {
  Shape out;
  out.append(rows);
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

Ref<Node> row_of(const Ref<Node>& all, int64_t row) {
  Window window(all->shape.rank);
  window.start[0] = row;
  Shape one = all->shape;
  one[0] = 1;
  return squeeze(slice(all, one, window), Axes{{0}});
}

class Batching {
 public:
  explicit Batching(int64_t rows) : rows_(rows) {}

  // `in`: what stands for the inputs of the node; null where an input does not depend on a row.
  Rows made(const Node* node, std::span<const Rows* const> in) {
    node_ = node;
    in_ = in;
    return at_once() ? Rows{all_rows(), {}} : one_by_one();
  }

 private:
  bool at_once() const {
    if (node_->op == Op::custom_call || node_->op == Op::result) return false;
    if (node_->rule && !node_->rule->of_library) return false;
    const StepKind step = traits(node_->op).step;
    if (node_->op == Op::sum_duplicates || step == StepKind::Random) return false;
    return step != StepKind::Indexed || !in_[node_->inputs_count - 1];
  }

  bool batched(size_t k) const { return in_[k] != nullptr; }
  // Input k, with rows only where it depends on them; then there are `rank` axes behind these.
  Ref<Node> broadcasting(size_t k, int64_t rank) const {
    if (!batched(k)) return Ref<Node>(node_->inputs()[k]);
    return reshape(in_[k]->all, with_rows(rows_, node_->inputs()[k]->shape, rank));
  }
  // Input k with a row for each.
  Ref<Node> full(size_t k) const {
    if (batched(k)) return in_[k]->all;
    const Ref<Node> input(node_->inputs()[k]);
    return broadcast_to(input, with_rows(rows_, input->shape, input->shape.rank));
  }

  Ref<Node> same(const std::vector<Ref<Node>>& inputs, const Attr& attr) const {
    std::vector<Node*> below;
    for (const Ref<Node>& input : inputs) below.push_back(input.get());
    const Shape shape = with_rows(rows_, node_->shape, node_->shape.rank);
    Ref<Node> out = make_node(node_->op, node_->dtype, shape, below, attr);
    if (node_->window) out->window = std::make_unique<Window>(shifted(*node_->window));
    return out;
  }

  Ref<Node> all_rows() const {
    const OpTraits& of = traits(node_->op);
    Attr attr = node_->attr;
    std::vector<Ref<Node>> inputs;
    const size_t count = node_->inputs_count;
    switch (of.kind) {
      case OpKind::Leaf:
        break;
      case OpKind::View:
        return view(of.view);
      case OpKind::Elementwise:
        for (size_t k = 0; k < count; ++k) inputs.push_back(broadcasting(k, node_->shape.rank));
        return same(inputs, attr);
      case OpKind::Fold:
        attr.axes = static_cast<AxisMask>(attr.axes << 1);
        return same({full(0)}, attr);
      case OpKind::Pick:
      case OpKind::Place:
        return same({full(0), full(1)}, attr);
      case OpKind::Step:
        return step(of.step, attr);
    }
    fail(ErrorKind::Runtime, "jacobian: ", of.name, " has no rows");
  }

  Ref<Node> view(ViewKind kind) const {
    const Shape shape = with_rows(rows_, node_->shape, node_->shape.rank);
    switch (kind) {
      case ViewKind::Alias:
        // A composite's own rule is for its shape; its parts say the same.
        if (node_->op == Op::custom) return batched(0) ? identity(in_[0]->all) : full(0);
        return same({full(0)}, node_->attr);
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
        return same({full(0)}, node_->attr);
      case ViewKind::None:
        break;
    }
    fail(ErrorKind::Runtime, "jacobian: ", name_of(node_->op), " has no rows");
  }

  Ref<Node> step(StepKind kind, Attr attr) const {
    std::vector<Ref<Node>> inputs;
    const size_t count = node_->inputs_count;
    switch (kind) {
      case StepKind::Product: {
        const int64_t rank = node_->shape.rank;
        return matmul(broadcasting(0, rank), broadcasting(1, rank));
      }
      case StepKind::Concat:
        ++attr.axis;
        for (size_t k = 0; k < count; ++k) inputs.push_back(full(k));
        return same(inputs, attr);
      case StepKind::ArgFold:
        ++attr.axis;
        return same({full(0)}, attr);
      case StepKind::Embed:
        return same({full(0)}, attr);
      case StepKind::AtWindow:
        return same({full(0), full(1)}, attr);
      case StepKind::Indexed:  // with the positions last, the same for all rows
        ++attr.axis;
        for (size_t k = 0; k + 1 < count; ++k) inputs.push_back(full(k));
        inputs.emplace_back(node_->inputs()[count - 1]);
        return same(inputs, attr);
      case StepKind::Iota:
      case StepKind::Random:
      case StepKind::None:
        break;
    }
    fail(ErrorKind::Runtime, "jacobian: ", name_of(node_->op), " has no rows");
  }

  Rows one_by_one() const {
    Rows out;
    for (int64_t row = 0; row < rows_; ++row) {
      std::vector<Ref<Node>> inputs;
      std::vector<Node*> below;
      for (size_t k = 0; k < in_.size(); ++k) {
        inputs.push_back(!batched(k)            ? Ref<Node>(node_->inputs()[k])
                         : in_[k]->each.empty() ? row_of(in_[k]->all, row)
                                                : in_[k]->each[row]);
        below.push_back(inputs.back().get());
      }
      out.each.push_back(copy_node(node_, below));
    }
    if (node_->op == Op::custom_call) return out;
    out.all = out.each.empty() ? zeros(with_rows(0, node_->shape, node_->shape.rank), node_->dtype)
                               : stack(out.each, 0);
    out.each.clear();
    return out;
  }

  int64_t rows_;
  const Node* node_ = nullptr;
  std::span<const Rows* const> in_;
};

}  // namespace

std::vector<Ref<Node>> over_rows(std::vector<Ref<Node>> roots, std::span<Node* const> inputs,
                                 std::span<const Ref<Node>> rows) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    const Shape& shape = rows[k]->shape;
    if (shape.rank == 0 || shape[0] != rows[0]->shape[0] ||
        !(shape == with_rows(shape[0], inputs[k]->shape, inputs[k]->shape.rank))) {
      fail(ErrorKind::Value, "over_rows: rows of shape ", shape, " for an input of shape ",
           inputs[k]->shape);
    }
  }
  const int64_t count = rows[0]->shape[0];
  const Subgraph piece(std::move(roots), inputs, [](const Node*) { return false; });
  std::vector<Rows> made(piece.size());
  Batching batching(count);
  std::vector<const Rows*> below;
  for (size_t i = 0; i < piece.size(); ++i) {
    const Subgraph::Entry& entry = piece[i];
    if (entry.input >= 0) {
      made[i].all = rows[entry.input];
      continue;
    }
    below.clear();
    for (size_t k = 0; k < entry.node->inputs_count; ++k) {
      const int32_t at = piece.link(i, k);
      below.push_back(at == Subgraph::kOutside ? nullptr : &made[at]);
    }
    made[i] = batching.made(entry.node, below);
  }
  std::vector<Ref<Node>> out;
  for (size_t k = 0; k < piece.roots().size(); ++k) {
    const Ref<Node>& root = piece.roots()[k];
    const int32_t at = piece.root_at(k);
    out.push_back(at == Subgraph::kOutside
                      ? broadcast_to(root, with_rows(count, root->shape, root->shape.rank))
                      : made[at].all);
  }
  return out;
}

}  // namespace pullback
