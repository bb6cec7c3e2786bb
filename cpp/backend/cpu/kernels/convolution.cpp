// Kernels of convolutions: a block of c stays in registers while the sum runs.
//
// windows (Positions, Taps): rows of A are read in place from a tile of the input, one entry at a
// time; B is packed. channels: products entry by entry, a vector of channels at a time. Compiled
// once per instruction set, with fused multiply-add.
#include <utility>

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

#if defined(__AVX512F__)
constexpr int kTall = 14;  // rows of a block: 28 of 32 registers accumulate
#else
constexpr int kTall = 6;  // 12 of 16
#endif

using PULLBACK_KERNELS::Lanes;

// Stores the first columns of rows of sums that are `stride` apart. Not inlined: a copy in every
// block would take longer to compile than the block.
template <class T>
[[gnu::noinline]] void write_narrow(const WindowCall& x, const T* sums, int rows, int64_t stride,
                                    T* c) noexcept {
  for (int r = 0; r < rows; ++r, sums += stride, c += x.c_row) {
    for (int64_t j = 0; j < x.width; ++j) c[j] = x.add ? c[j] + sums[j] : sums[j];
  }
}

// kAlong: entries of the sum are adjacent in a row of A, and rows have any stride. Otherwise rows
// are adjacent.
template <class T, int kRows, int kVectors, bool kAlong>
[[gnu::noinline]] void run_block(const WindowCall& x, const T* a, T* c) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int kCount = Lanes<T>::kCount;
  Vector sum[kRows][kVectors] = {};
  const T* b = static_cast<const T*>(x.b);
  const int64_t a_row = kAlong ? x.a_row : 1;
  const int64_t a_step = kAlong ? 1 : x.a_step;
  // A pointer to every third row; the other rows are one and two strides from it.
  constexpr int kPointers = (kRows + 2) / 3;
  for (int64_t s = 0; s < x.segments; ++s) {
    const T* p[kPointers];
    for (int i = 0; i < kPointers; ++i) p[i] = a + x.segment_at[s] + 3 * i * a_row;
#pragma GCC unroll 2
    for (int64_t d = 0; d < x.segment_length; ++d, b += kVectors * kCount) {
      Vector right[kVectors];
      for (int v = 0; v < kVectors; ++v) {
        right[v] = *reinterpret_cast<const Loose*>(b + v * kCount);
      }
      for (int r = 0; r < kRows; ++r) {
        const T left = p[r / 3][r % 3 * a_row];
        for (int v = 0; v < kVectors; ++v) sum[r][v] += left * right[v];
      }
      for (const T*& pointer : p) pointer += a_step;
    }
  }
  if (x.width == kVectors * kCount) {
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r, c += x.c_row) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        auto* whole = reinterpret_cast<Loose*>(c + v * kCount);
        *whole = x.add ? *whole + sum[r][v] : sum[r][v];
      }
    }
  } else {
    T some[kRows * kVectors * kCount];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        *reinterpret_cast<Loose*>(some + (r * kVectors + v) * kCount) = sum[r][v];
      }
    }
    write_narrow(x, some, kRows, kVectors * kCount, c);
  }
}

template <class T>
using BlockRun = void (*)(const WindowCall&, const T*, T*) noexcept;

template <class T, int kVectors, bool kAlong, int... rows>
constexpr BlockRun<T> block_of(int count, std::integer_sequence<int, rows...> /*each*/) {
  constexpr BlockRun<T> kRuns[] = {&run_block<T, rows + 1, kVectors, kAlong>...};
  return kRuns[count - 1];
}

