// Draws of the gamma distribution of scale 1: Marsaglia and Tsang, "A simple method for generating
// gamma variables", 2000. Attempt t of element i uses block (i, t) of the draw, so an element
// depends on its number and its concentration only. Attempts are made for many elements at once,
// and then for those that were rejected.
//
// A concentration below 1 is increased by 1, and the draw multiplied by u^(1 / a), in logarithms:
// the logarithm of a draw is finite even if the draw itself is 0.
//
// Compiled once per instruction set, flags as in elementwise.h.
#define PULLBACK_NO_FMA

#include "backend/cpu/kernels/philox.h"
#include "backend/cpu/kernels/table.h"
#include "backend/cpu/kernels/unit.h"
#include "backend/cpu/kernels/vec_math.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

constexpr int64_t kLanes = 64;      // the words are stored by position, so that loops vectorise
constexpr int64_t kBlock = 1024;    // elements whose later attempts are made together
constexpr int64_t kBoost = 0xffff;  // block number of the factor u^(1 / a), after those of all
                                    // attempts

// log(1 + x) - x for x > -1
PULLBACK_INLINE double log1p_less(double x) {
  const double near =
      x * x *
      m::polynomial(x, -1.0 / 2, 1.0 / 3, -1.0 / 4, 1.0 / 5, -1.0 / 6, 1.0 / 7, -1.0 / 8, 1.0 / 9);
  const double far = m::log(1.0 + x) - x;
  return m::magnitude(x) < 0x1p-7 ? near : far;
}

// A standard normal number, accurate to some 2^-34.
PULLBACK_INLINE double rough_normal(uint32_t x0, uint32_t x1) {
  const double radius = m::sqrt(-2.0 * m::rough_log(open_unit32(x0)));
  const m::Quarter q = m::rough_quarter_turns(6.283185307179586 * (x1 * 0x1p-32));
  const double y = q.n & 1 ? m::sin_rough(q.r) : m::cos_rough(q.r);
  return radius * m::negative_if(y, (q.n + 1) >> 1);
}

// d v = d (1 + e)^3 with e = c z, for a standard normal z
struct Attempt {
  double d, e, log_v;
  bool taken;

  PULLBACK_INLINE double value() const { return d * ((1.0 + e) * (1.0 + e) * (1.0 + e)); }
  PULLBACK_INLINE double logarithm() const { return m::log(d) + log_v; }
};

PULLBACK_INLINE Attempt attempt(double a, uint32_t x0, uint32_t x1, uint32_t x2, uint32_t x3) {
  const double d = (a < 1.0 ? a + 1.0 : a) - 1.0 / 3;
  const double z = rough_normal(x0, x1);
  const double e = z / m::sqrt(9.0 * d);
  const double less = log1p_less(e);
  // z^2/2 + d (1 - v + log v), of which the parts of order 1 cancel
  const double bound = 0.5 * z * z + d * (3.0 * less - e * e * (3.0 + e));
  const bool taken = (e > -1.0) & (m::rough_log(open_unit64(x2, x3)) < bound);
  return {d, e, 3.0 * (less + e), taken};
}

// True if an element needs attempts: not for 0, infinity, or an invalid concentration.
PULLBACK_INLINE bool is_drawn(double a) { return (a > 0.0) & (a < m::kInfinity<double>); }

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
      lanes.y[i] = log ? one.logarithm() : one.value();
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
      const double more = m::log(open_unit64(lanes.x0[i], lanes.x1[i])) / lanes.a[i];
      lanes.y[i] = log ? lanes.y[i] + more : lanes.y[i] * m::exp(more);
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
    const double bare = a >= 0.0 ? (log && a == 0.0 ? -m::kInfinity<double> : a) : m::kNaN<double>;
    block.y[i] = is_drawn(a) ? block.y[i] : bare;
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
