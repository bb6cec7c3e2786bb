// Many small products C = A B at once.
//
// If rows of C are shorter than a vector, each lane computes its own product: as many matrices as a
// vector has lanes are transposed, so that entry e of all of them is a vector, multiplied, and the
// results transposed back. Matrices are loaded in groups of sixteen bytes and keep their order of
// entries, including gaps, so any strides are valid. Otherwise a matrix times a vector is read
// along its rows, and other products use the kernel of one product. The order of additions depends
// on the shape and the width of a vector alone.
#include "backend/cpu/kernels/lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

using PULLBACK_KERNELS::Lanes;

constexpr int64_t kEntries = kSmallSide * kSmallSide;

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// One operand: its matrices in memory, and the place of entry (r, c) in lanes.
template <class T>
struct Transposed {
  static constexpr int64_t kCount = Lanes<T>::kCount;
  static constexpr int64_t kShort = Lanes<T>::kShort;
  using Vector = typename Lanes<T>::Vector;
  using Short = typename Lanes<T>::Short;

  alignas(64) T lanes[(kEntries + kShort) * kCount];
  const T* x;
  const int64_t* at;
  int64_t row, column;            // strides of the matrices in memory
  int64_t lane_row, lane_column;  // and in lanes
  int64_t entries;                // of a matrix in lanes
  int64_t last;                   // largest offset in a matrix
  bool whole;                     // entries are those of memory, without gaps or reordering
  bool same;                      // one matrix for all products

  Transposed(const void* x, const int64_t* at, int64_t count, int64_t rows, int64_t columns,
             int64_t row, int64_t column)
      : x(static_cast<const T*>(x)), at(at), row(row), column(column), last(at[0]) {
    const int64_t span = (rows - 1) * row + (columns - 1) * column + 1;
    whole = (rows == 1 || row > 0) && (columns == 1 || column > 0) && span <= kEntries &&
            span <= 2 * rows * columns;
    entries = whole ? span : rows * columns;
    lane_row = whole ? row : columns;
    lane_column = whole ? column : 1;
    int64_t differences = 0;
    for (int64_t i = 1; i < count; ++i) {
      differences |= at[i] ^ at[0];
      last = at[i] > last ? at[i] : last;
    }
    same = differences == 0;
  }

  // The matrices from `first` on; lanes from `count` on repeat the first one.
  void transpose(int64_t first, int64_t count, int64_t rows, int64_t columns) {
    const T* from[kCount];
    for (int64_t l = 0; l < kCount; ++l) from[l] = x + at[first + (l < count ? l : 0)];
    if (!whole) {
      T* to = lanes;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c, to += kCount) {
          for (int64_t l = 0; l < kCount; ++l) to[l] = from[l][r * row + c * column];
        }
      }
      return;
    }
    // Memory after a matrix may be read if another matrix is there.
    int64_t highest = 0;
    for (int64_t l = 0; l < least(count, kCount); ++l) {
      if (at[first + l] > highest || l == 0) highest = at[first + l];
    }
    const int64_t readable = last - highest + entries;
    int64_t e = 0;
    for (; e < entries && e + kShort <= readable; e += kShort) turn_short(from, e);
    if (e < entries && entries >= kShort) {
      turn_short(from, entries - kShort);
      e = entries;
    }
    for (; e < entries; ++e) {
      for (int64_t l = 0; l < kCount; ++l) lanes[e * kCount + l] = from[l][e];
    }
  }

 private:
  void turn_short(const T* const* from, int64_t e) {
    T* to = lanes + e * kCount;
    Vector v0 = Lanes<T>::joined(from, e);
    Vector v1 = Lanes<T>::joined(from + 1, e);
    if constexpr (kShort == 2) {
      Lanes<T>::transpose(v0, v1);
    } else {
      Vector v2 = Lanes<T>::joined(from + 2, e);
      Vector v3 = Lanes<T>::joined(from + 3, e);
      Lanes<T>::transpose(v0, v1, v2, v3);
      Lanes<T>::store(to + 2 * kCount, v2);
      Lanes<T>::store(to + 3 * kCount, v3);
    }
    Lanes<T>::store(to, v0);
    Lanes<T>::store(to + kCount, v1);
  }
};

