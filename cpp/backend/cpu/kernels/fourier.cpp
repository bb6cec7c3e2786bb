// Fourier transforms of as many sequences at once as a vector has lanes: the passes of a
// self-sorting mixed-radix transform (by T. G. Stockham: C. Van Loan, Computational Frameworks for
// the Fast Fourier Transform, 1992, 1.7), and the moves of sequences to lanes and back. Compiled
// once per instruction set, with fused multiply-add.
//
// Between passes an entry is a vector of real parts and a vector of imaginary parts. The assignment
// of sequences to lanes is the one that loads produce without shuffles across sixteen bytes.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

template <class T>
struct Complex {
  using Vector = typename Lanes<T>::Vector;
  Vector re, im;

  static constexpr int64_t kSize = 2 * Lanes<T>::kCount;  // in units of T
  static Complex load(const T* x) {
    return {Lanes<T>::load(x), Lanes<T>::load(x + Lanes<T>::kCount)};
  }
  void store(T* x) const {
    Lanes<T>::store(x, re);
    Lanes<T>::store(x + Lanes<T>::kCount, im);
  }
  friend Complex operator+(const Complex& a, const Complex& b) {
    return {a.re + b.re, a.im + b.im};
  }
  friend Complex operator-(const Complex& a, const Complex& b) {
    return {a.re - b.re, a.im - b.im};
  }
  friend Complex operator*(T s, const Complex& a) { return {s * a.re, s * a.im}; }
  Complex times_minus_i() const { return {im, -re}; }  // times -i
  template <class S>
  Complex times(const S& c, const S& s) const {
    return {re * c - im * s, re * s + im * c};
  }
};

template <class T>
void radix2(Complex<T>* a) {
  const Complex<T> b = a[0] - a[1];
  a[0] = a[0] + a[1];
  a[1] = b;
}
template <class T>
void radix3(Complex<T>* a) {
  constexpr T kSine = T(0.86602540378443864676372317075293618L);
  const Complex<T> sum = a[1] + a[2], times_minus_i = kSine * (a[1] - a[2]).times_minus_i();
  const Complex<T> middle = a[0] - T(0.5) * sum;
  a[0] = a[0] + sum;
  a[1] = middle + times_minus_i;
  a[2] = middle - times_minus_i;
}
template <class T>
void radix4(Complex<T>& a0, Complex<T>& a1, Complex<T>& a2, Complex<T>& a3) {
  const Complex<T> s = a0 + a2, d = a0 - a2, t = a1 + a3, e = (a1 - a3).times_minus_i();
  a0 = s + t;
  a1 = d + e;
  a2 = s - t;
  a3 = d - e;
}
template <class T>
void radix5(Complex<T>* a) {
  constexpr T kC1 = T(0.30901699437494742410229341718281906L);
  constexpr T kC2 = T(-0.80901699437494742410229341718281906L);
  constexpr T kS1 = T(0.95105651629515357211643933337938214L);
  constexpr T kS2 = T(0.58778525229247312916870595463907277L);
  const Complex<T> s1 = a[1] + a[4], d1 = a[1] - a[4], s2 = a[2] + a[3], d2 = a[2] - a[3];
  const Complex<T> m1 = a[0] + (kC1 * s1 + kC2 * s2), m2 = a[0] + (kC2 * s1 + kC1 * s2);
  const Complex<T> n1 = (kS1 * d1 + kS2 * d2).times_minus_i(),
                   n2 = (kS2 * d1 - kS1 * d2).times_minus_i();
  a[0] = a[0] + (s1 + s2);
  a[1] = m1 + n1;
  a[2] = m2 + n2;
  a[3] = m2 - n2;
  a[4] = m1 - n1;
}
template <class T>
void radix8(Complex<T>* a) {
  constexpr T kHalf = T(0.70710678118654752440084436210484904L);
  Complex<T> s[4], d[4];
  for (int j = 0; j < 4; ++j) {
    s[j] = a[j] + a[j + 4];
    d[j] = a[j] - a[j + 4];
  }
  d[1] = kHalf * Complex<T>{d[1].re + d[1].im, d[1].im - d[1].re};
  d[2] = d[2].times_minus_i();
  d[3] = kHalf * Complex<T>{d[3].im - d[3].re, -(d[3].re + d[3].im)};
  radix4(s[0], s[1], s[2], s[3]);
  radix4(d[0], d[1], d[2], d[3]);
  for (int j = 0; j < 4; ++j) {
    a[2 * j] = s[j];
    a[2 * j + 1] = d[j];
  }
}

// The sequence of a lane.
template <class T>
constexpr int sequence_of(int lane) {
  constexpr int kShort = Lanes<T>::kShort;
  const int j = lane % kShort;
  return lane / kShort * (kShort / 2) + j % (kShort / 2) +
         j / (kShort / 2) * (Lanes<T>::kCount / 2);
}

