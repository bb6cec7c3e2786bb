// Unrolls loops and inlines branches: each iteration is a copy of the body, applied to the results
// of the iteration before. Start at Unroller.
#include "explain/unrolled.h"

#include <algorithm>
#include <memory>

#include "base/iteration_seed.h"
#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/walk.h"
#include "ops/body.h"
#include "transform/batcher.h"

namespace pullback {
namespace {

// Limits for the copies of one loop. A loop with more iterations becomes kLoops shorter loops.
constexpr int64_t kNodes = 2048, kBytes = int64_t{1} << 25, kLoops = 16;

// The inputs on which a copy of a body was made. Rules need them later.
struct BodyCopy {
  Ref<Body> body;
  std::vector<NodeRef> inputs;
  Ref<Original> around;  // of the operation, if it is itself part of a copy
};
using BodyCopyRef = std::shared_ptr<const BodyCopy>;

NodeRef copied(const Node* node, std::span<Node* const> inputs, const BodyCopyRef& given);

// Rebuilds nodes that depend on tensors of the body onto a copy of it.
std::vector<NodeRef> rebind(std::vector<NodeRef> roots, std::vector<Node*> from,
                            std::vector<NodeRef> to, const BodyCopyRef& given) {
  if (!none_traced(roots)) {
    for (size_t i = 0; i < given->inputs.size(); ++i) {
      from.push_back(given->body->inputs[i].get());
      to.push_back(given->inputs[i]);
    }
    const Subgraph made = subgraph_of(*given->body, std::move(roots), from);
    roots = made.rebuild(
        to, [&](size_t, const Node* node, auto on) { return copied(node, on, given); });
  }
  return given->around ? given->around->rebound_to_copy(std::move(roots), {}, {}) : roots;
}

// The rule of an operation of a body, for its copy. A Python rule may reference tensors of the
// body.
class UnrolledRule : public Rule {
 public:
  UnrolledRule(Ref<Rule> inside, const Node* node, BodyCopyRef given)
      : inside_(std::move(inside)), node_(const_cast<Node*>(node)), given_(std::move(given)) {
    name = inside_->name;
  }

  std::vector<Cotangent> apply(const RuleCall& call) override {
    std::vector<Cotangent> answers = inside_->apply(call);
    remake_answers(&answers, [&](std::vector<NodeRef> roots) {
      std::vector<Node*> from;
      std::vector<NodeRef> to;
      add_application(node_.get(), call, &from, &to);
      return rebind(std::move(roots), std::move(from), std::move(to), given_);
    });
    return answers;
  }

 private:
  Ref<Rule> inside_;
  NodeRef node_;  // in the body
  BodyCopyRef given_;
};

class UnrolledOperation : public Original {
 public:
  UnrolledOperation(const Node* original, BodyCopyRef given)
      : Original(original), given_(std::move(given)) {}

  std::vector<NodeRef> rebound_to_copy(std::vector<NodeRef> roots, std::vector<Node*> from,
                                       std::vector<NodeRef> to) const override {
    return rebind(std::move(roots), std::move(from), std::move(to), given_);
  }

 private:
  BodyCopyRef given_;
};

NodeRef copied(const Node* node, std::span<Node* const> inputs, const BodyCopyRef& given) {
  NodeRef copy = copy_node(node, inputs);
  if (by_users_rule(copy.get())) copy->rule = new UnrolledRule(copy->rule, node, given);
  if (holds_rules(node)) copy->origin = new UnrolledOperation(node, given);
  return copy;
}

// For an operation that replaces a copy: rebinds what its rules reference to that copy.
class InPlaceOfCopy : public Original {
 public:
  InPlaceOfCopy(const Node* original, Ref<Original> around)
      : Original(original), around_(std::move(around)) {}

  std::vector<NodeRef> rebound_to_copy(std::vector<NodeRef> roots, std::vector<Node*> from,
                                       std::vector<NodeRef> to) const override {
    return around_->rebound_to_copy(std::move(roots), std::move(from), std::move(to));
  }

