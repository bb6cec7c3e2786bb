// Tile groups: random programs with strided loads against the same kernels on whole arrays, and the
// errors of integer arithmetic and of indices.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_random_programs() {
  const Shape shapes[] = {{0},       {1},         {},       {7},        {3, 5},     {513},
                          {2, 1025}, {5, 7, 90},  {70001},  {300, 301}, {40000, 2}, {2, 100003},
                          {4000, 3}, {700, 2, 3}, {90, 15}, {30, 40, 5}};
  for (int round = 0; round < 150; ++round) {
    const Shape shape = shapes[pick(std::size(shapes))];
    const int64_t count = shape.size();
    Runner r;
    TileGroup group;
    group.count = count;
    std::vector<Array> storage;
    storage.reserve(8);
    std::vector<Array> values;
    const int64_t loads = 1 + pick(4);
    for (int64_t i = 0; i < loads; ++i) {
      storage.push_back(
          random_array(static_cast<DType>(pick(kComputeDTypes)), std::max<int64_t>(count, 1)));
      const View view = random_load(storage.back(), r.argument(storage.back()), shape);
      group.loads.push_back(view);
      values.emplace_back(view.dtype, count);
      const auto offsets = offsets_of(view);
      for (int64_t j = 0; j < count; ++j) values.back().set(j, storage.back().get(offsets[j]));
    }
    for (int i = 0; i < 2; ++i) {
      const auto dtype = static_cast<DType>(pick(kComputeDTypes));
      Scalar s{};
      if (is_float(dtype)) {
        s.f = 0.75;
      } else {
        s.i = 1;
      }
      r.scalars.push_back(s);
      group.scalars.push_back({RunScalar{i}, dtype});
      values.emplace_back(dtype, count);
      for (int64_t j = 0; j < count; ++j) values.back().set(j, is_float(dtype) ? 0.75 : 1);
    }
    const int64_t instructions = 1 + pick(14);
    const auto find = [&](DType dtype) {
      for (int tries = 0; tries < 20; ++tries) {
        const auto v = static_cast<int32_t>(pick(static_cast<int64_t>(values.size())));
        if (values[v].dtype == dtype) return v;
      }
      return int32_t{-1};
    };
    for (int64_t i = 0; i < instructions; ++i) {
      const auto a = static_cast<int32_t>(pick(static_cast<int64_t>(values.size())));
      const DType dtype = values[a].dtype;
      Instruction ins{Op::cast, dtype, static_cast<DType>(pick(kComputeDTypes)), {a}};
      const int32_t b = find(dtype), condition = find(DType::Bool);
      if (pick(3) && b >= 0) {
        const Op numbers[] = {Op::add,      Op::multiply, Op::maximum,
                              Op::subtract, Op::less,     Op::equal};
        ins = {dtype == DType::Bool ? Op::logical_xor : numbers[pick(6)], dtype, dtype, {a, b}};
        if (ins.op == Op::less || ins.op == Op::equal) ins.result = DType::Bool;
        if (condition >= 0 && pick(3) == 0) ins = {Op::where, dtype, dtype, {condition, a, b}};
      } else if (is_float(dtype) && pick(2)) {
        const Op unary[] = {Op::tanh, Op::sigmoid, Op::negative, Op::square, Op::exp};
        ins = {unary[pick(5)], dtype, dtype, {a}};
      }
      group.instructions.push_back(ins);
      Array out(ins.result, count);
      const void* p[3] = {};
      for (int k = 0; k < 3; ++k) p[k] = ins.in[k] >= 0 ? values[ins.in[k]].bytes.data() : nullptr;
      const auto& t = kernels().elementwise;
      (ins.op == Op::cast
           ? kernels().casts.of[int(dtype)][int(ins.result)]
           : t.of[int(ins.op)][int(dtype)])(out.bytes.data(), p[0], p[1], p[2], count);
      values.push_back(out);
    }
    std::vector<int32_t> stored;
    for (int64_t i = 0; i < 1 + pick(4); ++i) {
      const auto value =
          static_cast<int32_t>(static_cast<int64_t>(values.size()) - 1 -
                               pick(std::min<int64_t>(6, static_cast<int64_t>(values.size()))));
      stored.push_back(value);
      const DType dtype = values[value].dtype;
      group.stores.push_back({value, row_view(r.output(dtype, count), dtype, {count})});
    }
    r.add(group);
    const std::string what = text("program ", int64_t{round}, " ", shape);
    check(bool(r.run_threads(what)), what + ": status");
    for (size_t i = 0; i < stored.size(); ++i) {
      check(same(r.outputs[i], values[stored[i]]), text(what, ": store ", int64_t(i)));
    }
  }
}

