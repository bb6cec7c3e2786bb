// Reductions of tile groups, and ArgReduce: every op and dtype over shapes [outer, reduced, inner]
// that take each path, empty, narrow, long and wide, with NaN and ties, against plain loops.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_reductions() {
  const int64_t shapes[][3] = {
      {1, 0, 1},     {3, 0, 2},    {0, 5, 2},      {1, 1, 1},       {1, 5, 1},      {1, 100, 1},
      {1, 2048, 1},  {1, 2049, 1}, {1, 70000, 1},  {1, 1000003, 1}, {7, 3, 1},      {30000, 3, 1},
      {2000, 33, 1}, {3, 5000, 1}, {70, 3000, 1},  {1, 5, 3},       {1, 100000, 3}, {2, 30011, 10},
      {1, 300, 300}, {4, 3, 5000}, {1, 2, 100000}, {1, 2000, 2049}, {5000, 3, 4},   {3, 700, 64},
      {1000, 2, 1},  {999, 4, 1},  {1001, 7, 1},   {998, 15, 1}};
  const Op ops[] = {Op::sum, Op::max, Op::min, Op::all, Op::any, Op::euclidean_norm};
  for (const auto& s : shapes) {
    for (int d = 0; d < kComputeDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      const int64_t n = s[0] * s[1] * s[2];
      Array a = random_array(dtype, n);
      for (Op op : ops) {
        if (s[1] == 0 && (op == Op::max || op == Op::min)) continue;
        if (n > 500000 && op != Op::sum && op != Op::max && op != Op::euclidean_norm) continue;
        if (op == Op::euclidean_norm && !is_float(dtype)) continue;
        const bool logic = op == Op::all || op == Op::any;
        const DType out = logic                               ? DType::Bool
                          : op == Op::sum && !is_float(dtype) ? traits(dtype).accumulator
                                                              : dtype;
        const bool nan = is_float(dtype) && n > 3 && op != Op::sum && pick(2);
        Array values = a;
        if (nan) values.set(n / 2, std::nan(""));
        if (op == Op::all) {
          for (int64_t i = 0; i < n; ++i) values.set(i, pick(1000) ? 1 : values.get(i));
        }
        Runner r;
        TileGroup group;
        group.count = n;
        group.loads = {row_view(r.argument(values), dtype, {n})};
        if (s[2] > 1 && pick(3) == 0) {  // a load that repeats itself
          for (int64_t i = s[2]; i < n; ++i) values.set(i, values.get(i % s[2]));
          group.loads[0].shape = {s[0] * s[1], s[2]};
          group.loads[0].strides = {0, 1};
        }
        int32_t value = 0;
        if (is_float(dtype) && pick(2)) {  // negated twice, and stored on the way
          group.instructions = {{Op::negative, dtype, dtype, {0}},
                                {Op::negative, dtype, dtype, {1}}};
          group.stores = {{1, row_view(r.output(dtype, n), dtype, {n})}};
          value = 2;
        }
        const int32_t slot = r.output(out, s[0] * s[2]);
        group.reductions = {
            {op, value, dtype, s[0], s[1], s[2], row_view(slot, out, {s[0], s[2]})}};
        r.add(group);
        const std::string what =
            text("op ", int64_t(op), " ", dtype, " [", s[0], ", ", s[1], ", ", s[2], "]");
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t o = 0; o < s[0]; ++o) {
          for (int64_t i = 0; i < s[2]; ++i) {
            long double sum = 0, size = 0, squares = 0;
            double best = op == Op::max ? -INFINITY : INFINITY;
            bool every = true, some = false, bad = false;
            for (int64_t j = 0; j < s[1]; ++j) {
              const double v = values.get((o * s[1] + j) * s[2] + i);
              sum += v;
              size += std::fabs(v);
              squares += static_cast<long double>(v) * v;
              bad |= std::isnan(v);
              best = op == Op::max ? std::max(best, v) : std::min(best, v);
              every &= v != 0;
              some |= v != 0;
            }
            const double got = r.outputs.back().get(o * s[2] + i);
            if (op == Op::sum) {
              const double eps = dtype == DType::Float32 ? 6e-8 : 1e-15;
              // Columns are added 128 rows at a time. Where these are all the same number, half of
              // the additions may round by as much the same way: 64 units of 2^-53.
              ok &= std::fabs(static_cast<double>(got - sum)) <=
                    (is_float(dtype) ? eps * std::fabs(static_cast<double>(sum)) +
                                           0x1p-47 * static_cast<double>(size)
                                     : 0);
            } else if (op == Op::euclidean_norm) {
              const double eps = dtype == DType::Float32 ? 6e-8 : s[2] > 1 ? 4e-15 : 1e-15;
              const auto norm = static_cast<double>(std::sqrt(squares));
              ok &= bad ? std::isnan(got) : std::fabs(got - norm) <= eps * norm;
            } else if (logic) {
              ok &= got == (op == Op::all ? every : some);
            } else {
              ok &= bad ? std::isnan(got) : got == best;
            }
          }
        }
        check(ok, what);
      }
    }
  }
}

