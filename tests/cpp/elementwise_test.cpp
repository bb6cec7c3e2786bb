// The elementwise kernels and the casts, called directly: every length and alignment, all dtypes.
//
// An element must come out as it does alone, in the vector body as in the tail, since fusion and
// the number of threads decide where a tile begins. Values: special_values_test.cpp,
// accuracy_test.cpp.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

std::vector<double> special_values(DType dtype) {
  if (dtype == DType::Bool) return {0, 1};
  if (!is_float(dtype)) return {0, 1, -1, 2, -2, 3, -7, 100, 2147483647, -2147483648.0};
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<double> v{0.0,       -0.0, 1,     -1,    0.5,    -0.5,         1.5,
                        2.5,       -2.5, 3,     inf,   -inf,   std::nan(""), 1e-30,
                        -1e-30,    88.5, -88.5, 709.5, -745.0, 0x1p-126,     0x1p-149,
                        -0x1p-149, 0.55, 20,    -20,   1e30,   -1e30};
  if (dtype == DType::Float64) v.insert(v.end(), {0x1p-1022, 0x1p-1074, 1e300, -1e300});
  return v;
}

Array special_array(DType dtype, int64_t n) {
  const auto values = special_values(dtype);
  Array a = random_array(dtype, n);
  for (int64_t i = 0; i < n; ++i) {
    if (pick(2)) a.set(i, values[static_cast<size_t>(pick(static_cast<int64_t>(values.size())))]);
  }
  return a;
}

int64_t input_size(Op op, int input, DType dtype) {
  return op == Op::where && input == 0 ? 1 : size_of(dtype);
}

void test_tails(const char* level, const ElementwiseTable& table) {
  constexpr int64_t kLongest = 67, kOffsets = 64;  // the offsets in bytes are 0 … 63
  for (int op = 0; op < kElementwise; ++op) {
    for (int d = 0; d < kComputeDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      const TileKernel kernel = table.of[op][d];
      if (!kernel) continue;
      Array in[3];
      for (int i = 0; i < 3; ++i) {
        const bool condition = input_size(static_cast<Op>(op), i, dtype) == 1;
        in[i] = special_array(condition ? DType::Bool : dtype, kLongest + kOffsets);
        const bool nonzero = op == int(Op::floor_divide) || op == int(Op::remainder);
        for (int64_t j = 0; j < in[i].n && !is_float(dtype) && !condition; ++j) {
          if (nonzero && in[i].get(j) == 0) in[i].set(j, 5);
          if (op == int(Op::pow) && i == 1) in[i].set(j, std::fabs(std::fmod(in[i].get(j), 9)));
          if (op == int(Op::wrap_index)) in[i].set(j, i == 0 ? double(j % 18) - 9 : 9 + j % 5);
        }
      }
      // Bool results are one byte: the element size of the output is found by what is written.
      char probe[8];
      std::memset(probe, 0x77, 8);
      kernel(probe, in[0].bytes.data(), in[1].bytes.data(), in[2].bytes.data(), 1);
      int64_t size = 8;
      while (size > 1 && probe[size - 1] == 0x77) size /= 2;
      const DType result = size == 1 ? DType::Bool : dtype;
      Array alone(result, kLongest + kOffsets);
      const auto call = [&](Array& out, int64_t to, int64_t at, int64_t n) {
        const char* p[3];
        for (int i = 0; i < 3; ++i) p[i] = in[i].bytes.data() + at * input_size(Op(op), i, dtype);
        kernel(out.bytes.data() + to * size_of(result), p[0], p[1], p[2], n);
      };
      for (int64_t i = 0; i < alone.n; ++i) call(alone, i, i, 1);
      bool equal = true;
      Array out(result, kLongest + kOffsets);
      // Rows of special:: are loops over single elements, which can take milliseconds each.
      const int64_t further = special::kSpecialTable.of[op][d] ? 33 : 1;
      for (int64_t n = 1; n <= kLongest; n += further) {
        // Every length at the start and at two other places: some kernels take microseconds.
        for (int64_t at : {int64_t{0}, pick(kOffsets), pick(kOffsets)}) {
          const int64_t to = at * 7 % kOffsets;
          call(out, to, at, n);
          for (int64_t i = 0; i < n; ++i) equal &= same_element(out, to + i, alone, at + i);
        }
      }
      check(equal, text(level, " ", int64_t{op}, " ", dtype, ": tail and body agree"));
    }
  }
}

void test_casts(const char* level) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto cast = [&](double v, DType from, DType to) {
    Array a(from, 1), b(to, 1);
    a.set(0, v);
    kernels().casts.of[int(from)][int(to)](b.bytes.data(), a.bytes.data(), nullptr, nullptr, 1);
    return b;
  };
  for (DType from : {DType::Float32, DType::Float64}) {
    check(cast(inf, from, DType::Int32).as<int32_t>()[0] == INT32_MAX,
          text(level, " inf to int32"));
    check(cast(-1e30, from, DType::Int32).as<int32_t>()[0] == INT32_MIN, "low to int32");
    check(cast(1e30, from, DType::Int64).as<int64_t>()[0] == INT64_MAX, "high to int64");
    check(cast(-inf, from, DType::Int64).as<int64_t>()[0] == INT64_MIN, "-inf to int64");
    check(cast(std::nan(""), from, DType::Int64).as<int64_t>()[0] == 0, "NaN to int64");
    check(cast(std::nan(""), from, DType::Int32).as<int32_t>()[0] == 0, "NaN to int32");
    check(cast(-2.9, from, DType::Int32).as<int32_t>()[0] == -2, "truncates");
    check(cast(std::nan(""), from, DType::Bool).as<uint8_t>()[0] == 1, "NaN is true");
    check(cast(0.25, from, DType::Bool).as<uint8_t>()[0] == 1, "0.25 is true");
    check(cast(-0.0, from, DType::Bool).as<uint8_t>()[0] == 0, "-0 is false");
  }
  for (int from = 0; from < kComputeDTypes; ++from) {
    for (int to = 0; to < kComputeDTypes; ++to) {
      Array a = random_array(DType(from), 77), b(DType(to), 77);
      kernels().casts.of[from][to](b.bytes.data(), a.bytes.data(), nullptr, nullptr, 77);
      bool ok = true;
      for (int64_t i = 0; i < 77; ++i) {
        Array expected(DType(to), 1);
        const double v = a.get(i);
        if (DType(to) == DType::UInt64 && !is_float(DType(from))) {  // wraps, where floats saturate
          expected.as<uint64_t>()[0] = static_cast<uint64_t>(static_cast<int64_t>(v));
        } else {
          expected.set(0, is_float(DType(from)) && !is_float(DType(to)) && to ? std::trunc(v) : v);
        }
        ok &= same_element(b, i, expected, 0);
      }
      check(ok, text(level, " cast ", int64_t{from}, " to ", int64_t{to}));
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  const Level level = levels().back();
  test_tails(level.name(), level.elementwise);
  test_casts(level.name());
  return report();
}
