// What only C++ can see of the CPU backend: plans built by hand, run and compared with plain loops.
//
// Every kind of step, all dtypes, odd lengths, strides, broadcasting, empty arrays, equal bits for
// any number of threads, every instruction set of this processor, special values. Prints "N passed,
// M failed"; returns nonzero on a failure. PULLBACK_BLAS names the library for Gemm.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "backend/cpu/blas.h"
#include "backend/cpu/kernels/table.h"
#include "base/cpu_level.h"
#include "base/error.h"
#include "base/threads.h"
#include "plan/backend.h"

using namespace pullback;

namespace {

int passed = 0;
int failed = 0;

void check(bool ok, const std::string& what) {
  ++(ok ? passed : failed);
  if (!ok && failed < 40) std::printf("FAILED: %s\n", what.c_str());
}

std::mt19937_64 generator(7);
int64_t pick(int64_t n) { return static_cast<int64_t>(generator() % static_cast<uint64_t>(n)); }

// --- arrays and plans

struct Array {
  DType dtype = DType::Float32;
  int64_t n = 0;
  std::vector<char> bytes;
  Array() = default;
  Array(DType d, int64_t count)
      : dtype(d), n(count), bytes(static_cast<size_t>(count * size_of(d) + 8)) {}
  template <class T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  double get(int64_t i) {
    switch (dtype) {
      case DType::Bool:
        return as<uint8_t>()[i];
      case DType::Int32:
        return as<int32_t>()[i];
      case DType::Int64:
        return static_cast<double>(as<int64_t>()[i]);
      case DType::Float32:
        return as<float>()[i];
      default:
        return as<double>()[i];
    }
  }
  void set(int64_t i, double v) {
    switch (dtype) {
      case DType::Bool:
        as<uint8_t>()[i] = v != 0;
        break;
      case DType::Int32:
        as<int32_t>()[i] = static_cast<int32_t>(v);
        break;
      case DType::Int64:
        as<int64_t>()[i] = static_cast<int64_t>(v);
        break;
      case DType::Float32:
        as<float>()[i] = static_cast<float>(v);
        break;
      default:
        as<double>()[i] = v;
    }
  }
};

Array random_array(DType dtype, int64_t n) {
  Array a(dtype, n);
  for (int64_t i = 0; i < n; ++i) {
    const double u = static_cast<double>(pick(2000001)) / 1e6 - 1;
    a.set(i, dtype == DType::Bool ? pick(2) : is_float(dtype) ? u : pick(41) - 20);
  }
  return a;
}

// Equal bits, any NaN being as good as another.
bool same_element(Array& a, int64_t i, Array& b, int64_t j) {
  if (is_float(a.dtype) && std::isnan(a.get(i)) && std::isnan(b.get(j))) return true;
  const int64_t e = size_of(a.dtype);
  return std::memcmp(a.bytes.data() + i * e, b.bytes.data() + j * e, static_cast<size_t>(e)) == 0;
}
bool same(Array& a, Array& b) {
  if (a.dtype != b.dtype || a.n != b.n) return false;
  for (int64_t i = 0; i < a.n; ++i) {
    if (!same_element(a, i, b, i)) return false;
  }
  return true;
}

View row_view(int32_t slot, DType dtype, Shape shape) {
  return {slot, dtype, 0, shape, row_major(shape)};
}

struct Runner {
  Plan plan;
  std::vector<Array*> arguments;
  std::vector<Array> outputs;
  std::vector<Scalar> scalars;

  int32_t argument(Array& a) {
    plan.slots.push_back({SlotKind::Argument, a.dtype, a.n * size_of(a.dtype),
                          static_cast<int64_t>(arguments.size())});
    arguments.push_back(&a);
    return static_cast<int32_t>(plan.slots.size() - 1);
  }
  int32_t output(DType dtype, int64_t n) {
    plan.slots.push_back(
        {SlotKind::Output, dtype, n * size_of(dtype), static_cast<int64_t>(outputs.size())});
    outputs.emplace_back(dtype, n);
    return static_cast<int32_t>(plan.slots.size() - 1);
  }
  void add(Work work, Op source = Op::identity) { plan.steps.push_back({std::move(work), source}); }

