// C = A B in panels: float32 and float64 through BLAS, one call a panel, run by our own threads;
// integers by a plain loop that wraps.
//
// The panels depend on the shape alone, so the bits do not depend on the number of threads. A
// product with a small C and a long k (the gradient of a weight) is cut along k: every part has its
// own C and they are added in order. Transposes are flags; an operand whose strides BLAS cannot
// take (broadcast or reversed axes, neither axis contiguous) is packed first.
#include "backend/cpu/gemm.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "backend/cpu/blas.h"
#include "backend/cpu/strided.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kBlasLimit = std::numeric_limits<int>::max();
constexpr double kPanelFlops = 8e6;         // a panel is not cut below this,
constexpr double kLargestPanelFlops = 4e9;  // Ctrl-C waits for a panel
constexpr double kVectorFlops = 1e6;        // (bound by memory: a matrix times a vector)
constexpr int64_t kSmallestSide = 96;       // nor below this many rows or columns,
constexpr int64_t kSmallestDepth = 512;     // nor its sums

GemmOperand operand(const View& view) {
  const int64_t rank = view.shape.rank;
  GemmOperand out;
  out.slot = view.slot;
  out.offset = view.offset;
  out.rows = view.shape[rank - 2];
  out.columns = view.shape[rank - 1];
  out.row_stride = view.strides[rank - 2];
  out.column_stride = view.strides[rank - 1];
  // The stride of an axis of length 1 is never used: give it the value that fits.
  const int64_t row = out.rows == 1 ? std::max<int64_t>(out.columns, 1) : out.row_stride;
  const int64_t column = out.columns == 1 ? 1 : out.column_stride;
  const int64_t flipped_row = out.rows == 1 ? 1 : out.row_stride;
  const int64_t flipped_column =
      out.columns == 1 ? std::max<int64_t>(out.rows, 1) : out.column_stride;
  if (column == 1 && row >= std::max<int64_t>(out.columns, 1) && row <= kBlasLimit) {
    out.leading = row;
  } else if (flipped_row == 1 && flipped_column >= std::max<int64_t>(out.rows, 1) &&
             flipped_column <= kBlasLimit) {
    out.transposed = true;
    out.leading = flipped_column;
  } else {
    out.packed = true;
    out.leading = std::max<int64_t>(out.columns, 1);
  }
  return out;
}

// Where each matrix of the batch begins.
std::vector<int64_t> batch_offsets(const View& view, const Shape& c_shape) {
  const int64_t axes = c_shape.rank - 2;
  const int64_t missing = c_shape.rank - view.shape.rank;  // leading axes that the view leaves out
  std::vector<int64_t> out(1, view.offset);
  for (int64_t axis = 0; axis < axes; ++axis) {
    const int64_t own = axis - missing;
    const bool fixed = own < 0 || view.shape[own] == 1;
    const int64_t stride = fixed ? 0 : view.strides[own];
    std::vector<int64_t> next;
    next.reserve(out.size() * static_cast<size_t>(c_shape[axis]));
    for (int64_t base : out) {
      for (int64_t i = 0; i < c_shape[axis]; ++i) next.push_back(base + i * stride);
    }
    out = std::move(next);
  }
  return out;
}

void choose_panels(GemmProgram& p) {
  p.panel_m = std::min(p.m, kBlasLimit);
  p.panel_n = std::min(p.n, kBlasLimit);
  p.panel_k = std::min(p.k, kBlasLimit);
  const double flops =
      2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  p.worth = flops * static_cast<double>(p.batch) > 4e6;
  int64_t parts = p.batch;
  double each = flops;
  const double smallest = p.m == 1 || p.n == 1 ? kVectorFlops : kPanelFlops;
  while ((parts < kChunks && each > smallest) || each > kLargestPanelFlops) {
    int64_t& side = p.panel_m >= p.panel_n ? p.panel_m : p.panel_n;
    if (side >= 2 * kSmallestSide) {
      side = round_up(ceil_div(side, 2), 16);
    } else if (p.panel_k >= 2 * kSmallestDepth) {
      p.panel_k = ceil_div(p.panel_k, 2);
    } else {
      break;
    }
    parts *= 2;
    each /= 2;
  }
}

template <class T>
struct GemmRun {
  const GemmProgram& p;
  const Blas& library;
  const T* a;  // slots, or packed matrices
  const T* b;
  T* c;
  T* parts;  // one more C for each part of k after the first, or null

  int64_t rows() const { return ceil_div(p.m, p.panel_m); }
  int64_t columns() const { return ceil_div(p.n, p.panel_n); }
  int64_t depths() const { return ceil_div(p.k, p.panel_k); }
  int64_t units() const { return p.batch * rows() * columns() * depths(); }

