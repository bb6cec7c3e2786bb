// Folds of one tile into accumulators: sum, max, min, all, any, euclidean_norm.
//
// The order of additions depends on sizes alone, never on the instruction set. A row is cut into
// leaves; each leaf runs in kLanes lanes that are combined as a tree, its rest in smaller trees.
// Columns run row by row (narrow ones in column_lanes). Tiles are cut and combined in
// group_run.cpp. The folds themselves are in folds.h. Compiled once per instruction set, flags as
// in elementwise.h.
#include "backend/cpu/kernels/folds.h"
#include "backend/cpu/kernels/table.h"

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback {
namespace {

// Folds as many short rows side by side as a vector has lanes; alone, each would wait for each of
// its operations. The order of additions is that of a single short row. Sixteen bytes of each row
// become vectors by a transpose: the last ones of a row, which may begin with entries that were
// folded before, or ones that reach into the next row.
template <class Fold>
PULLBACK_INLINE void fold_short_rows(const typename Fold::Value* x, int64_t length,
                                     typename Fold::Accumulator* sum) {
  using L = Lanes<typename Fold::Value>;
  constexpr int kShort = L::kShort;
  typename Fold::Rows rows(sum);
  const auto load = [&](int64_t first, auto&& add) {
    const auto part = [&](int of) {
      return L::load_shorts([&](int i) { return x + first + (i * kShort + of) * length; });
    };
    auto v0 = part(0);
    auto v1 = part(1);
    if constexpr (kShort == 2) {
      L::transpose(v0, v1);
      add(v0, v1, v0, v1);
    } else {
      auto v2 = part(2);
      auto v3 = part(3);
      L::transpose(v0, v1, v2, v3);
      add(v0, v1, v2, v3);
    }
  };
  using Vector = typename L::Vector;
  int64_t done = 0;
  for (; done + kShort <= length; done += kShort) {
    load(done, [&](const Vector& v0, const Vector& v1, const Vector& v2, const Vector& v3) {
      rows.add(v0);
      rows.add(v1);
      if (kShort > 2) rows.add(v2);
      if (kShort > 2) rows.add(v3);
    });
  }
  if (done == 0) {
    load(0, [&](const Vector& v0, const Vector& v1, const Vector& v2, const Vector&) {
      rows.add(v0);
      rows.add(v1);
      if (length > 2) rows.add(v2);
    });
  } else if (done < length) {
    load(length - kShort, [&](const Vector&, const Vector& v1, const Vector& v2, const Vector& v3) {
      if (length - done > 2) rows.add(v1);
      if (length - done > 1) rows.add(v2);
      rows.add(v3);
    });
  }
  rows.store(sum);
}

// For float sums: rows of several leaves, in blocks of at most kLeaf values.
template <class Fold>
[[gnu::noinline]] void fold_long_rows(const typename Fold::Value* x, int64_t count, int64_t length,
                                      typename Fold::Accumulator* sum) {
  using Sum = typename Fold::Accumulator;
  Sum sums[kLeaf];
  for (int64_t r = 0; r < count; ++r) {
    int64_t leaves = 0;
    for (int64_t left = length; left > 0; left -= kLeaf) {
      const int64_t n = left < kLeaf ? left : kLeaf;
      sums[leaves++] = Fold::row(x, n);
      x += n;
    }
    sum[r] += SumFold<Sum, Sum, Fold::kType>::row(sums, leaves);
  }
}

// The same for norms.
template <class T>
[[gnu::noinline]] void norm_long_rows(const T* x, int64_t count, int64_t length, double* norm) {
  double norms[kLeaf];
  for (int64_t r = 0; r < count; ++r) {
    int64_t leaves = 0;
    for (int64_t left = length; left > 0; left -= kLeaf) {
      const int64_t n = left < kLeaf ? left : kLeaf;
      norms[leaves++] = NormFold<T>::row(x, n);
      x += n;
    }
    norm[r] = NormFold<double>::row(norms, leaves);
  }
}

template <class T>
void norm_rows(const void* values, int64_t count, int64_t length, void* accumulator) noexcept {
  using Squares = typename NormFold<T>::template Squares<0>;
  const auto* x = static_cast<const T*>(values);
  auto* norm = static_cast<double*>(accumulator);
  if (length > kLeaf) return norm_long_rows(x, count, length, norm);
  constexpr int64_t kCount = Lanes<T>::kCount;
  const int64_t beyond = length < Lanes<T>::kShort;
  int64_t r = 0;
  for (; length > 1 && length < kLanes && r + kCount + beyond <= count; r += kCount) {
    double sums[kCount] = {};
    fold_short_rows<Squares>(x + r * length, length, sums);
    bool accurate = true;
    for (int64_t j = 0; j < kCount; ++j) accurate &= NormFold<T>::is_accurate(sums[j]);
    if (accurate) {
      for (int64_t j = 0; j < kCount; ++j) norm[r + j] = m::sqrt(sums[j]);
      continue;
    }
    for (int64_t j = 0; j < kCount; ++j) {
      norm[r + j] = NormFold<T>::root(x + (r + j) * length, length, sums[j]);
    }
  }
  for (; r < count; ++r) norm[r] = NormFold<T>::row(x + r * length, length);
}

template <class T>
void norm_leaf(const void* values, int64_t n, int64_t at, int64_t length, void* state,
               void* accumulator) noexcept {
  const auto* x = static_cast<const T*>(values);
  auto* leaf = static_cast<T*>(state);
  for (int64_t i = 0; i < n; ++i) leaf[at + i] = x[i];
  if (at + n == length) *static_cast<double*>(accumulator) = NormFold<T>::row(leaf, length);
}

template <class Fold>
void rows(const void* values, int64_t count, int64_t length, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  int64_t r = 0;
  if constexpr (Fold::kMerge == Op::add && m::kFloat<typename Fold::Value>) {
    if (length > kLeaf) return fold_long_rows<Fold>(x, count, length, sum);
  }
  if constexpr (Fold::kSideBySide) {
    using L = Lanes<typename Fold::Value>;
    const int64_t beyond = length < L::kShort;  // rows that are read, but not folded
    for (; length > 1 && length < kLanes && r + L::kCount + beyond <= count; r += L::kCount) {
      fold_short_rows<Fold>(x + r * length, length, sum + r);
    }
  }
  for (; r < count; ++r) {
    sum[r] = Fold::merge(sum[r], Fold::row(x + r * length, length));
  }
}

template <class Fold>
void leaf(const void* values, int64_t n, int64_t at, int64_t length, void* state,
          void* accumulator) noexcept {
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  auto* lanes = static_cast<typename Fold::Accumulator*>(state);
  Fold::add_part(static_cast<const typename Fold::Value*>(values), n, at, length, lanes);
  if (at + n == length) *sum += Fold::sum_of(lanes, length);
}

// For many rows that are short or in the cache: some columns at a time, whose sums stay in
// registers. Other rows are read in the order of memory, which prefetching needs.
template <class Fold>
[[gnu::noinline]] void add_rows(const typename Fold::Value* x, int64_t count, int64_t width,
                                typename Fold::Accumulator* sum) {
  constexpr int64_t kSome = 32;
  constexpr int64_t kMany = 8;
  constexpr int64_t kShort = 64;
  constexpr int64_t kCached = 4 * 1024;  // values
  const bool near = width <= kShort || count * width <= kCached;
  const bool in_registers = Fold::kInRegisters && count >= kMany && near && width % kSome == 0;
  for (int64_t done = 0; in_registers && done < width; done += kSome) {
    typename Fold::Accumulator lane[kSome];
    for (int64_t j = 0; j < kSome; ++j) lane[j] = sum[done + j];
    for (int64_t r = 0; r < count; ++r) {
      const typename Fold::Value* row = x + r * width + done;
      for (int64_t j = 0; j < kSome; ++j) lane[j] = Fold::merge(lane[j], Fold::lift(row[j]));
    }
    for (int64_t j = 0; j < kSome; ++j) sum[done + j] = lane[j];
  }
  for (int64_t r = 0; r < count && !in_registers; ++r, x += width) {
#pragma GCC ivdep
    for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], Fold::lift(x[j]));
  }
}

