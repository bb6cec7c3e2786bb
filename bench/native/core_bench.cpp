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

std::string sized(const char* name, int64_t length) {
  return std::string(name) + ", chain of " + std::to_string(length);
}

void bench_nodes(const Ref<Variable>& variable) {
  const NodeRef x = read(variable.get());
  measure("node: x*x, made and freed", Unit::Nanoseconds, 1,
          [&] { keep(apply(Op::multiply, x, x).get()); });
  for (int64_t n : {1000, 100000}) {
    measure(sized("node: made and freed", n), Unit::Nanoseconds, static_cast<double>(n),
            [&] { keep(tile_chain(x, n).get()); });
    const NodeRef y = tile_chain(x, n);
    measure(sized("gradient: made and freed", n), Unit::Nanoseconds, static_cast<double>(n),
            [&] { keep(differentiate(y, variable).get()); });
  }
}

void bench_lookup(const Ref<Variable>& variable) {
  const NodeRef x = read(variable.get());
  for (int64_t n : {1, 100, 1000, 100000}) {
    const auto items = static_cast<double>(n);
    const NodeRef y = tile_chain(x, n);
    std::vector<Node*> found;
    measure(sized("walk", n), Unit::Nanoseconds, items, [&] {
      found.clear();
      Node* roots[] = {y.get()};
      walk(roots, &found, [](const Node* node) { return value_inputs(node); });
    });
    measure(sized("walk and key", n), Unit::Nanoseconds, items,
            [&] { keep(snapshot_of(y).key.data()); });
    const Snapshot snapshot = snapshot_of(y);
    find_plan(snapshot);
    measure(sized("cache hit", n), Unit::Nanoseconds, items,
            [&] { keep(find_plan(snapshot).get()); });
  }
}

void bench_evaluate(const Ref<Variable>& variable, const char* backend) {
  const NodeRef x = read(variable.get());
  for (int64_t n : {1, 1000}) {
    measure(sized((std::string("evaluate: made, hit, freed, ") + backend).c_str(), n),
            Unit::Nanoseconds, static_cast<double>(n), [&] { evaluate(tile_chain(x, n).get()); });
  }
}

// Time per operation must not grow with the length.
void bench_planning(const Ref<Variable>& variable, const Ref<Variable>& square,
                    const char* backend) {
  const auto plan = [&](const char* what, int64_t n, const NodeRef& y) {
    const Snapshot snapshot = snapshot_of(y);
    const std::string name = std::string("plan: ") + what + ", " + backend;
    measure(sized(name.c_str(), n), Unit::Nanoseconds, static_cast<double>(n), [&] {
      clear_cache();
      keep(find_plan(snapshot).get());
    });
  };
  for (int64_t n : {1000, 10000, 100000}) {
    if (options().smoke && n > 1000) break;
    plan("fused", n, tile_chain(read(variable.get()), n));
    plan("steps", n, step_chain(read(square.get()), n));
    plan("fused with gradient", n, differentiate(tile_chain(read(variable.get()), n), variable));
  }
}

}  // namespace

void run() {
  const Ref<Variable> x = make_variable(array(DType::Float32, {3}), true, "x");
  const Ref<Variable> square = make_variable(array(DType::Float32, {2, 2}), true, "square");
  set_backend(null_backend());
  bench_nodes(x);
  bench_lookup(x);
  bench_evaluate(x, "null");
  bench_planning(x, square, "null");
  set_backend(cpu_backend());
  bench_evaluate(x, "cpu");
  bench_planning(x, square, "cpu");
}

}  // namespace pullback::bench
