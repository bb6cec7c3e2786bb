// Rebuilds every node, oldest first; a complex node becomes two real ones. Operations that move
// entries are applied to both parts; arithmetic is in ops/complex_forms.cpp.
#include "plan/passes/lower_complex.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/callback_origin.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/walk.h"
#include "ops/complex.h"

namespace pullback {
namespace {

// The replacement of a node. A real node has no `im`. A complex value in memory is stored as
// `pairs`, [elements, 2], until a part is needed. A sum of such values has both forms; the ones
// that nothing reads are dropped.
struct Made {
  NodeRef re, im, pairs;
  NodeRef scalar;  // shown by `re`: some builders need it
};

class Expansion {
 public:
  explicit Expansion(const Snapshot& from) : from_(from), made_(from.nodes.size()) {}

  Snapshot run(std::vector<NodeRef>* kept) {
    for (size_t i = 0; i < from_.nodes.size(); ++i) {
      const Node* node = from_.nodes[i];
      made_[i] = make(node);
      if (is_input(node)) kept->push_back(whole(i));
    }
    const size_t inputs = kept->size();
    // Each output is a separate node.
    for (uint32_t i : from_.outputs) kept->push_back(identity(whole(i)));
    Snapshot out;
    out.traced = from_.traced;
    walk(pointers(*kept), &out.nodes, [](const Node* node) {
      return is_input(node) ? std::span<Node* const>() : value_inputs(node);
    });
    out.wanted.assign(out.nodes.size(), 0);
    for (const Node* node : pointers(*kept).subspan(inputs)) {
      out.wanted[node->index] = 1;
      out.outputs.push_back(node->index);
    }
    for (uint32_t i : from_.arguments) out.arguments.push_back(whole(i)->index);
    for (uint32_t i : from_.scalars) out.scalars.push_back(made_[i].scalar->index);
    for (const auto& [i, known] : from_.positions) {
      for (const NodeRef& part : {made_[i].re, made_[i].im}) {
        if (part && out.has(part.get())) out.positions.emplace(part->index, known);
      }
    }
    // Constants of the formulas are not scalars of the run.
    out.replaced = from_.replaced;
    return out;
  }

 private:
  const Made& of(const Node* node) const { return made_[node->index]; }

  // The node with the whole value.
  NodeRef whole(size_t i) {
    Made& made = made_[i];
    if (!is_complex(from_.nodes[i]->dtype)) return made.re;
    if (!made.pairs.get()) {
      const int64_t size = from_.nodes[i]->shape.size();
      const NodeRef parts[] = {reshape(made.re, {size, 1}), reshape(made.im, {size, 1})};
      made.pairs = concat(parts, 1);
    }
    return made.pairs;
  }

  NodeRef part(const Node* node, int which) {
    Made& made = made_[node->index];
    if (!is_complex(node->dtype)) return made.re;
    NodeRef& out = which ? made.im : made.re;
    if (!out.get()) {
      StridedSlice range(2);
      range.start[1] = which;
      out = reshape(slice(made.pairs, {node->shape.size(), 1}, range), node->shape);
    }
    return out;
  }
  ComplexParts parts(const Node* node) {
    return {part(node, 0), is_complex(node->dtype) ? part(node, 1) : nullptr};
  }
  static NodeRef filled(const NodeRef& x, const Shape& shape) {
    return x->shape == shape ? x : broadcast_to(x, shape);
  }

  Made make(const Node* node) {
    if (is_input(node)) return leaf(node);
    if (node->operation) return operation(node);
    if (node->op == Op::output) return output(node);
    const auto inputs = value_inputs(node);
    bool complex = is_complex(node->dtype);
    for (const Node* input : inputs) complex |= is_complex(input->dtype);
    if (traits(node->op).view == ViewKind::Alias) {
      if (complex) return of(inputs[0]);
      return {identity(of(inputs[0]).re), {}, {}, {}};
    }
    if (!complex) return {moved(node, node->dtype, 0), {}, {}, {}};
    if (node->op == Op::reshape && of(inputs[0]).pairs) {
      const Made& in = of(inputs[0]);
      if (!in.re) return {{}, {}, in.pairs, {}};
      return {moved(node, in.re->dtype, 0), moved(node, in.re->dtype, 1), in.pairs, {}};
    }
    if (is_elementwise(node->op)) return elementwise_parts(node, inputs);
    if (node->op == Op::matmul) return product(inputs[0], inputs[1]);
    const DType dtype = traits(node->dtype).compute;
    return {moved(node, dtype, 0), moved(node, dtype, 1), {}, {}};
  }