  static const T* corner(const GemmOperand& x, const T* base, int64_t row, int64_t column) {
    return base + (x.transposed ? column * x.leading + row : row * x.leading + column);
  }
  const T* matrix(const GemmOperand& x, const std::vector<int64_t>& offsets, const T* base,
                  int64_t i) const {
    return x.packed ? base + i * x.rows * x.columns : base + offsets[i];
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
    int m, n, k;
  };

  void matrix_panel(const Panel& s) const {
    const auto call = [&](auto gemm) {
      gemm(Blas::kRowMajor, flag(p.a), flag(p.b), s.m, s.n, s.k, T(1), s.a,
           static_cast<int>(p.a.leading), s.b, static_cast<int>(p.b.leading), T(0), s.c,
           static_cast<int>(p.n));
    };
    if constexpr (std::is_same_v<T, float>) {
      call(library.sgemm);
    } else {
      call(library.dgemm);
    }
  }

  // C has one column (A x) or one row (B^T x): the matrix as it lies in memory is rows x columns.
  void vector_panel(const Panel& s) const {
    const bool column = p.n == 1;
    const GemmOperand& matrix = column ? p.a : p.b;
    const GemmOperand& vector = column ? p.b : p.a;
    const bool transposed = column == matrix.transposed;
    const int rows = column ? (matrix.transposed ? s.k : s.m) : (matrix.transposed ? s.n : s.k);
    const int columns = column ? (matrix.transposed ? s.m : s.k) : (matrix.transposed ? s.k : s.n);
    const int64_t step = column == vector.transposed ? 1 : vector.leading;
    const int length = column ? s.m : s.n;
    std::fill_n(s.c, length, T(0));  // BLAS may multiply what was there by zero: not NaNs
    const auto call = [&](auto gemv) {
      gemv(Blas::kRowMajor, transposed ? Blas::kTrans : Blas::kNoTrans, rows, columns, T(1),
           column ? s.a : s.b, static_cast<int>(matrix.leading), column ? s.b : s.a,
           static_cast<int>(step), T(0), s.c, 1);
    };
    if constexpr (std::is_same_v<T, float>) {
      call(library.sgemv);
    } else {
      call(library.dgemv);
    }
  }

  void unit(int64_t u) const {
    const int64_t depth = u % depths();
    const int64_t column = u / depths() % columns() * p.panel_n;
    const int64_t row = u / depths() / columns() % rows() * p.panel_m;
    const int64_t i = u / depths() / columns() / rows();
    const int64_t deep = depth * p.panel_k;
    const Panel panel{corner(p.a, matrix(p.a, p.a_offsets, a, i), row, deep),
                      corner(p.b, matrix(p.b, p.b_offsets, b, i), deep, column),
                      target(depth, i) + row * p.n + column,
                      static_cast<int>(std::min(p.panel_m, p.m - row)),
                      static_cast<int>(std::min(p.panel_n, p.n - column)),
                      static_cast<int>(std::min(p.panel_k, p.k - deep))};
    if (p.m == 1 || p.n == 1) {
      vector_panel(panel);
    } else {
      matrix_panel(panel);
    }
  }

