// Unrolls loops and inlines branches: each iteration is a copy of the body, applied to the results
// of the iteration before. Start at Unroller.
#include "explain/unrolled.h"

#include <algorithm>
#include <memory>

#include "base/iteration_seed.h"
#include "graph/graph_copy.h"
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

// The number of iterations that fit into kNodes and kBytes; at least one.
int64_t iterations_at_once(const Body& body) {
  std::vector<Node*> reached;
  walk(pointers(body.roots), &reached, [](const Node* node) { return node->inputs(); });
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
        made_from_(next_seq()) {
    const auto* copied = dynamic_cast<const CopiedOperation*>(operation->origin.get());
    if (copied) around_ = copied->copy;
    for (Node* input : inputs) inputs_.emplace_back(input);
  }

  std::optional<Unrolled> loop(int64_t trips) {
    const Ref<Body> body = operation_.bodies[0];
    const bool closed = trips > iterations_at_once(*body);
    const auto drawn = [&](const InputSource& source) {
      return !source.residual && is_draw(inputs_[source.number].get());
    };
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
    for (const InputSource& source : operation_.inputs[which]) {
      if (!source.residual) {
        given.push_back(inputs_[source.number]);
        continue;
      }
      if (replayed == nullptr) replayed = replayed_loop(trips);
      const size_t residual =
          operation_.bodies[1]->roots.size() + 1 + operation_.residuals[source.number];
      given.push_back(output_of(replayed, residual));
    }
    return given;
  }

  // The loop that this one replays; its number of iterations is known by now.
  NodeRef replayed_loop(int64_t trips) {
    const Body& body = *operation_.bodies[1];
    LoopRequest request;
    request.form = {static_cast<int32_t>(body.roots.size()), 0, 0, trips, !form_.reversed};
    Ref<Body>& copy = request.body.body = new Body;  // make_loop drops its unused inputs
    copy->name = body.name;
    copy->inputs = body.inputs;
    copy->roots = body.roots;
    copy->made = body.made;
    for (const InputSource& source : operation_.inputs[1]) {
      request.body.inputs.push_back(inputs_[source.number]);
    }
    return in_place(make_loop(std::move(request)));
  }

  NodeRef shorter_loop(std::vector<NodeRef> on, int64_t trips) {
    LoopRequest request;
    request.form = form_;
    request.body = {operation_.bodies[0], std::move(on)};
    if (form_.has_trips() || operation_.replays()) {
      request.form.trips = trips;
      request.form.end = LoopEnd::Trips;
    } else {
      request.form.end = LoopEnd::Count;
      request.count = number(trips);
    }
    return in_place(make_loop(std::move(request)));
  }

  NodeRef in_place(NodeRef loop) const {
    if (!around_) return loop;
    NodeRef copy = copy_node(loop.get(), loop->inputs());
    copy->origin = new CopiedOperation(loop.get(), around_);
    return copy;
  }

  // The roots of a body for the inputs `given`, in the iteration at `position`.
  std::vector<NodeRef> inside(const Ref<Body>& body, std::vector<NodeRef> given,
                              std::optional<int64_t> position) {
    for (NodeRef& input : given) {
      if (position && is_draw(input.get()) && input->flags & kSeed) {
        Scalar seed = input->scalar;
        seed.i = seed_of_iteration(seed.i, *position);
        input = make_scalar(input->dtype, seed, input->flags & kDraw);
      }
    }
    const Ref<GraphCopy> made(
        new GraphCopy(Ref<ClosedGraph>(body.get()), std::move(given), around_));
    const Subgraph nodes = body->between(body->roots, pointers(body->inputs));
    return nodes.rebuild(made->inputs(), [&](size_t, const Node* node, auto on) {
      NodeRef copy = made->copy(node, on);
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
  Ref<GraphCopy> around_;  // if the operation is itself part of a copy
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
