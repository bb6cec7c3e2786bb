// Plans of one step over arrays that no cache holds, and matrix products: what the CPU backend does
// with all threads, without graph or planning.
//
// Bytes are those that must be read and written once. "triad" is a = b + 1.7 c in a plain loop on
// the same threads: the limit of everything else that runs over memory.

#include <algorithm>

#include "base/threads.h"
#include "bench.h"

namespace pullback::bench {
namespace {

NodeRef unary(Op op, const NodeRef& x) {
  Node* inputs[] = {x.get()};
  return elementwise(op, inputs);
}

int64_t elements() { return small ? 4096 : 10'000'000; }

void triad(benchmark::State& state) {
  const int64_t n = elements();
  const NodeRef b = array(DType::Float32, {n});
  const NodeRef c = array(DType::Float32, {n});
  const Ref<Buffer> a = make_buffer(b->bytes());
  constexpr int64_t chunk = 1 << 16;
  measure(state, Unit::Bytes, 3 * b->bytes(), [&] {
    parallel_for((n + chunk - 1) / chunk, true, [&](int64_t i) {
      auto* to = static_cast<float*>(a->host());
      const auto* x = static_cast<const float*>(b->value->host());
      const auto* y = static_cast<const float*>(c->value->host());
      const int64_t end = std::min(n, (i + 1) * chunk);
      for (int64_t j = i * chunk; j < end; ++j) to[j] = x[j] + 1.7F * y[j];
    });
  });
}

// `passes` is how often the array's size goes over the bus.
void add_array(const char* name, int64_t passes, const auto& make) {
  add(name, [=](benchmark::State& state) {
    const NodeRef x = array(DType::Float32, {elements()});
    measure_plan(state, Unit::Bytes, passes * x->bytes(), make(x));
  });
}

void add_matrix(const char* name, int64_t passes, const auto& make) {
  add(name, [=](benchmark::State& state) {
    const NodeRef z = array(DType::Float32, {small ? 4 : 4096, 1000});
    measure_plan(state, Unit::Bytes, passes * z->bytes(), make(z));
  });
}

void add_product(DType dtype, int64_t m, int64_t k, int64_t n) {
  const std::string name = "(" + std::to_string(m) + "x" + std::to_string(k) + ") (" +
                           std::to_string(k) + "x" + std::to_string(n) + ") " + name_of(dtype);
  add(name, [=](benchmark::State& state) {
    measure_plan(state, Unit::Flops, 2 * m * k * n,
                 matmul(array(dtype, {m, k}), array(dtype, {k, n})));
  });
}

}  // namespace

void add_rows() {
  const Axes across = std::vector<int64_t>{1};
  const Axes down = std::vector<int64_t>{0};
  add("triad float32", triad);
  add_array("square float32", 2, [](const NodeRef& x) { return unary(Op::square, x); });
  add_array("tanh float32", 2, [](const NodeRef& x) { return unary(Op::tanh, x); });
  add_array("sum float32", 1, [](const NodeRef& x) { return reduce(Op::sum, x, {}, false); });
  add_array("sum of tanh float32", 1,
            [](const NodeRef& x) { return reduce(Op::sum, unary(Op::tanh, x), {}, false); });
  add_matrix("4096x1000: sum of each row", 1,
             [=](const NodeRef& z) { return reduce(Op::sum, z, across, false); });
  add_matrix("4096x1000: sum of each column", 1,
             [=](const NodeRef& z) { return reduce(Op::sum, z, down, false); });
  add_matrix("4096x1000: transpose", 2, [](const NodeRef& z) { return transpose(z); });
  add_matrix("4096x1000: softmax of each row", 2, [](const NodeRef& z) { return softmax(z, -1); });
  const int64_t large = small ? 64 : 1024;
  add_product(DType::Float32, 64, 64, 64);
  add_product(DType::Float32, 100, 784, 10);  // softreg
  add_product(DType::Float32, 784, 100, 10);
  add_product(DType::Float32, 128, 784, 256);  // mlp
  add_product(DType::Float32, 784, 128, 256);
  add_product(DType::Float64, 1000, 64, 64);  // one of gmm's hundred
  add_product(DType::Float32, large, large, 1);
  add_product(DType::Float32, large, large, large);
  add_product(DType::Float64, large, large, large);
}

}  // namespace pullback::bench
