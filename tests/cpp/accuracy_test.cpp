// How far the kernels of the transcendental functions are from the exact value, in ulp of the
// result: 40000 arguments over the whole range, subnormals and overflow included, against long
// double. Then their ranges, and how far the instruction sets differ.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_accuracy(const Level& with) {
  const char* level = with.name();
  const ElementwiseTable& t = with.elementwise;
  const bool fused = with.level != CpuLevel::Baseline, widest = with.level == CpuLevel::Avx512;
  using L = long double;
  struct Row {
    Op op;
    L (*exact)(L);
    // Of float32, and of float64 where the result is normal: the worst that search has found,
    // rounded up. A subnormal result may be rounded twice there and has a quarter of an ulp more.
    double single, twice;
    double wide = single;  // float32 with AVX-512, where some have a way of their own
  };
  const Row rows[] = {
      {Op::exp, [](L x) { return expl(x); }, 0.51, widest ? 0.56 : 0.53, 0.53},
      {Op::expm1, [](L x) { return expm1l(x); }, 0.51, 0.75},
      {Op::log, [](L x) { return logl(x); }, 0.51, 0.65},
      {Op::log1p, [](L x) { return log1pl(x); }, 0.57, 0.75},
      {Op::tanh, [](L x) { return tanhl(x); }, 0.51, 0.55, 0.64},
      {Op::sigmoid, [](L x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }, 0.51,
       0.76},
      {Op::softplus, [](L x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }, 0.6, 1.2},
      {Op::tanh_slope,
       [](L x) {
         const L e = expl(-2 * fabsl(x));
         return 4 * e / ((1 + e) * (1 + e));
       },
       0.51, 3.7, 2.4},  // slopes are to stay within 4
      {Op::sigmoid_slope,
       [](L x) {
         const L e = expl(-fabsl(x));
         return e / ((1 + e) * (1 + e));
       },
       0.51, 3},
      {Op::rsqrt, [](L x) { return 1 / fabsl(sqrtl(x)); }, 0.51, fused ? 0.51 : 1.6},
      {Op::sqrt, [](L x) { return sqrtl(x); }, 0.5, 0.5},
      {Op::sin, [](L x) { return sinl(x); }, 0.51, 0.8},
      {Op::cos, [](L x) { return cosl(x); }, 0.51, 0.8},
      {Op::erf, [](L x) { return erfl(x); }, 0.54, 0.8},
      {Op::erf_slope, [](L x) { return 2 / sqrtl(4 * atanl(1)) * expl(-x * x); }, 0.51, 1.35},
  };
  for (const Row& row : rows) {
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const bool single = dtype == DType::Float32;
      const int digits = single ? 24 : 53, lowest = single ? -149 : -1074;
      const L largest =
          single ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
      constexpr int64_t n = 40000;
      Array x(dtype, n), y(dtype, n);
      for (int64_t i = 0; i < n; ++i) {
        const double scales[] = {1, 8, 90, 750};
        const double u = static_cast<double>(static_cast<int64_t>(generator())) * 0x1p-63;
        x.set(i, i % 2 ? u * scales[i / 2 % 4]
                       : std::ldexp(u, static_cast<int>(pick(single ? 275 : 2090)) + lowest));
      }
      for (int64_t i = 0; i < n / 8 && (row.op == Op::sin || row.op == Op::cos); ++i) {
        x.set(i, std::nextafter(static_cast<double>(pick(1 << 20)) * 1.5707963267948966,
                                static_cast<double>(pick(3))));
      }
      t.of[int(row.op)][int(dtype)](y.bytes.data(), x.bytes.data(), nullptr, nullptr, n);
      double worst = 0;
      for (int64_t i = 0; i < n; ++i) {
        const L exact = row.exact(x.get(i));
        const double got = y.get(i);
        if (std::isnan(exact)) {
          if (!std::isnan(got)) worst = 1e9;
        } else if (fabsl(exact) > largest * (1 + ldexpl(1, -digits - 1))) {
          if (!std::isinf(got) || std::signbit(got) != std::signbit(static_cast<double>(exact)))
            worst = 2e9;
        } else {
          int e;
          frexpl(exact, &e);
          const double ulp =
              static_cast<double>(fabsl(ldexpl(got - exact, -std::max(e - digits, lowest))));
          const double extra = e < (single ? -125 : -1021) && (!single || widest) ? 0.25 : 0;
          worst = std::isfinite(got) ? std::max(worst, ulp - extra) : 3e9;
        }
      }
      const double bound = !single ? row.twice : widest ? row.wide : row.single;
      check(worst <= bound, text(level, " ", name_of(row.op), " ", dtype, " worst ",
                                 std::to_string(worst), " ulp"));
    }
  }
}

// By how many ulp of float64 powl may be wrong: with musl by up to 0.7 where the exponent is large.
double error_of_powl() {
  const long double exact = 9.92597996960766021543877015744409470e297L;
  const long double error = fabsl(powl(1.0223388628575694, 31057.92637215362) - exact);
  return error < ldexpl(1, 930) ? 0 : 0.75;
}

