// The reverse pass in three parts:
//
//   connectivity  which nodes depend on an x (connectivity.h)
//   pull back     a backward scan over a dense table of adjoints; a None entry is a symbolic zero
//   answer        one entry per x

#include "grad/reverse.h"

#include <unordered_map>
#include <utility>

#include "grad/adjoint.h"
#include "grad/connectivity.h"
#include "grad/control_flow.h"
#include "grad/rule_call.h"
#include "grad/tape.h"
#include "grad/zeros/masks.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/linalg/linalg.h"
#include "runtime/device_memory.h"

namespace pullback {
namespace {

class ReversePass {
 public:
  explicit ReversePass(const GradientRequest& request) : request_(request), graph_(request) {}

  std::vector<NodeRef> run() {
    seed();
    pull_back();
    return answer();
  }

 private:
  using BackwardEdges = Connectivity::BackwardEdges;

  void seed() {
    adjoints_.assign(graph_.nodes().size(), Adjoint(request_.rows));
    for (size_t i = 0; i < request_.ys.size(); ++i) {
      const NodeRef& y = request_.ys[i];
      const size_t at = graph_.position(y.get());
      // A y that is also an x returns its seed, watched or not.
      if (!graph_.live(at) && !graph_.is_x(at)) continue;
      NodeRef g = i < request_.grad_ys.size() ? request_.grad_ys[i] : nullptr;
      if (!g) g = ones(y->shape, y->dtype);
      if (runtime.check_numbers) runtime.check_numbers(g.get(), g.get());
      const NodeRef mask = i < request_.masks.size() ? request_.masks[i] : nullptr;
      adjoints_[at].add({Cotangent::Value, g, mask, true}, y->shape, graph_.zeros(at));
    }
  }

  void pull_back() {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (const Node* operation = operation_of(graph_.nodes()[i])) results_[operation].push_back(i);
    }
    for (size_t i = graph_.nodes().size(); i-- > 0;) {
      Node* node = graph_.nodes()[i];
      if (!graph_.live(i) || graph_.stopped(node)) continue;
      BackwardEdges edges = graph_.backward_edges(node);
      if (edges.rule) {  // it may evaluate the node, which then drops its inputs
        inputs_.assign(edges.inputs.begin(), edges.inputs.end());
        edges.inputs = inputs_;
      }
      std::vector<uint8_t>& wanted = wanted_;
      wanted.assign(edges.inputs.size(), 0);
      bool any = false;
      for (size_t k = 0; k < wanted.size(); ++k) {
        const size_t at = graph_.position(edges.inputs[k]);
        if (at == Connectivity::kAbsent || !graph_.live(at) || !graph_.feeds(edges.inputs[k], node))
          continue;
        wanted[k] = graph_.zeros(at) >= Zeros::Keep ? kWantedMasked : kWanted;
        any = true;
      }
      if (!any) continue;
      if (request_.tape && !request_.tape->recorded(node)) continue;
      if (is_operation(node->op)) {
        apply_to_results(node, edges, wanted);
      } else if (edges.of_output()) {
        // Its operation is older, and receives the adjoints of all outputs together.
      } else if (adjoints_[i].kind() == Cotangent::Zero) {
        pass_zero(edges, wanted);
      } else if (adjoints_[i].kind() == Cotangent::Value) {
        edges.rule ? apply_to_one(node, edges, adjoints_[i], wanted)
                   : apply_row(node, edges, adjoints_[i], wanted);
      }
      if (runtime.check_numbers) check_sent(node, edges, wanted);
    }
  }

  // Checks that the contributions of a node to its inputs are finite.
  void check_sent(const Node* node, const BackwardEdges& edges,
                  const std::vector<uint8_t>& wanted) {
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      const NodeRef g = adjoints_[graph_.position(edges.inputs[k])].dense_copy();
      if (g && runtime.check_numbers) runtime.check_numbers(g.get(), node);
    }
  }

