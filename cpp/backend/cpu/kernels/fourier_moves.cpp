// What surrounds the passes of a Fourier transform: sequences move from memory to separate real and
// imaginary parts and back, real sequences are folded to complex ones of half the length, and
// convolutions multiply by tables. Compiled once per instruction set.
#include "backend/cpu/kernels/fourier_vector.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Functions copy their argument: a vector that is stored could alias its fields.

template <class T, class V>
Complex<T, V> twiddle(const TwiddleFactors& twiddles, int64_t i, int64_t lane, int64_t lanes) {
  constexpr int kCount = kWidth<T, V>;
  const double* a = twiddles.high + i / kTwiddleSteps * 2 * lanes + lane;
  const double* b = twiddles.low + i % kTwiddleSteps * 2 * lanes + lane;
  T re[kCount], im[kCount];
  for (int j = 0; j < kCount; ++j) {
    re[j] = static_cast<T>(a[j] * b[j] - a[lanes + j] * b[lanes + j]);
    im[j] = static_cast<T>(a[j] * b[lanes + j] + a[lanes + j] * b[j]);
  }
  return Complex<T, V>::load(re, im);
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

// Rows of adjacent entries are points of several sequences, or all points of one.
bool is_one(const FourierMove& x) { return x.lanes == 1 && x.point == 1; }
bool has_rows(const FourierMove& x) { return x.sequence == 1 || is_one(x); }

template <class T>
void load_rows(const FourierMove x) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const bool one = is_one(x);
  const int64_t rows = one ? 1 : x.points, width = one ? x.points : x.count;
  const T* data = static_cast<const T*>(x.data);
  T* re = static_cast<T*>(x.re);
  T* im = static_cast<T*>(x.im);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t from = i * x.point, to = i * x.lanes;
    int64_t k = 0;
    for (; k + kCount <= width; k += kCount) {
      if (im) {
        Complex<T, Vector<T>>::load_pairs(data + 2 * (from + k)).store(re + to + k, im + to + k);
      } else {
        Lanes<T>::store(re + to + k, Lanes<T>::load(data + from + k));
      }
    }
    one ? load_each<T>(x, k, x.points, 0, 1) : load_each<T>(x, i, i + 1, k, x.lanes);
  }
}
template <class T>
void store_rows(const FourierMove x) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const bool one = is_one(x);
  const int64_t rows = one ? 1 : x.points, width = one ? x.points : x.count;
  const T factor = static_cast<T>(x.factor);
  T* data = static_cast<T*>(x.data);
  const T* re = static_cast<const T*>(x.re);
  const T* im = static_cast<const T*>(x.im);
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t to = i * x.point, from = i * x.lanes;
    int64_t k = 0;
    for (; k + kCount <= width && (!one || !x.twiddles); k += kCount) {
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
    }
    one ? store_each<T>(x, k, x.points, 0, 1) : store_each<T>(x, i, i + 1, k, x.count);
  }
}

// Sequences of adjacent complex points: as many as a vector has lanes, sixteen bytes of each at
// once. Piece g of vector j is of sequence g * kShort + j, so transposes within pieces restore the
// order.
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
    const auto pieces = [from, step](int64_t j) {
      return L::pieces([from, step, j](int64_t g) { return from + (g * L::kShort + j) * step; });
    };
    if constexpr (sizeof(T) == 8) {
      Vector<T> a = pieces(0), b = pieces(1);
      L::transpose(a, b);
      L::store(re + i * lanes, a);
      L::store(im + i * lanes, b);
    } else {
      Vector<T> a = pieces(0), b = pieces(1), c = pieces(2), d = pieces(3);
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
      L::store_pieces(v, [to, step, j](int64_t g) { return to + (g * L::kShort + j) * step; });
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
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t k = 0;
  for (; x.im && x.point == 1 && k + kCount <= x.count; k += kCount) load_sequences<T>(x, k);
  load_each<T>(x, 0, x.points, k, x.lanes);
}
template <class T>
void store(const FourierMove& x) noexcept {
  if (has_rows(x)) return store_rows<T>(x);
  constexpr int64_t kCount = Lanes<T>::kCount;
  int64_t k = 0;
  for (; x.im && x.point == 1 && !x.twiddles && k + kCount <= x.count; k += kCount) {
    store_sequences<T>(x, k);
  }
  store_each<T>(x, 0, x.points, k, x.count);
}

template <class T, class V>
struct Pair {
  Complex<T, V> k, l;  // at k and h - k
};
template <class T, class V, class S>
Pair<T, V> unfolded(const Pair<T, V>& y, const Complex<T, S>& root, T factor) {
  const auto &a = y.k, &b = y.l;
  const Complex<T, V> sum = factor * Complex<T, V>{a.re + b.re, a.im - b.im};
  const Complex<T, V> difference = factor * Complex<T, V>{a.re - b.re, a.im + b.im};
  const Complex<T, V> turned = difference.times(root.re, root.im);
  return {{sum.re + turned.im, sum.im - turned.re}, {sum.re - turned.im, -sum.im - turned.re}};
}
template <class T, class V, class S>
Pair<T, V> folded(const Pair<T, V>& x, const Complex<T, S>& root) {
  const auto &a = x.k, &b = x.l;
  const Complex<T, V> sum{a.re + b.re, a.im - b.im}, difference{a.re - b.re, a.im + b.im};
  const Complex<T, V> turned = difference.times(root.re, -root.im);
  return {{sum.re - turned.im, sum.im + turned.re}, {sum.re + turned.im, turned.re - sum.im}};
}

