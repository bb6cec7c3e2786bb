#include "plan/fuse.h"

#include <algorithm>

#include "graph/walk.h"

namespace pullback {
namespace {

// Long groups would outgrow the first-level cache: each live value is a tile.
constexpr size_t kMaxMembers = 48;

Analysis::Kind kind_of(const Node* node) {
  if (node->op == Op::scalar) return Analysis::Number;
  if (is_input(node)) return Analysis::Input;
  if (is_elementwise(node->op)) return Analysis::Elementwise;
  if (is_view(node->op)) return Analysis::Window;
  return is_reduction(node->op) ? Analysis::Fold : Analysis::Other;
}

// Brings an operand of an elementwise node to the node's own shape.
NodeView broadcast_view(NodeView view, const Shape& shape) {
  const int64_t lead = shape.rank - view.shape.rank;
  Strides strides{};
  for (int64_t d = lead; d < shape.rank; ++d) {
    strides[d] = view.shape[d - lead] == 1 ? 0 : view.strides[d - lead];
  }
  view.shape = shape;
  view.strides = strides;
  return view;
}

}  // namespace

Analysis analyse(const Snapshot& s) {
  const auto n = static_cast<uint32_t>(s.nodes.size());
  Analysis a;
  a.snapshot = &s;
  a.kind.resize(n);
  a.view.resize(n);
  a.begin.reserve(n + 1);
  a.operands.reserve(2 * static_cast<size_t>(n));
  a.stored.assign(n, 0);
  a.unit_of.assign(n, -1);
  for (uint32_t i = 0; i < n; ++i) {
    a.begin.push_back(static_cast<uint32_t>(a.operands.size()));
    const Node* node = s.nodes[i];
    a.kind[i] = kind_of(node);
    a.view[i] = whole(i, node->shape);
    if (a.kind[i] == Analysis::Window) {
      const NodeView input = a.view[value_inputs(node)[0]->index];
      NodeView view;
      const bool possible = apply_view(node, input, &view);
      const Node* base = s.nodes[view.base];
      // A wanted value owns row-major memory: a view of all of its base shares it, others copy.
      const bool shareable = a.kind[view.base] != Analysis::Number && is_flat(view, base);
      if (possible && (!s.wanted[i] || shareable)) {
        a.view[i] = view;
        if (s.wanted[i]) a.stored[view.base] = 1;
      } else {
        a.kind[i] = Analysis::Copy;
        // A reshape reads its input in row-major order, whatever the input's own shape.
        a.operands.push_back(node->op == Op::reshape ? input : view);
        a.stored[i] |= s.wanted[i];
      }
      continue;
    }
    if (a.kind[i] == Analysis::Input || a.kind[i] == Analysis::Number) continue;
    a.stored[i] |= s.wanted[i];
    for (const Node* input : value_inputs(node)) {
      const NodeView& view = a.view[input->index];
      a.operands.push_back(a.kind[i] == Analysis::Elementwise ? broadcast_view(view, node->shape)
                                                              : view);
    }
  }
  a.begin.push_back(static_cast<uint32_t>(a.operands.size()));
  return a;
}

void fuse(Analysis* analysis) {
  Analysis& a = *analysis;
  const auto& nodes = a.snapshot->nodes;
  const auto n = static_cast<uint32_t>(nodes.size());
  // Per node: the earliest unit that uses it, and whether every use in that unit reads it in order.
  struct Use {
    int32_t unit = -1;
    bool flat = true;
  };
  std::vector<Use> use(n);
  const auto unit_last = [&](int32_t unit) { return a.units[unit].last; };

  for (uint32_t i = n; i-- > 0;) {
    const Analysis::Kind kind = a.kind[i];
    if (kind < Analysis::Elementwise) continue;
    const bool elementwise = kind == Analysis::Elementwise || kind == Analysis::Copy;
    const int64_t size = nodes[i]->shape.size();
    int32_t unit = -1;
    if (elementwise && use[i].unit >= 0 && use[i].flat) {
      const Unit& candidate = a.units[use[i].unit];
      if (candidate.tiles && candidate.count == size && candidate.members.size() < kMaxMembers) {
        unit = use[i].unit;
      }
    }
    if (unit < 0) {
      unit = static_cast<int32_t>(a.units.size());
      const bool tiles = elementwise || kind == Analysis::Fold;
      const int64_t count = kind == Analysis::Fold ? a.reads(i)[0].shape.size() : size;
      a.units.push_back({i, tiles, count, {}});
    }
    a.units[unit].members.push_back(i);
    a.unit_of[i] = unit;
    for (const NodeView& read : a.reads(i)) {
      Use& u = use[read.base];
      const bool flat = is_flat(read, nodes[read.base]);
      if (u.unit < 0 || unit_last(unit) < unit_last(u.unit)) {
        u = {unit, flat};
      } else if (u.unit == unit) {
        u.flat &= flat;
      }
    }
  }
  // Oldest first, and unit numbers to match.
  std::vector<int32_t> order(a.units.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(),
            [&](int32_t x, int32_t y) { return unit_last(x) < unit_last(y); });
  std::vector<int32_t> place(order.size());
  std::vector<Unit> sorted;
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<int32_t>(i);
    sorted.push_back(std::move(a.units[order[i]]));
    std::reverse(sorted.back().members.begin(), sorted.back().members.end());
  }
  a.units = std::move(sorted);
  for (int32_t& unit : a.unit_of) {
    if (unit >= 0) unit = place[unit];
  }
}

}  // namespace pullback
