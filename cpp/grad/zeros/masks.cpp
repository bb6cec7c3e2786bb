// Moves the structural zeros of cotangents: entry by entry (grad/zeros/entry_moves.h), through
// products and through composites.

#include "grad/zeros/masks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "grad/zeros/entry_moves.h"
#include "ops/expr.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

bool multiplies(const Node* node) {
  return node->op == Op::euclidean_norm ||
         (node->op == Op::at_index && node->attr.update == Update::Multiply);
}

// Products with a finite number, and quotients by a number other than 0.
bool has_finite_slope(const Node* node) {
  const auto number = [](const Node* x, bool divides) {
    if (x->op != Op::scalar || x->refs > x->users) return false;  // its gradient may be requested
    const double value = is_float(x->dtype) ? x->scalar.f : static_cast<double>(x->scalar.i);
    return std::isfinite(value) && !(divides && value == 0);
  };
  if (node->op == Op::multiply) return number(node->in[0], false) || number(node->in[1], false);
  return node->op == Op::divide && number(node->in[1], true);
}

// For cotangents of a product at the shape of the whole batch: the rows of g are those of one
// operand, its columns those of the other.
FactoredMask moved_in_product(const Node* product, const FactoredMask& nonzero, size_t k,
                              const Cotangent& answer, Zeros zeros) {
  const int64_t rank = product->shape.rank;
  const bool reduces = zeros >= Zeros::Keep;
  const FactoredMask out = nonzero.folded(rank, axis_bit(k == 0 ? rank - 1 : rank - 2), reduces);
  Shape from = product->shape;
  const Shape& input = product->in[k]->shape;
  (k == 0 ? from[rank - 1] : from[rank - 2]) = input[input.rank - (k == 0 ? 1 : 2)];
  return answer.value->shape == from ? out : out.summed(from, answer.value->shape, reduces);
}

// The axes of a product over which the cotangent of input k is a sum.
AxisMask summed_axes(const Node* product, size_t k) {
  const int64_t rank = product->shape.rank;
  const Shape& input = product->in[k]->shape;
  AxisMask axes = axis_bit(k == 0 ? rank - 1 : rank - 2);
  for (int64_t d = 0; d < rank - 2; ++d) {
    const int64_t own = d - (rank - input.rank);
    if (own < 0 || input[own] != product->shape[d]) axes |= axis_bit(d);
  }
  return axes;
}

// Operand k, set to zero where it is multiplied by structural zeros only and the mask of the
// product's other cotangent does not express that.
NodeRef guarded_operand(const Node* product, const FactoredMask& nonzero, size_t k, Zeros zeros) {
  NodeRef operand(product->in[k]);
  const int64_t rank = product->shape.rank;
  const bool reduces = zeros >= Zeros::Keep;
  const AxisMask sums = summed_axes(product, 1 - k);
  const FactoredMask all = nonzero.folded(rank, axis_bit(k == 0 ? rank - 1 : rank - 2), reduces);
  FactoredMask uses;
  for (const NodeRef& factor : all.factors()) {
    if (varies(factor.get(), rank, sums)) uses.intersect(factor);
  }
  if (uses.everywhere()) return operand;
  Shape from = product->shape;
  const Shape& own = operand->shape;
  (k == 0 ? from[rank - 1] : from[rank - 2]) = own[own.rank - (k == 0 ? 1 : 2)];
  uses = uses.summed(from, own, reduces);
  if (uses.everywhere()) return operand;
  return formula::where(Expr(uses.tensor()), Expr(operand), scalar(operand->dtype, 0));
}

}  // namespace

Zeros zeros_of(const Node* node, Zeros below) {
  switch (traits(node->op).mask) {
    case Mask::Stops:
      return Zeros::Drop;
    case Mask::Entry:
      return below;
    case Mask::Bounded:
      return has_finite_slope(node) ? below : std::max(below, Zeros::Keep);
    case Mask::Scales:
      return has_finite_slope(node) ? below : Zeros::Near;
    case Mask::Moves:
      return multiplies(node) ? std::max(below, Zeros::Keep) : below;
    case Mask::Mixes:
      // Testing whether all of a row or column of a product is zero is not always worth a
      // reduction.
      if (node->op != Op::matmul) return below;
      return below >= Zeros::Keep ? Zeros::Far : Zeros::Cheap;
  }
  return Zeros::Drop;
}

Zeros zeros_of_composite(Zeros below) { return std::max(below, Zeros::Cheap); }

NodeRef dense_of(const NodeRef& value, const FactoredMask& nonzero, bool clean) {
  if (nonzero.everywhere() || clean) return value;
  return formula::where(Expr(nonzero.tensor()), Expr(value), scalar(value->dtype, 0));
}

void resolve_mask(const Node* node, Cotangent* answer, Zeros zeros) {
  if (answer->mask == nullptr) return;
  const bool kept = zeros == Zeros::Cheap ? node->op == Op::where
                    : zeros == Zeros::Far ? !answer->clean || !is_elementwise(node->op)
                                          : true;
  if (kept) return;
  FactoredMask own;
  own.intersect(std::exchange(answer->mask, nullptr));
  answer->value = dense_of(answer->value, own, answer->clean);
}

bool keeps_zeros(const Node* node) {
  const Mask pass = traits(node->op).mask;
  return pass != Mask::Scales && pass != Mask::Bounded && node->op != Op::matmul &&
         !multiplies(node);
}

FactoredMask moved(const Node* node, const FactoredMask& nonzero, size_t k, const Cotangent& answer,
                   Zeros zeros) {
  if (traits(node->op).mask == Mask::Stops) return {};
  if (node->op == Op::matmul) return moved_in_product(node, nonzero, k, answer, zeros);
  return move_mask(node, nonzero, k, Direction::ToInput);
}

FactoredMask moved_in_composite(const Node* node, const FactoredMask& nonzero, Zeros zeros) {
  const int64_t rank = node->in[1]->shape.rank;
  switch (node->attr.composite) {
    case Composite::softmax:
    case Composite::log_softmax:
      return nonzero.folded(rank, axis_bit(node->attr.axis), zeros >= Zeros::Keep);
    case Composite::max:
    case Composite::min:
    case Composite::logsumexp: {
      FactoredMask out;
      for (const NodeRef& factor : nonzero.factors()) {
        const NodeRef full = aligned(factor, node->shape.rank);
        Shape shape;
        for (int64_t d = 0, from = 0; d < rank; ++d) {
          const bool folded = node->attr.axes >> d & 1;
          shape.append(folded ? 1 : full->shape[from]);
          from += !folded || node->shape.rank == rank;
        }
        out.intersect(reshape(full, shape));
      }
      return out;
    }
    case Composite::None:
    case Composite::mean:
    case Composite::prod:
    case Composite::pow:
    case Composite::softmax_cross_entropy:
    case Composite::sparse_softmax_cross_entropy:
    case Composite::solve:
    case Composite::det:
    case Composite::logabsdet:
    case Composite::count:
      break;  // no rule of their own, or (linear algebra) one that mixes all entries
  }
  return {};
}

NodeRef guarded_product(Node* product, const FactoredMask& nonzero, std::span<const uint8_t> wanted,
                        Zeros left, Zeros right) {
  NodeRef a(product->in[0]);
  NodeRef b(product->in[1]);
  if (wanted[1]) a = guarded_operand(product, nonzero, 0, left);
  if (wanted[0]) b = guarded_operand(product, nonzero, 1, right);
  if (a == product->in[0] && b == product->in[1]) return {product};
  return matmul(a, b);
}

}  // namespace pullback
