// Batched factorisations of small matrices: each lane of a vector has its own matrix, so entry
// e of these matrices is a vector. Lanes are independent, so results depend neither on the batch
// nor on threads.
//
// G. H. Golub, C. F. Van Loan, "Matrix computations", 3.1, 3.4 and 4.2.
#include "backend/cpu/kernels/small_matrices.h"

#include "backend/cpu/kernels/lu_lanes.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// Calls move(e) for entries e … e + kShort - 1, until all are moved. The last may repeat.
template <class T, class Move>
void for_each_short(int64_t used, Move&& move) {
  constexpr int64_t kShort = Lanes<T>::kShort;
  int64_t e = 0;
  for (; e + kShort <= used; e += kShort) move(e);
  if (e < used) move(used - kShort);
}

// Transposes kShort vectors within each sixteen bytes.
template <class T>
void transpose_shorts(Vector<T>* v) {
  if constexpr (Lanes<T>::kShort == 2) Lanes<T>::transpose(v[0], v[1]);
  if constexpr (Lanes<T>::kShort == 4) Lanes<T>::transpose(v[0], v[1], v[2], v[3]);
}

// Loads entries of `count` matrices of `size` entries, `used` entries from `first` on. Lanes after
// the last matrix repeat the first one.
template <class T>
void transpose(const T* x, int64_t size, int64_t count, int64_t first, int64_t used,
               Vector<T>* to) {
  constexpr int64_t kCount = kLanes<T>;
  constexpr int kShort = Lanes<T>::kShort;
  if (count >= kCount && size == 1) {
    to[0] = Lanes<T>::load(x);
    return;
  }
  if (count >= kCount && used >= kShort) {
    return for_each_short<T>(used, [&](int64_t e) {
      Vector<T> v[kShort];
      for (int of = 0; of < kShort; ++of) {
        v[of] =
            Lanes<T>::load_shorts([&](int i) { return x + (i * kShort + of) * size + first + e; });
      }
      transpose_shorts<T>(v);
      for (int of = 0; of < kShort; ++of) to[e + of] = v[of];
    });
  }
  const T* from[kCount];
  for (int64_t l = 0; l < kCount; ++l) from[l] = x + (l < count ? l : 0) * size + first;
  T* out = reinterpret_cast<T*>(to);
  for (int64_t e = 0; e < used; ++e) {
    for (int64_t l = 0; l < kCount; ++l) out[e * kCount + l] = from[l][e];
  }
}

template <class T>
void turn_back(const Vector<T>* from, int64_t size, int64_t count, int64_t first, int64_t used,
               T* x) {
  constexpr int64_t kCount = kLanes<T>;
  constexpr int kShort = Lanes<T>::kShort;
  if (count >= kCount && used >= kShort) {
    return for_each_short<T>(used, [&](int64_t e) {
      Vector<T> v[kShort];
      for (int of = 0; of < kShort; ++of) v[of] = from[e + of];
      transpose_shorts<T>(v);
      for (int of = 0; of < kShort; ++of) {
        Lanes<T>::store_shorts(v[of],
                               [&](int i) { return x + (i * kShort + of) * size + first + e; });
      }
    });
  }
  const T* in = reinterpret_cast<const T*>(from);
  for (int64_t l = 0; l < least(count, kCount); ++l) {
    for (int64_t e = 0; e < used; ++e) x[l * size + first + e] = in[e * kCount + l];
  }
}

// Loads `columns` columns, from the first entry of b on, of `count` matrices of n rows and k
// columns.
template <class T>
void load_columns(const T* b, int64_t n, int64_t k, int64_t count, int64_t columns, Vector<T>* to) {
  if (columns == k) return transpose(b, n * k, count, 0, n * k, to);
  for (int64_t r = 0; r < n; ++r) transpose(b, n * k, count, r * k, columns, to + r * columns);
}

template <class T>
void store_columns(const Vector<T>* from, int64_t n, int64_t k, int64_t count, int64_t columns,
                   T* x) {
  if (columns == k) return turn_back(from, n * k, count, 0, n * k, x);
  for (int64_t r = 0; r < n; ++r) turn_back(from + r * columns, n * k, count, r * k, columns, x);
}

// Calls f<n> with n as a constant if it is very small, else f<0>.
template <class F>
void by_size(int64_t n, F&& f) {
  switch (n) {
    case 1:
      return f.template operator()<1>();
    case 2:
      return f.template operator()<2>();
    case 3:
      return f.template operator()<3>();
    case 4:
      return f.template operator()<4>();
    default:
      return f.template operator()<0>();
  }
}