template <class T, bool kFolds>
struct Folding {
  const FourierFold x;
  const T *roots, *roots_im;
  const T *from_re, *from_im;
  T *re, *im;

  explicit Folding(const FourierFold& fold)
      : x(fold),
        roots(static_cast<const T*>(fold.roots)),
        roots_im(roots + fold.half / 2 + 1),
        from_re(static_cast<const T*>(fold.from_re)),
        from_im(static_cast<const T*>(fold.from_im)),
        re(static_cast<T*>(fold.re)),
        im(static_cast<T*>(fold.im)) {}

  template <class V, class S>
  Pair<T, V> made(const Pair<T, V>& pair, const Complex<T, S>& root) const {
    if constexpr (kFolds) {
      return folded(pair, root);
    } else {
      return unfolded(pair, root, static_cast<T>(x.factor));
    }
  }
  // The ends, lane by lane.
  void ends(int64_t lane) const {
    const T ends = static_cast<T>(x.ends);
    const int64_t last = x.half * x.lanes + lane;
    Complex<T, T> first{from_re[lane], from_im[lane]}, second = first;
    if (kFolds) first = {ends * first.re, T(0)}, second = {ends * from_re[last], T(0)};
    Pair<T, T> pair = made<T, T>({first, second}, {T(1), T(0)});
    if (!kFolds) pair = {{ends * pair.k.re, T(0)}, {ends * pair.l.re, T(0)}};
    pair.l.store(re + last, im + last);
    pair.k.store(re + lane, im + lane);
  }
  // Lanes of a pair of points.
  template <class V>
  void lanes(int64_t k, int64_t lane) const {
    const int64_t i = k * x.lanes + lane, j = (x.half - k) * x.lanes + lane;
    using C = Complex<T, V>;
    const Pair<T, V> pair =
        made<V, T>({C::load(from_re + i, from_im + i), C::load(from_re + j, from_im + j)},
                   {roots[k], roots_im[k]});
    pair.l.store(re + j, im + j);
    pair.k.store(re + i, im + i);
  }
  // Points k … of one lane, and their partners in reverse order.
  void points(int64_t k) const {
    using V = Vector<T>;
    using C = Complex<T, V>;
    const int64_t l = x.half - k - (Lanes<T>::kCount - 1);
    const auto flipped = [](const C& a) { return C{reversed<T>(a.re), reversed<T>(a.im)}; };
    const Pair<T, V> pair =
        made<V, V>({C::load(from_re + k, from_im + k), flipped(C::load(from_re + l, from_im + l))},
                   C::load(roots + k, roots_im + k));
    flipped(pair.l).store(re + l, im + l);
    pair.k.store(re + k, im + k);
  }
  void run() const {
    constexpr int64_t kCount = Lanes<T>::kCount;
    for (int64_t lane = 0; lane < x.lanes; ++lane) ends(lane);
    const int64_t middle = x.half / 2;
    if (x.lanes == 1) {
      if (middle < kCount) {
        for (int64_t k = 1; k <= middle; ++k) lanes<T>(k, 0);
        return;
      }
      for (int64_t k = 1; k <= middle; k += kCount) {
        points(k + kCount - 1 <= middle ? k : middle - (kCount - 1));
      }
      return;
    }
    for (int64_t k = 1; k <= middle; ++k) {
      int64_t lane = 0;
      for (; lane + kCount <= x.lanes; lane += kCount) lanes<Vector<T>>(k, lane);
      for (; lane < x.lanes; ++lane) lanes<T>(k, lane);
    }
  }
};
template <class T, bool kFolds>
void fold(const FourierFold& x) noexcept {
  Folding<T, kFolds>(x).run();
}

template <class T>
void multiply(const FourierProduct& product) noexcept {
  const FourierProduct x = product;
  using C = Complex<T, Vector<T>>;
  constexpr int64_t kCount = Lanes<T>::kCount;
  const T* by = static_cast<const T*>(x.by);
  const T* by_im = by + x.by_parts;
  const T* from_re = static_cast<const T*>(x.from_re);
  const T* from_im = static_cast<const T*>(x.from_im);
  T* re = static_cast<T*>(x.re);
  T* im = static_cast<T*>(x.im);
  const auto one = [&](int64_t i, int64_t at) {
    Complex<T, T>::load(from_re + at, from_im + at).times(by[i], by_im[i]).store(re + at, im + at);
  };
  if (x.lanes == 1) {
    int64_t i = 0;
    for (; i + kCount <= x.points; i += kCount) {
      const C b = C::load(by + i, by_im + i);
      C::load(from_re + i, from_im + i).times(b.re, b.im).store(re + i, im + i);
    }
    for (; i < x.points; ++i) one(i, i);
    return;
  }
  for (int64_t i = 0; i < x.points; ++i) {
    int64_t at = i * x.lanes;
    const int64_t end = at + x.lanes;
    for (; at + kCount <= end; at += kCount) {
      C::load(from_re + at, from_im + at).times(by[i], by_im[i]).store(re + at, im + at);
    }
    for (; at < end; ++at) one(i, at);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const FourierMoveTable kFourierMoveTable = {
    {&and_clear<FourierMove, &load<float>>, &and_clear<FourierMove, &load<double>>},
    {&and_clear<FourierMove, &store<float>>, &and_clear<FourierMove, &store<double>>},
    {&and_clear<FourierFold, &fold<float, true>>, &and_clear<FourierFold, &fold<double, true>>},
    {&and_clear<FourierFold, &fold<float, false>>, &and_clear<FourierFold, &fold<double, false>>},
    {&and_clear<FourierProduct, &multiply<float>>, &and_clear<FourierProduct, &multiply<double>>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
