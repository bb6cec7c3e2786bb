// Checks each step by itself: views inside of their slots, matching shapes, and no write to memory
// that the step still reads.
#include "plan/verify/verify.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "plan/step_views.h"

namespace pullback {
namespace {

class StepCheck {
 public:
  StepCheck(const Plan& plan, const std::vector<int32_t>& memory, size_t step)
      : plan_(plan), memory_(memory), step_(step) {}

  void run() {
    // After this check, the number of elements of every view fits in 64 bits.
    for_each_view(plan_.steps[step_], [&](const View& view, bool write) {
      check_bounds(view);
      if (write && plan_.slots[view.slot].kind == SlotKind::Argument)
        fault("a write to an argument");
    });
    std::visit([&](const auto& work) { check(work); }, plan_.steps[step_].work);
  }

 private:
  [[noreturn]] void fault(const char* what) const { broken(step_, what); }
  void require(bool holds, const char* what) const {
    if (!holds) fault(what);
  }
  int64_t product(int64_t a, int64_t b) const { return product_of(step_, a, b); }
  int64_t sum(int64_t a, int64_t b) const { return sum_of(step_, a, b); }

  void check_bounds(const View& view) const {
    require(view.slot >= 0 && static_cast<size_t>(view.slot) < plan_.slots.size(),
            "a view of no slot");
    require(view.strides.rank == view.shape.rank, "a view without a stride for each axis");
    int64_t elements = 1;
    for (int64_t dim : view.shape) {
      require(dim >= 0, "a view of a negative length");
      elements = product(elements, dim);
    }
    if (elements == 0) return;
    int64_t low = view.offset;
    int64_t high = view.offset;
    for (int64_t d = 0; d < view.shape.rank; ++d) {
      const int64_t reach = product(view.shape[d] - 1, view.strides[d]);
      int64_t& end = reach < 0 ? low : high;
      end = sum(end, reach);
    }
    const Slot& slot = plan_.slots[view.slot];
    require(view.dtype == slot.dtype, "a view of another dtype");
    require(low >= 0 && product(sum(high, 1), size_of(view.dtype)) <= slot.bytes,
            "a view out of bounds");
  }

  void check_disjoint(const View& in, const View& out) const {
    require(memory_[in.slot] != memory_[out.slot], "a write to memory that the step reads");
  }
  void check_three_axes(const View& view, int64_t a, int64_t b, int64_t c) const {
    require(view.shape == Shape{a, b, c}, "an operand of another shape");
  }