// --- LU with partial pivoting

template <class T>
void lu(const SmallLu& call) noexcept {
  const int64_t n = call.n, size = n * n;
  const bool factors = call.packed || call.positions;
  LuLanes<T> lanes;
  for (int64_t i = 0; i < call.count; i += kLanes<T>) {
    const int64_t count = least(call.count - i, kLanes<T>);
    transpose(static_cast<const T*>(call.a) + i * size, size, count, 0, size, lanes.a);
    by_size(n, [&]<int kFixed> {
      factors ? lanes.template factorise<kFixed>(n) : lanes.template factorise<kFixed, false>(n);
    });
    if (call.packed) {
      turn_back(lanes.a, size, count, 0, size, static_cast<T*>(call.packed) + i * size);
    }
    for (int64_t l = 0; l < count && call.positions; ++l) {
      for (int64_t r = 0; r < n; ++r) call.positions[(i + l) * n + r] = lanes.places[r][l];
    }
    for (int64_t l = 0; l < count && call.sign; ++l) {
      static_cast<T*>(call.sign)[i + l] = lanes.sign[l];
    }
    if (!call.det) continue;
    double product[kLanes<T>];
    const bool inside = diagonal_products(lanes, n, product);
    T* det = static_cast<T*>(call.det) + i;
    if (inside && count == kLanes<T>) {
      for (int64_t l = 0; l < kLanes<T>; ++l) det[l] = static_cast<T>(product[l]);
    } else {
      for (int64_t l = 0; l < count; ++l) {
        det[l] = static_cast<T>(inside ? product[l] : scaled_product(lanes, n, l));
      }
    }
  }
}

// --- Cholesky

// The smallest diagonal entry before its root was taken; NaN counts as a failure.
template <class T, int kFixed>
Vector<T> cholesky_lanes(Vector<T>* a, int64_t given) {
  using V = Vector<T>;
  constexpr int64_t kCount = kLanes<T>;
  const int64_t n = kFixed ? kFixed : given;
  V smallest = V{} + 1;
  for (int64_t j = 0; j < n; ++j) {
    V root = a[j * n + j];
    for (int64_t k = 0; k < j; ++k) root -= a[j * n + k] * a[j * n + k];
    smallest = root < smallest ? root : smallest;
    for (int64_t l = 0; l < kCount; ++l) root[l] = __builtin_sqrt(root[l]);
    a[j * n + j] = root;
    for (int64_t i = j + 1; i < n; ++i) {
      V sum = a[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = sum / root;
      a[j * n + i] = V{};
    }
  }
  return smallest;
}

template <class T>
int64_t cholesky(const SmallCholesky& call) noexcept {
  const int64_t n = call.n, size = n * n;
  Vector<T> lanes[kSmallMatrix * kSmallMatrix];
  for (int64_t i = 0; i < call.count; i += kLanes<T>) {
    const int64_t count = least(call.count - i, kLanes<T>);
    transpose(static_cast<const T*>(call.a) + i * size, size, count, 0, size, lanes);
    Vector<T> smallest{};
    by_size(n, [&]<int kFixed> { smallest = cholesky_lanes<T, kFixed>(lanes, n); });
    for (int64_t l = 0; l < count; ++l) {
      if (smallest[l] <= 0) return i + l;
    }
    turn_back(lanes, size, count, 0, size, static_cast<T*>(call.l) + i * size);
  }
  return -1;
}

// --- triangular systems

template <class T, int kFixed>
void triangular_lanes(const Vector<T>* t, Vector<T>* x, int64_t columns, const SmallTriangular& p) {
  using V = Vector<T>;
  const int64_t n = kFixed ? kFixed : p.n;
  const int64_t row = p.transposed ? 1 : n, column = p.transposed ? n : 1;
  const bool forward = p.lower != p.transposed;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t i = forward ? step : n - 1 - step;
    for (int64_t c = 0; c < columns; ++c) {
      V sum = x[i * columns + c];
      for (int64_t before = 0; before < step; ++before) {
        const int64_t j = forward ? before : n - 1 - before;
        sum -= t[i * row + j * column] * x[j * columns + c];
      }
      x[i * columns + c] = p.unit ? sum : sum / t[i * row + i * column];
    }
  }
}

