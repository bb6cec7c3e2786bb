// The builder of attention, its composed formula, and its cotangents. Start at attention().
#include "ops/linalg/attention.h"

#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "ops/batch_scope.h"
#include "ops/body.h"
#include "ops/expr.h"
#include "ops/linalg/linalg.h"

namespace pullback {
namespace {

constexpr const char* kWho = "scaled_dot_product_attention";

using formula::where;

Expr product(const Expr& a, const Expr& b) { return matmul(a, b); }
Expr transposed(const Expr& x) { return swap_last_axes(x); }
Expr sum_of_rows(const Expr& x) { return reduce(Op::sum, x, std::vector<int64_t>{-1}, true); }

// Inputs: q, k, v; in the backward routine also statistics and cotangent of the queries; then, if
// present, the mask, and seed, counter and rate of the dropout.
NodeRef make(Routine which, const RoutineForm& like, std::span<const NodeRef> given) {
  const NodeRef &q = given[0], &k = given[1], &v = given[2];
  RoutineForm form = like;
  form.routine = which;
  form.m = rows(q);
  form.n = rows(k);
  form.k = std::max(columns(q), columns(v));
  const Shape batch = batch_of(q);
  Ref<Operation> operation(new Operation);
  operation->form = form;
  operation->batch = batch.size();
  if (which == Routine::attention) {
    operation->outputs = {{q->dtype, with(batch, {rows(q), columns(v)})},
                          {q->dtype, with(batch, {rows(q), 2})}};
  } else {
    operation->outputs = {{q->dtype, q->shape}, {q->dtype, k->shape}, {q->dtype, v->shape}};
  }
  NodeRef node = make_node(Op::routine, DType::Bool, {}, pointers(given));
  node->operation = operation;
  if (form.dropped && BatchScope::active()) node->flags |= kTraced;
  return node;
}

// The optional inputs, which follow the others.
struct Extras {
  NodeRef mask, seed, counter, rate;
};
Extras extras_of(const RoutineForm& form, std::span<Node* const> inputs) {
  size_t next = form.routine == Routine::attention ? 3 : 6;
  Extras out;
  if (form.masked) out.mask = NodeRef(inputs[next++]);
  if (form.dropped) {
    out.seed = NodeRef(inputs[next]);
    out.counter = NodeRef(inputs[next + 1]);
    out.rate = NodeRef(inputs[next + 2]);
  }
  return out;
}

// --- composed formula: holds all weights at once

Expr weights(const NodeRef& q, const NodeRef& k, const NodeRef& mask, bool causal) {
  Expr scores = product(q, transposed(k));
  if (causal) {
    const Expr row = expand_dims(iota(rows(q)), {1});
    scores = where(row >= Expr(iota(rows(k))), scores, Expr(-kInfinity));
  }
  if (mask) {
    scores =
        mask->dtype == DType::Bool ? where(mask, scores, Expr(-kInfinity)) : scores + Expr(mask);
  }
  if (rows(k) == 0) return scores;
  const Expr top = stop_gradient(reduce(Op::max, scores, std::vector<int64_t>{-1}, true));
  const Expr parts = formula::exp(scores - where(top == Expr(-kInfinity), Expr(0.0), top));
  const Expr total = sum_of_rows(parts);
  return parts / where(total == Expr(0.0), Expr(1.0), total);
}

// The factor of each weight under dropout; equal to the draw of the routine.
Expr kept(const Extras& extras, const Shape& shape, DType dtype) {
  Node* from[] = {extras.seed.get(), extras.counter.get()};
  const NodeRef drawn = make_node(Op::random_uniform, DType::Float32, shape, from);
  if (BatchScope::active()) drawn->flags |= kTraced;
  const Expr rate = cast(extras.rate, dtype);
  return where(Expr(drawn) >= Expr(extras.rate), Expr(1.0) / (Expr(1.0) - rate),
               Expr(scalar(dtype, 0)));
}

Expr composed(const NodeRef& q, const NodeRef& k, const NodeRef& v, const Extras& extras,
              bool causal) {
  Expr p = weights(q, k, extras.mask, causal);
  if (extras.rate) p = p * kept(extras, p.node->shape, q->dtype);
  return product(p, v);
}

// --- rules

std::vector<NodeRef> first_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                      const NodeRef& g) {
  const auto output = [&](size_t k) {
    return outputs[k] ? NodeRef(outputs[k]) : output_of(operation, k);
  };
  // Gradients do not pass through these two: the routine recomputes the weights and differentiates
  // them.
  const NodeRef stats = stop_gradient(output(1));
  const NodeRef delta =
      stop_gradient(reduce(Op::sum, Expr(output(0)) * Expr(g), std::vector<int64_t>{-1}, false));
  std::vector<NodeRef> given;
  for (Node* one : operation->inputs()) given.emplace_back(one);
  given.insert(given.begin() + 3, {stats, delta, g});
  const NodeRef made = make(Routine::attention_cotangents, operation->operation->form, given);
  std::vector<NodeRef> answers(operation->inputs_count);
  for (size_t k = 0; k < 3; ++k) answers[k] = output_of(made, k);
  return answers;
}

// Cotangents of φ = Σ a dq + Σ b dk + Σ c dv with respect to q, k, v and g. With weights p and
// dropout factors d:
//
//   dv = (p d)ᵀ g,  e = d (g vᵀ),  δ = Σ_j p e,  s = p (e - δ),  dq = s k,  dk = sᵀ q.
std::vector<NodeRef> second_cotangents(const NodeRef& operation,
                                       std::span<const NodeRef> cotangents) {
  const RoutineForm& form = operation->operation->form;
  const auto inputs = operation->inputs();
  const NodeRef q(inputs[0]), k(inputs[1]), v(inputs[2]), g(inputs[5]);
  const Extras extras = extras_of(form, inputs);
  const Expr p = weights(q, k, extras.mask, form.causal);
  const Shape& shape = p.node->shape;
  const Expr d = extras.rate ? kept(extras, shape, q->dtype) : Expr(scalar(q->dtype, 1));
  const Expr none = zeros({}, q->dtype);
  const NodeRef &a = cotangents[0], &b = cotangents[1], &c = cotangents[2];

  const Expr e = d * product(g, transposed(v));
  const Expr delta = sum_of_rows(p * e);
  Expr by_s = none;  // cotangent of s
  if (a) by_s = by_s + product(a, transposed(k));
  if (b) by_s = by_s + product(q, transposed(b));
  by_s = broadcast_to(by_s, shape);
  const Expr mean = sum_of_rows(p * by_s);
  const Expr by_e = d * p * (by_s - mean);
  Expr by_p = by_s * (e - delta) - mean * e;
  if (c) by_p = by_p + d * product(g, transposed(c));
  const Expr by_scores = p * (by_p - sum_of_rows(p * by_p));
  const Expr s = p * (e - delta);

  Expr to_q = product(by_scores, k), to_k = product(transposed(by_scores), q),
       to_g = product(by_e, v);
  if (a) to_k = to_k + product(transposed(s), a);
  if (b) to_q = to_q + product(s, b);
  if (c) to_g = to_g + product(p * d, c);
  std::vector<NodeRef> answers(inputs.size());
  answers[0] = to_q;
  answers[1] = to_k;
  answers[2] = product(transposed(by_e), g);
  answers[5] = to_g;
  return answers;
}

}  // namespace

