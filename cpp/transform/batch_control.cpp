// Batches branches: if entries choose differently, all choices are computed and each entry selects
// one.

#include "transform/batch_control.h"

#include <algorithm>

#include "transform/batch_loops.h"

namespace pullback {
namespace {

class BatchedBranch : BodyBatcher {
 public:
  using BodyBatcher::BodyBatcher;

  std::vector<BatchedOutput> run() { return has_batch(0) ? chosen_for_each() : chosen_together(); }

 private:
  std::vector<BatchedOutput> chosen_together() {
    const BodyNumbers numbers;
    const size_t choices = operation_.bodies.size();
    std::vector<std::vector<NodeRef>> arguments(choices);
    std::vector<std::vector<Made>> roots;
    Flags batch(operation_.outputs.size());
    for (size_t c = 0; c < choices; ++c) {
      const Body& body = *operation_.bodies[c];
      Flags flags;
      for (size_t i = 0; i < body.inputs.size(); ++i) {
        flags.push_back(has_batch(operation_.inputs[c][i].number));
        arguments[c].push_back(flags[i] ? argument_like(body.inputs[i], true) : body.inputs[i]);
      }
      roots.push_back(inside(body, flags, arguments[c]));
      for (size_t k = 0; k < batch.size(); ++k) batch[k] |= roots[c][k].has_batch;
    }
    std::vector<BoundBody> made;
    for (size_t c = 0; c < choices; ++c) {
      const Body& body = *operation_.bodies[c];
      BodyRequest closing{body.name, arguments[c], {}, numbers, true, &body};
      for (size_t k = 0; k < batch.size(); ++k) {
        const Made& one = roots[c][k];
        closing.roots.push_back(batch[k] ? with_batch_axis(one.node, one.has_batch) : one.node);
      }
      std::vector<NodeRef> values;
      for (const InputSource& source : operation_.inputs[c]) values.push_back(value(source.number));
      made.push_back(close_body(std::move(closing)).bind_to(std::move(values)));
    }
    const NodeRef branch = make_branch(value(0), made);
    std::vector<BatchedOutput> out;
    for (size_t k = 0; k < batch.size(); ++k) {
      out.push_back({{branch, batch[k] != 0}, static_cast<int32_t>(k), false});
    }
    return out;
  }

  // All choices, from which each entry selects one.
  std::vector<BatchedOutput> chosen_for_each() {
    std::vector<std::vector<NodeRef>> results;
    for (size_t c = 0; c < operation_.bodies.size(); ++c) {
      std::vector<NodeRef> own;
      for (const Made& one : outside(*operation_.bodies[c], operation_.inputs[c])) {
        own.push_back(with_batch_axis(one.node, one.has_batch));
      }
      results.push_back(std::move(own));
    }
    std::vector<BatchedOutput> out;
    for (size_t k = 0; k < operation_.outputs.size(); ++k) {
      NodeRef all = results.back()[k];
      for (size_t c = results.size() - 1; c-- > 0;) {
        const NodeRef takes = Expr(value(0)) <= Expr(scalar(DType::Int64, static_cast<double>(c)));
        all = unless_done(takes, results[c][k], all);
      }
      out.push_back({{all, true}, std::nullopt, false});
    }
    return out;
  }
};

}  // namespace

std::vector<BatchedOutput> batched_control(const Node* node, std::span<const Made* const> in,
                                           const Batching& batching) {
  if (node->op == Op::branch) return BatchedBranch(node, in, batching).run();
  return BatchedLoop(node, in, batching).run();
}

Made made_of(const BatchedOutput& output) {
  if (!output.output) return output.made;
  const NodeRef one = output_of(output.made.node, static_cast<size_t>(*output.output));
  return {output.iterations_first ? swapped(one) : one, output.made.has_batch};
}

bool draws_inside(const Operation& operation) {
  return std::ranges::any_of(operation.bodies, [](const Ref<Body>& body) {
    return std::ranges::any_of(body->inputs, is_draw, &NodeRef::get);
  });
}

}  // namespace pullback
