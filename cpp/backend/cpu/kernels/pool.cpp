// The largest entries of windows: channel by channel. A NaN is larger than all, and the
// first of equals counts. Compiled once per instruction set.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

constexpr int64_t kStrip = 256;  // channels that are compared before the next ones

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Of kVectors times as many channels as V has, which stay in registers. V: T itself, or a vector of
// it; L: the same, at any place.
template <class T, class V, class L, int kVectors>
void largest_of(const PoolCall& p, int64_t c) noexcept {
  constexpr int64_t kEntry = sizeof(T);  // V may be T
  constexpr int64_t kCount = sizeof(V) / kEntry;
  const T* x = static_cast<const T*>(p.x) + c;
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
  T* y = static_cast<T*>(p.y) + c;
  for (int v = 0; v < kVectors; ++v) *reinterpret_cast<L*>(y + v * kCount) = best[v];
}

template <class T>
void largest(const PoolCall& p) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t c = 0;
  for (; c + 4 * kCount <= p.channels; c += 4 * kCount) largest_of<T, Vector, Loose, 4>(p, c);
  for (; c + kCount <= p.channels; c += kCount) largest_of<T, Vector, Loose, 1>(p, c);
  for (; c < p.channels; ++c) largest_of<T, T, T, 1>(p, c);
}

// Which tap has it, of `n` channels from `x` on.
template <class T>
void first_largest(const PoolCall& p, const T* x, int64_t n, int32_t* which) {
  T best[kStrip];
  for (int64_t i = 0; i < n; ++i) best[i] = x[p.at[0] + i], which[i] = 0;
  for (int64_t t = 1; t < p.taps; ++t) {
    const T* in = x + p.at[t];
    const auto number = static_cast<int32_t>(t);
    for (int64_t i = 0; i < n; ++i) {
      const bool wins = (in[i] > best[i]) | ((in[i] != in[i]) & (best[i] == best[i]));
      best[i] = wins ? in[i] : best[i];
      which[i] = wins ? number : which[i];
    }
  }
}

template <class T, bool kSpreads>
void at_largest(const PoolCall& p) noexcept {
  const auto* x = static_cast<const T*>(p.x);
  int32_t which[kStrip];
  for (int64_t c = 0; c < p.channels; c += kStrip) {
    const int64_t n = least(kStrip, p.channels - c);
    first_largest<T>(p, x + c, n, which);
    if constexpr (kSpreads) {
      auto* to = static_cast<T*>(p.y) + c;
      const auto* g = static_cast<const T*>(p.g) + c;
      for (int64_t i = 0; i < n; ++i) to[p.at[which[i]] + i] += g[i];
    } else {
      auto* to = static_cast<T*>(p.y) + c;
      const auto* h = static_cast<const T*>(p.g) + c;
      for (int64_t i = 0; i < n; ++i) to[i] = h[p.at[which[i]] + i];
    }
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
