// Fusion of small graphs: which nodes become one group, over which rows, in which order. The limits
// of the processor are so small here that small graphs meet them.
#include "plan/passes/fuse.h"

#include "graph_text.h"

namespace pullback::test {
namespace {

constexpr Limits kLimits{.longest_row = 64,
                         .small_domain = 4,
                         .large_domain = 100,
                         .large_reduction = 100,
                         .repeated = 2,
                         .long_group = 6,
                         .few_live = 2,
                         .longest_group = 10};

// A line for each group in its order: "12 = 4 rows of 3: names", or "step: name"; the names of what
// is computed again where it is read follow.
std::string text_of(const GraphText& graph, const Analysis& a, const Fusion& fusion) {
  std::string out;
  for (const FusionGroup& group : fusion.groups) {
    out += group.tiles ? std::to_string(group.count) : "step";
    if (group.length > 1) out += " in rows of " + std::to_string(group.length);
    out += ":";
    for (uint32_t i : group.members) out += " " + graph.name(a.node(i));
    out += group.epilogue < 0 ? "\n" : ", then\n";
  }
  std::string cheap;
  for (uint32_t i = 0; i < a.size(); ++i) {
    if (fusion.cheap[i]) cheap += " " + graph.name(a.node(i));
  }
  return cheap.empty() ? out : out + "cheap:" + cheap;
}

void check_fused(const std::string& text, const std::string& expected, const std::string& what) {
  GraphText graph(text);
  const Snapshot snapshot = graph.snapshot();
  const Analysis analysis = simplify(snapshot);
  check_text(text_of(graph, analysis, fuse(analysis, kLimits)), expected, what);
}

void test_groups() {
  check_fused(R"(
    x = argument f32[12]
    y = argument f32[12]
    a = exp x
    b = sin a
    c = cos y
    d = add b c
    return d)",
              "12: a b c d", "operations over the same elements");
  check_fused(R"(
    x = argument f32[12]
    y = argument f32[20]
    a = exp x
    b = exp y
    return a b)",
              R"(
    12: a
    20: b)",
              "other elements, other groups");
  check_fused(R"(
    x = argument f32[12]
    y = argument f32[12]
    a = exp x
    b = exp y
    return a b)",
              R"(
    12: a
    12: b)",
              "nothing in common");
  check_fused(R"(
    x = argument f32[4]
    y = argument f32[4]
    a = exp x
    b = exp y
    return a b)",
              "4: a b", "small groups are merged by size");
  check_fused(R"(
    x = argument f32[4,3]
    a = exp x
    t = transpose a
    b = sin t
    return b)",
              R"(
    12: a
    12: b)",
              "what is read in another order must be finished before");
}

void test_rows() {
  check_fused(R"(
    x = argument f32[8,3]
    m = max x axes=1 keepdims
    d = subtract x m
    e = exp d
    s = sum e axes=1 keepdims
    y = divide e s
    return y)",
              "24 in rows of 3: m d e s y", "a softmax");
  check_fused(R"(
    x = argument f32[8,3]
    s = sum x
    y = divide x s
    return y)",
              R"(
    24 in rows of 24: s y)",
              "everything as one row");
  check_fused(R"(
    x = argument f32[2,65]
    s = sum x axes=1 keepdims
    y = divide x s
    return y)",
              R"(
    130: s
    130: y)",
              "rows that are too long");
  check_fused(R"(
    x = argument f32[8,3]
    i = argument i64[8]
    e = exp x
    p = pick e i
    q = square p
    return q)",
              "24 in rows of 3: e p q", "a pick");
}

void test_products() {
  check_fused(R"(
    x = argument f32[4,3]
    w = argument f32[3,5]
    b = argument f32[5]
    p = matmul x w
    y = add p b
    z = tanh y
    return z)",
              R"(
    step: p, then
    20: y z)",
              "an epilogue");
  check_fused(R"(
    x = argument f32[4,3]
    w = argument f32[3,5]
    p = matmul x w
    t = transpose p
    z = tanh t
    return z)",
              R"(
    step: p
    20: z)",
              "no epilogue in another order");
}

void test_levels() {
  // e waits for the product; d reads only x, and is moved to where it is used.
  check_fused(R"(
    x = argument f32[4,4]
    d = exp x
    p = matmul x x
    e = add p d
    return e)",
              R"(
    step: p, then
    16: d e)",
              "what only later levels use sinks");
  check_fused(R"(
    x = argument f32[4,4]
    d = exp x
    p = matmul d x
    e = add p d
    return e)",
              R"(
    16: d
    step: p, then
    16: e)",
              "what is used before does not");
  // Both a and b read g: either they are stored, or g is, or all wait for r.
  const auto waiting = [](const std::string& shape) {
    return "x = argument f32" + shape + R"(
      y = argument f32[]
      r = exp y
      g = exp x
      a = sin g
      b = multiply g g
      c = multiply a r
      d = add c b
      return d)";
  };
  check_fused(waiting("[200]"), R"(
    1: r
    200: g a b c d)",
              "in a large space several sink together");
  check_fused(waiting("[20]"), R"(
    1: r
    20: g a b
    20: c d)",
              "in a small one they stay");
  check_fused(R"(
    x = argument f32[4,4]
    v = argument f32[4,4]
    t = argument f32[]
    p = matmul x x
    g = matmul p x
    r = exp t
    s = multiply g r
    w = subtract v s
    return w)",
              R"(
    1: r
    step: p
    step: g, then
    16: s w)",
              "numbers come first, so that nothing waits for them");
}

void test_large() {
  check_fused(R"(
    x = argument f32[200]
    n = number
    a = multiply x n
    b = add a n
    p = slice b [100] start=0
    q = slice b [100] start=100
    y = exp p
    z = sin q
    return y z)",
              R"(
    200: a b
    100: y
    100: z
    cheap: a b)",
              "arithmetic on an argument is cheap");
  check_fused(R"(
    x = argument f32[200]
    y = argument f32[200]
    n = number
    a = add x y
    b = exp x
    c = add a b
    d = subtract a b
    t = square x
    u = square t
    v = square u
    w = add c v
    return w d)",
              R"(
    200: a b c d t u
    200: v w
    cheap: t u)",
              "of two arguments, by a function, or through too many operations it is not");
}

void test_cuts() {
  std::string text = "x = argument f32[200]\n";
  std::string last = "x";
  for (int i = 0; i < 14; ++i) {
    const std::string name = "e" + std::to_string(i);
    text.append(name).append(" = exp ").append(last).append("\n");
    last = name;
  }
  check_fused(text + "return " + last, R"(
    200: e0 e1 e2 e3 e4 e5
    200: e6 e7 e8 e9 e10 e11
    200: e12 e13)",
              "a long chain");
  // Three values that live to the end: no good place before the longest group.
  text = "x = argument f32[200]\na = tanh x\nb = sin x\nc = cos x\n";
  last = "x";
  for (int i = 0; i < 9; ++i) {
    const std::string name = "e" + std::to_string(i);
    text.append(name).append(" = exp ").append(last).append("\n");
    last = name;
  }
  text += "r = add a b\ns = add c " + last + "\nt = add r s\nreturn t";
  check_fused(text, R"(
    200: a b c e0 e1 e2 e3 e4 e5 e6
    200: e7 e8 r s t)",
              "a chain beside living values");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_groups();
  test_rows();
  test_products();
  test_levels();
  test_large();
  test_cuts();
  return report();
}
