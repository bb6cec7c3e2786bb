// Checks each step by itself: views inside of their slots, row-major where the kind of step
// requires it, the shapes that the kind requires, and no write to memory that the step still reads.
#include "plan/verify/verify.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "base/error.h"
#include "plan/step_views.h"

namespace pullback {
namespace {

class StepCheck {
 public:
  StepCheck(const Plan& plan, const std::vector<int32_t>& memory, size_t step)
      : plan_(plan), memory_(memory), step_(plan.steps[step]), require_{step} {}

  void run() const {
    // After this check, the number of elements of every view fits in 64 bits.
    for_each_operand<View>(step_, [&](const View& view, Use use) {
      check_bounds(view);
      require_(use.strided || is_row_major(view), "an operand with gaps");
      require_(!use.write || plan_.slots[view.slot].kind != SlotKind::Argument,
               "a write to an argument");
    });
    for_each_operand<RunScalar>(step_, [&](RunScalar scalar, Use) {
      require_(scalar.position >= 0 && scalar.position < plan_.scalars,
               "a scalar that the run has not");
    });
    std::visit([&](const auto& work) { work.check(require_); }, step_.work);
    std::visit([&](const auto& work) { check_aliasing(work); }, step_.work);
  }

 private:
  void check_bounds(const View& view) const {
    require_(view.slot >= 0 && static_cast<size_t>(view.slot) < plan_.slots.size(),
             "a view of no slot");
    require_(view.strides.rank == view.shape.rank, "a view without a stride for each axis");
    int64_t elements = 1;
    for (int64_t dim : view.shape) {
      require_(dim >= 0, "a view of a negative length");
      elements = require_.product(elements, dim);
    }
    if (elements == 0) return;
    int64_t low = view.offset;
    int64_t high = view.offset;
    for (int64_t d = 0; d < view.shape.rank; ++d) {
      const int64_t reach = require_.product(view.shape[d] - 1, view.strides[d]);
      int64_t& end = reach < 0 ? low : high;
      end = sum_of(require_.step, end, reach);
    }
    const Slot& slot = plan_.slots[view.slot];
    require_(view.dtype == slot.dtype, "a view of another dtype");
    const int64_t bytes = require_.product(sum_of(require_.step, high, 1), size_of(view.dtype));
    require_(low >= 0 && bytes <= slot.bytes, "a view out of bounds");
  }

  // No step writes to memory that another of its operands reads.
  template <DescribedStep Kind>
  void check_aliasing(const Kind& work) const {
    if constexpr (std::is_same_v<Kind, TileGroup>) {
      verify_group(work, memory_, require_.step);
    } else {
      std::vector<int32_t> read, written;
      const View* result = nullptr;
      visit_operands(work, [&](const auto& value, Use use) {
        for_each_part<View>(value, [&](const View& view) {
          (use.write ? written : read).push_back(memory_[view.slot]);
          if (use.write) result = &view;
        });
      });
      std::ranges::sort(written);
      // Copying donated memory to itself needs no work.
      bool stays = false;
      if constexpr (std::is_same_v<Kind, Layout>) stays = work.copies_whole_slots();
      require_(stays || std::ranges::none_of(read,
                                             [&](int32_t slot) {
                                               return std::ranges::binary_search(written, slot);
                                             }),
               "a write to memory that the step reads");
      if constexpr (requires { work.epilogue; }) {
        if (work.epilogue) {
          verify_epilogue(read, *result, *work.epilogue, memory_, require_.step);
        }
      }
    }
  }

  const Plan& plan_;
  const std::vector<int32_t>& memory_;
  const Step& step_;
  const Require require_;
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

void Require::operator()(bool holds, const char* what) const {
  if (!holds) broken(step, what);
}

int64_t Require::product(int64_t a, int64_t b) const { return product_of(step, a, b); }

void verify(const Plan& plan) {
  const std::vector<int32_t> memory = memory_of_slots(plan);
  for (size_t i = 0; i < plan.steps.size(); ++i) StepCheck(plan, memory, i).run();
  verify_written(plan);
  verify_memory(plan);
}

}  // namespace pullback
