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
// L. Rules of the program may give another J, which must be linear in its cotangent all the same.
// Then, with the derivative L'' of L' in direction x',
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
#include "graph/walk.h"

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

// True if a rule of the program may replace the derivative of an operation of the body.
bool has_rules(const Body& body, const OverrideMap* overrides) {
  if (body.holds_rules) return true;
  if (!overrides && !registry_used()) return false;
  std::vector<Node*> nodes;
  walk(pointers(body.roots), &nodes, [](const Node* node) { return node->inputs(); });
  return std::ranges::any_of(nodes, [&](const Node* node) {
    const std::string name = display_name(node);
    if ((overrides && overrides->contains(name)) || registered_rule(name)) return true;
    return node->operation &&
           std::ranges::any_of(node->operation->bodies, [&](const Ref<Body>& inner) {
             return has_rules(*inner, overrides);
           });
  });
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
    const auto [inputs, places] =
        places_of_inputs(derived, [&](size_t i) { return wanted[i] != 0; });
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
    if (has_rules(body_, overrides_)) return tangents_by_rules(ts);
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

  // The same if J may differ from the derivative of the loop.
  std::vector<NodeRef> tangents_by_rules(std::span<const NodeRef> ts) {
    std::vector<NodeRef> zeros(body_.inputs.size());
    for (int32_t i : cotangents_of()) zeros[i] = zeros_like(body_.inputs[i]);
    const TangentLoop first = tangent_loop(loop_, zeros, overrides_);
    const auto [inputs, places] =
        places_of_inputs(first, [&](size_t i) { return ts[i] != nullptr; });
    const auto& all = first.node->operation->bodies[0]->inputs;
    std::vector<NodeRef> directions(all.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const auto found = std::ranges::find(all, inputs[i]);
      if (found != all.end()) directions[found - all.begin()] = ts[places[i]];
    }
    const TangentLoop second = tangent_loop(first.node, directions, overrides_);
    std::vector<NodeRef> gs(second.node->operation->outputs.size()), ws;
    for (size_t j = 0; j < carries(); ++j) {
      ws.push_back(first.arguments[cotangents_of()[j]]);
      const auto place = tangent_at(first, j);
      if (!place) continue;
      gs[*place] = ts[j];
      if (const auto at = second.places[*place]) gs[*at] = NodeRef(reverse_->inputs()[j]);
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

  // The inputs of the body of `derived` that are inputs of the reverse too, and their numbers
  // there: the inputs of the loop, and tensors outside to which a gradient rule refers.
  // `needed(i)`: whether the derivative by input i of the reverse is needed. Refuses it where the
  // other tensors of rules may have a part in it. Integer inputs are positions and the number of
  // iterations.
  template <class Needed>
  std::pair<std::vector<NodeRef>, std::vector<size_t>> places_of_inputs(const TangentLoop& derived,
                                                                        Needed&& needed) const {
    std::vector<NodeRef> inputs = body_.inputs;
    std::vector<size_t> places;
    Flags known(reverse_->inputs_count);
    for (size_t j = 0; j < carries(); ++j) known[j] = 1;
    for (const InputSource& source : operation_.inputs[1]) {
      known[source.number] = 1;
      places.push_back(source.number);
    }
    bool complete = true;
    const auto all = reverse_->inputs();
    for (size_t k = 0; k < derived.captured.size(); ++k) {
      const Node* value = derived.captured_values[k].get();
      if (!is_inexact(value->dtype)) continue;
      bool found = false;
      for (size_t i = 0; i < all.size(); ++i) {
        if (known[i] || found || all[i] != value) continue;
        known[i] = found = true;
        inputs.push_back(derived.captured[k]);
        places.push_back(i);
      }
      // What a rule makes anew from a tensor by which the derivative is needed is made anew for the
      // reverse too, where it is an input.
      complete &= found || !value->tracked() || value->seq >= first_new_;
    }
    for (size_t i = 0; i < known.size(); ++i) {
      complete &= !needed(i) || known[i] || !is_inexact(all[i]->dtype);
    }
    if (!complete) {
      fail(ErrorKind::NotImplemented, "gradients: while_loop: ", body_.name,
           ": no second derivative by a tensor outside of the loop to which a gradient rule inside "
           "refers; make it a part of the state of the loop");
    }
    return {std::move(inputs), std::move(places)};
  }

  const NodeRef& reverse_;
  const Operation& operation_;
  const NodeRef loop_;
  const Body& body_;
  const OverrideMap* overrides_;
  const uint64_t first_new_ = next_seq();
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