template <class Fold>
void lanes_of_columns(const void* values, int64_t count, int64_t width, int64_t lanes,
                      int64_t first, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  if (lanes == 1) return add_rows<Fold>(x, count, width, sum);
  if (const int64_t at = first % lanes) {
    const int64_t some = lanes - at < count ? lanes - at : count;
    add_rows<Fold>(x, 1, some * width, sum + at * width);
    x += some * width;
    count -= some;
  }
  const int64_t turns = count / lanes;
  add_rows<Fold>(x, turns, lanes * width, sum);
  add_rows<Fold>(x + turns * lanes * width, 1, (count - turns * lanes) * width, sum);
}

template <class Fold>
void columns(const void* values, int64_t count, int64_t width, void* accumulator) noexcept {
  const auto* x = static_cast<const typename Fold::Value*>(values);
  auto* sum = static_cast<typename Fold::Accumulator*>(accumulator);
  const int64_t lanes = column_lanes(width);
  if (count <= lanes || lanes == 1) return add_rows<Fold>(x, count, width, sum);
  typename Fold::Accumulator wide[64];
  for (auto& w : wide) w = Fold::kIdentity;
  lanes_of_columns<Fold>(values, count, width, lanes, 0, wide);
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t j = 0; j < width; ++j) sum[j] = Fold::merge(sum[j], wide[lane * width + j]);
  }
}

