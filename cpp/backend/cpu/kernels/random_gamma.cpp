// Batched draws of the gamma distribution (gamma_draws.h): attempts are made for all elements at
// once, and then for those that were rejected.
//
// Compiled once per instruction set, flags as in elementwise.h.
#define PULLBACK_NO_FMA

#include "backend/cpu/kernels/gamma_draws.h"
#include "backend/cpu/kernels/table.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

constexpr int64_t kLanes = 64;    // the words are stored by position, so that loops vectorise
constexpr int64_t kBlock = 1024;  // elements whose later attempts are made together

struct Block {
  int64_t seed, counter, first;
  double a[kBlock], y[kBlock];
};

struct Lanes {
  int32_t at[kLanes];
  uint32_t x0[kLanes], x1[kLanes], x2[kLanes], x3[kLanes];
  double a[kLanes], y[kLanes];
  uint8_t taken[kLanes];

  // Block t of each element.
  void fill(const Block& block, int64_t t) {
    for (int64_t i = 0; i < kLanes; ++i) {
      const auto element = static_cast<uint64_t>(block.first + at[i]);
      const PhiloxWords w =
          philox(block.seed, block.counter, element | static_cast<uint64_t>(t) << 48);
      x0[i] = w.x[0];
      x1[i] = w.x[1];
      x2[i] = w.x[2];
      x3[i] = w.x[3];
    }
    for (int64_t i = 0; i < kLanes; ++i) a[i] = block.a[at[i]];
  }
  // `count` elements of a list, padded with its first one.
  void take(const int32_t* list, int64_t count) {
    for (int64_t i = 0; i < kLanes; ++i) at[i] = list[i < count ? i : 0];
  }
};

// Makes attempt t for the elements of a list, and removes the accepted ones from it.
template <bool log>
int64_t make_attempt(Block& block, int32_t* list, int64_t size, int64_t t) {
  Lanes lanes;
  int64_t left = 0;
  for (int64_t from = 0; from < size; from += kLanes) {
    const int64_t count = size - from < kLanes ? size - from : kLanes;
    lanes.take(list + from, count);
    lanes.fill(block, t);
    for (int64_t i = 0; i < kLanes; ++i) {
      const Attempt one = attempt(lanes.a[i], lanes.x0[i], lanes.x1[i], lanes.x2[i], lanes.x3[i]);
      lanes.y[i] = one.drawn<log>();
      lanes.taken[i] = one.taken | !is_drawn(lanes.a[i]);
    }
    for (int64_t i = 0; i < count; ++i) {
      block.y[lanes.at[i]] = lanes.y[i];
      list[left] = lanes.at[i];
      left += !lanes.taken[i];
    }
  }
  return left;
}

// The factor for concentrations that were increased by 1.
template <bool log>
void boost(Block& block, int32_t* list, int64_t size) {
  Lanes lanes;
  for (int64_t from = 0; from < size; from += kLanes) {
    const int64_t count = size - from < kLanes ? size - from : kLanes;
    lanes.take(list + from, count);
    lanes.fill(block, kBoost);
    for (int64_t i = 0; i < kLanes; ++i) lanes.y[i] = block.y[lanes.at[i]];
    for (int64_t i = 0; i < kLanes; ++i) {
      lanes.y[i] = boosted<log>(lanes.y[i], lanes.a[i], lanes.x0[i], lanes.x1[i]);
    }
    for (int64_t i = 0; i < count; ++i) block.y[lanes.at[i]] = lanes.y[i];
  }
}

template <bool log>
void draw(Block& block, int64_t n) {
  int32_t list[kBlock];
  for (int64_t i = 0; i < n; ++i) list[i] = static_cast<int32_t>(i);
  for (int64_t left = n, t = 0; left > 0 && t < kBoost; ++t) {
    left = make_attempt<log>(block, list, left, t);
  }
  int64_t small = 0;
  for (int64_t i = 0; i < n; ++i) {
    list[small] = static_cast<int32_t>(i);
    small += block.a[i] < 1.0;
  }
  boost<log>(block, list, small);
  for (int64_t i = 0; i < n; ++i) {
    const double a = block.a[i];
    block.y[i] = is_drawn(a) ? block.y[i] : not_drawn<log>(a);
  }
}

template <class T, bool log>
void gamma(int64_t seed, int64_t counter, int64_t first, int64_t n, const void* concentration,
           int64_t step, void* out) noexcept {
  const auto* a = static_cast<const T*>(concentration);
  auto* y = static_cast<T*>(out);
  Block block{seed, counter, first};
  for (int64_t done = 0; done < n; done += kBlock) {
    const int64_t count = n - done < kBlock ? n - done : kBlock;
    block.first = first + done;
    for (int64_t i = 0; i < count; ++i) block.a[i] = static_cast<double>(a[(done + i) * step]);
    draw<log>(block, count);
    for (int64_t i = 0; i < count; ++i) y[done + i] = static_cast<T>(block.y[i]);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {
constinit const GammaTable kGammaTable = {
    {{&gamma<float, false>, &gamma<double, false>}, {&gamma<float, true>, &gamma<double, true>}}};
}

}  // namespace pullback
