// Batches a loop. Its body is batched in the inputs that depend on the batch; a carry depends on it
// if its initial value does, or after some iteration. If entries run different numbers of
// iterations, all run as often as the longest, and finished entries keep their state. With a
// condition, a flag per entry is carried: it is computed from the initial state before the loop and
// from the next state in the body. Stacked outputs have the iterations first.

#include "transform/batch_loops.h"

#include <utility>

namespace pullback {

std::vector<BatchedOutput> BatchedLoop::run() {
  if (operation_.replays()) return replaying();
  const LoopForm& form = operation_.loop;
  const auto made = [&](bool separate) {
    return batch_body(*operation_.bodies[0], operation_.inputs[0], form.carries, separate, {}, {});
  };
  bool separate = has_separate_counts();
  BatchedBody batched = made(separate);
  if (form.end == LoopEnd::Condition && condition(batched).has_batch) {
    separate = true;
    batched = made(true);
  }
  return make(batched, separate);
}

bool BatchedLoop::has_separate_counts() const {
  return operation_.loop.end == LoopEnd::Count &&
         has_batch(static_cast<int32_t>(node_->inputs_count) - 1);
}

Made BatchedLoop::condition(const BatchedBody& batched) const {
  const auto [flags, arguments] = condition_arguments(batched);
  return inside(*operation_.bodies[1], flags, arguments)[0];
}

std::pair<Flags, std::vector<NodeRef>> BatchedLoop::condition_arguments(
    const BatchedBody& batched) const {
  const Body& body = *operation_.bodies[1];
  std::pair<Flags, std::vector<NodeRef>> out;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const int32_t place = operation_.inputs[1][i].number;
    const bool carry = place < operation_.loop.carries;
    const bool batch = carry ? batched.flags[place] : has_batch(place);
    out.first.push_back(batch);
    out.second.push_back(carry   ? batched.arguments[place]
                         : batch ? argument_like(body.inputs[i], true)
                                 : body.inputs[i]);
  }
  return out;
}

BatchedBody BatchedLoop::batch_body(const Body& body, const std::vector<InputSource>& sources,
                                    int32_t carries, bool all, const Flags& scanned,
                                    const Flags& others) const {
  BatchedBody out;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    const auto [number, residual] = sources[i];
    const bool batch = residual ? scanned[number] : has_batch(number);
    const bool forced = i < others.size() && others[i];
    out.flags.push_back(batch || forced || (all && i < static_cast<size_t>(carries)));
  }
  const BodyDependence dependence(body);
  for (bool more = true; more;) {
    if (dependence.is_exact()) {
      out.flags = dependence.iterated(std::move(out.flags), Flags(carries, 1));
    }
    out.arguments.clear();
    for (size_t i = 0; i < body.inputs.size(); ++i) {
      out.arguments.push_back(out.flags[i] ? argument_like(body.inputs[i], true) : body.inputs[i]);
    }
    out.roots = inside(body, out.flags, out.arguments);
    more = false;
    for (size_t k = 0; k < static_cast<size_t>(carries); ++k) {
      if (!out.roots[k].has_batch || out.flags[k]) continue;
      out.flags[k] = more = true;  // of an inner operation, or a draw: each entry has its own draws
    }
  }
  return out;
}

NodeRef BatchedLoop::root(const BatchedBody& batched, size_t k) const {
  return with_batch_axis(batched.roots[k].node, batched.roots[k].has_batch || !batched.flags[k]);
}

void BatchedLoop::add_carry(const BatchedBody& batched, const std::vector<InputSource>& sources,
                            size_t k, const NodeRef& runs, DerivedLoop* out) const {
  const NodeRef next = root(batched, k);
  const NodeRef& before = batched.arguments[k];
  out->add_carry(before, value_for(batched, sources, k),
                 runs ? unless_done(runs, next, before) : next);
}

