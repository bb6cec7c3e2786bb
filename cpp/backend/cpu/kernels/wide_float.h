// exp, tanh and the slope of tanh for sixteen floats, and exp for eight doubles. AVX-512 looks up a
// table of two vectors in one instruction, which avoids the conversion to double and most of the
// polynomial and the corrections of vec_exp.h.
//
// Errors are below 0.53 ulp for exp of floats, 0.56 for doubles (subnormal results are rounded
// twice: 0.25 more), 0.64 for tanh and 2.4 for its slope. The last, partial vector runs the same
// code with a mask.
#pragma once

#if defined(__AVX512F__)
// gcc 12 warns of variables in its own header.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "backend/cpu/kernels/vec_exp.h"

namespace pullback {
namespace {
namespace wide {

// 2^(j/32) in two parts
alignas(64) constexpr float kPowers[2][32] = {
    {0x1p+0f,        0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f,
     0x1.2387a6p+0f, 0x1.29e9ep+0f,  0x1.306fep+0f,  0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f,
     0x1.4bfdaep+0f, 0x1.5342b6p+0f, 0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f,
     0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f, 0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f,
     0x1.ae89fap+0f, 0x1.b7f77p+0f,  0x1.c199bep+0f, 0x1.cb720ep+0f, 0x1.d5818ep+0f, 0x1.dfc974p+0f,
     0x1.ea4afap+0f, 0x1.f50766p+0f},
    {0,
     -0x1.9d4f52p-25f,
     0x1.9f3122p-25f,
     -0x1.fdb496p-25f,
     -0x1.c15742p-27f,
     -0x1.d2e8cap-25f,
     0x1.ceac48p-25f,
     -0x1.5c0424p-25f,
     0x1.4636e2p-25f,
     -0x1.18aac6p-25f,
     0x1.824684p-25f,
     0x1.8624b4p-30f,
     -0x1.593abcp-25f,
     -0x1.2c561p-25f,
     -0x1.5bd5ecp-27f,
     -0x1.f8b55p-25f,
     0x1.9fcef4p-26f,
     0x1.1d8beep-25f,
     -0x1.829fdp-25f,
     -0x1.accc7cp-26f,
     0x1.15506ep-27f,
     -0x1.e64744p-25f,
     0x1.51f848p-27f,
     -0x1.b83b54p-25f,
     -0x1.a94b14p-26f,
     -0x1.a09438p-25f,
     -0x1.3d56b2p-27f,
     -0x1.8837ccp-27f,
     -0x1.822dbcp-27f,
     -0x1.908c94p-25f,
     0x1.52486cp-27f,
     -0x1.246ebp-26f}};

PULLBACK_INLINE __m512 all(float x) { return _mm512_set1_ps(x); }
// table[j mod 32] for each j
PULLBACK_INLINE __m512 entry(const float (&table)[32], __m512i j) {
  return _mm512_permutex2var_ps(_mm512_load_ps(table), j, _mm512_load_ps(table + 16));
}

// x = n ln2 + r with n a multiple of 1/32: exp(x) = 2^n exp(r). min and max keep a NaN of their
// second operand.
struct ExpParts {
  __m512 y, n;  // exp(x) is y times 2 to the floor of n
};
PULLBACK_INLINE ExpParts exp_parts(__m512 x) {
  x = _mm512_max_ps(all(-110.0f), _mm512_min_ps(all(89.0f), x));
  const __m512 round = all(0x1.8p18f);  // adding it leaves 32 n in the low bits
  const __m512 shifted = _mm512_fmadd_ps(x, all(0x1.715476p+0f), round);
  const __m512 n = _mm512_sub_ps(shifted, round);
  __m512 r = _mm512_fnmadd_ps(n, all(0x1.62e43p-1f), x);  // exact
  r = _mm512_fmadd_ps(n, all(0x1.05c61p-29f), r);
  const __m512i j = _mm512_castps_si512(shifted);
  const __m512 power = entry(kPowers[0], j);
  const __m512 power_low = entry(kPowers[1], j);
  __m512 q = _mm512_fmadd_ps(r, all(0x1.5555dp-3f), all(0x1.000088p-1f));
  q = _mm512_fmadd_ps(_mm512_mul_ps(r, r), q, r);
  return {_mm512_add_ps(power, _mm512_fmadd_ps(power, q, power_low)), n};
}
PULLBACK_INLINE __m512 exp(__m512 x) {
  const ExpParts e = exp_parts(x);
  return _mm512_scalef_ps(e.y, e.n);
}

// tanh(j h + d) = start + c0 + d (c1 + d (c2 + ...)) with |d| <= h / 2 and h = 19 / 64. For j <= 2
// the start is |x| itself, and row 0 is not used.
alignas(64) constexpr float kTanh[8][32] = {
    {0,
     0,
     0,
     0x1.6c643ep-1f,
     0x1.a8dbccp-1f,
     0x1.cdf83ap-1f,
     0x1.e3c0bp-1f,
     0x1.f0348cp-1f,
     0x1.f73776p-1f,
     0x1.fb2174p-1f,
     0x1.fd4e2p-1f,
     0x1.fe829p-1f,
     0x1.ff2d36p-1f,
     0x1.ff8b8ep-1f,
     0x1.ffbfaep-1f,
     0x1.ffdc7ap-1f,
     0x1.ffec62p-1f,
     0x1.fff52ap-1f,
     0x1.fffa04p-1f,
     0x1.fffcb2p-1f,
     0x1.fffe2cp-1f,
     0x1.fffefep-1f,
     0x1.ffff72p-1f,
     0x1.ffffb2p-1f,
     0x1.ffffd4p-1f,
     0x1.ffffe8p-1f,
     0x1.fffff2p-1f,
     0x1.fffff8p-1f,
     0x1.fffffcp-1f,
     0x1.fffffep-1f,
     0x1.fffffep-1f,
     0x1p+0f},
    {0,
     -0x1.14103cp-7f,
     -0x1.f50b82p-5f,
     0x1.d33096p-28f,
     -0x1.e719a8p-28f,
     -0x1.5a0226p-31f,
     -0x1.e82edep-26f,
     -0x1.57fd98p-28f,
     0x1.655328p-26f,
     -0x1.0650fep-29f,
     -0x1.4d3f08p-26f,
     0x1.843f52p-27f,
     0x1.69a07cp-26f,
     -0x1.fa972ap-26f,
     -0x1.de4f3cp-27f,
     -0x1.4abcc4p-26f,
     -0x1.b0cb88p-26f,
     0x1.d183eep-31f,
     0x1.3fd2f6p-30f,
     -0x1.35fd9ap-30f,
     0x1.8ab262p-26f,
     -0x1.dece16p-31f,
     -0x1.fd74f4p-27f,
     -0x1.63acc2p-26f,
     0x1.14cfeap-26f,
     -0x1.1b337ep-36f,
     0x1.7dc4ap-26f,
     0x1.5c4956p-26f,
     -0x1.5af204p-30f,
     -0x1.dbf3dap-28f,
     0x1.88c83p-26f,
     -0x1.5c977ap-26f},
    {0,
     -0x1.54cd38p-4f,
     -0x1.2274eep-2f,
     0x1.f952c8p-2f,
     0x1.3ee73p-2f,
     0x1.7cb01cp-3f,
     0x1.b77d6ap-4f,
     0x1.f1a2bap-5f,
     0x1.16a7fcp-5f,
     0x1.3627a6p-6f,
     0x1.5807fp-7f,
     0x1.7ce18ap-8f,
     0x1.a53bdp-9f,
     0x1.d196fep-10f,
     0x1.0139b6p-10f,
     0x1.1c2b5p-11f,
     0x1.39e782p-12f,
     0x1.5abb6cp-13f,
     0x1.7efb44p-14f,
     0x1.a7037ap-15f,
     0x1.d339d2p-16f,
     0x1.02073ap-16f,
     0x1.1cfe94p-17f,
     0x1.3ac742p-18f,
     0x1.5bacb2p-19f,
     0x1.80022ep-20f,
     0x1.a823bp-21f,
     0x1.d476d2p-22f,
     0x1.02b5e4p-22f,
     0x1.1dbf3ep-23f,
     0x1.3b9be8p-24f,
     0x1.5c977ap-25f},
    {0,
     -0x1.0eccp-2f,
     -0x1.86acfcp-2f,
     -0x1.67a3cep-2f,
     -0x1.08a05cp-2f,
     -0x1.577d22p-3f,
     -0x1.9f3e34p-4f,
     -0x1.e248b8p-5f,
     -0x1.11e038p-5f,
     -0x1.333488p-6f,
     -0x1.563862p-7f,
     -0x1.7bc5c8p-8f,
     -0x1.a48e64p-9f,
     -0x1.d12d18p-10f,
     -0x1.011964p-10f,
     -0x1.1c1798p-11f,
     -0x1.39db7cp-12f,
     -0x1.5ab416p-13f,
     -0x1.7ef6cap-14f,
     -0x1.a700cp-15f,
     -0x1.d33828p-16f,
     -0x1.0206b8p-16f,
     -0x1.1cfe44p-17f,
     -0x1.3ac712p-18f,
     -0x1.5bac94p-19f,
     -0x1.80021cp-20f,
     -0x1.a823a2p-21f,
     -0x1.d476dep-22f,
     -0x1.02b5e2p-22f,
     -0x1.1dbf4ap-23f,
     -0x1.3b9b86p-24f,
     -0x1.5c968ap-25f},
    {-0x1.55545ep-2f, -0x1.d5a466p-3f, -0x1.23adp-5f,   0x1.5e0c9ep-4f,  0x1.c5271cp-4f,
     0x1.6e10fep-4f,  0x1.ebad44p-5f,  0x1.2d87e8p-5f,  0x1.6095f8p-6f,  0x1.91ccb2p-7f,
     0x1.c37b76p-8f,  0x1.f768fep-9f,  0x1.1776ecp-9f,  0x1.358fbcp-10f, 0x1.567484p-11f,
     0x1.7a9356p-12f, 0x1.a25a1p-13f,  0x1.ce3138p-14f, 0x1.fe90fap-15f, 0x1.19fcdp-15f,
     0x1.3777f2p-16f, 0x1.580772p-17f, 0x1.7bfab8p-18f, 0x1.a3b224p-19f, 0x1.cf8f68p-20f,
     0x1.000098p-20f, 0x1.1ac25ap-21f, 0x1.384ec2p-22f, 0x1.58f0aap-23f, 0x1.7cfd32p-24f,
     0x1.a4ce86p-25f, 0x1.d0c83cp-26f},
    {-0x1.79235ep-13f, 0x1.3bf4d2p-3f,   0x1.2b42b6p-3f,   0x1.ccd9acp-5f,   -0x1.72ca94p-8f,
     -0x1.9530b6p-6f,  -0x1.777282p-6f,  -0x1.06ed7ep-6f,  -0x1.47e77ep-7f,  -0x1.8256d6p-8f,
     -0x1.b9ec76p-9f,  -0x1.f18abcp-10f, -0x1.15aa9ap-10f, -0x1.3476e6p-11f, -0x1.55caap-12f,
     -0x1.7a2a72p-13f, -0x1.a2178ep-14f, -0x1.ce0928p-15f, -0x1.fe7926p-16f, -0x1.19f4ep-16f,
     -0x1.377338p-17f, -0x1.5804fcp-18f, -0x1.7bfa02p-19f, -0x1.a3b074p-20f, -0x1.cf8f94p-21f,
     -0x1.000058p-21f, -0x1.1ac402p-22f, -0x1.38401ep-23f, -0x1.58f0a6p-24f, -0x1.7ce5bcp-25f,
     -0x1.a575a4p-26f, -0x1.d2631ep-27f},
    {0x1.174158p-3f,  0x1.ab957p-5f,   -0x1.9023ccp-5f, -0x1.d4ae6p-5f,  -0x1.a057b8p-6f,
     -0x1.cd7c98p-9f, 0x1.049976p-8f,  0x1.2e057p-8f,   0x1.bf9452p-9f,  0x1.1cbcf2p-9f,
     0x1.53313cp-10f, 0x1.85fc3ep-11f, 0x1.b8a3eap-12f, 0x1.ec7ce6p-13f, 0x1.120278p-13f,
     0x1.2fce1cp-14f, 0x1.4ec0bap-15f, 0x1.72979p-16f,  0x1.99fd52p-17f, 0x1.c421a8p-18f,
     0x1.f40f4p-19f,  0x1.13eb3p-19f,  0x1.31de2cp-20f, 0x1.515228p-21f, 0x1.7442f8p-22f,
     0x1.9b583p-23f,  0x1.c5798ap-24f, 0x1.f548d8p-25f, 0x1.159b84p-25f, 0x1.32789ep-26f,
     0x1.5224fap-27f, 0x1.759e3p-28f},
    {-0x1.5c42fp-6f,   -0x1.2288aep-4f,  -0x1.f30d5cp-6f,  0x1.c4d41ap-7f,   0x1.15fb1ap-6f,
     0x1.f063a4p-8f,   0x1.a7321ep-10f,  -0x1.d070d6p-12f, -0x1.905bb4p-11f, -0x1.3db106p-11f,
     -0x1.9b29ep-12f,  -0x1.ec0644p-13f, -0x1.1d74e2p-13f, -0x1.42b026p-14f, -0x1.68886ap-15f,
     -0x1.934bc6p-16f, -0x1.bf412ep-17f, -0x1.ee460cp-18f, -0x1.112152p-18f, -0x1.2dc8b2p-19f,
     -0x1.4d89b6p-20f, -0x1.6f807ep-21f, -0x1.971e5ap-22f, -0x1.c25fdp-23f,  -0x1.efa838p-24f,
     -0x1.12506ap-24f, -0x1.2d13ap-25f,  -0x1.5a8e5cp-26f, -0x1.722aaap-27f, -0x1.adcc96p-28f,
     -0x1.2e666p-29f,  -0x1.0aebd4p-31f}};

PULLBACK_INLINE __m512 tanh(__m512 x) {
  const __m512 sign = all(-0.0f);
  const __m512 size = _mm512_min_ps(all(9.3f), _mm512_andnot_ps(sign, x));
  const __m512 round = all(0x1.8p23f);
  const __m512 shifted = _mm512_fmadd_ps(size, all(64.0f / 19.0f), round);
  const __m512 n = _mm512_sub_ps(shifted, round);
  const __m512 d = _mm512_fnmadd_ps(n, all(19.0f / 64.0f), size);  // exact
  const __m512i j = _mm512_castps_si512(shifted);
  const __mmask16 small = _mm512_cmp_ps_mask(n, all(2.5f), _CMP_LT_OQ);
  const __m512 start = _mm512_mask_mov_ps(entry(kTanh[0], j), small, size);
  __m512 y = entry(kTanh[7], j);
#pragma GCC unroll 6
  for (int row = 6; row > 0; --row) y = _mm512_fmadd_ps(d, y, entry(kTanh[row], j));
  return _mm512_or_ps(_mm512_add_ps(start, y), _mm512_and_ps(sign, x));
}

// 4 e / (1 + e)^2 with e = exp(-2 |x|)
PULLBACK_INLINE __m512 tanh_slope(__m512 x) {
  const ExpParts parts = exp_parts(_mm512_mul_ps(all(-2.0f), _mm512_abs_ps(x)));
  const __m512 e = _mm512_scalef_ps(parts.y, parts.n);
  const __m512 top = _mm512_scalef_ps(parts.y, _mm512_add_ps(parts.n, all(2.0f)));
  const __m512 den = _mm512_add_ps(all(1.0f), e);
  const __m512 den_low = _mm512_sub_ps(e, _mm512_sub_ps(den, all(1.0f)));
  const __m512 twice = _mm512_mul_ps(_mm512_add_ps(den, den), den_low);
  const __m512 square = _mm512_fmadd_ps(den, den, twice);
  return _mm512_div_ps(top, square);
}

// 2^(j/16) in two parts
alignas(64) constexpr double kWidePowers[2][16] = {
    {0x1p+0, 0x1.0b5586cf9890fp+0, 0x1.172b83c7d517bp+0, 0x1.2387a6e756238p+0, 0x1.306fe0a31b715p+0,
     0x1.3dea64c123422p+0, 0x1.4bfdad5362a27p+0, 0x1.5ab07dd485429p+0, 0x1.6a09e667f3bcdp+0,
     0x1.7a11473eb0187p+0, 0x1.8ace5422aa0dbp+0, 0x1.9c49182a3f090p+0, 0x1.ae89f995ad3adp+0,
     0x1.c199bdd85529cp+0, 0x1.d5818dcfba487p+0, 0x1.ea4afa2a490dap+0},
    {0, 0x1.8a62e4adc610bp-54, -0x1.19041b9d78a76p-55, 0x1.9b07eb6c70573p-54, 0x1.6f46ad23182e4p-55,
     0x1.ada0911f09ebcp-55, 0x1.d4397afec42e2p-56, 0x1.6324c054647adp-54, -0x1.bdd3413b26456p-54,
     -0x1.41577ee04992fp-55, 0x1.6e9f156864b27p-54, 0x1.c7c46b071f2bep-56, 0x1.7a1cd345dcc81p-54,
     0x1.11065895048ddp-55, 0x1.2ed02d75b3707p-55, -0x1.e9c23179c2893p-54}};

PULLBACK_INLINE __m512d all(double x) { return _mm512_set1_pd(x); }
PULLBACK_INLINE __m512d entry(const double (&table)[16], __m512i j) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), j, _mm512_load_pd(table + 8));
}

