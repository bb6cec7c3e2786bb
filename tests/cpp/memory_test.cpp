// Memory of small plans: who writes where it reads, whose memory an output may take, and where
// temporaries lie.
#include "plan/passes/plan_memory.h"

#include "graph_text.h"
#include "plan/checked_indices.h"
#include "plan/passes/lower.h"
#include "plan/step_views.h"
#include "plan/verify/verify.h"

namespace pullback::test {
namespace {

// Every other group is one of its own: much is written to memory.
constexpr Limits kLimits{.longest_row = 64,
                         .small_domain = 0,
                         .large_domain = 1 << 20,
                         .large_reduction = 100,
                         .repeated = 0,
                         .long_group = 48,
                         .few_live = 6,
                         .longest_group = 96};

// in0, out1, or the bytes of the arena: "@64".
std::string text_of(const Slot& slot) {
  const char* kinds[] = {"in", "out", "@"};
  return kinds[static_cast<int>(slot.kind)] + std::to_string(slot.index);
}

// A line for each step, what it reads and what it writes.
std::string text_of(const Plan& plan) {
  std::string out;
  for (const Step& step : plan.steps) {
    std::string reads, writes;
    for_each_view(step, [&](const View& view, bool write) {
      (write ? writes : reads) += " " + text_of(plan.slots[view.slot]);
    });
    out.append(name_of(step.source)).append(reads).append(" to").append(writes).append("\n");
  }
  for (size_t k = 0; k < plan.donated_arguments.size(); ++k) {
    const std::optional<int32_t> donated = plan.donated_arguments[k];
    if (!donated) continue;
    out += "out" + std::to_string(k) + " may take in" + std::to_string(*donated) + "\n";
  }
  return out + "arena " + std::to_string(plan.arena_bytes) + "\n";
}

void check_memory(const std::string& text, const std::string& expected, const std::string& what) {
  GraphText graph(text);
  const Snapshot snapshot = graph.snapshot();
  const Analysis analysis = simplify(snapshot);
  Plan plan = lower(analysis, fuse(analysis, kLimits));
  mark_checked(&plan);
  plan_memory(&plan);
  verify(plan);
  check_text(text_of(plan), expected, what);
}

void test_arena() {
  // Products write to memory of their own: a and b live at once, c comes when a is dead.
  check_memory(R"(
    x = argument f32[4,4]
    a = matmul x x
    b = matmul a x
    c = matmul b b
    d = matmul c b
    return d)",
               R"(
    matmul in0 in0 to @0
    matmul @0 in0 to @64
    matmul @64 @64 to @0
    matmul @0 @64 to out0
    arena 128)",
               "places are used again");
  check_memory(R"(
    x = argument f32[4,4]
    y = argument f32[4,8]
    a = matmul x x
    b = matmul a y
    c = matmul x b
    d = matmul a c
    return d)",
               R"(
    matmul in0 in0 to @0
    matmul @0 in1 to @64
    matmul in0 @64 to @192
    matmul @0 @192 to out0
    arena 320)",
               "nothing moves in before the step is over");
}

void test_in_place() {
  check_memory(R"(
    x = argument f32[4,4]
    a = matmul x x
    s = sum a
    b = subtract a s
    c = matmul b b
    return c)",
               R"(
    matmul in0 in0 @0 to @0 @0
    matmul @0 @0 to out0
    arena 64)",
               "a temporary");
  check_memory(R"(
    x = argument f32[20]
    y = argument f32[20]
    a = add x y
    return a)",
               R"(
    add in0 in1 to out0
    out0 may take in0
    arena 0)",
               "an argument gives its memory");
  check_memory(R"(
    x = argument f32[4,5]
    t = transpose x
    r = reshape x [5,4]
    a = add r t
    return a)",
               R"(
    add in0 in0 to out0
    arena 0)",
               "not where it is read in two ways");
  check_memory(R"(
    x = argument f32[20]
    z = argument f32[20]
    i = argument i64[3]
    a = exp x
    b = take z i axis=0
    return a b)",
               R"(
    exp in0 to out0
    take in1 in2 to out1
    arena 0)",
               "not before a step that can fail");
}

