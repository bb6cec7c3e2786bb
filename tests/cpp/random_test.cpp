// Random numbers: the same bits from every instruction set, Philox's known answer, moments of the
// distributions, permutations; and Iota.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "backend/cpu/kernels/table.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_random_kernels(const char* level, const RandomTable& t) {
  const RandomTable& base = kernels_baseline::kRandomTable;
  for (int wide : {0, 1}) {
    for (bool normal : {false, true}) {
      std::vector<char> a(kRandomPiece * 8), b(kRandomPiece * 8);
      bool ok = true;
      for (int64_t piece = 0; piece < 50; ++piece) {
        (normal ? t.normal : t.uniform)[wide](-3, 12345678901, piece * kRandomPiece, a.data());
        (normal ? base.normal : base.uniform)[wide](-3, 12345678901, piece * kRandomPiece,
                                                    b.data());
        ok &= a == b;
      }
      check(ok, text(level, ": random bits are those of the baseline"));
    }
  }
}

void test_random() {
  const auto make = [](Op op, DType dtype, int64_t n, int64_t seed, int64_t counter) {
    Runner r;
    r.scalars.resize(2);
    r.scalars[0].i = seed;
    r.scalars[1].i = counter;
    r.add(Random{op, 0, 1, row_view(r.output(dtype, n), dtype, {n})});
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
  }
  test_random();
  return report();
}
