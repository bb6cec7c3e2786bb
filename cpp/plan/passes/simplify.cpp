// Resolves each node, oldest first, to a view, merges it with an equal one, or folds it. Equal
// nodes are found by hash (InternTable) and compared in full.
#include "plan/passes/simplify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "graph/walk.h"
#include "ops/reduce.h"
#include "plan/passes/bodies.h"

namespace pullback {
namespace {

Analysis::Kind kind_of(const Node* node) {
  if (node->op == Op::scalar) return Analysis::Number;
  if (is_input(node)) return Analysis::Input;
  switch (traits(node->op).kind) {
    case OpKind::Leaf:
      return Analysis::Input;
    case OpKind::View:
      return Analysis::View;
    case OpKind::Elementwise:
      return Analysis::Elementwise;
    case OpKind::Fold:
      return Analysis::Fold;
    case OpKind::Pick:
      return Analysis::Pick;
    case OpKind::Place:
      return Analysis::Place;
    case OpKind::Step:
      break;
  }
  return Analysis::Other;
}

// The strided view that a view operation makes of its input's; nullopt if a reshape needs a copy.
std::optional<Strided> apply_view(const Node* node, const Strided& in) {
  switch (traits(node->op).view) {
    case ViewKind::None:
    case ViewKind::Alias:
      break;
    case ViewKind::Reshape:
      return reshaped(in, node->shape);
    case ViewKind::Transpose:
      return transposed(in, node->attr.order);
    case ViewKind::Broadcast:
      return broadcasted(in, node->shape);
    case ViewKind::Slice:
      return sliced(in, node->shape, *node->slice);
  }
  return in;
}

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
  explicit Simplifier(const Snapshot& s) : snapshot_(s) {
    const size_t n = s.nodes.size();
    analysis_.snapshot = &s;
    analysis_.kind.resize(n);
    analysis_.source.resize(n);
    analysis_.begin.reserve(n + 1);
    analysis_.operands.reserve(2 * n);
    analysis_.stored.assign(n, 0);
    analysis_.constant.assign(n, 0);
    analysis_.value.resize(n);
  }

  Analysis run() {
    for (uint32_t i = 0; i < analysis_.size(); ++i) {
      analysis_.begin.push_back(static_cast<uint32_t>(analysis_.operands.size()));
      resolve(i);
      if (analysis_.computed(i)) analysis_.stored[i] |= snapshot_.wanted[i];
    }
    analysis_.begin.push_back(static_cast<uint32_t>(analysis_.operands.size()));
    drop_dead();
    return std::move(analysis_);
  }

 private:
  std::span<const Read> operands(uint32_t i) const {
    return {analysis_.operands.data() + analysis_.begin[i],
            analysis_.operands.data() + analysis_.operands.size()};
  }

  // The read of an operand broadcast to another shape.
  Read broadcast(const Read& read, const Shape& shape) {
    const Strided& strided = analysis_.strided(read);
    if (strided.shape == shape) return read;
    return {read.base, analysis_.views.number(broadcasted(strided, shape))};
  }

  void resolve(uint32_t i) {
    const Node* node = analysis_.node(i);
    analysis_.kind[i] = kind_of(node);
    analysis_.source[i] = {i, analysis_.views.whole(node->shape)};
    switch (analysis_.kind[i]) {
      case Analysis::Input:
      case Analysis::Number:
        if (const auto constant = snapshot_.constant_of(node)) set_constant(i, *constant);
        return;
      case Analysis::View:
        return resolve_slice(i);
      case Analysis::Elementwise:
        for (const Node* input : value_inputs(node)) {
          analysis_.operands.push_back(broadcast(analysis_.source[input->index], node->shape));
        }
        break;
      case Analysis::Copy:
      case Analysis::Fold:
      case Analysis::Pick:
      case Analysis::Place:
      case Analysis::Other:
        for (const Node* input : value_inputs(node))
          analysis_.operands.push_back(analysis_.source[input->index]);
        break;
    }
    if (const std::optional<Read> known = identity_of(i)) return become(i, *known);
    if (const std::optional<Read> part = taken_slice(i)) return become(i, *part);
    if (fold_constants(i)) return;
    merge(i);
  }

