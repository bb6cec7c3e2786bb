// Each node, oldest first, is resolved to a view, merged with an equal one, or folded.
// Equal items are found by hash (Seen) and compared in full.
#include "plan/simplify.h"

#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "graph/walk.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

Analysis::Kind kind_of(const Node* node) {
  if (node->op == Op::scalar) return Analysis::Number;
  if (is_input(node)) return Analysis::Input;
  switch (traits(node->op).kind) {
    case OpKind::Elementwise:
      return Analysis::Elementwise;
    case OpKind::Alias:
    case OpKind::Reshape:
    case OpKind::Transpose:
    case OpKind::Broadcast:
    case OpKind::Slice:
      return Analysis::Window;
    case OpKind::Fold:
      return Analysis::Fold;
    case OpKind::Pick:
      return Analysis::Pick;
    case OpKind::Place:
      return Analysis::Place;
    case OpKind::ArgFold:
    case OpKind::Product:
    case OpKind::Concat:
    case OpKind::Embed:
    case OpKind::AtWindow:
    case OpKind::Indexed:
    case OpKind::Iota:
    case OpKind::Random:
      return Analysis::Other;
    case OpKind::Leaf:
      break;  // all are inputs
  }
  return Analysis::Input;
}

// Brings an operand of an elementwise node to the node's own shape.
NodeView broadcast_view(NodeView view, const Shape& shape) {
  const int64_t lead = shape.rank - view.shape.rank;
  Strides strides;
  strides.resize(shape.rank);
  for (int64_t d = lead; d < shape.rank; ++d) {
    strides[d] = view.shape[d - lead] == 1 ? 0 : view.strides[d - lead];
  }
  view.shape = shape;
  view.strides = std::move(strides);
  return view;
}

bool same_view(const NodeView& a, const NodeView& b) {
  return a.base == b.base && a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

// Positions of equal items, by open addressing.
class Seen {
 public:
  explicit Seen(size_t items) : slots_(std::bit_ceil(2 * items + 2), kEmpty) {}

  // The first item with this hash that is `equal` to this one, else this one, which is kept.
  template <class Equal>
  uint32_t find(uint64_t hash, uint32_t item, const Equal& equal) {
    const size_t mask = slots_.size() - 1;
    for (size_t at = (hash ^ hash >> 32) & mask;; at = (at + 1) & mask) {
      if (slots_[at] == kEmpty) return slots_[at] = item;
      if (equal(slots_[at])) return slots_[at];
    }
  }

 private:
  static constexpr uint32_t kEmpty = UINT32_MAX;
  std::vector<uint32_t> slots_;
};

template <class T>
std::optional<T> arithmetic(Op op, T a, T b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    case Op::divide:
      return a / b;
    case Op::negative:
      return -a;
    case Op::square:
      return a * a;
    default:
      return std::nullopt;
  }
}

class Simplifier {
 public:
  explicit Simplifier(const Snapshot& s) : s_(s), seen_(s.nodes.size()) {
    const size_t n = s.nodes.size();
    a_.snapshot = &s;
    a_.kind.resize(n);
    a_.view.resize(n);
    a_.begin.reserve(n + 1);
    a_.operands.reserve(2 * n);
    a_.stored.assign(n, 0);
    a_.constant.assign(n, 0);
    a_.value.resize(n);
  }

  Analysis run() {
    for (uint32_t i = 0; i < a_.size(); ++i) {
      a_.begin.push_back(static_cast<uint32_t>(a_.operands.size()));
      resolve(i);
      if (a_.computed(i)) a_.stored[i] |= s_.wanted[i];
    }
    a_.begin.push_back(static_cast<uint32_t>(a_.operands.size()));
    drop_dead();
    return std::move(a_);
  }

 private:
  std::span<NodeView> operands(uint32_t i) {
    return {a_.operands.data() + a_.begin[i], a_.operands.data() + a_.operands.size()};
  }

  void resolve(uint32_t i) {
    const Node* node = a_.node(i);
    a_.kind[i] = kind_of(node);
    a_.view[i] = whole(i, node->shape);
    switch (a_.kind[i]) {
      case Analysis::Input:
        return;
      case Analysis::Number:
        if (!s_.is_constant(node)) return;
        set_constant(i, node->scalar);
        return;
      case Analysis::Window:
        return resolve_window(i);
      default:
        break;
    }
    for (const Node* input : value_inputs(node)) {
      const NodeView& view = a_.view[input->index];
      a_.operands.push_back(a_.kind[i] == Analysis::Elementwise ? broadcast_view(view, node->shape)
                                                                : view);
    }
    if (const std::optional<NodeView> known = identity_of(i)) return become(i, *known);
    if (fold_constants(i)) return;
    merge(i);
  }