std::vector<BatchedOutput> BatchedLoop::make(const BatchedBody& batched, bool separate) {
  const LoopForm& form = operation_.loop;
  const Body& body = *operation_.bodies[0];
  const auto carries = static_cast<size_t>(form.carries);
  const size_t stacked_end = carries + static_cast<size_t>(form.stacked_in);
  const std::vector<InputSource>& sources = operation_.inputs[0];
  DerivedLoop derived;
  LoopRequest request;
  request.form = form;
  for (size_t i = carries; i < stacked_end; ++i) {
    const NodeRef entries = value_for(batched, sources, i);
    derived.add_scanned(batched.arguments[i], batched.flags[i] ? swapped(entries) : entries);
  }
  for (size_t i = stacked_end; i < body.inputs.size(); ++i) {
    derived.add_constant(batched.arguments[i], value_for(batched, sources, i));
  }
  const bool each = separate && form.end == LoopEnd::Condition;
  NodeRef runs;  // for each entry: still running
  NodeRef done;  // number of iterations: of all entries, or of each
  NodeRef longest;
  if (separate) {
    done = make_argument(DType::Int64, each ? Shape{batching_.count} : Shape{});
    if (each) {
      runs = make_argument(DType::Bool, {batching_.count});
    } else {
      const NodeRef count = make_argument(DType::Int64, {batching_.count});
      derived.add_constant(count, counts());
      longest = reduce(Op::max, counts(), std::nullopt, false);
      NodeRef iteration = done;
      if (form.reversed) {  // the missing iterations of an entry come first
        const NodeRef last = make_argument(DType::Int64, {});
        derived.add_constant(last, Expr(longest) - Expr(scalar(DType::Int64, 1)));
        iteration = Expr(last) - Expr(done);
      }
      runs = Expr(iteration) < Expr(count);
    }
  }
  for (size_t k = 0; k < carries; ++k) add_carry(batched, sources, k, runs, &derived);
  if (separate) {
    derived.add_carry(done, zeros(done->shape, DType::Int64),
                      each ? NodeRef(Expr(done) + Expr(cast(runs, DType::Int64))) : plus_one(done));
  }
  const Body* with = nullptr;
  if (each) {
    with = operation_.bodies[1].get();
    BatchedBody next = batched;
    for (size_t k = 0; k < carries; ++k) next.arguments[k] = derived.next_carries[k];
    const auto [flags, arguments] = condition_arguments(next);
    const Made still = inside(*with, flags, arguments)[0];
    for (size_t i = 0; i < flags.size(); ++i) {
      const int32_t place = operation_.inputs[1][i].number;
      if (place >= form.carries) derived.add_constant(arguments[i], value(place));
    }
    const Made first = outside(*with, operation_.inputs[1])[0];
    derived.add_carry(runs, with_batch_axis(first.node, first.has_batch),
                      Expr(runs) & Expr(still.node));
    set_condition_of_any(derived.carries, body.name, &request);
  }
  for (size_t k = carries; k < body.roots.size(); ++k) {
    derived.stacked_roots.push_back(batched.roots[k].node);
  }
  request.body = derived.close(body, numbers_, &request.form, with);
  if (form.end == LoopEnd::Condition && !each) set_condition(batched, &request);
  if (form.end == LoopEnd::Count) {
    request.count = separate ? longest : value(static_cast<int32_t>(node_->inputs_count) - 1);
  }
  const Made loop{make_loop(std::move(request)), true};

  std::vector<BatchedOutput> out;
  const auto at = [&](size_t k, bool batch, bool stacked) {
    out.push_back({{loop.node, batch}, static_cast<int32_t>(k), stacked && batch});
  };
  for (size_t k = 0; k < carries; ++k) at(k, batched.flags[k], false);
  for (size_t k = carries; k < body.roots.size(); ++k) {
    at(k + separate, batched.roots[k].has_batch, true);
  }
  if (!separate) {
    at(body.roots.size(), false, false);
  } else if (each) {
    at(carries, true, false);
  } else {
    out.push_back(
        {{formula::maximum(counts(), scalar(DType::Int64, 0)), true}, std::nullopt, false});
  }
  for (size_t k = 0; k < carries && form.has_trips(); ++k) {
    at(body.roots.size() + 1 + k, batched.flags[k], true);
  }
  return out;
}

void BatchedLoop::set_condition(const BatchedBody& batched, LoopRequest* request) {
  const Body& body = *operation_.bodies[1];
  const BodyNumbers numbers;
  BatchedBody state = batched;
  for (size_t k = 0; k < static_cast<size_t>(operation_.loop.carries); ++k) {
    const NodeRef& input = operation_.bodies[0]->inputs[k];
    state.arguments[k] = argument_like(input, batched.flags[k] != 0);
  }
  const auto [flags, arguments] = condition_arguments(state);
  const NodeRef answer = inside(body, flags, arguments)[0].node;
  std::vector<NodeRef> constants;
  for (const InputSource& source : operation_.inputs[1]) {
    if (source.number >= operation_.loop.carries) constants.push_back(value(source.number));
  }
  request->condition = close_body({body.name, arguments, {answer}, numbers, false, &body})
                           .bind_to(std::move(constants));
}

void BatchedLoop::set_condition_of_any(std::span<const NodeRef> carries, const std::string& name,
                                       LoopRequest* request) {
  const BodyNumbers numbers;
  BodyRequest closing{name, {}, {}, numbers};
  for (const NodeRef& one : carries) {
    closing.arguments.push_back(make_argument(one->dtype, one->shape));
  }
  const NodeRef any = reduce(Op::any, closing.arguments.back(), std::nullopt, false);
  closing.roots.push_back(any);
  request->condition = close_body(std::move(closing)).bind_to({});
}

}  // namespace pullback
