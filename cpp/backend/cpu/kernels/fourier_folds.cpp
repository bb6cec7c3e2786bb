// Folds of real sequences to complex ones of half the length, and products with tables, before and
// after the passes of Fourier transforms. Compiled once per instruction set.
#include "backend/cpu/kernels/fourier_vector.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Functions copy their argument: a vector that is stored could alias its fields.

template <class T, class V>
struct Pair {
  Complex<T, V> k, l;  // at k and h - k
};
template <class T, class V, class S>
Pair<T, V> unfolded(const Pair<T, V>& y, const Complex<T, S>& root, T factor) {
  const auto &a = y.k, &b = y.l;
  const Complex<T, V> sum = factor * Complex<T, V>{a.re + b.re, a.im - b.im};
  const Complex<T, V> difference = factor * Complex<T, V>{a.re - b.re, a.im + b.im};
  const Complex<T, V> rotated = difference.times(root.re, root.im);
  return {{sum.re + rotated.im, sum.im - rotated.re}, {sum.re - rotated.im, -sum.im - rotated.re}};
}
template <class T, class V, class S>
Pair<T, V> folded(const Pair<T, V>& x, const Complex<T, S>& root) {
  const auto &a = x.k, &b = x.l;
  const Complex<T, V> sum{a.re + b.re, a.im - b.im}, difference{a.re - b.re, a.im + b.im};
  const Complex<T, V> rotated = difference.times(root.re, -root.im);
  return {{sum.re - rotated.im, sum.im + rotated.re}, {sum.re + rotated.im, rotated.re - sum.im}};
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

template <class T, class V, bool kFolds>
void pair_up(const FourierPairs& x, int64_t j) {
  constexpr int kCount = kWidth<T, V>;
  using C = Complex<T, V>;
  const auto flipped = [](const C& a) {
    if constexpr (kCount == 1) {
      return a;
    } else {
      return C{reversed<T>(a.re), reversed<T>(a.im)};
    }
  };
  const C root = rounded<T, V>([&](int64_t i, auto wide) {
    return decltype(wide)::load_pairs(x.low + 2 * (j + i)).times(x.high_re, x.high_im);
  });
  const int64_t at = 2 * j, partner = 2 * (j + kCount - 1);
  Pair<T, V> pair{C::load_pairs(static_cast<const T*>(x.first) + at),
                  flipped(C::load_pairs(static_cast<const T*>(x.last) - partner))};
  pair = kFolds ? folded(pair, root) : unfolded(pair, root, T(1));
  flipped(pair.l).store_pairs(static_cast<T*>(x.to_last) - partner);
  pair.k.store_pairs(static_cast<T*>(x.to_first) + at);
}
template <class T, bool kFolds>
void fold_pairs(const FourierPairs& pairs) noexcept {
  constexpr int kCount = Lanes<T>::kCount;
  const FourierPairs x = pairs;
  int64_t j = 0;
  for (; j + kCount <= x.count; j += kCount) pair_up<T, Vector<T>, kFolds>(x, j);
  for (; j < x.count; ++j) pair_up<T, T, kFolds>(x, j);
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

constinit const FourierFoldTable kFourierFoldTable = {
    {&and_clear<FourierFold, &fold<float, true>>, &and_clear<FourierFold, &fold<double, true>>},
    {&and_clear<FourierFold, &fold<float, false>>, &and_clear<FourierFold, &fold<double, false>>},
    {&and_clear<FourierPairs, &fold_pairs<float, true>>,
     &and_clear<FourierPairs, &fold_pairs<double, true>>},
    {&and_clear<FourierPairs, &fold_pairs<float, false>>,
     &and_clear<FourierPairs, &fold_pairs<double, false>>},
    {&and_clear<FourierProduct, &multiply<float>>, &and_clear<FourierProduct, &multiply<double>>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
