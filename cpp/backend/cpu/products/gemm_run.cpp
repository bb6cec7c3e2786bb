// Runs C = A B in panels on our own threads: float32 and float64 by our kernel or through BLAS, one
// call per panel; integers by a loop that wraps.
//
// Panels depend on the shape alone, so the bits do not depend on the number of threads. A product
// with a small C and a long k (the gradient of a weight) is cut along k: each part has its own C,
// and these are added in order. Transposes are flags. An operand whose strides BLAS cannot take
// (broadcast or reversed axes, or no contiguous axis) is packed first.
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <utility>

#include "backend/cpu/products/blas.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/tiles/strided.h"
#include "base/threads.h"

namespace pullback {
namespace {

// Offsets of matrix i of the batch.
struct Offsets {
  int64_t a = 0, b = 0;
};
Offsets offsets_of(const GemmProgram& p, int64_t i) {
  Offsets out;
  for (size_t d = p.axes.size(); d-- > 0;) {
    const BatchAxis& axis = p.axes[d];
    const int64_t at = d == 0 ? i : i % axis.length;
    if (d > 0) i /= axis.length;
    out.a += at * axis.a_stride;
    out.b += at * axis.b_stride;
  }
  return out;
}

template <class T>
struct GemmRun {
  const GemmProgram& p;
  const T* a;  // in slots, or packed
  const T* b;
  T* c;
  T* parts;  // one C for each part of k after the first, or null
  PanelHook hook;
  const Blas* library =
      p.method == GemmMethod::Own || p.method == GemmMethod::Batch ? nullptr : blas();
  ProductKernel own = kernels().products.of[sizeof(T) == 8];
  int64_t rows = ceil_div(p.m, p.panel_m);
  int64_t columns = ceil_div(p.n, p.panel_n);
  int64_t depths = ceil_div(p.k, p.panel_k);

  static const T* corner(const GemmOperand& x, const T* base, int64_t row, int64_t column) {
    return base + (x.transposed ? column * x.leading + row : row * x.leading + column);
  }
  static const T* matrix(const GemmOperand& x, const T* base, int64_t i, int64_t offset) {
    if (!x.packed) return base + x.offset + offset;
    return x.packed_count == 1 ? base : base + i * x.rows * x.columns;
  }
  T* target(int64_t depth, int64_t i) const {
    return depth == 0 ? c + i * p.m * p.n : parts + ((depth - 1) * p.batch + i) * p.m * p.n;
  }

  static int flag(const GemmOperand& x) { return x.transposed ? Blas::kTrans : Blas::kNoTrans; }

  // One panel of C: m x n from row `row` and column `column`, over k from `deep`.
  struct Panel {
    const T* a;
    const T* b;
    T* c;
    int64_t m, n, k;
  };

  void matrix_panel(const Panel& s) const {
    const auto call = [&](auto gemm) {
      gemm(Blas::kRowMajor, flag(p.a), flag(p.b), static_cast<int>(s.m), static_cast<int>(s.n),
           static_cast<int>(s.k), T(1), s.a, static_cast<int>(p.a.leading), s.b,
           static_cast<int>(p.b.leading), T(0), s.c, static_cast<int>(p.n));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(library->sgemm);
    } else {
      call(library->dgemm);
    }
  }

  // C has one column (A x) or one row (B^T x). The matrix is rows x columns as stored.
  void vector_panel(const Panel& s) const {
    const bool column = p.n == 1;
    const GemmOperand& matrix = column ? p.a : p.b;
    const GemmOperand& vector = column ? p.b : p.a;
    const bool transposed = column == matrix.transposed;
    const int64_t length = column ? s.m : s.n;
    const int64_t rows_of = transposed ? s.k : length;
    const int64_t columns_of = transposed ? length : s.k;
    const int64_t step = column == vector.transposed ? 1 : vector.leading;
    std::fill_n(s.c, length, T(0));  // BLAS may multiply old contents by zero, and NaN would remain
    const auto call = [&](auto gemv) {
      gemv(Blas::kRowMajor, transposed ? Blas::kTrans : Blas::kNoTrans, static_cast<int>(rows_of),
           static_cast<int>(columns_of), T(1), column ? s.a : s.b, static_cast<int>(matrix.leading),
           column ? s.b : s.a, static_cast<int>(step), T(0), s.c, 1);
    };
    if constexpr (std::is_same_v<T, float>) {
      call(library->sgemv);
    } else {
      call(library->dgemv);
    }
  }

