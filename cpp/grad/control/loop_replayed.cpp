// The reverse of a loop with an unknown number of iterations. Its residuals cannot be stacked, so
// the reverse runs the loop again (replays it) for as many iterations as it had. Such a reverse,
// Jᵀg, is differentiated by its meaning. L is the loop, J its derivative, and L' the loop that
// carries tangents as well. In a direction x', with g' for g,
//
//   (Jᵀg)' = the part of x in the reverse of L' in direction x', for cotangents g' and g
//
// The cotangent w of Jᵀg contributes J w to g, and to x the part of x in the reverse of L' in
// direction w, for cotangents 0 and g.
//
// The first formula exchanges the order of two derivatives, so it holds if J is the derivative of
// L. Rules of the program may give another J. Then, with the derivative L'' of L' in direction x',
//
//   (Jᵀg)' = the part of w in the reverse of L'' for the cotangents g' of J w and g of (J w)'
//
// which does not depend on the w at which it is computed, since J w is linear.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "grad/control/loop_derivative.h"
#include "grad/registry.h"
#include "graph/make.h"

namespace pullback {
namespace {

// The loop that a reverse replays, with its number of iterations as an input.
NodeRef replayed_loop(const NodeRef& reverse) {
  const Operation& of = *reverse->operation;
  Ref<Operation> operation(new Operation);
  operation->bodies = {of.bodies[1]};
  operation->loop.carries = static_cast<int32_t>(of.bodies[1]->roots.size());
  operation->loop.end = LoopEnd::Count;
  operation->loop.reversed = !of.loop.reversed;
  operation->loop.memory = of.loop.memory;
  auto& sources = operation->inputs.emplace_back();
  std::vector<Node*> inputs;
  for (const InputSource& source : of.inputs[1]) {
    sources.push_back({static_cast<int32_t>(inputs.size())});
    inputs.push_back(reverse->inputs()[source.number]);
  }
  inputs.push_back(reverse->inputs().back());
  for (const NodeRef& root : of.bodies[1]->roots) {
    operation->outputs.push_back({root->dtype, root->shape});
  }
  operation->outputs.push_back({DType::Int64, {}});
  NodeRef node = make_node(Op::loop, DType::Bool, {}, inputs);
  node->operation = operation;
  return node;
}

// Derivatives of Jᵀg, a reverse that replays its loop.
class Replaying {
 public:
  Replaying(const NodeRef& reverse, const OverrideMap* overrides)
      : reverse_(reverse),
        operation_(*reverse->operation),
        loop_(replayed_loop(reverse)),
        body_(*operation_.bodies[1]),
        overrides_(overrides) {}

  std::vector<NodeRef> cotangents(std::span<const NodeRef> ws, std::span<const uint8_t> wanted) {
    std::vector<NodeRef> directions(body_.inputs.size());
    for (size_t j = 0; j < cotangents_of().size(); ++j) directions[cotangents_of()[j]] = ws[j];
    const TangentLoop derived = tangent_loop(loop_, directions, overrides_);
    const size_t outputs = derived.node->operation->outputs.size();
    std::vector<NodeRef> out(reverse_->inputs_count), gs(outputs);
    for (size_t j = 0; j < carries(); ++j) {  // J w
      const auto place = tangent_at(derived, j);
      if (!place) continue;
      gs[*place] = NodeRef(reverse_->inputs()[j]);
      if (wanted[j]) out[j] = output_of(derived.node, *place);
    }
    const auto [inputs, places] = inputs_of(derived, [&](size_t i) { return wanted[i] != 0; });
    const auto found =
        of_loops_inputs(derived.node, inputs, gs, [&](size_t i) { return wanted[places[i]] != 0; });
    for (size_t i = 0; i < found.size(); ++i) {
      NodeRef& at = out[places[i]];
      at = sum_of(at, found[i]);
    }
    return out;
  }

  // The tangent of each output.
  std::vector<NodeRef> tangents(std::span<const NodeRef> ts) {
    if (body_.holds_rules || overrides_ || registry_used()) return tangents_by_rules(ts);
    std::vector<NodeRef> directions(body_.inputs.size());
    for (size_t i = 0; i < directions.size(); ++i)
      directions[i] = ts[operation_.inputs[1][i].number];
    const TangentLoop derived = tangent_loop(loop_, directions, overrides_);
    std::vector<NodeRef> gs(derived.node->operation->outputs.size());
    for (size_t j = 0; j < carries(); ++j) {
      const int32_t k = cotangents_of()[j];
      if (static_cast<size_t>(k) >= body_.roots.size()) continue;  // a sum, which starts with zeros
      gs[k] = ts[j];
      if (const auto place = tangent_at(derived, j)) gs[*place] = NodeRef(reverse_->inputs()[j]);
    }
    Flags of(body_.inputs.size());
    for (int32_t i : cotangents_of()) of[i] = 1;
    const auto found =
        of_loops_inputs(derived.node, body_.inputs, gs, [&](size_t i) { return of[i] != 0; });
    std::vector<NodeRef> out(operation_.outputs.size());
    for (size_t j = 0; j < carries(); ++j) out[j] = found[cotangents_of()[j]];
    return out;
  }

