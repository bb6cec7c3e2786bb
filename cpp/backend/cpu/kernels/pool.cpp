// The largest entries of windows, channel by channel. NaN is larger than all numbers; of equal
// entries the first counts. Compiled once per instruction set.
#include <type_traits>

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

// Integers for the numbers of taps, one per channel of V.
template <class V>
struct Numbers {
  using Type = decltype(V{} > V{});
};
template <>
struct Numbers<float> {
  using Type = int32_t;
};
template <>
struct Numbers<double> {
  using Type = int64_t;
};

// For kVectors times the channels of V, which stay in registers. V: T or a vector of it; L: the
// same without alignment.
template <class T, class V, class L, int kVectors>
void largest_of(const PoolCall& p, const T* x, T* y) noexcept {
  constexpr int64_t kEntry = sizeof(T);  // V may be T
  constexpr int64_t kCount = sizeof(V) / kEntry;
  V best[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    best[v] = *reinterpret_cast<const L*>(x + p.at[0] + v * kCount);
  }
  for (int64_t t = 1; t < p.taps; ++t) {
    for (int v = 0; v < kVectors; ++v) {
      const V in = *reinterpret_cast<const L*>(x + p.at[t] + v * kCount);
      best[v] = (in > best[v]) | (in != in) ? in : best[v];
    }
  }
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<L*>(y + v * kCount) = best[v];
}

template <class T>
void largest(const PoolCall& p) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  const T* x = static_cast<const T*>(p.x);
  T* y = static_cast<T*>(p.y);
  for (int64_t w = 0; w < p.windows; ++w, x += p.x_step, y += p.to_step) {
    int64_t c = 0;
    for (; c + 4 * kCount <= p.channels; c += 4 * kCount) {
      largest_of<T, Vector, Loose, 4>(p, x + c, y + c);
    }
    for (; c + kCount <= p.channels; c += kCount) {
      largest_of<T, Vector, Loose, 1>(p, x + c, y + c);
    }
    for (; c < p.channels; ++c) largest_of<T, T, T, 1>(p, x + c, y + c);
  }
}

// The number of the tap with the largest entry, for each channel of V.
template <class V, class L, class T>
typename Numbers<V>::Type first_largest(const PoolCall& p, const T* x) noexcept {
  using Number = typename Numbers<V>::Type;
  V best = *reinterpret_cast<const L*>(x + p.at[0]);
  Number which = {};
  Number number = {};
  for (int64_t t = 1; t < p.taps; ++t) {
    number += 1;
    const V in = *reinterpret_cast<const L*>(x + p.at[t]);
    const auto wins = (in > best) | ((in != in) & (best == best));
    best = wins ? in : best;
    which = wins ? number : which;
  }
  return which;
}

template <class T, class V, class L>
void spread(const PoolCall& p, const T* x, const T* g, T* y) noexcept {
  constexpr int64_t kEntry = sizeof(T);  // V may be T
  constexpr int64_t kCount = sizeof(V) / kEntry;
  using Number = typename Numbers<V>::Type;
  const Number which = first_largest<V, L>(p, x);
  if (p.taps > kFewPoolTaps) {
    std::conditional_t<sizeof(T) == 4, int32_t, int64_t> taps[kCount];
    __builtin_memcpy(taps, &which, sizeof(which));
    for (int64_t i = 0; i < kCount; ++i) y[p.at[taps[i]] + i] += g[i];
    return;
  }
  const V all = *reinterpret_cast<const L*>(g);
  Number number = {};
  for (int64_t t = 0; t < p.taps; ++t, number += 1) {
    auto* to = reinterpret_cast<L*>(y + p.at[t]);
    const V some = which == number ? all : V{};
    *to = p.stores ? some : *to + some;
  }
}

template <class T, class V, class L>
void choose(const PoolCall& p, const T* x, const T* g, T* y) noexcept {
  const auto which = first_largest<V, L>(p, x);
  auto number = which - which;
  V out = *reinterpret_cast<const L*>(g + p.at[0]);
  for (int64_t t = 1; t < p.taps; ++t) {
    number += 1;
    const V in = *reinterpret_cast<const L*>(g + p.at[t]);
    out = which == number ? in : out;
  }
  *reinterpret_cast<L*>(y) = out;
}

template <class T, bool kSpreads>
void at_largest(const PoolCall& p) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  const T* x = static_cast<const T*>(p.x);
  const T* g = static_cast<const T*>(p.g);
  T* y = static_cast<T*>(p.y);
  constexpr auto many = kSpreads ? spread<T, Vector, Loose> : choose<T, Vector, Loose>;
  constexpr auto one = kSpreads ? spread<T, T, T> : choose<T, T, T>;
  const int64_t g_step = kSpreads ? p.to_step : p.x_step;
  const int64_t y_step = kSpreads ? p.x_step : p.to_step;
  for (int64_t w = 0; w < p.windows; ++w, x += p.x_step, g += g_step, y += y_step) {
    int64_t c = 0;
    for (; c + kCount <= p.channels; c += kCount) many(p, x + c, g + c, y + c);
    for (; c < p.channels; ++c) one(p, x + c, g + c, y + c);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const PoolTable kPoolTable = {
    {&largest<float>, &largest<double>, &largest<int32_t>, &largest<int64_t>},
    {&at_largest<float, true>, &at_largest<double, true>},
    {&at_largest<float, false>, &at_largest<double, false>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
