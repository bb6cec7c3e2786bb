// What verify refuses of memory and sizes: a plan that it accepts, and one fault planted in it
// after the other, each refused with its reason.
#include <functional>
#include <limits>
#include <string>
#include <tuple>

#include "base/error.h"
#include "check.h"
#include "plan/verify/verify.h"
#include "plans.h"

namespace pullback::test {
namespace {

constexpr DType F = DType::Float32;
constexpr int64_t kCount = 16;
constexpr int64_t kBytes = kCount * 4;
constexpr int64_t kHuge = std::numeric_limits<int64_t>::max();

View flat(int32_t slot) { return row_view(slot, F, {kCount}); }

// to = a + b, element by element
TileGroup sum(int32_t a, int32_t b, int32_t to) {
  TileGroup group;
  group.count = kCount;
  group.loads = {flat(a), flat(b)};
  group.instructions = {{Op::add, F, F, {0, 1}}};
  group.stores = {{2, flat(to)}};
  return group;
}

struct Example {
  Array x{F, kCount}, w{F, kCount}, index{DType::Int64, 4};
  Runner r;
  int32_t sx = r.argument(x), sw = r.argument(w), si = r.argument(index);
  int32_t taken = r.output(F, 4), result = r.output(F, kCount), updated = r.output(F, kCount);
  int32_t a = r.temporary(F, kCount, 0), b = r.temporary(F, kCount, kBytes);
  int32_t c = r.temporary(F, kCount, 0);  // where a was

  Example() {
    r.add(Gather{row_view(sx, F, {1, kCount, 1}), row_view(si, DType::Int64, {4}),
                 row_view(taken, F, {4}), 1, kCount, 1});
    r.add(sum(sx, sw, a));
    r.add(sum(a, sx, b));
    r.add(sum(a, b, result));
    r.add(sum(b, sx, c));
    r.add(sum(c, sw, updated));  // 5: in the memory of w
    r.plan.donated_arguments = {std::nullopt, std::nullopt, 1};
    r.plan.point_of_no_return = 5;
  }
  Slot& slot(int32_t s) { return r.plan.slots[s]; }
  template <class W>
  W& step(size_t i) {
    return std::get<W>(r.plan.steps[i].work);
  }
  TileGroup& group(size_t i) { return step<TileGroup>(i); }

