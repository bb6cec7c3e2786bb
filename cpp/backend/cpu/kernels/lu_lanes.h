// LU with partial pivoting of as many small matrices as a vector has lanes, and their determinants.
// Included by small_matrices.cpp alone. Start at LuLanes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/small_matrices.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

template <class T>
using Vector = typename Lanes<T>::Vector;

template <class T>
constexpr int64_t kLanes = Lanes<T>::kCount;

template <class V>
V absolute(const V& x) {
  return x < 0 ? -x : x;
}

template <class T>
struct LuLanes {
  using V = Vector<T>;
  using Mask = decltype(V{} < V{});
  V a[kSmallMatrix * kSmallMatrix];
  Mask places[kSmallMatrix];
  V sign;

  static Mask number(int64_t i) {
    return Mask{} + static_cast<std::remove_reference_t<decltype(Mask{}[0])>>(i);
  }

  // Without factors, only the diagonal of u and the sign are computed: for a determinant.
  template <int kFixed, bool kFactors = true>
  void factorise(int64_t given) {
    const int64_t n = kFixed ? kFixed : given;
    sign = V{} + 1;
    for (int64_t i = 0; i < n; ++i) places[i] = number(i);
    for (int64_t k = 0; k < n; ++k) {
      V best = absolute(a[k * n + k]);
      Mask place = number(k);
      for (int64_t i = k + 1; i < n; ++i) {
        const V size = absolute(a[i * n + k]);
        const Mask larger = size > best;
        best = larger ? size : best;
        place = larger ? number(i) : place;
      }
      for (int64_t i = k + 1; i < n; ++i) {
        const Mask here = place == number(i);
        for (int64_t c = kFactors ? 0 : k; c < n; ++c) {
          exchange(here, &a[k * n + c], &a[i * n + c]);
        }
        if (kFactors) exchange(here, &places[k], &places[i]);
        sign = here ? -sign : sign;
      }
      // Below a pivot of zero all entries are zero.
      const V pivot = a[k * n + k];
      const V divisor = pivot == 0 ? V{} + 1 : pivot;
      for (int64_t i = k + 1; i < n; ++i) {
        const V factor = a[i * n + k] / divisor;
        if (kFactors) a[i * n + k] = factor;
        for (int64_t c = k + 1; c < n; ++c) a[i * n + c] -= factor * a[k * n + c];
      }
    }
  }

  template <class X>
  static void exchange(const Mask& here, X* x, X* y) {
    const X before = *x;
    *x = here ? *y : before;
    *y = here ? before : *y;
  }
};

typedef float HalfVector
    __attribute__((vector_size(PULLBACK_KERNELS::kVectorBytes / 2), aligned(4), may_alias));

Vector<double> as_doubles(const double* x) { return Lanes<double>::load(x); }
Vector<double> as_doubles(const float* x) {
  return __builtin_convertvector(*reinterpret_cast<const HalfVector*>(x), Vector<double>);
}

// Products of the diagonals. Returns false if a partial product may have left the range of float64.
template <class T>
bool diagonal_products(const LuLanes<T>& lanes, int64_t n, double* product) {
  int64_t inside = -1;
  for (int64_t part = 0; part < kLanes<T>; part += kLanes<double>) {
    const auto load = [&](const Vector<T>& x) {
      return as_doubles(reinterpret_cast<const T*>(&x) + part);
    };
    Vector<double> x = load(lanes.sign);
    auto in_range = x == x;
    for (int64_t r = 0; r < n; ++r) {
      x *= load(lanes.a[r * (n + 1)]);
      const Vector<double> size = absolute(x);
      in_range &= (size > 0x1p-960) & (size < 0x1p960);
    }
    Lanes<double>::store(product + part, x);
    for (int64_t l = 0; l < kLanes<double>; ++l) inside &= in_range[l];
  }
  return inside != 0;
}

// The same for lane l, exponents aside.
template <class T>
double scaled_product(const LuLanes<T>& lanes, int64_t n, int64_t l) {
  double product = lanes.sign[l];
  int exponents = 0;
  for (int64_t r = 0; r < n; ++r) {
    int exponent = 0;
    product *= __builtin_frexp(lanes.a[r * (n + 1)][l], &exponent);
    exponents += exponent;
  }
  return __builtin_ldexp(product, exponents);
}

}  // namespace
}  // namespace pullback