  Status run(bool (*interrupted)() = nullptr) {
    std::vector<const void*> in;
    std::vector<void*> out;
    for (Array* a : arguments) in.push_back(a->bytes.data());
    for (Array& a : outputs) out.push_back(a.bytes.data());
    return cpu_backend().compile(plan)->run(
        {in.data(), scalars.data(), out.data(), nullptr, interrupted});
  }
  // Runs with 1, 2 and 3 threads and checks that the bits agree.
  Status run_threads(const std::string& what) {
    set_num_threads(1);
    Status status = run();
    std::vector<Array> first = outputs;
    for (int threads : {2, 3}) {
      set_num_threads(threads);
      for (Array& a : outputs) std::fill(a.bytes.begin(), a.bytes.end(), char(0x5a));
      run();
      bool equal = true;
      for (size_t i = 0; i < outputs.size(); ++i) equal &= same(outputs[i], first[i]);
      if (status) check(equal, what + ": same bits with " + std::to_string(threads) + " threads");
    }
    set_num_threads(1);
    return status;
  }
};

std::vector<int64_t> offsets_of(const View& view) {
  std::vector<int64_t> out{view.offset};
  for (int64_t axis = 0; axis < view.shape.rank; ++axis) {
    std::vector<int64_t> next;
    for (int64_t base : out) {
      for (int64_t i = 0; i < view.shape[axis]; ++i) next.push_back(base + i * view.strides[axis]);
    }
    out = next;
  }
  return out;
}

// --- kernels: every element of every length and alignment is what it is alone

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
  constexpr int64_t kLongest = 67;
  for (int op = 0; op < kElementwise; ++op) {
    for (int d = 0; d < kDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      const TileKernel kernel = table.of[op][d];
      if (!kernel) continue;
      Array in[3];
      for (int i = 0; i < 3; ++i) {
        const bool condition = input_size(static_cast<Op>(op), i, dtype) == 1;
        in[i] = special_array(condition ? DType::Bool : dtype, kLongest + 8);
        const bool nonzero = op == int(Op::floor_divide) || op == int(Op::remainder);
        for (int64_t j = 0; j < in[i].n && !is_float(dtype) && !condition; ++j) {
          if (nonzero && in[i].get(j) == 0) in[i].set(j, 5);
          if (op == int(Op::pow) && i == 1) in[i].set(j, std::fabs(std::fmod(in[i].get(j), 9)));
        }
      }
      // Bool results are one byte: the element size of the output is found by what is written.
      char probe[8];
      std::memset(probe, 0x77, 8);
      kernel(probe, in[0].bytes.data(), in[1].bytes.data(), in[2].bytes.data(), 1);
      int64_t size = 8;
      while (size > 1 && probe[size - 1] == 0x77) size /= 2;
      const DType result = size == 1 ? DType::Bool : dtype;
      Array alone(result, kLongest + 8);
      const auto call = [&](Array& out, int64_t at, int64_t n) {
        const char* p[3];
        for (int i = 0; i < 3; ++i) p[i] = in[i].bytes.data() + at * input_size(Op(op), i, dtype);
        kernel(out.bytes.data() + at * size_of(result), p[0], p[1], p[2], n);
      };
      for (int64_t i = 0; i < alone.n; ++i) call(alone, i, 1);
      bool equal = true;
      for (int64_t n = 1; n <= kLongest; ++n) {
        for (int64_t at = 0; at < 8; ++at) {
          Array out(result, kLongest + 8);
          call(out, at, n);
          for (int64_t i = at; i < at + n; ++i) equal &= same_element(out, i, alone, i);
        }
      }
      check(equal, text(level, " ", int64_t{op}, " ", dtype, ": tail and body agree"));
    }
  }
}

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
      {Op::softplus, inf, 0, 0, inf},
      {Op::softplus, -inf, 0, 0, 0.0},
      {Op::softplus, 1000, 0, 0, 1000},
      {Op::softplus, nan, 0, 0, nan},
      {Op::tanh_slope, 0, 0, 0, 1},
      {Op::tanh_slope, inf, 0, 0, 0.0},
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
      {Op::step, nan, 0, 0, nan},
      {Op::step, 0, 0, 0, 0.0},
      {Op::step, 2, 0, 0, 1},
      {Op::sign, nan, 0, 0, nan},
      {Op::sign, -2, 0, 0, -1},
      {Op::round, 2.5, 0, 0, 2},
      {Op::round, 3.5, 0, 0, 4},
      {Op::round, -0.5, 0, 0, -0.0},
      {Op::clip, 5, 3, 1, 1},
      {Op::clip, nan, 0, 1, nan},
      {Op::clip, -5, 0, 1, 0.0},
      {Op::pow, nan, 0, 0, 1},
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

