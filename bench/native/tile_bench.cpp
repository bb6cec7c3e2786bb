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
#include "graph/elementwise.def"
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

void add_elementwise(DType dtype) {
  for (int i = 0; i < kElementwise; ++i) {
    const TileKernel kernel = kernels().elementwise.of[i][static_cast<int>(dtype)];
    const auto op = static_cast<Op>(i);
    if (!kernel) continue;
    add(label("", op, dtype), [=](benchmark::State& state) {
      const NodeRef a = array(dtype, {kTile});
      const Ref<Buffer> out = make_buffer(kTile * size_of(DType::Float64));
      const void* in = a->value->host();
      measure(state, Unit::Bytes, bytes_of(op, dtype),
              [&] { kernel(out->host(), in, in, in, kTile); });
    });
  }
}

void add_folds(DType dtype) {
  for (Op op : {Op::sum, Op::max}) {
    const Fold& fold = kernels().folds.of[fold_index(op)][static_cast<int>(dtype)];
    const auto add_fold = [&](const char* what, bool rows) {
      add(label(what, op, dtype), [=, &fold](benchmark::State& state) {
        const NodeRef a = array(dtype, {kTile});
        std::vector<double> accumulator(kTile);
        const auto kernel = rows ? fold.rows : fold.columns;
        measure(state, Unit::Bytes, a->bytes(),
                [&] { kernel(a->value->host(), 4, kTile / 4, accumulator.data()); });
      });
    };
    add_fold("rows of ", true);
    add_fold("columns of ", false);
  }
}

}  // namespace

void add_rows() {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    add_elementwise(dtype);
    add_folds(dtype);
  }
}

}  // namespace pullback::bench
