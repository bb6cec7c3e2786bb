// What verify refuses of groups: a plan that it accepts, and each of its rules broken once.
#include "plan/verify/verify.h"

#include <functional>
#include <string>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

constexpr DType F = DType::Float32;
constexpr int64_t kRows = 6, kLength = 4, kCount = kRows * kLength;

struct Example {
  Array x{F, kCount}, rows{F, kRows}, index{DType::Int64, kRows};
  Runner r;
  TileGroup g;

  // v0 elements, v1 rows, v2 indices, v3 a scalar
  Example() {
    g.count = kCount;
    g.length = kLength;
    g.loads = {row_view(r.output(F, kCount), F, {kRows, kLength}),
               row_view(r.argument(rows), F, {kRows}),
               row_view(r.argument(index), DType::Int64, {kRows})};
    g.scalars = {{std::nullopt, F, {}}};
    g.instructions = {
        {Op::max, F, F, {0}, true},      // v4
        {Op::add, F, F, {4, 3}, true},   // v5
        {Op::pick, F, F, {0, 2}, true},  // v6
        {Op::subtract, F, F, {0, 5}},    // v7
        {Op::place, F, F, {6, 2}},       // v8
        {Op::multiply, F, F, {7, 8}},    // v9
    };
    g.stores = {{9, row_view(0, F, {kCount})}, {5, row_view(r.output(F, kRows), F, {kRows})}};
    g.reductions = {
        {Op::sum, 9, F, 1, kCount, 1, row_view(r.output(F, 1), F, {1})},
        {Op::sum, 5, F, 1, kRows, 1, row_view(r.output(F, 1), F, {1})},
        {Op::sum, 9, F, 1, kRows, kLength, row_view(r.output(F, kLength), F, {kLength})}};
  }

  bool accepted() {
    r.add(Layout{row_view(r.argument(x), F, {kCount}), row_view(0, F, {kCount})});
    r.add(g);
    try {
      verify(r.plan);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

void test_groups() {
  check(Example().accepted(), "a group that is as it should be");
  const std::pair<const char*, std::function<void(Example&)>> faults[] = {
      {"a part of a row", [](Example& e) { e.g.length = 5; }},
      {"rows that are too long", [](Example& e) { e.g.length = 2 * kCount; }},
      {"a load of another count", [](Example& e) { e.g.loads[1].shape = {kRows - 1}; }},
      {"a later value", [](Example& e) { e.g.instructions[1].in[0] = 6; }},
      {"no value", [](Example& e) { e.g.instructions[1].in[0] = -1; }},
      {"rows that read elements", [](Example& e) { e.g.instructions[1].in[0] = 0; }},
      {"a fold over elements", [](Example& e) { e.g.instructions[0].row = false; }},
      {"a place over rows", [](Example& e) { e.g.instructions[4].row = true; }},
      {"a place of elements", [](Example& e) { e.g.instructions[4].in[0] = 7; }},
      {"an operation that is none", [](Example& e) { e.g.instructions[1].op = Op::matmul; }},
      {"a store of another level", [](Example& e) { e.g.stores[1].value = 7; }},
      {"a store with an offset", [](Example& e) { e.g.stores[1].view.offset = 1; }},
      {"a store of all entries to one", [](Example& e) { e.g.stores[1].view.strides = {0}; }},
      {"two stores to a place", [](Example& e) { e.g.stores.push_back(e.g.stores[1]); }},
      {"a reduction of another count", [](Example& e) { e.g.reductions[0].reduced = 5; }},
      {"a reduction of its own form",
       [](Example& e) { e.g.reductions[0] = {Op::sum, 9, F, 2, 3, 4, e.g.reductions[2].out}; }},
      {"in place, and read later",
       [](Example& e) {
         e.g.stores[0].value = 7;
         e.g.instructions[5].in[1] = 0;
       }},
      {"in place, and reduced", [](Example& e) { e.g.reductions[0].value = 0; }},
      {"in place of another view", [](Example& e) { e.g.loads[0].strides = {1, kRows}; }},
  };
  for (const auto& [what, fault] : faults) {
    Example e;
    fault(e);
    check(!e.accepted(), what);
  }
}

void test_products() {
  for (int fault = 0; fault < 4; ++fault) {
    Array a(F, 6), b(F, 8);
    Runner r;
    const int32_t sa = r.argument(a), sb = r.argument(b), sc = r.output(F, 12);
    TileGroup g;
    g.count = fault == 1 ? 6 : 12;
    g.loads = {row_view(fault == 2 ? sa : sc, F, {g.count})};
    if (fault == 3) g.loads[0] = {sc, F, 0, {4, 3}, {1, 4}};
    g.instructions = {{Op::negative, F, F, {0}}};
    g.stores = {{1, row_view(r.output(F, g.count), F, {g.count})}};
    if (fault == 2) g.count = 12, g.loads[0].shape = {12}, g.loads[0].strides = {0};
    r.add(Gemm{row_view(sa, F, {3, 2}), row_view(sb, F, {2, 4}), row_view(sc, F, {3, 4}), g});
    bool accepted = true;
    try {
      verify(r.plan);
    } catch (const Error&) {
      accepted = false;
    }
    check(accepted == (fault == 0), text("a product's group, ", int64_t{fault}));
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_groups();
  test_products();
  return report();
}