// Adds rows that are `stride` apart to some columns at a time, as if no value were large or small,
// and once more if one is.
[[gnu::noinline]] void add_squares(const double* x, int64_t count, int64_t width, int64_t stride,
                                   double* sum, int64_t part) {
  constexpr int64_t kSome = 32;
  for (int64_t done = 0; done < width; done += kSome) {
    const auto add = [&](int64_t some) {
      double lane[kSome];
      for (int64_t j = 0; j < some; ++j) lane[j] = sum[done + j];
      for (int64_t r = 0; r < count; ++r) {
        const double* row = x + r * stride + done;
        for (int64_t j = 0; j < some; ++j) lane[j] += row[j] * row[j];
      }
      if (!ColumnNorms::are_accurate(lane, some)) {
        return ColumnNorms::add_by_size(x + done, count, some, stride, sum + done, part);
      }
      for (int64_t j = 0; j < some; ++j) sum[done + j] = lane[j];
    };
    if (width - done >= kSome) {
      add(kSome);
    } else {
      add(width - done);
    }
  }
}

template <class T>
void norm_lanes(const void* values, int64_t count, int64_t width, int64_t lanes, int64_t first,
                void* accumulator) noexcept {
  if constexpr (ColumnNorms::kParts<T> == 1) {
    using Squares = typename NormFold<T>::template Squares<0>;
    lanes_of_columns<Squares>(values, count, width, lanes, first, accumulator);
  } else {
    const auto* x = static_cast<const double*>(values);
    auto* sum = static_cast<double*>(accumulator);
    const int64_t all = lanes * width;
    if (const int64_t at = first % lanes) {
      const int64_t some = lanes - at < count ? lanes - at : count;
      add_squares(x, 1, some * width, 0, sum + at * width, all);
      x += some * width;
      count -= some;
    }
    const int64_t turns = count / lanes;
    if (turns > 0) add_squares(x, turns, all, all, sum, all);
    add_squares(x + turns * all, 1, (count - turns * lanes) * width, 0, sum, all);
  }
}

template <class T>
void norm_columns(const void* values, int64_t count, int64_t width, void* accumulator) noexcept {
  constexpr int64_t kParts = ColumnNorms::kParts<T>;
  const int64_t lanes = column_lanes(width);
  if (count <= lanes || lanes == 1) return norm_lanes<T>(values, count, width, 1, 0, accumulator);
  auto* sum = static_cast<double*>(accumulator);
  double wide[kParts * 64] = {};
  norm_lanes<T>(values, count, width, lanes, 0, wide);
  for (int64_t i = 0; i < kParts * lanes; ++i) {
    for (int64_t j = 0; j < width; ++j) sum[i / lanes * width + j] += wide[i * width + j];
  }
}

