// Plans of one step over arrays that no cache holds, and matrix products: what the CPU backend does
// with both threads, without graph or planning.
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

void bench_triad(int64_t n) {
  const NodeRef b = array(DType::Float32, {n});
  const NodeRef c = array(DType::Float32, {n});
  const Ref<Buffer> a = make_buffer(b->bytes());
  constexpr int64_t chunk = 1 << 16;
  measure("triad float32", Unit::GigabytesPerSecond, 3 * static_cast<double>(b->bytes()), [&] {
    parallel_for((n + chunk - 1) / chunk, true, [&](int64_t i) {
      auto* to = static_cast<float*>(a->data);
      const auto* x = static_cast<const float*>(b->value->data);
      const auto* y = static_cast<const float*>(c->value->data);
      const int64_t end = std::min(n, (i + 1) * chunk);
      for (int64_t j = i * chunk; j < end; ++j) to[j] = x[j] + 1.7F * y[j];
    });
  });
}

void bench_arrays(int64_t n, int64_t rows) {
  const NodeRef x = array(DType::Float32, {n});
  const NodeRef z = array(DType::Float32, {rows, 1000});
  const auto plan = [](const char* name, int64_t bytes, const NodeRef& root) {
    const Prepared prepared(root);
    measure(name, Unit::GigabytesPerSecond, static_cast<double>(bytes), [&] { prepared.run(); });
  };
  const Axes across = std::vector<int64_t>{1};
  const Axes down = std::vector<int64_t>{0};
  plan("square float32", 2 * x->bytes(), unary(Op::square, x));
  plan("tanh float32", 2 * x->bytes(), unary(Op::tanh, x));
  plan("sum float32", x->bytes(), reduce(Op::sum, x, {}, false));
  plan("sum of tanh float32", x->bytes(), reduce(Op::sum, unary(Op::tanh, x), {}, false));
  plan("4096x1000: sum of each row", z->bytes(), reduce(Op::sum, z, across, false));
  plan("4096x1000: sum of each column", z->bytes(), reduce(Op::sum, z, down, false));
  plan("4096x1000: transpose", 2 * z->bytes(), transpose(z));
  plan("4096x1000: softmax of each row", 2 * z->bytes(), softmax(z, -1));
}

void bench_product(DType dtype, int64_t m, int64_t k, int64_t n) {
  const Prepared prepared(matmul(array(dtype, {m, k}), array(dtype, {k, n})));
  const std::string name = "(" + std::to_string(m) + "x" + std::to_string(k) + ") (" +
                           std::to_string(k) + "x" + std::to_string(n) + ") " + name_of(dtype);
  measure(name, Unit::GigaflopsPerSecond, 2.0 * static_cast<double>(m * k * n),
          [&] { prepared.run(); });
}

}  // namespace

void run() {
  const bool smoke = options().smoke;
  bench_triad(smoke ? 4096 : 10'000'000);
  bench_arrays(smoke ? 4096 : 10'000'000, smoke ? 4 : 4096);
  const int64_t large = smoke ? 64 : 1024;
  bench_product(DType::Float32, 64, 64, 64);
  bench_product(DType::Float32, 100, 784, 10);  // softreg
  bench_product(DType::Float32, 784, 100, 10);
  bench_product(DType::Float32, 128, 784, 256);  // mlp
  bench_product(DType::Float32, 784, 128, 256);
  bench_product(DType::Float32, large, large, 1);
  bench_product(DType::Float32, large, large, large);
  bench_product(DType::Float64, large, large, large);
}

}  // namespace pullback::bench
