// C = A B for small and thin matrices, and for panels of larger ones: for shapes where a BLAS call
// costs more than it computes, or computes slowly.
//
// C is computed in blocks of some rows and one or two vectors of columns that stay in registers
// while k runs. A is read in place, one entry at a time, with any strides. A slice of B, as wide as
// a block and kDeep rows long, is copied to the stack, dense and padded, unless it is dense already
// and few rows of C use it. The order of additions depends on the shape and the width of a vector
// alone. Compiled once per instruction set, with fused multiply-add.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace pullback {
namespace {

#if defined(__AVX512F__)
constexpr int kTall = 12;  // rows of a block: 24 of 32 registers accumulate
#else
constexpr int kTall = 6;  // 12 of 16
#endif
constexpr int64_t kDeep = 256;  // a slice of B stays in the first-level cache

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

using PULLBACK_KERNELS::Lanes;

template <class T>
struct Block {
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_row;
  T* c;
  int64_t c_row;
  int64_t k;
  int64_t width;  // columns of c
  bool add;
};

// `count` entries, at most one vector.
template <class T>
void store_some(T* c, const typename Lanes<T>::Vector& value, int64_t count, bool add) {
#if defined(__AVX512F__)
  const auto mask = (1u << count) - 1;
  if constexpr (sizeof(T) == 4) {
    const auto m = static_cast<__mmask16>(mask);
    const __m512 old = add ? _mm512_maskz_loadu_ps(m, c) : _mm512_setzero_ps();
    _mm512_mask_storeu_ps(c, m, _mm512_add_ps(old, value));
  } else {
    const auto m = static_cast<__mmask8>(mask);
    const __m512d old = add ? _mm512_maskz_loadu_pd(m, c) : _mm512_setzero_pd();
    _mm512_mask_storeu_pd(c, m, _mm512_add_pd(old, value));
  }
#else
  for (int64_t j = 0; j < count; ++j) c[j] = add ? c[j] + value[j] : value[j];
#endif
}

// kAdjacent: the rows of A are adjacent (a_row is 1), as in a transposed matrix.
template <class T, int kRows, int kVectors, bool kAdjacent>
[[gnu::noinline]] void run_block(const Block<T>& x) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int kCount = Lanes<T>::kCount;
  Vector sum[kRows][kVectors] = {};
  const T* b = x.b;
  const int64_t a_row = kAdjacent ? 1 : x.a_row;
  // A pointer to every third row; the other rows are one and two strides from it, so all addresses
  // stay in registers.
  constexpr int kPointers = (kRows + 2) / 3;
  const T* a[kPointers];
  for (int i = 0; i < kPointers; ++i) a[i] = x.a + 3 * i * a_row;
  for (int64_t d = 0; d < x.k; ++d, b += x.b_row) {
    Vector right[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      right[v] = *reinterpret_cast<const Loose*>(b + v * kCount);
    }
    for (int r = 0; r < kRows; ++r) {
      const T left = a[r / 3][r % 3 * a_row];
      for (int v = 0; v < kVectors; ++v) sum[r][v] += left * right[v];
    }
    for (const T*& pointer : a) pointer += x.a_column;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    T* c = x.c + r * x.c_row;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v, c += kCount) {
      const int64_t left = x.width - v * kCount;
      if (left >= kCount) {
        auto* to = reinterpret_cast<Loose*>(c);
        *to = x.add ? *to + sum[r][v] : sum[r][v];
      } else {
        store_some<T>(c, sum[r][v], left, x.add);
      }
    }
  }
}

template <class T, int kVectors, bool kAdjacent>
void run_rows(Block<T> x, int64_t m) {
  // C++20 requires the empty list.  NOLINTNEXTLINE(readability-redundant-lambda-parameter-list)
  const auto go = [&]<int kRows>() {
    for (; m >= kRows; m -= kRows) {
      run_block<T, kRows, kVectors, kAdjacent>(x);
      x.a += kRows * x.a_row;
      x.c += kRows * x.c_row;
    }
  };
  if constexpr (kVectors == 1 && kTall < 8) go.template operator()<8>();
  go.template operator()<kTall>();
  go.template operator()<4>();
  go.template operator()<2>();
  go.template operator()<1>();
}

#if defined(__AVX512F__)  // elsewhere a shuffle of two vectors takes several instructions
template <int count>
constexpr int low_block(int j, int s) {
  return j & s ? count + j - s : j;
}
template <int count>
constexpr int high_block(int j, int s) {
  return j & s ? count + j : j + s;
}

