// Bessel functions of the first and second kind for large arguments, whose angle is reduced as by
// M. H. Payne and R. N. Hanek, "Radian reduction for trigonometric functions", SIGNUM Newsletter
// 18, 1983.

#include <cmath>

#include "backend/cpu/kernels/vec_bessel.h"
#include "backend/cpu/special/bessel.h"

namespace pullback::special {
namespace {

// The first bits of 2 / pi.
constexpr uint64_t kBits[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
    0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
    0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d};

// 64 of them from position k on; those before the first are zero.
uint64_t bits_from(int k) {
  const int at = (k + 64) / 64, shift = (k + 64) % 64;
  const uint64_t high = at > 0 ? kBits[at - 1] : 0, low = kBits[at];
  return shift ? high << shift | low >> (64 - shift) : high;
}

// x - pi/4 = n pi/2 + r with |r| <= pi/4.
m::Quarter turns(double x) {
  int exponent;
  const auto digits = static_cast<uint64_t>(std::ldexp(std::frexp(x, &exponent), 53));
  // x 2 / pi modulo 4, times 2^126: bits before these only add multiples of 4
  const int k = exponent - 55;
  using Wide = unsigned __int128;
  const Wide low = Wide{digits} * bits_from(k + 128), middle = Wide{digits} * bits_from(k + 64);
  const Wide turns = (Wide{digits * bits_from(k)} << 64) + middle + (low >> 64);
  // its distance from the middle between integers, times 2^128, in two parts
  const Wide rest = (turns << 2) ^ (Wide{1} << 127);
  const auto top = static_cast<double>(static_cast<__int128>(rest) >> 75);
  const auto bottom = static_cast<double>(rest & ((Wide{1} << 75) - 1));
  const m::TwoPart f = m::two_sum(top * 0x1p-53, bottom * 0x1p-128);
  const m::TwoPart r = m::product(f, m::TwoPart{0.5 * m::kPi, 0.5 * m::kPiLow});
  return {r.high, r.low, static_cast<uint64_t>(turns >> 126)};
}

template <m::Function f>
m::TwoPart wave(double x) {
  // The sizes of the largest are scaled, so that nothing overflows; their phase is 0 anyway.
  const bool large = x > 0x1p900;
  const m::Polar at = m::polar_two<f.v>(large ? x * 0x1p-200 : x);
  const m::Quarter q = turns(x);
  const m::TwoPart first = m::two_sum(q.r, at.phase.high);
  const m::TwoPart r = m::quick_sum(first.high, first.low + (q.low + at.phase.low));
  const m::TwoPart y = m::wave_of<f>(at.size, {r.high, r.low, q.n});
  const double scale = large ? 0x1p-100 : 1.0;
  return {scale * y.high, scale * y.low};
}

}  // namespace

Wave far_wave(int order, bool second, double x) noexcept {
  const m::TwoPart y = second ? (order ? wave<m::kY1>(x) : wave<m::kY0>(x))
                              : (order ? wave<m::kJ1>(x) : wave<m::kJ0>(x));
  return {y.high, y.low};
}

}  // namespace pullback::special
