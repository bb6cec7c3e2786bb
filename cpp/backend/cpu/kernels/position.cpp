// Kernels of argmax and argmin. Each lane keeps its best value and the position: along a row, a
// lane reads every n-th value; over columns, a lane is a column. Short rows are transposed while
// loading, so that a lane is a row; narrow columns are processed several rows at a time.
#include "backend/cpu/kernels/position.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

constexpr int64_t kBytes = PULLBACK_KERNELS::kVectorBytes;  // wider vectors would be stored in
                                                            // memory
constexpr int kAhead = 4;  // independent vectors of a row, since each waits for its last comparison
constexpr int64_t kShortRow = 256;
constexpr int64_t kShortest = 32;  // shortest rows for which a transpose pays
constexpr int64_t kStrip = kPositionColumns;
constexpr int64_t kMostRows = int64_t{1} << 30;  // lanes count in 32 bits

template <class T, bool largest>
struct Lanes {
  // Counts as wide as the values, so that one mask serves both.
  using Count = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  // Bools are widened; everything else fills a vector.
  using Value = std::conditional_t<sizeof(T) == 1, int32_t, T>;
  static constexpr int64_t kWidth = kBytes / static_cast<int64_t>(sizeof(Value));
  using Values [[gnu::vector_size(kBytes)]] = Value;
  using Counts [[gnu::vector_size(kBytes)]] = Count;

  static Values load(const T* x) {
    Values v{};
    if constexpr (sizeof(T) == 1) {
      for (int64_t i = 0; i < kWidth; ++i) v[i] = x[i];
    } else {
      std::memcpy(&v, x, sizeof v);
    }
    return v;
  }

  // For scalars or vectors. Not `x > best`: NaN is better than every number, and nothing is better
  // than NaN.
  template <class V>
  static auto better(const V& x, const V& best) {
    if constexpr (std::is_floating_point_v<Value>) {
      if constexpr (largest) return ~(x <= best) & (best == best);
      return ~(x >= best) & (best == best);
    } else {
      if constexpr (largest) return x > best;
      return x < best;
    }
  }
  static Counts equal(const Values& a, const Values& b) {
    if constexpr (std::is_floating_point_v<Value>) {
      return (a == b) | ((a != a) & (b != b));
    } else {
      return a == b;
    }
  }
  static bool better_one(Value x, Value best) {
    if constexpr (std::is_floating_point_v<Value>) {
      return (largest ? !(x <= best) : !(x >= best)) && best == best;
    } else {
      return largest ? x > best : x < best;
    }
  }
  static bool equal_one(Value a, Value b) { return a == b || (a != a && b != b); }

  struct Best {
    Values value;
    Counts at;
    void see(const Values& x, const Counts& now) {
      const Counts mask = better(x, value);
      value = mask ? x : value;
      at = mask ? now : at;
    }
    // The earlier one of equal values.
    void merge(const Best& other) {
      const Counts earlier = equal(other.value, value) & (other.at < at);
      const Counts mask = better(other.value, value) | earlier;
      value = mask ? other.value : value;
      at = mask ? other.at : at;
    }
  };

