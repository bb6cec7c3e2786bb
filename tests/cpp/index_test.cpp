// Gather and ScatterAdd: positive and negative indices, duplicates, empty ones, and the report of
// an index out of range.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_indices() {
  const int64_t shapes[][4] = {{1, 5, 1, 9},       {3, 4, 2, 0},          {1, 100, 64, 5000},
                               {4, 10, 300, 40},   {1, 50000, 1, 400000}, {2, 7, 3, 11},
                               {1, 10, 1, 300000}, {20, 6, 2, 500}};
  for (const auto& s : shapes) {
    const int64_t outer = s[0], axis = s[1], inner = s[2], n = s[3];
    for (DType index_type : {DType::Int32, DType::Int64}) {
      for (DType dtype : {DType::Float32, DType::Float64, DType::Int32}) {
        Array in = random_array(dtype, outer * axis * inner), index(index_type, n);
        for (int64_t i = 0; i < n; ++i) index.set(i, static_cast<double>(pick(2 * axis) - axis));
        const auto to = [&](int64_t i) {
          const auto v = static_cast<int64_t>(index.get(i));
          return v < 0 ? v + axis : v;
        };
        const std::string what = text("indices ", outer, " ", axis, " ", inner, " ", n, " ", dtype);
        Runner r;
        View vin = row_view(r.argument(in), dtype, {outer, axis, inner});
        View vindex = row_view(r.argument(index), index_type, {n});
        View vout = row_view(r.output(dtype, outer * n * inner), dtype, {outer, n, inner});
        r.add(Gather{vin, vindex, vout, outer, axis, inner});
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t i = 0; i < r.outputs[0].n; ++i) {
          const int64_t o = i / (n * inner), k = i / inner % n, j = i % inner;
          ok &= r.outputs[0].get(i) == in.get((o * axis + to(k)) * inner + j);
        }
        check(ok, what + ": gather");

        Array addends = random_array(dtype, outer * n * inner);
        Runner scatter;
        vin = row_view(scatter.argument(addends), dtype, {outer, n, inner});
        vindex.slot = scatter.argument(index);
        vout = row_view(scatter.output(dtype, outer * axis * inner), dtype, {outer, axis, inner});
        scatter.add(ScatterAdd{vin, vindex, vout, outer, axis, inner});
        check(bool(scatter.run_threads(what)), what);
        std::vector<double> sums(static_cast<size_t>(outer * axis * inner));
        for (int64_t i = 0; i < addends.n; ++i) {
          const int64_t o = i / (n * inner), k = i / inner % n, j = i % inner;
          sums[(o * axis + to(k)) * inner + j] += addends.get(i);
        }
        ok = true;
        for (size_t i = 0; i < sums.size(); ++i) {
          ok &= std::fabs(scatter.outputs[0].get(static_cast<int64_t>(i)) - sums[i]) <=
                (dtype == DType::Float32   ? 1e-6 * (1 + std::fabs(sums[i]))
                 : dtype == DType::Float64 ? 1e-9
                                           : 0);
        }
        check(ok, what + ": scatter_add");
        if (n == 0) continue;
        for (double bad : {static_cast<double>(axis), static_cast<double>(-axis - 1)}) {
          index.set(n / 2, bad);
          const Status status = pick(2) ? r.run() : scatter.run();
          check(status.problem == Problem::IndexOutOfRange &&
                    status.detail == static_cast<int64_t>(bad) && status.bound == axis &&
                    status.step == 0,
                what + ": bad index");
        }
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_indices();
  return report();
}
