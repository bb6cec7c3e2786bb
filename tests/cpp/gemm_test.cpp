// Products: all dtypes, sizes from empty to several panels, batches, transposed, broadcast and
// reversed operands, against a plain sum at random places of the result, with the same bits for any
// number of threads.
//
// PULLBACK_BLAS names the library for floats. Without it only integers are tested; one that is
// named and does not load is a failure.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "backend/cpu/products/blas.h"
#include "base/error.h"
#include "check.h"
#include "plan/verify/verify.h"
#include "plans.h"

namespace pullback::test {
namespace {

double at(Array& array, const View& view, std::initializer_list<int64_t> index) {
  int64_t offset = view.offset, axis = 0;
  for (int64_t i : index) offset += i * view.strides[axis++];
  return array.get(offset);
}

// c[p, q, m, n]: some entries against a plain sum, and all bits for every number of threads.
void check_product(Array& a, Array& b, const View& va, const View& vb, const std::string& what,
                   Runner* r) {
  const DType dtype = a.dtype;
  const Shape shape{va.shape[0], va.shape[1], va.shape[2], vb.shape[3]};
  const int64_t k = va.shape[3], n = shape[3];
  const View vc = row_view(r->output(dtype, shape.size()), dtype, shape);
  r->add(Gemm{va, vb, vc, {}});
  check(bool(r->run_threads(what)), what);
  bool ok = true;
  const int64_t terms = 500'000;  // long sums at fewer places
  const int64_t places = r->outputs[0].n ? std::clamp<int64_t>(terms / (k + 1), 3, 200) : 0;
  for (int64_t count = 0; count < places; ++count) {
    const int64_t place = pick(r->outputs[0].n), column = place % n, row = place / n % shape[2],
                  q = place / n / shape[2] % shape[1], p = place / n / shape[2] / shape[1];
    double sum = 0, size = 0;
    for (int64_t d = 0; d < k; ++d) {
      const double t = at(a, va, {p, q, row, d}) * at(b, vb, {p, q, d, column});
      sum += t;
      size += std::fabs(t);
    }
    const double eps = dtype == DType::Float32 ? 1e-6 : dtype == DType::Float64 ? 1e-14 : 0;
    ok &= std::fabs(r->outputs[0].get(place) - sum) <= eps * size;
  }
  check(ok, what);
}

// Exchanges the storage of the last two axes.
void transpose_matrices(View* view) {
  view->strides[2] = 1;
  view->strides[3] = view->shape[2];
}

enum Kind { kPlain, kTransposeA, kTransposeB, kTransposeBoth, kOneB, kOneA, kReversed, kKinds };

void test_gemm() {
  struct Case {
    int64_t p, q, m, k, n;
  };
  const Case cases[] = {// one
                        {1, 1, 1, 1, 1},
                        {1, 1, 3, 4, 5},
                        {1, 1, 100, 784, 10},
                        {1, 1, 257, 129, 300},
                        {1, 1, 1, 500, 700},
                        {1, 1, 700, 500, 1},
                        {1, 1, 40, 20000, 30},
                        {1, 1, 1, 300000, 1},
                        {1, 1, 520, 300, 410},
                        {1, 1, 300, 1, 200},
                        {1, 1, 5000, 90, 33},
                        {1, 1, 64, 9000, 64},
                        // nothing
                        {1, 1, 0, 3, 4},
                        {1, 1, 3, 0, 4},
                        {2, 1, 3, 4, 0},
                        {0, 2, 3, 4, 5},
                        // batches
                        {5, 1, 17, 9, 8},
                        {3, 1, 1, 20, 1},
                        {3, 1, 1, 20, 7},
                        {3, 1, 7, 20, 1},
                        {64, 1, 2, 3, 2},
                        {2, 3, 5, 4, 6},
                        {2, 3, 1, 4, 6},
                        {2, 3, 5, 4, 1},
                        {70, 1, 33, 16, 40},
                        {3, 2, 200, 64, 64}};
  const DType dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};
  for (const Case& c : cases) {
    for (DType dtype : dtypes) {
      if (is_float(dtype) && !blas()) continue;
      for (int kind = 0; kind < kKinds; ++kind) {
        if (!is_float(dtype) && c.m * c.k * c.n > 1000000 && kind > kTransposeB) continue;
        Array a = random_array(dtype, c.p * c.q * c.m * c.k);
        Array b = random_array(dtype, c.p * c.q * c.k * c.n);
        Runner r;
        View va = row_view(r.argument(a), dtype, {c.p, c.q, c.m, c.k});
        View vb = row_view(r.argument(b), dtype, {c.p, c.q, c.k, c.n});
        if (kind == kTransposeA || kind == kTransposeBoth) transpose_matrices(&va);
        if (kind == kTransposeB || kind == kTransposeBoth) transpose_matrices(&vb);
        if (kind == kOneB) vb.strides[0] = vb.strides[1] = 0;
        if (kind == kOneA) va.strides[pick(2)] = 0;
        if (kind == kReversed && c.m) {
          va.offset = (c.m - 1) * c.k;
          va.strides[2] = -c.k;
        }
        check_product(a, b, va, vb,
                      text("gemm ", c.p, " ", c.q, " ", c.m, " ", c.k, " ", c.n, " ", dtype,
                           " kind ", int64_t{kind}),
                      &r);
      }
    }
  }
}

// Every size up to a few blocks of the kernel, each with either operand transposed.
void test_small() {
  for (int64_t round = 0; round < 3000; ++round) {
    const DType dtype = pick(2) ? DType::Float32 : DType::Float64;
    const int64_t batch = 1 + pick(3), m = 1 + pick(40), k = 1 + pick(20), n = 1 + pick(70);
    Array a = random_array(dtype, batch * m * k);
    Array b = random_array(dtype, batch * k * n);
    Runner r;
    View va = row_view(r.argument(a), dtype, {1, batch, m, k});
    View vb = row_view(r.argument(b), dtype, {1, batch, k, n});
    if (pick(2)) transpose_matrices(&va);
    if (pick(2)) transpose_matrices(&vb);
    check_product(a, b, va, vb, text("small ", batch, " ", m, " ", k, " ", n, " ", dtype), &r);
  }
}

// Batches of small products and of vectors: sides around those of the kernel, either operand
// transposed, shared along one batch axis or both, or read backwards.
void test_batches() {
  for (int64_t round = 0; round < 600; ++round) {
    const DType dtype = pick(2) ? DType::Float32 : DType::Float64;
    const int64_t p = 1 + pick(40), q = 1 + pick(9);
    const auto side = [] { return pick(4) ? 1 + pick(18) : 1; };
    const int64_t m = side(), k = round % 7 ? side() : 20 + pick(60), n = side();
    Array a = random_array(dtype, p * q * m * k);
    Array b = random_array(dtype, p * q * k * n);
    Runner r;
    View va = row_view(r.argument(a), dtype, {p, q, m, k});
    View vb = row_view(r.argument(b), dtype, {p, q, k, n});
    if (pick(2)) transpose_matrices(&va);
    if (pick(2)) transpose_matrices(&vb);
    for (View* view : {&va, &vb}) {
      const int64_t form = pick(6);
      if (form == 0) view->strides[0] = 0;
      if (form == 1) view->strides[1] = 0;
      if (form == 2) view->strides[0] = view->strides[1] = 0;
      if (form == 3) {
        view->offset = (q - 1) * view->strides[1];
        view->strides[1] = -view->strides[1];
      }
    }
    check_product(
        a, b, va, vb,
        text("batch ", p, " ", q, " of ", m, " ", k, " ", n, " ", dtype, " round ", round), &r);
  }
}

// What C held before, and what lies behind the end of a row of B, must not show.
void test_nan() {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    for (int64_t k : {1, 5, 300}) {
      for (int64_t n : {1, 3, 17, 40}) {
        const int64_t m = 70;
        Array a = random_array(dtype, m * k), b = random_array(dtype, k * 2 * n);
        for (int64_t i = 0; i < k * 2 * n; ++i) {
          if (i / n % 2) b.set(i, std::nan(""));
        }
        Runner r;
        const View va = row_view(r.argument(a), dtype, {1, 1, m, k});
        View vb = row_view(r.argument(b), dtype, {1, 1, k, n});
        vb.strides[2] = 2 * n;
        check_product(a, b, va, vb, text("nan ", k, " ", n, " ", dtype), &r);
      }
    }
  }
}

