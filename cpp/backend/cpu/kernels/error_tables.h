// Coefficients of the error functions. Written by tools/error_tables with mpmath.
#pragma once

namespace pullback {
namespace {
namespace m {

// (1.5 + t) Q(t) in (t - 3) / (t + 3), t >= 0
constexpr double kTailRest[] = {
    0x1.5dec9ba16319ap-1,   -0x1.e9aaa71459b74p-3,  0x1.cdcefdfee4fc9p-6,   0x1.0eafc3d11e2a0p-4,
    -0x1.a1b00dd9a30efp-5,  0x1.4ce5976f81eaap-8,   0x1.e1a1b82523023p-7,   -0x1.fb9a44b4c2cebp-8,
    -0x1.156364ee6da62p-9,  0x1.b6e38ed844421p-9,   -0x1.66287547a5455p-12, -0x1.0881be2519589p-10,
    0x1.93eb589579014p-12,  0x1.d19d0717543abp-13,  -0x1.6aaef28c7a0a8p-13, -0x1.bc7d04e9efb45p-16,
    0x1.d8a15e5d41301p-15,  -0x1.5eb9b29c058b1p-18, -0x1.dc0904d11dc68p-17, 0x1.40510f2941d0ap-18,
    0x1.53898a2e3b546p-19,  -0x1.0314903d1193dp-19, -0x1.64e09976ad01dp-23, 0x1.2e62c62237624p-21,
    -0x1.384272525d540p-24, -0x1.08fefc2457ddfp-23, 0x1.d0991a72d5f71p-26,  0x1.3fe509a766b3fp-26,
    -0x1.ca44ae965007cp-29, -0x1.8f94afd4dd372p-30,
};

// The digits that the first two coefficients lose.
constexpr double kTailRestLow[] = {
    0x1.a0ffb63dab496p-55,
    0x1.5a0db15bfd2eap-57,
};

// Q(t), t >= 0, as a quotient: for float
constexpr double kTailTop[] = {
    0x1.20dd74f97e0f4p-1, 0x1.662e4f7169faap-1, 0x1.bcb2ef9f532a5p-2,
    0x1.49aa095cce59bp-3, 0x1.23575cea6d029p-5, 0x1.ff9f02b020273p-9,
};

constexpr double kTailBottom[] = {
    0x1.0000000000000p+0, 0x1.e250081ac216dp+0, 0x1.b5bfb8e951129p+0, 0x1.e1198cda7a3dfp-1,
    0x1.51a8c4b07ade6p-2, 0x1.23575a2968ce5p-4, 0x1.ff9f02c36495fp-8,
};

// y / s with erfc(y) = exp(-s^2), s from 0.81 to 27.3
constexpr double kStartTop[] = {
    -0x1.e7599094b8cddp-9, 0x1.d39fade44b693p-1, 0x1.e1f2ba218ac3cp+0, 0x1.6d4262dbf0decp+1,
    0x1.0ab75e7587688p+1,  0x1.77440cd211fd6p-2, 0x1.8f4aba8fa160ap-7,
};

constexpr double kStartBottom[] = {
    0x1.0000000000000p+0, 0x1.1b5d164f798fdp+1, 0x1.ce02a9058f273p+1, 0x1.b58311a7cf797p+1,
    0x1.0ea30430a26e2p+1, 0x1.775835173dd96p-2, 0x1.8f48344edb4edp-7,
};

// erfinv(x) / x - 1 in x^2, |x| <= 1/2
constexpr double kCentre[] = {
    -0x1.d203b725884abp-4, 0x1.db29fb2fee5e5p-3, 0x1.053c2c0ab907ep-3,  0x1.62847c47f2ffap-4,
    0x1.0a13189695612p-4,  0x1.a7c85e789a166p-5, 0x1.5eeae7c60e672p-5,  0x1.2abe946bcb1a4p-5,
    0x1.0362baad0e061p-5,  0x1.ce8fd0b7136fcp-6, 0x1.7c8509c1851d6p-6,  0x1.0563748cff366p-5,
    -0x1.bef0943c98e9fp-7, 0x1.aef1c6b3fcdd4p-4, -0x1.e982dfd36a6c6p-4, 0x1.063bf23dd4b2bp-3,
};

constexpr double kCentreLow = 0x1.e5213faed71a1p-59;

// The same for float.
constexpr double kRoughCentre[] = {
    -0x1.d203b72838462p-4, 0x1.db29fddeb64a0p-3, 0x1.053b4cb22775fp-3, 0x1.62bb5ca2755a7p-4,
    0x1.06cd4924ba7ebp-4,  0x1.dd0ef99599050p-5, 0x1.dbfdf76a6c8ddp-7, 0x1.85e6ac585aec5p-4,
};

}  // namespace m
}  // namespace
}  // namespace pullback
