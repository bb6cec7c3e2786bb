// The reverse of a loop goes over the iterations the other way. It carries the cotangents of what
// the loop carries, and sums of what each iteration says of constants; along its way lie the trails
// of the loop, from which an iteration computes its inside again, what the loop was given stacked,
// and the cotangents of what it stacked. Trails are outputs of the loop like any other, with a
// cotangent of their own where somebody differentiates once more.
#include "grad/control.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "grad/reverse.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/body.h"

namespace pullback {
namespace {

using Flags = std::vector<uint8_t>;

// Which of a body's roots depend on inputs that are flagged.
Flags depending(const Body& body, const Flags& inputs) {
  std::unordered_set<const Node*> from;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) from.insert(body.inputs[i].get());
  }
  std::vector<Node*> roots, below;
  for (const NodeRef& root : body.roots) roots.push_back(root.get());
  walk(roots, &below, [](const Node* node) { return node->inputs(); });
  for (const Node* node : below) {
    const auto all = node->inputs();
    if (std::ranges::any_of(all, [&](const Node* input) { return from.contains(input); })) {
      from.insert(node);
    }
  }
  Flags out;
  for (const NodeRef& root : body.roots) out.push_back(from.contains(root.get()));
  return out;
}

NodeRef like(const Node* node) { return make_argument(node->dtype, node->shape); }

NodeRef plus(const NodeRef& a, const NodeRef& b) {
  Node* inputs[] = {a.get(), b.get()};
  return elementwise(Op::add, inputs);
}

NodeRef zeros_like(const Node* node) { return zeros(node->shape, node->dtype); }

Cotangent value(NodeRef g) { return {Cotangent::Value, std::move(g), nullptr}; }

// One reverse pass over a body: for each input that is flagged the cotangent that those of the
// roots (null where there is none) make of it; null where no path leads there.
std::vector<NodeRef> pull_back(const Body& body, std::span<const NodeRef> cotangents,
                               const Flags& inputs, const OverrideMap* overrides) {
  GradientRequest request;
  request.overrides = overrides;
  for (size_t k = 0; k < cotangents.size(); ++k) {
    if (!cotangents[k]) continue;
    request.ys.push_back(body.roots[k]);
    request.grad_ys.push_back(cotangents[k]);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) request.xs.push_back({body.inputs[i], 0});
  }
  const std::vector<NodeRef> answers = gradients(request);
  std::vector<NodeRef> out(inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]) out[i] = answers[next++];
  }
  return out;
}

class LoopReverse {
 public:
  LoopReverse(const Ref<Node>& loop, std::span<const Ref<Node>> cotangents,
              std::span<const uint8_t> wanted, const OverrideMap* overrides)
      : loop_(loop),
        operation_(*loop->operation),
        form_(operation_.loop),
        body_(*operation_.bodies[0]),
        places_(operation_.inputs[0]),
        cotangents_(cotangents),
        wanted_(wanted),
        overrides_(overrides),
        carries_(form_.carries),
        stacked_end_(carries_ + form_.stacked_in),
        from_(body_.inputs.size()),
        live_(carries_) {}

  std::vector<Cotangent> run() {
    find_wanted();
    for (size_t k = 0; k < carries_; ++k) {
      live_[k] = from_[k] && (cotangents_[k] || of_trail(k));
    }
    make_body();
    return answer();
  }

 private:
  const Node* input(size_t i) const { return loop_->inputs()[places_[i]]; }
  NodeRef of_stacked(size_t k) const { return cotangents_[carries_ + k]; }
  NodeRef of_trail(size_t k) const {
    return form_.trips >= 0 ? cotangents_[carries_ + form_.stacked_out + 1 + k] : nullptr;
  }

  // The body's inputs that what is wanted reaches, through any number of iterations.
  void find_wanted() {
    for (size_t i = 0; i < from_.size(); ++i) {
      from_[i] = wanted_[places_[i]] && is_inexact(body_.inputs[i]->dtype);
    }
    for (bool more = true; more;) {
      more = false;
      const Flags roots = depending(body_, from_);
      for (size_t k = 0; k < carries_; ++k) {
        if (!roots[k] || from_[k] || !is_inexact(body_.inputs[k]->dtype)) continue;
        from_[k] = 1;
        more = true;
      }
    }
  }

