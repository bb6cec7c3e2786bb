// The algebra of masks. No value is read: facts known when the gradient is built (slices that cover
// their tensor, a condition and its negation) cost nothing at run time.

#include "grad/zeros/factored_mask.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "grad/zeros/slice_masks.h"
#include "graph/walk.h"
#include "ops/expr.h"

namespace pullback {
namespace {

// True where any entry along the axes is true; null: everywhere, or unknown and not worth a
// reduction.
NodeRef any_along(const NodeRef& mask, AxisMask axes, bool reduces) {
  const int64_t rank = mask->shape.rank;
  if (is_true(mask.get())) return nullptr;
  if (is_slice_mask(mask.get()) && mask->in[0]->shape.size() > 0) {
    Shape inside = mask->in[0]->shape;
    Shape shape = mask->shape;
    for (int64_t d = 0; d < rank; ++d) {
      if (axes >> d & 1) inside[d] = shape[d] = 1;
    }
    return slice_mask(inside, shape, *mask->slice);
  }
  if (mask->op == Op::place && mask->inputs_count > 0 && !mask->rule && axes >> (rank - 1) & 1) {
    Shape shape = mask->shape;
    shape[rank - 1] = 1;
    const NodeRef picked = reshape(NodeRef(mask->in[0]), shape);
    return varies(picked.get(), rank, axes) ? any_along(picked, axes, reduces)
           : is_true(mask->in[0])           ? nullptr
                                            : picked;
  }
  if (!reduces) return nullptr;
  std::vector<int64_t> numbers;
  for (int64_t d = 0; d < rank; ++d) {
    if (axes >> d & 1 && mask->shape[d] != 1) numbers.push_back(d);
  }
  return reduce(Op::any, mask, numbers, true);
}

// a or b. If b is true in a slice only, the cost is that of the slice: a tensor may have many
// slices. For bools, adding is "or".
NodeRef either(const NodeRef& a, const NodeRef& b) {
  const bool is_part =
      (b->op == Op::embed || b->op == Op::scatter_add) && b->inputs_count > 0 && !b->rule;
  if (!is_part || !broadcasts_to(a->shape, b->shape)) return formula::logical_or(Expr(a), Expr(b));
  const NodeRef base = broadcast_to(a, b->shape);
  if (b->slice) return at_slice(base, b->in[0], *b->slice, Update::Add);
  return at_index(base, b->in[0], b->in[1], b->attr.axis, Update::Add, false);
}

bool is_negation(const Node* a, const Node* b) {
  return a->op == Op::logical_not && a->inputs_count == 1 && !a->rule && a->in[0] == b;
}

// The union of several masks; null if it is known to be everywhere.
NodeRef any_of(std::span<const NodeRef> masks) {
  std::vector<NodeRef> slices;
  std::copy_if(masks.begin(), masks.end(), std::back_inserter(slices),
               [](const NodeRef& mask) { return is_slice_mask(mask.get()); });
  if (slices.size() > 1 && cover(slices)) return nullptr;
  NodeRef out = masks[0];
  for (size_t i = 1; i < masks.size(); ++i) {
    if (masks[i] == masks[i - 1]) continue;
    if (is_negation(out.get(), masks[i].get()) || is_negation(masks[i].get(), out.get())) {
      return nullptr;
    }
    out = either(out, masks[i]);
  }
  return out;
}

bool contains(const FactoredMask& nonzero, const NodeRef& factor) {
  const auto& all = nonzero.factors();
  return std::find(all.begin(), all.end(), factor) != all.end();
}

// The factors that all masks have; `rest` gets the others of each.
FactoredMask common(std::span<const FactoredMask> masks, std::vector<FactoredMask>* rest) {
  FactoredMask out;
  for (const NodeRef& factor : masks[0].factors()) {
    if (std::all_of(masks.begin(), masks.end(),
                    [&](const FactoredMask& other) { return contains(other, factor); })) {
      out.intersect(factor);
    }
  }
  for (const FactoredMask& nonzero : masks) {
    FactoredMask& left = rest->emplace_back();
    for (const NodeRef& factor : nonzero.factors()) {
      if (!contains(out, factor)) left.intersect(factor);
    }
  }
  return out;
}

// A row mask that was combined with wide ones is found in its narrow form. Returns the size of the
// narrowest factor. A loop may have combined very many, so only a few are examined.
constexpr int kDeep = 3;
struct Parts {
  std::array<Node*, 1 << kDeep> nodes;
  size_t count = 0;
};
int64_t parts_of(Node* mask, int deep, Parts* parts) {
  const bool made = deep > 0 && mask->inputs_count > 0 && !mask->rule;
  if (made && mask->op == Op::broadcast_to) return parts_of(mask->in[0], deep - 1, parts);
  if (made && mask->op == Op::logical_and) {
    const int64_t one = parts_of(mask->in[0], deep - 1, parts);
    return std::min(one, parts_of(mask->in[1], deep - 1, parts));
  }
  parts->nodes[parts->count++] = mask;
  return mask->shape.size();
}

}  // namespace

bool varies(const Node* factor, int64_t rank, AxisMask axes) {
  const int64_t lead = rank - factor->shape.rank;
  for (int64_t d = 0; d < factor->shape.rank; ++d) {
    if (axes >> (lead + d) & 1 && factor->shape[d] != 1) return true;
  }
  return false;
}

NodeRef aligned(const NodeRef& factor, int64_t rank) {
  Shape shape;
  for (int64_t i = factor->shape.rank; i < rank; ++i) shape.append(1);
  for (int64_t i = 0; i < factor->shape.rank; ++i) shape.append(factor->shape[i]);
  return reshape(factor, shape);
}

void FactoredMask::intersect(const NodeRef& factor) {
  if (factor == nullptr) return;
  Parts parts;
  if (parts_of(factor.get(), kDeep, &parts) == factor->shape.size()) return add(factor);
  for (size_t i = 0; i < parts.count; ++i) add(NodeRef(parts.nodes[i]));
}

void FactoredMask::add(const NodeRef& factor) {
  if (contains(*this, factor)) return;
  for (NodeRef& other : factors_) {
    if (!(other->shape == factor->shape)) continue;
    other = formula::logical_and(Expr(other), Expr(factor));
    return;
  }
  factors_.push_back(factor);
}

void FactoredMask::intersect(const FactoredMask& other) {
  for (const NodeRef& factor : other.factors_) intersect(factor);
}

FactoredMask FactoredMask::without(std::span<const NodeRef> nodes) const {
  uint64_t oldest = UINT64_MAX;
  for (const NodeRef& node : nodes) {
    if (node) oldest = std::min(oldest, node->seq);
  }
  FactoredMask out;
  for (const NodeRef& factor : factors_) {
    std::vector<Node*> under;
    // Older nodes do not depend on them.
    walk(pointers({&factor, 1}), &under, [&](const Node* node) {
      return node->seq > oldest ? node->inputs() : std::span<Node* const>();
    });
    const auto is_one = [&](const Node* node) {
      return std::ranges::any_of(nodes, [&](const NodeRef& one) { return one.get() == node; });
    };
    if (std::ranges::none_of(under, is_one)) out.factors_.push_back(factor);
  }
  return out;
}

NodeRef FactoredMask::tensor() const {
  NodeRef out;
  for (const NodeRef& factor : factors_) {
    out = out ? formula::logical_and(Expr(out), Expr(factor)).node : factor;
  }
  return out;
}

NodeRef FactoredMask::differing(int64_t rank, AxisMask axes, FactoredMask* rest) const {
  FactoredMask differs;
  for (const NodeRef& factor : factors_) {
    varies(factor.get(), rank, axes) ? differs.intersect(aligned(factor, rank))
                                     : rest->intersect(factor);
  }
  return differs.tensor();
}

FactoredMask FactoredMask::folded(int64_t rank, AxisMask axes, bool reduces) const {
  FactoredMask out;
  const NodeRef mixed = differing(rank, axes, &out);
  if (mixed) out.intersect(any_along(mixed, axes, reduces));
  return out;
}

FactoredMask FactoredMask::summed(const Shape& from, const Shape& to, bool reduces) const {
  const int64_t lead = from.rank - to.rank;
  AxisMask axes = 0;
  for (int64_t i = 0; i < from.rank; ++i) {
    if (i < lead || (to[i - lead] == 1 && from[i] != 1)) axes |= axis_bit(i);
  }
  FactoredMask out;
  const FactoredMask sums = folded(from.rank, axes, reduces);
  for (const NodeRef& factor : sums.factors_) {
    const Shape& old = factor->shape;
    Shape shape;
    for (int64_t i = std::max<int64_t>(old.rank - to.rank, 0); i < old.rank; ++i) {
      shape.append(old[i]);
    }
    out.intersect(reshape(factor, shape));
  }
  return out;
}

FactoredMask unite(std::span<const FactoredMask> masks) {
  std::vector<FactoredMask> rest;
  FactoredMask out = common(masks, &rest);
  if (std::any_of(rest.begin(), rest.end(), [](const FactoredMask& s) { return s.everywhere(); })) {
    return out;
  }
  std::vector<NodeRef> whole;
  for (const FactoredMask& nonzero : rest) whole.push_back(nonzero.tensor());
  const NodeRef exact = any_of(whole);
  // If several factors differ, the union of narrow ones is narrow too.
  for (const NodeRef& factor : rest[0].factors()) {
    if (exact == nullptr || factor->shape == exact->shape) continue;
    std::vector<NodeRef> like;
    for (const FactoredMask& nonzero : rest) {
      for (const NodeRef& other : nonzero.factors()) {
        if (other->shape == factor->shape) like.push_back(other);
      }
    }
    if (like.size() == rest.size()) out.intersect(any_of(like));
  }
  out.intersect(exact);
  return out;
}

std::optional<Branches> choice_between(const FactoredMask& a, const FactoredMask& b) {
  std::vector<FactoredMask> rest;
  const FactoredMask both = common(std::vector<FactoredMask>{a, b}, &rest);
  if (rest[0].factors().size() != 1 || rest[1].factors().size() != 1) return std::nullopt;
  const NodeRef& first = rest[0].factors()[0];
  const NodeRef& second = rest[1].factors()[0];
  if (!is_negation(first.get(), second.get()) && !is_negation(second.get(), first.get())) {
    return std::nullopt;
  }
  return Branches{first, both};
}

}  // namespace pullback
