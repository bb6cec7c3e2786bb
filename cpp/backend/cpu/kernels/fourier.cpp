// The passes of a self-sorting mixed-radix Fourier transform (by T. G. Stockham: C. Van Loan,
// Computational Frameworks for the Fast Fourier Transform, 1992, 1.7), of one sequence or of
// several at once. Compiled once per instruction set.
//
// Entry (k * groups + p) * stride + q of the input, for k below the radix, becomes entry (p * radix
// + k) * stride + q. Vectors are made of successive q, which include the sequences, or, while the
// stride is shorter than a vector, of successive pairs (p, q). All sides make the same bits.
#include "backend/cpu/kernels/fourier_vector.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

enum class Side { Inside, Loads, Stores };

// What a pass reads and writes. Copied into functions: a vector that is stored could alias fields.
template <class T, Side kSide>
struct Entries {
  int radix;
  const T* circle;
  const T *from, *from_im;
  T *to, *to_im;
  T factor;
  bool exchanged;

  explicit Entries(const FourierPass& x)
      : radix(static_cast<int>(x.radix)),
        circle(static_cast<const T*>(x.circle)),
        from(static_cast<const T*>(kSide == Side::Loads ? x.outside->data : x.from)),
        from_im(kSide == Side::Loads ? nullptr : from + x.parts),
        to(static_cast<T*>(kSide == Side::Stores ? x.outside->data : x.to)),
        to_im(kSide == Side::Stores ? nullptr : to + x.parts),
        factor(static_cast<T>(kSide == Side::Stores ? x.outside->factor : 1)),
        exchanged(kSide == Side::Inside ? false : x.outside->exchanged) {}

  template <class V>
  Complex<T, V> load(int64_t i) const {
    if constexpr (kSide == Side::Loads) {
      return Complex<T, V>::load_pairs(from + 2 * i).exchanged(exchanged);
    } else {
      return Complex<T, V>::load(from + i, from_im + i);
    }
  }
  template <class V>
  void store(int64_t i, const Complex<T, V>& a) const {
    if constexpr (kSide == Side::Stores) {
      (factor * a).exchanged(exchanged).store_pairs(to + 2 * i);
    } else {
      a.store(to + i, to_im + i);
    }
  }
  // The transform of the points that `get` returns, to `set`.
  template <int kRadix, class V, class Get, class Set>
  void butterfly(Get&& get, Set&& set) const {
    if constexpr (kRadix == 5) {
      radix5<T, V>(get, set);
    } else if constexpr (kRadix == 7) {
      radix7<T, V>(get, set);
    } else if constexpr (kRadix == 8) {
      radix8<T, V>(get, set);
    } else {
      const int count = kRadix ? kRadix : radix;
      Complex<T, V> a[kRadix ? kRadix : kLargestRadix];
      for (int k = 0; k < count; ++k) a[k] = get(k);
      if constexpr (kRadix == 2) radix2(a);
      if constexpr (kRadix == 3) radix3(a);
      if constexpr (kRadix == 4) radix4(a[0], a[1], a[2], a[3]);
      if constexpr (kRadix == 0) radix_odd(a, radix, circle);
      for (int k = 0; k < count; ++k) set(k, a[k]);
    }
  }
};

// The first entry of a row for k = 0, and the distance to the next k.
struct Place {
  int64_t first, step;
};

// Entries q of one row. roots: null in the last pass.
template <class T, int kRadix, Side kSide, class V, bool kRotates>
void row(const Entries<T, kSide> x, Place from, Place to, int64_t width, const T* roots) noexcept {
  constexpr int64_t kCount = kWidth<T, V>;
  for (int64_t q = 0;;) {
    x.template butterfly<kRadix, V>(
        [&](int k) { return x.template load<V>(from.first + k * from.step + q); },
        [&](int k, Complex<T, V> a) {
          if constexpr (kRotates) {
            if (k > 0) a = a.times(roots[2 * k - 2], roots[2 * k - 1]);
          }
          x.store(to.first + k * to.step + q, a);
        });
    // The last vector may overlap the one before.
    q += kCount;
    if (q >= width) return;
    if (q > width - kCount) q = width - kCount;
  }
}

