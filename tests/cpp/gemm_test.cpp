// Products: all dtypes, sizes from empty to several blocks, batches, transposed, broadcast and
// reversed operands, against a plain sum at random places of the result.
//
// PULLBACK_BLAS names the library for floats. Without it only integers are tested; one that is
// named and does not load is a failure.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backend/cpu/blas.h"
#include "base/error.h"
#include "check.h"
#include "plan/verify.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_gemm() {
  struct Case {
    int64_t batch, m, k, n;
  };
  const Case cases[] = {{1, 1, 1, 1},     {1, 3, 4, 5},     {1, 100, 784, 10},  {1, 257, 129, 300},
                        {5, 17, 9, 8},    {1, 0, 3, 4},     {1, 3, 0, 4},       {2, 3, 4, 0},
                        {1, 1, 500, 700}, {1, 700, 500, 1}, {1, 40, 20000, 30}, {1, 1, 300000, 1},
                        {3, 1, 20, 1},    {64, 2, 3, 2},    {1, 520, 300, 410}};
  const DType dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};
  for (const Case& c : cases) {
    for (DType dtype : dtypes) {
      if (is_float(dtype) && !blas()) continue;
      for (int kind = 0; kind < 6; ++kind) {
        if (c.m * c.k * c.n > 1000000 && kind > 2) continue;
        // 0 plain, 1 a transposed, 2 b transposed, 3 both, 4 broadcast batch of b, 5 reversed rows
        Array a = random_array(dtype, c.batch * c.m * c.k),
              b = random_array(dtype, c.batch * c.k * c.n);
        Runner r;
        View va = row_view(r.argument(a), dtype, {c.batch, c.m, c.k});
        View vb = row_view(r.argument(b), dtype, {c.batch, c.k, c.n});
        if (kind == 1 || kind == 3) {
          va.strides[1] = 1;
          va.strides[2] = c.m;
        }
        if (kind == 2 || kind == 3) {
          vb.strides[1] = 1;
          vb.strides[2] = c.k;
        }
        if (kind == 4) vb.strides[0] = 0;
        if (kind == 5 && c.m) {
          va.offset = (c.m - 1) * c.k;
          va.strides[1] = -c.k;
        }
        const View vc = row_view(r.output(dtype, c.batch * c.m * c.n), dtype, {c.batch, c.m, c.n});
        r.add(Gemm{va, vb, vc, {}});
        const std::string what = text("gemm ", c.batch, " ", c.m, " ", c.k, " ", c.n, " ", dtype,
                                      " kind ", int64_t{kind});
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t q = 0; q < 200 && r.outputs[0].n; ++q) {
          const int64_t at = pick(r.outputs[0].n), i = at / (c.m * c.n), row = at / c.n % c.m,
                        column = at % c.n;
          double sum = 0, size = 0;
          for (int64_t d = 0; d < c.k; ++d) {
            const double t =
                a.get(va.offset + i * va.strides[0] + row * va.strides[1] + d * va.strides[2]) *
                b.get(vb.offset + i * vb.strides[0] + d * vb.strides[1] + column * vb.strides[2]);
            sum += t;
            size += std::fabs(t);
          }
          const double eps = dtype == DType::Float32 ? 1e-6 : dtype == DType::Float64 ? 1e-14 : 0;
          ok &= std::fabs(r.outputs[0].get(at) - sum) <= eps * size;
        }
        check(ok, what);
      }
    }
  }
}

// A product and the group that runs on it, as one step or as two.
void test_then() {
  const int64_t sizes[][4] = {{1, 1000, 64, 64},  {1, 5000, 10, 300}, {1, 300, 300, 40},
                              {2, 300, 40, 40},   {1, 7, 5, 3},       {1, 4, 3, 0},
                              {1, 0, 4, 3},       {1, 3000, 1, 50},   {1, 1, 3000, 50},
                              {1, 64, 64, 20000}, {1, 4096, 33, 100}};
  for (const auto& s : sizes) {
    for (DType dtype : {DType::Float32, DType::Float64, DType::Int64}) {
      if (is_float(dtype) && !blas()) continue;
      for (int form = 0; form < 4; ++form) {
        const int64_t batch = s[0], m = s[1], n = s[2], k = s[3], count = batch * m * n;
        Array a = random_array(dtype, batch * m * k), b = random_array(dtype, k * n);
        Array bias = random_array(dtype, n);
        std::vector<Array> one;
        for (bool fused : {false, true}) {
          Runner r;
          const View va = row_view(r.argument(a), dtype, {batch, m, k});
          const View vb = row_view(r.argument(b), dtype, {k, n});
          const int32_t c = r.output(dtype, count);
          TileGroup g;
          g.count = count;
          g.length = form % 2 ? n : 1;
          View repeated{r.argument(bias), dtype, 0, {batch * m, n}, {}};
          repeated.strides = {0, 1};
          g.loads = {row_view(c, dtype, {count}), repeated};
          g.instructions = {{Op::add, dtype, dtype, {0, 1, -1}},
                            {Op::relu, dtype, dtype, {2, -1, -1}}};
          int32_t last = 3;
          if (form % 2 && n > 1) {
            g.instructions.push_back({Op::max, dtype, dtype, {3, -1, -1}, true});
            g.instructions.push_back({Op::subtract, dtype, dtype, {3, 4, -1}});
            last = 5;
          }
          // In place of the product, or next to it.
          const int32_t to = form < 2 ? c : r.output(dtype, count);
          g.stores = {{last, row_view(to, dtype, {count})}};
          g.reductions = {
              {Op::sum, last, dtype, 1, count, 1, row_view(r.output(dtype, 1), dtype, {1})}};
          if (form % 2) {
            const int32_t columns = r.output(dtype, n);
            g.reductions.push_back(
                {Op::sum, last, dtype, 1, batch * m, n, row_view(columns, dtype, {n})});
          }
          const View vc = row_view(c, dtype, {batch, m, n});
          if (fused) {
            r.add(Gemm{va, vb, vc, g});
          } else {
            r.add(Gemm{va, vb, vc, {}});
            r.add(g);
          }
          verify(r.plan);
          const std::string what = text("product and group, form ", form, " ", dtype, " [", batch,
                                        ", ", m, ", ", k, "] [", n, "]");
          check(bool(r.run_threads(what)), what);
          if (!fused) {
            one = r.outputs;
            continue;
          }
          for (size_t i = 0; i < one.size(); ++i) {
            bool equal = true;
            for (int64_t j = 0; j < one[i].n; ++j) {
              const double x = one[i].get(j), y = r.outputs[i].get(j);
              const bool sum = one[i].n != count || count == 1;
              equal &= sum ? std::fabs(x - y) <= 1e-6 * std::fabs(x) : x == y;
            }
            check(equal, what + text(": output ", int64_t(i)));
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  if (!pullback::blas()) {
    const std::string& error = pullback::blas_info().error;
    std::printf("no BLAS: %s\n", error.c_str());
    if (std::getenv("PULLBACK_BLAS")) check(false, error);
  }
  test_gemm();
  test_then();
  return report();
}
