// C = A B for small and thin matrices, and for panels of larger ones: what a BLAS call costs more
// than it computes, or computes slowly.
//
// C is computed in blocks of some rows and one or two vectors of columns that stay in registers
// while k runs. A is read where it lies, an entry at a time, with any strides. A slice of B, as
// wide as a block and kDeep rows long, is copied to the stack, where it is dense and padded, unless
// it is dense already and few rows of C use it. Of many small products, each lane of a vector
// computes one where rows are shorter than a vector. The order of the additions depends on the
// shape and the width of a vector alone. Compiled once per instruction set, with fused operations.
#include "backend/cpu/kernels/table.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
constexpr int kTall = 12;  // rows of a block: 24 of 32 registers accumulate
#elif defined(__AVX2__)
constexpr int kBytes = 32;
constexpr int kTall = 6;  // 12 of 16
#else
constexpr int kBytes = 16;
constexpr int kTall = 6;
#endif
constexpr int64_t kDeep = 256;  // a slice of B stays in the first-level cache

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

template <class T>
struct IndexOf {
  using Type = int32_t;
};
template <>
struct IndexOf<double> {
  using Type = int64_t;
};

template <class T>
struct Lanes {
  static constexpr int kCount = kBytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(kBytes)));
  typedef T Loose __attribute__((vector_size(kBytes), aligned(alignof(T)), may_alias));
  typedef typename IndexOf<T>::Type Index __attribute__((vector_size(kBytes)));
};

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

// `count` entries, at most a vector.
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

// kAdjacent: the rows of A lie next to each other (a_row is 1), as in a transposed matrix.
template <class T, int kRows, int kVectors, bool kAdjacent>
[[gnu::noinline]] void run_block(const Block<T>& x) noexcept {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int kCount = Lanes<T>::kCount;
  Vector sum[kRows][kVectors] = {};
  const T* b = x.b;
  const int64_t a_row = kAdjacent ? 1 : x.a_row;
  // A pointer to every third row: the others are one and two strides from it, and all addresses
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
  // C++20 wants the empty list.  NOLINTNEXTLINE(readability-redundant-lambda-parameter-list)
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

#if defined(__AVX512F__)  // elsewhere a shuffle of two vectors is several instructions
// out[i, j] = in[j, i] for as many rows and columns as a vector has lanes: at step s, blocks of s x
// s off the diagonal of blocks of 2s x 2s change places.
template <class T>
void transpose_square(const T* in, int64_t in_row, T* out, int64_t out_row) {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  using Index = typename Lanes<T>::Index;
  constexpr int kCount = Lanes<T>::kCount;
  Vector row[kCount];
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) row[i] = *reinterpret_cast<const Loose*>(in + i * in_row);
#pragma GCC unroll 4
  for (int s = 1; s < kCount; s *= 2) {
    Index low, high;
    for (int j = 0; j < kCount; ++j) {
      low[j] = j & s ? kCount + j - s : j;
      high[j] = j & s ? kCount + j : j + s;
    }
#pragma GCC unroll 16
    for (int i = 0; i < kCount; ++i) {
      if (i & s) continue;
      const Vector first = row[i];
      row[i] = __builtin_shuffle(first, row[i + s], low);
      row[i + s] = __builtin_shuffle(first, row[i + s], high);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kCount; ++i) *reinterpret_cast<Loose*>(out + i * out_row) = row[i];
}

#endif

// Copies `k` rows of `width` entries to rows of `stride`, a vector or two. What lies behind `width`
// in a row is never stored, so it may be anything; B ends with the last row's `width`.
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
    x.add = first > 0;
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

// --- many small ones

// Entry (r, c) of each matrix of a group to its lane of out[r * columns + c]; zeros for lanes that
// have no matrix. A matrix that all lanes share is read once.
template <class T>
void to_lanes(const T* x, const int64_t* at, int64_t count, int64_t rows, int64_t columns,
              int64_t row, int64_t column, typename Lanes<T>::Vector* out) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const T* from[kCount];
  for (int64_t l = 0; l < kCount; ++l) from[l] = x + at[least(l, count - 1)];
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c, ++out) {
      const int64_t entry = r * row + c * column;
      typename Lanes<T>::Vector v = {};
      for (int64_t l = 0; l < kCount; ++l) v[l] = from[l][entry];
      *out = v;
    }
  }
}

// Sums of kColumns entries of a row of c, each lane a product of its own.
template <class T, int kColumns>
void lane_columns(const typename Lanes<T>::Vector* a, const typename Lanes<T>::Vector* b, int64_t k,
                  int64_t n, typename Lanes<T>::Vector* c) {
  typename Lanes<T>::Vector sum[kColumns] = {};
  for (int64_t d = 0; d < k; ++d) {
    for (int j = 0; j < kColumns; ++j) sum[j] += a[d] * b[d * n + j];
  }
  for (int j = 0; j < kColumns; ++j) c[j] = sum[j];
}