  void own_panel(const Offsets& from, int64_t i, int64_t row, int64_t column, int64_t deep,
                 int64_t depth) const {
    own({std::min(p.panel_m, p.m - row), std::min(p.panel_n, p.n - column),
         std::min(p.panel_k, p.k - deep),
         a + p.a.offset + from.a + row * p.a.row_stride + deep * p.a.column_stride, p.a.row_stride,
         p.a.column_stride,
         b + p.b.offset + from.b + deep * p.b.row_stride + column * p.b.column_stride,
         p.b.row_stride, p.b.column_stride, target(depth, i) + row * p.n + column, p.n});
  }

  void unit(int64_t u) const {
    int64_t depth = 0, column = 0, row = 0, i = u;
    if (rows * columns * depths > 1) {
      depth = u % depths;
      column = u / depths % columns * p.panel_n;
      row = u / depths / columns % rows * p.panel_m;
      i = u / depths / columns / rows;
    }
    const int64_t deep = depth * p.panel_k;
    const Offsets from = offsets_of(p, i);
    if (p.method == GemmMethod::Own) {
      own_panel(from, i, row, column, deep, depth);
    } else {
      const Panel panel{corner(p.a, matrix(p.a, a, i, from.a), row, deep),
                        corner(p.b, matrix(p.b, b, i, from.b), deep, column),
                        target(depth, i) + row * p.n + column,
                        std::min(p.panel_m, p.m - row),
                        std::min(p.panel_n, p.n - column),
                        std::min(p.panel_k, p.k - deep)};
      p.method == GemmMethod::Vector ? vector_panel(panel) : matrix_panel(panel);
    }
    hook(i * p.m + row);
  }

  // Computes `count` matrices from `first` on.
  void small_ones(int64_t first, int64_t count) const {
    constexpr int64_t kAtOnce = 256;
    int64_t a_at[kAtOnce], b_at[kAtOnce];
    const BatchAxis& inner = p.axes.back();
    const BatchKernel kernel = kernels().batches.of[sizeof(T) == 8];
    ProductCall call{p.m,
                     p.n,
                     p.k,
                     a + p.a.offset,
                     p.a.row_stride,
                     p.a.column_stride,
                     b + p.b.offset,
                     p.b.row_stride,
                     p.b.column_stride,
                     nullptr,
                     p.n};
    for (int64_t done = 0; done < count;) {
      const int64_t n = std::min(kAtOnce, count - done);
      call.c = c + (first + done) * p.m * p.n;
      for (int64_t i = 0; i < n;) {
        const int64_t at = first + done + i;
        const Offsets from = offsets_of(p, at);
        const int64_t run = std::min(n - i, inner.length - at % inner.length);
        for (int64_t j = 0; j < run; ++j, ++i) {
          a_at[i] = from.a + j * inner.a_stride;
          b_at[i] = from.b + j * inner.b_stride;
        }
      }
      kernel(call, a_at, b_at, n);
      done += n;
    }
    hook(first * p.m);
  }