  // Several rows, one per lane, sixteen bytes of each at a time. The last sixteen bytes may read
  // entries twice, which does not matter.
  static void of_short_rows(const T* x, int64_t rows, int64_t length, int64_t* out) {
    using Bits = PULLBACK_KERNELS::Lanes<std::conditional_t<sizeof(T) == 8, double, float>>;
    using Bit = std::conditional_t<sizeof(T) == 8, double, float>;
    constexpr int64_t kRows = kAhead * kWidth;
    constexpr int64_t kEntries = Bits::kShort;
    constexpr bool kFloat = std::is_floating_point_v<T>;
    using Limits = std::numeric_limits<T>;
    constexpr T kLow = kFloat ? -Limits::infinity() : Limits::lowest();
    constexpr T kHigh = kFloat ? Limits::infinity() : Limits::max();
    for (int64_t r = 0; r < rows; r += kRows) {
      const Bit* from[kRows];
      for (int64_t i = 0; i < kRows; ++i) {
        from[i] = reinterpret_cast<const Bit*>(x + (r + i < rows ? r + i : rows - 1) * length);
      }
      Best best[kAhead];
#pragma GCC unroll 4
      for (int k = 0; k < kAhead; ++k) best[k] = {Values{} + (largest ? kLow : kHigh), Counts{}};
      for (int64_t first = 0; first < length; first += kEntries) {
        const int64_t e = first + kEntries <= length ? first : length - kEntries;
        const Counts now = Counts{} + static_cast<Count>(e);
#pragma GCC unroll 4
        for (int k = 0; k < kAhead; ++k) {
          const Bit* const* some = from + k * kWidth;
          auto v0 = Bits::joined(some, e);
          auto v1 = Bits::joined(some + 1, e);
          if constexpr (kEntries == 2) {
            Bits::transpose(v0, v1);
            best[k].see(reinterpret_cast<Values>(v0), now);
            best[k].see(reinterpret_cast<Values>(v1), now + 1);
          } else {
            auto v2 = Bits::joined(some + 2, e);
            auto v3 = Bits::joined(some + 3, e);
            Bits::transpose(v0, v1, v2, v3);
            best[k].see(reinterpret_cast<Values>(v0), now);
            best[k].see(reinterpret_cast<Values>(v1), now + 1);
            best[k].see(reinterpret_cast<Values>(v2), now + 2);
            best[k].see(reinterpret_cast<Values>(v3), now + 3);
          }
        }
      }
      Count at[kRows];
#pragma GCC unroll 4
      for (int k = 0; k < kAhead; ++k) std::memcpy(at + k * kWidth, &best[k].at, kBytes);
      const int64_t some = rows - r < kRows ? rows - r : kRows;
      for (int64_t j = 0; j < some; ++j) out[r + j] = at[j];
    }
  }

  static int64_t of_row(const T* x, int64_t n) {
    Value best = x[0];
    int64_t at = 0;
    int64_t i = 1;
    constexpr int64_t kStep = kAhead * kWidth;
    if (n >= kStep) {
      Count first[kStep];
      for (int64_t k = 0; k < kStep; ++k) first[k] = static_cast<Count>(k);
      Best lanes[kAhead];
      Counts now[kAhead];
      std::memcpy(now, first, sizeof now);
      for (int64_t k = 0; k < kAhead; ++k) lanes[k] = {load(x + k * kWidth), now[k]};
      for (i = kStep; i + kStep <= n; i += kStep) {
        for (int64_t k = 0; k < kAhead; ++k) {
          now[k] += static_cast<Count>(kStep);
          lanes[k].see(load(x + i + k * kWidth), now[k]);
        }
      }
      std::memcpy(now, first, sizeof now[0]);
      for (; i + kWidth <= n; i += kWidth) {
        lanes[0].see(load(x + i), now[0] + static_cast<Count>(i));
      }
      for (int64_t k = 1; k < kAhead; ++k) lanes[0].merge(lanes[k]);
      best = lanes[0].value[0];
      at = lanes[0].at[0];
      for (int64_t k = 1; k < kWidth; ++k) {
        const Value value = lanes[0].value[k];
        const int64_t place = lanes[0].at[k];
        if (better_one(value, best) || (equal_one(value, best) && place < at)) {
          best = value;
          at = place;
        }
      }
    }
    for (; i < n; ++i) {
      if (better_one(x[i], best)) {
        best = x[i];
        at = i;
      }
    }
    return at;
  }

