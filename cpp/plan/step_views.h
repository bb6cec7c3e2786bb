// Enumerates the operands of a step: for_each_operand(); for_each_view() for reads and writes of
// views; for_each_body() for the plans of loops and branches.
#pragma once

#include <type_traits>

#include "plan/plan.h"

namespace pullback {

// Calls f for every `Part` (a View, a RunScalar or a BodyPlan) in an operand as each_operand() has
// it.
template <class Part, class Operand, class F>
void for_each_part(const Operand& operand, const F& f) {
  if constexpr (std::is_same_v<Operand, Part>) {
    f(operand);
  } else if constexpr (requires { operand.begin(); }) {
    for (const auto& one : operand) for_each_part<Part>(one, f);
  } else if constexpr (requires { operand.has_value(); }) {
    if (operand) for_each_part<Part>(*operand, f);
  } else if constexpr (requires { operand.valueless_by_exception(); }) {
    std::visit([&](const auto& one) { for_each_part<Part>(one, f); }, operand);
  }
}

// Calls f(part, use) for every `Part` among the operands, reads before writes. The operands of an
// epilogue come after those of the product.
template <class Part, DescribedStep Kind, class F>
void for_each_operand(const Kind& work, const F& f) {
  work.each_operand([&](const auto& operand, Use use) {
    for_each_part<Part>(operand, [&](const Part& part) { f(part, use); });
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