  void run() const {
    if (p.method == GemmMethod::Batch) {
      parallel_for(ceil_div(p.batch, p.group), p.parallel, [&](int64_t chunk) {
        const int64_t first = chunk * p.group;
        small_ones(first, std::min(p.group, p.batch - first));
      });
      return;
    }
    const int64_t n = p.batch * rows * columns * depths;
    const double panel = 2.0 * static_cast<double>(p.panel_m) * static_cast<double>(p.panel_n) *
                         static_cast<double>(p.panel_k);
    const auto most = static_cast<int64_t>(kLargestPanelFlops / std::max(panel, 1.0));
    const int64_t per_chunk = std::min(ceil_div(n, kChunks), std::max<int64_t>(1, most));
    parallel_for(ceil_div(n, per_chunk), p.parallel, [&](int64_t chunk) {
      for (int64_t u = chunk * per_chunk; u < std::min((chunk + 1) * per_chunk, n); ++u) unit(u);
    });
    if (depths == 1) return;
    const int64_t size = p.batch * p.m * p.n;
    for (int64_t depth = 1; depth < depths; ++depth) {
      const T* part = parts + (depth - 1) * size;
      for (int64_t i = 0; i < size; ++i) c[i] += part[i];
    }
  }
};

Axes matrix_axes(const GemmOperand& x) {
  Axes axes;
  axes.rank = 2;
  axes.dim[0] = x.rows;
  axes.dim[1] = x.columns;
  axes.stride[0] = x.row_stride;
  axes.stride[1] = x.column_stride;
  return axes;
}

// Packs the matrices of an operand to `out`; returns the end of the packed memory.
template <class T>
T* pack(const GemmProgram& p, const GemmOperand& x, int64_t Offsets::* from, const T* base,
        T* out) {
  const Axes axes = matrix_axes(x);
  const int64_t size = x.rows * x.columns;
  const int64_t count = x.packed_count;
  const int64_t per_chunk = ceil_div(16 * 1024, size);
  parallel_for(ceil_div(count, per_chunk), size * count > 256 * 1024, [&](int64_t chunk) {
    for (int64_t i = chunk * per_chunk; i < std::min((chunk + 1) * per_chunk, count); ++i) {
      const T* matrix = base + x.offset + offsets_of(p, i).*from;
      gather_strided(axes, reinterpret_cast<const char*>(matrix), sizeof(T), 0, size,
                     reinterpret_cast<char*>(out + i * size));
    }
  });
  return out + count * size;
}

template <class T>
void run_floats(const GemmProgram& p, const Slots& slots, char* scratch, PanelHook hook) {
  const auto* a = reinterpret_cast<const T*>(slots.at(p.a.slot));
  const auto* b = reinterpret_cast<const T*>(slots.at(p.b.slot));
  auto* c = reinterpret_cast<T*>(slots.at(p.c_slot)) + p.c_offset;
  auto* at = reinterpret_cast<T*>(scratch);
  const bool copies = p.method != GemmMethod::Own && p.method != GemmMethod::Batch;
  if (copies && p.a.packed) {
    T* end = pack(p, p.a, &Offsets::a, a, at);
    a = std::exchange(at, end);
  }
  if (copies && p.b.packed) {
    T* end = pack(p, p.b, &Offsets::b, b, at);
    b = std::exchange(at, end);
  }
  GemmRun<T>{p, a, b, c, at, hook}.run();
}

// Unsigned arithmetic, so that overflow wraps; for bool, "any of the ands". Floats only if a size
// does not fit the BLAS interface.
template <class T>
void run_plain(const GemmProgram& p, const Slots& slots) {
  const auto* a = reinterpret_cast<const T*>(slots.at(p.a.slot)) + p.a.offset;
  const auto* b = reinterpret_cast<const T*>(slots.at(p.b.slot)) + p.b.offset;
  auto* c = reinterpret_cast<T*>(slots.at(p.c_slot)) + p.c_offset;
  const int64_t rows = p.batch * p.m;
  const int64_t per_chunk = chunk_size(rows, p.n * p.k);
  parallel_for(ceil_div(rows, per_chunk), p.parallel, [&](int64_t chunk) {
    for (int64_t r = chunk * per_chunk; r < std::min((chunk + 1) * per_chunk, rows); ++r) {
      const Offsets from = offsets_of(p, r / p.m);
      const T* left = a + from.a + r % p.m * p.a.row_stride;
      T* out = c + r * p.n;
      std::fill_n(out, p.n, T(0));
      for (int64_t d = 0; d < p.k; ++d) {
        const T x = left[d * p.a.column_stride];
        const T* right = b + from.b + d * p.b.row_stride;
        for (int64_t j = 0; j < p.n; ++j) {
          const T product = static_cast<T>(x * right[j * p.b.column_stride]);
          if constexpr (sizeof(T) == 1) {
            out[j] |= product;
          } else {
            out[j] += product;
          }
        }
      }
    }
  });
}

}  // namespace

void run_gemm(const GemmProgram& p, const Slots& slots, char* scratch, PanelHook hook) {
  const int64_t size = p.batch * p.m * p.n;
  if (size == 0) return;
  if (p.k == 0) {
    const int64_t element = size_of(p.dtype);
    std::memset(slots.at(p.c_slot) + p.c_offset * element, 0, static_cast<size_t>(size * element));
    return;
  }
  const bool plain = p.method == GemmMethod::Plain;
  switch (p.dtype) {
    case DType::Float32:
      return plain ? run_plain<float>(p, slots) : run_floats<float>(p, slots, scratch, hook);
    case DType::Float64:
      return plain ? run_plain<double>(p, slots) : run_floats<double>(p, slots, scratch, hook);
    case DType::Int32:
      return run_plain<uint32_t>(p, slots);
    case DType::Int64:
    case DType::UInt64:
      return run_plain<uint64_t>(p, slots);
    case DType::Bool:
      return run_plain<uint8_t>(p, slots);
    default:  // widened by the builders
      return;
  }
}

}  // namespace pullback
