// FactoredMask: the mask outside of which a cotangent is a structural zero.
//
// It is the conjunction of factors, bool tensors that broadcast to the cotangent. A factor that is
// constant along some axes (a flag, a mask of rows) is stored with size 1 there, so a sum over
// these axes keeps it at no cost; a factor that varies along them must be reduced. Immutable once
// in use; everything it computes are nodes. Start at intersect() and folded().
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/attr.h"
#include "graph/node.h"

namespace pullback {

class FactoredMask {
 public:
  FactoredMask() = default;  // true everywhere

  bool everywhere() const { return factors_.empty(); }
  const std::vector<NodeRef>& factors() const { return factors_; }
  bool operator==(const FactoredMask&) const = default;

  // Null is true everywhere.
  void intersect(const NodeRef& factor);
  void intersect(const FactoredMask& other);
  // The mask without the factors that depend on any of these nodes; it is true in more places.
  FactoredMask without(std::span<const NodeRef> nodes) const;
  // As one tensor; null: true everywhere.
  NodeRef tensor() const;

  // The factors that differ along `axes` of a tensor of this rank as one, null if none does; `rest`
  // gets the others. any(A) and any(B) is weaker than any(A and B), so these factors are combined
  // first.
  NodeRef differing(int64_t rank, AxisMask axes, FactoredMask* rest) const;
  // The mask after entries of a tensor of this rank are summed along `axes`, which keep size 1: a
  // sum is a structural zero if all its terms are. Factors that vary along the axes are reduced if
  // `reduces`; otherwise they count only if their content is known.
  FactoredMask folded(int64_t rank, AxisMask axes, bool reduces) const;
  // The same for a cotangent of shape `from` that is summed down to `to`.
  FactoredMask summed(const Shape& from, const Shape& to, bool reduces) const;

 private:
  void add(const NodeRef& factor);

  std::vector<NodeRef> factors_;  // of different shapes
};

// True where any of them is true.
FactoredMask unite(std::span<const FactoredMask> masks);

// Two masks that are equal except for a condition and its negation.
struct Branches {
  NodeRef condition;  // true in the first
  FactoredMask both;
};
std::optional<Branches> choice_between(const FactoredMask& a, const FactoredMask& b);

// True if a factor varies along any of these axes of a tensor of this rank.
bool varies(const Node* factor, int64_t rank, AxisMask axes);
// Adds leading axes up to `rank`.
NodeRef aligned(const NodeRef& factor, int64_t rank);

}  // namespace pullback
