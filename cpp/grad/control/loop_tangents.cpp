// Tangents of a loop: a loop whose carry has them beside the original carry.
#include <utility>

#include "grad/control/loop_derivative.h"

namespace pullback {
namespace {

// Builds that loop for the tangents of the body's inputs. Carry and outputs of the original loop
// come first.
class Tangents {
 public:
  Tangents(const NodeRef& loop, std::vector<NodeRef> tangents, const OverrideMap* overrides)
      : loop_(loop), body_(loop_.body), tangents_(std::move(tangents)), overrides_(overrides) {
    auto& arguments = made_.arguments;
    arguments.resize(body_.inputs.size());
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (tangents_[i]) arguments[i] = argument_like(body_.inputs[i]);
    }
    find_tangents();
    make();
  }

  TangentLoop take() { return std::move(made_); }

 private:
  void find_tangents() {
    const BodyDependence dependence(body_);
    roots_ = derive_all_iterations(
        &made_.arguments, body_.inputs, loop_.carries, Flags(body_.roots.size(), 1),
        [&](const auto& given, const Flags& roots) {
          return push_forward(body_, given, roots, overrides_);
        },
        [&](const Flags& inputs) { return dependence.roots_of(inputs); });
  }

  void make() {
    DerivedLoop out;
    LoopRequest request;
    for (size_t k = 0; k < loop_.carries; ++k) {
      out.add_carry(body_.inputs[k], loop_.input(k), body_.roots[k]);
    }
    auto& places = made_.places;
    const auto& arguments = made_.arguments;
    places.resize(loop_.operation.outputs.size());
    std::vector<std::optional<size_t>> carry_at(loop_.carries);
    for (size_t k = 0; k < loop_.carries; ++k) {
      if (!arguments[k]) continue;
      places[k] = carry_at[k] = out.carries.size();
      out.add_carry(arguments[k], tangents_[k] ? tangents_[k] : zeros_like(body_.inputs[k]),
                    roots_[k] ? roots_[k] : zeros_like(body_.inputs[k]));
    }
    for (size_t i = loop_.carries; i < body_.inputs.size(); ++i) {
      const bool stacked = i < loop_.stacked_end;
      stacked ? out.add_scanned(body_.inputs[i], loop_.input(i))
              : out.add_constant(body_.inputs[i], loop_.input(i));
      if (!arguments[i]) continue;
      stacked ? out.add_scanned(arguments[i], tangents_[i])
              : out.add_constant(arguments[i], tangents_[i]);
    }
    const size_t carries = out.carries.size();
    for (size_t k = loop_.carries; k < body_.roots.size(); ++k) {
      if (!roots_[k]) continue;
      places[k] = carries + out.stacked_roots.size();
      out.stacked_roots.push_back(roots_[k]);
    }
    for (size_t k = 0; k < loop_.carries && loop_.known(); ++k) {
      const auto at = carry_at[k];
      if (at) places[loop_.residual_output(k)] = carries + out.stacked_roots.size() + 1 + *at;
    }
    request.form.trips = loop_.form.trips;
    request.form.end = loop_.form.end;
    request.form.reversed = loop_.form.reversed;
    request.form.memory = loop_.form.memory;
    if (loop_.form.end == LoopEnd::Count) request.count = loop_.count();
    if (loop_.form.end == LoopEnd::Condition) {
      request.condition.body = loop_.operation.bodies[1];
      for (const InputSource& source : loop_.operation.inputs[1]) {
        if (source.number < loop_.form.carries) continue;
        request.condition.inputs.emplace_back(loop_.node->inputs()[source.number]);
      }
    }
    request.body = out.close(body_, numbers_, &request.form);
    const auto own = static_cast<ptrdiff_t>(carries + out.scanned.size() + out.constants.size());
    const auto& inputs = request.body.body->inputs;
    made_.captured.assign(inputs.begin() + own, inputs.end());
    made_.captured_values.assign(request.body.inputs.begin() + own, request.body.inputs.end());
    made_.node = make_loop(std::move(request));
  }

  LoopView loop_;
  const Body& body_;
  BodyNumbers numbers_;
  std::vector<NodeRef> tangents_;
  const OverrideMap* overrides_;
  std::vector<NodeRef> roots_;  // tangents of the body's roots
  TangentLoop made_;
};

}  // namespace

TangentLoop tangent_loop(const NodeRef& loop, std::vector<NodeRef> tangents,
                         const OverrideMap* overrides) {
  return Tangents(loop, std::move(tangents), overrides).take();
}

}  // namespace pullback