bool is_attention(const NodeRef& operation) {
  return is_attention(operation->operation->form.routine);
}

bool is_shared(const Node* operation, size_t input) {
  switch (operation->operation->form.routine) {
    case Routine::attention:
      return input >= 3;
    case Routine::attention_cotangents:
      return input >= 6;
    default:
      return false;
  }
}

const Node* seed_of_routine(const Node* operation) {
  if (operation->op != Op::routine || !operation->operation->form.dropped) return nullptr;
  if (operation->inputs_count == 0) return nullptr;  // sealed
  return extras_of(operation->operation->form, operation->inputs()).seed.get();
}

NodeRef attention_like(const NodeRef& operation, std::span<const NodeRef> inputs) {
  const RoutineForm& form = operation->operation->form;
  return make(form.routine, form, inputs);
}

std::vector<NodeRef> attention_cotangents(const NodeRef& operation, std::span<Node* const> outputs,
                                          std::span<const NodeRef> g) {
  if (operation->operation->form.routine == Routine::attention_cotangents) {
    return second_cotangents(operation, g);
  }
  if (g[0] == nullptr) return std::vector<NodeRef>(operation->inputs_count);
  return first_cotangents(operation, outputs, g[0]);
}

NodeRef attention(const NodeRef& query, const NodeRef& key, const NodeRef& value,
                  const AttentionOptions& options) {
  const NodeRef given[] = {query, key, value};
  DType dtype = DType::Bool;
  for (const NodeRef& x : given) {
    if (x->shape.rank < 2) {
      fail(ErrorKind::Value, kWho, ": expected shape (..., length, features), got ", x->shape);
    }
    dtype = promote(dtype, x->dtype);
  }
  if (!is_inexact(dtype)) dtype = default_float();
  if (is_complex(dtype)) fail(ErrorKind::Type, kWho, ": expected floats, got ", dtype);
  if (columns(query) != columns(key)) {
    fail(ErrorKind::Value, kWho, ": expected one feature size for query and key, got shapes ",
         query->shape, " and ", key->shape);
  }
  if (rows(key) != rows(value)) {
    fail(ErrorKind::Value, kWho, ": expected one length for key and value, got shapes ", key->shape,
         " and ", value->shape);
  }
  Shape batch;
  if (!broadcast(batch_of(query), batch_of(key), &batch) ||
      !broadcast(batch, batch_of(value), &batch)) {
    fail(ErrorKind::Value, kWho, ": expected leading axes that broadcast, got shapes ",
         query->shape, ", ", key->shape, " and ", value->shape);
  }
  const Shape scores = with(batch, {rows(query), rows(key)});
  const DType compute = is_storage(dtype) ? widened(dtype) : dtype;
  Extras extras;
  if (options.mask) {
    NodeRef mask = options.mask;
    Shape both;
    if (!broadcast(mask->shape, scores, &both) || !(both == scores)) {
      fail(ErrorKind::Value, kWho, ": expected a shape that broadcasts to ", scores,
           ", the shape of the scores, for mask, got ", mask->shape);
    }
    if (mask->dtype != DType::Bool && !is_float(mask->dtype)) {
      fail(ErrorKind::Type, kWho, ": expected bool or floats for mask, got ", mask->dtype);
    }
    Shape full;
    for (int64_t d = mask->shape.rank; d < scores.rank; ++d) full.append(1);
    for (const int64_t length : mask->shape) full.append(length);
    extras.mask = reshape(mask->dtype == DType::Bool ? mask : cast(mask, compute), full);
  }
  if (options.dropped) {
    // The seed and counter that a separate draw would have.
    const NodeRef draw = random_uniform({}, DType::Float32);
    extras.seed = NodeRef(draw->inputs()[0]);
    extras.counter = NodeRef(draw->inputs()[1]);
    extras.rate = cast(options.dropped, DType::Float32);
  }
  const auto matrices = [&](const NodeRef& x) {
    return broadcast_to(cast(x, compute), with(batch, {rows(x), columns(x)}));
  };
  const NodeRef q = Expr(matrices(query)) * Expr(cast(options.scale, compute));
  q->in_composite = true;  // overrides of `multiply` do not apply to it
  q->rule = nullptr;
  const NodeRef k = matrices(key), v = matrices(value);
  NodeRef out;
  if (extras.mask && extras.mask->dtype != DType::Bool && extras.mask->tracked()) {
    out = composed(q, k, v, extras, options.causal);
  } else {
    RoutineForm form;
    form.causal = options.causal;
    form.masked = extras.mask != nullptr;
    form.dropped = extras.rate != nullptr;
    std::vector<NodeRef> inputs{q, k, v};
    for (const NodeRef& one : {extras.mask, extras.seed, extras.counter, extras.rate}) {
      if (one) inputs.push_back(one);
    }
    out = output_of(make(Routine::attention, form, inputs), 0);
  }
  return cast(out, dtype);
}

}  // namespace pullback