void test_accuracy(const char* level, const ElementwiseTable& t, bool fused) {
  using L = long double;
  struct Row {
    Op op;
    L (*exact)(L);
    double bound;
  };
  const Row rows[] = {
      {Op::exp, [](L x) { return expl(x); }, 0.8},
      {Op::expm1, [](L x) { return expm1l(x); }, 1.05},
      {Op::log, [](L x) { return logl(x); }, 0.95},
      {Op::log1p, [](L x) { return log1pl(x); }, 0.95},
      {Op::tanh, [](L x) { return tanhl(x); }, 0.9},
      {Op::sigmoid, [](L x) { return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x)); }, 1.3},
      {Op::softplus, [](L x) { return (x > 0 ? x : 0) + log1pl(expl(-fabsl(x))); }, 1.3},
      {Op::tanh_slope,
       [](L x) {
         const L e = expl(-2 * fabsl(x));
         return 4 * e / ((1 + e) * (1 + e));
       },
       2.6},
      {Op::rsqrt, [](L x) { return 1 / fabsl(sqrtl(x)); }, fused ? 0.6 : 1.6},
      {Op::sqrt, [](L x) { return sqrtl(x); }, 0.5},
      {Op::sin, [](L x) { return sinl(x); }, 0.85},
      {Op::cos, [](L x) { return cosl(x); }, 0.85},
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
          worst = std::isfinite(got) ? std::max(worst, ulp) : 3e9;
        }
      }
      check(worst <= row.bound + 0.01, text(level, " op ", int64_t(row.op), " ", dtype, " worst ",
                                            std::to_string(worst), " ulp"));
    }
  }
}