  // Until no other carry gets a cotangent.
  void make_body() {
    numbers_.emplace();
    gs_.resize(body_.roots.size());
    for (size_t k = 0; k < gs_.size(); ++k) {
      const bool stacked = k >= carries_ && of_stacked(k - carries_);
      if (stacked || (k < carries_ && live_[k])) gs_[k] = like(body_.roots[k].get());
    }
    for (bool more = true; more;) {
      more = false;
      answers_ = pull_back(body_, gs_, from_, overrides_);
      for (size_t k = 0; k < carries_; ++k) {
        if (!answers_[k] || live_[k]) continue;
        live_[k] = 1;
        gs_[k] = like(body_.roots[k].get());
        more = true;
      }
    }
  }

  std::vector<Cotangent> answer() {
    BodyRequest request{body_.name, {}, {}, *numbers_, false, &body_};
    LoopRequest out;
    std::vector<NodeRef> stacked_roots, stacked_in, stacked_arguments, constants;
    std::vector<size_t> summed, stacked;  // inputs of the body
    const auto carry = [&](NodeRef argument, NodeRef start, NodeRef root) {
      request.arguments.push_back(std::move(argument));
      out.inputs.push_back(std::move(start));
      request.roots.push_back(std::move(root));
    };
    const auto along = [&](NodeRef argument, NodeRef from) {
      stacked_arguments.push_back(std::move(argument));
      stacked_in.push_back(std::move(from));
    };
    for (size_t k = 0; k < carries_; ++k) {
      if (!live_[k]) continue;
      NodeRef root = answers_[k] ? answers_[k] : zeros_like(body_.inputs[k].get());
      if (const NodeRef g = of_trail(k)) {
        const NodeRef each = like(body_.inputs[k].get());
        along(each, g);
        root = plus(root, each);
      }
      carry(gs_[k], cotangents_[k] ? cotangents_[k] : zeros_like(body_.roots[k].get()), root);
    }
    for (size_t i = stacked_end_; i < from_.size(); ++i) {
      if (!answers_[i]) continue;
      summed.push_back(i);
      const NodeRef sum = like(body_.inputs[i].get());
      carry(sum, zeros_like(body_.inputs[i].get()), plus(sum, answers_[i]));
    }
    for (size_t i = carries_; i < stacked_end_; ++i) {
      if (!answers_[i]) continue;
      stacked.push_back(i);
      request.roots.push_back(answers_[i]);
    }
    for (size_t k = 0; k < carries_; ++k) {
      const size_t trail = carries_ + form_.stacked_out + 1 + k;
      along(body_.inputs[k], output_of(loop_, trail));
    }
    for (size_t i = carries_; i < stacked_end_; ++i) {
      along(body_.inputs[i], Ref<Node>(loop_->inputs()[places_[i]]));
    }
    for (int32_t k = 0; k < form_.stacked_out; ++k) {
      if (gs_[carries_ + k]) along(gs_[carries_ + k], of_stacked(k));
    }
    out.form = {static_cast<int32_t>(request.arguments.size()),
                static_cast<int32_t>(stacked_arguments.size()),
                static_cast<int32_t>(stacked.size()), form_.trips, !form_.reversed};
    const auto append = [](std::vector<NodeRef>* to, const std::vector<NodeRef>& from) {
      to->insert(to->end(), from.begin(), from.end());
    };
    append(&request.arguments, stacked_arguments);
    append(&out.inputs, stacked_in);
    for (size_t i = stacked_end_; i < body_.inputs.size(); ++i) {
      request.arguments.push_back(body_.inputs[i]);
      out.inputs.emplace_back(loop_->inputs()[places_[i]]);
    }
    const ClosedBody closed = close_body(std::move(request));
    append(&out.inputs, closed.captured);
    out.body = closed.body;
    const auto carried = static_cast<size_t>(out.form.carries);
    const NodeRef reverse = make_loop(std::move(out));
    std::vector<Cotangent> answers(loop_->inputs_count);
    size_t next = 0;
    for (size_t k = 0; k < carries_; ++k) {
      if (!live_[k]) continue;
      if (wanted_[places_[k]]) add(&answers, k, output_of(reverse, next));
      ++next;
    }
    for (size_t i : summed) add(&answers, i, output_of(reverse, next++));
    next = carried;
    for (size_t i : stacked) add(&answers, i, output_of(reverse, next++));
    return answers;
  }

