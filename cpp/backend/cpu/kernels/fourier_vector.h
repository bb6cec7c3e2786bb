// Complex vectors of Fourier transforms, their shuffles, and the transforms of a few points.
//
// V is Lanes<T>::Vector, or Lanes<T>::Short or T itself for short arrays: all make the same bits.
#pragma once

#include "backend/cpu/kernels/fourier.h"
#include "backend/cpu/kernels/lanes.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

template <class T>
using Vector = typename Lanes<T>::Vector;
template <class T, class V>
constexpr int kWidth = static_cast<int>(sizeof(V)) / static_cast<int>(sizeof(T));

template <class T, class V>
struct Unaligned {
  typedef T Type __attribute__((vector_size(sizeof(V)), aligned(alignof(T)), may_alias));
};
template <class V, class T>
V load_as(const T* x) {
  if constexpr (kWidth<T, V> == 1) {
    return *x;
  } else {
    return *reinterpret_cast<const typename Unaligned<T, V>::Type*>(x);
  }
}
template <class V, class T>
void store_as(T* x, const V& v) {
  if constexpr (kWidth<T, V> == 1) {
    *x = v;
  } else {
    *reinterpret_cast<typename Unaligned<T, V>::Type*>(x) = v;
  }
}

// Entries 0, 2, 4 … (first = 0) or 1, 3, 5 … of two vectors, and the inverse: the first or second
// half of a0 b0 a1 b1 …
template <class V, int first, size_t... j>
V every_second(const V& a, const V& b, std::index_sequence<j...> /*each*/) {
  return __builtin_shufflevector(a, b, (2 * static_cast<int>(j) + first)...);
}
template <class T, int first, class V>
V every_second(const V& a, const V& b) {
  return every_second<V, first>(a, b, std::make_index_sequence<kWidth<T, V>>());
}
template <class V, int half, size_t... j>
V alternating(const V& a, const V& b, std::index_sequence<j...> /*each*/) {
  constexpr int kCount = sizeof...(j);
  return __builtin_shufflevector(
      a, b, (half * kCount / 2 + static_cast<int>(j) / 2 + (j % 2 ? kCount : 0))...);
}
template <class T, int half, class V>
V alternating(const V& a, const V& b) {
  return alternating<V, half>(a, b, std::make_index_sequence<kWidth<T, V>>());
}
template <class V, size_t... j>
V reversed(const V& a, std::index_sequence<j...> /*each*/) {
  return __builtin_shufflevector(a, a,
                                 (static_cast<int>(sizeof...(j)) - 1 - static_cast<int>(j))...);
}
template <class T, class V>
V reversed(const V& a) {
  return reversed<V>(a, std::make_index_sequence<kWidth<T, V>>());
}

// A kernel, after which the upper halves of the registers are zero. gcc omits that before some
// calls of functions of the same unit, and code for SSE then takes four times as long.
template <class Call, void (*kernel)(const Call&) noexcept>
void and_clear(const Call& call) noexcept {
  kernel(call);
#if defined(__AVX__)
  _mm256_zeroupper();
#endif
}

template <class T, class V>
struct Complex {
  V re, im;

  // From separate parts, and from adjacent pairs.
  static Complex load(const T* re, const T* im) { return {load_as<V>(re), load_as<V>(im)}; }
  void store(T* to_re, T* to_im) const {
    store_as(to_re, re);
    store_as(to_im, im);
  }
  static Complex load_pairs(const T* x) {
    if constexpr (kWidth<T, V> == 1) {
      return {x[0], x[1]};
    } else {
      const V a = load_as<V>(x), b = load_as<V>(x + kWidth<T, V>);
      return {every_second<T, 0>(a, b), every_second<T, 1>(a, b)};
    }
  }
  void store_pairs(T* x) const {
    if constexpr (kWidth<T, V> == 1) {
      x[0] = re;
      x[1] = im;
    } else {
      store_as(x, alternating<T, 0>(re, im));
      store_as(x + kWidth<T, V>, alternating<T, 1>(re, im));
    }
  }
  // With real and imaginary parts exchanged.
  Complex exchanged(bool really) const { return really ? Complex{im, re} : *this; }