void test_casts(const char* level, const ElementwiseTable& t) {
  const double inf = std::numeric_limits<double>::infinity();
  const auto cast = [&](double v, DType from, DType to) {
    Array a(from, 1), b(to, 1);
    a.set(0, v);
    t.cast[int(from)][int(to)](b.bytes.data(), a.bytes.data(), nullptr, nullptr, 1);
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
  for (int from = 0; from < kDTypes; ++from) {
    for (int to = 0; to < kDTypes; ++to) {
      Array a = random_array(DType(from), 77), b(DType(to), 77);
      t.cast[from][to](b.bytes.data(), a.bytes.data(), nullptr, nullptr, 77);
      bool ok = true;
      for (int64_t i = 0; i < 77; ++i) {
        Array expected(DType(to), 1);
        expected.set(0, is_float(DType(from)) && !is_float(DType(to)) && to ? std::trunc(a.get(i))
                                                                            : a.get(i));
        ok &= same_element(b, i, expected, 0);
      }
      check(ok, text(level, " cast ", int64_t{from}, " to ", int64_t{to}));
    }
  }
}

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

// --- tile groups: random programs against the same kernels on whole arrays

View random_load(Array& storage, int32_t slot, const Shape& shape) {
  View view{slot, storage.dtype, 0, shape, {}};
  const int64_t kind = pick(4);
  if (kind == 0) {
    view.strides = row_major(shape);
  } else if (kind == 1) {  // broadcast along some axes
    int64_t step = 1;
    for (int64_t i = shape.rank - 1; i >= 0; --i) {
      if (pick(2)) continue;
      view.strides[i] = step;
      step *= shape[i];
    }
  } else if (kind == 2) {  // reversed
    view.strides = row_major(shape);
    view.offset = shape.size() ? shape.size() - 1 : 0;
    for (int64_t i = 0; i < shape.rank; ++i) view.strides[i] = -view.strides[i];
  } else {  // transposed
    int64_t step = 1;
    for (int64_t i = 0; i < shape.rank; ++i) {
      view.strides[i] = step;
      step *= shape[i];
    }
  }
  return view;
}

void test_random_programs() {
  const Shape shapes[] = {{0},       {1},        {},      {7},        {3, 5},     {513},
                          {2, 1025}, {5, 7, 90}, {70001}, {300, 301}, {40000, 2}, {2, 100003}};
  for (int round = 0; round < 150; ++round) {
    const Shape shape = shapes[pick(std::size(shapes))];
    const int64_t count = shape.size();
    Runner r;
    TileGroup group;
    group.count = count;
    std::vector<Array> storage;
    storage.reserve(8);
    std::vector<Array> values;
    const int64_t loads = 1 + pick(4);
    for (int64_t i = 0; i < loads; ++i) {
      storage.push_back(
          random_array(static_cast<DType>(pick(kDTypes)), std::max<int64_t>(count, 1)));
      const View view = random_load(storage.back(), r.argument(storage.back()), shape);
      group.loads.push_back(view);
      values.emplace_back(view.dtype, count);
      const auto offsets = offsets_of(view);
      for (int64_t j = 0; j < count; ++j) values.back().set(j, storage.back().get(offsets[j]));
    }
    for (int i = 0; i < 2; ++i) {
      const auto dtype = static_cast<DType>(pick(kDTypes));
      Scalar s{};
      if (is_float(dtype)) {
        s.f = 0.75;
      } else {
        s.i = 1;
      }
      r.scalars.push_back(s);
      group.scalars.push_back({i, dtype});
      values.emplace_back(dtype, count);
      for (int64_t j = 0; j < count; ++j) values.back().set(j, is_float(dtype) ? 0.75 : 1);
    }
    const int64_t instructions = 1 + pick(14);
    const auto find = [&](DType dtype) {
      for (int tries = 0; tries < 20; ++tries) {
        const auto v = static_cast<int32_t>(pick(static_cast<int64_t>(values.size())));
        if (values[v].dtype == dtype) return v;
      }
      return int32_t{-1};
    };
    for (int64_t i = 0; i < instructions; ++i) {
      const auto a = static_cast<int32_t>(pick(static_cast<int64_t>(values.size())));
      const DType dtype = values[a].dtype;
      Instruction ins{Op::cast, dtype, static_cast<DType>(pick(kDTypes)), {a, -1, -1}};
      const int32_t b = find(dtype), condition = find(DType::Bool);
      if (pick(3) && b >= 0) {
        const Op numbers[] = {Op::add,      Op::multiply, Op::maximum,
                              Op::subtract, Op::less,     Op::equal};
        ins = {dtype == DType::Bool ? Op::logical_xor : numbers[pick(6)], dtype, dtype, {a, b, -1}};
        if (ins.op == Op::less || ins.op == Op::equal) ins.result = DType::Bool;
        if (condition >= 0 && pick(3) == 0) ins = {Op::where, dtype, dtype, {condition, a, b}};
      } else if (is_float(dtype) && pick(2)) {
        const Op unary[] = {Op::tanh, Op::sigmoid, Op::negative, Op::square, Op::exp};
        ins = {unary[pick(5)], dtype, dtype, {a, -1, -1}};
      }
      group.instructions.push_back(ins);
      Array out(ins.result, count);
      const void* p[3] = {};
      for (int k = 0; k < 3; ++k) p[k] = ins.in[k] >= 0 ? values[ins.in[k]].bytes.data() : nullptr;
      const auto& t = kernels().elementwise;
      (ins.op == Op::cast ? t.cast[int(dtype)][int(ins.result)] : t.of[int(ins.op)][int(dtype)])(
          out.bytes.data(), p[0], p[1], p[2], count);
      values.push_back(out);
    }
    std::vector<int32_t> stored;
    for (int64_t i = 0; i < 1 + pick(4); ++i) {
      const auto value =
          static_cast<int32_t>(static_cast<int64_t>(values.size()) - 1 -
                               pick(std::min<int64_t>(6, static_cast<int64_t>(values.size()))));
      stored.push_back(value);
      const DType dtype = values[value].dtype;
      group.stores.push_back({value, row_view(r.output(dtype, count), dtype, {count})});
    }
    r.add(group);
    const std::string what = text("program ", int64_t{round}, " ", shape);
    check(bool(r.run_threads(what)), what + ": status");
    for (size_t i = 0; i < stored.size(); ++i) {
      check(same(r.outputs[i], values[stored[i]]), text(what, ": store ", int64_t(i)));
    }
  }
}

void test_integer_problems() {
  for (int64_t n : {1, 5000, 300000}) {
    for (Op op : {Op::floor_divide, Op::remainder, Op::pow}) {
      Array a = random_array(DType::Int32, n), b(DType::Int32, n);
      for (int64_t i = 0; i < n; ++i) b.set(i, 3);
      b.set(n - 1, op == Op::pow ? -1 : 0);
      Runner r;
      TileGroup group;
      group.count = n;
      group.loads = {row_view(r.argument(a), DType::Int32, {n}),
                     row_view(r.argument(b), DType::Int32, {n})};
      group.instructions = {{op, DType::Int32, DType::Int32, {0, 1, -1}}};
      group.stores = {{2, row_view(r.output(DType::Int32, n), DType::Int32, {n})}};
      r.add(Iota{row_view(r.output(DType::Int64, 3), DType::Int64, {3})});
      r.add(group);
      const Status status = r.run_threads("integer problem");
      check(status.problem == (op == Op::pow ? Problem::NegativePower : Problem::ZeroDivision) &&
                status.step == 1,
            "integer problem is reported with its step");
    }
  }
}

// --- reductions

void test_reductions() {
  const int64_t shapes[][3] = {
      {1, 0, 1},     {3, 0, 2},    {0, 5, 2},      {1, 1, 1},       {1, 5, 1},      {1, 100, 1},
      {1, 2048, 1},  {1, 2049, 1}, {1, 70000, 1},  {1, 1000003, 1}, {7, 3, 1},      {30000, 3, 1},
      {2000, 33, 1}, {3, 5000, 1}, {70, 3000, 1},  {1, 5, 3},       {1, 100000, 3}, {2, 30011, 10},
      {1, 300, 300}, {4, 3, 5000}, {1, 2, 100000}, {1, 2000, 2049}, {5000, 3, 4},   {3, 700, 64}};
  const Op ops[] = {Op::sum, Op::max, Op::min, Op::all, Op::any};
  for (const auto& s : shapes) {
    for (int d = 0; d < kDTypes; ++d) {
      const auto dtype = static_cast<DType>(d);
      const int64_t n = s[0] * s[1] * s[2];
      Array a = random_array(dtype, n);
      for (Op op : ops) {
        if (s[1] == 0 && (op == Op::max || op == Op::min)) continue;
        if (n > 500000 && op != Op::sum && op != Op::max) continue;
        const bool logic = op == Op::all || op == Op::any;
        const DType out = logic                               ? DType::Bool
                          : op == Op::sum && !is_float(dtype) ? DType::Int64
                                                              : dtype;
        const bool nan = is_float(dtype) && n > 3 && op != Op::sum && pick(2);
        Array values = a;
        if (nan) values.set(n / 2, std::nan(""));
        if (op == Op::all) {
          for (int64_t i = 0; i < n; ++i) values.set(i, pick(1000) ? 1 : values.get(i));
        }
        Runner r;
        TileGroup group;
        group.count = n;
        group.loads = {row_view(r.argument(values), dtype, {n})};
        int32_t value = 0;
        if (is_float(dtype) && pick(2)) {  // negated twice, and stored on the way
          group.instructions = {{Op::negative, dtype, dtype, {0, -1, -1}},
                                {Op::negative, dtype, dtype, {1, -1, -1}}};
          group.stores = {{1, row_view(r.output(dtype, n), dtype, {n})}};
          value = 2;
        }
        const int32_t slot = r.output(out, s[0] * s[2]);
        group.reductions = {
            {op, value, dtype, s[0], s[1], s[2], row_view(slot, out, {s[0], s[2]})}};
        r.add(group);
        const std::string what =
            text("op ", int64_t(op), " ", dtype, " [", s[0], ", ", s[1], ", ", s[2], "]");
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t o = 0; o < s[0]; ++o) {
          for (int64_t i = 0; i < s[2]; ++i) {
            long double sum = 0, size = 0;
            double best = op == Op::max ? -INFINITY : INFINITY;
            bool every = true, some = false, bad = false;
            for (int64_t j = 0; j < s[1]; ++j) {
              const double v = values.get((o * s[1] + j) * s[2] + i);
              sum += v;
              size += std::fabs(v);
              bad |= std::isnan(v);
              best = op == Op::max ? std::max(best, v) : std::min(best, v);
              every &= v != 0;
              some |= v != 0;
            }
            const double got = r.outputs.back().get(o * s[2] + i);
            if (op == Op::sum) {
              const double eps = dtype == DType::Float32 ? 6e-8 : 1e-15;
              ok &= std::fabs(static_cast<double>(got - sum)) <=
                    (is_float(dtype) ? eps * std::fabs(static_cast<double>(sum)) +
                                           1e-15 * static_cast<double>(size)
                                     : 0);
            } else if (logic) {
              ok &= got == (op == Op::all ? every : some);
            } else {
              ok &= bad ? std::isnan(got) : got == best;
            }
          }
        }
        check(ok, what);
      }
    }
  }
}

