// Products of matrices in a batch: the parts of Batcher that StepKind::Product calls.
#include "graph/rule.h"
#include "ops/ops.h"
#include "transform/batcher.h"

namespace pullback {

// The zeros of a unit vector are structural: they meet no infinity of the matrix.
NodeRef Batcher::product_with_units() const {
  const auto is_number = [](const Node* node, double value) {
    return node->op == Op::scalar && is_float(node->dtype) && node->scalar.f == value;
  };
  const auto is_unit = [&](const Node* node) {
    while (node->op == Op::reshape) node = node->in[0];
    return node->op == Op::where && node->in[0] == batching_.inputs[0].get() &&
           node->shape.size() == count_ && is_number(node->in[1], 1) && is_number(node->in[2], 0);
  };
  for (const size_t k : {0, 1}) {
    const Node *matrix = node_->in[1 - k], *vector = node_->in[k];
    if (!has_batch(k) || has_batch(1 - k) || matrix->shape.rank != 2 || vector->shape.rank != 2 ||
        vector->shape.size() != count_ || vector->shape[1 - k] != count_ || !is_unit(vector)) {
      continue;
    }
    const NodeRef rows = k == 0 ? input(1) : swap_last_axes(input(0));
    return reshape(rows, with_batch(count_, node_->shape, 2));
  }
  return nullptr;
}

// One matrix times a thin matrix per entry: one product with the columns of all entries as rows. A
// few columns fill only a part of a vector of the processor; the result is transposed, which is
// worth it for long sums. A single column needs no transposition.
NodeRef Batcher::product_of_columns() const {
  constexpr int64_t kThin = 4, kLongSum = 32;
  const Node *a = node_->in[0], *b = node_->in[1];
  if (has_batch(0) || a->shape.rank != 2 || b->shape.rank != 2) return nullptr;
  const int64_t columns = b->shape[1];
  const bool thin = columns > 1 && columns <= kThin && b->shape[0] >= kLongSum;
  if (columns != 1 && !thin) return nullptr;
  const NodeRef rows = reshape(swap_last_axes(input(1)), {count_ * columns, b->shape[0]});
  const NodeRef out = like_product(rows, swap_last_axes(input(0)));
  return swap_last_axes(reshape(out, {count_, columns, node_->shape[0]}));
}

NodeRef Batcher::like_product(const NodeRef& a, const NodeRef& b) const {
  NodeRef out = matmul(a, b);
  out->in_composite = node_->in_composite;
  if (!by_users_rule(node_)) out->rule = node_->rule;
  return out;
}

}  // namespace pullback