// Converts two vectors of adjacent complex numbers to real and imaginary parts, and back.
template <class T>
Complex<T> apart(const typename Lanes<T>::Vector& v, const typename Lanes<T>::Vector& w) {
  if constexpr (sizeof(T) == 4) {
    return {Lanes<T>::template choose<0, 2, 4, 6>(v, w),
            Lanes<T>::template choose<1, 3, 5, 7>(v, w)};
  } else {
    return {Lanes<T>::template choose<0, 2>(v, w), Lanes<T>::template choose<1, 3>(v, w)};
  }
}
template <class T>
void store_joined(const Complex<T>& a, T* to) {
  constexpr int kCount = Lanes<T>::kCount;
  if constexpr (sizeof(T) == 4) {
    Lanes<T>::store(to, Lanes<T>::template choose<0, 4, 1, 5>(a.re, a.im));
    Lanes<T>::store(to + kCount, Lanes<T>::template choose<2, 6, 3, 7>(a.re, a.im));
  } else {
    Lanes<T>::store(to, Lanes<T>::template choose<0, 2>(a.re, a.im));
    Lanes<T>::store(to + kCount, Lanes<T>::template choose<1, 3>(a.re, a.im));
  }
}

// A backward transform is a forward one with real and imaginary parts exchanged before and after.
template <class T>
Complex<T> exchanged(const Complex<T>& a, bool backward) {
  return backward ? Complex<T>{a.im, a.re} : a;
}

// True if sequences are adjacent, so that a pass can load or store them itself.
template <class T>
bool is_adjacent(const FourierMove& x) {
  return x.count == Lanes<T>::kCount && x.sequence == 1;
}
template <class T>
Complex<T> load_point(const FourierMove& x, int64_t i) {
  const T* at = static_cast<const T*>(x.outside) + 2 * i * x.point;
  return exchanged(apart<T>(Lanes<T>::load(at), Lanes<T>::load(at + Lanes<T>::kCount)), x.backward);
}
template <class T>
void store_point(const FourierMove& x, int64_t i, const Complex<T>& a) {
  store_joined(exchanged(static_cast<T>(x.factor) * a, x.backward),
               static_cast<T*>(x.outside) + 2 * i * x.point);
}

template <class T>
Complex<T> twiddle(const TwiddleFactors& twiddles, int64_t i) {
  constexpr int kCount = Lanes<T>::kCount;
  const double* a = twiddles.high + i / kTwiddleSteps * 2 * kCount;
  const double* b = twiddles.low + i % kTwiddleSteps * 2 * kCount;
  T parts[2 * kCount];
  for (int j = 0; j < kCount; ++j) {
    parts[j] = static_cast<T>(a[j] * b[j] - a[kCount + j] * b[kCount + j]);
    parts[kCount + j] = static_cast<T>(a[j] * b[kCount + j] + a[kCount + j] * b[j]);
  }
  return Complex<T>::load(parts);
}

enum class Way { Inside, Loads, Stores };

// The entries of group p. kTurns: its roots are not 1.
template <class T, int kRadix, Way kWay, bool kTwiddles>
[[gnu::noinline]] void group(const FourierPass& x, int64_t p, const T* roots) noexcept {
  constexpr int64_t kSize = Complex<T>::kSize;
  const T* from = static_cast<const T*>(x.from);
  T* to = static_cast<T*>(x.to);
  for (int64_t q = 0; q < x.stride; ++q) {
    Complex<T> a[kRadix];
    for (int k = 0; k < kRadix; ++k) {
      const int64_t i = (k * x.groups + p) * x.stride + q;
      if constexpr (kWay == Way::Loads) {
        a[k] = load_point<T>(*x.outside, i);
      } else {
        a[k] = Complex<T>::load(from + i * kSize);
      }
    }
    if constexpr (kRadix == 2) radix2(a);
    if constexpr (kRadix == 3) radix3(a);
    if constexpr (kRadix == 4) radix4(a[0], a[1], a[2], a[3]);
    if constexpr (kRadix == 5) radix5(a);
    if constexpr (kRadix == 8) radix8(a);
    for (int k = 0; k < kRadix; ++k) {
      const int64_t i = (p * kRadix + k) * x.stride + q;
      if constexpr (kTwiddles) {
        if (k > 0) a[k] = a[k].times(roots[2 * k - 2], roots[2 * k - 1]);
      }
      if constexpr (kWay == Way::Stores) {
        store_point(*x.outside, i, a[k]);
      } else {
        a[k].store(to + i * kSize);
      }
    }
  }
}

template <class T, int kRadix, Way kWay>
void groups(const FourierPass& x) noexcept {
  const T* roots = static_cast<const T*>(x.roots);
  group<T, kRadix, kWay, false>(x, 0, nullptr);
  if constexpr (kWay != Way::Stores) {  // the last pass has one group
    for (int64_t p = 1; p < x.groups; ++p, roots += 2 * (kRadix - 1)) {
      group<T, kRadix, kWay, true>(x, p, roots);
    }
  }
}

