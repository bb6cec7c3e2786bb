// Kernels over rows: repeat an entry along its row, take one entry of each row, combine elements
// with the entry of their row, add rows to rows. Compiled once per instruction set, flags as in
// elementwise.h.
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/vec_exp.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

// Rows shorter than this are written as one block that reaches into the next row, which is written
// afterwards: a loop of unknown short length costs more than the row.
constexpr int64_t kShortRow = 16;

template <class T>
int spread(void* out, const void* a, const void*, const void*, int64_t rows,
           int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  int64_t r = 0;
  if (length <= kShortRow) {
    for (; (rows - r) * length >= kShortRow; ++r, y += length) {
      const T value = x[r];
      for (int64_t j = 0; j < kShortRow; ++j) y[j] = value;
    }
  }
  for (; r < rows; ++r, y += length) {
    const T value = x[r];
    for (int64_t j = 0; j < length; ++j) y[j] = value;
  }
  return kFine;
}

PULLBACK_INLINE bool all_inside(const int64_t* index, int64_t rows, int64_t length) {
  int64_t outside = 0;
  for (int64_t r = 0; r < rows; ++r) outside |= (index[r] < 0) | (index[r] >= length);
  return !outside;
}

template <class T>
int pick(void* out, const void* a, const void* b, const void*, int64_t rows,
         int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t r = 0; r < rows; ++r) y[r] = x[r * length + index[r]];
  return kFine;
}

template <class T>
int place(void* out, const void* a, const void* b, const void*, int64_t rows,
          int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t i = 0; i < rows * length; ++i) y[i] = T(0);
  for (int64_t r = 0; r < rows; ++r) y[r * length + index[r]] = x[r];
  return kFine;
}

// Adds zero to all entries but one of a row, which makes zeros positive.
template <class T>
int place_add(void* out, const void* a, const void* b, const void* c, int64_t rows,
              int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* entries = static_cast<const T*>(a);
  const auto* index = static_cast<const int64_t*>(b);
  const auto* x = static_cast<const T*>(c);
  if (!all_inside(index, rows, length)) return kIndexOutOfRange;
  for (int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const T sum = entries[r] + x[index[r]];
#pragma GCC ivdep
    for (int64_t j = 0; j < length; ++j) y[j] = x[j] + T(0);
    y[index[r]] = sum;
  }
  return kFine;
}

// clang-format off
struct Add { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a + b; } };
struct Subtract { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a - b; } };
struct Multiply { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a * b; } };
struct Divide { template <class T> PULLBACK_INLINE static T of(T a, T b) { return a / b; } };
// clang-format on

template <class Row, class T>
int arithmetic(void* out, const void* a, const void* b, const void*, int64_t rows,
               int64_t length) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(a);
  const auto* entries = static_cast<const T*>(b);
  for (int64_t r = 0; r < rows; ++r, y += length, x += length) {
    const T entry = entries[r];
#pragma GCC ivdep
    for (int64_t j = 0; j < length; ++j) y[j] = Row::of(x[j], entry);
  }
  return kFine;
}

// With a stride known at compile time, whole vectors are read.
template <class T>
void gather(void* out, const void* in, int64_t stride, int64_t n) noexcept {
  auto* __restrict y = static_cast<T*>(out);
  const auto* x = static_cast<const T*>(in);
  const auto go = [&](int64_t step) {
    for (int64_t i = 0; i < n; ++i) y[i] = x[i * step];
  };
  stride == 2 ? go(2) : stride == 3 ? go(3) : stride == 4 ? go(4) : go(stride);
}

// Four numbers at a time: rows may be short, and are at random places.
template <class T, class Sum>
void add_rows(const RowsCall& call) noexcept {
  constexpr int64_t kAhead = 8;
  constexpr int kFour = 4;
  typedef T From __attribute__((vector_size(kFour * sizeof(T)), aligned(alignof(T)), may_alias));
  typedef Sum To
      __attribute__((vector_size(kFour * sizeof(Sum)), aligned(alignof(Sum)), may_alias));
  constexpr auto kFromLine = static_cast<int64_t>(64 / sizeof(T));
  constexpr auto kToLine = static_cast<int64_t>(64 / sizeof(Sum));
  for (int64_t k = 0; k < call.count; ++k) {
    if (k + kAhead < call.count) {
      const T* x = static_cast<const T*>(call.in) + call.from[k + kAhead] * call.in_row;
      const Sum* y = static_cast<Sum*>(call.out) + call.to[k + kAhead] * call.out_row;
      for (int64_t j = 0; j < call.columns && j < 4 * kFromLine; j += kFromLine) {
        __builtin_prefetch(x + j);
      }
      for (int64_t j = 0; j < call.columns && j < 4 * kToLine; j += kToLine) {
        __builtin_prefetch(y + j, 1);
      }
    }
    const T* x = static_cast<const T*>(call.in) + call.from[k] * call.in_row;
    Sum* y = static_cast<Sum*>(call.out) + call.to[k] * call.out_row;
    int64_t j = 0;
    for (; j + kFour <= call.columns; j += kFour) {
      const From from = *reinterpret_cast<const From*>(x + j);
      auto* to = reinterpret_cast<To*>(y + j);
      *to = *to + __builtin_convertvector(from, To);
    }
    for (; j < call.columns; ++j) y[j] += static_cast<Sum>(x[j]);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const RowTable kRowTable = {
    {&spread<uint8_t>, &spread<uint32_t>, &spread<uint64_t>, &spread<uint16_t>},
    {&pick<uint8_t>, &pick<uint32_t>, &pick<uint64_t>, &pick<uint16_t>},
    {&place<uint8_t>, &place<uint32_t>, &place<uint64_t>, &place<uint16_t>},
    {&place_add<float>, &place_add<double>},
    {{&arithmetic<Add, float>, &arithmetic<Add, double>},
     {&arithmetic<Subtract, float>, &arithmetic<Subtract, double>},
     {&arithmetic<Multiply, float>, &arithmetic<Multiply, double>},
     {&arithmetic<Divide, float>, &arithmetic<Divide, double>}},
    {&gather<uint32_t>, &gather<uint64_t>},
    {&add_rows<float, float>, &add_rows<double, double>, &add_rows<float, double>},
};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
