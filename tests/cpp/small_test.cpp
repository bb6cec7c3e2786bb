// Small programs: random codes in a loop, by kernels alone, interpreted, and as native code; and
// the failures of each. The three agree in every bit, except in those of a NaN.
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "backend/common/slots.h"
#include "backend/cpu/small/native_code.h"
#include "backend/cpu/small/small_program.h"
#include "base/error.h"
#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

using Code = SmallProgram::Code;

// For each compute dtype, kRegions regions of kWidth elements.
constexpr int kRegions = 5, kWidth = 140;
constexpr int32_t kFirst = 128, kPool = kRegions * kWidth * 8;
constexpr int32_t kNumbers = kFirst + kComputeDTypes * kPool;  // counters and pointers
constexpr int32_t kStack = kNumbers + 128;
constexpr int32_t kTrips = 3;
constexpr int32_t kResults = kStack + 8 * kWidth * kTrips;  // copies of regions, at the end
constexpr int32_t kFrame = kResults + kComputeDTypes * kPool;

int32_t region(DType dtype, int64_t number) {
  return static_cast<int32_t>(kFirst + static_cast<int>(dtype) * kPool +
                              number * kWidth * size_of(dtype));
}
int32_t any_region(DType dtype) { return region(dtype, pick(kRegions)); }

struct Element {
  TileKernel kernel;
  DType out, a, others;
};

std::vector<Element> all_elements() {
  std::vector<Element> out;
  for (int op = 0; op < kElementwise; ++op) {
    for (int d = 0; d < kComputeDTypes; ++d) {
      const TileKernel kernel = kernels().elementwise.of[op][d];
      if (!kernel || !code_of_element(kernel)) continue;
      const auto dtype = static_cast<DType>(d);
      const auto which = static_cast<Op>(op);
      // The sign of a NaN that arithmetic makes is not defined.
      if (which == Op::signbit || which == Op::copysign) continue;
      const bool to_bool = which >= Op::equal && which <= Op::signbit;
      out.push_back(
          {kernel, to_bool ? DType::Bool : dtype, which == Op::where ? DType::Bool : dtype, dtype});
    }
  }
  for (int from = 0; from < kComputeDTypes; ++from) {
    for (int to = 0; to < kComputeDTypes; ++to) {
      const auto f = static_cast<DType>(from), t = static_cast<DType>(to);
      out.push_back({kernels().casts.of[from][to], t, f, f});
    }
  }
  const TileKernel exp = kernels().elementwise.of[static_cast<int>(Op::exp)][4];
  out.push_back({exp, DType::Float64, DType::Float64, DType::Float64});
  return out;
}

// Those of floating numbers and bools, most of which are not calls in native code.
std::vector<Element> without_integers(std::vector<Element> elements) {
  const auto is_simple = [](DType dtype) { return is_float(dtype) || dtype == DType::Bool; };
  std::erase_if(elements, [&](const Element& e) {
    return !is_simple(e.out) || !is_simple(e.a) || !is_simple(e.others);
  });
  return elements;
}

Scalar random_scalar(DType dtype) {
  Scalar s{};
  if (is_float(dtype)) {
    const double special[] = {0.0,
                              -0.0,
                              1.0,
                              -2.5,
                              1e300,
                              5e-324,
                              std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()};
    s.f = pick(4) ? static_cast<double>(pick(2001) - 1000) / 64 : special[pick(8)];
  } else if (dtype == DType::Bool) {
    s.i = pick(2);
  } else {
    s.i = pick(4) ? pick(201) - 100 : pick(2) ? INT64_MIN : INT64_MAX;
  }
  return s;
}

struct Program {
  SmallProgram small;
  Code& add(int kind, int32_t out, int32_t a, int64_t n) {
    Code code{static_cast<uint16_t>(kind)};
    code.n = static_cast<int32_t>(n);
    code.out = out;
    code.a = a;
    small.code.push_back(code);
    return small.code.back();
  }
};

void add_element(Program* p, const std::vector<Element>& elements) {
  const Element& e = elements[pick(static_cast<int64_t>(elements.size()))];
  const int64_t n = pick(3) ? 1 : 1 + pick(pick(2) ? kWidth : 4);
  // Of the same dtype, an input may be the output.
  Code& code = p->add(SmallProgram::Call, any_region(e.out), any_region(e.a), n);
  code.b = any_region(e.others);
  code.c = any_region(e.others);
  code.call = e.kernel;
  if (n == 1) code.kind = code_of_element(e.kernel).value_or(SmallProgram::Call);
}