void test_integer_problems() {
  for (int64_t n : {1, 5000, 300000}) {
    for (Op op : {Op::floor_divide, Op::remainder, Op::pow}) {
      Array a = random_array(DType::Int32, n), b(DType::Int32, n);
      for (int64_t i = 0; i < n; ++i) b.set(i, 3);
      b.set(n - 1, op == Op::pow ? -1 : 0);
      Runner r;
      TileGroup group;
      group.count = n;
      group.loads = {row_view(r.argument(a), DType::Int32, {n}),
                     row_view(r.argument(b), DType::Int32, {n})};
      group.instructions = {{op, DType::Int32, DType::Int32, {0, 1}}};
      group.stores = {{2, row_view(r.output(DType::Int32, n), DType::Int32, {n})}};
      r.add(Iota{row_view(r.output(DType::Int64, 3), DType::Int64, {3})});
      r.add(group);
      const Status status = r.run_threads("integer problem");
      check(status.problem == (op == Op::pow ? Problem::NegativePower : Problem::ZeroDivision) &&
                status.step == 1,
            "integer problem is reported with its step");
    }
  }
}

void test_positions_out_of_range() {
  for (int64_t n : {1, 5000, 300000}) {
    for (int64_t bad : {int64_t{7}, int64_t{-8}, INT64_MAX, INT64_MIN}) {
      Array a(DType::Int64, n);
      for (int64_t i = 0; i < n; ++i) a.set(i, static_cast<double>(i % 14 - 7));
      a.as<int64_t>()[n - 1] = bad;
      Runner r;
      TileGroup group;
      group.count = n;
      group.loads = {row_view(r.argument(a), DType::Int64, {n})};
      group.scalars = {{std::nullopt, DType::Int64, {.i = 7}}};
      group.instructions = {{Op::wrap_index, DType::Int64, DType::Int64, {0, 1}}};
      group.stores = {{2, row_view(r.output(DType::Int64, n), DType::Int64, {n})}};
      r.add(group);
      const Status status = r.run_threads("positions");
      check(status.problem == Problem::IndexOutOfRange && status.detail == bad && status.bound == 7,
            text("position ", bad, " of ", n));
    }
  }
}

// Equal numbers share memory, but not those of another dtype or sign.
void test_equal_numbers() {
  for (int64_t n : {3, 5000}) {
    Array x(DType::Float32, n);
    for (int64_t i = 0; i < n; ++i) x.set(i, static_cast<double>(i % 5 + 1));
    Runner r;
    TileGroup group;
    group.count = n;
    group.loads = {row_view(r.argument(x), DType::Float32, {n})};
    for (double number : {2.0, 0.0, -0.0, 2.0}) {
      group.scalars.push_back({std::nullopt, DType::Float32, {.f = number}});
    }
    group.scalars.push_back({std::nullopt, DType::Float64, {.f = 2.0}});
    group.instructions = {{Op::multiply, DType::Float32, DType::Float32, {0, 1}},  // v6
                          {Op::multiply, DType::Float32, DType::Float32, {0, 2}},  // v7
                          {Op::multiply, DType::Float32, DType::Float32, {0, 3}},  // v8
                          {Op::add, DType::Float32, DType::Float32, {6, 4}},       // v9
                          {Op::cast, DType::Float32, DType::Float64, {0}},         // v10
                          {Op::add, DType::Float64, DType::Float64, {10, 5}}};     // v11
    for (int32_t value : {7, 8, 9}) {
      group.stores.push_back({value, row_view(r.output(DType::Float32, n), DType::Float32, {n})});
    }
    group.stores.push_back({11, row_view(r.output(DType::Float64, n), DType::Float64, {n})});
    r.add(group);
    check(bool(r.run_threads("equal numbers")), "equal numbers: status");
    bool ok = true;
    for (int64_t i = 0; i < n; ++i) {
      ok &= r.outputs[0].get(i) == 0 && !std::signbit(r.outputs[0].get(i));
      ok &= r.outputs[1].get(i) == 0 && std::signbit(r.outputs[1].get(i));
      ok &= r.outputs[2].get(i) == 2 * x.get(i) + 2 && r.outputs[3].get(i) == x.get(i) + 2;
    }
    check(ok, "equal numbers");
  }
}

