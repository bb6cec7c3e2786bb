// Recognises sums of products in the cotangent of a constant, and multiplies after the loop.
#include "grad/control/summed_products.h"

#include <algorithm>

namespace pullback {
namespace {

// Products of this many rows are as fast one by one (1.5 times the time of one product for 1 row,
// 1.3 for 4 and 8, 1.15 for 16, 0.97 to 1.02 for 32 to 128, float32 with AVX-512).
constexpr int64_t kManyRows = 32;
constexpr size_t kMostProducts = 64;  // in the sum of an iteration
constexpr int64_t kMostMemory = 4;    // stacked factors, in times of the states

bool is_matrix(const Node* node) { return node->shape.rank == 2; }

bool is_matrix_transpose(const Node* node) {
  return node->op == Op::transpose && is_matrix(node) && node->attr.order[0] == 1 &&
         node->inputs_count == 1;
}

// The matrix whose rows a node sums, to a vector or a matrix of one row; else null.
Node* summed_matrix(const Node* node) {
  if (node->op == Op::reshape && is_matrix(node) && node->shape[0] == 1) node = node->in[0];
  const bool sums = node->op == Op::sum && node->attr.axes == axis_bit(0) && !node->rule;
  return sums && is_matrix(node->in[0]) && node->dtype == node->in[0]->dtype ? node->in[0]
                                                                             : nullptr;
}

NodeRef transposed(const NodeRef& matrix) {
  return is_matrix_transpose(matrix.get()) ? NodeRef(matrix->in[0]) : transpose(matrix);
}

int64_t bytes_of(const NodeRef& node) { return node->shape.size() * size_of(node->dtype); }

NodeRef rows_of(const NodeRef& stacked) {
  return reshape(stacked, {stacked->shape[0] * stacked->shape[1], stacked->shape[2]});
}

}  // namespace

// Operations with a rule of their own are not taken apart, since second derivatives pass that rule.
std::vector<std::pair<NodeRef, NodeRef>> SummedProducts::factors_of(const NodeRef& sum) {
  std::vector<std::pair<NodeRef, NodeRef>> out;
  std::vector<const Node*> pending{sum.get()};
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    if (node->rule || node->inputs_count < 1 || out.size() + pending.size() > kMostProducts) {
      return {};
    }
    if (node->op == Op::add) {
      if (node->in[0]->shape != node->shape || node->in[1]->shape != node->shape) return {};
      pending.push_back(node->in[1]);
      pending.push_back(node->in[0]);
      continue;
    }
    if (Node* matrix = summed_matrix(node)) {
      out.emplace_back(nullptr, NodeRef(matrix));
      continue;
    }
    const bool swapped = is_matrix_transpose(node);
    const Node* product = swapped ? node->in[0] : node;
    if (product->op != Op::matmul || product->rule || product->inputs_count != 2 ||
        !is_matrix(product) || !is_matrix(product->in[0]) || !is_matrix(product->in[1])) {
      return {};
    }
    NodeRef left = transposed(NodeRef(product->in[0]));
    NodeRef right(product->in[1]);
    if (swapped) std::swap(left, right);  // transpose(transpose(l) @ r) = transpose(r) @ l
    out.emplace_back(std::move(left), std::move(right));
  }
  return out;
}

// The values of a factor in all iterations if the loop has them: a scanned input or a residual.
NodeRef SummedProducts::find_stacked(const NodeRef& factor) const {
  const auto& inputs = loop_.body.inputs;
  const auto found = std::find(inputs.begin(), inputs.begin() + loop_.stacked_end, factor);
  const auto i = static_cast<size_t>(found - inputs.begin());
  if (i == loop_.stacked_end) return nullptr;
  return i < loop_.carries ? output_of(loop_.node, loop_.residual_output(i)) : loop_.input(i);
}

bool SummedProducts::add(size_t input, const NodeRef& cotangent) {
  if (!loop_.known() || loop_.form.trips < 2) return false;
  const auto factors = factors_of(cotangent);
  if (factors.empty()) return false;
  std::vector<NodeRef> fresh;
  int64_t bytes = 0;  // in an iteration
  for (const auto& [left, right] : factors) {
    if (left && left->shape[0] >= kManyRows) return false;
    for (const NodeRef& factor : {left, right}) {
      if (!factor || find_stacked(factor) || std::ranges::find(stacked_, factor) != stacked_.end())
        continue;
      if (std::ranges::find(fresh, factor) != fresh.end()) continue;
      fresh.push_back(factor);
      bytes += bytes_of(factor);
    }
  }
  // A carry is read and written in every iteration. The memory stays near that of the states.
  if (bytes > 2 * bytes_of(cotangent) || bytes_ + bytes > kMostMemory * bytes_of_states()) {
    return false;
  }
  bytes_ += bytes;
  Sum sum{input, cotangent->shape, {}};
  for (const auto& [left, right] : factors) {
    std::optional<Factor> first;
    if (left) first = place(left);
    sum.products.push_back({std::move(first), place(right)});
  }
  sums_.push_back(std::move(sum));
  return true;
}

int64_t SummedProducts::bytes_of_states() const {
  int64_t bytes = 0;
  for (size_t k = 0; k < loop_.carries; ++k) bytes += bytes_of(loop_.body.inputs[k]);
  return bytes;
}

SummedProducts::Factor SummedProducts::place(const NodeRef& factor) {
  if (const NodeRef all = find_stacked(factor)) return {all, 0};
  const auto found = std::ranges::find(stacked_, factor);
  const auto at = static_cast<size_t>(found - stacked_.begin());
  if (at == stacked_.size()) stacked_.push_back(factor);
  return {nullptr, at};
}

std::vector<std::pair<size_t, NodeRef>> SummedProducts::finish(
    std::span<const NodeRef> stacked) const {
  std::vector<std::pair<size_t, NodeRef>> out;
  const auto rows = [&](const Factor& factor) {
    return rows_of(factor.all ? factor.all : stacked[factor.place]);
  };
  for (const Sum& sum : sums_) {
    NodeRef total;
    for (const auto& [left, right] : sum.products) {
      total = sum_of(total, left ? matmul(transpose(rows(*left)), rows(right))
                                 : sum_to(rows(right), sum.shape));
    }
    out.emplace_back(sum.input, std::move(total));
  }
  return out;
}

}  // namespace pullback
