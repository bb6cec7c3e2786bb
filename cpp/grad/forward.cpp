// The forward pass: a scan, inputs before users, over the nodes that connectivity found, with a
// table of their tangents. The row of an operation has the method for its tangent (Tangent):
//
//   Self            the operation itself, of the tangents
//   Product         one input after the other replaced by its tangent
//   Own             an elementwise cotangent is linear in g and acts entry by entry: the tangent is
//                   the sum of the cotangents with g replaced by the tangents of the inputs
//   TransposeOfVjp  only a vjp is known, for example of a user-defined rule. It is called with a
//                   placeholder for the cotangent, and a reverse pass with respect to it gives the
//                   transpose of the rule. Only the nodes that this one uses are computed.
//
// A tangent carries structural zeros as a cotangent does (Adjoint), so that both directions give
// the same numbers where slopes are infinite.

#include "grad/forward.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "grad/adjoint.h"
#include "grad/connectivity.h"
#include "grad/control_flow.h"
#include "grad/rule_call.h"
#include "grad/transposed.h"
#include "grad/zeros/forward_masks.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/expr.h"
#include "ops/linalg/linalg.h"

namespace pullback {
namespace {

class ForwardPass : public NodeTangents {
 public:
  explicit ForwardPass(const TangentRequest& request) : request_(request), graph_(request.of) {
    find_cares(0);
    tangents_.resize(graph_.nodes().size());
  }

  std::vector<NodeRef> run() {
    seed();
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      Node* node = graph_.nodes()[i];
      if (graph_.live(i) && !graph_.stopped(node)) push_forward(i, node);
      if (runtime.check_numbers && tangents_[i].kind() == Cotangent::Value) {
        runtime.check_numbers(tangents_[i].dense_copy().get(), node);
      }
    }
    return answer();
  }

  Connectivity& graph() override { return graph_; }

  Adjoint from(size_t at, const std::vector<Adjoint*>& sent) override {
    Node* node = graph_.nodes()[at];
    push(at, node, graph_.backward_edges(node), sent);
    return std::exchange(tangents_[at], Adjoint());
  }

  size_t extend(const NodeRef& root, size_t at) override {
    const size_t begin = graph_.nodes().size();
    const size_t number = graph_.extend(root.get());
    tangents_.resize(graph_.nodes().size());
    cares_.resize(graph_.nodes().size(), Zeros::Drop);
    cares_[number] = std::max(cares_[number], cares_[at]);
    find_cares(begin);
    return number;
  }

  size_t add_leaf(const NodeRef& node) override {
    tangents_.emplace_back();
    cares_.push_back(Zeros::Drop);
    return graph_.add_leaf(node);
  }

 private:
  using BackwardEdges = Connectivity::BackwardEdges;
  // The tangent of each input, or null.
  using Sent = std::vector<Adjoint*>;

  // Finds which structural zeros the operations above each node need.
  void find_cares(size_t begin) {
    const std::vector<Node*>& nodes = graph_.nodes();
    cares_.resize(nodes.size(), Zeros::Drop);
    for (size_t i = nodes.size(); i-- > begin;) {
      Node* node = nodes[i];
      if (!graph_.live(i) || graph_.stopped(node)) continue;
      const BackwardEdges edges = graph_.backward_edges(node);
      const Zeros level = edges.rule ? Zeros::Drop : zeros_of(node, cares_[i]);
      if (level == Zeros::Drop) continue;
      for (const Node* input : edges.inputs) {
        const size_t at = graph_.position(input);
        if (at != Connectivity::kAbsent) cares_[at] = std::max(cares_[at], level);
      }
    }
  }

  void seed() {
    std::unordered_map<uint64_t, std::vector<size_t>> reads;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (graph_.is_x(i) && graph_.nodes()[i]->variable) {
        reads[graph_.nodes()[i]->variable].push_back(i);
      }
    }
    for (size_t k = 0; k < graph_.xs().size(); ++k) {
      const Source& x = graph_.xs()[k];
      std::vector<size_t> places;
      if (x.variable) {
        places = reads[x.variable];
      } else if (const size_t at = graph_.position(x.node.get()); at != Connectivity::kAbsent) {
        places = {at};
      }
      const NodeRef mask = k < request_.masks.size() ? request_.masks[k] : nullptr;
      for (size_t i : places) {
        const Node* node = graph_.nodes()[i];
        NodeRef t = k < request_.xs_tangents.size() ? request_.xs_tangents[k] : nullptr;
        if (t == nullptr) t = ones(node->shape, node->dtype);
        tangents_[i].add({Cotangent::Value, t, mask, true}, node->shape, cares_[i]);
      }
    }
  }