  friend Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend Complex operator*(T s, const Complex& a) { return {s * a.re, s * a.im}; }
  Complex times_minus_i() const { return {im, -re}; }
  template <class S>
  Complex times(const S& c, const S& s) const {
    return {re * c - im * s, re * s + im * c};
  }
};

// Two vectors of float64, rounded to one of float32.
template <size_t... j>
Vector<float> rounded(const Vector<double>& a, const Vector<double>& b,
                      std::index_sequence<j...> /*each*/) {
  typedef float Half __attribute__((vector_size(Lanes<double>::kCount * sizeof(float))));
  return __builtin_shufflevector(__builtin_convertvector(a, Half), __builtin_convertvector(b, Half),
                                 static_cast<int>(j)...);
}
// Complex numbers from position 0 on, which `at` computes in float64, rounded to T. Its result has
// the type of its second argument.
template <class T, class V, class At>
Complex<T, V> rounded(At&& at) {
  if constexpr (kWidth<T, V> == 1) {
    const Complex<double, double> a = at(0, Complex<double, double>{});
    return {static_cast<T>(a.re), static_cast<T>(a.im)};
  } else {
    using Wide = Complex<double, Vector<double>>;
    const Wide a = at(0, Wide{});
    if constexpr (sizeof(T) == 8) {
      return a;
    } else {
      const Wide b = at(Lanes<double>::kCount, Wide{});
      constexpr std::make_index_sequence<Lanes<T>::kCount> each;
      return {rounded(a.re, b.re, each), rounded(a.im, b.im, each)};
    }
  }
}