  void pass_zero(const BackwardEdges& edges, const std::vector<uint8_t>& wanted) {
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (wanted[k]) add(edges.inputs[k], {Cotangent::Zero});
    }
  }

  void add(const Node* input, Cotangent contribution, FactoredMask nonzero = {}) {
    const size_t at = graph_.position(input);
    if (several_devices && input->device() == kAnyDevice && contribution.value &&
        contribution.value->device() != kAnyDevice) {
      // Readers of such an input may be on several devices.
      const auto moved_to = [to = device_of(input)](const NodeRef& x) {
        return x->device() == kAnyDevice ? x : transfer(x, to);
      };
      contribution.value = moved_to(contribution.value);
      if (contribution.mask) contribution.mask = moved_to(contribution.mask);
      FactoredMask there;
      for (const NodeRef& factor : nonzero.factors()) there.intersect(moved_to(factor));
      nonzero = std::move(there);
    }
    adjoints_[at].add(std::move(contribution), input->shape, graph_.zeros(at), std::move(nonzero));
  }

  void apply_row(Node* node, const BackwardEdges& edges, Adjoint& adjoint,
                 const std::vector<uint8_t>& wanted) {
    const Mask pass = traits(node->op).mask;
    const FactoredMask nonzero = pass == Mask::Stops ? FactoredMask() : adjoint.nonzero();
    const bool mixes = pass == Mask::Mixes || nonzero.everywhere();
    const NodeRef g = mixes ? adjoint.dense() : adjoint.value();
    std::vector<Cotangent>& out = answers_;
    out.resize(wanted.size());
    NodeRef product;
    if (node->op == Op::matmul && !nonzero.everywhere()) {
      // The masks that distinguish the rows of a jacobian would need an operand for each row.
      const FactoredMask known = request_.masks.empty() ? nonzero : nonzero.without(request_.masks);
      if (!known.everywhere()) {
        product = guarded_product(node, known, wanted, zeros_below(node->in[0]),
                                  zeros_below(node->in[1]));
      }
    }
    vjp_of(node->op)({product ? product.get() : node, g, wanted}, out.data());
    const bool clean = adjoint.clean() && keeps_zeros(node);
    for (size_t k = 0; k < wanted.size(); ++k) {
      if (!wanted[k]) continue;
      Cotangent& c = out[k];
      const Zeros zeros = zeros_below(edges.inputs[k]);
      resolve_mask(node, &c, zeros);
      FactoredMask left;
      if (!nonzero.everywhere() && c.kind == Cotangent::Value) {
        c.clean = clean && (c.clean || c.mask == nullptr);
        left = moved(node, nonzero, k, c, zeros);
      }
      if (sums_of_none(node, edges.inputs[k])) left.intersect(pullback::zeros({}, DType::Bool));
      add(edges.inputs[k], std::move(c), std::move(left));
    }
    out.clear();
  }

  // True if a result without elements depends on an input with elements: the cotangent of the input
  // is zero, whatever the slopes are.
  static bool sums_of_none(const Node* node, const Node* input) {
    return node->shape.size() == 0 && input->shape.size() > 0;
  }

  Zeros zeros_below(const Node* input) {
    const size_t at = graph_.position(input);
    return at == Connectivity::kAbsent ? Zeros::Drop : graph_.zeros(at);
  }

  void apply_to_one(Node* node, const BackwardEdges& edges, Adjoint& adjoint,
                    const std::vector<uint8_t>& wanted) {
    // Only the library's own rules are known to return zeros for zeros.
    FactoredMask nonzero;
    if (is_own(edges, node)) {
      nonzero = moved_in_composite(node, adjoint.nonzero(), zeros_below(edges.inputs[0]));
    }
    apply_rule(node, edges, wanted, {node}, {adjoint.dense()}, nonzero);
  }

  // An operation with several outputs. All users of its outputs were visited before.
  void apply_to_results(Node* operation, const BackwardEdges& edges,
                        const std::vector<uint8_t>& wanted) {
    const std::vector<TensorType>& types = operation->operation->outputs;
    std::vector<NodeRef> cotangents(types.size());
    std::vector<Node*> outputs(types.size());
    bool any_value = false;
    bool any_zero = false;
    for (size_t i : results_[operation]) {
      const size_t k = graph_.nodes()[i]->output;
      outputs[k] = graph_.nodes()[i];
      if (!graph_.live(i) || graph_.stopped(graph_.nodes()[i]) ||
          !graph_.feeds(operation, graph_.nodes()[i]))
        continue;
      any_value |= adjoints_[i].kind() == Cotangent::Value;
      any_zero |= adjoints_[i].kind() == Cotangent::Zero;
      const NodeRef g = adjoints_[i].dense();
      Node* both[] = {cotangents[k].get(), g.get()};  // of an output that exists twice
      cotangents[k] = both[0] && both[1] ? elementwise(Op::add, both) : g ? g : cotangents[k];
    }
    if (!any_value) {
      if (any_zero) pass_zero(edges, wanted);
      return;
    }
    if (operation->op != Op::custom_call) {
      const NodeRef held(operation);
      const auto out = operation->op == Op::routine
                           ? routine_cotangents(held, outputs, cotangents, wanted)
                           : control_cotangents(held, cotangents, wanted, request_.overrides);
      for (size_t k = 0; k < out.size(); ++k) {
        if (wanted[k] && out[k]) add(edges.inputs[k], {Cotangent::Value, out[k]});
      }
      return;
    }
    for (size_t k = 0; k < cotangents.size(); ++k) {
      if (!cotangents[k]) cotangents[k] = zeros(types[k].shape, types[k].dtype);
    }
    apply_rule(operation, edges, wanted, outputs, cotangents);
  }

  void apply_rule(Node* node, const BackwardEdges& edges, const std::vector<uint8_t>& wanted,
                  const std::vector<Node*>& outputs, const std::vector<NodeRef>& cotangents,
                  const FactoredMask& nonzero = {}) {
    std::vector<Cotangent> out = call_rule(node, edges, outputs, cotangents, request_.overrides);
    for (size_t k = 0; k < out.size(); ++k) {
      if (!wanted[k]) continue;
      resolve_mask(node, &out[k], zeros_below(edges.inputs[k]));
      add(edges.inputs[k], std::move(out[k]), nonzero);
    }
  }

  std::vector<NodeRef> answer() {
    std::vector<NodeRef> out;
    std::unordered_map<uint64_t, std::vector<size_t>> reads;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (graph_.is_x(i) && graph_.nodes()[i]->variable)
        reads[graph_.nodes()[i]->variable].push_back(i);
    }
    for (const Source& x : graph_.xs()) {
      std::vector<size_t> places;
      if (x.variable) {
        places = reads[x.variable];
      } else if (const size_t at = graph_.position(x.node.get()); at != Connectivity::kAbsent) {
        places = {at};
      }
      Adjoint total(request_.rows);
      for (size_t i : places) {
        total.add({adjoints_[i].kind(), adjoints_[i].dense()}, graph_.nodes()[i]->shape);
      }
      if (total.kind() == Cotangent::Zero) {
        const Node* node = graph_.nodes()[places[0]];
        total.add({Cotangent::Value, zeros(node->shape, node->dtype)}, node->shape);
      }
      out.push_back(with_history(total.dense()));
    }
    return out;
  }

  const GradientRequest& request_;
  Connectivity graph_;
  std::vector<Adjoint> adjoints_;
  std::unordered_map<const Node*, std::vector<size_t>> results_;  // outputs of each operation with
                                                                  // several
  std::vector<Node*> inputs_;                                     // of a node with a rule
  std::vector<uint8_t> wanted_;     // of the present node: the wanted inputs
  std::vector<Cotangent> answers_;  // and their cotangents
};

}  // namespace

std::vector<NodeRef> gradients(const GradientRequest& request) {
  return ReversePass(request).run();
}

}  // namespace pullback