// out[i, j] = in[j, i] for as many rows and columns as a vector has lanes. Step s exchanges the
// off-diagonal s x s blocks of every 2s x 2s block.
template <class T>
void transpose_square(const T* in, int64_t in_row, T* out, int64_t out_row) {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int kCount = Lanes<T>::kCount;
  Vector row[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) row[i] = *reinterpret_cast<const Loose*>(in + i * in_row);
  // C++20 requires the empty list.  NOLINTNEXTLINE(readability-redundant-lambda-parameter-list)
  const auto exchange = [&]<int s>() {
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      if (i & s) continue;
      const Vector first = row[i];
      row[i] = Lanes<T>::template shuffled<low_block<kCount>, s>(first, row[i + s]);
      row[i + s] = Lanes<T>::template shuffled<high_block<kCount>, s>(first, row[i + s]);
    }
  };
  exchange.template operator()<1>();
  if constexpr (kCount > 2) exchange.template operator()<2>();
  if constexpr (kCount > 4) exchange.template operator()<4>();
  if constexpr (kCount > 8) exchange.template operator()<8>();
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) *reinterpret_cast<Loose*>(out + i * out_row) = row[i];
}

#endif

// Copies `k` rows of `width` entries to rows of `stride`, one or two vectors. Entries after `width`
// are never stored, so they may have any value; the last row of B must not be read beyond `width`.
template <class T, int kVectors>
void pack(const T* b, int64_t b_row, int64_t b_column, int64_t k, int64_t width, T* out) {
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  constexpr int64_t kStride = kVectors * kCount;
  if (b_column != 1) {
#if defined(__AVX512F__)
    if (b_row == 1 && width == kStride) {
      for (; k >= kCount; k -= kCount, b += kCount, out += kCount * kStride) {
        for (int v = 0; v < kVectors; ++v) {
          transpose_square(b + v * kCount * b_column, b_column, out + v * kCount, kStride);
        }
      }
    }
#endif
    for (int64_t j = 0; j < kStride; ++j) {
      const T* column = b + least(j, width - 1) * b_column;
      for (int64_t d = 0; d < k; ++d) out[d * kStride + j] = column[d * b_row];
    }
    return;
  }
  int64_t d = 0;
  if (b_row >= width) {
    for (; d < k && (k - 1 - d) * b_row >= kStride - width; ++d, b += b_row, out += kStride) {
      for (int v = 0; v < kVectors; ++v) {
        *reinterpret_cast<Loose*>(out + v * kCount) =
            *reinterpret_cast<const Loose*>(b + v * kCount);
      }
    }
  }
  for (; d < k; ++d, b += b_row, out += kStride) {
    for (int64_t j = 0; j < kStride; ++j) out[j] = b[least(j, width - 1)];
  }
}

template <class T>
void product(const ProductCall& p) noexcept {
  constexpr int64_t kCount = Lanes<T>::kCount;
  alignas(64) T packed[kDeep * 2 * kCount];
  const bool adjacent = p.a_row == 1;
  Block<T> x;
  x.a_row = p.a_row;
  x.a_column = p.a_column;
  x.c_row = p.c_row;
  for (int64_t first = 0; first < p.k; first += kDeep) {
    x.k = least(kDeep, p.k - first);
    x.add = p.add || first > 0;
    for (int64_t j = 0; j < p.n; j += 2 * kCount) {
      x.width = least(2 * kCount, p.n - j);
      const bool one = x.width <= kCount;
      const int64_t stride = one ? kCount : 2 * kCount;
      x.a = static_cast<const T*>(p.a) + first * p.a_column;
      x.b = static_cast<const T*>(p.b) + first * p.b_row + j * p.b_column;
      x.b_row = p.b_row;
      x.c = static_cast<T*>(p.c) + j;
      if (p.b_column != 1 || x.width != stride || (p.m > 4 * kTall && p.b_row > stride)) {
        (one ? pack<T, 1> : pack<T, 2>)(x.b, p.b_row, p.b_column, x.k, x.width, packed);
        x.b = packed;
        x.b_row = stride;
      }
      const auto run = one ? (adjacent ? run_rows<T, 1, true> : run_rows<T, 1, false>)
                           : (adjacent ? run_rows<T, 2, true> : run_rows<T, 2, false>);
      run(x, p.m);
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const ProductTable kProductTable = {{&product<float>, &product<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
