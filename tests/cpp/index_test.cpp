// Gather and ScatterAdd: positive and negative indices, duplicates, empty ones, strided operands,
// every kind of update, and the report of an index out of range. ArgReduce: ties and NaN in rows
// and columns of every width. Keys of sorts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "backend/cpu/data/sort_keys.h"
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

// [outer, middle, inner] seen inside an array twice as large, its axes in any order.
View scattered(Array& storage, int32_t slot, const Shape& shape) {
  View view{slot, storage.dtype, 0, shape, no_strides(shape)};
  std::vector<int64_t> order = {0, 1, 2};
  std::shuffle(order.begin(), order.end(), generator);
  int64_t step = 1 + pick(2);
  for (int64_t d : order) {
    view.strides[d] = step;
    step *= shape[d];
  }
  return view;
}

double updated(Update update, double to, double from) {
  switch (update) {
    case Update::Set:
      return from;
    case Update::Add:
      return to + from;
    case Update::Multiply:
      return to * from;
    case Update::Min:
      return std::min(to, from);
    default:
      return std::max(to, from);
  }
}

// In index order, on what is there: small integers, so that every dtype is exact.
void test_updates() {
  const int64_t shapes[][4] = {{1, 9, 1, 30},      {3, 4, 2, 5},    {2, 30, 40, 100},
                               {1, 50, 300, 600},  {20, 6, 2, 500}, {1, 3000, 1, 200000},
                               {1, 3000, 5, 60000}};
  for (const auto& s : shapes) {
    const int64_t outer = s[0], axis = s[1], inner = s[2], n = s[3];
    for (DType dtype : {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
      for (Update update : {Update::Set, Update::Add, Update::Multiply, Update::Min, Update::Max}) {
        const std::string what =
            text("update ", static_cast<int>(update), " ", outer, " ", axis, " ", n, " ", dtype);
        Array base(dtype, outer * axis * inner), value(dtype, 2 * outer * n * inner),
            index(DType::Int64, n);
        for (int64_t i = 0; i < base.n; ++i) base.set(i, static_cast<double>(pick(2)));
        for (int64_t i = 0; i < value.n; ++i) {
          const bool sign = update == Update::Multiply || dtype == DType::Bool;
          value.set(i, static_cast<double>(pick(2)) * (sign ? 1 : 3) - (sign ? 0 : 1));
        }
        for (int64_t i = 0; i < n; ++i) index.set(i, static_cast<double>(pick(2 * axis) - axis));
        Runner r;
        const View from = row_view(r.argument(base), dtype, {outer, axis, inner});
        const View in = scattered(value, r.argument(value), {outer, n, inner});
        const View at = row_view(r.argument(index), DType::Int64, {n});
        const View out = row_view(r.output(dtype, base.n), dtype, {outer, axis, inner});
        r.add(Layout{from, out});
        r.add(ScatterAdd{in, at, out, outer, axis, inner, update, false});
        check(bool(r.run_threads(what)), what);
        Array expected = base;
        for (int64_t o = 0; o < outer; ++o) {
          for (int64_t i = 0; i < n; ++i) {
            const auto to = (static_cast<int64_t>(index.get(i)) + axis) % axis;
            for (int64_t j = 0; j < inner; ++j) {
              const int64_t k = (o * axis + to) * inner + j;
              const double x = value.get(o * in.strides[0] + i * in.strides[1] + j * in.strides[2]);
              expected.set(k, updated(update, expected.get(k), x));
            }
          }
        }
        check(same(r.outputs[0], expected), what);
      }
    }
  }
}

// Rows with the same index are summed, in order, where it comes last.
void test_sums_of_equal() {
  const int64_t shapes[][3] = {{1, 1, 1},    {0, 3, 1},      {7, 1, 3},         {300, 64, 40},
                               {2000, 5, 9}, {5000, 100, 4}, {70000, 2, 100000}};
  for (const auto& [n, inner, range] : shapes) {
    for (DType index_type : {DType::Int32, DType::Int64}) {
      for (DType dtype : {DType::Float32, DType::Float64}) {
        Array in = random_array(dtype, n * inner), index(index_type, n);
        for (int64_t i = 0; i < n; ++i) index.set(i, static_cast<double>(pick(2 * range) - range));
        Runner r;
        const View from = row_view(r.argument(in), dtype, {1, n, inner});
        const View at = row_view(r.argument(index), index_type, {n});
        const View out = row_view(r.output(dtype, n * inner), dtype, {1, n, inner});
        r.add(ScatterAdd{from, at, out, 1, n, inner, Update::Add, true, true});
        const std::string what = text("sums of equal ", n, " ", inner, " ", range, " ", dtype);
        check(bool(r.run_threads(what)), what);
        std::map<double, int64_t> last;
        for (int64_t i = 0; i < n; ++i) last[index.get(i)] = i;
        Array expected(dtype, n * inner);
        for (int64_t i = 0; i < n * inner; ++i) {
          const int64_t to = last[index.get(i / inner)] * inner + i % inner;
          if (dtype == DType::Float32) {
            expected.as<float>()[to] += in.as<float>()[i];
          } else {
            expected.as<double>()[to] += in.as<double>()[i];
          }
        }
        check(same(r.outputs[0], expected), what);
      }
    }
  }
}

void test_strided_gather() {
  for (int round = 0; round < 40; ++round) {
    const int64_t outer = 1 + pick(4), axis = 1 + pick(50), inner = 1 + pick(70), n = pick(300);
    const DType dtype = pick(2) ? DType::Float64 : pick(2) ? DType::Float32 : DType::Bool;
    Array x = random_array(dtype, 2 * outer * axis * inner), index(DType::Int32, n);
    for (int64_t i = 0; i < n; ++i) index.set(i, static_cast<double>(pick(2 * axis) - axis));
    Runner r;
    const View in = scattered(x, r.argument(x), {outer, axis, inner});
    const View at = row_view(r.argument(index), DType::Int32, {n});
    const View out = row_view(r.output(dtype, outer * n * inner), dtype, {outer, n, inner});
    r.add(Gather{in, at, out, outer, axis, inner});
    check(bool(r.run_threads("strided gather")), "strided gather");
    bool ok = true;
    for (int64_t i = 0; i < r.outputs[0].n; ++i) {
      const int64_t o = i / (n * inner), k = i / inner % n, j = i % inner;
      const auto to = (static_cast<int64_t>(index.get(k)) + axis) % axis;
      ok &= same_element(r.outputs[0], i, x,
                         o * in.strides[0] + to * in.strides[1] + j * in.strides[2]);
    }
    check(ok, text("strided gather ", outer, " ", axis, " ", inner, " ", n));
  }
}

void test_positions() {
  const int64_t lengths[] = {1, 2, 15, 31, 32, 63, 64, 65, 130, 1000, 300001};
  const int64_t inners[] = {1, 2, 7, 9, 15, 16, 17, 63, 64, 255, 257, 513};
  for (int64_t reduced : lengths) {
    for (int64_t inner : inners) {
      if (reduced * inner > 1'000'000) continue;
      for (DType dtype :
           {DType::Bool, DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
        const int64_t outer = 1 + pick(reduced * inner > 5000 ? 2 : 70);
        Array x(dtype, outer * reduced * inner);
        const bool nan = is_float(dtype) && pick(2);
        for (int64_t i = 0; i < x.n; ++i) {
          x.set(i, nan && pick(40) == 0 ? NAN : static_cast<double>(pick(9) - (pick(2) ? 4 : 0)));
        }
        for (Op op : {Op::argmax, Op::argmin}) {
          Runner r;
          const View in = row_view(r.argument(x), dtype, {outer, reduced, inner});
          const View out =
              row_view(r.output(DType::Int64, outer * inner), DType::Int64, {outer, inner});
          r.add(ArgReduce{op, in, out, outer, reduced, inner});
          const std::string what = text("position ", outer, " ", reduced, " ", inner, " ", dtype);
          check(bool(r.run_threads(what)), what);
          bool ok = true;
          for (int64_t i = 0; i < outer * inner; ++i) {
            const int64_t o = i / inner, j = i % inner;
            int64_t best = 0;
            const auto value = [&](int64_t k) { return x.get((o * reduced + k) * inner + j); };
            for (int64_t k = 1; k < reduced && !std::isnan(value(best)); ++k) {
              const bool better =
                  op == Op::argmax ? value(k) > value(best) : value(k) < value(best);
              if (better || std::isnan(value(k))) best = k;
            }
            ok &= r.outputs[0].as<int64_t>()[i] == best;
          }
          check(ok, what);
        }
      }
    }
  }
}

// Keys of sorted entries: in the same order, and the entries come back.
template <class T>
void test_keys(const std::vector<T>& sorted) {
  for (const bool descending : {false, true}) {
    for (size_t i = 0; i < sorted.size(); ++i) {
      const auto key = Keys<T>::of(sorted[i], descending);
      check(Keys<T>::back(key, descending) == sorted[i], "the entry of a key");
      if (i == 0) continue;
      const auto before = Keys<T>::of(sorted[i - 1], descending);
      check(descending ? key < before : before < key, "the order of keys");
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_indices();
  test_updates();
  test_sums_of_equal();
  test_strided_gather();
  test_positions();
  test_keys<bool>({false, true});
  test_keys<int32_t>({INT32_MIN, -1, 0, 1, INT32_MAX});
  test_keys<uint64_t>({0, 1, UINT64_MAX});
  test_keys<float>({-INFINITY, -1.5F, -0.5F, 0.0F, 1e-40F, 0.5F, 1.0F, INFINITY});
  test_keys<double>({-INFINITY, -1.0, 0.0, 0.5, 2.0, INFINITY});
  return report();
}