// Stores sixteen bytes, from entry e on, of each result.
template <class T>
void turn_back_short(const T* lanes, int64_t e, T* out, int64_t size) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  constexpr int kShort = Lanes<T>::kShort;
  using Vector = typename Lanes<T>::Vector;
  lanes += e * kCount;
  out += e;
  Vector v0 = Lanes<T>::load(lanes);
  Vector v1 = Lanes<T>::load(lanes + kCount);
  const auto put = [&]<int s>(const Vector& v, int64_t i) {
    Lanes<T>::store_short(out + (s * kShort + i) * size, Lanes<T>::template part<s>(v));
  };
  const auto put_all = [&](const Vector& v, int64_t i) {
    put.template operator()<0>(v, i);
    if constexpr (Lanes<T>::kShorts > 1) put.template operator()<1>(v, i);
    if constexpr (Lanes<T>::kShorts > 2) {
      put.template operator()<2>(v, i);
      put.template operator()<3>(v, i);
    }
  };
  if constexpr (kShort == 2) {
    Lanes<T>::transpose(v0, v1);
  } else {
    Vector v2 = Lanes<T>::load(lanes + 2 * kCount);
    Vector v3 = Lanes<T>::load(lanes + 3 * kCount);
    Lanes<T>::transpose(v0, v1, v2, v3);
    put_all(v2, 2);
    put_all(v3, 3);
  }
  put_all(v0, 0);
  put_all(v1, 1);
}

// For results of two or three entries: stores sixteen bytes for each, in order, so that each result
// overwrites the excess of the one before. The last one requires memory after it.
template <class T>
void turn_back_narrow(const T* lanes, int64_t size, T* out) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  using Vector = typename Lanes<T>::Vector;
  Vector v0 = Lanes<T>::load(lanes);
  Vector v1 = Lanes<T>::load(lanes + kCount);
  Vector v2 = size > 2 ? Lanes<T>::load(lanes + 2 * kCount) : v0;
  Vector v3 = v0;
  Lanes<T>::transpose(v0, v1, v2, v3);
  // C++20 requires the empty list.  NOLINTNEXTLINE(readability-redundant-lambda-parameter-list)
  const auto put = [&]<int s>() {
    Lanes<T>::store_short(out, Lanes<T>::template part<s>(v0));
    Lanes<T>::store_short(out + size, Lanes<T>::template part<s>(v1));
    Lanes<T>::store_short(out + 2 * size, Lanes<T>::template part<s>(v2));
    Lanes<T>::store_short(out + 3 * size, Lanes<T>::template part<s>(v3));
    out += 4 * size;
  };
  put.template operator()<0>();
  if constexpr (Lanes<T>::kShorts > 1) put.template operator()<1>();
  if constexpr (Lanes<T>::kShorts > 2) {
    put.template operator()<2>();
    put.template operator()<3>();
  }
}

// Stores the results of `count` products, `size` entries each, contiguously. `more`: memory of
// another product follows.
template <class T>
void turn_back(const T* lanes, int64_t count, bool more, int64_t size, T* out) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  constexpr int kShort = Lanes<T>::kShort;
  if constexpr (kShort == 4) {
    if (more && (size == 2 || size == 3)) return turn_back_narrow<T>(lanes, size, out);
  }
  if (count == kCount && size >= kShort) {
    int64_t e = 0;
    for (; e + kShort <= size; e += kShort) turn_back_short<T>(lanes, e, out, size);
    if (e < size) turn_back_short<T>(lanes, size - kShort, out, size);
    return;
  }
  for (int64_t l = 0; l < count; ++l, out += size) {
    for (int64_t e = 0; e < size; ++e) {
      // `size` entries were computed; the analyzer assumes m < 0.
      out[e] = lanes[e * kCount + l];  // NOLINT(clang-analyzer-core.uninitialized.Assign)
    }
  }
}

// Computes kColumns entries of a row of c; each lane is a separate product.
template <class T, int kColumns>
inline void lane_columns(const T* a, int64_t a_column, const T* b, int64_t b_row, int64_t b_column,
                         int64_t k, T* c) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  typename Lanes<T>::Vector sum[kColumns] = {};
  for (int64_t d = 0; d < k; ++d, a += a_column, b += b_row) {
    const typename Lanes<T>::Vector left = Lanes<T>::load(a);
    for (int j = 0; j < kColumns; ++j) sum[j] += left * Lanes<T>::load(b + j * b_column);
  }
  for (int j = 0; j < kColumns; ++j) Lanes<T>::store(c + j * kCount, sum[j]);
}

