// Folds long sequences of real numbers to complex ones, transforms these, and unfolds the results.
#include "backend/cpu/fourier/long_real.h"

#include "backend/cpu/fourier/fourier_parts.h"
#include "backend/cpu/kernels/table.h"

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
    for_each_in_chunks(n, [&](int64_t k) { all[k] = reals[k]; });
    if (!transform(of.complex, all, all, false, factor, scratch)) return false;
    for_each_in_chunks(half, [&](int64_t k) { spectrum[k] = all[k]; });
    spectrum[0] = at_end * spectrum[0].real();
    return true;
  }
  const C* spectrum = static_cast<const C*>(x);
  T* reals = static_cast<T*>(y);
  for_each_in_chunks(n, [&](int64_t k) {
    all[k] = k == 0     ? C(at_end * spectrum[0].real())
             : k < half ? spectrum[k]
                        : std::conj(spectrum[n - k]);
  });
  if (!transform(of.complex, all, all, true, factor, scratch)) return false;
  for_each_in_chunks(n, [&](int64_t k) { reals[k] = all[k].real(); });
  return true;
}

// The pairs k and h - k for 1 ≤ k ≤ h / 2.
template <class T>
void over_pairs(FourierPairsKernel kernel, const std::complex<T>* x, std::complex<T>* y, int64_t h,
                const RootsOfUnity& roots) {
  over_ranges(h / 2, [&](int64_t first, int64_t end) {
    for (int64_t k = first + 1; k <= end;) {
      const RootsOfUnity::Run run = roots.run(k, end + 1 - k);
      kernel({.count = run.count,
              .low = reinterpret_cast<const double*>(run.low),
              .high_re = run.high.real(),
              .high_im = run.high.imag(),
              .first = x + k,
              .last = x + h - k,
              .to_first = y + k,
              .to_last = y + h - k});
      k += run.count;
    }
  });
}

template <class T>
void fold_long(const std::complex<T>* x, std::complex<T>* z, int64_t h, T ends,
               const RootsOfUnity& roots) {
  const T a = ends * x[0].real(), b = ends * x[h].real();
  z[0] = {a + b, a - b};
  over_pairs(kernels().fourier_folds.fold_pairs[sizeof(T) == 4 ? 0 : 1], x, z, h, roots);
}

template <class T>
void unfold_long(std::complex<T>* y, int64_t h, T ends, const RootsOfUnity& roots) {
  const std::complex<T> first = y[0];
  y[0] = 2 * ends * (first.real() + first.imag());
  y[h] = 2 * ends * (first.real() - first.imag());
  over_pairs(kernels().fourier_folds.unfold_pairs[sizeof(T) == 4 ? 0 : 1], y, y, h, roots);
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
  if (!of.roots) return transform_odd(of, x, y, factor, ends, scratch);
  // Even points are real parts, odd points are imaginary parts.
  const int64_t h = of.points / 2;
  if (of.transform == Transform::HalfOf) {
    C* out = static_cast<C*>(y);
    if (!transform(of.complex, static_cast<const C*>(x), out, false, factor / 2, scratch)) {
      return false;
    }
    unfold_long(out, h, static_cast<T>(ends), *of.roots);
    return true;
  }
  C* folded = scratch + of.complex.scratch_points();
  fold_long(static_cast<const C*>(x), folded, h, static_cast<T>(ends), *of.roots);
  return transform(of.complex, folded, static_cast<C*>(y), true, factor, scratch);
}

template bool transform(const LongReal&, const void*, void*, double, double, std::complex<float>*);
template bool transform(const LongReal&, const void*, void*, double, double, std::complex<double>*);

}  // namespace pullback