  void run() const {
    const int64_t n = units();
    const double panel = 2.0 * static_cast<double>(p.panel_m) * static_cast<double>(p.panel_n) *
                         static_cast<double>(p.panel_k);
    const int64_t most = std::max<int64_t>(1, static_cast<int64_t>(kLargestPanelFlops / panel));
    const int64_t per_chunk = std::min(ceil_div(n, kChunks), most);
    parallel_for(ceil_div(n, per_chunk), p.worth, [&](int64_t chunk) {
      for (int64_t u = chunk * per_chunk; u < std::min((chunk + 1) * per_chunk, n); ++u) unit(u);
    });
    if (depths() == 1) return;
    const int64_t size = p.batch * p.m * p.n;
    for (int64_t depth = 1; depth < depths(); ++depth) {
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

template <class T>
void pack(const GemmOperand& x, const std::vector<int64_t>& offsets, const T* base, T* out) {
  const Axes axes = matrix_axes(x);
  const int64_t size = x.rows * x.columns;
  const int64_t per_chunk = std::max<int64_t>(1, ceil_div(16 * 1024, std::max<int64_t>(size, 1)));
  const auto batch = static_cast<int64_t>(offsets.size());
  parallel_for(ceil_div(batch, per_chunk), size * batch > 256 * 1024, [&](int64_t chunk) {
    for (int64_t i = chunk * per_chunk; i < std::min((chunk + 1) * per_chunk, batch); ++i) {
      gather_strided(axes, reinterpret_cast<const char*>(base + offsets[i]), sizeof(T), 0, size,
                     reinterpret_cast<char*>(out + i * size));
    }
  });
}

template <class T>
Status run_blas(const GemmProgram& p, const Slots& slots) {
  const Blas* library = blas();
  if (!library) return failure(Problem::Library);
  const auto* a = reinterpret_cast<const T*>(slots.at(p.a.slot));
  const auto* b = reinterpret_cast<const T*>(slots.at(p.b.slot));
  auto* c = reinterpret_cast<T*>(slots.at(p.c_slot)) + p.c_offset;
  const int64_t a_size = p.a.packed ? p.batch * p.m * p.k : 0;
  const int64_t b_size = p.b.packed ? p.batch * p.k * p.n : 0;
  const int64_t c_size = (ceil_div(p.k, p.panel_k) - 1) * p.batch * p.m * p.n;
  const int64_t extra = a_size + b_size + c_size;
  if (extra == 0) {
    GemmRun<T>{p, *library, a, b, c, nullptr}.run();
    return {};
  }
  const StepMemory memory(extra * static_cast<int64_t>(sizeof(T)));
  if (!memory.data()) return failure(Problem::Memory);
  auto* at = reinterpret_cast<T*>(memory.data());
  if (p.a.packed) {
    pack(p.a, p.a_offsets, a, at);
    a = at;
  }
  if (p.b.packed) {
    pack(p.b, p.b_offsets, b, at + a_size);
    b = at + a_size;
  }
  GemmRun<T>{p, *library, a, b, c, at + a_size + b_size}.run();
  return {};
}

// Unsigned integers, so that overflow wraps; bool products are "any of the ands"; floats only where
// a size does not fit the BLAS interface.
template <class T>
Status run_plain(const GemmProgram& p, const Slots& slots) {
  const auto* a = reinterpret_cast<const T*>(slots.at(p.a.slot));
  const auto* b = reinterpret_cast<const T*>(slots.at(p.b.slot));
  auto* c = reinterpret_cast<T*>(slots.at(p.c_slot)) + p.c_offset;
  const int64_t rows = p.batch * p.m;
  const int64_t per_chunk = chunk_of(rows, p.n * p.k);
  parallel_for(ceil_div(rows, per_chunk), p.worth, [&](int64_t chunk) {
    for (int64_t r = chunk * per_chunk; r < std::min((chunk + 1) * per_chunk, rows); ++r) {
      const int64_t i = r / p.m;
      const T* left = a + p.a_offsets[i] + r % p.m * p.a.row_stride;
      T* out = c + r * p.n;
      std::fill_n(out, p.n, T(0));
      for (int64_t d = 0; d < p.k; ++d) {
        const T x = left[d * p.a.column_stride];
        const T* right = b + p.b_offsets[i] + d * p.b.row_stride;
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
  return {};
}

}  // namespace

GemmProgram compile_gemm(const Gemm& gemm) {
  GemmProgram p;
  p.dtype = gemm.c.dtype;
  p.a = operand(gemm.a);
  p.b = operand(gemm.b);
  p.m = p.a.rows;
  p.k = p.a.columns;
  p.n = p.b.columns;
  p.a_offsets = batch_offsets(gemm.a, gemm.c.shape);
  p.b_offsets = batch_offsets(gemm.b, gemm.c.shape);
  p.batch = static_cast<int64_t>(p.a_offsets.size());
  p.c_slot = gemm.c.slot;
  p.c_offset = gemm.c.offset;
  choose_panels(p);
  return p;
}

Status run_gemm(const GemmProgram& p, const Slots& slots) {
  const int64_t size = p.batch * p.m * p.n;
  if (size == 0) return {};
  if (p.k == 0) {
    const int64_t element = size_of(p.dtype);
    std::memset(slots.at(p.c_slot) + p.c_offset * element, 0, static_cast<size_t>(size * element));
    return {};
  }
  const bool fits = std::max({p.n, p.a.leading, p.b.leading}) <= kBlasLimit;
  switch (p.dtype) {
    case DType::Float32:
      return fits ? run_blas<float>(p, slots) : run_plain<float>(p, slots);
    case DType::Float64:
      return fits ? run_blas<double>(p, slots) : run_plain<double>(p, slots);
    case DType::Int32:
      return run_plain<uint32_t>(p, slots);
    case DType::Int64:
      return run_plain<uint64_t>(p, slots);
    default:
      return run_plain<uint8_t>(p, slots);
  }
}

}  // namespace pullback
