// Failures, costs, listings and checks of the kinds of steps, in the order of plan/steps.h. Those
// of loops and branches that concern their bodies are in plan/verify/verify_control.cpp.
#include "plan/steps.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "plan/plan.h"

namespace pullback {
namespace {

bool is_three_axes(const View& view, int64_t a, int64_t b, int64_t c) {
  return view.shape == Shape{a, b, c};
}

Shape list(const PerWindow& n) { return {n[0], n[1], n[2]}; }

std::string title_of(const Windowing& f) {
  return text(" stride ", list(f.stride), " dilation ", list(f.dilation), " low ", list(f.low));
}

void check_windows(const Windowing& windows, const Require& require) {
  for (size_t d = 0; d < 3; ++d) {
    require(windows.stride[d] > 0 && windows.dilation[d] > 0 && windows.spacing[d] > 0 &&
                windows.size[d] >= 0,
            "windows without steps");
  }
}

}  // namespace

bool can_fail(const Instruction& instruction) {
  switch (traits(instruction.op).fails) {
    case Fails::Always:
      return true;
    case Fails::Integers:
      return !is_float(instruction.dtype);
    case Fails::Never:
      break;
  }
  return false;
}

bool TileGroup::can_fail() const {
  return std::ranges::any_of(
      instructions, [](const Instruction& instruction) { return pullback::can_fail(instruction); });
}

int64_t TileGroup::operations() const {
  int64_t total = static_cast<int64_t>(reductions.size()) * count;
  for (const Instruction& instruction : instructions) {
    total += instruction.row && !is_fold(instruction.op) ? rows() : count;
  }
  return total;
}

std::string TileGroup::title() const {
  return length > 1 ? text("tiles ", rows(), " rows of ", length) : text("tiles ", count);
}

void Gemm::check(const Require& require) const {
  const Shape &x = a.shape, &y = b.shape, &out = c.shape;
  require(out.rank >= 2 && x.rank >= 2 && y.rank >= 2, "a product of no matrices");
  // Batch axes repeat if they are missing or of size 1.
  for (const Shape* factor : {&x, &y}) {
    const int64_t lead = out.rank - factor->rank;
    require(lead >= 0, "a product of too few axes");
    for (int64_t d = 0; d < factor->rank - 2; ++d) {
      require((*factor)[d] == 1 || (*factor)[d] == out[lead + d], "a product of another batch");
    }
  }
  require(x[x.rank - 2] == out[out.rank - 2] && y[y.rank - 1] == out[out.rank - 1] &&
              x[x.rank - 1] == y[y.rank - 2],
          "a product of shapes that do not fit");
}

int64_t Convolution::operations() const {
  return 2 * y.shape.size() * w.shape[0] * w.shape[1] * w.shape[2] * w.shape[4];
}

std::string Convolution::title() const {
  return text("convolve", title_of(windows), " spacing ", list(windows.spacing));
}

void Convolution::check(const Require& require) const {
  const Shape &in = x.shape, &taps = w.shape, &out = y.shape;
  require(in.rank == 6 && taps.rank == 6 && out.rank == 6 && in[0] == out[0] && in[4] == out[4] &&
              in[4] == taps[3] && in[5] == taps[4] && out[5] == taps[5],
          "a convolution of shapes that do not fit");
  check_windows(windows, require);
}

int64_t Pool::operations() const {
  const PerWindow& taps = windows.size;
  return std::min(in.shape.size(), out.shape.size()) * taps[0] * taps[1] * taps[2];
}

std::string Pool::title() const {
  return text(name_of(op), " size ", list(windows.size), title_of(windows));
}

void Pool::check(const Require& require) const {
  const Shape &x = in.shape, &y = out.shape;
  require(x.rank == 5 && y.rank == 5 && x[0] == y[0] && x[4] == y[4] &&
              (op != Op::max_pool) == g.has_value(),
          "a pool of shapes that do not fit");
  check_windows(windows, require);
  if (!g) return;
  require(g->shape.rank == 5 &&
              (op == Op::max_pool_spread ? y == x && g->shape[0] == x[0] && g->shape[4] == x[4]
                                         : g->shape == x),
          "a pool of other windows");
}

bool Layout::copies_whole_slots() const {
  return in.slot != out.slot && is_flat(in) && is_flat(out) && !clear && !add;
}

void Gather::check(const Require& require) const {
  require(is_three_axes(in, outer, axis, inner), "an operand of another shape");
  const int64_t rows = require.product(outer, indices.shape.size());
  require(out.shape.size() == require.product(rows, inner), "a gather of another count");
}

std::string ScatterAdd::title() const {
  constexpr const char* updates[] = {"set", "add", "multiply", "min", "max"};
  return text("scatter_", updates[static_cast<int>(update)], equal ? "_equal" : "");
}

void ScatterAdd::check(const Require& require) const {
  require(is_three_axes(in, outer, indices.shape.size(), inner), "an operand of another shape");
  const int64_t rows = require.product(outer, axis);
  require(out.shape.size() == require.product(rows, inner), "a scatter of another count");
}

void ArgReduce::check(const Require& require) const {
  const int64_t results = require.product(outer, inner);
  require(in.shape.size() == require.product(results, reduced) && out.shape.size() == results,
          "a search of another count");
}

std::string Scan::title() const { return text(name_of(op), reversed ? " from the end" : ""); }

void Scan::check(const Require& require) const {
  require(is_three_axes(in, outer, length, inner) &&
              (!factors || is_three_axes(*factors, outer, length, inner)),
          "an operand of another shape");
  require((op == Op::linear_recurrence) == factors.has_value(), "a scan of factors");
  require(out.shape.size() == in.shape.size(), "a scan of another count");
}

std::string Sort::title() const { return text(name_of(op), descending ? " descending" : ""); }

void Sort::check(const Require& require) const {
  require(is_three_axes(in, outer, length, inner), "an operand of another shape");
  require(out.shape.size() == in.shape.size(), "a sort of another count");
}

void Search::check(const Require& require) const {
  require(sorted.shape.rank == 1 && sorted.dtype == in.dtype && in.shape.size() == out.shape.size(),
          "a search of another count");
}

void Random::check(const Require& require) const {
  for (const View& view : in) {
    require(view.shape.size() == out.shape.size(), "parameters of another count");
    require(is_row_major(view) || is_one_number(view), "a parameter with gaps");
  }
}

int64_t LibraryCall::operations() const {
  switch (form.routine) {
    case Routine::attention:
      return 4 * batch * form.m * form.n * form.k;
    case Routine::attention_cotangents:
      return 10 * batch * form.m * form.n * form.k;
    case Routine::fourier: {
      const int64_t points = std::max<int64_t>(form.fourier.points, 1);
      return 5 * batch * form.n * points * (std::bit_width(static_cast<uint64_t>(points)) - 1);
    }
    default:
      return 2 * batch * form.m * form.n * (form.k ? form.k : std::min(form.m, form.n));
  }
}

std::string Loop::title() const {
  const std::string count = condition ? "while"
                            : counted ? "counted"
                                      : text(trips.value_or(0), " times");
  return text("loop ", count, reversed ? " from the end" : "", replayed ? " along a replay" : "");
}

int64_t Loop::bytes() const {
  return bytes_of(carry_bytes) + bytes_of(replayed_from) + bytes_of(replayed_bytes) +
         bytes_of(residuals);
}

}  // namespace pullback