// As for floats, with n a multiple of 1/16.
PULLBACK_INLINE __m512d exp(__m512d x) {
  x = _mm512_max_pd(all(-750.0), _mm512_min_pd(all(710.0), x));
  const __m512d round = all(0x1.8p48);  // adding it leaves 16 n in the low bits
  const __m512d shifted = _mm512_fmadd_pd(x, all(m::kLog2e), round);
  const __m512d n = _mm512_sub_pd(shifted, round);
  __m512d r = _mm512_fnmadd_pd(n, all(m::kLn2High), x);  // exact
  r = _mm512_fnmadd_pd(n, all(m::kLn2Low), r);
  const __m512i j = _mm512_castpd_si512(shifted);
  const __m512d power = entry(kWidePowers[0], j);
  const __m512d power_low = entry(kWidePowers[1], j);
  // exp(r) - 1 = r + r^2 q(r)
  const __m512d square = _mm512_mul_pd(r, r);
  const __m512d low = _mm512_fmadd_pd(r, all(0x1.555555555555ap-3), all(0x1.0000000000004p-1));
  const __m512d middle = _mm512_fmadd_pd(r, all(0x1.111111107cf60p-7), all(0x1.555555547f718p-5));
  const __m512d high = _mm512_fmadd_pd(r, all(0x1.a01b9f3f96c4fp-13), all(0x1.6c1841730da95p-10));
  __m512d q = _mm512_fmadd_pd(square, _mm512_fmadd_pd(square, high, middle), low);
  q = _mm512_fmadd_pd(square, q, r);
  return _mm512_scalef_pd(_mm512_add_pd(power, _mm512_fmadd_pd(power, q, power_low)), n);
}

