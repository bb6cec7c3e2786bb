// Batches the reverse of a loop that it replays (grad/control/loop_replayed.cpp). In the replayed
// loop a finished entry keeps its state. The reverse visits the iterations after that first, and
// ignores them.

#include "transform/batch_loops.h"

#include <utility>

namespace pullback {

// The replayed loop and the reverse. A cotangent has a batch if its tensor has one, and inputs of
// both agree, so that the two match when they are differentiated.
std::pair<BatchedBody, BatchedBody> BatchedLoop::matched(bool separate) const {
  const Body& body = *operation_.bodies[0];
  const Body& replayed = *operation_.bodies[1];
  const auto states = static_cast<int32_t>(replayed.roots.size());
  const std::vector<int32_t>& of = operation_.cotangents_of;
  const auto meet = [](uint8_t* a, uint8_t* b, bool has) { *a = *b = *a | *b | has; };
  Flags in_replayed(replayed.inputs.size()), in_reverse(body.inputs.size());
  while (true) {
    BatchedBody first =
        batch_body(replayed, operation_.inputs[1], states, separate, {}, in_replayed);
    Flags scanned;
    for (int32_t k : operation_.residuals) scanned.push_back(first.flags[k]);
    BatchedBody batched = batch_body(body, operation_.inputs[0], operation_.loop.carries, separate,
                                     scanned, in_reverse);
    bool same = true;
    for (size_t j = 0; j < of.size(); ++j) {
      same &= batched.flags[j] == first.flags[of[j]];
      meet(&in_reverse[j], &in_replayed[of[j]], batched.flags[j] | first.flags[of[j]]);
    }
    for (size_t i = of.size(); i < body.inputs.size(); ++i) {
      for (size_t k = 0; k < replayed.inputs.size(); ++k) {
        if (operation_.inputs[0][i] != operation_.inputs[1][k]) continue;
        same &= batched.flags[i] == first.flags[k];
        meet(&in_reverse[i], &in_replayed[k], batched.flags[i] | first.flags[k]);
      }
    }
    if (same) return {std::move(first), std::move(batched)};
  }
}

std::vector<BatchedOutput> BatchedLoop::replaying() {
  const LoopForm& form = operation_.loop;
  const bool separate = has_separate_counts();
  const auto [first, batched] = matched(separate);
  const NodeRef longest = separate ? reduce(Op::max, counts(), std::nullopt, false)
                                   : value(static_cast<int32_t>(node_->inputs_count) - 1);
  LoopRequest request;
  request.form = form;
  request.count = longest;
  request.residuals = operation_.residuals;
  request.cotangents_of = operation_.cotangents_of;
  close_replayed(first, separate, &request);

  const Body& body = *operation_.bodies[0];
  const auto carries = static_cast<size_t>(form.carries);
  const size_t stacked_end = carries + static_cast<size_t>(form.stacked_in);
  const std::vector<InputSource>& sources = operation_.inputs[0];
  DerivedLoop derived;
  for (size_t i = carries; i < stacked_end; ++i) derived.add_scanned(batched.arguments[i], nullptr);
  for (size_t i = stacked_end; i < body.inputs.size(); ++i) {
    derived.add_constant(batched.arguments[i], value_for(batched, sources, i));
  }
  NodeRef runs;
  const NodeRef done = make_argument(DType::Int64, {});
  if (separate) {
    const NodeRef count = make_argument(DType::Int64, {batching_.count});
    const NodeRef last = make_argument(DType::Int64, {});
    runs = (Expr(last) - Expr(done)) < Expr(count);
    derived.add_constant(count, counts());
    derived.add_constant(last, Expr(longest) - Expr(scalar(DType::Int64, 1)));
  }
  for (size_t k = 0; k < carries; ++k) add_carry(batched, sources, k, runs, &derived);
  if (separate) derived.add_carry(done, zeros({}, DType::Int64), plus_one(done));
  request.body = derived.close(body, numbers_, &request.form);
  const Made loop{make_loop(std::move(request)), true};
  std::vector<BatchedOutput> out;
  for (size_t k = 0; k < carries; ++k) {
    out.push_back({{loop.node, batched.flags[k] != 0}, static_cast<int32_t>(k), false});
  }
  if (separate) {
    out.push_back(
        {{formula::maximum(counts(), scalar(DType::Int64, 0)), true}, std::nullopt, false});
  } else {
    out.push_back({{loop.node, false}, static_cast<int32_t>(carries), false});
  }
  return out;
}

void BatchedLoop::close_replayed(const BatchedBody& batched, bool separate, LoopRequest* request) {
  const Body& body = *operation_.bodies[1];
  const std::vector<InputSource>& sources = operation_.inputs[1];
  const size_t carries = body.roots.size();
  DerivedLoop derived;
  for (size_t i = carries; i < body.inputs.size(); ++i) {
    derived.add_constant(batched.arguments[i], value_for(batched, sources, i));
  }
  NodeRef runs;
  const NodeRef done = make_argument(DType::Int64, {});
  if (separate) {
    const NodeRef count = make_argument(DType::Int64, {batching_.count});
    runs = Expr(done) < Expr(count);
    derived.add_constant(count, counts());
  }
  for (size_t k = 0; k < carries; ++k) add_carry(batched, sources, k, runs, &derived);
  if (separate) {
    derived.add_carry(done, zeros({}, DType::Int64), plus_one(done));
    // Inputs after the carry move by one.
    for (int32_t& of : request->cotangents_of) of += static_cast<size_t>(of) >= carries;
  }
  LoopForm form;
  request->replayed = derived.close(body, of_replayed_, &form);
}

}  // namespace pullback