template <class T, int kRadix, Side kSide>
void rows(const FourierPass& pass) noexcept {
  using V = Vector<T>;
  using Short = typename Lanes<T>::Short;
  const FourierPass x = pass;
  const Entries<T, kSide> entries(x);
  if (x.groups == 1) {
    const int64_t width = kSide == Side::Stores ? x.outside->width : x.stride;
    const int64_t count = x.stride / width;
    const int64_t point = kSide == Side::Stores ? x.outside->point : width;
    const auto last = width >= kWidth<T, V>       ? &row<T, kRadix, kSide, V, false>
                      : width >= Lanes<T>::kShort ? &row<T, kRadix, kSide, Short, false>
                                                  : &row<T, kRadix, kSide, T, false>;
    for (int64_t m = 0; m < count; ++m) {
      last(entries, {m * width, x.stride}, {m * point, count * point}, width, nullptr);
    }
    return;
  }
  if constexpr (kSide != Side::Stores) {  // the last pass has one group
    const T* roots = static_cast<const T*>(x.roots);
    const int64_t point = kSide == Side::Loads ? x.outside->point : x.stride;
    for (int64_t p = 0; p < x.groups; ++p, roots += 2 * (x.radix - 1)) {
      row<T, kRadix, kSide, V, true>(entries, {p * point, x.groups * point},
                                     {p * x.radix * x.stride, x.stride}, x.stride, roots);
    }
  }
}

// Transposes vectors k = 0 … kRadix - 1: entry p of vector k becomes entry p * kRadix + k. Each
// round alternates the first and the second half of all entries.
template <class T, int kRadix>
void store_transposed(Vector<T>* v, T* to) {
  for (int round = 1; round < kRadix; round *= 2) {
    Vector<T> w[kRadix];
    for (int k = 0; k < kRadix / 2; ++k) {
      w[2 * k] = alternating<T, 0>(v[k], v[k + kRadix / 2]);
      w[2 * k + 1] = alternating<T, 1>(v[k], v[k + kRadix / 2]);
    }
    for (int k = 0; k < kRadix; ++k) v[k] = w[k];
  }
  for (int k = 0; k < kRadix; ++k) Lanes<T>::store(to + k * Lanes<T>::kCount, v[k]);
}

// Stores each kSize entries of a vector `step` entries after the ones before.
template <class T, int kSize>
struct Parts {
  typedef T Part __attribute__((vector_size(kSize * sizeof(T)), aligned(alignof(T)), may_alias));
  template <int i, size_t... j>
  static void store_part(const Vector<T>& v, T* to, std::index_sequence<j...> /*each*/) {
    typedef T Value __attribute__((vector_size(kSize * sizeof(T))));
    const Value part = __builtin_shufflevector(v, v, i * kSize + static_cast<int>(j)...);
    *reinterpret_cast<Part*>(to) = part;
  }
  template <size_t... i>
  static void store_all(const Vector<T>& v, T* to, int64_t step,
                        std::index_sequence<i...> /*each*/) {
    (store_part<static_cast<int>(i)>(v, to + static_cast<int64_t>(i) * step,
                                     std::make_index_sequence<kSize>()),
     ...);
  }
  static void store(const Vector<T>& v, T* to, int64_t step) {
    store_all(v, to, step, std::make_index_sequence<Lanes<T>::kCount / kSize>());
  }
};

