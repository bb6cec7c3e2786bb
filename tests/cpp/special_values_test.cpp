// The elementwise kernels at infinities, NaN, signed zeros and ties, and where integers wrap.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

double call1(const ElementwiseTable& t, Op op, DType dtype, double a, double b = 0, double c = 0) {
  Array x(dtype, 1), y(dtype, 1), z(dtype, 1), out(dtype, 1);
  x.set(0, a);
  y.set(0, b);
  z.set(0, c);
  t.of[int(op)][int(dtype)](out.bytes.data(), x.bytes.data(), y.bytes.data(), z.bytes.data(), 1);
  return out.get(0);
}

void test_special_values(const char* level, const ElementwiseTable& t) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::nan("");
  struct Row {
    Op op;
    double a, b, c, expected;
  };
  const Row rows[] = {
      {Op::exp, -inf, 0, 0, 0.0},
      {Op::exp, inf, 0, 0, inf},
      {Op::exp, nan, 0, 0, nan},
      {Op::exp, 0, 0, 0, 1},
      {Op::expm1, -0.0, 0, 0, -0.0},
      {Op::expm1, -inf, 0, 0, -1},
      {Op::expm1, inf, 0, 0, inf},
      {Op::expm1, nan, 0, 0, nan},
      {Op::log, 0, 0, 0, -inf},
      {Op::log, -0.0, 0, 0, -inf},
      {Op::log, -1, 0, 0, nan},
      {Op::log, inf, 0, 0, inf},
      {Op::log, nan, 0, 0, nan},
      {Op::log, 1, 0, 0, 0.0},
      {Op::log1p, -1, 0, 0, -inf},
      {Op::log1p, -2, 0, 0, nan},
      {Op::log1p, -0.0, 0, 0, -0.0},
      {Op::log1p, inf, 0, 0, inf},
      {Op::log1p, -inf, 0, 0, nan},
      {Op::tanh, inf, 0, 0, 1},
      {Op::tanh, -inf, 0, 0, -1},
      {Op::tanh, -0.0, 0, 0, -0.0},
      {Op::tanh, nan, 0, 0, nan},
      {Op::sigmoid, inf, 0, 0, 1},
      {Op::sigmoid, -inf, 0, 0, 0.0},
      {Op::sigmoid, nan, 0, 0, nan},
      {Op::sigmoid, 0, 0, 0, 0.5},
      {Op::sigmoid_slope, inf, 0, 0, 0.0},
      {Op::sigmoid_slope, -inf, 0, 0, 0.0},
      {Op::sigmoid_slope, nan, 0, 0, nan},
      {Op::sigmoid_slope, 0, 0, 0, 0.25},
      {Op::softplus, inf, 0, 0, inf},
      {Op::softplus, -inf, 0, 0, 0.0},
      {Op::softplus, 1000, 0, 0, 1000},
      {Op::softplus, nan, 0, 0, nan},
      {Op::tanh_slope, 0, 0, 0, 1},
      {Op::tanh_slope, inf, 0, 0, 0.0},
      {Op::erf, inf, 0, 0, 1},
      {Op::erf, -inf, 0, 0, -1},
      {Op::erf, -0.0, 0, 0, -0.0},
      {Op::erf, nan, 0, 0, nan},
      {Op::erf_slope, -inf, 0, 0, 0.0},
      {Op::erf_slope, nan, 0, 0, nan},
      {Op::tanh_slope, nan, 0, 0, nan},
      {Op::rsqrt, 0, 0, 0, inf},
      {Op::rsqrt, -0.0, 0, 0, inf},
      {Op::rsqrt, inf, 0, 0, 0.0},
      {Op::rsqrt, -1, 0, 0, nan},
      {Op::rsqrt, 4, 0, 0, 0.5},
      {Op::sqrt, -0.0, 0, 0, -0.0},
      {Op::log_slope, -1, 0, 0, nan},
      {Op::log_slope, -0.0, 0, 0, inf},
      {Op::log_slope, 4, 0, 0, 0.25},
      {Op::maximum, nan, 1, 0, nan},
      {Op::maximum, 1, nan, 0, nan},
      {Op::maximum, -0.0, 0.0, 0, 0.0},
      {Op::maximum, 0.0, -0.0, 0, 0.0},
      {Op::minimum, 0.0, -0.0, 0, -0.0},
      {Op::minimum, -0.0, 0.0, 0, -0.0},
      {Op::minimum, nan, 1, 0, nan},
      {Op::max_share, 2, 1, 0, 1},
      {Op::max_share, 1, 1, 0, 0.5},
      {Op::max_share, 0, 1, 0, 0.0},
      {Op::max_share, nan, 1, 0, 1},
      {Op::max_share, 1, nan, 0, 0.0},
      {Op::min_share, 1, 2, 0, 1},
      {Op::min_share, nan, 2, 0, 1},
      {Op::relu, nan, 0, 0, nan},
      {Op::relu, -3, 0, 0, 0.0},
      {Op::relu, 3, 0, 0, 3},
      {Op::gate, nan, 5, 0, nan},
      {Op::gate, -0.0, inf, 0, 0.0},
      {Op::gate, 2, inf, 0, inf},
      {Op::difference, inf, inf, 0, 0.0},
      {Op::difference, -inf, -inf, 0, 0.0},
      {Op::difference, -inf, inf, 0, -inf},
      {Op::difference, nan, 1, 0, nan},
      {Op::multiply_no_nan, inf, 0, 0, 0.0},
      {Op::multiply_no_nan, nan, -0.0, 0, 0.0},
      {Op::multiply_no_nan, 2, nan, 0, nan},
      {Op::sign, nan, 0, 0, nan},
      {Op::sign, -2, 0, 0, -1},
      {Op::round, 2.5, 0, 0, 2},
      {Op::round, 3.5, 0, 0, 4},
      {Op::round, -0.5, 0, 0, -0.0},
      {Op::clip, 5, 3, 1, 1},
      {Op::clip, nan, 0, 1, nan},
      {Op::clip, -5, 0, 1, 0.0},
      {Op::pow, nan, 0, 0, 1},
      {Op::pow, 1, nan, 0, 1},
      {Op::pow, nan, 1, 0, nan},
      {Op::pow, 2, nan, 0, nan},
      {Op::pow, -1, inf, 0, 1},
      {Op::pow, -1, -inf, 0, 1},
      {Op::pow, 0.5, inf, 0, 0.0},
      {Op::pow, 0.5, -inf, 0, inf},
      {Op::pow, -2, inf, 0, inf},
      {Op::pow, -2, 3, 0, -8},
      {Op::pow, -2, 2, 0, 4},
      {Op::pow, -2, 0.5, 0, nan},
      {Op::pow, -2, 8388609, 0, -inf},
      {Op::pow, 0.0, 3, 0, 0.0},
      {Op::pow, -0.0, 3, 0, -0.0},
      {Op::pow, -0.0, 2, 0, 0.0},
      {Op::pow, -0.0, 0.5, 0, 0.0},
      {Op::pow, -0.0, -3, 0, -inf},
      {Op::pow, 0.0, -0.5, 0, inf},
      {Op::pow, inf, 0.1, 0, inf},
      {Op::pow, inf, -0.1, 0, 0.0},
      {Op::pow, -inf, 3, 0, -inf},
      {Op::pow, -inf, -3, 0, -0.0},
      {Op::pow, -inf, 0.5, 0, inf},
      {Op::pow, 10, 400, 0, inf},
      {Op::pow, -10, 401, 0, -inf},
      {Op::pow, 10, -400, 0, 0.0},
      {Op::pow_da, 0, 0, 0, 0.0},
      {Op::pow_da, nan, 0, 0, 0.0},
      {Op::pow_da, 0, 1, 0, 1},
      {Op::pow_da, 3, 2, 0, 6},
      {Op::pow_db, 0, 2, 0, 0.0},
      {Op::pow_db, 0, -1, 0, nan},
      {Op::pow_db, -2, 2, 0, nan},
      {Op::floor_divide, -7, 2, 0, -4},
      {Op::remainder, -7, 2, 0, 1},
      {Op::remainder, 7, -2, 0, -1},
      {Op::floor_divide, 1, 0, 0, inf},
      {Op::remainder, 1, 0, 0, nan},
      {Op::remainder, -1, inf, 0, inf},
      {Op::floor_divide, -1, inf, 0, -1},
      {Op::abs, -0.0, 0, 0, 0.0},
  };
  for (DType dtype : {DType::Float32, DType::Float64}) {
    for (const Row& row : rows) {
      const double got = call1(t, row.op, dtype, row.a, row.b, row.c);
      const bool ok = std::isnan(row.expected)
                          ? std::isnan(got)
                          : got == row.expected && std::signbit(got) == std::signbit(row.expected);
      check(ok, text(level, " op ", int64_t(row.op), " ", dtype, "(", std::to_string(row.a), ", ",
                     std::to_string(row.b), ") gave ", std::to_string(got)));
    }
  }
  const auto low = std::numeric_limits<int32_t>::min();
  check(call1(t, Op::floor_divide, DType::Int32, low, -1) == low, "INT_MIN // -1 wraps");
  check(call1(t, Op::remainder, DType::Int32, low, -1) == 0, "INT_MIN % -1");
  check(call1(t, Op::floor_divide, DType::Int32, -7, 2) == -4, "integer floor division");
  check(call1(t, Op::remainder, DType::Int64, -7, 2) == 1, "integer remainder");
  check(call1(t, Op::pow, DType::Int64, 3, 4) == 81, "integer power");
  check(call1(t, Op::abs, DType::Int32, low) == low, "abs(INT_MIN) wraps");
  check(call1(t, Op::add, DType::Int32, 2147483647, 1) == low, "integer addition wraps");
  check(call1(t, Op::multiply, DType::Int32, 65536, 65536) == 0, "integer product wraps");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  for (const Level& level : levels()) {
    test_special_values(level.name(), level.elementwise);
  }
  return report();
}