template <class T, class V>
void radix2(Complex<T, V>* a) {
  const Complex<T, V> b = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = b;
}
template <class T, class V>
void radix3(Complex<T, V>* a) {
  constexpr T kSine = T(0.86602540378443864676372317075293618L);
  const Complex<T, V> sum = a[1] + a[2], rotated = kSine * (a[1] - a[2]).times_minus_i();
  const Complex<T, V> middle = a[0] - T(0.5) * sum;
  a[0] = a[0] + sum;
  a[1] = middle + rotated;
  a[2] = middle - rotated;
}
template <class T, class V>
void radix4(Complex<T, V>& a0, Complex<T, V>& a1, Complex<T, V>& a2, Complex<T, V>& a3) {
  const Complex<T, V> s = a0 + a2, d = a0 - a2, t = a1 + a3, e = (a1 - a3).times_minus_i();
  a0 = s + t;
  a1 = d + e;
  a2 = s - t;
  a3 = d - e;
}
// The larger ones load and store their points, in an order that few registers suffice for: gcc
// keeps the order.
template <class T, class V, class Load, class Store>
void radix5(Load&& load, Store&& store) {
  using C = Complex<T, V>;
  constexpr T kC1 = T(0.30901699437494742410229341718281906L);
  constexpr T kC2 = T(-0.80901699437494742410229341718281906L);
  constexpr T kS1 = T(0.95105651629515357211643933337938214L);
  constexpr T kS2 = T(0.58778525229247312916870595463907277L);
  const C a1 = load(1), a4 = load(4), s1 = a1 + a4, d1 = a1 - a4;
  const C a2 = load(2), a3 = load(3), s2 = a2 + a3, d2 = a2 - a3;
  const C a0 = load(0);
  store(0, a0 + (s1 + s2));
  const auto store_both = [&](int k, const C& m, const C& n) {
    store(k, m + n.times_minus_i());
    store(5 - k, m - n.times_minus_i());
  };
  store_both(1, a0 + (kC1 * s1 + kC2 * s2), kS1 * d1 + kS2 * d2);
  store_both(2, a0 + (kC2 * s1 + kC1 * s2), kS2 * d1 - kS1 * d2);
}
template <class T, class V, class Load, class Store>
void radix7(Load&& load, Store&& store) {
  using C = Complex<T, V>;
  constexpr T kC1 = T(0.62348980185873353052500488400423981L);
  constexpr T kC2 = T(-0.22252093395631440428890256449679476L);
  constexpr T kC3 = T(-0.90096886790241912623610231950744505L);
  constexpr T kS1 = T(0.78183148246802980870844452667405775L);
  constexpr T kS2 = T(0.97492791218182360701813168299393122L);
  constexpr T kS3 = T(0.43388373911755812047576833284835875L);
  const C a1 = load(1), a6 = load(6), s1 = a1 + a6, d1 = a1 - a6;
  const C a2 = load(2), a5 = load(5), s2 = a2 + a5, d2 = a2 - a5;
  const C a3 = load(3), a4 = load(4), s3 = a3 + a4, d3 = a3 - a4;
  const C a0 = load(0);
  store(0, a0 + (s1 + s2 + s3));
  const auto store_both = [&](int k, const C& m, const C& n) {
    store(k, m + n.times_minus_i());
    store(7 - k, m - n.times_minus_i());
  };
  store_both(1, a0 + (kC1 * s1 + kC2 * s2 + kC3 * s3), kS1 * d1 + kS2 * d2 + kS3 * d3);
  store_both(2, a0 + (kC2 * s1 + kC3 * s2 + kC1 * s3), kS2 * d1 - kS3 * d2 - kS1 * d3);
  store_both(3, a0 + (kC3 * s1 + kC1 * s2 + kC2 * s3), kS3 * d1 - kS1 * d2 + kS2 * d3);
}
template <class T, class V, class Load, class Store>
void radix8(Load&& load, Store&& store) {
  using C = Complex<T, V>;
  constexpr T kHalf = T(0.70710678118654752440084436210484904L);
  C a0 = load(0), a1 = load(2), a2 = load(4), a3 = load(6);
  radix4(a0, a1, a2, a3);
  C b0 = load(1), b1 = load(3), b2 = load(5), b3 = load(7);
  radix4(b0, b1, b2, b3);
  const auto store_both = [&](int k, const C& a, const C& b) {
    store(k, a + b);
    store(k + 4, a - b);
  };
  store_both(0, a0, b0);
  store_both(1, a1, kHalf * C{b1.re + b1.im, b1.im - b1.re});
  store_both(2, a2, b2.times_minus_i());
  store_both(3, a3, kHalf * C{b3.im - b3.re, -(b3.re + b3.im)});
}
// An odd number of points. circle: cosines, then sines, of 2 pi j / radix.
template <class T, class V>
void radix_odd(Complex<T, V>* a, int radix, const T* circle) {
  using C = Complex<T, V>;
  const int half = radix / 2;
  C s[kLargestRadix / 2 + 1], d[kLargestRadix / 2 + 1];
  C sum = a[0];
  for (int j = 1; j <= half; ++j) {
    s[j] = a[j] + a[radix - j];  // NOLINT(clang-analyzer-security.ArrayBound)
    d[j] = a[j] - a[radix - j];
    sum = sum + s[j];
  }
  for (int k = 1; k <= half; ++k) {
    C m = circle[k] * s[1], n = circle[radix + k] * d[1];
    int at = k;
    for (int j = 2; j <= half; ++j) {
      at += at + k >= radix ? k - radix : k;
      m = m + circle[at] * s[j];
      n = n + circle[radix + at] * d[j];
    }
    m = a[0] + m;
    n = n.times_minus_i();
    a[k] = m + n;
    a[radix - k] = m - n;
  }
  a[0] = sum;
}

}  // namespace
}  // namespace pullback