template <class T, int kRadix>
void pass(const FourierPass& x) noexcept {
  if (!x.outside) return groups<T, kRadix, Way::Inside>(x);
  return x.from ? groups<T, kRadix, Way::Stores>(x) : groups<T, kRadix, Way::Loads>(x);
}

template <class T>
void passes(const FourierPass& x) noexcept {
  switch (x.radix) {
    case 2:
      return pass<T, 2>(x);
    case 3:
      return pass<T, 3>(x);
    case 4:
      return pass<T, 4>(x);
    case 5:
      return pass<T, 5>(x);
    default:
      return pass<T, 8>(x);
  }
}

template <class T>
void load(const FourierMove& x) noexcept {
  using L = Lanes<T>;
  using Vector = typename L::Vector;
  constexpr int kCount = L::kCount, kShort = L::kShort;
  constexpr int64_t kSize = Complex<T>::kSize;
  constexpr int kPoints = kShort / 2;  // in sixteen bytes
  const T* from = static_cast<const T*>(x.outside);
  T* to = static_cast<T*>(x.lanes);
  int64_t i = 0;
  if (is_adjacent<T>(x)) {
    for (; i < x.points; ++i, to += kSize) load_point<T>(x, i).store(to);
  } else if (x.count == kCount && x.point == 1) {
    const auto load_shorts = [&](int j) {
      return L::load_shorts(
          [&](int g) { return from + 2 * (sequence_of<T>(g * kShort + j) * x.sequence + i); });
    };
    for (; i + kPoints <= x.points; i += kPoints, to += kPoints * kSize) {
      if constexpr (sizeof(T) == 4) {
        Vector a = load_shorts(0), b = load_shorts(1), c = load_shorts(2), d = load_shorts(3);
        L::transpose(a, b, c, d);
        exchanged<T>({a, b}, x.backward).store(to);
        exchanged<T>({c, d}, x.backward).store(to + kSize);
      } else {
        Vector a = load_shorts(0), b = load_shorts(1);
        L::transpose(a, b);
        exchanged<T>({a, b}, x.backward).store(to);
      }
    }
  }
  for (; i < x.points; ++i, to += kSize) {
    for (int lane = 0; lane < kCount; ++lane) {
      const int k = sequence_of<T>(lane);
      to[lane] = to[kCount + lane] = 0;
      if (k >= x.count) continue;
      const T* at = from + 2 * (k * x.sequence + i * x.point);
      to[lane] = at[x.backward ? 1 : 0];
      to[kCount + lane] = at[x.backward ? 0 : 1];
    }
  }
}

template <class T>
void store(const FourierMove& x) noexcept {
  using L = Lanes<T>;
  constexpr int kCount = L::kCount, kShort = L::kShort;
  constexpr int64_t kSize = Complex<T>::kSize;
  constexpr int kPoints = kShort / 2;
  const T factor = static_cast<T>(x.factor);
  const T* from = static_cast<const T*>(x.lanes);
  T* to = static_cast<T*>(x.outside);
  const auto at_point = [&](int64_t i) {
    Complex<T> a = Complex<T>::load(from + i * kSize);
    if (x.twiddles) {
      const Complex<T> by = twiddle<T>(*x.twiddles, i);
      a = a.times(by.re, by.im);
    } else {
      a = factor * a;
    }
    return exchanged(a, x.backward);
  };
  int64_t i = 0;
  if (is_adjacent<T>(x)) {
    for (; i < x.points; ++i) store_joined(at_point(i), to + 2 * i * x.point);
  } else if (x.count == kCount && x.point == 1) {
    const auto store_shorts = [&](const typename L::Vector& v, int j) {
      L::store_shorts(
          v, [&](int g) { return to + 2 * (sequence_of<T>(g * kShort + j) * x.sequence + i); });
    };
    for (; i + kPoints <= x.points; i += kPoints) {
      Complex<T> a = at_point(i);
      if constexpr (sizeof(T) == 4) {
        Complex<T> b = at_point(i + 1);
        L::transpose(a.re, a.im, b.re, b.im);
        store_shorts(a.re, 0), store_shorts(a.im, 1), store_shorts(b.re, 2), store_shorts(b.im, 3);
      } else {
        L::transpose(a.re, a.im);
        store_shorts(a.re, 0), store_shorts(a.im, 1);
      }
    }
  }
  for (; i < x.points; ++i) {
    T parts[kSize];
    at_point(i).store(parts);
    for (int lane = 0; lane < kCount; ++lane) {
      const int k = sequence_of<T>(lane);
      if (k >= x.count) continue;
      T* at = to + 2 * (k * x.sequence + i * x.point);
      at[0] = parts[lane];
      at[1] = parts[kCount + lane];
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const FourierKernels kFourierTable = {{&passes<float>, &passes<double>},
                                                {&load<float>, &load<double>},
                                                {&store<float>, &store<double>},
                                                {Lanes<float>::kCount, Lanes<double>::kCount},
                                                {&sequence_of<float>, &sequence_of<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
