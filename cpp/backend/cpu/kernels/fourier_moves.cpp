// Sequences move from memory to the separate real and imaginary parts of Fourier transforms, and
// back. Compiled once per instruction set.
#include "backend/cpu/kernels/fourier_vector.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Functions copy their argument: a vector that is stored could alias its fields.

template <class T, class V>
Complex<T, V> twiddle(const TwiddleFactors& twiddles, int64_t i, int64_t lane, int64_t lanes) {
  const double* a = twiddles.high + i / kTwiddleSteps * 2 * lanes + lane;
  const double* b = twiddles.low + i % kTwiddleSteps * 2 * lanes + lane;
  return rounded<T, V>([&](int64_t j, auto wide) {
    using Wide = decltype(wide);
    const Wide low = Wide::load(b + j, b + lanes + j);
    return Wide::load(a + j, a + lanes + j).times(low.re, low.im);
  });
}

// Points [first, end) of sequences [from, to), one number at a time.
template <class T>
void load_each(const FourierMove& x, int64_t first, int64_t end, int64_t from, int64_t to) {
  const T* data = static_cast<const T*>(x.data);
  T* re = static_cast<T*>(x.re);
  T* im = static_cast<T*>(x.im);
  for (int64_t i = first; i < end; ++i) {
    for (int64_t k = from; k < to; ++k) {
      const int64_t at = k * x.sequence + i * x.point, lane = i * x.lanes + k;
      if (!im) {
        re[lane] = k < x.count ? data[at] : T(0);
        continue;
      }
      re[lane] = k < x.count ? data[2 * at] : T(0);
      im[lane] = k < x.count ? data[2 * at + 1] : T(0);
    }
  }
}
template <class T>
void store_each(const FourierMove& x, int64_t first, int64_t end, int64_t from, int64_t to) {
  T* data = static_cast<T*>(x.data);
  const T* re = static_cast<const T*>(x.re);
  const T* im = static_cast<const T*>(x.im);
  const T factor = static_cast<T>(x.factor);
  for (int64_t i = first; i < end; ++i) {
    for (int64_t k = from; k < to; ++k) {
      const int64_t at = k * x.sequence + i * x.point, lane = i * x.lanes + k;
      if (!im) {
        data[at] = factor * re[lane];
        continue;
      }
      Complex<T, T> a{re[lane], im[lane]};
      if (x.twiddles) {
        const Complex<T, T> by = twiddle<T, T>(*x.twiddles, i, k, x.lanes);
        a = a.times(by.re, by.im);
      } else {
        a = factor * a;
      }
      a.store_pairs(data + 2 * at);
    }
  }
}

// The points of one sequence, which are not adjacent.
template <class T>
void load_points(const FourierMove& x) {
  const int64_t points = x.points, step = x.im ? 2 * x.point : x.point;
  const T* from = static_cast<const T*>(x.data);
  T* re = static_cast<T*>(x.re);
  T* im = static_cast<T*>(x.im);
  if (!im) {
    for (int64_t i = 0; i < points; ++i) re[i] = from[i * step];
    return;
  }
  for (int64_t i = 0; i < points; ++i) {
    re[i] = from[i * step];
    im[i] = from[i * step + 1];
  }
}
template <class T>
void store_points(const FourierMove& x) {
  const int64_t points = x.points, step = x.im ? 2 * x.point : x.point;
  const T factor = static_cast<T>(x.factor);
  const T* re = static_cast<const T*>(x.re);
  const T* im = static_cast<const T*>(x.im);
  T* to = static_cast<T*>(x.data);
  if (!im) {
    for (int64_t i = 0; i < points; ++i) to[i * step] = factor * re[i];
    return;
  }
  for (int64_t i = 0; i < points; ++i) {
    to[i * step] = factor * re[i];
    to[i * step + 1] = factor * im[i];
  }
}

// Rows of adjacent entries are points of several sequences, or all points of one.
bool is_one(const FourierMove& x) { return x.lanes == 1 && x.point == 1; }
bool has_rows(const FourierMove& x) { return x.lanes == 1 ? x.point == 1 : x.sequence == 1; }