 private:
  Ref<Original> around_;
};

// The number of iterations that fit into kNodes and kBytes; at least one.
int64_t iterations_at_once(const Body& body) {
  std::vector<Node*> roots, reached;
  for (const NodeRef& root : body.roots) roots.push_back(root.get());
  walk(roots, &reached, [](const Node* node) { return node->inputs(); });
  int64_t bytes = 1;
  for (const Node* node : reached) bytes += node->bytes();
  const auto nodes = static_cast<int64_t>(reached.size());
  return std::max<int64_t>(1, std::min(kNodes / std::max<int64_t>(nodes, 1), kBytes / bytes));
}

NodeRef joined(std::vector<NodeRef> parts, bool reversed, bool whole, const TensorType& type) {
  if (parts.empty()) return zeros(type.shape, type.dtype);
  if (reversed) std::ranges::reverse(parts);
  return whole ? concat(parts, 0) : stack(parts, 0);
}

class Unroller {
 public:
  Unroller(const Node* operation, std::span<Node* const> inputs, std::span<const uint8_t> wanted)
      : node_(operation),
        operation_(*operation->operation),
        form_(operation_.loop),
        wanted_(wanted),
        around_(dynamic_cast<Original*>(operation->origin.get())),
        made_from_(next_seq()) {
    for (Node* input : inputs) inputs_.emplace_back(input);
  }

  std::optional<Unrolled> loop(int64_t trips) {
    const Ref<Body> body = operation_.bodies[0];
    const bool closed = trips > iterations_at_once(*body);
    const auto drawn = [&](int32_t place) { return place >= 0 && is_draw(inputs_[place].get()); };
    if (closed && std::ranges::any_of(operation_.inputs[0], drawn)) return std::nullopt;
    std::vector<NodeRef> given = given_inputs(0, trips);
    placed_until(next_seq());  // a replayed loop belongs to no iteration
    const auto carries = static_cast<size_t>(form_.carries);
    const auto outputs = operation_.outputs.size();
    // Stacked outputs and residuals.
    std::vector<std::vector<NodeRef>> collected(outputs);
    const int64_t count = closed ? std::min(kLoops, trips) : trips;
    for (int64_t p = 0; p < count; ++p) {
      const int64_t first = trips / count * p + std::min(p, trips % count);
      const int64_t size = trips / count + (p < trips % count);
      const int64_t entry = form_.reversed ? trips - first - size : first;
      std::vector<NodeRef> on = given;
      for (size_t i = carries; i < stacked_end(); ++i) {
        on[i] = closed ? narrow(given[i], 0, entry, size) : entry_of(given[i], entry);
      }
      for (size_t k = body->roots.size() + 1; k < outputs && !closed; ++k) {
        collected[k].push_back(on[k - body->roots.size() - 1]);
      }
      const NodeRef shorter = closed ? shorter_loop(on, size) : nullptr;
      std::vector<NodeRef> results;
      if (closed) {
        for (size_t k = 0; k < body->roots.size(); ++k) results.push_back(output_of(shorter, k));
        for (size_t k = body->roots.size() + 1; k < outputs; ++k) {
          if (wanted_[k]) collected[k].push_back(output_of(shorter, k));
        }
      } else {
        results = inside(body, std::move(on), entry);
      }
      for (size_t k = carries; k < results.size(); ++k) collected[k].push_back(results[k]);
      std::copy_n(results.begin(), carries, given.begin());
      end_part(body, first, size, closed);
    }
    for (size_t k = 0; k < outputs; ++k) {
      NodeRef& out = out_.outputs.emplace_back();
      if (!wanted_[k]) continue;
      if (k < carries) {
        out = given[k];
      } else if (k == body->roots.size()) {
        out = number(trips);
      } else {
        out = joined(std::move(collected[k]), form_.reversed, closed, operation_.outputs[k]);
      }
    }
    if (!out_.parts.empty()) extend(&out_.parts.back());
    return std::move(out_);
  }

  Unrolled branch(int64_t choice) {
    const Ref<Body> body = operation_.bodies[choice];
    out_.outputs = inside(body, given_inputs(choice, 0), std::nullopt);
    end_part(body, choice, 1, false);
    return std::move(out_);
  }

 private:
  size_t stacked_end() const { return form_.carries + static_cast<size_t>(form_.stacked_in); }

  static NodeRef number(int64_t value) { return as_value(make_scalar(DType::Int64, {.i = value})); }