  // At least kWidth and at most kStrip columns; the last vector may overlap the one before.
  static void of_columns(const T* x, int64_t rows, int64_t stride, int64_t columns, Value* value,
                         int64_t* out) {
    Best lanes[kStrip / kWidth + 1];
    const int64_t count = (columns + kWidth - 1) / kWidth;  // at least 1
    const auto start = [&](int64_t k) { return k + 1 < count ? k * kWidth : columns - kWidth; };
    for (int64_t k = 0; k < count; ++k) lanes[k] = {load(x + start(k)), Counts{}};
    Counts now{};
    for (int64_t r = 1; r < rows; ++r) {
      now += 1;
      const T* row = x + r * stride;
      for (int64_t k = 0; k + 1 < count; ++k) lanes[k].see(load(row + k * kWidth), now);
      lanes[count - 1].see(  // NOLINT(clang-analyzer-security.ArrayBound)
          load(row + columns - kWidth), now);
    }
    for (int64_t k = 0; k < count; ++k) {
      for (int64_t j = 0; j < kWidth; ++j) {
        out[start(k) + j] = lanes[k].at[j];
        if (value) value[start(k) + j] = lanes[k].value[j];
      }
    }
  }

  // Fewer than kWidth columns, where `group` rows count as one if there are no gaps; or too many
  // rows.
  static void of_few(const T* x, int64_t rows, int64_t stride, int64_t columns, int64_t* out) {
    int64_t group = 1;
    while (group * columns % kWidth != 0 && group * columns < kStrip / 2) ++group;
    Value best[kStrip];
    int64_t at[kStrip];
    int64_t done = 1;
    for (int64_t j = 0; j < columns; ++j) {
      best[j] = x[j];
      out[j] = 0;
    }
    if (stride == columns && group * columns >= kWidth && rows >= 2 * group && rows <= kMostRows) {
      done = rows / group * group;
      of_columns(x, rows / group, group * columns, group * columns, best, at);
      for (int64_t j = 0; j < columns; ++j) {
        out[j] = at[j] * group;
        for (int64_t g = 1; g < group; ++g) {
          const int64_t k = g * columns + j;
          const int64_t place = at[k] * group + g;
          if (better_one(best[k], best[j]) || (equal_one(best[k], best[j]) && place < out[j])) {
            best[j] = best[k];
            out[j] = place;
          }
        }
      }
    }
    for (int64_t r = done; r < rows; ++r) {
      for (int64_t j = 0; j < columns; ++j) {
        if (!better_one(x[r * stride + j], best[j])) continue;
        best[j] = x[r * stride + j];
        out[j] = r;
      }
    }
  }

  static void columns(const void* values, int64_t rows, int64_t stride, int64_t columns,
                      int64_t* out) noexcept {
    const auto* x = static_cast<const T*>(values);
    if (columns < kWidth || rows > kMostRows) return of_few(x, rows, stride, columns, out);
    of_columns(x, rows, stride, columns, nullptr, out);
  }

  static void rows(const void* values, int64_t rows, int64_t length, int64_t* out) noexcept {
    const auto* x = static_cast<const T*>(values);
    if constexpr (sizeof(T) > 1) {
      if (length < kShortRow && length * static_cast<int64_t>(sizeof(T)) >= 16) {
        return of_short_rows(x, rows, length, out);
      }
    }
    int64_t r = 0;
    if (length < kShortest) {
      constexpr int64_t kRows = 64;
      T transposed[kShortest * kRows];
      for (; r + kRows <= rows; r += kRows) {
        for (int64_t i = 0; i < kRows; ++i) {
          for (int64_t j = 0; j < length; ++j) transposed[j * kRows + i] = x[(r + i) * length + j];
        }
        of_columns(transposed, length, kRows, kRows, nullptr, out + r);
      }
    }
    for (; r < rows; ++r) out[r] = of_row(x + r * length, length);
  }
};

template <class T, bool largest>
constexpr PositionKernel kEntry = {&Lanes<T, largest>::rows, &Lanes<T, largest>::columns};

}  // namespace

namespace PULLBACK_KERNELS {

#define PULLBACK_POSITIONS(largest)                                                  \
  {                                                                                  \
      kEntry<uint8_t, largest>, kEntry<int32_t, largest>, kEntry<int64_t, largest>,  \
      kEntry<float, largest>,   kEntry<double, largest>,  kEntry<uint64_t, largest>, \
  }
constinit const PositionTable kPositionTable = {
    {PULLBACK_POSITIONS(false), PULLBACK_POSITIONS(true)}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
