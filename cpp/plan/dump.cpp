// Text listing of a plan: a line per step, and below a tile group a line per value. Strides and
// offsets are shown if a view is not row-major.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "ops/composite.h"
#include "plan/backend.h"

namespace pullback {
namespace {

std::string show(const Plan& plan, const View& view) {
  const Slot& slot = plan.slots[view.slot];
  const char* kind = slot.kind == SlotKind::Argument ? "arg"
                     : slot.kind == SlotKind::Output ? "out"
                                                     : "tmp";
  std::string out = text(kind, view.slot, ":", view.dtype, view.shape);
  if (view.offset) out += text("+", view.offset);
  if (!is_row_major(view)) {
    out += " strides(";
    for (int64_t d = 0; d < view.shape.rank; ++d) out += text(d ? ", " : "", view.strides[d]);
    out += ")";
  }
  return out;
}

std::string show(const ScalarLoad& s) {
  if (!is_float(s.dtype)) return text(s.constant.i, ":", s.dtype);
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.9g", s.constant.f);
  return text(digits, ":", s.dtype);
}

struct Printer {
  const Plan& plan;

  std::string operator()(const TileGroup& g) const {
    std::string out = text("tiles ", g.count);
    if (g.length > 1) out = text("tiles ", g.rows(), " rows of ", g.length);
    int32_t value = 0;
    for (const View& v : g.loads) out += text("\n    v", value++, " = load ", show(plan, v));
    for (const ScalarLoad& s : g.scalars) {
      out += text("\n    v", value++, " = ");
      out += s.scalar < 0 ? text("constant ", show(s)) : text("scalar ", s.scalar, ":", s.dtype);
    }
    for (const Instruction& i : g.instructions) {
      out += text("\n    v", value++, " = ", i.row && g.length > 1 ? "row " : "", name_of(i.op),
                  ":", i.dtype);
      for (int32_t in : i.in) {
        if (in >= 0) out += text(" v", in);
      }
    }
    for (const Store& s : g.stores) out += text("\n    store v", s.value, " ", show(plan, s.view));
    for (const Reduction& r : g.reductions) {
      out += text("\n    ", name_of(r.op), " v", r.value, " [", r.outer, ", ", r.reduced, ", ",
                  r.inner, "] to ", show(plan, r.out));
    }
    return out;
  }
  std::string operator()(const Gemm& g) const {
    const std::string out =
        text("gemm ", show(plan, g.a), " · ", show(plan, g.b), " to ", show(plan, g.c));
    return g.epilogue ? text(out, "\n    epilogue ", (*this)(*g.epilogue)) : out;
  }
  static std::string show_windows(const Windowing& f) {
    const auto list = [](const PerWindow& n) { return Shape{n[0], n[1], n[2]}; };
    return text(" stride ", list(f.stride), " dilation ", list(f.dilation), " low ", list(f.low));
  }
  std::string operator()(const Convolution& c) const {
    const PerWindow& s = c.windows.spacing;
    const std::string out =
        text("convolve ", show(plan, c.x), " with ", show(plan, c.w), show_windows(c.windows),
             " spacing ", Shape{s[0], s[1], s[2]}, " to ", show(plan, c.y));
    return c.epilogue ? text(out, "\n    epilogue ", (*this)(*c.epilogue)) : out;
  }
  std::string operator()(const Pool& p) const {
    const PerWindow& s = p.windows.size;
    return text(name_of(p.op), " ", show(plan, p.in), p.g ? " and " : "",
                p.g ? show(plan, *p.g) : "", " size ", Shape{s[0], s[1], s[2]},
                show_windows(p.windows), " to ", show(plan, p.out));
  }
  std::string operator()(const Layout& l) const {
    return text(l.add     ? "add "
                : l.clear ? "embed "
                          : "copy ",
                show(plan, l.in), " to ", show(plan, l.out));
  }
  std::string operator()(const Gather& g) const {
    return text("gather ", show(plan, g.in), " at ", show(plan, g.indices), " to ",
                show(plan, g.out));
  }
  std::string operator()(const ScatterAdd& g) const {
    constexpr const char* updates[] = {"set", "add", "multiply", "min", "max"};
    return text("scatter_", updates[static_cast<int>(g.update)], g.equal ? "_equal " : " ",
                show(plan, g.in), " at ", show(plan, g.indices), " to ", show(plan, g.out));
  }
  std::string operator()(const ArgReduce& a) const {
    return text(name_of(a.op), " ", show(plan, a.in), " to ", show(plan, a.out));
  }
  std::string operator()(const Scan& s) const {
    return text(name_of(s.op), s.reversed ? " from the end " : " ", show(plan, s.in),
                s.factors ? " by " : "", s.factors ? show(plan, *s.factors) : "", " to ",
                show(plan, s.out));
  }
  std::string operator()(const Sort& s) const {
    return text(name_of(s.op), s.descending ? " descending " : " ", show(plan, s.in), " to ",
                show(plan, s.out));
  }
  std::string operator()(const Search& s) const {
    return text("search ", show(plan, s.in), s.right ? " right" : "", " in ", show(plan, s.sorted),
                " to ", show(plan, s.out));
  }
  std::string operator()(const Random& r) const {
    std::string out = name_of(r.op);
    for (const View& view : r.in) out += " " + show(plan, view);
    return text(out, " to ", show(plan, r.out));
  }
  std::string operator()(const CallbackCall& call) const {
    std::string out = "callback";
    for (const View& view : call.in) out += " " + show(plan, view);
    return text(out, " to ", show(plan, call.out));
  }
  std::string listing(const std::vector<View>& views) const {
    std::string out;
    for (const View& view : views) out += " " + (view.slot < 0 ? "-" : show(plan, view));
    return out;
  }
  // The plan of a body, indented.
  static std::string inside(const BodyPlan& body) {
    std::string out = "\n";
    for (const char c : dump(body.plan->plan))
      out += c == '\n' ? std::string("\n    ") : std::string(1, c);
    out.resize(out.find_last_not_of(" \n") + 1);
    return "\n   " + out.substr(1);
  }
  std::string operator()(const LibraryCall& call) const {
    return text(name_of(call.form.routine), listing(call.in), " to", listing(call.out));
  }
  std::string operator()(const Loop& l) const {
    const std::string trips = l.condition ? "while"
                              : l.counted ? "counted"
                                          : text(l.trips, " times");
    std::string out = text("loop ", trips, l.reversed ? " from the end" : "", listing(l.in), " to",
                           listing(l.out));
    if (l.condition) out += inside(*l.condition);
    if (l.replayed) out += " along" + inside(*l.replayed);
    return out + inside(l.body);
  }
  std::string operator()(const Branch& b) const {
    std::string out = text("branch", listing(b.in), " to", listing(b.out));
    for (const BodyPlan& choice : b.choices) out += inside(choice);
    return out;
  }
  std::string operator()(const Iota& i) const { return text("iota to ", show(plan, i.out)); }
};

}  // namespace

std::string dump(const Plan& plan) {
  std::string out = text("plan: ", static_cast<int64_t>(plan.arguments.size()), " arguments, ",
                         plan.scalars, " scalars, ", static_cast<int64_t>(plan.outputs.size()),
                         " outputs, arena ", plan.arena_bytes, " bytes\n");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    std::string line = std::visit(Printer{plan}, step.work);
    if (step.composite != Composite::None) {
      line.insert(std::min(line.find('\n'), line.size()), text("  in ", name_of(step.composite)));
    }
    out += text(static_cast<int64_t>(i), "  ", line, "\n");
  }
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind != SlotKind::Output || plan.donated_arguments.empty() ||
        plan.donated_arguments[slot.index] < 0)
      continue;
    const int32_t from = plan.arguments[plan.donated_arguments[slot.index]];
    out += text("in place: out", static_cast<int64_t>(s), " of arg", from, "\n");
  }
  return out;
}

}  // namespace pullback
