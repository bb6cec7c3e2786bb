// Arithmetic of numbers in two parts, and numbers with a derivative. Dual<Dual<TwoPart>> has two
// first derivatives and the second one by both, so a recurrence written once yields all of them.
// Column stores a number per lane of a block.
#pragma once

#include "backend/cpu/kernels/vec_two.h"

namespace pullback {
namespace {
namespace m {

PULLBACK_INLINE TwoPart operator-(TwoPart a) { return {-a.high, -a.low}; }
PULLBACK_INLINE TwoPart operator+(TwoPart a, TwoPart b) { return plus(a, b); }
PULLBACK_INLINE TwoPart operator-(TwoPart a, TwoPart b) { return plus(a, -b); }
PULLBACK_INLINE TwoPart operator*(TwoPart a, TwoPart b) { return product(a, b); }
PULLBACK_INLINE TwoPart operator/(TwoPart a, TwoPart b) { return quotient(a, b); }
PULLBACK_INLINE TwoPart operator*(double a, TwoPart b) { return product(a, b); }
PULLBACK_INLINE TwoPart operator+(TwoPart a, double b) {
  const TwoPart y = two_sum(a.high, b);
  return quick_sum(y.high, y.low + a.low);
}
PULLBACK_INLINE TwoPart either(bool first, TwoPart a, TwoPart b) {
  return {first ? a.high : b.high, first ? a.low : b.low};
}
PULLBACK_INLINE double leading(TwoPart a) { return a.high; }

// The same names for a double, so that a template serves both.
PULLBACK_INLINE double square_root(double a) { return __builtin_sqrt(a); }
PULLBACK_INLINE double either(bool first, double a, double b) { return first ? a : b; }
PULLBACK_INLINE double leading(double a) { return a; }

template <class N>
constexpr bool kIsWide = sizeof(N) > sizeof(double);
template <class N>
PULLBACK_INLINE N number(TwoPart a) {
  if constexpr (kIsWide<N>)
    return a;
  else
    return a.high;
}
template <class N>
PULLBACK_INLINE N number(double a) {
  return number<N>(TwoPart{a, 0.0});
}
template <class N>
PULLBACK_INLINE N sum_of(double a, double b) {
  return number<N>(two_sum(a, b));
}
template <class N>
PULLBACK_INLINE N product_of(double a, double b) {
  return number<N>(two_product(a, b));
}

// A value and its derivative by one variable.
template <class N>
struct Dual {
  N f, d;
};
// A copy by parts: gcc makes no vectors of loops that copy a large struct.
PULLBACK_INLINE double copied(double a) { return a; }
PULLBACK_INLINE TwoPart copied(TwoPart a) { return {a.high, a.low}; }
template <class N>
PULLBACK_INLINE Dual<N> copied(const Dual<N>& a) {
  return {copied(a.f), copied(a.d)};
}
template <class N>
PULLBACK_INLINE Dual<N> operator-(const Dual<N>& a) {
  return {-a.f, -a.d};
}
template <class N>
PULLBACK_INLINE Dual<N> operator+(const Dual<N>& a, const Dual<N>& b) {
  return {a.f + b.f, a.d + b.d};
}
template <class N>
PULLBACK_INLINE Dual<N> operator-(const Dual<N>& a, const Dual<N>& b) {
  return {a.f - b.f, a.d - b.d};
}
template <class N>
PULLBACK_INLINE Dual<N> operator*(const Dual<N>& a, const Dual<N>& b) {
  return {a.f * b.f, a.f * b.d + a.d * b.f};
}
template <class N>
PULLBACK_INLINE Dual<N> operator/(const Dual<N>& a, const Dual<N>& b) {
  const N q = a.f / b.f;
  return {copied(q), (a.d - q * b.d) / b.f};
}
template <class N>
PULLBACK_INLINE Dual<N> operator*(double a, const Dual<N>& b) {
  return {a * b.f, a * b.d};
}
template <class N>
PULLBACK_INLINE Dual<N> operator+(const Dual<N>& a, double b) {
  return {a.f + b, copied(a.d)};
}
template <class N>
PULLBACK_INLINE double leading(const Dual<N>& a) {
  return leading(a.f);
}

// The number type of a recurrence with derivatives up to an order.
template <int order, class N>
struct Derivatives {
  using Type = Dual<typename Derivatives<order - 1, N>::Type>;
};
template <class N>
struct Derivatives<0, N> {
  using Type = N;
};

// One number per lane, stored by parts.
template <class V, int lanes>
struct Column;
template <int lanes>
struct Column<double, lanes> {
  double of[lanes];

  PULLBACK_INLINE double at(int i) const { return of[i]; }
  PULLBACK_INLINE void set(int i, double y) { of[i] = y; }
  PULLBACK_INLINE void set_if(bool live, int i, double y) { of[i] = live ? y : of[i]; }
};
template <int lanes>
struct Column<TwoPart, lanes> {
  double high[lanes], low[lanes];

  PULLBACK_INLINE TwoPart at(int i) const { return {high[i], low[i]}; }
  PULLBACK_INLINE void set(int i, TwoPart y) {
    high[i] = y.high;
    low[i] = y.low;
  }
  PULLBACK_INLINE void set_if(bool live, int i, TwoPart y) {
    high[i] = live ? y.high : high[i];
    low[i] = live ? y.low : low[i];
  }
};
template <class N, int lanes>
struct Column<Dual<N>, lanes> {
  Column<N, lanes> f, d;

  PULLBACK_INLINE Dual<N> at(int i) const { return {f.at(i), d.at(i)}; }
  PULLBACK_INLINE void set(int i, const Dual<N>& y) {
    f.set(i, y.f);
    d.set(i, y.d);
  }
  PULLBACK_INLINE void set_if(bool live, int i, const Dual<N>& y) {
    f.set_if(live, i, y.f);
    d.set_if(live, i, y.d);
  }
};

}  // namespace m
}  // namespace
}  // namespace pullback