// pow against powl: arguments all over the plane, then results all over the range.
void test_powers(const char* level, const ElementwiseTable& t) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    const bool single = dtype == DType::Float32;
    const int digits = single ? 24 : 53, lowest = single ? -149 : -1074;
    constexpr int64_t n = 40000;
    Array a(dtype, n), b(dtype, n), y(dtype, n);
    for (int64_t i = 0; i < n; ++i) {
      const double u = static_cast<double>(pick(1 << 30)) * 0x1p-30;
      const double v = static_cast<double>(static_cast<int64_t>(generator())) * 0x1p-63;
      const double scales[] = {1e-3, 0.3, 1, 40, single ? 200.0 : 2000.0};
      const double base = i % 2 ? 0.5 + u : std::exp2(scales[i / 2 % 5] * 0.6 * v);
      a.set(i, base);
      b.set(i, i % 3 ? v * (single ? 104 : 745) / std::log(a.get(i)) : std::round(60 * v));
    }
    t.of[int(Op::pow)][int(dtype)](y.bytes.data(), a.bytes.data(), b.bytes.data(), nullptr, n);
    double worst = 0;
    for (int64_t i = 0; i < n; ++i) {
      const long double exact = powl(a.get(i), b.get(i));
      if (!std::isfinite(y.get(i)) || std::isinf(static_cast<double>(exact))) {
        if (fabsl(exact) < ldexpl(1, single ? 127 : 1023)) worst = 1e9;
        continue;
      }
      int e;
      frexpl(exact, &e);
      const double extra = !single && e < -1021 ? 0.25 : 0;
      worst = std::max(worst, static_cast<double>(
                                  fabsl(ldexpl(y.get(i) - exact, -std::max(e - digits, lowest)))) -
                                  extra);
    }
    check(worst <= (single ? 0.52 : 0.6 + error_of_powl()),
          text(level, " pow ", dtype, " worst ", std::to_string(worst), " ulp"));
  }
}

// On a grid of 2^-10: tanh and erf never leave [-1, 1] nor sigmoid [0, 1], and none ever falls.
void test_ranges(const char* level, const ElementwiseTable& t) {
  for (DType dtype : {DType::Float32, DType::Float64}) {
    for (Op op : {Op::tanh, Op::erf, Op::sigmoid, Op::exp}) {
      constexpr int64_t n = 20000;
      Array x(dtype, n), y(dtype, n);
      for (int64_t i = 0; i < n; ++i) x.set(i, static_cast<double>(2 * i - n) * 0x1p-11);
      t.of[int(op)][int(dtype)](y.bytes.data(), x.bytes.data(), nullptr, nullptr, n);
      bool inside = true, rising = true;
      for (int64_t i = 0; i < n; ++i) {
        if (op != Op::exp) inside &= std::fabs(y.get(i)) <= 1;
        if (i) rising &= y.get(i) >= y.get(i - 1);
      }
      check(inside, text(level, " ", name_of(op), " ", dtype, " within its range"));
      check(rising, text(level, " ", name_of(op), " ", dtype, " never falls"));
    }
  }
}

// Every row of every level within 2 ulp of the lowest level's, slopes within 6. What a sum of
// logarithms cancels counts in ulp of its terms, and so does digamma next to its roots.
void test_levels_agree() {
  const auto all = levels();
  for (int op = 0; op < kElementwise; ++op) {
    const bool slope = Op(op) == Op::tanh_slope || Op(op) == Op::sigmoid_slope ||
                       Op(op) == Op::i0e_slope || Op(op) == Op::i1e_slope;
    const bool cancels =
        Op(op) == Op::logaddexp || Op(op) == Op::logaddexp2 || Op(op) == Op::digamma;
    for (DType dtype : {DType::Float32, DType::Float64}) {
      const TileKernel first = all[0].elementwise.of[op][int(dtype)];
      if (!first) continue;
      constexpr int64_t n = 4000;
      Array in[3];
      for (Array& a : in) a = random_array(dtype, n);
      for (size_t k = 1; k < all.size(); ++k) {
        Array y(dtype, n), z(dtype, n);
        first(y.bytes.data(), in[0].bytes.data(), in[1].bytes.data(), in[2].bytes.data(), n);
        all[k].elementwise.of[op][int(dtype)](z.bytes.data(), in[0].bytes.data(),
                                              in[1].bytes.data(), in[2].bytes.data(), n);
        double worst = 0;
        for (int64_t i = 0; i < n; ++i) {
          const double p = y.get(i), q = z.get(i);
          if (same_element(y, i, z, i)) continue;
          int e;
          const double term = std::fmax(std::fabs(in[0].get(i)), std::fabs(in[1].get(i)));
          std::frexp(cancels ? std::fmax(std::fabs(p), term) : p, &e);
          worst = std::max(
              worst, std::fabs(p - q) * std::ldexp(1.0, (dtype == DType::Float32 ? 24 : 53) - e));
        }
        check(worst <= (slope ? 6 : 2), text(all[k].name(), " ", name_of(Op(op)), " ", dtype,
                                             " differs by ", std::to_string(worst), " ulp"));
      }
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  for (const Level& level : levels()) {
    test_accuracy(level);
    test_powers(level.name(), level.elementwise);
    test_ranges(level.name(), level.elementwise);
  }
  test_levels_agree();
  return report();
}
