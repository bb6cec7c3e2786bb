// ArgReduce: two passes over a row, each fast: the extreme value (a fold kernel), then its first
// position. Columns are compared value by value instead.
#include <algorithm>
#include <type_traits>

#include "backend/cpu/index_run.h"
#include "backend/cpu/kernels/table.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kColumns = 256;

template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>) return a != a;
  return false;
}

template <class T>
T extreme(const Fold& fold, const T* x, int64_t n) {
  T best;
  if constexpr (std::is_floating_point_v<T>) {
    best = static_cast<T>(fold.identity.f);
  } else {
    best = static_cast<T>(fold.identity.i);
  }
  fold.rows(x, 1, n, &best);
  return best;
}

template <class T>
int64_t first_of(const T* x, int64_t n, T value) {
  constexpr int64_t kStep = 64;  // so that the compiler vectorises the search
  int64_t i = 0;
  for (; i + kStep <= n; i += kStep) {
    bool found = false;
    for (int64_t j = 0; j < kStep; ++j) found |= (x[i + j] == value) | is_nan(x[i + j]);
    if (found) break;
  }
  while (i < n - 1 && x[i] != value && !is_nan(x[i])) ++i;
  return i;
}

// A row in blocks: the best of each is found in parallel, then the first best block is searched.
template <class T>
int64_t search_row(const Fold& fold, const T* x, int64_t n) {
  constexpr int64_t kBlock = 64 * 1024;
  if (n <= kBlock) return first_of(x, n, extreme(fold, x, n));
  const int64_t blocks = ceil_div(n, kBlock);
  const StepMemory memory(blocks * static_cast<int64_t>(sizeof(T)));
  if (!memory.data()) return -1;
  auto* best = reinterpret_cast<T*>(memory.data());
  parallel_for(blocks, n > 256 * 1024, [&](int64_t b) {
    best[b] = extreme(fold, x + b * kBlock, std::min(kBlock, n - b * kBlock));
  });
  const int64_t b = first_of(best, blocks, extreme(fold, best, blocks));
  return b * kBlock + first_of(x + b * kBlock, std::min(kBlock, n - b * kBlock), best[b]);
}

template <class T, bool largest>
void search_columns(const T* x, int64_t reduced, int64_t inner, int64_t columns, int64_t* out) {
  T best[kColumns];
  std::copy_n(x, columns, best);
  std::fill_n(out, columns, 0);
  for (int64_t r = 1; r < reduced; ++r) {
    const T* row = x + r * inner;
    for (int64_t j = 0; j < columns; ++j) {
      const bool better = largest ? row[j] > best[j] : row[j] < best[j];
      if ((better || is_nan(row[j])) && !is_nan(best[j])) {
        best[j] = row[j];
        out[j] = r;
      }
    }
  }
}

template <class T, bool largest>
Status search(const ArgReduce& a, const Slots& slots) {
  const auto* x = reinterpret_cast<const T*>(slots.at(a.in));
  auto* out = reinterpret_cast<int64_t*>(slots.at(a.out));
  const bool worth = a.outer * a.reduced * a.inner > 128 * 1024;
  if (a.inner == 1) {
    const Fold& fold =
        kernels().folds.of[fold_index(largest ? Op::max : Op::min)][static_cast<int>(a.in.dtype)];
    const int64_t per_chunk = chunk_of(a.outer, a.reduced);
    FirstProblem first;
    parallel_for(ceil_div(a.outer, per_chunk), worth, [&](int64_t chunk) {
      for (int64_t o = chunk * per_chunk; o < std::min((chunk + 1) * per_chunk, a.outer); ++o) {
        out[o] = search_row(fold, x + o * a.reduced, a.reduced);
        if (out[o] < 0) first.report(chunk, Problem::Memory);
      }
    });
    return first.status();
  }
  const int64_t strips = ceil_div(a.inner, kColumns);
  parallel_for(a.outer * strips, worth, [&](int64_t unit) {
    const int64_t o = unit / strips;
    const int64_t left = unit % strips * kColumns;
    search_columns<T, largest>(x + o * a.reduced * a.inner + left, a.reduced, a.inner,
                               std::min(kColumns, a.inner - left), out + o * a.inner + left);
  });
  return {};
}

template <bool largest>
Status search_any(const ArgReduce& a, const Slots& slots) {
  switch (a.in.dtype) {
    case DType::Bool:
      return search<uint8_t, largest>(a, slots);
    case DType::Int32:
      return search<int32_t, largest>(a, slots);
    case DType::Int64:
      return search<int64_t, largest>(a, slots);
    case DType::Float32:
      return search<float, largest>(a, slots);
    default:
      return search<double, largest>(a, slots);
  }
}

}  // namespace

Status run_arg_reduce(const ArgReduce& a, const Slots& slots) {
  if (a.outer == 0 || a.inner == 0) return {};
  return a.op == Op::argmax ? search_any<true>(a, slots) : search_any<false>(a, slots);
}

}  // namespace pullback
