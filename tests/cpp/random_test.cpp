// Random numbers: the same bits from every instruction set, Philox's known answer, moments of the
// distributions, permutations; and Iota.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <iterator>
#include <span>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_random_kernels(const char* level, const RandomTable& t) {
  const RandomTable& base = levels().front().random;
  for (int wide : {0, 1}) {
    const auto kernels = [&](const RandomTable& of) {
      return std::vector<RandomKernel>{of.uniform[wide], of.normal[wide], of.exponential[wide]};
    };
    for (size_t k = 0; k < 3; ++k) {
      std::vector<char> a(kRandomBlock * 8), b(kRandomBlock * 8);
      bool ok = true;
      for (int64_t block = 0; block < 50; ++block) {
        kernels(t)[k](-3, 12345678901, block * kRandomBlock, a.data());
        kernels(base)[k](-3, 12345678901, block * kRandomBlock, b.data());
        ok &= a == b;
      }
      check(ok, text(level, ": random bits are those of the lowest level"));
    }
  }
}

// Wherever a run of elements begins and ends, and whichever attempt is taken.
template <class T>
void test_gamma_kernels(const char* level, const GammaTable& t) {
  constexpr int wide = sizeof(T) == 8;
  constexpr int64_t n = 3001;
  const GammaTable& base = levels().front().gammas;
  std::vector<T> a(n), whole(n), parts(n);
  for (int64_t i = 0; i < n; ++i) {
    const double some[] = {1e-5, 0.03, 0.7, 1, 1.5, 40, 1e7, 0, -1, std::nan(""), HUGE_VAL};
    a[i] = static_cast<T>(some[i % std::size(some)]);
  }
  for (int log : {0, 1}) {
    base.of[log][wide](-3, 12345678901, 0, n, a.data(), 1, whole.data());
    for (int64_t first = 0; first < n; first += 167) {
      const int64_t count = std::min<int64_t>(167, n - first);
      t.of[log][wide](-3, 12345678901, first, count, a.data() + first, 1, parts.data() + first);
    }
    check(std::ranges::equal(std::as_bytes(std::span(whole)), std::as_bytes(std::span(parts))),
          text(level, ": gamma bits are those of the lowest level"));
    t.of[log][wide](-3, 12345678901, 0, n, a.data() + 3, 0, parts.data());
    bool ok = true;
    for (int64_t i = 3; i < n; i += 11) ok &= parts[i] == whole[i];
    check(ok, text(level, ": one concentration for all"));
  }
}

// Steps with parameters: one number for all or one for each, any number of threads.
void test_parameters() {
  const auto make = [](Op op, DType dtype, const std::vector<double>& values, int64_t n) {
    Runner r;
    r.scalars.resize(2);
    r.scalars[0].i = 5;
    r.scalars[1].i = 9;
    Random random{op, {0}, {1}, {}, {}};
    std::deque<Array> held;
    for (const double value : values) {
      Array& one = held.emplace_back(dtype, 1);
      if (dtype == DType::Float32) {
        *one.as<float>() = static_cast<float>(value);
      } else if (dtype == DType::Float64) {
        *one.as<double>() = value;
      } else {
        *one.as<int64_t>() = static_cast<int64_t>(value);
      }
      random.in.push_back({r.argument(one), dtype, 0, {n}, {0}});
    }
    const DType made =
        op == Op::random_poisson || op == Op::random_binomial ? DType::Float64 : dtype;
    random.out = row_view(r.output(made, n), made, {n});
    r.add(std::move(random));
    r.run_threads(name_of(op));
    return r.outputs[0];
  };
  constexpr int64_t n = 100001;
  const auto mean = [&](Array x) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += x.get(i);
    return sum / n;
  };
  const auto near = [&](double got, double wanted, double deviation, const char* what) {
    check(std::fabs(got - wanted) < 4 * deviation / std::sqrt(n), what);
  };
  near(mean(make(Op::random_gamma, DType::Float32, {2.5}, n)), 2.5, std::sqrt(2.5), "gamma");
  near(mean(make(Op::random_log_gamma, DType::Float64, {1.0}, n)), -0.5772156649, 1.2825, "log");
  near(mean(make(Op::random_poisson, DType::Float64, {3}, n)), 3, std::sqrt(3), "poisson");
  near(mean(make(Op::random_poisson, DType::Float64, {300}, n)), 300, std::sqrt(300), "poisson");
  near(mean(make(Op::random_binomial, DType::Float64, {100, 0.7}, n)), 70, std::sqrt(21), "binom");
  near(mean(make(Op::random_integers, DType::Int64, {-5, 10}, n)), 2.5, 4.61, "integers");
}