template <class T>
int finish_norms(void* out, const void* sums, const void* large, const void* small,
                 int64_t n) noexcept {
  auto* y = static_cast<T*>(out);
  const auto* a = static_cast<const double*>(sums);
  const auto* b = static_cast<const double*>(large);
  const auto* c = static_cast<const double*>(small);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (ColumnNorms::kParts<T> == 1) {
      y[i] = static_cast<T>(m::sqrt(a[i]));
    } else {
      y[i] = ColumnNorms::root(a[i], b[i], c[i]);
    }
  }
  return kFine;
}

constexpr int64_t kSumState = 2 * kLanes * static_cast<int64_t>(sizeof(double));

template <class F>
constexpr bool kHasLeaves = F::kMerge == Op::add && m::kFloat<typename F::Value>;

template <class F>
constexpr auto leaf_of() -> decltype(Fold::leaf) {
  if constexpr (kHasLeaves<F>) return &leaf<F>;
  return nullptr;
}

template <class F>
constexpr Fold entry() {
  Scalar identity{};
  if constexpr (m::kFloat<typename F::Accumulator>) {
    identity.f = F::kIdentity;
  } else {
    identity.i = F::kIdentity;
  }
  return {F::kType,
          F::kMerge,
          identity,
          &rows<F>,
          kHasLeaves<F> ? kSumState : 0,
          leaf_of<F>(),
          &columns<F>,
          &lanes_of_columns<F>};
}

template <class T>
constexpr Fold norm_entry() {
  Scalar identity{};
  identity.f = 0;
  return {DType::Float64,
          Op::add,  // of columns; leaves are merged by the norm of their norms
          identity,
          &norm_rows<T>,
          kLeaf * static_cast<int64_t>(sizeof(T)),
          &norm_leaf<T>,
          &norm_columns<T>,
          &norm_lanes<T>,
          ColumnNorms::kParts<T>,
          &finish_norms<T>};
}

}  // namespace

namespace PULLBACK_KERNELS {

#define PULLBACK_EXTREMES(largest)                            \
  {                                                           \
      entry<ExtremeFold<uint8_t, DType::Bool, largest>>(),    \
      entry<ExtremeFold<int32_t, DType::Int32, largest>>(),   \
      entry<ExtremeFold<int64_t, DType::Int64, largest>>(),   \
      entry<ExtremeFold<float, DType::Float32, largest>>(),   \
      entry<ExtremeFold<double, DType::Float64, largest>>(),  \
      entry<ExtremeFold<uint64_t, DType::UInt64, largest>>(), \
  }
#define PULLBACK_LOGIC(every)                                                  \
  {                                                                            \
      entry<LogicFold<uint8_t, every>>(), entry<LogicFold<int32_t, every>>(),  \
      entry<LogicFold<int64_t, every>>(), entry<LogicFold<float, every>>(),    \
      entry<LogicFold<double, every>>(),  entry<LogicFold<uint64_t, every>>(), \
  }

constinit const FoldTable kFoldTable = {
    {{
         entry<SumFold<uint8_t, int64_t, traits(DType::Bool).accumulator>>(),
         entry<SumFold<int32_t, int64_t, traits(DType::Int32).accumulator>>(),
         entry<SumFold<int64_t, int64_t, traits(DType::Int64).accumulator>>(),
         entry<SumFold<float, double, traits(DType::Float32).accumulator>>(),
         entry<SumFold<double, double, traits(DType::Float64).accumulator>>(),
         entry<SumFold<uint64_t, uint64_t, traits(DType::UInt64).accumulator>>(),
     },
     PULLBACK_EXTREMES(true),
     PULLBACK_EXTREMES(false),
     PULLBACK_LOGIC(true),
     PULLBACK_LOGIC(false),
     {{}, {}, {}, norm_entry<float>(), norm_entry<double>(), {}}},
    {entry<SumFold<float, double, traits(DType::Float32).accumulator, SquareTerm>>(),
     entry<SumFold<double, double, traits(DType::Float64).accumulator, SquareTerm>>()},
    {entry<ExtremeFold<float, DType::Float32, true, true>>(),
     entry<ExtremeFold<double, DType::Float64, true, true>>()},
};

}  // namespace PULLBACK_KERNELS

}  // namespace pullback