// --- the other steps

void test_gemm() {
  struct Case {
    int64_t batch, m, k, n;
  };
  const Case cases[] = {{1, 1, 1, 1},     {1, 3, 4, 5},     {1, 100, 784, 10},  {1, 257, 129, 300},
                        {5, 17, 9, 8},    {1, 0, 3, 4},     {1, 3, 0, 4},       {2, 3, 4, 0},
                        {1, 1, 500, 700}, {1, 700, 500, 1}, {1, 40, 20000, 30}, {1, 1, 300000, 1},
                        {3, 1, 20, 1},    {64, 2, 3, 2},    {1, 520, 300, 410}};
  const DType dtypes[] = {DType::Float32, DType::Float64, DType::Int32, DType::Int64};
  for (const Case& c : cases) {
    for (DType dtype : dtypes) {
      if (is_float(dtype) && !blas()) continue;
      for (int kind = 0; kind < 6; ++kind) {
        if (c.m * c.k * c.n > 1000000 && kind > 2) continue;
        // 0 plain, 1 a transposed, 2 b transposed, 3 both, 4 broadcast batch of b, 5 reversed rows
        Array a = random_array(dtype, c.batch * c.m * c.k),
              b = random_array(dtype, c.batch * c.k * c.n);
        Runner r;
        View va = row_view(r.argument(a), dtype, {c.batch, c.m, c.k});
        View vb = row_view(r.argument(b), dtype, {c.batch, c.k, c.n});
        if (kind == 1 || kind == 3) {
          va.strides[1] = 1;
          va.strides[2] = c.m;
        }
        if (kind == 2 || kind == 3) {
          vb.strides[1] = 1;
          vb.strides[2] = c.k;
        }
        if (kind == 4) vb.strides[0] = 0;
        if (kind == 5 && c.m) {
          va.offset = (c.m - 1) * c.k;
          va.strides[1] = -c.k;
        }
        const View vc = row_view(r.output(dtype, c.batch * c.m * c.n), dtype, {c.batch, c.m, c.n});
        r.add(Gemm{va, vb, vc});
        const std::string what = text("gemm ", c.batch, " ", c.m, " ", c.k, " ", c.n, " ", dtype,
                                      " kind ", int64_t{kind});
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t q = 0; q < 200 && r.outputs[0].n; ++q) {
          const int64_t at = pick(r.outputs[0].n), i = at / (c.m * c.n), row = at / c.n % c.m,
                        column = at % c.n;
          double sum = 0, size = 0;
          for (int64_t d = 0; d < c.k; ++d) {
            const double t =
                a.get(va.offset + i * va.strides[0] + row * va.strides[1] + d * va.strides[2]) *
                b.get(vb.offset + i * vb.strides[0] + d * vb.strides[1] + column * vb.strides[2]);
            sum += t;
            size += std::fabs(t);
          }
          const double eps = dtype == DType::Float32 ? 1e-6 : dtype == DType::Float64 ? 1e-14 : 0;
          ok &= std::fabs(r.outputs[0].get(at) - sum) <= eps * size;
        }
        check(ok, what);
      }
    }
  }
}

