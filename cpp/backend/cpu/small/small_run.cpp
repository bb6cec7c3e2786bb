// Runs small programs. Start at run_small(). The codes of one element are generated from
// elementwise.def, with the expressions and the flags of the kernels.
#include <algorithm>
#include <cstring>
#include <memory>
#include <unordered_map>

#include "backend/cpu/data/index_run.h"
#include "backend/cpu/data/random_run.h"
#include "backend/cpu/kernels/elementwise.h"
#include "backend/cpu/small/native_code.h"
#include "backend/cpu/small/small_program.h"
#include "backend/cpu/tiles/strided.h"
#include "base/index_bounds.h"
#include "base/iteration_seed.h"
#include "base/threads.h"

namespace pullback {
namespace {

using Code = SmallProgram::Code;

constexpr int64_t kFirstReserved = 64;  // times the bytes of the first Reserve
// Bytes of a buffer that grows: a loop that does not end must not take all memory.
constexpr int64_t kMostReserved = int64_t{1} << 31;

template <class T>
PULLBACK_INLINE T get(const char* at) {
  T value;
  __builtin_memcpy(static_cast<void*>(&value), at, sizeof value);
  return value;
}
template <class T>
PULLBACK_INLINE void put(char* at, T value) {
  __builtin_memcpy(at, static_cast<const void*>(&value), sizeof value);
}

// True for operations that are one expression, without a second path for a part of their domain.
template <Op op, Cost cost>
constexpr bool kIsShort = (cost == Cost::Arithmetic || cost == Cost::Division) &&
                          !kHasNear<op, double> && !kHasOrder<op> && !kHasBlocks<op>;

template <bool exists, Op op, class Row, Result result, int dtype>
PULLBACK_INLINE void unary_element(char* f, const Code& c) {
  if constexpr (exists) {
    using T = Element<dtype>;
    using Out = Element<result == Result::Bool ? 0 : dtype>;
    put(f + c.out, static_cast<Out>(Row::of(get<T>(f + c.a))));
  }
}
template <bool exists, Op op, class Row, Result result, int dtype>
PULLBACK_INLINE void binary_element(char* f, const Code& c) {
  if constexpr (exists) {
    using T = Element<dtype>;
    using Out = Element<result == Result::Bool ? 0 : dtype>;
    put(f + c.out, static_cast<Out>(Row::of(get<T>(f + c.a), get<T>(f + c.b))));
  }
}
template <bool exists, Op op, class Row, Result result, int dtype>
PULLBACK_INLINE void ternary_element(char* f, const Code& c) {
  if constexpr (exists) {
    using T = Element<dtype>;
    using Condition = typename Choose<op == Op::where, uint8_t, T>::type;
    put(f + c.out,
        static_cast<T>(Row::of(get<Condition>(f + c.a), get<T>(f + c.b), get<T>(f + c.c))));
  }
}
template <int from, int to>
PULLBACK_INLINE void cast_element(char* f, const Code& c) {
  if constexpr (from == to) {
    put(f + c.out, get<Element<to>>(f + c.a));
  } else {
    put(f + c.out, m::cast<Element<to>>(get<Element<from>>(f + c.a)));
  }
}

Status interpret(const Code* const begin, char* f, SmallBuffers& buffers, const Code** at) {
  const Code* next = begin;
  int32_t jumps = kJumpsPerCheck;
  const auto stopped = [&] {
    jumps = kJumpsPerCheck;
    return stop_requested();
  };
  for (;;) {
    const Code& c = *next++;
    switch (c.kind) {
      case SmallProgram::Stop:
        return {};
      case SmallProgram::Call:
        if (const int problem = c.call(f + c.out, f + c.a, f + c.b, f + c.c, c.n)) [[unlikely]] {
          *at = &c;
          return refused_code(c, problem, f);
        }
        break;
      case SmallProgram::Rows:
        if (const int problem = c.over_rows(f + c.out, f + c.a, f + c.b, f + c.c, c.n, c.length))
            [[unlikely]] {
          *at = &c;
          return refused_code(c, problem, f);
        }
        break;
      case SmallProgram::Pairs:
        c.pair(f + c.out, f + c.b, f + c.a, c.n);
        break;
      case SmallProgram::FoldRows:
        c.fold(f + c.a, c.n, c.length, f + c.out);
        break;
      case SmallProgram::FoldLanes:
        c.lanes(f + c.a, c.n, c.length, c.c, 0, f + c.out);
        break;
      case SmallProgram::Fill:
        fill_elements(f + c.out, f + c.a, c.length, c.n);
        break;
      case SmallProgram::Move1:
        put(f + c.out, get<uint8_t>(f + c.a));
        break;
      case SmallProgram::Move2:
        put(f + c.out, get<uint16_t>(f + c.a));
        break;
      case SmallProgram::Move4:
        put(f + c.out, get<uint32_t>(f + c.a));
        break;
      case SmallProgram::Move8:
        put(f + c.out, get<uint64_t>(f + c.a));
        break;
      case SmallProgram::Copy:
        std::memcpy(f + c.out, f + c.a, static_cast<size_t>(c.n));
        break;
      case SmallProgram::Address:
        put(f + c.out, f + c.a);
        break;
      case SmallProgram::Cursor:
        put(f + c.out, get<char*>(f + c.a) + c.value);
        break;
      case SmallProgram::CursorAtEnd:
        put(f + c.out, get<char*>(f + c.a) + (get<int64_t>(f + c.b) - 1) * c.value);
        break;
      case SmallProgram::Pull: {
        char* const from = get<char*>(f + c.a);
        std::memcpy(f + c.out, from + c.length, static_cast<size_t>(c.n));
        put(f + c.a, from + c.value);
        break;
      }
      case SmallProgram::Pull8: {
        char* const from = get<char*>(f + c.a);
        put(f + c.out, get<uint64_t>(from + c.length));
        put(f + c.a, from + c.value);
        break;
      }
      case SmallProgram::Push: {
        char* const to = get<char*>(f + c.out);
        std::memcpy(to + c.length, f + c.a, static_cast<size_t>(c.n));
        put(f + c.out, to + c.value);
        break;
      }
      case SmallProgram::Push8: {
        char* const to = get<char*>(f + c.out);
        put(to + c.length, get<uint64_t>(f + c.a));
        put(f + c.out, to + c.value);
        break;
      }
      case SmallProgram::Buffer: {
        char* const buffer = buffers.get(c.n, get<int64_t>(f + c.a) * c.value);
        if (!buffer) {
          *at = &c;
          return failure(Problem::Memory);
        }
        put(f + c.out, buffer);
        break;
      }
      case SmallProgram::Reserve: {
        char* const to = get<char*>(f + c.out);
        if (to != get<char*>(f + c.a)) break;
        const int64_t used = to - get<char*>(f + c.b);
        const int64_t bytes = std::max(2 * used, kFirstReserved * c.value);
        char* const buffer = bytes > kMostReserved ? nullptr : buffers.enlarge(c.n, used, bytes);
        if (!buffer) {
          *at = &c;
          return failure(Problem::Memory);
        }
        put(f + c.out, buffer + used);
        put(f + c.a, buffer + bytes);
        put(f + c.b, buffer);
        break;
      }
      case SmallProgram::Begin: {
        const auto count = get<int64_t>(f + c.a);
        put(f + c.out, count);
        if (count <= 0) next = begin + c.value;
        break;
      }
      case SmallProgram::Next: {
        const int64_t left = get<int64_t>(f + c.out) - 1;
        put(f + c.out, left);
        if (left <= 0) break;
        if (--jumps == 0 && stopped()) return failure(Problem::Interrupted);
        next = begin + c.value;
        break;
      }
      case SmallProgram::Unless:
        if (!get<uint8_t>(f + c.a)) next = begin + c.value;
        break;
      case SmallProgram::Above:
        if (get<int64_t>(f + c.a) > c.n) next = begin + c.value;
        break;
      case SmallProgram::Jump:
        next = begin + c.value;
        break;
      case SmallProgram::Again:
        put(f + c.out, get<int64_t>(f + c.out) + 1);
        if (--jumps == 0 && stopped()) return failure(Problem::Interrupted);
        next = begin + c.value;
        break;

      case SmallProgram::Seed: {
        const auto counter = get<int64_t>(f + c.b);
        const int64_t position = c.n == SmallProgram::Counted ? counter
                                 : c.n == SmallProgram::CountedDown
                                     ? get<int64_t>(f + c.c) - counter
                                     : counter - 1;
        put(f + c.out, seed_of_iteration(get<int64_t>(f + c.a), position));
        break;
      }
      case SmallProgram::RunStep: {
        const Status status = c.step->run(f);
        if (status) break;
        *at = &c;
        return status;
      }
      case SmallProgram::Count:
        put(f + c.out, get<int64_t>(f + c.out) + get<int64_t>(f + c.a) + c.value);
        break;

#define CASE(shape, name, domain, result, cost, value, dtype)                    \
  case element_kind(Op::name, dtype):                                            \
    shape##_element<((domain >> dtype) & 1) && kIsShort<Op::name, Cost::cost> && \
                        part_of<Op::name>(value) == Part::Vector,                \
                    Op::name, row::name, Result::result, dtype>(f, c);           \
    break;
#define CASES(shape, name, domain, result, cost, value) \
  CASE(shape, name, domain, result, cost, value, 0)     \
  CASE(shape, name, domain, result, cost, value, 1)     \
  CASE(shape, name, domain, result, cost, value, 2)     \
  CASE(shape, name, domain, result, cost, value, 3)     \
  CASE(shape, name, domain, result, cost, value, 4)     \
  CASE(shape, name, domain, result, cost, value, 5)
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  CASES(unary, name, domain, result, cost, #value)
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  CASES(binary, name, domain, result, cost, #value)
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  CASES(ternary, name, domain, result, cost, #value)
#include "graph/elementwise.def"
#undef CASES
#undef CASE

#define CAST(from, to)            \
  case cast_kind(from, to):       \
    cast_element<from, to>(f, c); \
    break;
#define CASTS(from) \
  CAST(from, 0) CAST(from, 1) CAST(from, 2) CAST(from, 3) CAST(from, 4) CAST(from, 5)
        CASTS(0)
        CASTS(1)
        CASTS(2)
        CASTS(3)
        CASTS(4)
        CASTS(5)
#undef CASTS
#undef CAST
      default:
        __builtin_unreachable();
    }
  }
}

using Elements = std::unordered_map<TileKernel, uint16_t>;

template <Op op, Cost cost>
void add_elements(Elements& out, unsigned domain, const char* value) {
  if (!kIsShort<op, cost> || part_of<op>(value) != Part::Vector) return;
  for (int dtype = 0; dtype < kComputeDTypes; ++dtype) {
    if (!(domain >> dtype & 1)) continue;
    out[kernels().elementwise.of[static_cast<int>(op)][dtype]] = element_kind(op, dtype);
  }
}

Elements all_elements() {
  Elements out;
#define ADD(name, domain, cost, value) add_elements<Op::name, Cost::cost>(out, domain, value);
#define UNARY(name, domain, result, integers, cost, mask, value, ...) \
  ADD(name, domain, cost, #value)
#define BINARY(name, domain, result, integers, cost, mask, value, ...) \
  ADD(name, domain, cost, #value)
#define TERNARY(name, domain, result, integers, cost, mask, value, ...) \
  ADD(name, domain, cost, #value)
#include "graph/elementwise.def"
#undef ADD
  for (int from = 0; from < kComputeDTypes; ++from) {
    for (int to = 0; to < kComputeDTypes; ++to) {
      out[kernels().casts.of[from][to]] = cast_kind(from, to);
    }
  }
  out.erase(nullptr);
  return out;
}

}  // namespace

std::optional<uint16_t> code_of_element(TileKernel kernel) {
  static const Elements elements = all_elements();
  const auto found = elements.find(kernel);
  return found == elements.end() ? std::nullopt : std::optional(found->second);
}

char* SmallBuffers::enlarge(int32_t number, int64_t used, int64_t bytes) {
  Buffer& buffer = of_[number];
  auto memory = std::make_unique<StepMemory>(bytes);
  if (!memory->data()) return nullptr;
  if (used) std::memcpy(memory->data(), buffer.memory->data(), static_cast<size_t>(used));
  buffer = {std::move(memory), bytes};
  return buffer.memory->data();
}

Status refused_code(const Code& c, int problem, const char* f) {
  Status status = failure(static_cast<Problem>(problem));
  if (status.problem != Problem::IndexOutOfRange) return status;
  const bool wraps = c.kind == SmallProgram::Call;
  const auto* index = reinterpret_cast<const int64_t*>(f + (wraps ? c.a : c.b));
  status.bound = wraps ? get<int64_t>(f + c.b) : c.length;
  status.detail = first_outside(index, c.n, wraps ? -status.bound : 0, status.bound);
  return status;
}

Status SmallProgram::StepCall::run(char* frame) const {
  const void* in[kMostSlots];
  void* out[kMostSlots];
  for (size_t i = 0; i < arguments.size(); ++i) in[i] = frame + arguments[i];
  for (size_t i = 0; i < outputs.size(); ++i) out[i] = frame + outputs[i];
  const auto* numbers = reinterpret_cast<const Scalar*>(frame + scalars);
  const RunArguments run{in, numbers, out, frame + arena, nullptr};
  const Slots slots(*plan, run);
  if (const auto* random = std::get_if<Random>(&step->work)) return run_random(*random, slots);
  if (const auto* gather = std::get_if<Gather>(&step->work)) return run_gather(*gather, slots);
  if (const auto* iota = std::get_if<Iota>(&step->work)) return run_iota(*iota, slots);
  return run_arg_reduce(std::get<ArgReduce>(step->work), slots);
}

Status run_code(const SmallProgram::Code* code, char* frame, SmallBuffers& buffers) {
  const Code* at = nullptr;
  return interpret(code, frame, buffers, &at);
}

Status run_small(const SmallProgram& program, const NativeCode* native, const Slots& slots,
                 char* frame) {
  if (stop_requested()) return failure(Problem::Interrupted);
  for (const auto& constant : program.constants) {
    alignas(8) char element[8];
    const Scalar value = constant.scalar ? slots.scalar(*constant.scalar) : constant.value;
    store_scalar(constant.dtype, value, element);
    fill_elements(frame + constant.at, element, size_of(constant.dtype), constant.count);
  }
  for (const auto& external : program.externals) put(frame + external.at, slots.at(external.view));
  SmallBuffers buffers(program.buffers);
  const Code* at = nullptr;
  Status status = native ? native->run(frame, buffers, program, &at)
                         : interpret(program.code.data(), frame, buffers, &at);
  for (const auto& part : program.parts) {
    for (const Step& step : part.plan->steps) count_step(step, get<int64_t>(frame + part.runs));
  }
  if (status || !at) return status;
  const auto number = static_cast<int32_t>(at - program.code.data());
  const auto origin = std::upper_bound(
      program.origins.begin(), program.origins.end(), number,
      [](int32_t code, const SmallProgram::Origin& from) { return code < from.first; });
  status.inner = std::prev(origin)->step;
  return status;
}

}  // namespace pullback
