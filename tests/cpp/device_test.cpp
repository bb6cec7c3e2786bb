// Several devices: transfers are computed between plans and never inside of one, a plan runs where
// its tensors are, gradients come back, and values that belong to no device go where they are read.
#include <functional>
#include <limits>

#include "base/error.h"
#include "fake_device.h"
#include "grad/reverse.h"
#include "graph.h"
#include "graph/variable.h"
#include "ops/expr.h"
#include "plan/passes/snapshot.h"
#include "trace/trace.h"
#include "transform/batch.h"

namespace pullback::test {
namespace {

using namespace formula;

Expr there(const NodeRef& x) { return transfer(x, kFake); }
Expr here(const NodeRef& x) { return transfer(x, kHost); }
NodeRef total(const Expr& x) { return reduce(Op::sum, x, std::nullopt, false); }

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void test_values() {
  const FakeBackend& fake = fake_device();
  const int64_t live = fake.fake().live;
  const int runs = fake.runs;
  {
    const Expr x = tensor({3}, {1, 2, 3});
    const Expr moved = there(x);
    check(NodeRef(moved)->device() == kFake && !NodeRef(moved)->has_value(),
          "a transfer is a pending node on its device");
    check(transfer(moved, kFake) == NodeRef(moved), "no transfer to the same device");
    const NodeRef y = moved * moved + 1.0;
    check(y->device() == kFake, "an operation is on the device of its inputs");
    const int uploads = fake.fake().uploads;
    evaluate(y.get());
    check(y->value->device == kFake && fake.runs == runs + 1, "its value as well");
    check(fake.fake().uploads == uploads + 1, "a transfer is one copy");
    check(error_of([&] { y->value->host(); }).find("cuda:0") != std::string::npos,
          "the host has no address of it");
    const Ref<Buffer> back = read_back(y.get());
    check(static_cast<const double*>(back->host())[2] == 10, "but it can read it back");
    check_numbers(here(y), {2, 5, 10}, "or move it");
    check(read_back(NodeRef(x).get()) == NodeRef(x)->value, "values of the host are not copied");
  }
  check(fake.fake().live == live, "memory of the device is released there");
}

void test_mixed() {
  const Expr x = tensor({2}, {1, 2});
  check(error_of([&] { NodeRef(there(x) * here(x)); }) ==
            "multiply: expected tensors on one device, got cuda:0, cpu",
        "operands on two devices");
}

// Devices alternate: each operation reads transfers of the results before.
void test_rounds() {
  const FakeBackend& fake = fake_device();
  Expr x = tensor({2}, {1, 2});
  const Expr first = x;
  for (int i = 0; i < 4; ++i) {
    x = there(x) * 2.0;
    x = here(x) + 1.0;
  }
  const int runs = fake.runs;
  check_numbers(x + first, {16 + 15 + 1, 32 + 15 + 2}, "a chain of transfers");
  check(fake.runs == runs + 4, "one plan of the device each");
  // Roots of several devices in one evaluation, one of them below the other.
  const NodeRef a = there(first) + 3.0;
  const NodeRef b = here(a) * 2.0;
  const NodeRef c = first + 1.0;
  Node* roots[] = {a.get(), b.get(), c.get()};
  evaluate(roots);
  check(a->value->device == kFake && b->value->device.is_host() && c->has_value(),
        "roots of both devices");
  check_numbers(b, {8, 10}, "which depend on each other");
}

// Scalars, and what is made from scalars alone, are on any device; so is its value.
void test_any_device() {
  const NodeRef rows = broadcast_to(scalar(DType::Float64, 2), {2});
  const NodeRef counted = cast(iota(2), DType::Float64);
  check(rows->device() == kAnyDevice && counted->device() == kAnyDevice, "made from scalars");
  const Expr x = tensor({2}, {1, 2});
  check_numbers(there(x) * Expr(rows) + Expr(counted), {2, 5}, "read on the device");
  check(counted->value->device == kFake, "a value that is kept is where it was computed");
  check_numbers(x + Expr(counted), {1, 3}, "and copied for a reader elsewhere");
  evaluate(rows.get());
  check(rows->value->device.is_host(), "without another reader, on the host");
  check_numbers(there(x) * Expr(rows), {2, 4}, "and copied to the device");
}

void test_gradients() {
  const Expr x = tracked({3}, {1, 2, 3});
  GradientRequest request;
  request.ys = {total(here(sin(there(x)) * there(x)) + x)};
  request.xs = {{x}};
  const NodeRef g = gradients(request)[0];
  check(g->device().is_host(), "a gradient is on the device of its tensor");
  const auto slope = [](double v) { return std::cos(v) * v + std::sin(v) + 1; };
  check_numbers(g, {slope(1), slope(2), slope(3)}, "through transfers");
  // sqrt has an infinite slope at 0, which is a structural zero on both ways.
  const Expr zero = tracked({2}, {0, 4});
  const Expr condition = zero > 0.0;
  GradientRequest masked;
  masked.ys = {total(where(there(condition), there(sqrt(zero)), 0.0))};
  masked.xs = {{zero}};
  check_numbers(here(gradients(masked)[0]), {0, 0.25}, "a mask moves too");
}

void test_batched() {
  const NodeRef one = make_argument(DType::Float64, {2});
  const NodeRef y = here(there(one) * 3.0);
  Batching batching;
  batching.inputs = {one};
  batching.batches = {tensor({2, 2}, {1, 2, 3, 4})};
  batching.count = 2;
  check_numbers(batched({y}, batching)[0], {3, 6, 9, 12}, "a batch is moved at once");
}

void test_keys() {
  const auto key = [](const NodeRef& root) {
    Node* roots[] = {root.get()};
    return take_snapshot(roots);
  };
  const NodeRef x = tensor({2}, {1, 2});
  const NodeRef moved = there(x);
  evaluate(moved.get());
  const Snapshot on_host = key(Expr(x) * Expr(x));
  const Snapshot on_device = key(Expr(moved) * Expr(moved));
  check(on_host.device.is_host() && on_device.device == kFake, "a snapshot has one device");
  check(on_host.key != on_device.key, "which its key contains");
  check(on_host.key.size() == on_device.key.size(), "in bits that are 0 for the host");
}

void test_variables() {
  const Ref<Variable> w = make_variable(there(tensor({2}, {1, 2})), true, "w");
  assign(w.get(), Expr(read(w.get())) * 2.0, "assign");
  const NodeRef other = Expr(tensor({2}, {5, 6})) + 1.0;
  evaluate(other.get());
  check(w->current->has_value() && w->current->value->device == kFake,
        "an evaluation computes updates of every device");
  check_numbers(here(read(w.get())), {2, 4}, "there");
}

void test_failures() {
  const FakeBackend& fake = fake_device();
  const NodeRef x = tensor({2}, {1, 2});
  const NodeRef y = there(x) + 1.0;
  fake.fake().fail_next = true;
  check(error_of([&] { evaluate(y.get()); }).find("cannot allocate") != std::string::npos,
        "a transfer without memory");
  check(!y->has_value(), "publishes nothing");
  check_numbers(here(y), {2, 3}, "and can be repeated");
  const auto trace = std::make_shared<Trace>("moves");
  trace->open();
  const NodeRef argument = trace->add_argument(DType::Float64, {2}, false, kHost);
  const NodeRef moved = there(argument) + 1.0;
  check(error_of([&] { trace->close({moved}); }).find("runs on one device") != std::string::npos,
        "a traced function does not span devices");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback;
  using namespace pullback::test;
  install_evaluation();
  check(!several_devices, "one device until another is registered");
  fake_device();
  test_values();
  test_mixed();
  test_rounds();
  test_any_device();
  test_gradients();
  test_batched();
  test_keys();
  test_variables();
  test_failures();
  return report();
}
