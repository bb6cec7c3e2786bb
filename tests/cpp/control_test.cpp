// Loops and branches as steps: plans by hand whose bodies are plans by hand, what verify refuses of
// them, and the states of a loop that is replayed in as little memory as one likes.
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "fake_device.h"
#include "plan/verify/verify.h"
#include "plans.h"

namespace pullback::test {
namespace {

constexpr DType F = DType::Float64;
constexpr int64_t kWidth = 3;

// The device of the bodies and of the steps around them.
const Backend* backend = &cpu_backend();
Status run(Runner* r) { return backend->device().is_host() ? r->run() : r->run_on(*backend); }

// A plan that computes one group of some arguments of `kWidth` elements.
std::shared_ptr<const CachedPlan> body_of(size_t arguments, std::vector<Instruction> instructions,
                                          DType result = F, int64_t width = kWidth,
                                          int32_t scalars = 0) {
  auto out = std::make_shared<CachedPlan>();
  Runner r;
  std::vector<Array> arrays;
  for (size_t k = 0; k < arguments; ++k) arrays.emplace_back(F, width);
  TileGroup g;
  g.count = width;
  for (Array& array : arrays) g.loads.push_back(row_view(r.argument(array), F, {width}));
  g.instructions = std::move(instructions);
  const auto last = static_cast<int32_t>(arguments + g.instructions.size()) - 1;
  g.stores = {{last, row_view(r.output(result, width), result, {width})}};
  r.add(g);
  r.plan.scalars = scalars;
  out->plan = std::move(r.plan);
  verify(out->plan);
  out->executable = backend->compile(out->plan);
  return out;
}

// s = s * x + k
BodyPlan multiply_and_add(std::vector<InputSource> arguments) {
  BodyPlan out;
  out.plan = body_of(3, {{Op::multiply, F, F, {0, 1}}, {Op::add, F, F, {3, 2}}});
  out.arguments = std::move(arguments);
  out.results = {0};
  return out;
}

struct Example {
  int64_t trips = 5;
  Array start = random_array(F, kWidth), xs, k = random_array(F, kWidth);
  Runner r;
  Loop loop;

  explicit Example(int64_t count, bool reversed = false) : trips(count) {
    xs = random_array(F, trips * kWidth);
    loop.body = multiply_and_add({{0}, {1}, {2}});
    loop.body.results = {0, 0};  // what it carries is stacked, too
    loop.in = {row_view(r.argument(start), F, {kWidth}),
               row_view(r.argument(xs), F, {trips, kWidth}), row_view(r.argument(k), F, {kWidth})};
    loop.carry_bytes = {kWidth * size_of(F)};
    loop.stacked_in = loop.stacked_out = 1;
    loop.trips = trips;
    loop.reversed = reversed;
    loop.out = {row_view(r.output(F, kWidth), F, {kWidth}),
                row_view(r.output(F, trips * kWidth), F, {trips, kWidth}),
                row_view(r.output(DType::Int64, 1), DType::Int64, {}),
                row_view(r.output(F, trips * kWidth), F, {trips, kWidth})};
  }

