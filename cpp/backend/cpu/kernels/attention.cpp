// The softmax inside of attention, over a block of scores (T. Dao and others, "FlashAttention",
// 2022): forward, weights relative to the largest score so far; backward, cotangents of the scores.
//
// A row whose keys are all masked has the weights 0. Compiled once per instruction set, flags as in
// elementwise.h.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/philox.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/unit.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

template <class T>
constexpr T kLowest = -m::kInfinity<T>;

// exp(x) for x <= 0 with an error of one or two ulp, which does not matter beside sums of float32
// products; in vectors twice as long as those of m::exp. 0 below the smallest normal number.
PULLBACK_INLINE float weight_of(float x) {
  constexpr float kShift = 0x1.8p23f + 127, kLn2Head = 0x1.62e4p-1f;
  constexpr float kLn2Tail = static_cast<float>(m::kLn2 - 0x1.62e4p-1);
  const float shifted = m::mad(x, static_cast<float>(m::kLog2e), kShift);
  const float n = shifted - kShift;
  const float r = m::mad(n, -kLn2Tail, m::mad(n, -kLn2Head, x));
  const float p = m::polynomial(r, 1.0f, 1.0f, 1 / 2.0f, 1 / 6.0f, 1 / 24.0f, 1 / 120.0f,
                                1 / 720.0f, 1 / 5040.0f);
  const float scale = m::bits_as<float>(m::bits_as<uint32_t>(shifted) << 23);
  return x < -87.0f ? 0.0f : scale * p;
}
PULLBACK_INLINE double weight_of(double x) { return m::exp(x); }

constexpr int64_t whole(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

// Sets masked scores of a row, and the padding after the last score, to -inf.
template <class T>
void mask_row(const AttentionBlock& b, int64_t r, T* s, int64_t padded) {
  for (int64_t j = b.columns; j < padded; ++j) s[j] = kLowest<T>;
  if (b.causal) {
    const int64_t first = b.first_row + r - b.first_column + 1;
    for (int64_t j = first < 0 ? 0 : first; j < b.columns; ++j) s[j] = kLowest<T>;
  }
  if (!b.mask) return;
  if (b.added) {
    const T* mask = static_cast<const T*>(b.mask) + r * b.mask_row;
    if (b.mask_column == 1) {
      for (int64_t j = 0; j < b.columns; ++j) s[j] += mask[j];
    } else {
      for (int64_t j = 0; j < b.columns; ++j) s[j] += mask[0];
    }
    return;
  }
  const auto* mask = static_cast<const uint8_t*>(b.mask) + r * b.mask_row;
  if (b.mask_column == 1) {
    for (int64_t j = 0; j < b.columns; ++j) s[j] = mask[j] ? s[j] : kLowest<T>;
  } else if (!mask[0]) {
    for (int64_t j = 0; j < b.columns; ++j) s[j] = kLowest<T>;
  }
}

// The dropout factor of each weight of a row: 0, or the factor that preserves the mean. Equal to
// random_uniform in float32 (random.cpp).
template <class T>
void draw_row(const AttentionBlock& b, int64_t r, T* factors) {
  uint32_t words[kAttentionColumns + 8];
  const int64_t first = b.first_draw + r * b.draws_row;
  const int64_t lead = first % 4;
  const int64_t blocks = (lead + b.columns + 3) / 4;
  for (int64_t i = 0; i < blocks; ++i) {
    const PhiloxWords w = philox(b.seed, b.counter, static_cast<uint64_t>(first / 4 + i));
    for (int k = 0; k < 4; ++k) words[4 * i + k] = w.x[k];
  }
  const T kept = T(1) / (T(1) - static_cast<T>(b.rate));
  for (int64_t j = 0; j < b.columns; ++j) {
    const float drawn = unit32(words[lead + j]);
    factors[j] = drawn >= b.rate ? kept : T(0);
  }
}

constexpr int partner(int j, int step) { return j ^ step; }

// Reduces all lanes to one, by halves.
template <class T, int step = Lanes<T>::kCount / 2, class Op>
PULLBACK_INLINE T folded(const typename Lanes<T>::Vector& v, Op op) {
  const auto both = op(v, Lanes<T>::template shuffled<partner, step>(v, v));
  if constexpr (step == 1) {
    return both[0];
  } else {
    return folded<T, step / 2>(both, op);
  }
}

template <class T>
void forward(const AttentionBlock& b) noexcept {
  using L = Lanes<T>;
  const int64_t padded = whole(b.columns, L::kCount);
  auto* top = static_cast<T*>(b.top);
  auto* total = static_cast<T*>(b.total);
  auto* shrunk = static_cast<T*>(b.shrunk);
  for (int64_t r = 0; r < b.rows; ++r) {
    T* s = static_cast<T*>(b.scores) + r * b.stride;
    mask_row(b, r, s, padded);
    auto most = L::load(s);
    for (int64_t j = L::kCount; j < padded; j += L::kCount) {
      const auto v = L::load(s + j);
      most = v > most ? v : most;
    }
    const auto larger = [](const auto& x, const auto& y) { return y > x ? y : x; };
    const T next = larger(top[r], folded<T>(most, larger));
    const T from = next == kLowest<T> ? T(0) : next;
    for (int64_t j = 0; j < padded; ++j) s[j] = weight_of(s[j] - from);
    auto sums = L::load(s);
    for (int64_t j = L::kCount; j < padded; j += L::kCount) sums += L::load(s + j);
    shrunk[r] = weight_of(top[r] - from);
    total[r] =
        total[r] * shrunk[r] + folded<T>(sums, [](const auto& x, const auto& y) { return x + y; });
    top[r] = next;
    if (!b.dropped) continue;
    T factors[kAttentionColumns];
    draw_row(b, r, factors);
    for (int64_t j = 0; j < b.columns; ++j) s[j] *= factors[j];
  }
}

template <class T>
void backward(const AttentionBlock& b) noexcept {
  const int64_t padded = whole(b.columns, Lanes<T>::kCount);
  const auto* tops = static_cast<const T*>(b.top);
  const auto* totals = static_cast<const T*>(b.total);
  const auto* deltas = static_cast<const T*>(b.delta);
  for (int64_t r = 0; r < b.rows; ++r) {
    T* s = static_cast<T*>(b.scores) + r * b.stride;
    T* d = static_cast<T*>(b.slopes) + r * b.stride;
    mask_row(b, r, s, padded);
    const T top = tops[2 * r], over = totals[2 * r], delta = deltas[r];
    if (!b.dropped) {
      for (int64_t j = 0; j < padded; ++j) {
        s[j] = weight_of(s[j] - top) * over;
        d[j] = s[j] * (d[j] - delta);
      }
      continue;
    }
    T factors[kAttentionColumns];
    draw_row(b, r, factors);
    for (int64_t j = 0; j < b.columns; ++j) {
      const T p = weight_of(s[j] - top) * over;
      s[j] = p * factors[j];
      d[j] = p * (d[j] * factors[j] - delta);
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const AttentionTable kAttentionTable = {{&forward<float>, &forward<double>},
                                                  {&backward<float>, &backward<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