// Rows of a table are taken, changed and put back.
void test_rows() {
  check_memory(R"(
    v = argument f32[100,2]
    i = argument i64[3]
    a = take v i axis=0
    b = exp a
    c = at_index v b i axis=0
    return c)",
               R"(
    take in0 in1 to @0
    exp @0 to @0
    at_index in0 to out0
    at_index @0 in1 out0 to out0
    out0 may take in0
    arena 64)",
               "positions that were found inside are inside");
  check_memory(R"(
    v = argument f32[100,2]
    i = argument i64[3]
    b = argument f32[3,2]
    c = at_index v b i axis=0
    return c)",
               R"(
    at_index in0 to out0
    at_index in1 in2 out0 to out0
    out0 may take in0
    arena 0)",
               "positions that nobody has looked at: nothing is written before they are");
  check_memory(R"(
    v = argument f32[100,2]
    w = argument f32[100,2]
    i = argument i64[3]
    j = argument i64[3]
    b = argument f32[3,2]
    c = at_index v b i axis=0
    d = at_index w b j axis=0
    return c d)",
               R"(
    at_index in0 to out0
    at_index in1 in2 out0 to out0
    at_index in3 to out1
    at_index in1 in4 out1 to out1
    out1 may take in3
    arena 0)",
               "the last step that can fail");
  check_memory(R"(
    v = argument f32[100,2]
    w = argument f32[99,2]
    i = argument i64[3]
    a = take v i axis=0
    b = take w i axis=0
    c = at_index w a i axis=0
    d = at_index v b i axis=0
    return c d)",
               R"(
    take in0 in1 to @0
    take in2 in1 to @64
    at_index in2 to out0
    at_index @0 in1 out0 to out0
    at_index in0 to out1
    at_index @64 in1 out1 to out1
    out0 may take in2
    out1 may take in0
    arena 128)",
               "inside a longer axis is not inside a shorter one, but the other way round");
  check_memory(R"(
    v = argument f32[100,2]
    i = argument i64[3]
    j = argument i64[2]
    a = take v i axis=0
    b = take v j axis=0
    ij = concat i j axis=0
    ab = concat a b axis=0
    c = at_index v ab ij axis=0
    return c)",
               R"(
    take in0 in1 to @0
    take in0 in2 to @64
    concat in1 to @128
    concat in2 to @128
    concat @0 to @192
    concat @64 to @192
    at_index in0 to out0
    at_index @192 @128 out0 to out0
    out0 may take in0
    arena 256)",
               "positions one after the other");
  check_memory(R"(
    v = argument f32[100,2]
    i = argument i64[6]
    j = slice i [3] start=2
    a = take v i axis=0
    b = take v j axis=0
    w = at_index v b j axis=0
    c = at_index w a i axis=0
    return c)",
               R"(
    take in1 in0 to @0
    take in1 in0 to @64
    at_index in1 to out0
    at_index @64 in0 out0 to out0
    at_index @0 in0 out0 to out0
    out0 may take in1
    arena 128)",
               "some of the positions");
}

// What a traced function assigns to variables.
void test_replaced() {
  const std::string momentum = R"(
    m = argument f32[20]
    g = argument f32[20]
    v = argument f32[20]
    n = add m g
    w = subtract v n)";
  check_memory(momentum + "\nreturn n w\nreplace m by n\nreplace v by w", R"(
    subtract in0 in1 in2 to out0 out1
    out0 may take in0
    out1 may take in2
    arena 0)",
               "no other argument gives its memory");
  check_memory(momentum + "\nreturn n w\nreplace v by w", R"(
    subtract in0 in1 in2 to out0 out1
    out1 may take in2
    arena 0)",
               "what replaces nothing takes nothing");
  check_memory(R"(
    v = argument f32[4,4]
    x = argument f32[4,4]
    g = matmul x x
    w = subtract v g
    return w
    replace v by w)",
               R"(
    matmul in0 in0 in1 @0 to @0 out0
    out0 may take in1
    arena 64)",
               "not the memory of a temporary");
  check_memory(R"(
    v = argument f32[4,4]
    x = argument f32[4,4]
    y = matmul v x
    z = matmul y x
    w = matmul z x
    return w
    replace v by w)",
               R"(
    matmul in0 in1 to @0
    matmul @0 in1 to @64
    matmul @64 in1 to out0
    out0 may take in0
    arena 128)",
               "what an earlier step has read");
  check_memory(R"(
    v = argument f32[4,4]
    x = argument f32[4,4]
    w = matmul v x
    return w
    replace v by w)",
               R"(
    matmul in0 in1 to out0
    arena 0)",
               "not what the same product reads");
  check_memory(R"(
    v = argument f32[20]
    x = argument f32[20]
    w = exp x
    return w
    replace v by w)",
               R"(
    exp in0 to out0
    out0 may take in1
    arena 0)",
               "what nothing reads");
  check_memory(R"(
    a = argument f32[20]
    b = argument f32[20]
    c = exp b
    d = exp a
    return c d
    replace a by c
    replace b by d)",
               R"(
    exp in0 to out0
    exp in1 to out1
    out1 may take in0
    arena 0)",
               "each variable in its own memory, not in that of the other");
  check_memory(R"(
    v = argument f32[20]
    x = argument f32[20]
    i = argument i64[3]
    w = exp v
    t = take x i axis=0
    return w t
    replace v by w)",
               R"(
    exp in0 to out0
    take in1 in2 to out1
    arena 0)",
               "not before a step that can fail");
  check_memory(R"(
    v = argument f32[100,2]
    u = argument f32[100,2]
    i = argument i64[3]
    b = argument f32[3,2]
    w = at_index v b i axis=0
    return w
    replace u by w)",
               R"(
    at_index in0 to out0
    at_index in1 in2 out0 to out0
    arena 0)",
               "the base of an update that stays");
  check_memory(R"(
    v = argument f32[100,2]
    i = argument i64[3]
    b = argument f32[3,2]
    w = at_index v b i axis=0
    return w
    replace v by w)",
               R"(
    at_index in0 to out0
    at_index in1 in2 out0 to out0
    out0 may take in0
    arena 0)",
               "the base of an update that goes");
  check_memory(R"(
    v = argument f32[20]
    x = argument f32[20]
    u = reshape v [4,5]
    w = exp x
    return u w
    replace v by w)",
               R"(
    exp in1 to out0
    arena 0)",
               "not what leaves the plan");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_arena();
  test_in_place();
  test_rows();
  test_replaced();
  return report();
}