  void check(const TileGroup& group) const {
    for (const ScalarLoad& load : group.scalars) check_scalar(load.scalar, -1);
    verify_group(group, memory_, step_);
  }
  void check(const Gemm& gemm) const {
    const Shape &a = gemm.a.shape, &b = gemm.b.shape, &c = gemm.c.shape;
    require(c.rank >= 2 && a.rank >= 2 && b.rank >= 2, "a product of no matrices");
    check_factor(a, c);
    check_factor(b, c);
    require(a[a.rank - 2] == c[c.rank - 2] && b[b.rank - 1] == c[c.rank - 1] &&
                a[a.rank - 1] == b[b.rank - 2],
            "a product of shapes that do not fit");
    check_disjoint(gemm.a, gemm.c);
    check_disjoint(gemm.b, gemm.c);
    check_epilogue(gemm.epilogue, gemm.a, gemm.b, gemm.c);
  }
  void check_epilogue(const std::optional<TileGroup>& epilogue, const View& a, const View& b,
                      const View& c) const {
    if (!epilogue) return;
    for (const ScalarLoad& load : epilogue->scalars) check_scalar(load.scalar, -1);
    verify_epilogue(a, b, c, *epilogue, memory_, step_);
  }
  void check(const Windowing& windows) const {
    for (size_t d = 0; d < 3; ++d) {
      require(windows.stride[d] > 0 && windows.dilation[d] > 0 && windows.spacing[d] > 0 &&
                  windows.size[d] >= 0,
              "windows without steps");
    }
  }
  void check(const Convolution& convolution) const {
    const Shape &x = convolution.x.shape, &w = convolution.w.shape, &y = convolution.y.shape;
    require(x.rank == 6 && w.rank == 6 && y.rank == 6 && x[0] == y[0] && x[4] == y[4] &&
                x[4] == w[3] && x[5] == w[4] && y[5] == w[5],
            "a convolution of shapes that do not fit");
    check(convolution.windows);
    require(is_row_major(convolution.y), "a convolution with gaps");
    check_disjoint(convolution.x, convolution.y);
    check_disjoint(convolution.w, convolution.y);
    check_epilogue(convolution.epilogue, convolution.x, convolution.w, convolution.y);
  }
  void check(const Pool& pool) const {
    const Shape &x = pool.in.shape, &y = pool.out.shape;
    require(x.rank == 5 && y.rank == 5 && x[0] == y[0] && x[4] == y[4] &&
                (pool.op == Op::max_pool) != pool.g.has_value(),
            "a pool of shapes that do not fit");
    check(pool.windows);
    require(is_row_major(pool.in) && is_row_major(pool.out), "a pool with gaps");
    check_disjoint(pool.in, pool.out);
    if (!pool.g) return;
    const bool spreads = pool.op == Op::max_pool_spread;
    require(pool.g->shape.rank == 5 && is_row_major(*pool.g) &&
                (spreads ? y == x && pool.g->shape[0] == x[0] && pool.g->shape[4] == x[4]
                         : pool.g->shape == x),
            "a pool of other windows");
    check_disjoint(*pool.g, pool.out);
  }
  // Batch axes repeat if they are missing or of size 1.
  void check_factor(const Shape& factor, const Shape& c) const {
    const int64_t lead = c.rank - factor.rank;
    require(lead >= 0, "a product of too few axes");
    for (int64_t d = 0; d < factor.rank - 2; ++d) {
      require(factor[d] == 1 || factor[d] == c[lead + d], "a product of another batch");
    }
  }
  void check(const Layout& layout) const {
    require(layout.in.shape == layout.out.shape, "a copy to another shape");
    // Copying donated memory to itself needs no work.
    const bool stays = layout.in.slot != layout.out.slot && is_flat(layout.in) &&
                       is_flat(layout.out) && !layout.clear && !layout.add;
    if (!stays) check_disjoint(layout.in, layout.out);
  }
  void check(const Gather& gather) const {
    check_three_axes(gather.in, gather.outer, gather.axis, gather.inner);
    const int64_t rows = product(gather.outer, gather.indices.shape.size());
    require(gather.out.shape.size() == product(rows, gather.inner), "a gather of another count");
    check_disjoint(gather.in, gather.out);
    check_disjoint(gather.indices, gather.out);
  }
  void check(const ScatterAdd& scatter) const {
    check_three_axes(scatter.in, scatter.outer, scatter.indices.shape.size(), scatter.inner);
    const int64_t rows = product(scatter.outer, scatter.axis);
    require(scatter.out.shape.size() == product(rows, scatter.inner), "a scatter of another count");
    check_disjoint(scatter.in, scatter.out);
    check_disjoint(scatter.indices, scatter.out);
  }
  void check(const ArgReduce& reduce) const {
    const int64_t results = product(reduce.outer, reduce.inner);
    require(reduce.in.shape.size() == product(results, reduce.reduced) &&
                reduce.out.shape.size() == results,
            "a search of another count");
    check_disjoint(reduce.in, reduce.out);
  }
  void check(const Scan& scan) const {
    check_three_axes(scan.in, scan.outer, scan.length, scan.inner);
    if (scan.factors) check_three_axes(*scan.factors, scan.outer, scan.length, scan.inner);
    require((scan.op == Op::linear_recurrence) == scan.factors.has_value(), "a scan of factors");
    require(scan.out.shape.size() == scan.in.shape.size(), "a scan of another count");
    check_disjoint(scan.in, scan.out);
    if (scan.factors) check_disjoint(*scan.factors, scan.out);
  }
  void check(const Sort& sort) const {
    check_three_axes(sort.in, sort.outer, sort.length, sort.inner);
    require(sort.out.shape.size() == sort.in.shape.size(), "a sort of another count");
    check_disjoint(sort.in, sort.out);
  }
  void check(const Search& search) const {
    require(search.sorted.shape.rank == 1 && search.sorted.dtype == search.in.dtype &&
                search.in.shape.size() == search.out.shape.size(),
            "a search of another count");
    check_disjoint(search.sorted, search.out);
    check_disjoint(search.in, search.out);
  }
  void check(const Random& random) const {
    check_scalar(random.seed, 0);
    check_scalar(random.counter, 0);
    for (const View& view : random.in) {
      require(view.shape.size() == random.out.shape.size(), "parameters of another count");
      require(is_row_major(view) || is_one_number(view), "a parameter with gaps");
      check_disjoint(view, random.out);
    }
  }
  void check(const CallbackCall& call) const {
    check_scalar(call.function, 0);
    for (const View& view : call.in) {
      require(is_row_major(view), "an argument of a function with gaps");
      check_disjoint(view, call.out);
    }
    require(is_row_major(call.out), "a result of a function with gaps");
  }
  void check(const LibraryCall& call) const { check_disjoint(call.in, call.out); }
  void check(const Loop& loop) const {
    verify_loop(loop, step_);
    check_disjoint(loop.in, loop.out);
  }
  void check(const Branch& branch) const {
    verify_branch(branch, step_);
    check_disjoint(branch.in, branch.out);
  }
  void check_disjoint(const std::vector<View>& in, const std::vector<View>& out) const {
    for (const View& view : in) {
      if (view.slot >= 0) require(is_row_major(view), "an operand with gaps");
      for (const View& written : out) {
        if (view.slot >= 0 && written.slot >= 0) check_disjoint(view, written);
      }
    }
  }
  void check(const Iota& iota) const {
    require(iota.out.shape.rank == 1, "a range of several axes");
  }

  void check_scalar(int32_t scalar, int32_t lowest) const {
    require(scalar >= lowest && scalar < plan_.scalars, "a scalar that the run has not");
  }

  const Plan& plan_;
  const std::vector<int32_t>& memory_;
  const size_t step_;
};

}  // namespace

void broken(size_t step, const char* what) {
  fail(ErrorKind::Runtime, "internal error in the planner, step ", static_cast<int64_t>(step), ": ",
       what, "; please report this program");
}

int64_t product_of(size_t step, int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_mul_overflow(a, b, &out)) broken(step, "a size that 64 bits cannot count");
  return out;
}

int64_t sum_of(size_t step, int64_t a, int64_t b) {
  int64_t out;
  if (__builtin_add_overflow(a, b, &out)) broken(step, "a size that 64 bits cannot count");
  return out;
}

void verify(const Plan& plan) {
  const std::vector<int32_t> memory = memory_of_slots(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) StepCheck(plan, memory, i).run();
  verify_written(plan);
  verify_memory(plan);
}

}  // namespace pullback
