// The reverse of a loop is a loop over the iterations in the opposite order. Its carry is the
// cotangents of the loop's carry and, for each constant, the sum of the cotangents so far. Its
// scanned inputs are the residuals of the loop, from which an iteration recomputes its inner
// values, the scanned inputs of the loop, and the cotangents of its stacked outputs. Residuals are
// outputs of the loop like any other: in a second derivative they have cotangents of their own.
#include <utility>

#include "grad/control/loop_derivative.h"
#include "grad/control/summed_products.h"

namespace pullback {
namespace {

class Reverse {
 public:
  // `wanted`: flags of the body's inputs.
  Reverse(const NodeRef& loop, std::span<const NodeRef> cotangents, Flags wanted,
          const OverrideMap* overrides)
      : loop_(loop),
        body_(loop_.body),
        dependence_(body_),
        cotangents_(cotangents),
        wanted_(std::move(wanted)),
        overrides_(overrides) {}

  // The cotangent of each input of the body.
  std::vector<NodeRef> run() {
    find_paths();
    find_cotangents();
    return make();
  }

 private:
  NodeRef of_residual(size_t k) const {
    return loop_.known() ? cotangents_[loop_.residual_output(k)] : nullptr;
  }

  // Flags the body's inputs that depend on a wanted input, through any number of iterations.
  void find_paths() {
    Flags inexact;
    for (const NodeRef& input : body_.inputs) inexact.push_back(is_inexact(input->dtype));
    for (size_t i = 0; i < inexact.size(); ++i) from_.push_back(wanted_[i] && inexact[i]);
    inexact.resize(loop_.carries);
    from_ = dependence_.iterated(std::move(from_), inexact);
  }

  void find_cotangents() {
    root_cotangents_.resize(body_.roots.size());
    for (size_t k = 0; k < root_cotangents_.size(); ++k) {
      const bool live = k < loop_.carries ? from_[k] && (cotangents_[k] || of_residual(k))
                                          : cotangents_[k] != nullptr;
      if (live) root_cotangents_[k] = argument_like(body_.roots[k]);
    }
    input_cotangents_ = derive_all_iterations(
        &root_cotangents_, body_.roots, loop_.carries, from_,
        [&](const auto& given, const Flags& inputs) {
          return pull_back(body_, given, inputs, overrides_);
        },
        [&](const Flags& roots) { return dependence_.inputs_of(roots); });
  }

