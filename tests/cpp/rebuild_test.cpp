// Subgraph and rebuild: what is part of a subgraph, what is shared, what a visitor sees and may
// make instead; and that a copy is a node of its own with the values the original would have there.
#include "graph/rebuild.h"

#include <cstring>

#include "check.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/rule.h"
#include "graph/walk.h"
#include "ops/expr.h"

namespace pullback::test {
namespace {

constexpr DType F = DType::Float64;

NodeRef value(std::vector<double> numbers) {
  Ref<Buffer> buffer = make_buffer(static_cast<int64_t>(numbers.size() * sizeof(double)));
  std::memcpy(buffer->host(), numbers.data(), numbers.size() * sizeof(double));
  return make_value(F, {static_cast<int64_t>(numbers.size())}, std::move(buffer));
}

std::vector<double> numbers_of(const NodeRef& x) {
  evaluate(x.get());
  std::vector<double> out(static_cast<size_t>(x->shape.size()));
  std::memcpy(out.data(), x->value->host(), out.size() * sizeof(double));
  return out;
}

constexpr auto everything = [](const Node*) { return true; };
constexpr auto nothing = [](const Node*) { return false; };
constexpr auto plain = [](size_t, const Node* node, std::span<Node* const> inputs) {
  return copy_node(node, inputs);
};

Subgraph record(std::vector<NodeRef> roots, std::vector<Node*> inputs) {
  return {std::move(roots), inputs, everything};
}

void test_values() {
  const NodeRef x = make_argument(F, {3});
  const NodeRef y = make_argument(F, {3});
  const NodeRef c = value({10, 20, 30});
  const Expr product = Expr(x) * Expr(y);
  const Subgraph subgraph = record({product + Expr(c), product}, {x.get(), y.get()});
  const std::vector<NodeRef> inputs = {value({1, 2, 3}), value({4, 5, 6})};
  const auto made = subgraph.rebuild(inputs, plain);
  check(numbers_of(made[0]) == std::vector<double>{14, 30, 48}, "values on other inputs");
  check(numbers_of(made[1]) == std::vector<double>{4, 10, 18}, "a second root");
  check(made[0]->in[1] == c.get(), "what is outside is shared");
  check(made[0]->in[0] == made[1].get(), "what two roots share is made once");
  check(!(made[0]->flags & (kTraced | kTracked)), "on plain values the copy is plain");
  const auto again = subgraph.rebuild(inputs, plain);
  check(again[0].get() != made[0].get(), "every rebuild makes nodes of its own");
}

void test_order() {
  const NodeRef x = make_argument(F, {3});
  NodeRef y = x;
  for (int i = 0; i < 100000; ++i) y = Expr(y) + Expr(x);
  const Subgraph subgraph = record({y}, {x.get()});
  check(subgraph.size() == 100001, "one entry a node");
  const NodeRef on = value({1, 2, 3});
  uint64_t last = 0;
  bool ordered = true;
  const auto made = subgraph.rebuild({&on, 1}, [&](size_t i, const Node* node, auto inputs) {
    ordered &= node->seq > last && subgraph[i].node == node;
    last = node->seq;
    for (const Node* input : inputs) ordered &= input->seq < next_seq();
    return copy_node(node, inputs);
  });
  check(ordered, "inputs before users, by creation");
  check(numbers_of(made[0]) == std::vector<double>{100001, 200002, 300003}, "a long chain");
}

void test_roots() {
  const NodeRef x = make_argument(F, {3});
  const NodeRef c = value({1, 2, 3});
  const NodeRef d = Expr(c) * 2.0;
  const Subgraph subgraph = record({x, c, d}, {x.get()});
  check(subgraph.root_at(0) == 0 && subgraph.root_at(1) == Subgraph::kOutside, "places of roots");
  const NodeRef on = value({7, 8, 9});
  const auto made = subgraph.rebuild({&on, 1}, plain);
  check(made[0] == on && made[1] == c && made[2] == d, "an input, and roots from outside");
}

void test_what_belongs() {
  const NodeRef x = make_argument(F, {3});
  const NodeRef z = make_argument(F, {3});
  const NodeRef other = Expr(z) * 2.0;  // of another trace, say
  const NodeRef y = Expr(x) + Expr(other);
  std::vector<Node*> inputs = {x.get(), nullptr};
  const Subgraph narrow({y}, inputs, nothing);
  check(narrow.size() == 2, "only what depends on the inputs");
  const NodeRef on[] = {value({1, 2, 3}), nullptr};
  const auto made = narrow.rebuild(on, plain);
  check(made[0]->in[0] == on[0].get() && made[0]->in[1] == other.get(), "the rest is shared");
  const Subgraph wide({y}, inputs, everything);
  check(wide.size() == 5 - 1, "with all that is traced; the number 2 is not");
  // An input inside: what is below it is not looked at.
  std::vector<Node*> middle = {other.get(), x.get()};
  check(Subgraph({y}, middle, everything).size() == 3, "a subgraph begins at its inputs");
}

void test_null_inputs() {
  const NodeRef x = make_argument(F, {3});
  const NodeRef y = make_argument(F, {3});
  const Subgraph subgraph = record({Expr(x) * 2.0, Expr(x) * Expr(y)}, {x.get(), y.get()});
  const NodeRef on[] = {value({1, 2, 3}), nullptr};
  int visited = 0;
  const auto made = subgraph.rebuild(on, [&](size_t, const Node* node, auto inputs) {
    ++visited;
    return copy_node(node, inputs);
  });
  check(made[0].get() && !made[1].get() && visited == 1, "what depends on a null input is null");
}

void test_visitor() {
  const NodeRef x = make_argument(F, {3});
  const Subgraph subgraph =
      record({formula::exp(Expr(x)) + formula::exp(Expr(x) * 2.0)}, {x.get()});
  const NodeRef on = value({1, 2, 3});
  const auto made = subgraph.rebuild({&on, 1}, [](size_t, const Node* node, auto inputs) {
    return node->op == Op::exp ? identity(NodeRef(inputs[0])) : copy_node(node, inputs);
  });
  check(numbers_of(made[0]) == std::vector<double>{3, 6, 9}, "something else may stand for a node");
}

struct NoRule : Rule {
  std::vector<Cotangent> apply(const RuleCall&) override { return {}; }
};

void test_copies() {
  const NodeRef x = make_argument(F, {4, 5});
  StridedSlice range(2);
  range.start[1] = 3;
  range.step[0] = 2;
  range.step[1] = -1;
  const Ref<Rule> rule(new NoRule);
  const NodeRef inside[] = {slice(x, {2, 3}, range), reduce(Op::sum, x, std::nullopt, false)};
  const NodeRef given[] = {x};
  const auto outputs = custom(inside, given, rule);
  const Subgraph subgraph = record(outputs, {x.get()});
  const NodeRef on = Expr(zeros({4, 5}, F)) + 1.0;
  const auto made = subgraph.rebuild({&on, 1}, plain);
  for (size_t k = 0; k < 2; ++k) {
    check(made[k]->op == Op::result && made[k]->output == k, "a result");
    check(made[k]->dtype == F && made[k]->shape == inside[k]->shape, "dtype and shape");
  }
  const Node* call = operation_of(made[0].get());
  check(call && call == operation_of(made[1].get()), "results of one call stay together");
  check(call != operation_of(outputs[0].get()), "a call of its own in every copy");
  check(call->rule == rule && call->operation->outputs.size() == 2, "with its rule and types");
  check(call->operation->outputs[0].shape == Shape({2, 3}), "of the first output");
  const Node* view = made[0]->in[0];
  check(view->slice && view->slice->start[1] == 3 && view->slice->step[1] == -1, "slices");
  check(view->slice != inside[0]->slice, "a copy's own");
}

void test_nothing_is_left() {
  const int64_t before = live_nodes();
  {
    const NodeRef x = make_argument(F, {3});
    const Subgraph subgraph = record({Expr(x) * 2.0}, {x.get()});
    const NodeRef on = value({1, 2, 3});
    subgraph.rebuild({&on, 1}, plain);
  }
  check(live_nodes() == before, "no node outlives it");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_values();
  test_order();
  test_roots();
  test_what_belongs();
  test_null_inputs();
  test_visitor();
  test_copies();
  test_nothing_is_left();
  return report();
}
