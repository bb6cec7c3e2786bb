// Enumerates the operands of a step: for_each_operand(); for_each_view() for reads and writes of
// views; for_each_body() for the plans of loops and branches.
#pragma once

#include <tuple>
#include <type_traits>

#include "plan/plan.h"

namespace pullback {

// Calls f for every `Part` (a View, a RunScalar or a BodyPlan) in the value of an Operand.
template <class Part, class T, class F>
void for_each_part(const T& value, const F& f) {
  if constexpr (std::is_same_v<T, Part>) {
    f(value);
  } else if constexpr (requires { value.operand(); }) {
    for_each_part<Part>(value.operand(), f);
  } else if constexpr (requires { value.begin(); }) {
    for (const auto& one : value) for_each_part<Part>(one, f);
  } else if constexpr (requires { value.has_value(); }) {
    if (value) for_each_part<Part>(*value, f);
  } else if constexpr (requires { value.valueless_by_exception(); }) {
    std::visit([&](const auto& one) { for_each_part<Part>(one, f); }, value);
  }
}

// Calls f(value, use) for the operands of a kind of step, as it lists them.
template <DescribedStep Kind, class F>
void visit_operands(const Kind& work, const F& f) {
  std::apply([&](const auto&... operands) { (f(operands.value, operands.use), ...); },
             work.operands());
}

// Calls f(part, use) for every `Part` among the operands, reads before writes. The operands of an
// epilogue come after those of the product.
template <class Part, DescribedStep Kind, class F>
void for_each_operand(const Kind& work, const F& f) {
  visit_operands(work, [&](const auto& value, Use use) {
    for_each_part<Part>(value, [&](const Part& part) { f(part, use); });
  });
  if constexpr (requires { work.epilogue; }) {
    if (work.epilogue) for_each_operand<Part>(*work.epilogue, f);
  }
}
template <class Part, class F>
void for_each_operand(const Step& step, const F& f) {
  std::visit([&](const auto& work) { for_each_operand<Part>(work, f); }, step.work);
}

// Calls f(view, written) for every view of a step or a group, reads before writes; twice for a view
// that is read and written.
template <class Steps, class F>
void for_each_view(const Steps& step, const F& f) {
  for_each_operand<View>(step, [&](const View& view, Use use) {
    if (use.read) f(view, false);
    if (use.write) f(view, true);
  });
}

// Calls f for the plan of every body.
template <class F>
void for_each_body(const Step& step, const F& f) {
  for_each_operand<BodyPlan>(step, [&](const BodyPlan& body, Use) { f(body); });
}

}  // namespace pullback
