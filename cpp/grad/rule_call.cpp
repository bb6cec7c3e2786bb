// Calls a rule, and checks the count, dtypes and shapes of its results.

#include "grad/rule_call.h"

#include <utility>

#include "base/counted.h"
#include "base/error.h"
#include "ops/composite.h"
#include "ops/ops.h"

namespace pullback {
namespace {

thread_local const OverrideMap* callers_overrides = nullptr;

// Sets callers_overrides while a rule is called.
class Calling {
 public:
  explicit Calling(const OverrideMap* overrides)
      : before_(std::exchange(callers_overrides, overrides)) {}
  ~Calling() { callers_overrides = before_; }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

 private:
  const OverrideMap* before_;
};

void check_result(const RuleCall& call, const Rule& rule, const Cotangent& c, size_t k) {
  const Node* input = call.inputs[k];
  if (c.value->dtype != input->dtype) {
    const auto shape = [&](const Node* node) {
      return c.value->shape == input->shape ? std::string() : text(" of shape ", node->shape);
    };
    fail(ErrorKind::Type, call.op, ": expected ", input->dtype, shape(input),
         " from the gradient rule ", rule.name, " for input ", static_cast<int64_t>(k), ", got ",
         c.value->dtype, shape(c.value.get()),
         is_inexact(input->dtype) ? "; cast it" : "; return None for it: it has no gradient");
  }
  // An elementwise operation may return a cotangent of the result's shape for a broadcast input:
  // the caller sums over broadcast axes, as for the library's own rules.
  const bool summed = is_elementwise(call.node->op) && c.value->shape == call.node->shape &&
                      broadcasts_to(input->shape, c.value->shape);
  if (!(c.value->shape == input->shape) && !summed) {
    fail(ErrorKind::Value, call.op, ": expected shape ", input->shape, " from the gradient rule ",
         rule.name, " for input ", static_cast<int64_t>(k), ", got ", c.value->shape);
  }
}

}  // namespace

const OverrideMap* overrides_of_caller() { return callers_overrides; }

std::vector<Cotangent> call_rule(Node* node, const Connectivity::BackwardEdges& edges,
                                 std::span<Node* const> outputs,
                                 std::span<const NodeRef> cotangents,
                                 const OverrideMap* overrides) {
  // A user's custom_gradient has the name of its rule, which errors contain anyway.
  const bool own = (node->op == Op::custom_call || node->op == Op::custom) &&
                   node->attr.composite == Composite::None;
  std::vector<Node*> inputs(edges.inputs.begin(), edges.inputs.end());
  NodeRef exponent;
  if (node->op == Op::custom && node->attr.composite == Composite::pow) {
    exponent = resolve_weak(NodeRef(inputs[1]), node->dtype);
    inputs[1] = exponent.get();
  }
  const RuleCall call{own ? name_of(Op::custom) : display_name(node), node, inputs, outputs,
                      pointers(cotangents)};
  std::vector<Cotangent> out;
  {
    const Calling calling(overrides);
    out = edges.rule->apply(call);
  }
  if (out.size() != edges.inputs.size()) {
    fail(ErrorKind::Value, call.op, ": expected ",
         counted(static_cast<int64_t>(edges.inputs.size()), "gradient", "gradients"),
         ", one for each input, from the gradient rule ", edges.rule->name, ", got ",
         static_cast<int64_t>(out.size()));
  }
  for (size_t k = 0; k < out.size(); ++k) {
    if (out[k].kind == Cotangent::Value) check_result(call, *edges.rule, out[k], k);
  }
  return out;
}

}  // namespace pullback