  void push_forward(size_t i, Node* node) {
    const BackwardEdges edges = graph_.backward_edges(node);
    if (edges.of_output()) return take_result(i, node);
    Sent sent(edges.inputs.size());
    bool any = false;
    bool any_value = false;
    for (size_t k = 0; k < sent.size(); ++k) {
      const size_t at = graph_.position(edges.inputs[k]);
      if (at == Connectivity::kAbsent || !graph_.feeds(edges.inputs[k], node)) continue;
      if (tangents_[at].kind() == Cotangent::None) continue;
      any = true;
      if (tangents_[at].kind() == Cotangent::Zero) continue;
      any_value = true;
      sent[k] = &tangents_[at];
    }
    if (!any) return;
    if (!any_value) return add(i, {Cotangent::Zero});
    push(i, node, edges, sent);
  }

  void push(size_t i, Node* node, const BackwardEdges& edges, const Sent& sent) {
    if (edges.of_output()) return take_result(i, node);
    if (traits(node->op).step == StepKind::Control) return push_through(node, sent);
    if (node->op == Op::routine) return transpose_routine(node, sent);
    if (edges.rule) return transpose_rule(i, node, edges, sent);
    if (has_parts(node)) return apply_itself(i, node, sent);
    switch (traits(node->op).tangent) {
      case Tangent::Self:
        return apply_itself(i, node, sent);
      case Tangent::Product:
        return apply_product(i, node, sent);
      case Tangent::Own:
        if (is_elementwise(node->op) && !is_complex(node->dtype) &&
            !is_complex(node->in[0]->dtype)) {
          return apply_columns(i, node, sent);
        }
        return transpose_row(i, node, sent);
      case Tangent::TransposeOfVjp:
        if (traits(node->op).kind == OpKind::Step) return transpose_row(i, node, sent);
        // Without a rule: the value of in[0].
        return add(i, {Cotangent::Value, sent[0]->value(), nullptr, sent[0]->clean()},
                   sent[0]->nonzero());
      case Tangent::None:
        return;
    }
  }

  // Sums the tangent to the node's shape.
  void add(size_t i, Cotangent c, FactoredMask nonzero = {}) {
    const Shape& shape = graph_.nodes()[i]->shape;
    if (c.value) c.value = broadcast_to(c.value, shape);
    tangents_[i].add(std::move(c), shape, cares_[i], std::move(nonzero));
  }

  void apply_columns(size_t i, Node* node, const Sent& sent) {
    if (node->op == Op::where && sent[1] && sent[2]) {
      const Expr both = formula::where(Expr(node->in[0]), Expr(sent[1]->dense_copy()),
                                       Expr(sent[2]->dense_copy()));
      return add(i, {Cotangent::Value, both, nullptr, true});
    }
    const Mask pass = traits(node->op).mask;
    for (size_t k = 0; k < sent.size(); ++k) {
      if (!sent[k]) continue;
      const FactoredMask nonzero = pass == Mask::Stops ? FactoredMask() : sent[k]->nonzero();
      const NodeRef g = nonzero.everywhere() ? sent[k]->dense_copy() : sent[k]->value();
      uint8_t wanted[3] = {};
      wanted[k] = cares_[i] >= Zeros::Keep ? kWantedMasked : kWanted;
      Cotangent out[3];
      vjp_of(node->op)({node, g, {wanted, sent.size()}}, out);
      Cotangent& c = out[k];
      resolve_mask(node, &c, cares_[i]);
      if (!nonzero.everywhere()) {
        const bool clean = sent[k]->clean() && keeps_zeros(node);
        c.clean = clean && (c.clean || c.mask == nullptr);
      }
      add(i, std::move(c), nonzero);
    }
  }