template <class T>
int64_t triangular(const SmallTriangular& call) noexcept {
  const int64_t n = call.n, size = n * n, right = n * call.k;
  Vector<T> t[kSmallMatrix * kSmallMatrix];
  Vector<T> x[kSmallMatrix * kSmallMatrix];
  for (int64_t i = 0; i < call.count; i += kLanes<T>) {
    const int64_t count = least(call.count - i, kLanes<T>);
    const T* matrices = static_cast<const T*>(call.t) + i * size;
    for (int64_t l = 0; l < count && !call.unit; ++l) {
      for (int64_t r = 0; r < n; ++r) {
        if (matrices[l * size + r * (n + 1)] == 0) return i + l;
      }
    }
    transpose(matrices, size, count, 0, size, t);
    for (int64_t c = 0; c < call.k; c += kSmallMatrix) {
      const int64_t columns = least(call.k - c, kSmallMatrix);
      const T* b = static_cast<const T*>(call.b) + i * right + c;
      T* out = static_cast<T*>(call.x) + i * right + c;
      load_columns(b, n, call.k, count, columns, x);
      by_size(n, [&]<int kFixed> { triangular_lanes<T, kFixed>(t, x, columns, call); });
      store_columns(x, n, call.k, count, columns, out);
    }
  }
  return -1;
}

// --- systems of any square matrix

// y[i] = x[places[i]] for rows of `columns` entries or, if `back`, y[places[i]] = x[i].
template <class T, int kFixed>
void permute_rows(const LuLanes<T>& lanes, int64_t given, int64_t columns, bool back,
                  const Vector<T>* x, Vector<T>* y) {
  const int64_t n = kFixed ? kFixed : given;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < columns; ++c) y[i * columns + c] = x[c];
    for (int64_t j = 1; j < n; ++j) {
      const auto here = back ? lanes.places[j] == LuLanes<T>::number(i)
                             : lanes.places[i] == LuLanes<T>::number(j);
      for (int64_t c = 0; c < columns; ++c) {
        y[i * columns + c] = here ? x[j * columns + c] : y[i * columns + c];
      }
    }
  }
}

template <class T, int kFixed>
void solve_lanes(const LuLanes<T>& lanes, int64_t columns, const SmallSolve& p, Vector<T>* x,
                 Vector<T>* scratch) {
  const SmallTriangular l{p.n, p.k, 0, true, true, p.transposed, nullptr, nullptr, nullptr};
  const SmallTriangular u{p.n, p.k, 0, false, false, p.transposed, nullptr, nullptr, nullptr};
  if (p.transposed) {
    triangular_lanes<T, kFixed>(lanes.a, scratch, columns, u);
    triangular_lanes<T, kFixed>(lanes.a, scratch, columns, l);
    permute_rows<T, kFixed>(lanes, p.n, columns, true, scratch, x);
  } else {
    permute_rows<T, kFixed>(lanes, p.n, columns, false, scratch, x);
    triangular_lanes<T, kFixed>(lanes.a, x, columns, l);
    triangular_lanes<T, kFixed>(lanes.a, x, columns, u);
  }
}

template <class T>
int64_t solve(const SmallSolve& call) noexcept {
  const int64_t n = call.n, size = n * n, right = n * call.k;
  LuLanes<T> lanes;
  Vector<T> x[kSmallSolve * kSmallMatrix] = {};
  Vector<T> b[kSmallSolve * kSmallMatrix] = {};
  for (int64_t i = 0; i < call.count; i += kLanes<T>) {
    const int64_t count = least(call.count - i, kLanes<T>);
    transpose(static_cast<const T*>(call.a) + i * size, size, count, 0, size, lanes.a);
    by_size(n, [&]<int kFixed> { lanes.template factorise<kFixed>(n); });
    for (int64_t l = 0; l < count; ++l) {
      for (int64_t r = 0; r < n; ++r) {
        if (lanes.a[r * (n + 1)][l] == 0) return i + l;
      }
    }
    for (int64_t c = 0; c < call.k; c += kSmallMatrix) {
      const int64_t columns = least(call.k - c, kSmallMatrix);
      if (call.b) {
        load_columns(static_cast<const T*>(call.b) + i * right + c, n, call.k, count, columns, b);
      } else {
        for (int64_t e = 0; e < size; ++e) b[e] = Vector<T>{} + T(e % (n + 1) == 0);
      }
      by_size(n, [&]<int kFixed> { solve_lanes<T, kFixed>(lanes, columns, call, x, b); });
      store_columns(x, n, call.k, count, columns, static_cast<T*>(call.x) + i * right + c);
    }
  }
  return -1;
}

}  // namespace

namespace PULLBACK_KERNELS {

constinit const SmallMatrixTable kSmallMatrixTable = {{&lu<float>, &lu<double>},
                                                      {&cholesky<float>, &cholesky<double>},
                                                      {&triangular<float>, &triangular<double>},
                                                      {&solve<float>, &solve<double>}};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