void test_random() {
  const auto make = [](Op op, DType dtype, int64_t n, int64_t seed, int64_t counter) {
    Runner r;
    r.scalars.resize(2);
    r.scalars[0].i = seed;
    r.scalars[1].i = counter;
    r.add(Random{op, {0}, {1}, row_view(r.output(dtype, n), dtype, {n}), {}});
    r.run_threads("random");
    return r.outputs[0];
  };
  Array known = make(Op::random_uniform, DType::Float32, 4, 0, 0);
  const uint32_t answer[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c,
                             0x9b00dbd8};  // Random123's vectors
  for (int i = 0; i < 4; ++i) {
    check(known.as<float>()[i] == static_cast<float>(answer[i] >> 8) * 0x1p-24f,
          "Philox known answer");
  }
  for (DType dtype : {DType::Float32, DType::Float64}) {
    constexpr int64_t n = 300001;
    Array uniform = make(Op::random_uniform, dtype, n, 5, 9),
          normal = make(Op::random_normal, dtype, n, 5, 9);
    Array shorter = make(Op::random_normal, dtype, 77, 5, 9),
          other = make(Op::random_normal, dtype, 77, 5, 10);
    bool prefix = true, inside = true, differs = false;
    for (int64_t i = 0; i < 77; ++i) {
      prefix &= same_element(shorter, i, normal, i);
      differs |= !same_element(shorter, i, other, i);
    }
    double mean = 0, moments[5] = {};
    for (int64_t i = 0; i < n; ++i) {
      inside &= uniform.get(i) >= 0 && uniform.get(i) < 1;
      mean += uniform.get(i) / n;
      for (int k = 1; k < 5; ++k) moments[k] += std::pow(normal.get(i), k) / n;
    }
    check(prefix && differs, "an element depends on seed, counter and position only");
    check(inside && std::fabs(mean - 0.5) < 0.003, "uniform");
    check(std::fabs(moments[1]) < 0.01 && std::fabs(moments[2] - 1) < 0.01 &&
              std::fabs(moments[3]) < 0.03 && std::fabs(moments[4] - 3) < 0.08,
          "normal");
  }
  Array permutation = make(Op::permutation, DType::Int64, 1000, 1, 2);
  std::vector<int64_t> sorted(permutation.as<int64_t>(), permutation.as<int64_t>() + 1000);
  check(!std::is_sorted(sorted.begin(), sorted.end()), "permutation mixes");
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 1000; ++i) check(sorted[i] == i, "permutation has every entry");
  make(Op::permutation, DType::Int64, 0, 1, 2);
  for (DType dtype : {DType::Int32, DType::Int64, DType::Float32, DType::Float64}) {
    Runner r;
    r.add(Iota{row_view(r.output(dtype, 300000), dtype, {300000})});
    r.run_threads("iota");
    check(r.outputs[0].get(0) == 0 && r.outputs[0].get(299999) == 299999, "iota");
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  for (const Level& level : levels()) {
    test_random_kernels(level.name(), level.random);
    test_gamma_kernels<float>(level.name(), level.gammas);
    test_gamma_kernels<double>(level.name(), level.gammas);
  }
  test_random();
  test_parameters();
  return report();
}