  void add(std::vector<Cotangent>* answers, size_t i, NodeRef g) const {
    Cotangent& at = (*answers)[places_[i]];
    at = value(at.kind == Cotangent::Value ? plus(at.value, g) : std::move(g));
  }

  const Ref<Node>& loop_;
  const Operation& operation_;
  const LoopForm& form_;
  const Body& body_;
  const std::vector<int32_t>& places_;  // of the body's inputs among the loop's
  std::span<const Ref<Node>> cotangents_;
  std::span<const uint8_t> wanted_;
  const OverrideMap* overrides_;
  const size_t carries_, stacked_end_;
  Flags from_;  // of the body's inputs: depends on what is wanted
  Flags live_;  // of what is carried: has a cotangent
  std::optional<BodyNumbers> numbers_;
  std::vector<NodeRef> gs_;       // of the body's roots, as arguments
  std::vector<NodeRef> answers_;  // of the body's inputs
};

// Each choice says what it has to say of any input; the others have zeros there.
std::vector<Cotangent> branch_vjp(const Ref<Node>& branch, std::span<const Ref<Node>> cotangents,
                                  std::span<const uint8_t> wanted, const OverrideMap* overrides) {
  const Operation& operation = *branch->operation;
  struct Reverse {
    std::vector<NodeRef> answers;  // of the branch's inputs
    std::vector<NodeRef> gs;
    std::optional<BodyNumbers> numbers;
  };
  std::vector<Reverse> all;
  Flags reached(branch->inputs_count);
  for (size_t b = 0; b < operation.bodies.size(); ++b) {
    const Body& body = *operation.bodies[b];
    Reverse& reverse = all.emplace_back();
    reverse.numbers.emplace();
    for (size_t k = 0; k < cotangents.size(); ++k) {
      reverse.gs.push_back(cotangents[k] ? like(body.roots[k].get()) : nullptr);
    }
    Flags from;
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      from.push_back(wanted[operation.inputs[b][i]] && is_inexact(body.inputs[i]->dtype));
    }
    const auto answers = pull_back(body, reverse.gs, from, overrides);
    reverse.answers.resize(branch->inputs_count);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) continue;
      NodeRef& at = reverse.answers[operation.inputs[b][i]];
      at = at ? plus(at, answers[i]) : answers[i];
      reached[operation.inputs[b][i]] = 1;
    }
  }
  std::vector<Choice> choices;
  for (size_t b = 0; b < all.size(); ++b) {
    const Body& body = *operation.bodies[b];
    BodyRequest request{body.name, body.inputs, {}, *all[b].numbers, true, &body};
    std::vector<NodeRef> inputs;
    for (int32_t place : operation.inputs[b]) inputs.emplace_back(branch->inputs()[place]);
    for (size_t k = 0; k < cotangents.size(); ++k) {
      if (!cotangents[k]) continue;
      request.arguments.push_back(all[b].gs[k]);
      inputs.push_back(cotangents[k]);
    }
    for (size_t i = 0; i < reached.size(); ++i) {
      if (!reached[i]) continue;
      const NodeRef& g = all[b].answers[i];
      request.roots.push_back(g ? g : zeros_like(branch->inputs()[i]));
    }
    ClosedBody closed = close_body(std::move(request));
    inputs.insert(inputs.end(), closed.captured.begin(), closed.captured.end());
    choices.push_back({std::move(closed.body), std::move(inputs)});
  }
  std::vector<Cotangent> out(branch->inputs_count);
  if (std::ranges::none_of(reached, [](uint8_t one) { return one; })) return out;
  const NodeRef reverse = make_branch(Ref<Node>(branch->inputs()[0]), choices);
  size_t next = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (reached[i]) out[i] = value(output_of(reverse, next++));
  }
  return out;
}

}  // namespace

std::vector<Cotangent> control_vjp(const Ref<Node>& operation,
                                   std::span<const Ref<Node>> cotangents,
                                   std::span<const uint8_t> wanted, const OverrideMap* overrides) {
  // What rules make here belongs to bodies: it is stamped by nobody.
  const NoOverrides none;
  if (operation->op == Op::branch) return branch_vjp(operation, cotangents, wanted, overrides);
  if (operation->operation->loop.trips < 0) {
    fail(ErrorKind::NotImplemented, "gradients: while_loop: not yet");
  }
  return LoopReverse(operation, cotangents, wanted, overrides).run();
}

}  // namespace pullback