void add_move(Program* p) {
  const auto dtype = static_cast<DType>(pick(kComputeDTypes));
  const int64_t bytes = size_of(dtype);
  const int32_t from = any_region(dtype), to = any_region(dtype);
  if (from == to) return;
  if (pick(2)) {
    p->add(SmallProgram::Copy, to, from, bytes * (1 + pick(kWidth)));
  } else {
    const int kind = bytes == 8   ? SmallProgram::Move8
                     : bytes == 4 ? SmallProgram::Move4
                                  : SmallProgram::Move1;
    p->add(kind, to, from, bytes);
  }
}

// Random codes, some of them after a jump that may leave them out.
void add_codes(Program* p, const std::vector<Element>& elements, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    size_t unless = 0;
    if (pick(12) == 0) {
      unless = p->small.code.size();
      const int64_t kind = pick(3);
      if (kind == 0) p->add(SmallProgram::Unless, 0, any_region(DType::Bool), 0);
      if (kind == 1) p->add(SmallProgram::Above, 0, any_region(DType::Int64), pick(21) - 10);
      if (kind == 2) p->add(SmallProgram::Jump, 0, 0, 0);
    }
    if (pick(5)) {
      add_element(p, elements);
    } else {
      add_move(p);
    }
    if (unless) p->small.code[unless].value = static_cast<int64_t>(p->small.code.size());
  }
}

// A loop of kTrips iterations, and the offset of the number of those left.
template <class Codes>
void add_loop(Program* p, int32_t left, Codes&& codes) {
  p->add(SmallProgram::Begin, left, kNumbers, 0);
  const auto begin = static_cast<int64_t>(p->small.code.size());
  codes();
  p->add(SmallProgram::Next, left, 0, 0).value = begin;
  p->small.code[begin - 1].value = static_cast<int64_t>(p->small.code.size());
}

// A loop over random codes, with branches, an inner loop, and a stack that it writes and reads.
SmallProgram random_program(const std::vector<Element>& elements) {
  Program p;
  SmallProgram& small = p.small;
  small.frame_bytes = kFrame;
  for (int d = 0; d < kComputeDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (int64_t i = 0; i < kRegions * kWidth; ++i) {
      const auto at = static_cast<int32_t>(region(dtype, 0) + i * size_of(dtype));
      small.constants.push_back({at, 1, dtype, random_scalar(dtype), {}});
    }
  }
  Scalar trips{};
  trips.i = kTrips;
  small.constants.push_back({kNumbers, 1, DType::Int64, trips, {}});
  const int32_t left = kNumbers + 8, push = kNumbers + 16, pull = kNumbers + 24;
  const bool whole = pick(2) == 1;
  const auto bytes = static_cast<int32_t>(whole ? 4 * (1 + pick(2 * kWidth)) : 8);
  if (pick(2)) {
    p.add(SmallProgram::Address, push, kStack, 0);
  } else {  // without pointers to the frame, results that nothing reads are not stored
    p.add(SmallProgram::Buffer, push, kNumbers, small.buffers++).value = 8 * kWidth;
  }
  p.add(SmallProgram::Move8, pull, push, 8);
  add_loop(&p, left, [&] {
    add_codes(&p, elements, 1 + pick(20));
    if (pick(2)) {
      add_loop(&p, kNumbers + 32, [&] { add_codes(&p, elements, 1 + pick(20)); });
      add_codes(&p, elements, pick(5));
    }
    const int32_t from = any_region(DType::Float64), to = any_region(DType::Float64);
    p.add(whole ? SmallProgram::Push : SmallProgram::Push8, push, from, bytes).value = bytes;
    p.add(whole ? SmallProgram::Pull : SmallProgram::Pull8, to, pull, bytes).value = bytes;
  });
  for (int d = 0; d < kComputeDTypes; ++d) {
    for (int number = 0; number < kRegions; ++number) {
      if (pick(2)) continue;
      const auto dtype = static_cast<DType>(d);
      const int32_t from = region(dtype, number);
      p.add(SmallProgram::Copy, from + kResults - kFirst, from, kWidth * size_of(dtype));
    }
  }
  p.add(SmallProgram::Stop, 0, 0, 0);
  return std::move(p.small);
}