  std::vector<NodeRef> make() {
    DerivedLoop out;
    LoopRequest request;
    std::vector<size_t> carries, stacked;  // body inputs whose cotangents are carries or stacked
    std::vector<NodeRef> stacked_roots;
    for (size_t i = loop_.carries; i < loop_.stacked_end; ++i) {
      if (!input_cotangents_[i]) continue;
      stacked.push_back(i);
      stacked_roots.push_back(input_cotangents_[i]);
    }
    SummedProducts products(loop_, std::move(stacked_roots));
    for (size_t k = 0; k < loop_.carries; ++k) {
      if (!root_cotangents_[k]) continue;
      carries.push_back(k);
      NodeRef root = input_cotangents_[k];
      if (const NodeRef g = of_residual(k)) {
        const NodeRef each = argument_like(body_.inputs[k]);
        out.add_scanned(each, g);
        root = sum_of(root, each);
      }
      out.add_carry(root_cotangents_[k],
                    cotangents_[k] ? cotangents_[k] : zeros_like(body_.roots[k]),
                    root ? root : zeros_like(body_.inputs[k]));
    }
    for (size_t i = loop_.stacked_end; i < body_.inputs.size(); ++i) {
      if (!input_cotangents_[i] || products.add(i, input_cotangents_[i])) continue;
      carries.push_back(i);
      const NodeRef sum = argument_like(body_.inputs[i]);
      out.add_carry(sum, zeros_like(body_.inputs[i]), sum_of(sum, input_cotangents_[i]));
    }
    out.stacked_roots = products.stacked();
    for (size_t k = 0; k < loop_.carries; ++k) {
      request.residuals.push_back(static_cast<int32_t>(k));
      const bool known = loop_.known();
      out.add_scanned(body_.inputs[k],
                      known ? output_of(loop_.node, loop_.residual_output(k)) : nullptr);
    }
    for (size_t i = loop_.carries; i < loop_.stacked_end; ++i) {
      out.add_scanned(body_.inputs[i], loop_.input(i));
    }
    for (size_t k = loop_.carries; k < body_.roots.size(); ++k) {
      if (root_cotangents_[k]) out.add_scanned(root_cotangents_[k], cotangents_[k]);
    }
    for (size_t i = loop_.stacked_end; i < body_.inputs.size(); ++i) {
      out.add_constant(body_.inputs[i], loop_.input(i));
    }
    request.form.trips = loop_.form.trips;
    if (!loop_.known()) request.form.end = LoopEnd::Count;
    request.form.reversed = !loop_.form.reversed;
    request.form.memory = loop_.form.memory;
    if (!loop_.known()) {
      request.count = loop_.count();
      request.replayed.body = loop_.operation.bodies[0];
      for (size_t i = 0; i < body_.inputs.size(); ++i) {
        request.replayed.inputs.push_back(loop_.input(i));
      }
      for (size_t i : carries) request.cotangents_of.push_back(static_cast<int32_t>(i));
    }
    std::vector<NodeRef> answers(body_.inputs.size());
    if (carries.empty() && stacked.empty() && products.empty()) return answers;
    request.body = out.close(body_, numbers_, &request.form);
    const NodeRef reverse = make_loop(std::move(request));
    size_t next = 0;
    for (size_t i : carries) answers[i] = output_of(reverse, next++);
    std::vector<NodeRef> outputs;
    for (size_t k = 0; k < products.stacked().size(); ++k) {
      outputs.push_back(output_of(reverse, next++));
    }
    for (size_t k = 0; k < stacked.size(); ++k) answers[stacked[k]] = outputs[k];
    for (auto& [i, sum] : products.finish(outputs)) answers[i] = std::move(sum);
    for (size_t i = 0; i < answers.size(); ++i) {
      // After at least one iteration, a carry that receives no cotangent from the body has none. (A
      // loop without iterations passes the cotangent of its final carry on.)
      const bool cut =
          i < loop_.carries && !input_cotangents_[i] && !of_residual(i) && loop_.form.trips > 0;
      if (!wanted_[i] || cut) answers[i] = nullptr;
    }
    return answers;
  }

  LoopView loop_;
  const Body& body_;
  const BodyDependence dependence_;
  std::span<const NodeRef> cotangents_;
  Flags wanted_;
  const OverrideMap* overrides_;
  Flags from_;  // per body input: depends on a wanted input
  BodyNumbers numbers_;
  std::vector<NodeRef> root_cotangents_;   // placeholders for the cotangents of the body's roots
  std::vector<NodeRef> input_cotangents_;  // cotangents of the body's inputs
};

}  // namespace

std::vector<NodeRef> reverse_loop(const NodeRef& loop, std::span<const NodeRef> cotangents,
                                  Flags wanted, const OverrideMap* overrides) {
  return Reverse(loop, cotangents, std::move(wanted), overrides).run();
}

std::vector<NodeRef> loop_cotangents(const NodeRef& loop, std::span<const NodeRef> cotangents,
                                     std::span<const uint8_t> wanted,
                                     const OverrideMap* overrides) {
  const Operation& operation = *loop->operation;
  if (operation.replays()) {
    return replaying_cotangents(loop, cotangents, wanted, overrides);
  }
  Flags of_body;
  for (const InputSource& source : operation.inputs[0]) of_body.push_back(wanted[source.number]);
  const auto found = reverse_loop(loop, cotangents, std::move(of_body), overrides);
  std::vector<NodeRef> out(loop->inputs_count);
  for (size_t i = 0; i < found.size(); ++i) {
    NodeRef& at = out[operation.inputs[0][i].number];
    at = sum_of(at, found[i]);
  }
  return out;
}

std::vector<NodeRef> loop_tangents(const NodeRef& loop, std::span<const NodeRef> tangents,
                                   const OverrideMap* overrides) {
  const Operation& operation = *loop->operation;
  if (operation.replays()) return replaying_tangents(loop, tangents, overrides);
  std::vector<NodeRef> of_body;
  for (const InputSource& source : operation.inputs[0]) {
    of_body.push_back(tangents[source.number]);
  }
  const TangentLoop derived = tangent_loop(loop, std::move(of_body), overrides);
  std::vector<NodeRef> out(operation.outputs.size());
  for (size_t k = 0; k < out.size(); ++k) {
    if (const auto place = derived.places[k]) out[k] = output_of(derived.node, *place);
  }
  return out;
}

}  // namespace pullback