template <class T>
void across(const ProductCall& p, const int64_t* a_at, const int64_t* b_at, int64_t count) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  Transposed<T> a(p.a, a_at, count, p.m, p.k, p.a_row, p.a_column);
  Transposed<T> b(p.b, b_at, count, p.k, p.n, p.b_row, p.b_column);
  alignas(64) T c[kEntries * kCount];
  auto* out = static_cast<T*>(p.c);
  const int64_t size = p.m * p.n;
  const int64_t a_row = a.lane_row * kCount, a_column = a.lane_column * kCount;
  const int64_t b_row = b.lane_row * kCount, b_column = b.lane_column * kCount;
  for (int64_t i = 0; i < count; i += kCount, out += kCount * size) {
    const int64_t some = least(kCount, count - i);
    if (i == 0 || !a.same) a.transpose(i, some, p.m, p.k);
    if (i == 0 || !b.same) b.transpose(i, some, p.k, p.n);
    T* to = c;
    for (int64_t r = 0; r < p.m; ++r) {
      const T* left = a.lanes + r * a_row;
      const T* right = b.lanes;
      int64_t j = p.n;
      // C++20 requires the empty list.  NOLINTNEXTLINE(readability-redundant-lambda-parameter-list)
      const auto go = [&]<int kColumns>() {
        lane_columns<T, kColumns>(left, a_column, right, b_row, b_column, p.k, to);
        right += kColumns * b_column;
        to += kColumns * kCount;
      };
      for (; j > 4; j -= 4) go.template operator()<4>();
      if (j == 4) go.template operator()<4>();
      if (j == 3) go.template operator()<3>();
      if (j == 2) go.template operator()<2>();
      if (j == 1) go.template operator()<1>();
    }
    turn_back<T>(c, some, count - i > kCount, size, out);
  }
}

// kRows entries of a matrix times a vector, each summed in vectors along k.
template <class T, int kRows>
void row_sums(const T* a, int64_t a_row, const T* b, int64_t k, T* c) {
  using Vector = typename Lanes<T>::Vector;
  constexpr int64_t kCount = Lanes<T>::kCount;
  Vector sum[kRows] = {};
  int64_t d = 0;
  for (; d + kCount <= k; d += kCount) {
    const Vector right = Lanes<T>::load(b + d);
    for (int r = 0; r < kRows; ++r) sum[r] += Lanes<T>::load(a + r * a_row + d) * right;
  }
  for (int r = 0; r < kRows; ++r) {
    T part[kCount];
    Lanes<T>::store(part, sum[r]);
    for (int64_t s = kCount / 2; s > 0; s /= 2) {
      for (int64_t l = 0; l < s; ++l) part[l] += part[l + s];
    }
    T total = part[0];
    for (int64_t rest = d; rest < k; ++rest) total += a[r * a_row + rest] * b[rest];
    c[r] = total;
  }
}

// True if lanes for products are faster than the kernel of one product, which is best if C has
// whole vectors and B is stored by rows. Measured with AVX2: 8x8x8 float32, 4x8x4 float64.
template <class T>
bool goes_across(const ProductCall& p) {
  constexpr int64_t kCount = Lanes<T>::kCount;
  constexpr int64_t kSquare = kCount < 8 ? kCount * kCount : 64;
  if (p.m > kSmallSide || p.n > kSmallSide || p.k > kSmallSide) return false;
  const bool whole = p.n % kCount == 0 && p.b_column == 1;
  return p.n < kCount || p.m * p.k * p.n <= (whole ? 8 : 32) * kSquare;
}

template <class T>
void batch(const ProductCall& p, const int64_t* a_at, const int64_t* b_at, int64_t count) noexcept {
  if (goes_across<T>(p)) return across<T>(p, a_at, b_at, count);
  const bool along_k = p.n == 1 && p.a_column == 1 && p.b_row == 1 && p.k >= Lanes<T>::kCount;
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
      PULLBACK_KERNELS::kProductTable.of[sizeof(T) == 8](one);
    }
  }
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const BatchTable kBatchTable = {{&batch<float>, &batch<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
