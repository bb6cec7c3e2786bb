// Closed graphs: which nodes a copy replaces, and what a rule in a copy is applied to and returns.
#include "graph/closed_graph.h"

#include "graph.h"
#include "graph/graph_copy.h"
#include "graph/rebuild.h"
#include "ops/expr.h"

namespace pullback::test {
namespace {

using Extent = ClosedGraph::Extent;

// Returns its cotangent times a tensor of the graph.
struct TimesTensor : Rule {
  NodeRef tensor;
  Node* applied_to = nullptr;
  std::vector<Cotangent> apply(const RuleCall& call) override {
    applied_to = call.node;
    return {{Cotangent::Value, Expr(NodeRef(call.cotangents[0])) * Expr(tensor), nullptr}};
  }
};

// y = 3 x + 2 c, with a rule that references 3 x.
struct Recorded {
  Ref<ClosedGraph> graph;
  NodeRef x, inner, y;
  TimesTensor* rule;

  Recorded(Extent extent, const NodeRef& input, const NodeRef& c)
      : graph(new ClosedGraph(extent)), x(input), rule(new TimesTensor) {
    const Ref<Rule> held(rule);
    const uint64_t first = next_seq();
    inner = Expr(x) * 3.0;
    rule->tensor = inner;
    const NodeRef inside[] = {Expr(inner) + Expr(c) * 2.0};
    const NodeRef given[] = {x};
    y = custom(inside, given, held)[0];
    graph->inputs = {x};
    graph->roots = {y};
    graph->made = {{first, next_seq()}};
  }

  Subgraph nodes() const { return graph->between(graph->roots, pointers(graph->inputs)); }

  NodeRef copy(const NodeRef& other) const {
    const Ref<GraphCopy> made(new GraphCopy(graph, {other}));
    return nodes().rebuild(made->inputs(), [&](size_t, const Node* node, auto inputs) {
      return made->copy(node, inputs);
    })[0];
  }
};

const Shape kPair{2};

NodeRef answer(const NodeRef& y, const NodeRef& x, const NodeRef& g) {
  Node* inputs[] = {x.get()};
  Node* outputs[] = {y.get()};
  Node* cotangents[] = {g.get()};
  return y->rule->apply({"f", y.get(), inputs, outputs, cotangents})[0].value;
}

void test_extents() {
  const NodeRef c = tensor(kPair, {5, 6}), at = tensor(kPair, {1, 2});
  const Recorded traced(Extent::Traced, make_argument(DType::Float64, kPair), c);
  const Recorded body(Extent::Body, make_argument(DType::Float64, kPair), c);
  const Recorded recorded(Extent::Recorded, tracked(kPair, {7, 8}), c);
  check(traced.nodes().size() == 4, "a call shares constants");
  check(body.nodes().size() == 7, "a body shares no node of its own");
  check(recorded.nodes().size() == 5, "a checkpoint copies all operations");
  for (const Recorded* one : {&traced, &body, &recorded}) {
    check_numbers(one->copy(at), {13, 18}, "values");
  }
}

void test_rules() {
  const NodeRef c = tensor(kPair, {5, 6}), at = tensor(kPair, {1, 2}), g = tensor(kPair, {1, 10});
  for (const Extent extent : {Extent::Traced, Extent::Body}) {
    const Recorded graph(extent, make_argument(DType::Float64, kPair), c);
    const NodeRef y = graph.copy(at);
    check_numbers(answer(y, at, g), {3, 60}, "an inner tensor is that of the copy");
    check(graph.rule->applied_to == y.get(), "the rule receives the copy");
  }
  const Recorded graph(Extent::Recorded, tracked(kPair, {7, 8}), c);
  const NodeRef y = graph.copy(at);
  check_numbers(answer(y, at, g), {3, 60}, "an inner tensor is that of the copy");
  check(graph.rule->applied_to == graph.y.get(), "the rule receives the original");
  check_numbers(answer(y, at, graph.inner), {63, 144}, "a cotangent stays");
}

void test_copies_of_copies() {
  const NodeRef c = tensor(kPair, {5, 6}), at = tensor(kPair, {1, 2}), g = tensor(kPair, {1, 10});
  const Recorded outer(Extent::Body, make_argument(DType::Float64, kPair), c);
  const NodeRef middle = outer.copy(make_argument(DType::Float64, kPair));
  const Ref<ClosedGraph> graph(new ClosedGraph(Extent::Traced));
  graph->inputs = {NodeRef(middle->in[1])};
  const Ref<GraphCopy> made(new GraphCopy(graph, {at}));
  const Subgraph nodes = graph->between({middle}, pointers(graph->inputs));
  const NodeRef y = nodes.rebuild(made->inputs(), [&](size_t, const Node* node, auto inputs) {
    return made->copy(node, inputs);
  })[0];
  check_numbers(answer(y, at, g), {3, 60}, "a rule of a copy of a copy");
}

void test_around() {
  const NodeRef c = tensor(kPair, {5, 6}), at = tensor(kPair, {1, 2});
  const Recorded outer(Extent::Body, make_argument(DType::Float64, kPair), c);
  const Recorded inner(Extent::Body, make_argument(DType::Float64, kPair), c);
  const Ref<GraphCopy> around(new GraphCopy(outer.graph, {at}));
  const Ref<GraphCopy> made(new GraphCopy(inner.graph, {outer.inner}, around));
  check_numbers(made->rebind({inner.inner}, {}, next_seq())[0], {9, 18}, "rebound to both");
  check_numbers(made->rebind({outer.inner}, {}, next_seq())[0], {3, 6},
                "rebound to the outer copy");
}

void test_nothing_is_left() {
  const int64_t before = live_nodes();
  {
    const NodeRef c = tensor(kPair, {5, 6}), at = tensor(kPair, {1, 2});
    const Recorded graph(Extent::Traced, make_argument(DType::Float64, kPair), c);
    const NodeRef y = graph.copy(at);
    answer(y, at, at);
  }
  check(live_nodes() == before, "no node outlives it");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_extents();
  test_rules();
  test_copies_of_copies();
  test_around();
  test_nothing_is_left();
  return report();
}
