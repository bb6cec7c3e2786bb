// Evaluation while other threads are at work, and what the walk and the allocator do at the end of
// their numbers.
//
// The interpreter lock is one that changes hands at every chance here: who gives it away comes back
// after everybody who waits for it. So between any two looks of one thread, the others assign, drop
// what they held and evaluate.
#include "eval/evaluate.h"

#include <cmath>
#include <condition_variable>
#include <functional>
#include <limits>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "check.h"
#include "grad/reverse.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/expr.h"
#include "plan/passes/plan_memory.h"
#include "trace/trace.h"

namespace pullback::test {
namespace {

class FairLock {
 public:
  void acquire() {
    std::unique_lock lock(mutex_);
    const uint64_t ticket = next_++;
    turn_.wait(lock, [&] { return serving_ == ticket; });
  }
  void release() {
    const std::lock_guard lock(mutex_);
    ++serving_;
    turn_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable turn_;
  uint64_t next_ = 0, serving_ = 0;
};

FairLock the_lock;

void install_lock() {
  runtime.release_lock = []() -> void* {
    the_lock.release();
    return nullptr;
  };
  runtime.acquire_lock = [](void*) { the_lock.acquire(); };
}

void yield_lock() {
  the_lock.release();
  the_lock.acquire();
}

NodeRef filled(int64_t length, float value) {
  Ref<Buffer> buffer = make_buffer(length * 4);
  std::fill_n(static_cast<float*>(buffer->host()), length, value);
  return make_value(DType::Float32, {length}, std::move(buffer));
}

float first_entry(const NodeRef& node) {
  evaluate(node.get());
  return *static_cast<const float*>(node->value->host());
}

void in_threads(std::initializer_list<std::function<void()>> works) {
  std::vector<std::thread> threads;
  for (const auto& work : works) {
    threads.emplace_back([work] {
      the_lock.acquire();
      work();
      the_lock.release();
    });
  }
  the_lock.release();
  for (std::thread& thread : threads) thread.join();
  the_lock.acquire();
}

// w = w * 0.5 + x, with w's old memory taken for the new value.
std::shared_ptr<Trace> halving(const Ref<Variable>& w, int64_t length) {
  auto trace = std::make_shared<Trace>("halving");
  trace->open();
  const NodeRef x = trace->add_argument(DType::Float32, {length}, false);
  const Expr updated = Expr(read(w.get())) * Expr(0.5) + Expr(x);
  assign(w.get(), updated, "assign");
  trace->close({});
  return trace;
}

constexpr int64_t kLength = 3000;
constexpr int kRounds = 300;

// One thread calls a function that assigns w, one assigns what it makes from w, one takes
// gradients, one looks at what it held and lets go of the rest.
void test_one_variable_on_several_threads() {
  const int64_t before = live_nodes();
  {
    const Ref<Variable> w = make_variable(filled(kLength, 1), true, "w");
    const Ref<Variable> count = make_variable(filled(kLength, 0), true, "count");
    const std::shared_ptr<Trace> step = halving(w, kLength);
    int wrong = 0;
    const auto see = [&](const NodeRef& node) { wrong += !std::isfinite(first_entry(node)); };
    const auto function = [&] {
      const NodeRef x = filled(kLength, 0.5F);
      for (int i = 0; i < kRounds; ++i) {
        step->replay(std::span(&x, 1), {});
        yield_lock();
      }
    };
    const auto assigning = [&] {
      for (int i = 0; i < kRounds; ++i) {
        assign(w.get(), Expr(read(w.get())) * Expr(0.5) + Expr(1.0), "assign");
        yield_lock();
      }
    };
    const auto differentiating = [&] {
      for (int i = 0; i < kRounds; ++i) {
        const Expr value = read(w.get());
        GradientRequest request;
        request.ys = {reduce(Op::sum, formula::sin(value) * value, std::nullopt, false)};
        request.xs = {{nullptr, w->id}};
        see(gradients(request)[0]);
      }
    };
    const auto letting_go = [&] {
      std::vector<NodeRef> held;
      for (int i = 0; i < kRounds; ++i) {
        held.push_back(Expr(read(w.get())) + Expr(held.empty() ? NodeRef(read(w.get())) : held[0]));
        if (i % 3 == 0) see(held[static_cast<size_t>(pick(static_cast<int64_t>(held.size())))]);
        if (i % 7 == 0) held.clear();
        finish_update(count.get());  // from here on nobody else gets a turn
        assign(count.get(), Expr(read(count.get())) + Expr(1.0), "assign_add");
        yield_lock();
      }
    };
    in_threads({function, assigning, differentiating, letting_go, letting_go});
    check(wrong == 0, "numbers seen while other threads assign");
    check(first_entry(read(count.get())) == 2 * kRounds, "an update was lost");
    check(std::abs(first_entry(read(w.get()))) <= 2, "the variable's last value");
  }
  check(live_nodes() == before, "nodes are left over");
}

// Two variables of one size that are made from each other: one is even, one is odd. Who waits for
// the memory of one must not find the other there.
void test_each_variable_keeps_its_memory() {
  const Ref<Variable> even = make_variable(filled(kLength, 0), false, "even");
  const Ref<Variable> odd = make_variable(filled(kLength, 1), false, "odd");
  const auto step = std::make_shared<Trace>("step");
  step->open();
  const Expr next_even = Expr(read(odd.get())) + Expr(1.0);
  const Expr next_odd = Expr(read(even.get())) + Expr(1.0);
  assign(even.get(), next_even, "assign");
  assign(odd.get(), next_odd, "assign");
  step->close({});
  int wrong = 0;
  const auto stepping = [&] {
    for (int i = 0; i < kRounds; ++i) step->replay({}, {});
  };
  const auto seeing = [&](const Ref<Variable>& variable, float rest) {
    return [&wrong, &variable, rest] {
      for (int i = 0; i < kRounds; ++i) {
        wrong += std::fmod(first_entry(read(variable.get())), 2) != rest;
        yield_lock();
      }
    };
  };
  in_threads({stepping, seeing(even, 0), seeing(odd, 1), seeing(even, 0), seeing(odd, 1)});
  check(wrong == 0, "numbers of another variable");
  check(first_entry(read(even.get())) == kRounds, "the last even number");
}

// A function may assign what it does not read, also where that is not computed yet.
void test_assigned_without_a_look() {
  const Ref<Variable> w = make_variable(filled(kLength, 1), true, "w");
  const auto step = std::make_shared<Trace>("step");
  step->open();
  const NodeRef x = step->add_argument(DType::Float32, {kLength}, false);
  assign(w.get(), Expr(x) + Expr(1.0), "assign");
  step->close({});
  const auto call = [&](float value) {
    const NodeRef argument = filled(kLength, value);
    step->replay(std::span(&argument, 1), {});
    return static_cast<const void*>(w->current->value->host());
  };
  const void* first = call(2);
  check(call(3) == first && first_entry(read(w.get())) == 4, "in its memory");
  const NodeRef held = read(w.get());
  check(call(4) != first, "not where somebody holds it");
  check(first_entry(held) == 4 && first_entry(read(w.get())) == 5, "what is held and what is new");
  assign(w.get(), Expr(read(w.get())) * Expr(2.0), "assign");
  check(w->pending(), "an update that is not computed");
  call(5);
  check(first_entry(read(w.get())) == 6, "an update that nobody sees");
}

// What waits for a run on another thread holds nothing of the graph as it was before.
void test_updates_are_collected_again() {
  const Ref<Variable> w = make_variable(filled(kLength, 1), true, "w");
  const std::shared_ptr<Trace> step = halving(w, kLength);
  std::vector<Ref<Variable>> others;
  for (int k = 0; k < 8; ++k) others.push_back(make_variable(filled(4, 1), true, "other"));
  int wrong = 0;
  const auto lending = [&] {
    const NodeRef x = filled(kLength, 0.5F);
    for (int i = 0; i < kRounds; ++i) step->replay(std::span(&x, 1), {});
  };
  const auto waiting = [&] {
    for (int i = 0; i < kRounds; ++i) {
      const float seen = first_entry(Expr(read(w.get())) + Expr(1.0));
      wrong += seen != 2;
    }
  };
  const auto dropping = [&] {
    for (int i = 0; i < kRounds; ++i) {
      for (const auto& v : others) assign(v.get(), Expr(read(v.get())) * Expr(2.0), "assign");
      yield_lock();
      for (const auto& v : others) assign(v.get(), filled(4, 1), "assign");
      if (i % 3 == 0) yield_lock();
    }
  };
  in_threads({lending, waiting, dropping, waiting, dropping});
  check(wrong == 0, "values while updates come and go");
}

void test_the_walk_survives_the_last_epoch() {
  const auto reach = [](const NodeRef& root) {
    std::vector<Node*> out;
    Node* node = root.get();
    walk({&node, 1}, &out, [](const Node* n) { return n->inputs(); });
    return out.size();
  };
  NodeRef chain = filled(1, 1);
  set_epoch(0);
  std::vector<NodeRef> held;
  for (int k = 0; k < 40; ++k) {
    chain = identity(chain);
    held.push_back(chain);
    reach(chain);  // marks with all the numbers that come back after the wrap
  }
  set_epoch(std::numeric_limits<uint32_t>::max() - 3);
  for (int k = 0; k < 50; ++k) {
    const NodeRef fresh = Expr(chain) + Expr(held[static_cast<size_t>(k) % held.size()]);
    check(reach(fresh) == 42, "a walk around the wrap sees every node once");
  }
}

template <class Call>
bool is_memory_error(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind() == ErrorKind::Memory;
  }
  return false;
}

void test_memory_that_cannot_be_had() {
  for (const int64_t bytes : {int64_t{1} << 47, int64_t{1} << 62, INT64_MAX, int64_t{-1}}) {
    check(is_memory_error([&] { make_buffer(bytes); }), "a buffer of " + std::to_string(bytes));
  }
  // Temporaries whose sum passes the largest number.
  Plan plan;
  for (int k = 0; k < 4; ++k) {
    plan.slots.push_back({SlotKind::Temporary, DType::Float32, int64_t{1} << 62});
    const View view{k, DType::Float32, whole({int64_t{1} << 60})};
    plan.steps.push_back({Iota{view}, Op::iota});
  }
  for (Step& step : plan.steps) {
    View in = std::get<Iota>(step.work).out;
    in.slot = (in.slot + 1) % 4;
    step.work = Layout{in, std::get<Iota>(step.work).out};
  }
  check(is_memory_error([&] { plan_memory(&plan); }), "temporaries that no arena holds");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback;
  using namespace pullback::test;
  install_evaluation();
  install_lock();
  the_lock.acquire();
  test_one_variable_on_several_threads();
  test_updates_are_collected_again();
  test_each_variable_keeps_its_memory();
  test_assigned_without_a_look();
  test_the_walk_survives_the_last_epoch();
  test_memory_that_cannot_be_had();
  the_lock.release();
  return report();
}