template <class Function>
PULLBACK_INLINE void over_tile(double* y, const double* x, int64_t n, Function f) {
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm512_storeu_pd(y + i, f(_mm512_loadu_pd(x + i)));
  const auto rest = static_cast<__mmask8>((1u << (n - i)) - 1);
  if (rest) _mm512_mask_storeu_pd(y + i, rest, f(_mm512_maskz_loadu_pd(rest, x + i)));
}
template <class Function>
PULLBACK_INLINE void over_tile(float* y, const float* x, int64_t n, Function f) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, f(_mm512_loadu_ps(x + i)));
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  if (rest) _mm512_mask_storeu_ps(y + i, rest, f(_mm512_maskz_loadu_ps(rest, x + i)));
}
// Two functions of one argument; either result may overwrite the argument.
template <class First, class Second>
PULLBACK_INLINE void over_tile(float* y, float* z, const float* x, int64_t n, First f, Second g) {
  int64_t i = 0;
  for (; i + 16 <= n; i += 16) {
    const __m512 v = _mm512_loadu_ps(x + i);
    _mm512_storeu_ps(y + i, f(v));
    _mm512_storeu_ps(z + i, g(v));
  }
  const auto rest = static_cast<__mmask16>((1u << (n - i)) - 1);
  if (!rest) return;
  const __m512 v = _mm512_maskz_loadu_ps(rest, x + i);
  _mm512_mask_storeu_ps(y + i, rest, f(v));
  _mm512_mask_storeu_ps(z + i, rest, g(v));
}

}  // namespace wide
}  // namespace
}  // namespace pullback
#endif