// Calls f with the positions of vectors that cover `width` ≥ kCount entries; the last one may
// overlap the one before.
template <int kCount, class F>
void over_vectors(int64_t width, F&& f) {
  for (int64_t k = 0; k + kCount <= width; k += kCount) f(k);
  if (width % kCount != 0) f(width - kCount);
}
template <class T>
void load_rows(const FourierMove x) {
  constexpr int kCount = Lanes<T>::kCount;
  const bool one = is_one(x);
  const int64_t rows = one ? 1 : x.points, width = one ? x.points : x.count;
  if (width < kCount) return load_each<T>(x, 0, x.points, 0, x.lanes);
  const T* data = static_cast<const T*>(x.data);
  T* re = static_cast<T*>(x.re);
  T* im = static_cast<T*>(x.im);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t from = i * x.point, to = i * x.lanes;
    for (int64_t k = width / kCount * kCount; k < x.lanes; k += kCount) {
      Lanes<T>::store(re + to + k, Vector<T>{});
      if (im) Lanes<T>::store(im + to + k, Vector<T>{});
    }
    over_vectors<kCount>(width, [&](int64_t k) {
      if (im) {
        Complex<T, Vector<T>>::load_pairs(data + 2 * (from + k)).store(re + to + k, im + to + k);
      } else {
        Lanes<T>::store(re + to + k, Lanes<T>::load(data + from + k));
      }
    });
  }
}
template <class T>
void store_rows(const FourierMove x) {
  constexpr int kCount = Lanes<T>::kCount;
  const bool one = is_one(x);
  const int64_t rows = one ? 1 : x.points, width = one ? x.points : x.count;
  if (width < kCount) return store_each<T>(x, 0, x.points, 0, x.count);
  const T factor = static_cast<T>(x.factor);
  T* data = static_cast<T*>(x.data);
  const T* re = static_cast<const T*>(x.re);
  const T* im = static_cast<const T*>(x.im);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t to = i * x.point, from = i * x.lanes;
    over_vectors<kCount>(width, [&](int64_t k) {
      if (im) {
        auto a = Complex<T, Vector<T>>::load(re + from + k, im + from + k);
        if (x.twiddles) {
          const auto by = twiddle<T, Vector<T>>(*x.twiddles, i, k, x.lanes);
          a = a.times(by.re, by.im);
        } else {
          a = factor * a;
        }
        a.store_pairs(data + 2 * (to + k));
      } else {
        Lanes<T>::store(data + to + k, factor * Lanes<T>::load(re + from + k));
      }
    });
  }
}

// Sequences of adjacent complex points: as many as a vector has lanes, sixteen bytes of each at
// once. Short vector g of vector j is of sequence g * kShort + j, so transposes within short
// vectors restore the order.
template <class T>
void load_sequences(const FourierMove& x, int64_t first) {
  using L = Lanes<T>;
  constexpr int64_t kPoints = L::kShort / 2;
  const int64_t points = x.points, lanes = x.lanes, step = 2 * x.sequence;
  const T* from = static_cast<const T*>(x.data) + first * step;
  T* re = static_cast<T*>(x.re) + first;
  T* im = static_cast<T*>(x.im) + first;
  int64_t i = 0;
  for (; i + kPoints <= points; i += kPoints, from += L::kShort) {
    const auto load = [from, step](int64_t j) {
      return L::load_shorts(
          [from, step, j](int64_t g) { return from + (g * L::kShort + j) * step; });
    };
    if constexpr (sizeof(T) == 8) {
      Vector<T> a = load(0), b = load(1);
      L::transpose(a, b);
      L::store(re + i * lanes, a);
      L::store(im + i * lanes, b);
    } else {
      Vector<T> a = load(0), b = load(1), c = load(2), d = load(3);
      L::transpose(a, b, c, d);
      L::store(re + i * lanes, a);
      L::store(im + i * lanes, b);
      L::store(re + (i + 1) * lanes, c);
      L::store(im + (i + 1) * lanes, d);
    }
  }
  if (i < points) load_each<T>(x, i, points, first, first + L::kCount);
}
template <class T>
void store_sequences(const FourierMove& x, int64_t first) {
  using L = Lanes<T>;
  constexpr int64_t kPoints = L::kShort / 2;
  const int64_t points = x.points, lanes = x.lanes, step = 2 * x.sequence;
  const T factor = static_cast<T>(x.factor);
  const T* re = static_cast<const T*>(x.re) + first;
  const T* im = static_cast<const T*>(x.im) + first;
  T* to = static_cast<T*>(x.data) + first * step;
  int64_t i = 0;
  for (; i + kPoints <= points; i += kPoints, to += L::kShort) {
    const auto store = [to, step](const Vector<T>& v, int64_t j) {
      L::store_shorts(v, [to, step, j](int64_t g) { return to + (g * L::kShort + j) * step; });
    };
    Vector<T> a = factor * L::load(re + i * lanes), b = factor * L::load(im + i * lanes);
    if constexpr (sizeof(T) == 8) {
      L::transpose(a, b);
      store(a, 0), store(b, 1);
    } else {
      Vector<T> c = factor * L::load(re + (i + 1) * lanes);
      Vector<T> d = factor * L::load(im + (i + 1) * lanes);
      L::transpose(a, b, c, d);
      store(a, 0), store(b, 1), store(c, 2), store(d, 3);
    }
  }
  if (i < points) store_each<T>(x, i, points, first, first + L::kCount);
}

template <class T>
void load(const FourierMove& x) noexcept {
  if (has_rows(x)) return load_rows<T>(x);
  if (x.lanes == 1) return load_points<T>(x);
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t k = 0;
  for (; x.im && x.point == 1 && k + kCount <= x.count; k += kCount) load_sequences<T>(x, k);
  load_each<T>(x, 0, x.points, k, x.lanes);
}
template <class T>
void store(const FourierMove& x) noexcept {
  if (has_rows(x)) return store_rows<T>(x);
  if (x.lanes == 1) return store_points<T>(x);
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t k = 0;
  for (; x.im && x.point == 1 && !x.twiddles && k + kCount <= x.count; k += kCount) {
    store_sequences<T>(x, k);
  }
  store_each<T>(x, 0, x.points, k, x.count);
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const FourierMoveTable kFourierMoveTable = {
    {&and_clear<FourierMove, &load<float>>, &and_clear<FourierMove, &load<double>>},
    {&and_clear<FourierMove, &store<float>>, &and_clear<FourierMove, &store<double>>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
