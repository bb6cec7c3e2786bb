// Every elementwise and fold kernel over one tile in the first-level cache: what the processor can
// do before memory has a say. Bytes are those read and written.

#include "backend/cpu/kernels/table.h"
#include "bench.h"

namespace pullback::bench {
namespace {

constexpr int64_t kTile = 1024;

// What a row of elementwise.def reads and writes; there is no list of kernels to keep.
struct Traffic {
  int inputs;
  bool to_bool;
};
enum Written : uint8_t { Same, Bool };
constexpr Traffic kTraffic[] = {
#define UNARY(name, domain, result, ...) {1, result == Bool},
#define BINARY(name, domain, result, ...) {2, result == Bool},
#define TERNARY(name, domain, result, ...) {3, result == Bool},
#include "ops/elementwise.def"
};
static_assert(std::size(kTraffic) == kElementwise);

int64_t bytes_of(Op op, DType dtype) {
  const auto [inputs, to_bool] = kTraffic[static_cast<int>(op)];
  const int64_t element = size_of(dtype);
  const int64_t read = op == Op::where ? 1 + 2 * element : inputs * element;
  return kTile * (read + (to_bool ? 1 : element));
}

std::string label(const char* what, Op op, DType dtype) {
  return std::string(what) + name_of(op) + " " + name_of(dtype);
}

void bench_elementwise(DType dtype) {
  const NodeRef a = array(dtype, {kTile});
  const Ref<Buffer> out = make_buffer(kTile * size_of(DType::Float64));
  const void* in = a->value->data;
  for (int i = 0; i < kElementwise; ++i) {
    const TileKernel kernel = kernels().elementwise.of[i][static_cast<int>(dtype)];
    const auto op = static_cast<Op>(i);
    if (!kernel) continue;
    measure(label("", op, dtype), Unit::GigabytesPerSecond,
            static_cast<double>(bytes_of(op, dtype)),
            [&] { kernel(out->data, in, in, in, kTile); });
  }
}

void bench_folds(DType dtype) {
  const NodeRef a = array(dtype, {kTile});
  const void* in = a->value->data;
  const auto bytes = static_cast<double>(a->bytes());
  std::vector<double> accumulator(kTile);
  for (Op op : {Op::sum, Op::max}) {
    const Fold& fold = kernels().folds.of[fold_index(op)][static_cast<int>(dtype)];
    measure(label("rows of ", op, dtype), Unit::GigabytesPerSecond, bytes,
            [&] { fold.rows(in, 4, kTile / 4, accumulator.data()); });
    measure(label("columns of ", op, dtype), Unit::GigabytesPerSecond, bytes,
            [&] { fold.columns(in, 4, kTile / 4, accumulator.data()); });
  }
}

}  // namespace

void run() {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    bench_elementwise(dtype);
    bench_folds(dtype);
  }
}

}  // namespace pullback::bench