// Stores entries j … of all k.
template <class T, int kRadix>
void scatter(T* re, T* im, int64_t stride, int radix, int64_t j, const Complex<T, Vector<T>>* a) {
  using V = Vector<T>;
  constexpr int kCount = Lanes<T>::kCount;
  if constexpr (kRadix == 2 || kRadix == 4 || kRadix == 8) {
    if (stride == 1) {
      V parts[kRadix];
      for (int k = 0; k < kRadix; ++k) parts[k] = a[k].re;
      store_transposed<T, kRadix>(parts, re + j * kRadix);
      for (int k = 0; k < kRadix; ++k) parts[k] = a[k].im;
      return store_transposed<T, kRadix>(parts, im + j * kRadix);
    }
  }
  const auto store_parts = [&](auto store) {
    for (int k = 0; k < radix; ++k) {
      const int64_t first = j * radix + k * stride;
      store(a[k].re, re + first, radix * stride);
      store(a[k].im, im + first, radix * stride);
    }
  };
  if constexpr (kCount > 2) {
    if (stride == 2) return store_parts(&Parts<T, 2>::store);
  }
  if constexpr (kCount > 4) {
    if (stride == 4) return store_parts(&Parts<T, 4>::store);
  }
  if constexpr (kCount > 8) {
    if (stride == 8) return store_parts(&Parts<T, 8>::store);
  }
  T parts[2][kRadix ? kRadix : kLargestRadix][kCount];
  for (int k = 0; k < radix; ++k) a[k].store(parts[0][k], parts[1][k]);
  int64_t q = j % stride, first = j / stride * radix * stride + q;
  for (int l = 0; l < kCount; ++l) {
    for (int k = 0; k < radix; ++k) {
      re[first + k * stride] = parts[0][k][l];
      im[first + k * stride] = parts[1][k][l];
    }
    ++first;
    if (++q == stride) q = 0, first += (radix - 1) * stride;
  }
}

// Pairs (p, q) as positions j of one row, each with roots of its own.
template <class T, int kRadix, Side kSide, class V>
[[gnu::noinline]] void flat(const FourierPass& pass) noexcept {
  constexpr int64_t kCount = kWidth<T, V>;
  const Entries<T, kSide> x(pass);
  const int radix = kRadix ? kRadix : x.radix;
  const int64_t stride = pass.stride, range = pass.groups * stride;
  const T* roots = static_cast<const T*>(pass.roots);
  for (int64_t j = 0;;) {
    Complex<T, V> a[kRadix ? kRadix : kLargestRadix];
    x.template butterfly<kRadix, V>(
        [&](int k) { return x.template load<V>(k * range + j); },
        [&](int k, const Complex<T, V>& made) {
          const T* root = roots + (k - 1) * 2 * range + j;
          a[k] = k == 0 ? made : made.times(load_as<V>(root), load_as<V>(root + range));
        });
    if constexpr (kCount == 1) {
      const int64_t first = j / stride * (radix - 1) * stride + j;
      for (int k = 0; k < radix; ++k) x.store(first + k * stride, a[k]);
    } else {
      scatter<T, kRadix>(x.to, x.to_im, stride, radix, j, a);
    }
    j += kCount;
    if (j >= range) return;
    if (j > range - kCount) j = range - kCount;
  }
}

template <class T, int kRadix, Side kSide>
void pass(const FourierPass& x) noexcept {
  if constexpr (kSide != Side::Stores) {
    if (x.flat) {
      return x.groups * x.stride >= Lanes<T>::kCount ? flat<T, kRadix, kSide, Vector<T>>(x)
                                                     : flat<T, kRadix, kSide, T>(x);
    }
  }
  rows<T, kRadix, kSide>(x);
}

template <class T, int kRadix>
void pass(const FourierPass& x) noexcept {
  if (!x.outside) return pass<T, kRadix, Side::Inside>(x);
  return x.from ? pass<T, kRadix, Side::Stores>(x) : pass<T, kRadix, Side::Loads>(x);
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
    case 7:
      return pass<T, 7>(x);
    case 8:
      return pass<T, 8>(x);
    default:
      return pass<T, 0>(x);
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const FourierTable kFourierTable = {
    {&and_clear<FourierPass, &passes<float>>, &and_clear<FourierPass, &passes<double>>},
    {Lanes<float>::kCount, Lanes<double>::kCount}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
