// Verification: what every plan must satisfy before a backend sees it. Run on each new plan (plans
// are made rarely); a violation is a bug of ours and raises RuntimeError.
#pragma once

#include "plan/plan.h"

namespace pullback {

void verify(const Plan& plan);

template <class F>
void for_each_view(const TileGroup& group, F&& f) {
  for (const View& view : group.loads) f(view, false);
  for (const Store& store : group.stores) f(store.view, true);
  for (const Reduction& reduction : group.reductions) f(reduction.out, true);
}

// Calls f(view, written) for every view of a step, reads before writes (what a product's group
// reads comes after the product).
template <class F>
void for_each_view(const Step& step, F&& f) {
  std::visit(
      [&](const auto& work) {
        using W = std::decay_t<decltype(work)>;
        if constexpr (std::is_same_v<W, TileGroup>) {
          for_each_view(work, f);
        } else if constexpr (std::is_same_v<W, Gemm>) {
          f(work.a, false);
          f(work.b, false);
          f(work.c, true);
          if (work.then) for_each_view(*work.then, f);
        } else if constexpr (std::is_same_v<W, Gather> || std::is_same_v<W, ScatterAdd>) {
          f(work.in, false);
          f(work.indices, false);
          if constexpr (std::is_same_v<W, ScatterAdd>) {
            if (!work.clear) f(work.out, false);
          }
          f(work.out, true);
        } else if constexpr (std::is_same_v<W, Layout>) {
          f(work.in, false);
          if (work.add && !work.clear) f(work.out, false);
          f(work.out, true);
        } else if constexpr (std::is_same_v<W, ArgReduce>) {
          f(work.in, false);
          f(work.out, true);
        } else {
          f(work.out, true);
        }
      },
      step.work);
}

}  // namespace pullback