void test_layout() {
  const Shape shapes[] = {{},           {0, 3},     {5},         {3, 4},        {33, 65},
                          {2, 3, 4, 5}, {300, 500}, {7, 1, 129}, {400, 3, 401}, {1000000}};
  for (const Shape& shape : shapes) {
    for (DType dtype : {DType::Bool, DType::Float32, DType::Int64}) {
      for (int round = 0; round < 5; ++round) {
        const int64_t n = shape.size();
        Array in = random_array(dtype, std::max<int64_t>(n, 1));
        Runner r;
        const View from = random_load(in, r.argument(in), shape);
        // The output: dense in a random axis order, then inside a slot twice as large.
        View to = row_view(r.output(dtype, 2 * n + 3), dtype, shape);
        std::vector<int64_t> order;
        for (int64_t i = 0; i < shape.rank; ++i) order.push_back(i);
        std::shuffle(order.begin(), order.end(), generator);
        int64_t step = round % 2 ? 2 : 1;
        for (int64_t i : order) {
          to.strides[i] = step;
          step *= shape[i];
        }
        to.offset = 3;
        const bool clear = pick(2);
        r.add(Layout{from, to, clear});
        const std::string what = text("layout ", shape, " ", dtype);
        Array expected(dtype, 2 * n + 3);
        std::fill(expected.bytes.begin(), expected.bytes.end(), char(clear ? 0 : 0x5a));
        std::fill(r.outputs[0].bytes.begin(), r.outputs[0].bytes.end(), char(0x5a));
        const auto a = offsets_of(from), b = offsets_of(to);
        for (int64_t i = 0; i < n; ++i) expected.set(b[i], in.get(a[i]));
        check(bool(r.run_threads(what)), what);
        check(same(r.outputs[0], expected), what);
      }
    }
  }
}