  bool accepted() {
    r.add(loop);
    try {
      verify(r.plan);
      return true;
    } catch (const Error&) {
      return false;
    }
  }
};

void test_loops() {
  for (const int64_t trips : {0, 1, 2, 7}) {
    for (const bool reversed : {false, true}) {
      Example e(trips, reversed);
      check(e.accepted(), "a loop that is as it should be");
      check(static_cast<bool>(run(&e.r)), "a loop runs");
      std::vector<double> s;
      for (int64_t i = 0; i < kWidth; ++i) s.push_back(e.start.get(i));
      bool same = e.r.outputs[2].get(0) == static_cast<double>(trips);
      for (int64_t t = 0; t < trips; ++t) {
        const int64_t p = reversed ? trips - 1 - t : t;
        for (int64_t i = 0; i < kWidth; ++i) {
          same &= e.r.outputs[3].get(p * kWidth + i) == s[i];
          s[i] = s[i] * e.xs.get(p * kWidth + i) + e.k.get(i);
          same &= e.r.outputs[1].get(p * kWidth + i) == s[i];
        }
      }
      for (int64_t i = 0; i < kWidth; ++i) same &= e.r.outputs[0].get(i) == s[i];
      check(same, text("a loop of ", trips));
    }
  }
}

void test_faults() {
  const std::pair<const char*, std::function<void(Example&)>> faults[] = {
      {"more iterations than there are entries", [](Example& e) { e.loop.trips = 6; }},
      {"a carry of another size", [](Example& e) { e.loop.carry_bytes[0] = 16; }},
      {"an input that is not there", [](Example& e) { e.loop.body.arguments[2] = {3}; }},
      {"a residual of a loop that is not replayed",
       [](Example& e) { e.loop.body.arguments[1] = {0, true}; }},
      {"a result that is not there", [](Example& e) { e.loop.body.results[1] = 1; }},
      {"fewer outputs", [](Example& e) { e.loop.out.pop_back(); }},
      {"a short residual", [](Example& e) { e.loop.out[3] = e.loop.out[0]; }},
      {"a stack of unknown length",
       [](Example& e) {
         e.loop.counted = true;
         e.loop.trips.reset();
       }},
      {"iterations that are known and counted", [](Example& e) { e.loop.counted = true; }},
      {"a seed that is no scalar of the run",
       [](Example& e) {
         e.loop.body.plan = body_of(3, {{Op::add, F, F, {0, 1}}}, F, kWidth, 1);
         e.loop.body.numbers = {BodyPlan::ScalarInput{0, true}};
       }},
      {"a scalar that the run has not", [](Example& e) { e.loop.in.push_back(RunScalar{0}); }},
      {"a write to what is read", [](Example& e) { e.loop.out[0] = std::get<View>(e.loop.in[0]); }},
      {"gaps", [](Example& e) { std::get<View>(e.loop.in[0]).strides[0] = 0; }},
      {"a result with gaps", [](Example& e) { e.loop.out[0]->strides[0] = 0; }},
  };
  for (const auto& [what, fault] : faults) {
    Example e(5);
    fault(e);
    check(!e.accepted(), what);
  }
}

// What came into the iterations of s = s * x + k, the last one first, summed up in an order that
// would tell: g = g * x + state.
void test_replays() {
  for (const int64_t trips : {0, 1, 2, 5, 30}) {
    std::vector<Array> results;
    for (const int64_t places : {1000, 0, 1, 2, 3, 7}) {
      Array start(F, kWidth), x(F, kWidth), k(F, kWidth), zero(F, kWidth), count(DType::Int64, 1);
      for (int64_t i = 0; i < kWidth; ++i) {
        start.set(i, 0.5 + 0.1 * static_cast<double>(i));
        x.set(i, 0.9);
        k.set(i, 0.25);
      }
      count.set(0, static_cast<double>(trips));
      Runner r;
      Loop loop;
      loop.in = {row_view(r.argument(zero), F, {kWidth}), row_view(r.argument(x), F, {kWidth}),
                 row_view(r.argument(start), F, {kWidth}), row_view(r.argument(k), F, {kWidth}),
                 row_view(r.argument(count), DType::Int64, {})};
      loop.body = multiply_and_add({{0}, {1}, {0, true}});
      loop.replayed = multiply_and_add({{2}, {1}, {3}});
      loop.replayed_from = {2};
      loop.replayed_bytes = loop.carry_bytes = {kWidth * size_of(F)};
      loop.residuals = {0};
      loop.stacked_in = 1;
      loop.counted = loop.reversed = true;
      loop.memory = (places + 2) * 64;
      loop.out = {row_view(r.output(F, kWidth), F, {kWidth}), std::nullopt};
      r.add(loop);
      verify(r.plan);
      check(static_cast<bool>(run(&r)), "a loop runs along another one");
      results.push_back(r.outputs[0]);
      check(same(results.back(), results.front()), text("states of ", trips, " in ", places));
    }
    double g = 0;
    for (int64_t t = trips; t-- > 0;) {
      double state = 0.5;
      for (int64_t i = 0; i < t; ++i) state = state * 0.9 + 0.25;
      g = g * 0.9 + state;
    }
    check(results[0].get(0) == g, text("states of ", trips));
  }
}

void test_branches() {
  for (const int64_t index : {-4, 0, 1, 2, 9}) {
    Array which(DType::Int64, 1), a = random_array(F, kWidth), b = random_array(F, kWidth);
    which.set(0, static_cast<double>(index));
    Runner r;
    Branch branch;
    branch.in = {row_view(r.argument(which), DType::Int64, {}),
                 row_view(r.argument(a), F, {kWidth}), row_view(r.argument(b), F, {kWidth})};
    for (const Op op : {Op::add, Op::multiply, Op::subtract}) {
      BodyPlan choice;
      choice.plan = body_of(2, {{op, F, F, {0, 1}}});
      choice.arguments = {{1}, {2}};
      choice.results = {0};
      branch.choices.push_back(std::move(choice));
    }
    branch.out = {row_view(r.output(F, kWidth), F, {kWidth})};
    r.add(branch);
    verify(r.plan);
    check(static_cast<bool>(run(&r)), "a branch runs");
    bool right = true;
    for (int64_t i = 0; i < kWidth; ++i) {
      const double x = a.get(i), y = b.get(i);
      right &= r.outputs[0].get(i) == (index <= 0 ? x + y : index == 1 ? x * y : x - y);
    }
    check(right, text("choice ", index));
  }
}

// s = s * x + k while s < limit.
void test_while() {
  for (const double limit : {0.0, 1.0, 40.0}) {
    Array s(F, 1), x(F, 1), k(F, 1), most(F, 1);
    s.set(0, 0.5);
    x.set(0, 1.5);
    k.set(0, 0.25);
    most.set(0, limit);
    Runner r;
    Loop loop;
    for (Array* one : {&s, &x, &k, &most}) {
      loop.in.emplace_back(row_view(r.argument(*one), F, {1}));
    }
    loop.body.plan = body_of(3, {{Op::multiply, F, F, {0, 1}}, {Op::add, F, F, {3, 2}}}, F, 1);
    loop.body.arguments = {{0}, {1}, {2}};
    loop.body.results = {0};
    loop.condition.emplace();
    loop.condition->plan = body_of(2, {{Op::less, F, DType::Bool, {0, 1}}}, DType::Bool, 1);
    loop.condition->arguments = {{0}, {3}};
    loop.condition->results = {0};
    loop.carry_bytes = {size_of(F)};
    loop.out = {row_view(r.output(F, 1), F, {1}),
                row_view(r.output(DType::Int64, 1), DType::Int64, {})};
    r.add(loop);
    verify(r.plan);
    check(static_cast<bool>(run(&r)), "a loop with a condition runs");
    double value = 0.5;
    int64_t count = 0;
    for (; value < limit; ++count) value = value * 1.5 + 0.25;
    check(r.outputs[0].get(0) == value && r.outputs[1].get(0) == static_cast<double>(count),
          text("while below ", static_cast<int64_t>(limit)));
  }
}

void test_interruption() {
  Example e(7);
  check(e.accepted(), "a loop");
  const Status status = e.r.run([] { return true; });
  check(status.problem == Problem::Interrupted, "a loop is interrupted");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_loops();
  test_faults();
  test_replays();
  test_branches();
  test_interruption();
  test_while();
  backend = &fake_device();
  test_loops();
  test_replays();
  test_branches();
  test_while();
  return report();
}