// A product and the group that runs on it, as one step or as two.
void test_then() {
  const int64_t sizes[][4] = {{1, 1000, 64, 64},  {1, 5000, 10, 300}, {1, 300, 300, 40},
                              {2, 300, 40, 40},   {1, 7, 5, 3},       {1, 4, 3, 0},
                              {1, 0, 4, 3},       {1, 3000, 1, 50},   {1, 1, 3000, 50},
                              {1, 64, 64, 20000}, {1, 4096, 33, 100}, {5000, 3, 3, 3},
                              {3000, 4, 1, 4},    {700, 9, 20, 6},    {2000, 1, 12, 5}};
  for (const auto& s : sizes) {
    for (DType dtype : {DType::Float32, DType::Float64, DType::Int64}) {
      if (is_float(dtype) && !blas()) continue;
      for (int form = 0; form < 4; ++form) {
        const int64_t batch = s[0], m = s[1], n = s[2], k = s[3], count = batch * m * n;
        const int64_t matrices = batch > 2 ? batch : 1;  // of b
        Array a = random_array(dtype, batch * m * k);
        Array b = random_array(dtype, matrices * k * n);
        Array bias = random_array(dtype, n);
        std::vector<Array> one;
        for (bool fused : {false, true}) {
          Runner r;
          const View va = row_view(r.argument(a), dtype, {batch, m, k});
          View vb = row_view(r.argument(b), dtype, {matrices, k, n});
          if (matrices == 1) vb = row_view(vb.slot, dtype, {k, n});
          const int32_t c = r.output(dtype, count);
          TileGroup g;
          g.count = count;
          g.length = form % 2 ? n : 1;
          View repeated{r.argument(bias), dtype, 0, {batch * m, n}, {}};
          repeated.strides = {0, 1};
          g.loads = {row_view(c, dtype, {count}), repeated};
          g.instructions = {{Op::add, dtype, dtype, {0, 1}}, {Op::relu, dtype, dtype, {2}}};
          int32_t last = 3;
          if (form % 2 && n > 1) {
            g.instructions.push_back({Op::max, dtype, dtype, {3}, true});
            g.instructions.push_back({Op::subtract, dtype, dtype, {3, 4}});
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
  if (pullback::blas()) {
    test_small();
    test_batches();
    test_nan();
  }
  return report();
}
