// Builders of random draws, and the state of their sources.
//
// Seed and counter of a draw are scalar inputs, so a new draw needs no new plan, and a value
// computed twice is equal. Parameters follow, broadcast to the shape of the result. The state of a
// source is its seed and the number of draws so far. While a function is traced, seed and counter
// are placeholders numbered by the source; each call of the function draws anew.
#include "ops/random.h"

#include <unordered_map>

#include "base/error.h"
#include "base/iteration_seed.h"
#include "graph/make.h"
#include "graph/rule.h"
#include "graph/variable.h"
#include "ops/batch_scope.h"
#include "ops/complex.h"
#include "ops/expr.h"
#include "ops/random_scope.h"

namespace pullback {
namespace {

struct Source {
  RandomState state;
  bool traced = false;  // the trace may outlive the generator, so the source is kept
};

std::unordered_map<RandomSource, Source>& sources() {
  static auto* all = new std::unordered_map<RandomSource, Source>{{kModuleSource, {{0, 0}}}};
  return *all;
}
RandomSource last_source = kModuleSource;
thread_local std::optional<RandomState> thread_draws;

RandomState& state_of(RandomSource source) {
  if (source == kModuleSource && thread_draws) return *thread_draws;
  return sources().at(source).state;
}

void refuse_in_trace(const char* who) {
  if (!variable_scope_active()) return;
  fail(ErrorKind::Runtime, who,
       ": a traced function cannot set a seed, because later calls would not repeat it; set the "
       "seed before the call");
}

NodeRef draw(NodeFlag which, RandomSource number) {
  Scalar s;
  if (variable_scope_active()) {
    s.i = number;
    sources().at(number).traced = true;
    const NodeRef placeholder = make_scalar(DType::Int64, s, which | kTraced);
    placeholder->origin = variable_scope_origin();
    return placeholder;
  }
  RandomState& state = state_of(number);
  s.i = which == kSeed ? static_cast<int64_t>(state.seed) : state.counter++;
  return make_scalar(DType::Int64, s, which);
}

NodeRef random_node(Op op, const Shape& shape, DType dtype, RandomSource source,
                    std::initializer_list<NodeRef> parameters = {}) {
  check_shape(shape, name_of(op));
  std::vector<NodeRef> inputs{draw(kSeed, source), draw(kCounter, source)};
  for (const NodeRef& parameter : parameters) {
    inputs.push_back(broadcast_to(parameter, shape, name_of(op)));
  }
  NodeRef node = make_node(op, dtype, shape, pointers(inputs));
  if (BatchScope::active()) node->flags |= kTraced;
  return node;
}

void require_float(Op op, DType dtype) {
  if (is_float(dtype)) return;
  fail(ErrorKind::Type, name_of(op), ": expected a floating dtype, got ", dtype);
}

NodeRef random_float(Op op, const Shape& shape, DType dtype, RandomSource source) {
  require_float(op, dtype);
  if (is_storage(dtype)) {
    Expr drawn = random_float(op, shape, widened(dtype), source);
    if (op == Op::random_uniform) {  // rounded down, since 1 must not be drawn
      const double units = dtype == DType::Float16 ? 0x1p11 : 0x1p8;
      drawn = formula::floor(drawn * units) / units;
    }
    return cast(drawn, dtype);
  }
  return random_node(op, shape, dtype, source);
}

// A parameter in its compute dtype.
NodeRef parameter(const NodeRef& x, DType dtype, Op op) {
  refuse_complex(x.get(), name_of(op));
  return cast(x, dtype);
}

}  // namespace

RandomSource new_random_source(uint64_t seed) {
  refuse_in_trace("Generator");
  sources()[++last_source] = {{seed, 0}};
  return last_source;
}

void free_random_source(RandomSource source) {
  const auto found = sources().find(source);
  if (found != sources().end() && !found->second.traced) sources().erase(found);
}

RandomState state_of_source(RandomSource source) { return state_of(source); }

void set_state_of_source(RandomSource source, RandomState state) {
  refuse_in_trace("load_state_dict");
  state_of(source) = state;
}

uint64_t seed_of(RandomSource source) { return state_of(source).seed; }

// Disjoint from the seeds of iterations, which begin at position 0.
uint64_t seed_of_child(uint64_t seed, int64_t n) {
  return static_cast<uint64_t>(
      seed_of_iteration(seed_of_iteration(static_cast<int64_t>(seed), -1), n));
}

void seed_random(uint64_t seed) {
  refuse_in_trace("seed");
  state_of(kModuleSource) = {seed, 0};
}

RandomState exchange_random_state(RandomState next) {
  return std::exchange(state_of(kModuleSource), next);
}

std::optional<RandomState> exchange_thread_draws(std::optional<RandomState> next) {
  return std::exchange(thread_draws, next);
}

RandomState random_state() { return state_of(kModuleSource); }

// Disjoint from the seeds of children of generators.
uint64_t fork_random_state() {
  RandomState& state = state_of(kModuleSource);
  return seed_of_child(seed_of_child(state.seed, -1), state.counter++);
}

NodeRef draw_like(const Node* node) {
  const RandomSource source = node->flags & kTraced ? node->scalar.i : kModuleSource;
  return draw(node->flags & kSeed ? kSeed : kCounter, source);
}

NodeRef random_uniform(const Shape& shape, DType dtype, RandomSource source) {
  return random_float(Op::random_uniform, shape, dtype, source);
}

NodeRef random_normal(const Shape& shape, DType dtype, RandomSource source) {
  return random_float(Op::random_normal, shape, dtype, source);
}

NodeRef random_exponential(const Shape& shape, DType dtype, RandomSource source) {
  return random_float(Op::random_exponential, shape, dtype, source);
}

NodeRef permutation(int64_t length, RandomSource source) {
  return random_node(Op::permutation, {length}, DType::Int64, source);
}

NodeRef random_integers(const NodeRef& low, const NodeRef& last, const Shape& shape,
                        RandomSource source) {
  const Op op = Op::random_integers;
  return random_node(op, shape, DType::Int64, source,
                     {parameter(low, DType::Int64, op), parameter(last, DType::Int64, op)});
}

NodeRef random_gamma(const NodeRef& concentration, const Shape& shape, DType dtype, bool log,
                     RandomSource source) {
  const Op op = log ? Op::random_log_gamma : Op::random_gamma;
  require_float(op, dtype);
  if (is_storage(dtype)) {
    return cast(random_gamma(concentration, shape, widened(dtype), log, source), dtype);
  }
  return random_node(op, shape, dtype, source, {parameter(concentration, dtype, op)});
}

NodeRef random_poisson(const NodeRef& mean, const Shape& shape, RandomSource source) {
  const Op op = Op::random_poisson;
  return random_node(op, shape, DType::Float64, source, {parameter(mean, DType::Float64, op)});
}

NodeRef random_binomial(const NodeRef& n, const NodeRef& p, const Shape& shape,
                        RandomSource source) {
  const Op op = Op::random_binomial;
  return random_node(op, shape, DType::Float64, source,
                     {parameter(n, DType::Float64, op), parameter(p, DType::Float64, op)});
}

// Implicit reparameterization (Figurnov, Mohamed and Mnih, 2018): the cumulative probability of a
// draw does not depend on the concentration.
void random_gamma_vjp(const VjpCall& call, Cotangent* out) {
  const Expr a = call.node->in[2], y = call.node;
  // The derivative of a draw that rounds to 0 is 0, although that of its logarithm is not.
  const Expr path = formula::log_gamma_path(a, formula::log(y));
  out[2] = {Cotangent::Value, call.g * formula::multiply_no_nan(path, y), nullptr};
}
void random_log_gamma_vjp(const VjpCall& call, Cotangent* out) {
  const Expr a = call.node->in[2], y = call.node;
  out[2] = {Cotangent::Value, call.g * formula::log_gamma_path(a, y), nullptr};
}

}  // namespace pullback