// Divides the rows into blocks of nearly equal height.
template <class T, int kVectors, bool kAlong>
void run_rows(const WindowCall& x) noexcept {
  const T* a = static_cast<const T*>(x.a);
  T* c = static_cast<T*>(x.c);
  const int64_t a_row = kAlong ? x.a_row : 1;
  int64_t left = x.rows;
  for (int64_t blocks = (left + kTall - 1) / kTall; blocks > 0; --blocks) {
    const int64_t rows = (left + blocks - 1) / blocks;
    block_of<T, kVectors, kAlong>(static_cast<int>(rows), std::make_integer_sequence<int, kTall>())(
        x, a, c);
    a += rows * a_row;
    c += rows * x.c_row;
    left -= rows;
  }
}

template <class T>
void windows(const WindowCall& x) noexcept {
  const bool one = x.width <= Lanes<T>::kCount;
  const auto run = x.a_step == 1 ? (one ? run_rows<T, 1, true> : run_rows<T, 2, true>)
                                 : (one ? run_rows<T, 1, false> : run_rows<T, 2, false>);
  run(x);
}

// kOutputs entries of a row of the result, `V` channels each, over all taps.
template <class T, class V, class L, int kOutputs, int kVectors>
[[gnu::noinline]] void run_channels(const ChannelsCall& x, int64_t g, int64_t first) noexcept {
  constexpr int64_t kEntry = sizeof(T);  // V may be T
  constexpr int64_t kCount = sizeof(V) / kEntry;
  V sum[kOutputs][kVectors] = {};
  const T* in = static_cast<const T*>(x.x) + first * x.x_output + g;
  const T* weights = static_cast<const T*>(x.w) + g;
  for (int64_t s = 0; s < x.segments; ++s) {
    const T* a = in + x.x_at[s];
    const T* w = weights + x.w_at[s];
    for (int64_t d = 0; d < x.taps; ++d, a += x.x_tap, w += x.w_tap) {
      for (int v = 0; v < kVectors; ++v) {
        const V right = *reinterpret_cast<const L*>(w + v * kCount);
        for (int i = 0; i < kOutputs; ++i) {
          sum[i][v] += *reinterpret_cast<const L*>(a + i * x.x_output + v * kCount) * right;
        }
      }
    }
  }
  T* to = static_cast<T*>(x.y) + first * x.y_output + g;
  for (int i = 0; i < kOutputs; ++i) {
    for (int v = 0; v < kVectors; ++v) {
      auto* whole = reinterpret_cast<L*>(to + i * x.y_output + v * kCount);
      *whole = x.add ? *whole + sum[i][v] : sum[i][v];
    }
  }
}

template <class T, class V, class L, int kVectors, int... outputs>
void channel_block(const ChannelsCall& x, int64_t g, int64_t first, int64_t count,
                   std::integer_sequence<int, outputs...> /*each*/) noexcept {
  constexpr decltype(&run_channels<T, V, L, 1, kVectors>) kRuns[] = {
      &run_channels<T, V, L, outputs + 1, kVectors>...};
  kRuns[count - 1](x, g, first);
}

template <class T, class V, class L, int kVectors>
void channel_rows(const ChannelsCall& x, int64_t g) noexcept {
  constexpr int kMost = 6;
  int64_t first = 0;
  for (int64_t blocks = (x.outputs + kMost - 1) / kMost; blocks > 0; --blocks) {
    const int64_t count = (x.outputs - first + blocks - 1) / blocks;
    channel_block<T, V, L, kVectors>(x, g, first, count, std::make_integer_sequence<int, kMost>());
    first += count;
  }
}

template <class T>
void channels(const ChannelsCall& x) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t g = 0;
  for (; g + 2 * kCount <= x.channels; g += 2 * kCount) channel_rows<T, Vector, Loose, 2>(x, g);
  for (; g + kCount <= x.channels; g += kCount) channel_rows<T, Vector, Loose, 1>(x, g);
  for (; g < x.channels; ++g) channel_rows<T, T, T, 1>(x, g);
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const ConvolutionTable kConvolutionTable = {
    {&windows<float>, &windows<double>},
    {&channels<float>, &channels<double>},
    {2 * Lanes<float>::kCount, 2 * Lanes<double>::kCount}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
