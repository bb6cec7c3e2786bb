// The snapshot of small graphs: how nodes are numbered, which values leave the plan, what the key
// tells apart.
#include "graph/walk.h"
#include "graph_text.h"
#include "ops/body.h"
#include "ops/expr.h"

namespace pullback::test {
namespace {

std::string text_of(const GraphText& graph, const Snapshot& s) {
  std::string out;
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    const Node* node = s.nodes[i];
    out += graph.name(node) + " = " + name_of(node->op);
    if (!is_input(node)) {
      for (const Node* input : value_inputs(node)) out += " " + graph.name(input);
    }
    out += s.wanted[i] ? " wanted\n" : "\n";
  }
  return out;
}

void check_snapshot(const std::string& text, const std::string& expected, const std::string& what) {
  GraphText graph(text);
  const Snapshot snapshot = graph.snapshot();
  check_text(text_of(graph, snapshot), expected, what);
}

void test_order() {
  check_snapshot(R"(
    x = argument f32[3]
    w = argument f32[3]
    n = number
    y = exp x
    z = multiply w n
    unused = sin y
    r = add y z
    return r)",
                 R"(
    x = constant
    y = exp x
    w = constant
    n = scalar
    z = multiply w n
    r = add y z wanted)",
                 "each leaf before its first user");
  check_snapshot(R"(
    x = argument f32[3]
    y = exp x
    z = sin y
    return z y)",
                 R"(
    x = constant
    y = exp x wanted
    z = sin y wanted)",
                 "two results");
  check_snapshot(R"(
    x = argument f32[3]
    v = argument f32[3]
    y = exp x
    return y
    replace v by y)",
                 R"(
    x = constant
    y = exp x wanted
    v = constant)",
                 "what is replaced and not read comes last");
}

void test_kept() {
  check_snapshot(R"(
    x = argument f32[3]
    y = exp x
    z = sin y
    hold y
    return z)",
                 R"(
    x = constant
    y = exp x wanted
    z = sin y wanted)",
                 "what somebody holds");
  // Somebody holds q, which is not asked for and has the others as inputs.
  check_snapshot(R"(
    a = argument f32[2,2]
    p = matmul a a
    y = exp p
    z = sin y
    q = cos y
    s = sum p
    t = add s z
    hold q
    return t)",
                 R"(
    a = constant
    p = matmul a a wanted
    y = exp p
    z = sin y
    s = sum p
    t = add s z wanted)",
                 "what is expensive and will be asked for again");
  check_snapshot(R"(
    a = argument f32[2,4]
    p = exp a
    v = slice p [2,1] start=0,1
    y = sin p
    hold v
    return y)",
                 R"(
    a = constant
    p = exp a
    y = sin p wanted)",
                 "a cheap value that outlives");
  check_snapshot(R"(
    a = argument f32[2,4]
    p = exp a
    v = slice p [2,4] start=0,0
    y = sin v
    hold v
    return y)",
                 R"(
    a = constant
    p = exp a wanted
    v = slice p
    y = sin v wanted)",
                 "a held slice: the value that it shows");
  check_snapshot(R"(
    a = argument f32[2,4]
    p = exp a
    v = slice p [2,1] start=0,1
    y = sin v
    hold v
    return y)",
                 R"(
    a = constant
    p = exp a
    v = slice p wanted
    y = sin v wanted)",
                 "a held slice that is a small part");
}

// The operation itself has no value, whoever holds it.
void test_operation() {
  const Ref<Body> body(new Body);
  body->inputs = {make_argument(DType::Float32, {3})};
  body->roots = {formula::exp(body->inputs[0])};
  const NodeRef x = make_argument(DType::Float32, {3});
  const BoundBody choice{body, {x}};
  const NodeRef held = make_branch(make_argument(DType::Int64, {}), {&choice, 1});
  const NodeRef out = output_of(held, 0);
  Node* root = out.get();
  const Snapshot snapshot = take_snapshot({&root, 1});
  check(snapshot.outputs.size() == 1 && snapshot.nodes[snapshot.outputs[0]] == root,
        "a held branch is no result");
}

std::vector<unsigned char> key_of(const std::string& text, bool traced = false) {
  return GraphText(text).snapshot(traced).key;
}

void test_key() {
  const std::string x = "x = argument f32[3]\n";
  const auto same = [&](const std::string& a, const std::string& b, bool expected,
                        const std::string& what) {
    check((key_of(x + a + "\nreturn y") == key_of(x + b + "\nreturn y")) == expected, what);
  };
  const std::string add = "\ny = add x c";
  same("c = number is=1" + add, "c = number is=2" + add, true, "numbers are arguments");
  same("c = constant is=1" + add, "c = constant is=2" + add, false, "constants are structure");
  same("c = number is=1" + add, "c = constant is=1" + add, false, "a number is no constant");
  same("y = exp x", "y = sin x", false, "operations");
  same("y = slice x [2] start=0", "y = slice x [2] start=1", false, "slices");
  same("y = reshape x [3,1]", "y = reshape x [1,3]", false, "shapes");
  same("z = exp x\ny = subtract x z", "z = exp x\ny = subtract z x", false, "operands");
  same("u = cos x\ny = exp x", "y = exp x", true, "what is not asked for");
  const std::string traced = x + "c = number is=1" + add + "\nreturn y";
  const std::string other = x + "c = number is=2" + add + "\nreturn y";
  check(key_of(traced, true) != key_of(other, true), "floats of a traced function are structure");
  const std::string two = x + "v = argument f32[3]\ny = exp x\nz = sin v\nreturn y z\n";
  const std::string first = two + "replace x by y\n", second = two + "replace v by z\n";
  check(key_of(two) != key_of(first), "a result that takes the place of an argument");
  check(key_of(first) != key_of(second), "which argument is replaced");
  check(key_of(first) != key_of(two + "replace x by z"), "what replaces it");
  check(key_of(first + "replace v by z") != key_of(first), "how many are");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_order();
  test_kept();
  test_operation();
  test_key();
  return report();
}
