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
  return report();
}
