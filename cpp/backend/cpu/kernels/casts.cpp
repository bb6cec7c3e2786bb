// Casts: between compute dtypes, and between each storage dtype and its compute dtype.
//
// Compiled once per instruction set, flags as in elementwise.h.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_half.h"
#include "backend/cpu/kernels/vec_math.h"
#if defined(__F16C__)
#include <immintrin.h>
#endif

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

// clang-format off
template <DType dtype> struct ElementOf;
template <> struct ElementOf<DType::Bool> { using type = uint8_t; };
template <> struct ElementOf<DType::Int32> { using type = int32_t; };
template <> struct ElementOf<DType::Int64> { using type = int64_t; };
template <> struct ElementOf<DType::Float32> { using type = float; };
template <> struct ElementOf<DType::Float64> { using type = double; };
template <> struct ElementOf<DType::UInt64> { using type = uint64_t; };
template <> struct ElementOf<DType::Int8> { using type = int8_t; };
template <> struct ElementOf<DType::Int16> { using type = int16_t; };
template <> struct ElementOf<DType::UInt8> { using type = uint8_t; };
template <> struct ElementOf<DType::UInt16> { using type = uint16_t; };
template <> struct ElementOf<DType::UInt32> { using type = uint32_t; };
template <> struct ElementOf<DType::Float16> { using type = uint16_t; };
template <> struct ElementOf<DType::BFloat16> { using type = uint16_t; };
// clang-format on
template <DType dtype>
using Element = typename ElementOf<dtype>::type;

constexpr bool is_half(DType dtype) { return dtype == DType::Float16 || dtype == DType::BFloat16; }

template <DType to, DType from>
PULLBACK_INLINE Element<to> convert(Element<from> a) {
  if constexpr (to == from) {
    return a;
  } else if constexpr (from == DType::Float16) {
    return m::from_float16(a);
  } else if constexpr (from == DType::BFloat16) {
    return m::from_bfloat16(a);
  } else if constexpr (is_half(to)) {
    float single;
    if constexpr (from == DType::Float64) {
      single = m::to_odd(a);
    } else {
      single = a;
    }
    if constexpr (to == DType::Float16) return m::to_float16(single);
    return m::to_bfloat16(single);
  } else if constexpr (is_storage(to) && is_float(from)) {
    return m::saturated<Element<to>>(a);
  } else if constexpr (is_storage(to) || is_storage(from)) {
    return static_cast<Element<to>>(a);
  } else {
    return m::cast<Element<to>>(a);
  }
}

// With the processor's own instruction, eight at a time; reduces n to the rest.
template <DType to, DType from>
PULLBACK_INLINE void by_eight([[maybe_unused]] Element<to>*& y,
                              [[maybe_unused]] const Element<from>*& x,
                              [[maybe_unused]] int64_t& n) {
#if defined(__F16C__)
  for (; n >= 8; n -= 8, x += 8, y += 8) {
    if constexpr (from == DType::Float16) {
      _mm256_storeu_ps(y, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))));
    } else {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(y),
                       _mm256_cvtps_ph(_mm256_loadu_ps(x), _MM_FROUND_TO_NEAREST_INT));
    }
  }
#endif
}

template <DType to, DType from>
int cast(void* out, const void* a, const void*, const void*, int64_t n) noexcept {
  auto* y = static_cast<Element<to>*>(out);
  const auto* x = static_cast<const Element<from>*>(a);
  constexpr bool kOwn = (to == DType::Float16 && from == DType::Float32) ||
                        (from == DType::Float16 && to == DType::Float32);
  if constexpr (kOwn) by_eight<to, from>(y, x, n);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = convert<to, from>(x[i]);
  return kFine;
}

template <DType to, DType from>
constexpr void add(CastTable& table) {
  table.of[static_cast<int>(from)][static_cast<int>(to)] = &cast<to, from>;
}

template <DType from>
constexpr void add_computed(CastTable& table) {
  add<DType::Bool, from>(table);
  add<DType::Int32, from>(table);
  add<DType::Int64, from>(table);
  add<DType::Float32, from>(table);
  add<DType::Float64, from>(table);
  add<DType::UInt64, from>(table);
}

template <DType stored>
constexpr void add_stored(CastTable& table) {
  add<stored, stored>(table);
  add<traits(stored).compute, stored>(table);
  add<stored, traits(stored).compute>(table);
  add<stored, DType::Float64>(table);
  if constexpr (!is_half(stored)) add<stored, DType::Float32>(table);
}

constexpr CastTable filled() {
  CastTable table{};
  add_computed<DType::Bool>(table);
  add_computed<DType::Int32>(table);
  add_computed<DType::Int64>(table);
  add_computed<DType::Float32>(table);
  add_computed<DType::Float64>(table);
  add_computed<DType::UInt64>(table);
  add_stored<DType::Int8>(table);
  add_stored<DType::Int16>(table);
  add_stored<DType::UInt8>(table);
  add_stored<DType::UInt16>(table);
  add_stored<DType::UInt32>(table);
  add_stored<DType::Float16>(table);
  add_stored<DType::BFloat16>(table);
  return table;
}

}  // namespace

namespace PULLBACK_KERNELS {
constinit const CastTable kCastTable = filled();
}

}  // namespace pullback
