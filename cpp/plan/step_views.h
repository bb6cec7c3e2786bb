// Enumerates the views that a step reads and writes: for_each_view(). Liveness, verification and
// dumps are generic by it.
#pragma once

#include <type_traits>

#include "plan/plan.h"

namespace pullback {

// Calls f(view, written) for every view of a step, reads before writes (the reads of an epilogue
// come after the product). One for each kind of step, so that a new one does not compile before it
// has its own.
template <class F>
void for_each_view(const TileGroup& group, F&& f) {
  for (const View& view : group.loads) f(view, false);
  for (const Store& store : group.stores) f(store.view, true);
  for (const Reduction& reduction : group.reductions) f(reduction.out, true);
}
template <class F>
void for_each_view(const Gemm& gemm, F&& f) {
  f(gemm.a, false);
  f(gemm.b, false);
  f(gemm.c, true);
  if (gemm.epilogue) for_each_view(*gemm.epilogue, f);
}
template <class F>
void for_each_view(const Convolution& convolution, F&& f) {
  f(convolution.x, false);
  f(convolution.w, false);
  f(convolution.y, true);
  if (convolution.epilogue) for_each_view(*convolution.epilogue, f);
}
template <class F>
void for_each_view(const Pool& pool, F&& f) {
  f(pool.in, false);
  if (pool.g) f(*pool.g, false);
  f(pool.out, true);
}
template <class F>
void for_each_view(const Layout& layout, F&& f) {
  f(layout.in, false);
  if (layout.add && !layout.clear) f(layout.out, false);
  f(layout.out, true);
}
template <class F>
void for_each_view(const Gather& gather, F&& f) {
  f(gather.in, false);
  f(gather.indices, false);
  f(gather.out, true);
}
template <class F>
void for_each_view(const ScatterAdd& scatter, F&& f) {
  f(scatter.in, false);
  f(scatter.indices, false);
  if (!scatter.clear) f(scatter.out, false);
  f(scatter.out, true);
}
template <class F>
void for_each_view(const ArgReduce& reduce, F&& f) {
  f(reduce.in, false);
  f(reduce.out, true);
}
template <class F>
void for_each_view(const Scan& scan, F&& f) {
  f(scan.in, false);
  if (scan.factors) f(*scan.factors, false);
  f(scan.out, true);
}
template <class F>
void for_each_view(const Sort& sort, F&& f) {
  f(sort.in, false);
  f(sort.out, true);
}
template <class F>
void for_each_view(const Search& search, F&& f) {
  f(search.sorted, false);
  f(search.in, false);
  f(search.out, true);
}
template <class F>
void for_each_view(const Random& random, F&& f) {
  for (const View& view : random.in) f(view, false);
  f(random.out, true);
}
template <class F>
void for_each_view(const Iota& iota, F&& f) {
  f(iota.out, true);
}
template <class F>
void for_each_view(const CallbackCall& call, F&& f) {
  for (const View& view : call.in) f(view, false);
  f(call.out, true);
}
template <class Several, class F>
  requires(std::is_same_v<Several, LibraryCall> || std::is_same_v<Several, Loop> ||
           std::is_same_v<Several, Branch>)
void for_each_view(const Several& step, F&& f) {
  for (const View& view : step.in) {
    if (view.slot >= 0) f(view, false);
  }
  for (const View& view : step.out) {
    if (view.slot >= 0) f(view, true);
  }
}
template <class F>
void for_each_view(const Step& step, F&& f) {
  std::visit([&](const auto& work) { for_each_view(work, f); }, step.work);
}

}  // namespace pullback
