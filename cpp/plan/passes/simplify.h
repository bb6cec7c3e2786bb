// Simplification: removes views, common subexpressions, constants and dead nodes.
//
// One pass from the oldest node to the newest resolves every view to a strided view into the memory
// of another node, merges equal operations on equal operands, folds operations on constants and
// drops operations that return an operand, bit for bit: no rewrite here changes a NaN, an infinity
// or a signed zero. Nodes without readers are dropped at the end. The result is an Analysis.
#pragma once

#include <span>
#include <vector>

#include "plan/passes/snapshot.h"
#include "plan/passes/strided_views.h"

namespace pullback {

// The properties of each node of the snapshot, by its position.
struct Analysis {
  enum Kind : uint8_t {
    Input,        // a leaf with memory
    Number,       // a scalar of the run, or a constant
    View,         // never computed: a view of another node's memory, or unused
    Elementwise,  // a tile instruction
    Copy,         // a tile "instruction" that only moves: a view that must be copied
    Fold,         // a reduction
    Pick,         // one entry of each row
    Place,        // one entry of each row, zeros elsewhere
    Other,        // a step of its own
  };
  const Snapshot* snapshot = nullptr;
  std::vector<Kind> kind;
  StridedViews views;
  std::vector<Read> source;       // strided view of each node's value
  std::vector<Read> operands;     // operands of computed nodes, node after node
  std::vector<uint32_t> begin;    // first operand of each node; with the end as the last entry
  std::vector<uint8_t> stored;    // its value leaves the plan
  std::vector<uint8_t> constant;  // a Number whose value is in `value`
  std::vector<Scalar> value;

  const Node* node(uint32_t i) const { return snapshot->nodes[i]; }
  uint32_t size() const { return static_cast<uint32_t>(kind.size()); }
  bool computed(uint32_t i) const { return kind[i] >= Elementwise; }
  bool tile(uint32_t i) const { return computed(i) && kind[i] != Other; }
  const Strided& strided(const Read& read) const { return views[read.view]; }
  const Shape& shape(uint32_t i) const { return strided(source[i]).shape; }
  int64_t elements(uint32_t i) const { return views.elements(source[i].view); }
  // True if it reads exactly the elements of its base, in order.
  bool is_flat(const Read& read) const {
    return views.is_flat(read.view) && views.elements(read.view) == elements(read.base);
  }
  std::span<const Read> reads(uint32_t i) const {
    if (!computed(i)) return {};
    return {operands.data() + begin[i], operands.data() + begin[i + 1]};
  }
};

Analysis simplify(const Snapshot& snapshot);

}  // namespace pullback