void test_indices() {
  const int64_t shapes[][4] = {{1, 5, 1, 9},       {3, 4, 2, 0},          {1, 100, 64, 5000},
                               {4, 10, 300, 40},   {1, 50000, 1, 400000}, {2, 7, 3, 11},
                               {1, 10, 1, 300000}, {20, 6, 2, 500}};
  for (const auto& s : shapes) {
    const int64_t outer = s[0], axis = s[1], inner = s[2], n = s[3];
    for (DType index_type : {DType::Int32, DType::Int64}) {
      for (DType dtype : {DType::Float32, DType::Float64, DType::Int32}) {
        Array in = random_array(dtype, outer * axis * inner), index(index_type, n);
        for (int64_t i = 0; i < n; ++i) index.set(i, static_cast<double>(pick(2 * axis) - axis));
        const auto to = [&](int64_t i) {
          const auto v = static_cast<int64_t>(index.get(i));
          return v < 0 ? v + axis : v;
        };
        const std::string what = text("indices ", outer, " ", axis, " ", inner, " ", n, " ", dtype);
        Runner r;
        View vin = row_view(r.argument(in), dtype, {outer, axis, inner});
        View vindex = row_view(r.argument(index), index_type, {n});
        View vout = row_view(r.output(dtype, outer * n * inner), dtype, {outer, n, inner});
        r.add(Gather{vin, vindex, vout, outer, axis, inner});
        check(bool(r.run_threads(what)), what);
        bool ok = true;
        for (int64_t i = 0; i < r.outputs[0].n; ++i) {
          const int64_t o = i / (n * inner), k = i / inner % n, j = i % inner;
          ok &= r.outputs[0].get(i) == in.get((o * axis + to(k)) * inner + j);
        }
        check(ok, what + ": gather");

        Array addends = random_array(dtype, outer * n * inner);
        Runner scatter;
        vin = row_view(scatter.argument(addends), dtype, {outer, n, inner});
        vindex.slot = scatter.argument(index);
        vout = row_view(scatter.output(dtype, outer * axis * inner), dtype, {outer, axis, inner});
        scatter.add(ScatterAdd{vin, vindex, vout, outer, axis, inner});
        check(bool(scatter.run_threads(what)), what);
        std::vector<double> sums(static_cast<size_t>(outer * axis * inner));
        for (int64_t i = 0; i < addends.n; ++i) {
          const int64_t o = i / (n * inner), k = i / inner % n, j = i % inner;
          sums[(o * axis + to(k)) * inner + j] += addends.get(i);
        }
        ok = true;
        for (size_t i = 0; i < sums.size(); ++i) {
          ok &= std::fabs(scatter.outputs[0].get(static_cast<int64_t>(i)) - sums[i]) <=
                (dtype == DType::Float32   ? 1e-6 * (1 + std::fabs(sums[i]))
                 : dtype == DType::Float64 ? 1e-9
                                           : 0);
        }
        check(ok, what + ": scatter_add");
        if (n == 0) continue;
        for (double bad : {static_cast<double>(axis), static_cast<double>(-axis - 1)}) {
          index.set(n / 2, bad);
          const Status status = pick(2) ? r.run() : scatter.run();
          check(status.problem == Problem::IndexOutOfRange &&
                    status.detail == static_cast<int64_t>(bad) && status.bound == axis &&
                    status.step == 0,
                what + ": bad index");
        }
      }
    }
  }
}

