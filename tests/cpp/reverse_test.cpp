// The reverse pass on small graphs: contributions that meet, masks on their way, paths that end,
// ties, variables, tapes and threads. Python's tests go over every operation; here is the pass.
#include <cmath>
#include <limits>
#include <thread>

#include "base/error.h"
#include "grad/reverse.h"
#include "grad/tape.h"
#include "graph.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/composite.h"
#include "ops/expr.h"

namespace pullback::test {
namespace {

using namespace formula;

const double kInf = std::numeric_limits<double>::infinity();

NodeRef total(const Expr& x) { return reduce(Op::sum, x, std::nullopt, false); }

std::vector<NodeRef> gradients_of(const NodeRef& y, const std::vector<NodeRef>& xs,
                                  const std::vector<NodeRef>& stop = {}) {
  GradientRequest request;
  request.ys = {y};
  for (const NodeRef& x : xs) request.xs.push_back({x});
  for (const NodeRef& x : stop) request.stop.push_back({x});
  return gradients(request);
}

NodeRef gradient(const NodeRef& y, const NodeRef& x) { return gradients_of(y, {x})[0]; }

int count(const NodeRef& root, Op op) {
  Node* roots[] = {root.get()};
  std::vector<Node*> nodes;
  walk(roots, &nodes, [](const Node* node) { return node->inputs(); });
  return static_cast<int>(
      std::count_if(nodes.begin(), nodes.end(), [&](const Node* n) { return n->op == op; }));
}

Expr slice_of(const NodeRef& x, int64_t start, int64_t length, int64_t step = 1) {
  StridedSlice range(1);
  range.start[0] = start;
  range.step[0] = step;
  return slice(x, {length}, range);
}

void test_contributions() {
  const Expr x = tracked({3}, {1, 2, 3});
  check_numbers(gradient(total(x * x), x), {2, 4, 6}, "x·x");
  const Expr y = sin(x);
  check_numbers(gradient(total(y + y + x), x),
                {2 * std::cos(1) + 1, 2 * std::cos(2) + 1, 2 * std::cos(3) + 1}, "a diamond");
  // Broadcast operands get sums.
  const Expr row = tracked({1, 3}, {1, 2, 3});
  const Expr column = tracked({2, 1}, {4, 5});
  const std::vector<NodeRef> g = gradients_of(total(row * column), {row, column});
  check_numbers(g[0], {9, 9, 9}, "a row");
  check_numbers(g[1], {6, 6}, "a column");
  check(g[0]->shape == row.node->shape && g[1]->shape == column.node->shape, "shapes of gradients");
}

void test_paths() {
  const Expr x = tracked({2}, {1, 2});
  const Expr z = tracked({2}, {3, 4});
  const Expr y = x * x;
  check(gradient(total(x), z) == nullptr, "no path");
  check(gradient(total(Expr(stop_gradient(x))), x) == nullptr, "stop_gradient");
  check(gradient(x > z, x) == nullptr, "a bool result");
  check_numbers(gradient(total(floor(x)), x), {0, 0}, "a path of zeros");
  const std::vector<NodeRef> g = gradients_of(total(y * x), {x, y}, {y});
  check_numbers(g[0], {1, 4}, "past what is stopped");
  check_numbers(g[1], {1, 2}, "up to what is stopped");
}

void test_masks() {
  const Expr x = tracked({4}, {0, 2, -1, 4});
  const Expr l = log(x);
  const Expr zero = scalar(DType::Float64, 0);
  check_numbers(gradient(total(where(x > zero, l, zero)), x), {0, 0.5, 0, 0.25}, "one mask");
  const Expr three = scalar(DType::Float64, 3);
  check_numbers(gradient(total(where(x > zero, l, zero) + where(x > three, l, zero)), x),
                {0, 0.5, 0, 0.5}, "two that meet");
  const Expr never = scalar(DType::Bool, 0);
  check_numbers(gradient(where(never, total(l), zero), x), {0, 0, 0, 0}, "a sum inside");
  check_numbers(gradient(total(where(never, l, x)), x), {1, 1, 1, 1}, "a flag");
  check_numbers(gradient(total(slice_of(l, 1, 1)), x), {0, 0.5, 0, 0}, "a slice");
  const Expr both = Expr(total(slice_of(l, 1, 1))) + Expr(total(slice_of(l, 1, 2, 2)));
  check_numbers(gradient(both, x), {0, 1, 0, 0.25}, "slices that meet");
  check_numbers(gradient(total(slice_of(l, 0, 2)), x), {kInf, 0.5, 0, 0},
                "what was taken is infinite");
}

// What is known when the gradient is built needs no selection when it runs.
void test_no_mask_without_need() {
  const Expr x = tracked({4}, {0.1, 0.2, 0.3, 0.4});
  const Expr y = tanh(x);
  const NodeRef halves = gradient(
      Expr(total(slice_of(y, 0, 2))) + Expr(total(slice_of(y, 2, 2) * slice_of(y, 2, 2))), x);
  check(count(halves, Op::where) == 0, "halves cover their tensor");
  const NodeRef turns =
      gradient(Expr(total(slice_of(y, 0, 2, 2))) + Expr(total(slice_of(y, 3, 2, -2) * 2.0)), x);
  check(count(turns, Op::where) == 0, "even and odd entries cover their tensor");
  const NodeRef part = gradient(total(slice_of(y, 1, 2)), x);
  check(count(part, Op::where) == 1, "a part does not");
  const Expr b = tracked({4}, {1, 2, 3, 4});
  check(count(gradient(total(where(x > b, x + b, b)), x), Op::logical_or) == 0,
        "sums meet no infinity");
  NodeRef thrice;
  {
    const Expr shared = scalar(DType::Float64, 3);  // as in the record of a function
    thrice = total(slice_of(x * shared * shared, 1, 2));
  }
  check(count(gradient(thrice, x), Op::where) == 0, "a finite number, used twice");
  const Expr choice = x > b;
  const NodeRef branches = gradient(total(where(choice, log(x), sqrt(x))), x);
  check(count(branches, Op::logical_or) == 0, "a condition and its negation");
}

// Through products, and what lies between a mask and a product.
void test_masks_above_products() {
  const Expr x = tracked({3, 2}, {4, 1, 0, 0, 16, 4});
  const Expr weights = tensor({2, 2}, {1, 2, 3, 4});
  const Expr zero = scalar(DType::Float64, 0);
  const Expr rows = Expr(tensor({3, 1}, {1, 0, 1})) > zero;
  const Expr product = matmul(sqrt(x), weights);
  const Numbers expected = {0.75, 3.5, 0, 0, 0.375, 1.75};
  const auto gradient_of = [&](const Expr& y) { return gradient(total(where(rows, y, zero)), x); };
  check_numbers(gradient_of(product), expected, "a mask of rows");
  check_numbers(gradient_of(relu(product)), expected, "relu between");
  check(count(gradient_of(relu(product)), Op::any) == 0, "rows stay rows");
  const NodeRef flat = reshape(product, {3, 2, 1});
  check_numbers(gradient_of(reshape(flat, {3, 2})), expected, "reshapes between");
  const NodeRef both[] = {product, product};
  const NodeRef wide = concat(both, 1);
  StridedSlice range(2);
  range.start[1] = 1;
  check_numbers(gradient_of(slice(wide, {3, 2}, range)), expected, "concat and slice between");
  const Expr full = broadcast_to(rows, {3, 2}) & (product > zero);
  check_numbers(gradient(total(where(full, product, zero)), x), expected, "a mask of entries");
  // The other operand's cotangent: the rows that are infinite take no part.
  const Expr w = tracked({2, 1}, {1, 1});
  const NodeRef g = gradient(total(where(rows, Expr(matmul(log(x), w)), zero)), w);
  check_numbers(g, {std::log(4) + std::log(16), std::log(4)}, "rows of the left operand");
  const NodeRef turned = matmul(transpose(w, {}), log(Expr(transpose(x, {}))));
  const NodeRef columns = gradient(total(where(Expr(transpose(rows, {})), turned, zero)), w);
  check_numbers(columns, {std::log(4) + std::log(16), std::log(4)}, "columns of the right one");
  // A relu network has no masks to look through, with an infinite slope below it or not.
  const NodeRef deep = relu(matmul(relu(product), weights));
  const NodeRef slopes = gradient(total(matmul(deep, weights)), x);
  check(count(slopes, Op::any) == 0 && count(slopes, Op::where) == 0, "relu between products");
}

void test_ties() {
  // Axes 0 and 2 of (2, 1, 3): four entries are largest, and share.
  const Expr x = tracked({2, 1, 3}, {5, 1, 5, 5, 5, 0});
  for (Op op : {Op::max, Op::min}) {
    const Expr sign = op == Op::max ? x : -x;
    const NodeRef y = reduce(op, sign, std::vector<int64_t>{0, 2}, false);
    const double share = op == Op::max ? 0.25 : -0.25;
    check_numbers(gradient(total(y), x), {share, 0, share, share, share, 0},
                  "ties over axes disjoint");
  }
}

void test_variables() {
  const Ref<Variable> v = make_variable(tensor({2}, {1, 2}), true, "v");
  const Expr first = read(v.get());
  assign(v.get(), tensor({2}, {10, 20}), "test");
  const Expr second = read(v.get());
  GradientRequest request;
  request.ys = {total(first * first + second * second)};
  request.xs = {{nullptr, v->id}, {first}, {second}};
  const std::vector<NodeRef> g = gradients(request);
  check_numbers(g[0], {22, 44}, "all reads of a variable");
  check_numbers(g[1], {2, 4}, "its first read");
  check_numbers(g[2], {20, 40}, "its second read");
}

// A tape records what its own thread builds while it is open.
void test_tapes() {
  const NodeRef x = tensor({1}, {3});
  Tape tape(false);
  tape.start();
  tape.watch(x);
  const NodeRef before = Expr(x) * Expr(x);
  NodeRef others;
  std::thread([&] { others = Expr(x) * Expr(x); }).join();
  const NodeRef after = Expr(x) * Expr(before);
  tape.stop();
  const NodeRef late = Expr(x) * Expr(x);
  check(tape.recorded(before.get()) && tape.recorded(after.get()),
        "its own thread's, without a gap");
  check(!tape.recorded(others.get()), "another thread's");
  check(!tape.recorded(late.get()), "what came after it");
  GradientRequest request;
  request.tape = &tape;
  request.xs = {{x}};
  request.ys = {after};
  check_numbers(gradients(request)[0], {27}, "a gradient over both");
  request.ys = {others};
  check(gradients(request)[0] == nullptr, "no gradient of another thread's");
}

void test_rule_results() {
  struct Wrong : Rule {
    std::vector<Cotangent> apply(const RuleCall& call) override {
      return std::vector<Cotangent>(call.inputs.size() + 1);
    }
  };
  const Ref<Rule> wrong(new Wrong);
  const Expr x = tracked({2}, {1, 2});
  GradientRequest request;
  const OverrideMap overrides = {{"sin", wrong}};
  request.overrides = &overrides;
  request.ys = {total(sin(x))};
  request.xs = {{x}};
  try {
    gradients(request);
    check(false, "a rule with too many results is refused");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::Value, "a rule with too many results is a ValueError");
  }
}

void test_inputs_of_composites() {
  const Expr x = tracked({2}, {1, 2});
  try {
    compose(Composite::mean, x, {x, x, x});
    check(false, "a composite of three inputs is refused");
  } catch (const Error& error) {
    check(error.kind() == ErrorKind::Runtime, "a composite of three inputs is a RuntimeError");
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  pullback::install_evaluation();
  test_contributions();
  test_paths();
  test_masks();
  test_no_mask_without_need();
  test_masks_above_products();
  test_ties();
  test_variables();
  test_tapes();
  test_rule_results();
  test_inputs_of_composites();
  return report();
}
