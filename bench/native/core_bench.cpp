// What the core costs without Python and without arithmetic: making nodes, differentiating them,
// walking and keying what is pending, finding the plan again, and planning for the first time.
//
// The chains are of one operation on three floats, so that every figure is time per operation. The
// null backend plans and pretends to run; rows called "cpu" run for real.

#include "bench.h"
#include "grad/reverse.h"
#include "graph/variable.h"
#include "graph/walk.h"

namespace pullback::bench {
namespace {

using benchmark::DoNotOptimize;

NodeRef apply(Op op, const NodeRef& a, const NodeRef& b) {
  Node* inputs[] = {a.get(), b.get()};
  return elementwise(op, inputs);
}

// A chain of `length` products: each is a tile instruction, and all of them fuse.
NodeRef tile_chain(const NodeRef& x, int64_t length) {
  NodeRef y = x;
  for (int64_t i = 0; i < length; ++i) y = apply(Op::multiply, y, x);
  return y;
}

// A chain of `length` matrix products: each is a step with a result in memory.
NodeRef step_chain(const NodeRef& x, int64_t length) {
  NodeRef y = x;
  for (int64_t i = 0; i < length; ++i) y = matmul(y, x);
  return y;
}

NodeRef differentiate(const NodeRef& y, const Ref<Variable>& x) {
  GradientRequest request;
  request.ys = {y};
  request.xs = {{nullptr, x->id}};
  return gradients(request)[0];
}

Ref<Variable> vector() { return make_variable(array(DType::Float32, {3}), true, "x"); }
Ref<Variable> square() { return make_variable(array(DType::Float32, {2, 2}), true, "square"); }

// A row of the time per operation of a chain. The function gets the variable and the length.
void add_chain(const std::string& name, int64_t length, const Backend& backend, auto function) {
  add(name + ", chain of " + std::to_string(length), [=, &backend](benchmark::State& state) {
    set_backend(backend);
    const Ref<Variable> x = vector();
    function(state, x, length);
  });
}

void add_nodes(int64_t length) {
  const Backend& backend = null_backend();
  add_chain("node: made and freed", length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef x = read(variable.get());
              measure(state, Unit::Items, n, [&] { DoNotOptimize(tile_chain(x, n).get()); });
            });
  add_chain("gradient: made and freed", length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef y = tile_chain(read(variable.get()), n);
              measure(state, Unit::Items, n,
                      [&] { DoNotOptimize(differentiate(y, variable).get()); });
            });
}

void add_lookup(int64_t length) {
  const Backend& backend = null_backend();
  add_chain("walk", length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef y = tile_chain(read(variable.get()), n);
              std::vector<Node*> found;
              measure(state, Unit::Items, n, [&] {
                found.clear();
                Node* roots[] = {y.get()};
                walk(roots, &found, [](const Node* node) { return value_inputs(node); });
              });
            });
  add_chain("walk and key", length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef y = tile_chain(read(variable.get()), n);
              measure(state, Unit::Items, n, [&] { DoNotOptimize(snapshot_of(y).key.data()); });
            });
  add_chain("cache hit", length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef y = tile_chain(read(variable.get()), n);
              const Snapshot snapshot = snapshot_of(y);
              find_plan(snapshot);
              measure(state, Unit::Items, n, [&] { DoNotOptimize(find_plan(snapshot).get()); });
            });
}

void add_evaluate(int64_t length, const Backend& backend) {
  add_chain(std::string("evaluate: made, hit, freed, ") + backend.name(), length, backend,
            [](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
              const NodeRef x = read(variable.get());
              measure(state, Unit::Items, n, [&] { evaluate(tile_chain(x, n).get()); });
            });
}

// Time per operation must not grow with the length.
void add_planning(int64_t length, const Backend& backend) {
  const auto plan = [&](const char* what, auto make) {
    add_chain(std::string("plan: ") + what + ", " + backend.name(), length, backend,
              [make](benchmark::State& state, const Ref<Variable>& variable, int64_t n) {
                const NodeRef y = make(variable, n);
                const Snapshot snapshot = snapshot_of(y);
                measure(state, Unit::Items, n, [&] {
                  clear_cache();
                  DoNotOptimize(find_plan(snapshot).get());
                });
              });
  };
  plan("fused", [](const Ref<Variable>& x, int64_t n) { return tile_chain(read(x.get()), n); });
  plan("steps", [](const Ref<Variable>&, int64_t n) {
    static const Ref<Variable> x = square();
    return step_chain(read(x.get()), n);
  });
  plan("fused with gradient", [](const Ref<Variable>& x, int64_t n) {
    return differentiate(tile_chain(read(x.get()), n), x);
  });
}

}  // namespace

void add_rows() {
  for (int64_t n : {1, 1000, 100000}) add_nodes(n);
  for (int64_t n : {1, 100, 1000, 100000}) add_lookup(n);
  for (const Backend* backend : {&null_backend(), &cpu_backend()}) {
    for (int64_t n : {1, 1000}) add_evaluate(n, *backend);
    for (int64_t n : {1000, 10000, 100000}) {
      if (!small || n == 1000) add_planning(n, *backend);
    }
  }
}

}  // namespace pullback::bench