  std::vector<NodeRef> given_inputs(size_t which, int64_t trips) {
    std::vector<NodeRef> given;
    NodeRef replayed;
    for (int32_t place : operation_.inputs[which]) {
      if (place >= 0) {
        given.push_back(inputs_[place]);
        continue;
      }
      if (replayed == nullptr) replayed = replayed_loop(trips);
      const size_t residual =
          operation_.bodies[1]->roots.size() + 1 + operation_.residuals[-1 - place];
      given.push_back(output_of(replayed, residual));
    }
    return given;
  }

  // The loop that this one replays; its number of iterations is known by now.
  NodeRef replayed_loop(int64_t trips) {
    const Body& body = *operation_.bodies[1];
    LoopRequest request;
    request.form = {static_cast<int32_t>(body.roots.size()), 0, 0, trips, !form_.reversed};
    request.body = new Body;  // a copy, from which make_loop drops unused inputs
    request.body->name = body.name;
    request.body->inputs = body.inputs;
    request.body->roots = body.roots;
    request.body->made = body.made;
    for (int32_t place : operation_.inputs[1]) request.inputs.push_back(inputs_[place]);
    return in_place(make_loop(std::move(request)));
  }

  NodeRef shorter_loop(std::vector<NodeRef> on, int64_t trips) {
    LoopRequest request;
    request.form = form_;
    request.body = operation_.bodies[0];
    request.inputs = std::move(on);
    if (form_.trips >= 0 || operation_.replays()) {
      request.form.trips = trips;
    } else {
      request.form.trips = kCounted;
      request.count = number(trips);
    }
    return in_place(make_loop(std::move(request)));
  }

  NodeRef in_place(NodeRef loop) const {
    if (!around_) return loop;
    NodeRef copy = copy_node(loop.get(), loop->inputs());
    copy->origin = new InPlaceOfCopy(loop.get(), around_);
    return copy;
  }

  // The roots of a body for the inputs `given`, in the iteration at `position`.
  std::vector<NodeRef> inside(const Ref<Body>& body, std::vector<NodeRef> given,
                              std::optional<int64_t> position) {
    std::vector<Node*> from;
    for (size_t i = 0; i < given.size(); ++i) {
      from.push_back(body->inputs[i].get());
      if (position && is_draw(given[i].get()) && given[i]->flags & kSeed) {
        Scalar seed = given[i]->scalar;
        seed.i = seed_of_iteration(seed.i, *position);
        given[i] = make_scalar(given[i]->dtype, seed, given[i]->flags & kDraw);
      }
    }
    const auto kept = std::make_shared<const BodyCopy>(body, std::move(given), around_);
    const Subgraph subgraph = subgraph_of(*body, body->roots, from);
    return subgraph.rebuild(kept->inputs, [&](size_t, const Node* node, auto on) {
      NodeRef copy = copied(node, on, kept);
      copies_.emplace_back(copy->seq, node->seq);
      return copy;
    });
  }

  void end_part(const Ref<Body>& body, int64_t first, int64_t count, bool closed) {
    UnrolledPart& part = out_.parts.emplace_back();
    part.begin = made_from_;
    part.first = first;
    part.count = count;
    part.closed = closed;
    part.body = body;
    part.copies = std::exchange(copies_, {});
    extend(&part);
  }

  // Nodes made around the copies get the site of the operation.
  void extend(UnrolledPart* part) {
    part->end = next_seq();
    placed_until(part->end);
    for (const auto& [copy, original] : part->copies) {
      if (recording) record_as(copy, original);
    }
  }
  void placed_until(uint64_t end) {
    for (uint64_t seq = made_from_; recording && seq < end; ++seq) record_as(seq, node_->seq);
    made_from_ = end;
  }

  const Node* node_;
  const Operation& operation_;
  const LoopForm& form_;
  std::span<const uint8_t> wanted_;
  Ref<Original> around_;
  std::vector<NodeRef> inputs_;
  uint64_t made_from_;
  std::vector<std::pair<uint64_t, uint64_t>> copies_;
  Unrolled out_;
};

}  // namespace

std::optional<Unrolled> unrolled(const Node* operation, std::span<Node* const> inputs,
                                 int64_t number, std::span<const uint8_t> wanted) {
  const NoOverrides none;
  Unroller unroller(operation, inputs, wanted);
  if (operation->op == Op::loop) return unroller.loop(number);
  return unroller.branch(number);
}

}  // namespace pullback