  void apply_itself(size_t i, Node* node, const Sent& sent) {
    const Zeros zeros = cares_[i];
    const bool parts = has_parts(node);
    const bool both = node->op == Op::complex && sent[0] && sent[1];  // each has a part of an entry
    const bool dense = parts || both || mixes_upwards(node);
    std::vector<Part> of;
    std::vector<NodeRef> inputs;
    FactoredMask nonzero;
    if (both) {
      nonzero = unite(std::vector{sent[0]->nonzero(), sent[1]->nonzero()});
    }
    for (size_t k = 0; k < sent.size(); ++k) {
      Node* input = node->inputs()[k];
      if (parts && is_inexact(input->dtype)) {
        of.push_back({sent[k] != nullptr, sent[k] ? sent[k]->nonzero() : FactoredMask()});
      }
      if (sent[k]) {
        if (!parts && !both) {
          nonzero.intersect(moved_upwards(node, sent[k]->nonzero(), k, zeros));
        }
        // An input without entries has no effect on a node with entries, whatever the slopes are.
        if (!parts && input->shape.size() == 0 && node->shape.size() > 0) {
          nonzero.intersect(pullback::zeros({}, DType::Bool));
        }
        inputs.push_back(dense ? sent[k]->dense_copy() : sent[k]->value());
      } else if (is_inexact(input->dtype)) {
        inputs.push_back(pullback::zeros(input->shape, input->dtype));
      } else {
        inputs.emplace_back(input);
      }
    }
    NodeRef value;
    if (node->op == Op::identity) {
      value = inputs[0];
    } else {
      value = make_node(node->op, node->dtype, node->shape, pointers(inputs), node->attr);
      if (node->slice) value->slice = std::make_unique<StridedSlice>(*node->slice);
    }
    const NodeRef mask = parts ? joined_upwards(node, of, zeros) : nullptr;
    // The surroundings of an embedded slice, and rows without a placed entry, are zero in the
    // value.
    const auto is_clean = [&](const Adjoint* one) { return !one || one->clean(); };
    const bool clean = dense || std::ranges::all_of(sent, is_clean);
    add(i, {Cotangent::Value, value, mask, clean}, nonzero);
  }

  void apply_product(size_t i, Node* node, const Sent& sent) {
    for (size_t k = 0; k < 2; ++k) {
      if (!sent[k]) continue;
      const FactoredMask nonzero = moved_upwards(node, sent[k]->nonzero(), k, cares_[i]);
      // As in the reverse pass: the masks that distinguish the columns of a jacobian guard nothing.
      const FactoredMask known =
          request_.masks.empty() ? sent[k]->nonzero() : sent[k]->nonzero().without(request_.masks);
      const NodeRef other = guarded_upwards(node, known, k, cares_[i]);
      const NodeRef t = sent[k]->dense_copy();
      add(i, {Cotangent::Value, k == 0 ? matmul(t, other) : matmul(other, t), nullptr}, nonzero);
    }
  }

  static std::vector<NodeRef> dense_tangents(const Sent& sent) {
    std::vector<NodeRef> out;
    for (Adjoint* one : sent) out.push_back(one ? one->dense_copy() : nullptr);
    return out;
  }

  void transpose_row(size_t i, Node* node, const Sent& sent) {
    const NodeRef u = any_cotangent({node->dtype, node->shape});
    std::vector<uint8_t> wanted;
    for (const Adjoint* one : sent) wanted.push_back(one ? kWanted : kUnwanted);
    std::vector<Cotangent> answers(sent.size());
    vjp_of(node->op)({node, u, wanted}, answers.data());
    std::vector<Part> parts;  // before their masks are replaced by ordinary zeros
    for (size_t k = 0; k < sent.size(); ++k) {
      if (!is_inexact(node->inputs()[k]->dtype)) continue;
      parts.push_back({sent[k] != nullptr, sent[k] ? sent[k]->nonzero() : FactoredMask()});
    }
    bool any_zero = false;
    const NodeRef value = transpose(answers, dense_tangents(sent), {u}, &any_zero)[0];
    if (value == nullptr) return give(i, value, any_zero);
    if (is_elementwise(node->op) && traits(node->op).mask != Mask::Stops) {
      std::vector<FactoredMask> masks;
      for (const Part& part : parts) {
        if (part.has_tangent) masks.push_back(part.nonzero);
      }
      return add(i, {Cotangent::Value, value, nullptr, false}, unite(masks));
    }
    add(i, {Cotangent::Value, value, mask_of_row(i, node, answers, parts, u), true});
  }

  // The mask of a tangent that transpose_row computes; null: true everywhere.
  NodeRef mask_of_row(size_t i, Node* node, const std::vector<Cotangent>& answers,
                      const std::vector<Part>& parts, const NodeRef& u) {
    if (!selects(node)) return joined_upwards(node, parts, cares_[i]);
    if (cares_[i] < Zeros::Keep || parts[0].nonzero.everywhere()) return nullptr;
    return mask_of_selection(node, answers, parts[0].nonzero, u);
  }