  void resolve_slice(uint32_t i) {
    const Node* node = analysis_.node(i);
    const Read input = analysis_.source[value_inputs(node)[0]->index];
    if (traits(node->op).view == ViewKind::Alias) return become(i, input);
    const std::optional<Strided> strided = apply_view(node, analysis_.strided(input));
    if (strided) return become(i, {input.base, analysis_.views.number(*strided)});
    // A reshape reads its input in row-major order, whatever shape the input has.
    analysis_.kind[i] = Analysis::Copy;
    analysis_.operands.push_back(input);
    merge(i);
  }

  // Makes node i a view of another node. A wanted value must own row-major memory: a view of all of
  // its base shares the memory, others are copied.
  void become(uint32_t i, Read view) {
    analysis_.operands.resize(analysis_.begin[i]);
    if (!snapshot_.wanted[i] ||
        (analysis_.kind[view.base] != Analysis::Number && analysis_.is_flat(view))) {
      analysis_.source[i] = view;
      analysis_.kind[i] = Analysis::View;
      analysis_.stored[view.base] |= snapshot_.wanted[i];
      return;
    }
    analysis_.kind[i] = Analysis::Copy;
    analysis_.operands.push_back(view);
    merge(i);
  }

  // --- common subexpressions

  void merge(uint32_t i) {
    const uint32_t first = interned_.find(hash(i), i, [&](uint32_t j) { return equal(i, j); });
    if (first == i) return;
    analysis_.operands.resize(analysis_.begin[i]);
    analysis_.kind[i] = Analysis::View;
    analysis_.source[i] = analysis_.source[first];
    analysis_.stored[first] |= snapshot_.wanted[i];
  }

  uint64_t hash(uint32_t i) const {
    const Node* node = analysis_.node(i);
    uint64_t h = mix(static_cast<uint64_t>(analysis_.kind[i]), static_cast<uint64_t>(node->dtype));
    if (analysis_.constant[i]) return mix(h, static_cast<uint64_t>(analysis_.value[i].i));
    const Op op = analysis_.kind[i] == Analysis::Copy ? Op::identity : node->op;
    h = mix(h, static_cast<uint64_t>(op) << 32 | analysis_.source[i].view);
    for (const Read& read : operands(i)) {
      h = mix(h, static_cast<uint64_t>(read.base) << 32 | read.view);
    }
    return h;
  }

  bool equal(uint32_t i, uint32_t j) const {
    const Node* x = analysis_.node(i);
    const Node* y = analysis_.node(j);
    if (analysis_.kind[i] != analysis_.kind[j] || x->dtype != y->dtype ||
        analysis_.constant[i] != analysis_.constant[j]) {
      return false;
    }
    if (analysis_.constant[i]) return analysis_.value[i].i == analysis_.value[j].i;
    if (analysis_.source[i].view != analysis_.source[j].view) return false;
    if (analysis_.kind[i] != Analysis::Copy && !same_operation(x, y)) return false;
    const std::span<const Read> mine = operands(i);
    return std::equal(mine.begin(), mine.end(), analysis_.operands.begin() + analysis_.begin[j],
                      analysis_.operands.begin() + analysis_.begin[j + 1]);
  }

  static bool same_operation(const Node* x, const Node* y) {
    if (x->op != y->op || x->output != y->output) return false;
    if (x->op == Op::output) return true;  // written once by its operation, kept or not
    if (!(x->attr == y->attr)) return false;
    if (x->operation && key_of(*x->operation) != key_of(*y->operation)) return false;
    return x->slice && y->slice ? *x->slice == *y->slice : !x->slice && !y->slice;
  }

  // --- constants

  // Makes node i this number everywhere. Equal constants are merged.
  void set_constant(uint32_t i, Scalar value) {
    analysis_.operands.resize(analysis_.begin[i]);
    analysis_.kind[i] = Analysis::Number;
    analysis_.constant[i] = 1;
    analysis_.value[i] = value;
    const uint32_t first = interned_.find(hash(i), i, [&](uint32_t j) { return equal(i, j); });
    analysis_.source[i] = {first, analysis_.views.number(broadcasted({}, analysis_.shape(i)))};
    if (first == i) return;
    analysis_.constant[i] = 0;
    analysis_.kind[i] = Analysis::View;
  }