// A row of every length, with what is special among floats; bits count, but for NaNs.
void test_rows() {
  const double special[] = {0.0, -0.0, INFINITY, -INFINITY, 1e-40, -1e-40};
  for (int d = 0; d < kComputeDTypes; ++d) {
    for (Op op : {Op::sum, Op::max, Op::min, Op::all, Op::any}) {
      const auto dtype = static_cast<DType>(d);
      const Fold& fold = kernels().folds.of[fold_index(op)][d];
      const auto merge = kernels().elementwise.of[int(fold.merge)][int(fold.accumulator)];
      const auto lift = kernels().casts.of[d][int(fold.accumulator)];
      for (int64_t length = 1; length <= 67; ++length) {
        const int64_t rows = 1 + pick(40);
        Array x = random_array(dtype, rows * length);
        for (int64_t i = 0; i < x.n; ++i) {
          x.set(i, std::round(x.get(i) * 64) / 64);  // sums are exact
          if (op == Op::all && pick(20)) x.set(i, 1);
          if (op == Op::sum || !is_float(dtype) || pick(3)) continue;
          x.set(i, pick(40) ? special[pick(6)] : pick(2) ? NAN : -NAN);
        }
        Array got(fold.accumulator, rows), want(fold.accumulator, rows), one(fold.accumulator, 1);
        const int64_t e = size_of(fold.accumulator);
        for (int64_t r = 0; r < rows; ++r) {
          store_scalar(fold.accumulator, fold.identity, got.bytes.data() + r * e);
          store_scalar(fold.accumulator, fold.identity, want.bytes.data() + r * e);
          char* sum = want.bytes.data() + r * e;
          for (int64_t i = 0; i < length; ++i) {
            lift(one.bytes.data(), x.bytes.data() + (r * length + i) * size_of(dtype), nullptr,
                 nullptr, 1);
            merge(sum, sum, one.bytes.data(), nullptr, 1);
          }
        }
        fold.rows(x.bytes.data(), rows, length, got.bytes.data());
        check(same(got, want), text("rows of ", length, ", op ", int64_t(op), " ", dtype));
      }
    }
  }
}

// Sums in any parts have the bits of the whole.
void test_parts() {
  for (const DType dtype : {DType::Float32, DType::Float64}) {
    const Fold& fold = kernels().folds.of[fold_index(Op::sum)][int(dtype)];
    const int64_t element = size_of(dtype);
    for (int64_t length : {1, 9, 16, 17, 100, 1999, 2047, 2048}) {
      const Array x = random_array(dtype, length);
      for (const Op op : {Op::sum, Op::euclidean_norm}) {
        const Fold& folds = kernels().folds.of[fold_index(op)][int(dtype)];
        double whole = 0, parts = 0, state[kLeaf];
        folds.rows(x.bytes.data(), 1, length, &whole);
        for (int64_t at = 0; at < length;) {
          const int64_t n = 1 + pick(std::min<int64_t>(length - at, 1 + pick(200)));
          folds.leaf(x.bytes.data() + at * element, n, at, length, state, &parts);
          at += n;
        }
        check(whole == parts, text("parts of a leaf of ", length, ", ", dtype, name_of(op)));
      }
    }
    for (int64_t width : {1, 2, 3, 7, 31, 32, 33, 100}) {
      const int64_t rows = 1 + pick(90);
      const int64_t lanes = column_lanes(width);
      const Array x = random_array(dtype, rows * width);
      std::vector<double> whole(width), parts(lanes * width);
      fold.columns(x.bytes.data(), rows, width, whole.data());
      for (int64_t at = 0; at < rows;) {
        const int64_t n = 1 + pick(rows - at);
        fold.lanes(x.bytes.data() + at * width * element, n, width, lanes, at, parts.data());
        at += n;
      }
      for (int64_t i = width; i < lanes * width; ++i) parts[i % width] += parts[i];
      parts.resize(width);
      check(whole == parts, text("parts of columns of ", width, ", ", dtype));
    }
  }
}

void test_arg_reduce() {
  const int64_t shapes[][3] = {{1, 1, 1}, {1, 5, 1},     {3, 67, 1},   {1, 300001, 1},
                               {2, 9, 5}, {3, 40, 1000}, {500, 10, 1}, {0, 4, 1}};
  for (const auto& s : shapes) {
    for (int d = 0; d < kComputeDTypes; ++d) {
      for (Op op : {Op::argmax, Op::argmin}) {
        for (bool nan : {false, true}) {
          const auto dtype = static_cast<DType>(d);
          if (nan && !is_float(dtype)) continue;
          const int64_t n = s[0] * s[1] * s[2];
          Array in = random_array(dtype, n);
          for (int64_t i = 0; i < n; ++i) in.set(i, std::round(8 * in.get(i)));  // ties
          if (nan && n) in.set(n / 2, std::nan(""));
          Runner r;
          const View from = row_view(r.argument(in), dtype, {s[0], s[1], s[2]});
          r.add(ArgReduce{op, from,
                          row_view(r.output(DType::Int64, s[0] * s[2]), DType::Int64, {s[0], s[2]}),
                          s[0], s[1], s[2]});
          const std::string what =
              text("op ", int64_t(op), " ", dtype, " [", s[0], ", ", s[1], ", ", s[2], "]");
          check(bool(r.run_threads(what)), what);
          bool ok = true;
          for (int64_t i = 0; i < s[0] * s[2]; ++i) {
            const auto at = [&](int64_t j) {
              return in.get((i / s[2] * s[1] + j) * s[2] + i % s[2]);
            };
            int64_t best = 0;
            for (int64_t j = 1; j < s[1]; ++j) {
              if (std::isnan(at(best))) break;
              if (std::isnan(at(j)) || (op == Op::argmax ? at(j) > at(best) : at(j) < at(best)))
                best = j;
            }
            ok &= r.outputs[0].as<int64_t>()[i] == best;
          }
          check(ok, what);
        }
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_reductions();
  test_rows();
  test_parts();
  test_arg_reduce();
  return report();
}