  // The same if J may be another one than the derivative of the loop.
  std::vector<NodeRef> tangents_by_rules(std::span<const NodeRef> ts) {
    std::vector<NodeRef> zeros(body_.inputs.size());
    for (int32_t i : cotangents_of()) zeros[i] = zeros_like(body_.inputs[i]);
    const TangentLoop first = tangent_loop(loop_, zeros, overrides_);
    const auto [inputs, places] = inputs_of(first, [&](size_t i) { return ts[i] != nullptr; });
    const auto& of_first = first.node->operation->bodies[0]->inputs;
    std::vector<NodeRef> directions(of_first.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto found = std::ranges::find(of_first, inputs[i]);
      if (found != of_first.end()) directions[found - of_first.begin()] = ts[places[i]];
    }
    const TangentLoop second = tangent_loop(first.node, directions, overrides_);
    std::vector<NodeRef> gs(second.node->operation->outputs.size()), ws;
    for (size_t j = 0; j < carries(); ++j) {
      ws.push_back(first.arguments[cotangents_of()[j]]);
      const auto place = tangent_at(first, j);
      if (!place) continue;
      gs[*place] = ts[j];
      if (const auto of_it = second.places[*place]) gs[*of_it] = NodeRef(reverse_->inputs()[j]);
    }
    auto out = of_loops_inputs(second.node, ws, gs, [](size_t) { return true; });
    out.resize(operation_.outputs.size());
    return out;
  }

 private:
  const std::vector<int32_t>& cotangents_of() const { return operation_.cotangents_of; }
  size_t carries() const { return cotangents_of().size(); }
  // The tangent of the carry whose cotangent is the j-th carry of the reverse.
  std::optional<size_t> tangent_at(const TangentLoop& derived, size_t j) const {
    const auto k = static_cast<size_t>(cotangents_of()[j]);
    return k < body_.roots.size() ? derived.places[k] : std::nullopt;
  }

  // The cotangents of `inputs` of the body of `loop`.
  template <class Wanted>
  std::vector<NodeRef> of_loops_inputs(const NodeRef& loop, std::span<const NodeRef> inputs,
                                       std::span<const NodeRef> gs, Wanted&& wanted) {
    const auto& all = loop->operation->bodies[0]->inputs;
    Flags flags(all.size());
    std::vector<int32_t> place(inputs.size(), -1);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto found = std::find(all.begin(), all.end(), inputs[i]);
      if (found == all.end()) continue;  // not read
      place[i] = static_cast<int32_t>(found - all.begin());
      flags[place[i]] = wanted(i);
    }
    const auto found = reverse_loop(loop, gs, flags, overrides_);
    std::vector<NodeRef> out(inputs.size());
    for (size_t i = 0; i < out.size(); ++i) {
      if (place[i] >= 0) out[i] = found[place[i]];
    }
    return out;
  }

  // The inputs of the body of `derived` by which the reverse has derivatives: those of the loop,
  // and those that only its rules refer to; and for each its number among those of the reverse.
  // Refuses derivatives by others, such as a tensor that a rule computes anew at each call, since
  // their effect is unknown. Integer inputs are positions and the number of iterations.
  template <class Asked>
  std::pair<std::vector<NodeRef>, std::vector<size_t>> inputs_of(const TangentLoop& derived,
                                                                 Asked&& asked) const {
    std::vector<NodeRef> inputs = body_.inputs;
    std::vector<size_t> places;
    Flags known(reverse_->inputs_count);
    for (size_t j = 0; j < carries(); ++j) known[j] = 1;
    for (const InputSource& source : operation_.inputs[1]) {
      known[source.number] = 1;
      places.push_back(source.number);
    }
    for (size_t i = 0; i < known.size(); ++i) {
      const auto& values = derived.captured_values;
      const auto found = std::ranges::find(values, reverse_->inputs()[i], &NodeRef::get);
      if (known[i] || found == values.end()) continue;
      known[i] = 1;
      inputs.push_back(derived.captured[found - values.begin()]);
      places.push_back(i);
    }
    for (size_t i = 0; i < known.size(); ++i) {
      if (!asked(i) || known[i] || !is_inexact(reverse_->inputs()[i]->dtype)) continue;
      fail(ErrorKind::NotImplemented, "gradients: while_loop: ", body_.name,
           ": a tensor that only a gradient rule inside of the loop uses has no second "
           "derivative; pass it as an argument to the function of the rule");
    }
    return {std::move(inputs), std::move(places)};
  }

  const NodeRef& reverse_;
  const Operation& operation_;
  const NodeRef loop_;
  const Body& body_;
  const OverrideMap* overrides_;
};

}  // namespace

std::vector<NodeRef> replaying_cotangents(const NodeRef& reverse, std::span<const NodeRef> ws,
                                          std::span<const uint8_t> wanted,
                                          const OverrideMap* overrides) {
  return Replaying(reverse, overrides).cotangents(ws, wanted);
}

std::vector<NodeRef> replaying_tangents(const NodeRef& reverse, std::span<const NodeRef> ts,
                                        const OverrideMap* overrides) {
  return Replaying(reverse, overrides).tangents(ts);
}

}  // namespace pullback