  const Scalar* constant_of(const Read& view) const {
    return analysis_.constant[view.base] ? &analysis_.value[view.base] : nullptr;
  }
  DType dtype_of(const Read& view) const { return analysis_.node(view.base)->dtype; }

  bool is_number(const Read& view, double number) const {
    const Scalar* c = constant_of(view);
    if (!c) return false;
    if (!is_float(dtype_of(view))) return static_cast<double>(c->i) == number;
    return c->f == number && std::signbit(c->f) == std::signbit(number);
  }

  bool fold_constants(uint32_t i) {
    // A wanted constant is written to memory.
    if (snapshot_.wanted[i]) return false;
    const Node* node = analysis_.node(i);
    const std::span<const Read> in = operands(i);
    if (in.empty() || analysis_.kind[i] > Analysis::Fold) return false;
    for (const Read& view : in) {
      if (!analysis_.constant[view.base]) return false;
    }
    const Scalar a = analysis_.value[in[0].base];
    const Scalar b = analysis_.value[in[in.size() > 1].base];
    const DType from = dtype_of(in[0]);
    Scalar out{};
    if (node->op == Op::cast) {
      out = convert_scalar(a, from, node->dtype);
    } else if (node->op == Op::logical_not) {
      out.i = !a.i;
    } else if (node->op == Op::sum && is_float(node->dtype) && !is_storage(node->dtype) &&
               analysis_.views.elements(in[0].view) < (1 << 24) && (a.f == 0 || a.f == 1)) {
      // Sums of zeros and of ones are exact.
      const int64_t folds =
          analysis_.views.elements(in[0].view) / std::max<int64_t>(node->shape.size(), 1);
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

  // --- operations that return an operand

  std::optional<Read> identity_of(uint32_t i) {
    const std::span<const Read> in = operands(i);
    if (analysis_.kind[i] != Analysis::Elementwise) return std::nullopt;
    const bool real = is_float(analysis_.node(i)->dtype);
    switch (analysis_.node(i)->op) {
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
        if (analysis_.kind[base] == Analysis::Elementwise &&
            analysis_.node(base)->op == Op::negative && in[0] == analysis_.source[base]) {
          return analysis_.operands[analysis_.begin[base]];
        }
        break;
      }
      case Op::where:
        if (in[1] == in[2]) return in[1];
        if (const Scalar* c = constant_of(in[0])) return in[c->i ? 1 : 2];
        break;
      default:
        break;
    }
    return std::nullopt;
  }

  // A take of positions with a constant step.
  std::optional<Read> taken_slice(uint32_t i) {
    const Node* node = analysis_.node(i);
    const std::span<const PositionRun> known = snapshot_.known_positions_of(i);
    if (known.size() != 1 || node->op != Op::take) return std::nullopt;
    const PositionRun& run = known[0];
    const Read in = operands(i)[0];
    const Strided& strided = analysis_.strided(in);
    Shape shape = strided.shape;
    StridedSlice range(shape.rank);
    shape[node->attr.axis] = run.count;
    range.start[node->attr.axis] = run.start;
    range.step[node->attr.axis] = run.step;
    const std::optional<Strided> out = reshaped(sliced(strided, shape, range), node->shape);
    if (!out) return std::nullopt;
    return Read{in.base, analysis_.views.number(*out)};
  }

  void drop_dead() {
    std::vector<uint8_t> live(analysis_.size(), 0);
    for (uint32_t i = analysis_.size(); i-- > 0;) {
      if (snapshot_.wanted[i]) live[analysis_.source[i].base] = 1;
      if (!analysis_.computed(i)) continue;
      if (!live[i]) {
        analysis_.kind[i] = Analysis::View;
        continue;
      }
      for (const Read& read : analysis_.reads(i)) live[read.base] = 1;
    }
  }

  const Snapshot& snapshot_;
  Analysis analysis_;
  InternTable interned_;
};

}  // namespace

Analysis simplify(const Snapshot& snapshot) { return Simplifier(snapshot).run(); }

}  // namespace pullback