  void resolve_window(uint32_t i) {
    const Node* node = a_.node(i);
    const NodeView input = a_.view[value_inputs(node)[0]->index];
    NodeView view;
    if (apply_view(node, input, &view)) return become(i, view);
    // A reshape reads its input in row-major order, whatever the input's own shape.
    a_.kind[i] = Analysis::Copy;
    a_.operands.push_back(input);
    merge(i);
  }

  // Node i is a window into another. A wanted value owns row-major memory: a window onto all of its
  // base shares it, others are copied.
  void become(uint32_t i, const NodeView& view) {
    a_.operands.resize(a_.begin[i]);
    a_.view[i] = view;
    a_.kind[i] = Analysis::Window;
    if (!s_.wanted[i]) return;
    if (a_.kind[view.base] != Analysis::Number && is_flat(view, a_.node(view.base))) {
      a_.stored[view.base] = 1;
      return;
    }
    a_.kind[i] = Analysis::Copy;
    a_.view[i] = whole(i, a_.node(i)->shape);
    a_.operands.push_back(view);
    merge(i);
  }

  // --- equal items

  void merge(uint32_t i) {
    const uint32_t first = seen_.find(hash(i), i, [&](uint32_t j) { return equal(i, j); });
    if (first == i) return;
    a_.operands.resize(a_.begin[i]);
    a_.kind[i] = Analysis::Window;
    a_.view[i] = a_.view[first];
    a_.stored[first] |= s_.wanted[i];
  }

  uint64_t hash(uint32_t i) {
    const Node* node = a_.node(i);
    uint64_t h = mix(static_cast<uint64_t>(a_.kind[i]) << 32 | static_cast<uint64_t>(node->op),
                     static_cast<uint64_t>(node->dtype));
    if (a_.constant[i]) return mix(h, static_cast<uint64_t>(a_.value[i].i));
    for (int64_t d = 0; d < node->shape.rank; ++d)
      h = mix(h, static_cast<uint64_t>(node->shape[d]));
    for (const NodeView& view : operands(i)) {
      h = mix(mix(h, view.base), static_cast<uint64_t>(view.offset));
    }
    return h;
  }

  bool equal(uint32_t i, uint32_t j) {
    const Node* x = a_.node(i);
    const Node* y = a_.node(j);
    if (a_.kind[i] != a_.kind[j] || x->dtype != y->dtype || a_.constant[i] != a_.constant[j]) {
      return false;
    }
    if (a_.constant[i]) return a_.value[i].i == a_.value[j].i;
    if (a_.kind[i] != Analysis::Copy && (x->op != y->op || !(x->attr == y->attr))) return false;
    if (!(x->shape == y->shape)) return false;
    if (x->window || y->window) {
      if (a_.kind[i] != Analysis::Copy &&
          (!x->window || !y->window || !(*x->window == *y->window))) {
        return false;
      }
    }
    const std::span<NodeView> mine = operands(i);
    const size_t count = a_.begin[j + 1] - a_.begin[j];
    if (mine.size() != count) return false;
    for (size_t k = 0; k < count; ++k) {
      if (!same_view(mine[k], a_.operands[a_.begin[j] + k])) return false;
    }
    return true;
  }

  // --- constants

  // Node i is this number everywhere. Equal constants are one.
  void set_constant(uint32_t i, Scalar value) {
    a_.operands.resize(a_.begin[i]);
    a_.kind[i] = Analysis::Number;
    a_.constant[i] = 1;
    a_.value[i] = value;
    const uint32_t first = seen_.find(hash(i), i, [&](uint32_t j) { return equal(i, j); });
    NodeView view{first, 0, a_.node(i)->shape, {}};
    view.strides.resize(view.shape.rank);  // the same number everywhere
    a_.view[i] = std::move(view);
    if (first == i) return;
    a_.constant[i] = 0;
    a_.kind[i] = Analysis::Window;
  }

  const Scalar* constant_of(const NodeView& view) const {
    return a_.constant[view.base] ? &a_.value[view.base] : nullptr;
  }
  DType dtype_of(const NodeView& view) const { return a_.node(view.base)->dtype; }