  // What verify says; empty: nothing.
  std::string refusal() const {
    try {
      verify(r.plan);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
};

struct Fault {
  const char* what;
  const char* reason;
  std::function<void(Example&)> plant;
};

void check_faults(std::initializer_list<Fault> faults) {
  for (const Fault& fault : faults) {
    Example e;
    fault.plant(e);
    const std::string refusal = e.refusal();
    check(refusal.find(fault.reason) != std::string::npos,
          std::string(fault.what) + ": expected \"" + fault.reason + "\", got \"" + refusal + "\"");
  }
}

void test_places() {
  const char* overlap = "two live temporaries at one place";
  check_faults({
      {"at the place of a living one", overlap, [](Example& e) { e.slot(e.b).index = 0; }},
      {"over the end of a living one", overlap,
       [](Example& e) {
         e.slot(e.b).index = kBytes - 4;
         e.slot(e.c).index = 2 * kBytes;  // apart from both
         e.r.plan.arena_bytes = 3 * kBytes;
       }},
      {"over the begin of a living one", overlap,
       [](Example& e) {
         e.slot(e.a).index = 4;
         e.slot(e.b).index = 0;
       }},
      {"a life that became longer", overlap,
       [](Example& e) { e.r.add(Layout{flat(e.a), flat(e.result)}); }},
      {"past the end of the arena", "outside the arena",
       [](Example& e) { e.r.plan.arena_bytes -= 1; }},
      {"before the arena", "outside the arena", [](Example& e) { e.slot(e.a).index = -64; }},
      {"between two elements", "not aligned",
       [](Example& e) {
         e.slot(e.b).index += 1;
         e.r.plan.arena_bytes += 1;
       }},
      {"nobody writes it", "a read before any write",
       [](Example& e) { e.group(1).stores.clear(); }},
  });
}

void test_donors() {
  const char* read = "a donated argument that is still read";
  const char* twice = "an argument that donates twice, or leaves the plan";
  check_faults({
      {"read by a later step", read,
       [](Example& e) { e.r.add(Layout{flat(e.sw), flat(e.result)}); }},
      {"written by an earlier step", read,
       [](Example& e) { e.group(2).stores.push_back({2, flat(e.updated)}); }},
      {"read in another order", "read otherwise",
       [](Example& e) { e.group(5).loads[1] = {e.sw, F, kCount - 1, {kCount}, {-1}}; }},
      {"read after its store's value", "still read",
       [](Example& e) {
         e.group(5).instructions.push_back({Op::multiply, F, F, {2, 1}});
         e.group(5).stores.push_back({3, flat(e.result)});
       }},
      {"read and written by a copy", "memory that the step reads",
       [](Example& e) {
         const View reversed{e.sw, F, kCount - 1, {kCount}, {-1}};
         e.r.plan.steps[5].work = Layout{reversed, flat(e.updated)};
       }},
      {"added to itself", "memory that the step reads",
       [](Example& e) {
         e.r.plan.steps[5].work = Layout{flat(e.sw), flat(e.updated), false, true};
       }},
      {"a failure of the step that writes second", "can fail when there is no return",
       [](Example& e) {
         const int32_t values = e.r.argument(e.w);
         const View v = row_view(values, F, {1, 4, 1});
         const View at = row_view(e.si, DType::Int64, {4});
         const View out = row_view(e.updated, F, {1, kCount, 1});
         std::vector<Step>& steps = e.r.plan.steps;
         steps.erase(steps.begin());  // which looks at the positions
         e.r.plan.outputs.erase(e.r.plan.outputs.begin());
         steps[4].work = Layout{flat(e.sw), flat(e.updated)};
         steps.push_back({ScatterAdd{v, at, out, 1, kCount, 1, Update::Add, false}, Op::at_index});
         check(e.refusal().empty(), "a step that looks before it writes: " + e.refusal());
         steps.push_back(steps.back());
       }},
      {"positions that an earlier step is only said to have checked", "no step has checked",
       [](Example& e) { e.step<Gather>(0).checked = true; }},
      {"positions in memory that was written to since", "no step has checked",
       [](Example& e) {
         const int32_t other = e.r.argument(e.index);
         const int32_t moved = e.r.output(DType::Int64, 4);
         const View to = row_view(moved, DType::Int64, {4});
         const View from = row_view(other, DType::Int64, {4});
         e.r.plan.donated_arguments.emplace_back();
         Step again = e.r.plan.steps[0];
         std::get<Gather>(again.work).indices = to;
         std::vector<Step>& steps = e.r.plan.steps;
         steps.insert(steps.begin(), {{Layout{from, to}, Op::identity}, again, again});
         std::get<Gather>(steps[2].work).checked = true;  // rightly
         e.r.plan.point_of_no_return += 3;
         check(e.refusal().empty(), "positions that were checked: " + e.refusal());
         steps.insert(steps.begin() + 2, {Layout{from, to}, Op::identity});
         e.r.plan.point_of_no_return += 1;
       }},
      {"for two outputs", twice,
       [](Example& e) { e.r.plan.donated_arguments = {std::nullopt, 1, 1}; }},
      {"an output too", twice, [](Example& e) { e.r.plan.outputs.push_back(e.sw); }},
      {"of another size", "a donated argument of another size",
       [](Example& e) { e.r.plan.donated_arguments[0] = 0; }},
      {"that is none", twice, [](Example& e) { e.r.plan.donated_arguments[2] = 7; }},
      {"replaced by another output", "a donated argument to an output that does not replace it",
       [](Example& e) {
         e.r.plan.replaced = {{1, 2}};  // w by the third output, `updated`
         check(e.refusal().empty(), "a donated argument that is replaced: " + e.refusal());
         e.r.plan.replaced = {{1, 1}};
       }},
      {"not replaced", "a donated argument to an output that does not replace it",
       [](Example& e) { e.r.plan.replaced = {{0, 1}}; }},
      {"no argument", "a replacement of nothing", [](Example& e) { e.r.plan.replaced = {{3, 2}}; }},
      {"replaced by no output", "a replacement of nothing, or by nothing",
       [](Example& e) { e.r.plan.replaced = {{1, 3}}; }},
      {"a failure afterwards", "can fail when there is no return",
       [](Example& e) { e.r.plan.steps.push_back(e.r.plan.steps[0]); }},
      {"a point too late", "before there is no return",
       [](Example& e) { e.r.plan.point_of_no_return = 6; }},
  });
}

void test_slots() {
  check_faults({
      {"an argument elsewhere", "an argument in another place",
       [](Example& e) { e.slot(e.sx).index = 1; }},
      {"two outputs at one position", "two outputs in a place",
       [](Example& e) { e.slot(e.updated).index = 1; }},
      {"an output of another size", "an output of another size",
       [](Example& e) { e.r.plan.output_bytes[1] -= 4; }},
      {"a temporary that leaves", "an output in no memory of its own",
       [](Example& e) { e.r.plan.outputs.push_back(e.a); }},
      {"an output that no step writes", "an output that no step writes",
       [](Example& e) { e.r.output(F, kCount), e.r.plan.donated_arguments.emplace_back(); }},
      {"a scalar too many", "a scalar that the run has not",
       [](Example& e) { e.group(1).scalars = {{RunScalar{0}, F, {}}}; }},
  });
}

void test_sizes() {
  const char* wraps = "a size that 64 bits cannot count";
  check_faults({
      {"a view of too many elements", wraps,
       [](Example& e) {
         e.group(1).loads[0] = {e.sx, F, 0, {int64_t{1} << 32, int64_t{1} << 32}, {0, 0}};
       }},
      {"2⁶⁴ + kCount bytes", wraps,
       [](Example& e) { e.group(1).loads[0].offset = int64_t{1} << 62; }},
      {"a reach that wraps into the slot", wraps,
       [](Example& e) { e.group(1).loads[0] = {e.sx, F, 0, {5, 4}, {int64_t{1} << 62, 1}}; }},
      {"an end that wraps", wraps,
       [](Example& e) { e.group(1).loads[0] = {e.sx, F, kHuge, {2, 8}, {1, 1}}; }},
      {"an arena that wraps", wraps, [](Example& e) { e.slot(e.b).index = kHuge - 3; }},
      {"a gather that wraps", wraps,
       [](Example& e) {
         Gather& gather = e.step<Gather>(0);
         gather.inner = gather.outer = int64_t{1} << 31;
         gather.in = {e.sx, F, 0, {gather.outer, 1, gather.inner}, {0, 0, 0}};
         gather.axis = 1;
       }},
      {"a reduction that wraps", wraps,
       [](Example& e) {
         const int64_t n = int64_t{1} << 32;
         e.group(3).reductions = {{Op::sum, 2, F, n, n, kCount, flat(e.result)}};
       }},
      {"a copy to another shape", "a copy to another shape",
       [](Example& e) { e.r.plan.steps[5].work = Layout{row_view(e.c, F, {4}), flat(e.updated)}; }},
      {"a gather of another count", "a gather of another count",
       [](Example& e) { e.step<Gather>(0).out.shape = {3}; }},
      {"a gather from other axes", "an operand of another shape",
       [](Example& e) { e.step<Gather>(0).axis = kCount + 1; }},
  });
}

void test_products() {
  for (int fault = 0; fault < 4; ++fault) {
    Array a(F, 6), b(F, 8);
    Runner r;
    const View va = row_view(r.argument(a), F, {3, 2});
    View vb = row_view(r.argument(b), F, {2, 4});
    View vc = row_view(r.output(F, 12), F, {3, 4});
    if (fault == 1) vb = row_view(vb.slot, F, {1, 4});
    if (fault == 2) vc = row_view(vc.slot, F, {4, 3});
    if (fault == 3) vb = row_view(vc.slot, F, {2, 4});
    r.add(Layout{row_view(va.slot, F, {6}), row_view(vc.slot, F, {6})});
    r.add(Gemm{va, vb, vc, std::nullopt});
    bool accepted = true;
    try {
      verify(r.plan);
    } catch (const Error&) {
      accepted = false;
    }
    check(accepted == (fault == 0), "a product, " + std::to_string(fault));
  }
}

// An output whose first two columns a group writes, as parts are, and whose third a copy does; a
// group reads it.
struct Parts {
  static constexpr int64_t kRows = 5;
  Array x{F, kRows};
  Runner r;
  int32_t in = r.argument(x), out = r.output(F, 3 * kRows), sum_out = r.output(F, 1);

  View column(int64_t k) const { return {out, F, k, {kRows, 1}, {3, 1}}; }
  Parts() {
    TileGroup group;
    group.count = kRows;
    group.loads = {row_view(in, F, {kRows})};
    group.instructions = {{Op::negative, F, F, {0}}};
    group.stores = {{1, column(0)}, {1, column(1)}};
    r.add(group);
    r.add(Layout{row_view(in, F, {kRows, 1}), column(2)});
    TileGroup sum;
    sum.count = 3 * kRows;
    sum.loads = {row_view(out, F, {3 * kRows})};
    sum.reductions = {{Op::sum, 0, F, 1, 3 * kRows, 1, row_view(sum_out, F, {1})}};
    r.add(sum);
  }
  TileGroup& group() { return std::get<TileGroup>(r.plan.steps[0].work); }
  Layout& copy() { return std::get<Layout>(r.plan.steps[1].work); }
  void forget_the_sum() {
    r.plan.steps.pop_back();
    r.plan.outputs.pop_back();
  }
};

void test_parts() {
  const char* read = "a read of memory that is not all written";
  const char* leaves = "an output that is not all written";
  const std::tuple<const char*, const char*, std::function<void(Parts&)>> faults[] = {
      {"all parts", "", [](Parts&) {}},
      {"backwards", "",
       [](Parts& p) { p.copy().out = {p.out, F, 14, {Parts::kRows, 1}, {-3, 1}}; }},
      {"a part that is missing", read, [](Parts& p) { p.group().stores.pop_back(); }},
      {"a part twice", read, [](Parts& p) { p.copy().out = p.column(1); }},
      {"a part that is too short", read,
       [](Parts& p) { p.copy().in.shape[0] = p.copy().out.shape[0] = 4; }},
      {"parts that overlap", read,
       [](Parts& p) { p.copy().out = {p.out, F, 10, {Parts::kRows, 1}, {1, 1}}; }},
      {"a part after its reader", read,
       [](Parts& p) { std::swap(p.r.plan.steps[1], p.r.plan.steps[2]); }},
      {"an addition to nothing", read, [](Parts& p) { p.copy().add = true; }},
      {"an addition to zeros", "",
       [](Parts& p) {
         p.copy().add = true;
         const Layout zeros{row_view(p.in, F, {Parts::kRows, 1}), p.column(0), true};
         p.r.plan.steps.insert(p.r.plan.steps.begin(), {zeros, Op::identity});
       }},
      {"a part that is missing, and nobody reads", leaves,
       [](Parts& p) {
         p.forget_the_sum();
         p.group().stores.pop_back();
       }},
  };
  for (const auto& [what, reason, plant] : faults) {
    Parts p;
    plant(p);
    std::string refusal;
    try {
      verify(p.r.plan);
    } catch (const Error& error) {
      refusal = error.what();
    }
    const bool right = *reason ? refusal.find(reason) != std::string::npos : refusal.empty();
    check(right, text(what, ": expected \"", reason, "\", got \"", refusal, "\""));
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  check(Example().refusal().empty(), "a plan that is as it should be: " + Example().refusal());
  test_places();
  test_donors();
  test_slots();
  test_sizes();
  test_products();
  test_parts();
  return report();
}
