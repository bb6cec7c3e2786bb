// Text listing of a plan: a line per step, and below a tile group a line per value. Strides and
// offsets are shown if a view is not row-major.
#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "ops/composite.h"
#include "plan/backend.h"
#include "plan/step_views.h"

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

std::string show(const TileGroup& g, const Plan& plan) {
  std::string out = g.title();
  int32_t value = 0;
  for (const View& v : g.loads) out += text("\n    v", value++, " = load ", show(plan, v));
  for (const ScalarLoad& s : g.scalars) {
    out += text("\n    v", value++, " = ");
    out +=
        s.scalar ? text("scalar ", s.scalar->position, ":", s.dtype) : text("constant ", show(s));
  }
  for (const Instruction& i : g.instructions) {
    out += text("\n    v", value++, " = ", i.row && g.length > 1 ? "row " : "", name_of(i.op), ":",
                i.dtype);
    for (const int32_t in : i.in) out += text(" v", in);
  }
  for (const Store& s : g.stores) out += text("\n    store v", s.value, " ", show(plan, s.view));
  for (const Reduction& r : g.reductions) {
    out += text("\n    ", name_of(r.op), " v", r.value, " [", r.outer, ", ", r.reduced, ", ",
                r.inner, "] to ", show(plan, r.out));
  }
  return out;
}

// The views of an operand; "-" for an optional output that is missing.
template <class T>
std::string listing(const T& value, const Plan& plan) {
  std::string out;
  if constexpr (std::is_same_v<T, std::vector<std::optional<View>>>) {
    for (const auto& view : value) out += " " + (view ? show(plan, *view) : "-");
  } else {
    for_each_part<View>(value, [&](const View& view) { out += " " + show(plan, view); });
  }
  return out;
}

template <DescribedStep Kind>
std::string title_of(const Kind& work) {
  if constexpr (requires { work.title(); }) {
    return work.title();
  } else if constexpr (requires { work.op; }) {
    return name_of(work.op);
  } else {
    return Kind::kKind;
  }
}

template <DescribedStep Kind>
std::string show(const Kind& work, const Plan& plan) {
  std::string reads, writes;
  visit_operands(work, [&](const auto& value, Use use) {
    (use.write ? writes : reads) += listing(value, plan);
  });
  std::string out = title_of(work) + reads + " to" + writes;
  if constexpr (requires { work.epilogue; }) {
    if (work.epilogue) out += "\n    epilogue " + show(*work.epilogue, plan);
  }
  return out;
}

// "  in softmax, exp at a.py:3, a.py:5": what the program calls the operations of a step.
std::string place_of(const Step& step, LineText line_of) {
  std::vector<std::string> names, lines;
  const auto add = [](std::vector<std::string>* to, const std::string& one) {
    if (!one.empty() && std::ranges::find(*to, one) == to->end()) to->push_back(one);
  };
  if (step.labels.empty() && step.composite != Composite::None)
    add(&names, name_of(step.composite));
  for (const Label& label : step.labels) {
    add(&names, name_of(label));
    if (line_of) add(&lines, line_of(label.site));
  }
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "  in " : ", ") + name;
  for (size_t i = 0; i < lines.size(); ++i) out += (i ? ", " : "  at ") + lines[i];
  return out;
}

// The plan of a body, indented.
std::string show(const BodyPlan& body, LineText line_of) {
  std::string out = "\n    ";
  for (const char c : dump(body.plan->plan, line_of))
    out += c == '\n' ? std::string("\n    ") : std::string(1, c);
  out.resize(out.find_last_not_of(" \n") + 1);
  return out;
}

}  // namespace

std::string dump(const Plan& plan, LineText line_of) {
  std::string out = text("plan: ", static_cast<int64_t>(plan.arguments.size()), " arguments, ",
                         plan.scalars, " scalars, ", static_cast<int64_t>(plan.outputs.size()),
                         " outputs, arena ", plan.arena_bytes, " bytes\n");
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    const auto shown = [&](const auto& work) { return show(work, plan); };
    std::string listing = std::visit(shown, step.work);
    listing.insert(std::min(listing.find('\n'), listing.size()), place_of(step, line_of));
    out += text(static_cast<int64_t>(i), "  ", listing);
    for_each_body(step, [&](const BodyPlan& inside) { out += show(inside, line_of); });
    out += "\n";
  }
  for (size_t s = 0; s < plan.slots.size(); ++s) {
    const Slot& slot = plan.slots[s];
    if (slot.kind != SlotKind::Output || plan.donated_arguments.empty()) continue;
    if (const auto donated = plan.donated_arguments[slot.index]) {
      out +=
          text("in place: out", static_cast<int64_t>(s), " of arg", plan.arguments[*donated], "\n");
    }
  }
  return out;
}

}  // namespace pullback