// More values alive at once than the stack has room for.
void test_many_instructions() {
  for (int64_t n : {1, 16, 3000}) {
    Array x = random_array(DType::Float32, n);
    Runner r;
    TileGroup g;
    g.count = n;
    g.loads = {row_view(r.argument(x), DType::Float32, {n})};
    constexpr int32_t kMany = 2000;
    for (int32_t i = 0; i < kMany; ++i) {
      g.instructions.push_back(
          {i % 2 ? Op::square : Op::negative, DType::Float32, DType::Float32, {i / 2}});
    }
    int32_t sum = 1;
    for (int32_t i = 2; i <= kMany; ++i) {
      g.instructions.push_back({Op::maximum, DType::Float32, DType::Float32, {sum, i}});
      sum = kMany + i - 1;
    }
    g.stores = {{sum, row_view(r.output(DType::Float32, n), DType::Float32, {n})}};
    r.add(g);
    check(bool(r.run_threads("many instructions")), "many instructions");
    bool equal = true;
    for (int64_t j = 0; j < n; ++j) {
      std::vector<float> values{x.as<float>()[j]};
      for (int32_t i = 0; i < kMany; ++i) {
        const float from = values[i / 2];
        values.push_back(i % 2 ? from * from : -from);
      }
      equal &= *std::max_element(values.begin() + 1, values.end()) == r.outputs[0].as<float>()[j];
    }
    check(equal, "many instructions: values");
  }
}

void test_bad_index() {
  for (int64_t rows : {1, 40, 5000}) {
    for (int64_t bad : {-1, 10}) {
      for (bool picks : {true, false}) {
        Array x = random_array(DType::Float32, rows * 10), index(DType::Int64, rows);
        for (int64_t i = 0; i < rows; ++i) index.set(i, pick(10));
        index.set(rows / 2, bad);
        Runner r;
        TileGroup g;
        g.count = rows * 10;
        g.length = 10;
        g.loads = {row_view(r.argument(x), DType::Float32, {rows, 10}),
                   row_view(r.argument(index), DType::Int64, {rows})};
        g.instructions = {{Op::sum, DType::Float32, DType::Float32, {0}, true}};
        if (picks) {
          g.instructions.push_back({Op::pick, DType::Float32, DType::Float32, {0, 1}, true});
        } else {
          g.instructions.push_back({Op::place, DType::Float32, DType::Float32, {2, 1}, false});
        }
        const int64_t n = picks ? rows : rows * 10;
        g.stores = {{3, row_view(r.output(DType::Float32, n), DType::Float32, {n})}};
        r.add(g);
        const Status status = r.run_threads("bad index");
        check(status.problem == Problem::IndexOutOfRange && status.detail == bad &&
                  status.bound == 10,
              "an index out of range is reported with its bound");
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_random_programs();
  test_integer_problems();
  test_bad_index();
  test_positions_out_of_range();
  test_equal_numbers();
  test_many_instructions();
  return report();
}