SmallProgram by_kernels(SmallProgram program) {
  for (Code& code : program.code) {
    if (code.kind >= SmallProgram::Casts) code.kind = SmallProgram::Call;
  }
  return program;
}

struct Frame {
  alignas(64) std::array<char, kFrame> bytes{};
};

Status run_frame(const SmallProgram& program, bool native, Frame* frame) {
  static const Plan plan;
  static const RunArguments none{};
  const std::shared_ptr<const NativeCode> code = native ? compile_native(program) : nullptr;
  return run_small(program, code.get(), Slots(plan, none), frame->bytes.data());
}

bool equal_element(DType dtype, const char* a, const char* b) {
  if (std::memcmp(a, b, static_cast<size_t>(size_of(dtype))) == 0) return true;
  return is_float(dtype) && std::isnan(load_scalar(dtype, a).f) &&
         std::isnan(load_scalar(dtype, b).f);
}

bool equal_frames(const Frame& a, const Frame& b) {
  for (int d = 0; d < kComputeDTypes; ++d) {
    const auto dtype = static_cast<DType>(d);
    for (int64_t i = 0; i < kRegions * kWidth; ++i) {
      const auto at = kResults - kFirst + region(dtype, 0) + i * size_of(dtype);
      if (!equal_element(dtype, &a.bytes[at], &b.bytes[at])) return false;
    }
  }
  return true;
}

void test_random_codes() {
  const std::vector<Element> elements = all_elements();
  check(elements.size() > 200, "most operations have a code of one element");
  const std::vector<Element> simple = without_integers(elements);
  for (int round = 0; round < 3000; ++round) {
    const SmallProgram program = random_program(round % 2 ? simple : elements);
    Frame kernels_only, interpreted, native;
    check(static_cast<bool>(run_frame(by_kernels(program), false, &kernels_only)), "kernels run");
    check(static_cast<bool>(run_frame(program, false, &interpreted)), "codes run");
    check(static_cast<bool>(run_frame(program, true, &native)), "native code runs");
    check(equal_frames(kernels_only, interpreted), text("interpreted program ", round));
    check(equal_frames(kernels_only, native), text("native program ", round));
  }
}

// An integer division by zero in the second iteration.
void test_failures() {
  for (const bool native : {false, true}) {
    Program p;
    const int32_t number = region(DType::Int64, 0), one = region(DType::Int64, 1);
    const int32_t left = kNumbers, trips = kNumbers + 8;
    Scalar value{};
    value.i = 1;
    for (const int32_t at : {number, one}) {
      p.small.constants.push_back({at, 1, DType::Int64, value, {}});
    }
    value.i = 5;
    p.small.constants.push_back({trips, 1, DType::Int64, value, {}});
    const auto kernel = [&](Op op) {
      return kernels().elementwise.of[static_cast<int>(op)][static_cast<int>(DType::Int64)];
    };
    const Step first{TileGroup{}, Op::floor_divide}, second{TileGroup{}, Op::subtract};
    p.small.origins = {{0, &first}, {2, &second}};
    p.add(SmallProgram::Begin, left, trips, 0).value = 4;
    Code& divide = p.add(SmallProgram::Call, region(DType::Int64, 2), one, 1);
    divide.b = number;
    divide.call = kernel(Op::floor_divide);
    Code& subtract = p.add(SmallProgram::Call, number, number, 1);
    subtract.b = one;
    subtract.call = kernel(Op::subtract);
    p.add(SmallProgram::Next, left, 0, 0).value = 1;
    p.add(SmallProgram::Stop, 0, 0, 0);
    p.small.frame_bytes = kFrame;
    Frame frame;
    const Status status = run_frame(p.small, native, &frame);
    check(status.problem == Problem::ZeroDivision, "a division by zero");
    check(status.inner == &first, "the step that failed");
    int64_t rest;
    std::memcpy(&rest, &frame.bytes[left], sizeof rest);
    check(rest == 4, "the iteration that failed");
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_random_codes();
  test_failures();
  return report();
}
