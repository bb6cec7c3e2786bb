// Simplification of small graphs: what is left to compute, and through which views it reads.
#include "plan/passes/simplify.h"

#include "graph_text.h"

namespace pullback::test {
namespace {

// A view: nothing where it is the whole base; else its shape, its strides where they are not
// row-major, its offset.
std::string text_of(const GraphText& graph, const Analysis& a, const Read& read) {
  const Strided& strided = a.strided(read);
  std::string out = graph.name(a.node(read.base));
  if (read == a.source[read.base]) return out;
  out += "[" + list_text(strided.shape);
  if (!is_row_major(strided)) out += " by " + list_text(strided.strides);
  if (strided.offset) out += " at " + std::to_string(strided.offset);
  return out + "]";
}

std::string text_of(const GraphText& graph, const Analysis& a) {
  std::string out;
  for (uint32_t i = 0; i < a.size(); ++i) {
    const Node* node = a.node(i);
    switch (a.kind[i]) {
      case Analysis::Input:
      case Analysis::View:
        continue;
      case Analysis::Number:
        if (a.constant[i]) {
          out += graph.name(node) + " = " +
                 std::to_string(is_float(node->dtype) ? static_cast<int64_t>(a.value[i].f)
                                                      : a.value[i].i) +
                 "\n";
        }
        continue;
      case Analysis::Elementwise:
      case Analysis::Copy:
      case Analysis::Fold:
      case Analysis::Pick:
      case Analysis::Place:
      case Analysis::Other:
        break;
    }
    out += graph.name(node) + " = " + (a.kind[i] == Analysis::Copy ? "copy" : name_of(node->op));
    for (const Read& read : a.reads(i)) out += " " + text_of(graph, a, read);
    out += a.stored[i] ? " stored\n" : "\n";
  }
  for (uint32_t i : a.snapshot->outputs) {
    if (a.source[i].base == i) continue;
    out += graph.name(a.node(i)) + " is " + text_of(graph, a, a.source[i]) + "\n";
  }
  return out;
}

void check_simplified(const std::string& text, const std::string& expected,
                      const std::string& what) {
  GraphText graph(text);
  const Snapshot snapshot = graph.snapshot();
  check_text(text_of(graph, simplify(snapshot)), expected, what);
}

void test_views() {
  check_simplified(R"(
    x = argument f32[4,3]
    t = transpose x
    u = transpose t
    y = exp u
    z = exp t
    return y z)",
                   R"(
    y = exp x stored
    z = exp x[3,4 by 1,3] stored)",
                   "transposes");
  check_simplified(R"(
    x = argument f32[4,6]
    v = slice x [2,3] start=1,0 step=2,2
    w = slice v [1,3] start=1,0
    y = exp w
    return y)",
                   "y = exp x[1,3 by 0,2 at 18] stored", "a slice of a slice");
  check_simplified(R"(
    x = argument f32[4,6]
    r = reshape x [2,2,6]
    f = reshape x [24]
    y = exp r
    z = sin f
    return y z)",
                   R"(
    y = exp x[2,2,6] stored
    z = sin x[24] stored)",
                   "reshapes");
  check_simplified(R"(
    x = argument f32[4,6]
    t = transpose x
    r = reshape t [24]
    y = exp r
    return y)",
                   R"(
    r = copy x[6,4 by 1,6]
    y = exp r stored)",
                   "a reshape that needs a copy");
  check_simplified(R"(
    x = argument f32[4,1]
    b = argument f32[3]
    y = add x b
    return y)",
                   "y = add x[4,3 by 1,0] b[4,3 by 0,1] stored", "broadcast operands");
}

void test_wanted_views() {
  check_simplified(R"(
    x = argument f32[4,6]
    y = exp x
    r = reshape y [24]
    return r)",
                   R"(
    y = exp x stored
    r is y[24])",
                   "the same memory");
  check_simplified(R"(
    x = argument f32[4,6]
    t = transpose x
    return t)",
                   "t = copy x[6,4 by 1,6] stored", "memory of its own");
}

void test_equal() {
  check_simplified(R"(
    x = argument f32[4]
    a = exp x
    b = exp x
    c = multiply a b
    d = reshape x [4]
    e = exp d
    f = add c e
    return f)",
                   R"(
    a = exp x
    c = multiply a a
    f = add c a stored)",
                   "equal operations are one");
  check_simplified(R"(
    x = argument f32[4,4]
    s = sum x axes=0
    t = sum x axes=1
    u = add s t
    return u)",
                   R"(
    s = sum x
    t = sum x
    u = add s t stored)",
                   "not with other axes");
  check_simplified(R"(
    x = argument f32[4]
    a = slice x [2] start=0
    b = slice x [2] start=2
    c = exp a
    d = exp b
    e = add c d
    return e)",
                   R"(
    c = exp x[2]
    d = exp x[2 at 2]
    e = add c d stored)",
                   "nor through another view");
}

void test_constants() {
  check_simplified(R"(
    x = argument f32[4]
    a = constant is=2
    b = constant is=3
    c = multiply a b
    y = multiply x c
    return y)",
                   R"(
    a = 2
    b = 3
    c = 6
    y = multiply x c[4 by 0] stored)",
                   "arithmetic on constants");
  check_simplified(R"(
    x = argument f32[4]
    a = number is=2
    b = number is=3
    c = multiply a b
    y = multiply x c
    return y)",
                   R"(
    c = multiply a b
    y = multiply x c[4 by 0] stored)",
                   "numbers are none");
  check_simplified(R"(
    x = argument f32[4]
    one = constant is=1
    y = multiply x one
    z = exp y
    u = divide z one
    return u)",
                   R"(
    one = 1
    z = exp x stored
    u is z)",
                   "times one");
  check_simplified(R"(
    x = argument f32[4]
    zero = constant is=0
    a = add x zero
    b = subtract x zero
    y = exp a
    z = exp b
    return y z)",
                   R"(
    zero = 0
    a = add x zero[4 by 0]
    y = exp a stored
    z = exp x stored)",
                   "x + 0 is not x where x is -0, but x - 0 is");
  check_simplified(R"(
    x = argument f32[4]
    a = negative x
    b = negative a
    y = exp b
    return y)",
                   "y = exp x stored", "twice negative");
  check_simplified(R"(
    one = constant is=1
    b = broadcast_to one [4,3]
    s = sum b axes=1
    x = argument f32[4]
    y = add x s
    return y)",
                   R"(
    one = 1
    s = 3
    y = add x s stored)",
                   "a sum of ones");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_views();
  test_wanted_views();
  test_equal();
  test_constants();
  return report();
}