  const std::vector<Node*>& outputs_of(const Node* operation) {
    for (; listed_ < graph_.nodes().size(); ++listed_) {
      Node* node = graph_.nodes()[listed_];
      if (const Node* of = operation_of(node)) outputs_[of].push_back(node);
    }
    return outputs_[operation];
  }

  void transpose_rule(size_t i, Node* node, const BackwardEdges& edges, const Sent& sent) {
    std::vector<NodeRef> us;
    std::vector<Node*> outputs;
    if (node->op == Op::custom_call) {
      for (const TensorType& type : node->operation->outputs) us.push_back(any_cotangent(type));
      outputs.resize(us.size());
      for (Node* other : outputs_of(node)) outputs[other->output] = other;
    } else {
      us.push_back(any_cotangent({node->dtype, node->shape}));
      outputs.push_back(node);
    }
    std::vector<Cotangent> answers = call_rule(node, edges, outputs, us, request_.of.overrides);
    bool any_zero = false;
    std::vector<NodeRef> found = transpose(answers, dense_tangents(sent), us, &any_zero);
    if (node->op != Op::custom_call) return give(i, found[0], any_zero);
    results_[node] = {std::move(found), any_zero};
  }

  void transpose_routine(Node* operation, const Sent& sent) {
    const std::vector<TensorType>& types = operation->operation->outputs;
    std::vector<NodeRef> cotangents(types.size()), us;
    for (size_t k = 0; k < types.size(); ++k) {
      if (is_inexact(types[k].dtype)) us.push_back(cotangents[k] = any_cotangent(types[k]));
    }
    std::vector<Node*> outputs(types.size());
    for (Node* other : outputs_of(operation)) outputs[other->output] = other;
    std::vector<uint8_t> wanted;
    for (const Adjoint* one : sent) wanted.push_back(one ? kWanted : kUnwanted);
    std::vector<Cotangent> answers;
    for (const NodeRef& g : routine_cotangents(NodeRef(operation), outputs, cotangents, wanted)) {
      answers.push_back(g ? Cotangent{Cotangent::Value, g} : Cotangent{});
    }
    bool any_zero = false;
    const std::vector<NodeRef> found = transpose(answers, dense_tangents(sent), us, &any_zero);
    std::vector<NodeRef> tangents(types.size());
    for (size_t k = 0, next = 0; k < types.size(); ++k) {
      if (cotangents[k]) tangents[k] = found[next++];
    }
    results_[operation] = {std::move(tangents), any_zero};
  }

  void push_through(Node* operation, const Sent& sent) {
    std::vector<NodeRef> in;
    for (Adjoint* one : sent) in.push_back(one ? one->dense_copy() : nullptr);
    results_[operation] = {control_tangents(NodeRef(operation), in, request_.of.overrides), false};
  }

  void take_result(size_t i, Node* node) {
    const auto found = results_.find(operation_of(node));
    if (found != results_.end()) give(i, found->second.first[node->output], found->second.second);
  }

  void give(size_t i, const NodeRef& value, bool any_zero) {
    if (value != nullptr) return add(i, {Cotangent::Value, value, nullptr, true});
    if (any_zero) add(i, {Cotangent::Zero});
  }

  std::vector<NodeRef> answer() {
    std::vector<NodeRef> out;
    for (const NodeRef& y : request_.of.ys) {
      Adjoint& tangent = tangents_[graph_.position(y.get())];
      NodeRef t = tangent.dense();
      if (tangent.kind() == Cotangent::Zero) t = zeros(y->shape, y->dtype);
      out.push_back(with_history(std::move(t)));
    }
    return out;
  }

  const TangentRequest& request_;
  Connectivity graph_;
  std::vector<Zeros> cares_;
  std::vector<Adjoint> tangents_;
  // For each operation with several outputs: the tangents of its outputs, and whether a rule
  // returned zero.
  std::unordered_map<const Node*, std::pair<std::vector<NodeRef>, bool>> results_;
  std::unordered_map<const Node*, std::vector<Node*>> outputs_;  // outputs among the nodes
  size_t listed_ = 0;                                            // the nodes that outputs_ covers
};

}  // namespace

std::vector<NodeRef> tangents(const TangentRequest& request) { return ForwardPass(request).run(); }

std::unique_ptr<NodeTangents> NodeTangents::of(const TangentRequest& request) {
  return std::make_unique<ForwardPass>(request);
}

}  // namespace pullback
