// Columns of one memory: what takes them apart and puts them together, alone against plain loops,
// and in groups whose loads and stores are such columns, all of them or some, in any order.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

std::vector<int64_t> shuffled(int64_t n) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  std::shuffle(out.begin(), out.end(), generator);
  return out;
}

// Behind the last entry lies one that no kernel may touch.
template <class T>
void test_kernels() {
  const int wide = sizeof(T) == 8;
  for (int columns = 2; columns <= kMostInterleaved; ++columns) {
    for (int64_t n = 0; n < 80; ++n) {
      std::vector<T> block(static_cast<size_t>(n * columns + 1));
      std::iota(block.begin(), block.end(), T(1));
      std::vector<std::vector<T>> parts(static_cast<size_t>(columns));
      void* out[kMostInterleaved];
      const void* in[kMostInterleaved];
      for (int k = 0; k < columns; ++k) {
        parts[k].assign(static_cast<size_t>(n + 1), T(0));
        in[k] = out[k] = parts[k].data();
      }
      kernels().interleaves.deinterleave[columns - 2][wide](out, block.data(), n);
      bool right = true;
      for (int k = 0; k < columns; ++k) {
        for (int64_t i = 0; i < n; ++i) right &= parts[k][i] == T(i * columns + k + 1);
        right &= parts[k][n] == T(0);
      }
      check(right, text("deinterleave ", int64_t{columns}, " columns of ", n));
      std::vector<T> again(block.size(), T(0));
      kernels().interleaves.interleave[columns - 2][wide](again.data(), in, n);
      right = again.back() == T(0);
      again.back() = block.back();
      check(right && again == block, text("interleave ", int64_t{columns}, " columns of ", n));
    }
  }
}

// out[:, to[k]] = in[:, k] + in[:, from[k]] for every column k; with rows, plus an entry of each
// row, itself a column of another memory.
void test_group(DType dtype, int64_t columns, int64_t rows, int64_t length) {
  const int64_t n = rows * length;
  const int64_t start = pick(3);  // the columns begin somewhere
  Array in = random_array(dtype, n * columns + start);
  Array row_in = random_array(dtype, rows * columns);
  Runner r;
  TileGroup g;
  g.count = n;
  g.length = length;
  const auto column = [&](int32_t slot, int64_t k, bool row) {
    View view{slot, dtype, k, {row ? rows : n}, {}};
    if (!row && pick(2)) view.shape = {rows, length};
    view.strides = row_major(view.shape);
    for (int64_t& stride : view.strides) stride *= columns;
    return view;
  };
  const int32_t in_slot = r.argument(in);
  const int32_t row_slot = r.argument(row_in);
  const int32_t out_slot = r.output(dtype, n * columns);
  const std::vector<int64_t> order = shuffled(columns), to = shuffled(columns);
  std::vector<int64_t> from = shuffled(columns);
  if (pick(3) == 0) std::fill(from.begin(), from.end(), from[0]);
  std::vector<int32_t> load(static_cast<size_t>(columns), -1);
  const bool some = pick(3) == 0;  // not all of them: no column but from[0] and the first in order
  for (const int64_t k : order) {
    if (some && k != from[0] && k != order[0]) continue;
    load[k] = static_cast<int32_t>(g.loads.size());
    g.loads.push_back(column(in_slot, start + k, false));
  }
  if (length > 1) {
    for (int64_t k = 0; k < columns; ++k) g.loads.push_back(column(row_slot, k, true));
  }
  const auto loads = static_cast<int32_t>(g.loads.size());
  Array want(dtype, n * columns);
  const Op add = dtype == DType::Bool ? Op::logical_xor : Op::add;
  const auto emit = [&](int32_t a, int32_t b) {
    g.instructions.push_back({add, dtype, dtype, {a, b}});
    return loads + static_cast<int32_t>(g.instructions.size()) - 1;
  };
  const auto sum = [&](Array& x, int64_t i, Array& y, int64_t j, Array* out, int64_t at) {
    const int64_t e = size_of(dtype);
    kernels().elementwise.of[int(add)][int(dtype)](
        out->bytes.data() + at * e, x.bytes.data() + i * e, y.bytes.data() + j * e, nullptr, 1);
  };
  for (int64_t k = 0; k < columns; ++k) {
    const int64_t a = load[k] < 0 ? order[0] : k;
    const int64_t b = load[from[k]] < 0 ? from[0] : from[k];
    int32_t value = emit(load[a], load[b]);
    for (int64_t i = 0; i < n; ++i) {
      sum(in, start + i * columns + a, in, start + i * columns + b, &want, i * columns + to[k]);
    }
    if (length > 1) {
      value = emit(value, loads - static_cast<int32_t>(columns - k));
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = i * columns + to[k];
        sum(want, at, row_in, i / length * columns + k, &want, at);
      }
    }
    g.stores.push_back({value, column(out_slot, to[k], false)});
  }
  r.add(g);
  const std::string what =
      text(dtype, ", ", columns, " columns of ", rows, " rows of ", length, some ? ", some" : "");
  check(bool(r.run_threads(what)), what + ": status");
  check(same(r.outputs[0], want), what);
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_kernels<float>();
  test_kernels<double>();
  for (int dtype = 0; dtype < pullback::kComputeDTypes; ++dtype) {
    for (int64_t columns = 2; columns <= 5; ++columns) {
      for (const auto& [rows, length] : {std::pair<int64_t, int64_t>{1, 1},
                                         {5, 1},
                                         {513, 1},
                                         {70001, 1},
                                         {7, 5},
                                         {3001, 17},
                                         {300, 60}}) {
        for (int i = 0; i < 3; ++i) {
          test_group(static_cast<pullback::DType>(dtype), columns, rows, length);
        }
      }
    }
  }
  return report();
}
