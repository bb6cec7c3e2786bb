// The largest entries of windows: a row of channels at a time. A NaN is larger than all, and the
// first of equals counts. Compiled once per instruction set.
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

constexpr int64_t kStrip = 256;  // channels that are compared before the next ones

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

template <class T>
void largest(const PoolCall& p) noexcept {
  const auto* x = static_cast<const T*>(p.x);
  auto* y = static_cast<T*>(p.y);
  for (int64_t c = 0; c < p.channels; c += kStrip) {
    const int64_t n = least(kStrip, p.channels - c);
    T best[kStrip];
    for (int64_t i = 0; i < n; ++i) best[i] = x[p.x_at[0] + c + i];
    for (int64_t t = 1; t < p.taps; ++t) {
      const T* in = x + p.x_at[t] + c;
      for (int64_t i = 0; i < n; ++i) {
        best[i] = in[i] > best[i] || in[i] != in[i] ? in[i] : best[i];
      }
    }
    for (int64_t i = 0; i < n; ++i) y[c + i] = best[i];
  }
}

// Which tap has it, of `n` channels from `x` on.
template <class T>
void first_largest(const PoolCall& p, const T* x, int64_t n, int32_t* which) {
  T best[kStrip];
  for (int64_t i = 0; i < n; ++i) best[i] = x[p.x_at[0] + i], which[i] = 0;
  for (int64_t t = 1; t < p.taps; ++t) {
    const T* in = x + p.x_at[t];
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
      for (int64_t i = 0; i < n; ++i) to[p.g_at[which[i]] + i] += g[i];
    } else {
      auto* to = static_cast<T*>(p.y) + c;
      const auto* h = static_cast<const T*>(p.g) + c;
      for (int64_t i = 0; i < n; ++i) to[i] = h[p.g_at[which[i]] + i];
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