  // Bodies have complex numbers as pairs in memory, too.
  Made operation(const Node* node) {
    std::vector<NodeRef> inputs;
    for (const Node* input : node->inputs()) {
      inputs.push_back(is_run_scalar(input) ? of(input).scalar : whole(input->index));
    }
    NodeRef out = make_node(node->op, node->dtype, node->shape, pointers(inputs));
    out->operation = node->operation;
    return {out, {}, {}, {}};
  }
  Made output(const Node* node) {
    const auto inputs = pointers({&of(node->in[0]).re, 1});
    const bool complex = is_complex(node->dtype);
    const NodeRef out = complex ? make_node(Op::output, traits(node->dtype).compute,
                                            Shape{node->shape.size(), 2}, inputs)
                                : make_node(Op::output, node->dtype, node->shape, inputs);
    out->output = node->output;
    return complex ? Made{{}, {}, out, {}} : Made{out, {}, {}, {}};
  }

  static Made leaf(const Node* node) {
    if (node->op == Op::scalar) {
      const NodeRef number =
          make_scalar(node->dtype, node->scalar, node->flags & (kConstant | kDraw));
      number->origin = node->origin;
      return {node->flags & kConstant ? number : identity(number), {}, {}, number};
    }
    if (!is_complex(node->dtype)) return {make_argument(node->dtype, node->shape), {}, {}, {}};
    const Shape pairs{node->shape.size(), 2};
    return {{}, {}, make_argument(traits(node->dtype).compute, pairs), {}};
  }

  // The same operation on one part of its complex operands.
  NodeRef moved(const Node* node, DType dtype, int which) {
    std::vector<NodeRef> inputs;
    for (const Node* input : value_inputs(node)) inputs.push_back(part(input, which));
    NodeRef out = make_node(node->op, dtype, node->shape, pointers(inputs), node->attr);
    if (node->slice) out->slice = std::make_unique<StridedSlice>(*node->slice);
    return out;
  }

  Made elementwise_parts(const Node* node, std::span<Node* const> inputs) {
    const Shape& shape = node->shape;
    const auto result = [&](const NodeRef& re, const NodeRef& im) -> Made {
      return {filled(re, shape), im ? filled(im, shape) : nullptr, {}, {}};
    };
    const Node* x = inputs[0];
    const DType dtype = is_complex(node->dtype) ? traits(node->dtype).compute : node->dtype;
    if (node->op == Op::complex) return result(part(x, 0), part(inputs[1], 0));
    if (node->op == Op::real) return result(part(x, 0), nullptr);
    if (node->op == Op::imag) return result(part(x, 1), nullptr);
    if (node->op == Op::conj) return result(part(x, 0), -Expr(part(x, 1)));
    if (node->op == Op::cast) {
      if (!is_complex(x->dtype)) return result(cast(part(x, 0), dtype), scalar(dtype, 0));
      if (dtype != DType::Bool) return result(cast(part(x, 0), dtype), cast(part(x, 1), dtype));
      return result((Expr(part(x, 0)) != Expr(0.0)) | (Expr(part(x, 1)) != Expr(0.0)), nullptr);
    }
    ComplexParts in[3];
    for (size_t k = 0; k < inputs.size(); ++k) in[k] = parts(inputs[k]);
    const ComplexParts out = complex_form(node->op, {in, inputs.size()});
    Made made = result(out.re, out.im);
    if (works_on_pairs(node, inputs)) {
      std::vector<NodeRef> pairs;
      for (const Node* input : inputs) pairs.push_back(of(input).pairs);
      made.pairs = make_node(node->op, dtype, pairs[0]->shape, pointers(pairs));
    }
    return made;
  }

  // True for an operation on each part alone whose operands are pairs in the order of the result.
  // As pairs it reads and writes memory in order.
  bool works_on_pairs(const Node* node, std::span<Node* const> inputs) const {
    if (node->op != Op::add && node->op != Op::subtract && node->op != Op::negative) return false;
    return std::ranges::all_of(
        inputs, [&](const Node* input) { return of(input).pairs && input->shape == node->shape; });
  }

  Made product(const Node* a, const Node* b) {
    const auto times = [&](int i, int k) { return Expr(matmul(part(a, i), part(b, k))); };
    if (!is_complex(a->dtype)) return {times(0, 0), times(0, 1), {}, {}};
    if (!is_complex(b->dtype)) return {times(0, 0), times(1, 0), {}, {}};
    return {times(0, 0) - times(1, 1), times(0, 1) + times(1, 0), {}, {}};
  }

  const Snapshot& from_;
  std::vector<Made> made_;
};

}  // namespace

bool has_complex(const Snapshot& snapshot) {
  return std::any_of(snapshot.nodes.begin(), snapshot.nodes.end(),
                     [](const Node* node) { return is_complex(node->dtype); });
}

Snapshot without_complex(const Snapshot& snapshot, std::vector<NodeRef>* kept) {
  const NoOverrides none;
  const Unrecorded unrecorded;
  return Expansion(snapshot).run(kept);
}

}  // namespace pullback
