// Folds long sequences of real numbers to complex ones, transforms these, and unfolds the results.
#include "backend/cpu/fourier/long_real.h"

#include "backend/cpu/fourier/fourier_parts.h"

namespace pullback {
namespace {

// An odd number of real points, as complex points.
template <class T>
bool transform_odd(const LongReal& of, const void* x, void* y, double factor, double ends,
                   std::complex<T>* scratch) {
  using C = std::complex<T>;
  const int64_t n = of.points, half = n / 2 + 1;
  C* all = scratch + of.complex.scratch_points();
  const T at_end = static_cast<T>(ends);
  if (of.transform == Transform::HalfOf) {
    const T* reals = static_cast<const T*>(x);
    C* spectrum = static_cast<C*>(y);
    over_pieces(n, [&](int64_t k) { all[k] = reals[k]; });
    if (!transform(of.complex, all, all, false, factor, scratch)) return false;
    over_pieces(half, [&](int64_t k) { spectrum[k] = all[k]; });
    spectrum[0] = at_end * spectrum[0].real();
    return true;
  }
  const C* spectrum = static_cast<const C*>(x);
  T* reals = static_cast<T*>(y);
  over_pieces(n, [&](int64_t k) {
    all[k] = k == 0     ? C(at_end * spectrum[0].real())
             : k < half ? spectrum[k]
                        : std::conj(spectrum[n - k]);
  });
  if (!transform(of.complex, all, all, true, factor, scratch)) return false;
  over_pieces(n, [&](int64_t k) { reals[k] = all[k].real(); });
  return true;
}

// Calls f(k, h - k) for each pair.
template <class F>
void over_pairs(int64_t h, F&& f) {
  over_pieces(h / 2 + 1, [&](int64_t k) { f(k, h - k); });
}

template <class T>
void fold(const std::complex<T>* x, std::complex<T>* z, int64_t h, T ends,
          const RootsOfUnity& roots) {
  using C = std::complex<T>;
  over_pairs(h, [&](int64_t k, int64_t l) {
    C a = x[k], b = x[l];
    if (k == 0) a = ends * a.real(), b = ends * b.real();
    // root(l) = -conj(root(k)), so the second result is the conjugate of what index l needs.
    const C sum = a + std::conj(b), turned = times(a - std::conj(b), std::conj(roots[k]));
    z[k] = {sum.real() - turned.imag(), sum.imag() + turned.real()};
    if (k && k != l) z[l] = {sum.real() + turned.imag(), turned.real() - sum.imag()};
  });
}

template <class T>
void unfold(std::complex<T>* y, int64_t h, T ends, const RootsOfUnity& roots) {
  using C = std::complex<T>;
  y[h] = y[0];
  over_pairs(h, [&](int64_t k, int64_t l) {
    const C a = y[k], b = y[l];
    const C sum = a + std::conj(b), turned = times(a - std::conj(b), roots[k]);
    y[k] = {sum.real() + turned.imag(), sum.imag() - turned.real()};
    if (k != l) y[l] = {sum.real() - turned.imag(), -sum.imag() - turned.real()};
  });
  y[0] = ends * y[0].real();
  y[h] = ends * y[h].real();
}

}  // namespace

LongReal::LongReal(Transform transform, int64_t points, bool narrow)
    : transform(transform), points(points), complex(points % 2 ? points : points / 2, narrow) {
  if (points % 2 == 0) roots.emplace(points);
}

template <class T>
bool transform(const LongReal& of, const void* x, void* y, double factor, double ends,
               std::complex<T>* scratch) {
  using C = std::complex<T>;
  if (of.points % 2) return transform_odd(of, x, y, factor, ends, scratch);
  // Even points are real parts, odd points are imaginary parts.
  const int64_t h = of.points / 2;
  if (of.transform == Transform::HalfOf) {
    C* out = static_cast<C*>(y);
    if (!transform(of.complex, static_cast<const C*>(x), out, false, factor / 2, scratch)) {
      return false;
    }
    unfold(out, h, static_cast<T>(ends), *of.roots);
    return true;
  }
  C* folded = scratch + of.complex.scratch_points();
  fold(static_cast<const C*>(x), folded, h, static_cast<T>(ends), *of.roots);
  return transform(of.complex, folded, static_cast<C*>(y), true, factor, scratch);
}

template bool transform(const LongReal&, const void*, void*, double, double, std::complex<float>*);
template bool transform(const LongReal&, const void*, void*, double, double, std::complex<double>*);

}  // namespace pullback