bool all_same(const int64_t* at, int64_t count) {
  for (int64_t i = 1; i < count; ++i) {
    if (at[i] != at[0]) return false;
  }
  return true;
}

// A lane for each product: for sides shorter than a vector.
template <class T>
void across(const ProductCall& p, const int64_t* a_at, const int64_t* b_at, int64_t count) {
  using Vector = typename Lanes<T>::Vector;
  constexpr int64_t kCount = Lanes<T>::kCount;
  Vector a[kSmallSide * kSmallSide];
  Vector b[kSmallSide * kSmallSide];
  Vector c[kSmallSide * kSmallSide];
  auto* out = static_cast<T*>(p.c);
  const bool same_a = all_same(a_at, count);
  const bool same_b = all_same(b_at, count);
  for (int64_t i = 0; i < count; i += kCount) {
    const int64_t lanes = least(kCount, count - i);
    if (i == 0 || !same_a) {
      to_lanes(static_cast<const T*>(p.a), a_at + i, lanes, p.m, p.k, p.a_row, p.a_column, a);
    }
    if (i == 0 || !same_b) {
      to_lanes(static_cast<const T*>(p.b), b_at + i, lanes, p.k, p.n, p.b_row, p.b_column, b);
    }
    for (int64_t r = 0; r < p.m; ++r) {
      int64_t j = 0;
      for (; j + 4 <= p.n; j += 4)
        lane_columns<T, 4>(a + r * p.k, b + j, p.k, p.n, c + r * p.n + j);
      for (; j < p.n; ++j) lane_columns<T, 1>(a + r * p.k, b + j, p.k, p.n, c + r * p.n + j);
    }
    const int64_t size = p.m * p.n;
    const auto* in = reinterpret_cast<const T*>(c);
    for (int64_t l = 0; l < lanes; ++l, out += size) {
      // Filled by lane_columns, which the analyzer does not follow.
      // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign)
      for (int64_t e = 0; e < size; ++e) out[e] = in[e * kCount + l];
    }
  }
}

// kRows entries of a matrix times a vector, each read in vectors along k.
template <class T, int kRows>
void row_sums(const T* a, int64_t a_row, const T* b, int64_t k, T* c) {
  using Vector = typename Lanes<T>::Vector;
  using Loose = typename Lanes<T>::Loose;
  constexpr int64_t kCount = Lanes<T>::kCount;
  Vector sum[kRows] = {};
  int64_t d = 0;
  for (; d + kCount <= k; d += kCount) {
    const Vector right = *reinterpret_cast<const Loose*>(b + d);
    for (int r = 0; r < kRows; ++r) {
      sum[r] += *reinterpret_cast<const Loose*>(a + r * a_row + d) * right;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    T part[kCount];
    *reinterpret_cast<Loose*>(part) = sum[r];
    for (int64_t s = kCount / 2; s > 0; s /= 2) {
      for (int64_t l = 0; l < s; ++l) part[l] += part[l + s];
    }
    T total = part[0];
    for (int64_t rest = d; rest < k; ++rest) total += a[r * a_row + rest] * b[rest];
    c[r] = total;
  }
}

template <class T>
void batch(const ProductCall& p, const int64_t* a_at, const int64_t* b_at, int64_t count) noexcept {
  constexpr int64_t kCount = Lanes<T>::kCount;
  const bool small = p.m <= kSmallSide && p.n <= kSmallSide && p.k <= kSmallSide;
  const bool along_k = p.n == 1 && p.a_column == 1 && p.b_row == 1 && p.k >= kCount;
  if (small && p.n < kCount && !(along_k && p.k >= 2 * kCount)) {
    return across<T>(p, a_at, b_at, count);
  }
  ProductCall one = p;
  for (int64_t i = 0; i < count; ++i) {
    const T* a = static_cast<const T*>(p.a) + a_at[i];
    const T* b = static_cast<const T*>(p.b) + b_at[i];
    T* c = static_cast<T*>(p.c) + i * p.m * p.n;
    if (along_k) {
      int64_t r = 0;
      for (; r + 4 <= p.m; r += 4) row_sums<T, 4>(a + r * p.a_row, p.a_row, b, p.k, c + r);
      for (; r < p.m; ++r) row_sums<T, 1>(a + r * p.a_row, p.a_row, b, p.k, c + r);
    } else {
      one.a = a;
      one.b = b;
      one.c = c;
      product<T>(one);
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const ProductTable kProductTable = {{&product<float>, &product<double>},
                                              {&batch<float>, &batch<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