void test_arg_reduce() {
  const int64_t shapes[][3] = {{1, 1, 1}, {1, 5, 1},     {3, 67, 1},   {1, 300001, 1},
                               {2, 9, 5}, {3, 40, 1000}, {500, 10, 1}, {0, 4, 1}};
  for (const auto& s : shapes) {
    for (int d = 0; d < kDTypes; ++d) {
      for (Op op : {Op::argmax, Op::argmin}) {
        for (bool nan : {false, true}) {
          const auto dtype = static_cast<DType>(d);
          if (nan && !is_float(dtype)) continue;
          const int64_t n = s[0] * s[1] * s[2];
          Array in = random_array(dtype, n);
          for (int64_t i = 0; i < n; ++i) in.set(i, std::round(8 * in.get(i)));  // ties
          if (nan && n) in.set(n / 2, std::nan(""));
          Runner r;
          const View from = row_view(r.argument(in), dtype, {s[0], s[1], s[2]});
          r.add(ArgReduce{op, from,
                          row_view(r.output(DType::Int64, s[0] * s[2]), DType::Int64, {s[0], s[2]}),
                          s[0], s[1], s[2]});
          const std::string what =
              text("op ", int64_t(op), " ", dtype, " [", s[0], ", ", s[1], ", ", s[2], "]");
          check(bool(r.run_threads(what)), what);
          bool ok = true;
          for (int64_t i = 0; i < s[0] * s[2]; ++i) {
            const auto at = [&](int64_t j) {
              return in.get((i / s[2] * s[1] + j) * s[2] + i % s[2]);
            };
            int64_t best = 0;
            for (int64_t j = 1; j < s[1]; ++j) {
              if (std::isnan(at(best))) break;
              if (std::isnan(at(j)) || (op == Op::argmax ? at(j) > at(best) : at(j) < at(best)))
                best = j;
            }
            ok &= r.outputs[0].as<int64_t>()[i] == best;
          }
          check(ok, what);
        }
      }
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

void test_run() {
  Runner r;
  for (int i = 0; i < 3; ++i) r.add(Iota{row_view(r.output(DType::Int64, 2), DType::Int64, {2})});
  const StepCounts before = step_counts();
  check(bool(r.run()), "run");
  check(step_counts().of[7] - before.of[7] == 3, "steps are counted");
  static int polls;
  polls = 0;
  const Status stopped = r.run([] { return ++polls == 2; });
  check(stopped.problem == Problem::Interrupted && stopped.step == 2,
        "an interrupt stops between steps");
  null_backend_fail(2);
  const auto nothing = null_backend().compile(r.plan);
  check(bool(nothing->run({})), "null backend");
  check(nothing->run({}).problem == Problem::Injected, "null backend fails when told");
  check(bool(nothing->run({})), "and only once");
}

}  // namespace

int main() {
  struct Level {
    CpuLevel level;
    const ElementwiseTable& table;
    const RandomTable& random;
  };
  const Level levels[] = {
      {CpuLevel::Baseline, kernels_baseline::kElementwiseTable, kernels_baseline::kRandomTable},
#if defined(__x86_64__)
      {CpuLevel::Avx2, kernels_avx2::kElementwiseTable, kernels_avx2::kRandomTable},
      {CpuLevel::Avx512, kernels_avx512::kElementwiseTable, kernels_avx512::kRandomTable}
#endif
  };
  for (const Level& l : levels) {
    if (l.level > cpu_level()) continue;
    const char* name = name_of(l.level);
    test_tails(name, l.table);
    test_special_values(name, l.table);
    test_accuracy(name, l.table, l.level != CpuLevel::Baseline);
    test_casts(name, l.table);
    test_random_kernels(name, l.random);
  }
  test_random_programs();
  test_integer_problems();
  test_reductions();
  if (!blas()) std::printf("no BLAS: %s\n", blas_info().error.c_str());
  test_gemm();
  test_layout();
  test_indices();
  test_arg_reduce();
  test_random();
  test_run();
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