  bool is_number(const NodeView& view, double number) const {
    const Scalar* c = constant_of(view);
    if (!c) return false;
    if (!is_float(dtype_of(view))) return static_cast<double>(c->i) == number;
    return c->f == number && std::signbit(c->f) == std::signbit(number);
  }

  bool fold_constants(uint32_t i) {
    // A wanted constant needs memory, and is computed into it.
    if (s_.wanted[i]) return false;
    const Node* node = a_.node(i);
    const std::span<NodeView> in = operands(i);
    if (in.empty() || a_.kind[i] > Analysis::Fold) return false;
    for (const NodeView& view : in) {
      if (!a_.constant[view.base]) return false;
    }
    const Scalar a = a_.value[in[0].base];
    const Scalar b = a_.value[in[in.size() > 1].base];
    const DType from = dtype_of(in[0]);
    Scalar out{};
    if (node->op == Op::cast) {
      out = convert_scalar(a, from, node->dtype);
    } else if (node->op == Op::logical_not) {
      out.i = !a.i;
    } else if (node->op == Op::sum && is_float(node->dtype) && in[0].shape.size() < (1 << 24) &&
               (a.f == 0 || a.f == 1)) {
      // Sums of zeros and of ones are exact.
      const int64_t folds = in[0].shape.size() / std::max<int64_t>(node->shape.size(), 1);
      out.f = node->shape.size() ? a.f * static_cast<double>(folds) : 0;
    } else if (node->dtype == DType::Float32 && is_elementwise(node->op)) {
      const auto folded = arithmetic(node->op, static_cast<float>(a.f), static_cast<float>(b.f));
      if (!folded) return false;
      out.f = *folded;
    } else if (node->dtype == DType::Float64 && is_elementwise(node->op)) {
      const auto folded = arithmetic(node->op, a.f, b.f);
      if (!folded) return false;
      out.f = *folded;
    } else {
      return false;
    }
    set_constant(i, out);
    return true;
  }

  // --- operations that give back an operand

  std::optional<NodeView> identity_of(uint32_t i) {
    const std::span<NodeView> in = operands(i);
    if (a_.kind[i] != Analysis::Elementwise) return std::nullopt;
    const bool real = is_float(a_.node(i)->dtype);
    switch (a_.node(i)->op) {
      case Op::multiply:
        if (is_number(in[1], 1)) return in[0];
        if (is_number(in[0], 1)) return in[1];
        break;
      case Op::divide:
        if (is_number(in[1], 1)) return in[0];
        break;
      case Op::add:  // x + 0 turns -0 into 0; x + (-0) and integers do not
        if (is_number(in[1], real ? -0.0 : 0.0)) return in[0];
        if (is_number(in[0], real ? -0.0 : 0.0)) return in[1];
        break;
      case Op::subtract:
        if (is_number(in[1], 0)) return in[0];
        break;
      case Op::logical_and:
        if (is_number(in[1], 1)) return in[0];
        if (is_number(in[0], 1)) return in[1];
        break;
      case Op::logical_or:
        if (is_number(in[1], 0)) return in[0];
        if (is_number(in[0], 0)) return in[1];
        break;
      case Op::negative: {
        const uint32_t base = in[0].base;
        if (a_.kind[base] == Analysis::Elementwise && a_.node(base)->op == Op::negative &&
            is_flat(in[0], a_.node(base)) && in[0].shape == a_.node(base)->shape) {
          return a_.operands[a_.begin[base]];
        }
        break;
      }
      case Op::where:
        if (same_view(in[1], in[2])) return in[1];
        if (const Scalar* c = constant_of(in[0])) return in[c->i ? 1 : 2];
        break;
      default:
        break;
    }
    return std::nullopt;
  }

  void drop_dead() {
    std::vector<uint8_t> live(a_.size(), 0);
    for (uint32_t i = a_.size(); i-- > 0;) {
      if (s_.wanted[i]) live[a_.view[i].base] = 1;
      if (!a_.computed(i)) continue;
      if (!live[i]) {
        a_.kind[i] = Analysis::Window;
        continue;
      }
      for (const NodeView& read : a_.reads(i)) live[read.base] = 1;
    }
  }

  const Snapshot& s_;
  Analysis a_;
  Seen seen_;
};

}  // namespace

Analysis simplify(const Snapshot& snapshot) { return Simplifier(snapshot).run(); }

}  // namespace pullback
