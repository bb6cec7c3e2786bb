// A run of a plan: outputs of their own, or in the memory of an argument that nobody needs any more
// (Plan::donated_arguments); a failure leaves every value as it was.
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "ops/ops.h"
#include "plans.h"
#include "runtime/memory.h"

namespace pullback::test {
namespace {

constexpr int64_t kCount = 5000;

// out = x + 1 in place of x if that is allowed, after two steps that may fail: picked = x[index].
std::unique_ptr<CachedPlan> add_one() {
  auto out = std::make_unique<CachedPlan>();
  Plan& plan = out->plan;
  const int64_t bytes = kCount * 4;
  plan.slots = {{SlotKind::Argument, DType::Float32, bytes, 0},
                {SlotKind::Argument, DType::Int64, 8, 1},
                {SlotKind::Output, DType::Float32, 4, 0},
                {SlotKind::Output, DType::Float32, bytes, 1}};
  const Shape all{kCount};
  plan.steps.push_back(
      {Gather{row_view(0, DType::Float32, {1, kCount, 1}), row_view(1, DType::Int64, {1}),
              row_view(2, DType::Float32, {1}), 1, kCount, 1},
       Op::take});
  plan.steps.push_back(plan.steps.front());
  TileGroup group;
  group.count = kCount;
  group.loads = {row_view(0, DType::Float32, all)};
  group.scalars = {{RunScalar{0}, DType::Float32}};
  group.instructions = {{Op::add, DType::Float32, DType::Float32, {0, 1}}};
  group.stores = {{2, row_view(3, DType::Float32, all)}};
  plan.steps.push_back({group, Op::add});
  plan.arguments = {0, 1};
  plan.outputs = {2, 3};
  plan.output_bytes = {4, bytes};
  plan.scalars = 1;
  plan.donated_arguments = {std::nullopt, 0};
  plan.point_of_no_return = 2;
  out->executable = cpu_backend().compile(plan);
  return out;
}

NodeRef values() {
  Ref<Buffer> buffer = make_buffer(kCount * 4);
  for (int64_t i = 0; i < kCount; ++i)
    static_cast<float*>(buffer->host())[i] = static_cast<float>(i);
  return make_value(DType::Float32, {kCount}, buffer);
}

NodeRef place(int64_t index) {
  Ref<Buffer> buffer = make_buffer(8);
  *static_cast<int64_t*>(buffer->host()) = index;
  return make_value(DType::Int64, {1}, buffer);
}

float at(const Ref<Buffer>& buffer, int64_t i) {
  return static_cast<const float*>(buffer->host())[i];
}

Scalar one() {
  Scalar out;
  out.f = 1;
  return out;
}

struct Outcome {
  bool in_place, right, untouched;
};

Outcome run(const NodeRef& x, bool donatable) {
  static const auto plan = add_one();
  const void* before = x->value->host();
  const float seventh = at(x->value, 7);
  Ref<Buffer> result;
  {
    PlanRun run;
    run.add_argument(x.get(), donatable);
    run.add_argument(place(7).get(), false);
    run.add_scalar(one());
    run.run(*plan);
    check(at(run.result(0), 0) == seventh, "a step before reads the old value");
    result = run.result(1);
  }
  check(x->value && !(x->flags & kInFlight), "the node has a value again");
  return {result->host() == before, at(result, 0) == 1 && at(result, kCount - 1) == kCount,
          at(x->value, 1) == 1};
}

void test_donation() {
  Outcome o = run(values(), true);
  check(o.in_place && o.right, "memory that nobody needs is reused");
  o = run(values(), false);
  check(!o.in_place && o.right && o.untouched, "a value that is still needed is left alone");
  NodeRef x = values();
  const Ref<Buffer> shared = x->value;
  o = run(x, true);
  check(!o.in_place && o.right && o.untouched, "so is memory that another node has");
  x = values();
  x->value->exported = true;
  o = run(x, true);
  check(!o.in_place && o.right && o.untouched, "and memory that an array looks at");
  x = values();
  for (int i = 0; i < 3; ++i) o = run(x, true);
  check(o.in_place && at(x->value, 0) == 3, "again and again");
}

bool fails(const CachedPlan& plan, const NodeRef& x, const NodeRef& index) {
  try {
    PlanRun run;
    run.add_argument(x.get(), true);
    run.add_argument(index.get(), false);
    run.add_scalar(one());
    run.run(plan);
    return false;
  } catch (const Error&) {
    return true;
  }
}

void test_failure() {
  const auto plan = add_one();
  const NodeRef x = values();
  check(fails(*plan, x, place(kCount)), "an index out of range");
  check(x->value && at(x->value, 3) == 3, "leaves the argument as it was");
  const NodeRef first = place(0);
  fail_allocation(1);
  check(fails(*plan, x, first), "no memory for the first output");
  fail_allocation(0);
  check(x->value && !(x->flags & kInFlight) && at(x->value, 3) == 3, "neither does that harm");
}

bool always() { return true; }

void test_interrupt() {
  const auto plan = add_one();
  const NodeRef x = values();
  runtime.interrupted = always;
  check(fails(*plan, x, place(0)), "a run is interrupted before it writes in place");
  check(x->value && at(x->value, 0) == 0, "and leaves the argument as it was");
  static int asked;
  asked = 0;
  runtime.interrupted = [] { return ++asked == 2; };
  check(!fails(*plan, x, place(0)) && asked == 1, "nobody asks from the first such write on");
  check(at(x->value, 0) == 1, "it ends well");
  const Ref<Buffer> shared = x->value;
  asked = 0;
  check(fails(*plan, x, place(0)) && asked == 2, "a run with outputs of its own can be stopped");
  runtime.interrupted = nullptr;
}

// What stands for the interpreter lock, and how far the other thread is.
std::mutex lock;
std::atomic<bool> writing{false};
std::atomic<bool> looking{false};

// Asked between the steps of the run, while the argument is in flight and the lock is away.
bool wait_for_the_other() {
  writing = true;
  while (!looking) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return false;
}

void test_two_threads() {
  const auto plan = add_one();
  runtime.release_lock = []() -> void* {
    lock.unlock();
    return nullptr;
  };
  runtime.acquire_lock = [](void*) { lock.lock(); };
  runtime.interrupted = wait_for_the_other;
  const NodeRef x = values();
  std::thread other([&] {
    while (!writing) std::this_thread::yield();
    lock.lock();
    looking = true;
    check((x->flags & kInFlight) && !x->value, "a value that is being replaced is in flight");
    Node* input = x.get();
    const NodeRef y = elementwise(Op::negative, {&input, 1});
    evaluate(y.get());
    check(at(y->value, 3) == -4, "who comes to it meanwhile waits and sees the new one");
    lock.unlock();
  });
  lock.lock();
  check(!fails(*plan, x, place(0)), "the run itself");
  lock.unlock();
  other.join();
  runtime.release_lock = nullptr;
  runtime.acquire_lock = nullptr;
  runtime.interrupted = nullptr;
}

void test_peak() {
  trim_memory();
  const MemoryStatus before = memory_status();
  check(before.cached_bytes == 0, "trimming gives everything back");
  reset_peak_bytes();
  check(memory_status().peak_bytes == before.live_bytes, "the peak starts anew");
  const void* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    const Ref<Buffer> a = make_buffer(int64_t{3} << 20);
    check(i == 0 || a->host() == first, "freed memory comes back");
    first = a->host();
  }
  const MemoryStatus after = memory_status();
  check(after.peak_bytes == before.live_bytes + (int64_t{3} << 20), "one block at a time");
  check(after.cached_bytes == int64_t{3} << 20, "kept");
  for (int i = 0; i < 40; ++i) {
    const Ref<Buffer> a = make_buffer((int64_t{30} + i) << 20);
  }
  check(memory_status().cached_bytes <= kCachedBytes, "no more than the bound is kept");
  const Ref<Buffer> newest = make_buffer(int64_t{69} << 20);
  check(memory_status().cached_bytes <= kCachedBytes - (int64_t{69} << 20), "the newest is there");
  trim_memory();
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_donation();
  test_failure();
  test_interrupt();
  test_two_threads();
  test_peak();
  return report();
}
