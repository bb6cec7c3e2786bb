// Compiles matrix products: merges the batch into as few and as large matrices as the strides
// allow, chooses the fastest method by measurement, and cuts the product into panels. Start at
// compile_gemm.
//
// Measured on Zen 5, one thread. OpenBLAS reaches the peak of the processor for float32 from 512³
// on, and up to 10⁶ products per call if it has kernels for small matrices (with AVX-512, and
// unless only B is transposed). In between, for float64, with AVX2 and for thin matrices, our own
// kernel is faster by 5 to 100 %: see worth_own.
#include "backend/cpu/products/gemm.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backend/cpu/common/leaves.h"
#include "backend/cpu/products/blas.h"
#include "base/cpu_level.h"
#include "base/error.h"

namespace pullback {
namespace {

constexpr int64_t kBlasLimit = std::numeric_limits<int>::max();
constexpr double kPanelFlops = 8e6;   // a panel is not cut below this
constexpr double kVectorFlops = 1e6;  // (for a matrix times a vector, which is limited by memory),
constexpr int64_t kFewRows = 64;      // nor below this many rows (with BLAS kFewColumns),
constexpr int64_t kFewColumns = 96;   // columns
constexpr int64_t kSmallestDepth = 512;   // or terms of a sum
constexpr double kSmallCall = 1e6;        // OpenBLAS: products per call that its small kernels take
constexpr int64_t kL2Bytes = 384 << 10;   // A and C of one call of our kernel: stay in L2
constexpr int64_t kSmallestPanel = 2048;  // elements of c: a group that runs on fewer costs more
// From these on, BLAS is as fast or faster, since it copies A densely.
constexpr int64_t kLongStride = 4096;  // of A, bytes
constexpr int64_t kLargeB = 512 * 512;

// Entries of a matrix that is multiplied with a vector: above this, a BLAS call per matrix of a
// batch is faster. Zen 3, AVX2, matrices of side 16: equal; 24: 0.7 to 0.9 of our time; 64: 0.7 to
// 0.9; 128: 0.5 to 0.9.
constexpr int64_t kSmallProduct = 16 * 16;
// Shorter sums go to BLAS, which with AVX-512 lacks kernels for small products with a transposed B.
// AVX2, 256 x k x 64 (float32), our time relative to BLAS: 1.6 at k = 4, 1.4 at 8, 1.1 at 16; if B
// has 16 columns, 1.2, 1.05 and 0.9. In a batch, the calls cost more than that up to kSmallResult:
// 20 x 32 x 4 x 32 takes the same time, 64 x 4 x 64 takes 1.55 times as long.
constexpr int64_t kShallow = 16, kShallowNarrow = 8;
constexpr int64_t kSmallResult = 1024;

double products(const GemmProgram& p) {
  return static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

GemmOperand operand(const View& view) {
  const int64_t rank = view.shape.rank;
  GemmOperand out;
  out.slot = view.slot;
  out.offset = view.offset;
  out.rows = view.shape[rank - 2];
  out.columns = view.shape[rank - 1];
  out.row_stride = view.strides[rank - 2];
  out.column_stride = view.strides[rank - 1];
  return out;
}

void transpose(GemmOperand* x) {
  std::swap(x->rows, x->columns);
  std::swap(x->row_stride, x->column_stride);
}

// The batch axes: size 1 is dropped, and neighbours are merged if their strides allow it.
std::vector<BatchAxis> batch_axes(const Gemm& gemm) {
  std::vector<BatchAxis> out;
  const Shape& c = gemm.c.shape;
  const auto stride = [&](const View& view, int64_t axis) {
    const int64_t own = axis - (c.rank - view.shape.rank);
    return own < 0 || view.shape[own] == 1 ? 0 : view.strides[own];
  };
  for (int64_t axis = 0; axis < c.rank - 2; ++axis) {
    if (c[axis] == 1) continue;
    const BatchAxis next{c[axis], stride(gemm.a, axis), stride(gemm.b, axis)};
    if (!out.empty() && out.back().a_stride == next.a_stride * next.length &&
        out.back().b_stride == next.b_stride * next.length) {
      out.back() = {out.back().length * next.length, next.a_stride, next.b_stride};
    } else {
      out.push_back(next);
    }
  }
  return out;
}

// True if an axis with stride `outer` and an inner axis of `length` steps of `inner` can be merged.
bool merges(int64_t outer, int64_t length, int64_t inner) {
  return length == 1 || outer == length * inner;
}

// B^T A^T, which has the memory of A B if one of them is a vector.
void transpose(GemmProgram* p) {
  transpose(&p->a);
  transpose(&p->b);
  std::swap(p->a, p->b);
  std::swap(p->m, p->n);
  for (BatchAxis& axis : p->axes) std::swap(axis.a_stride, axis.b_stride);
}

// Moves the innermost batch axis into the matrices, if c[batch, m, n] is then the matrix of one
// product. Returns false otherwise.
bool merge_batch(GemmProgram* p) {
  const BatchAxis axis = p->axes.back();
  if (axis.b_stride == 0 && merges(axis.a_stride, p->m, p->a.row_stride)) {
    // All share B: the batch becomes rows.
    if (p->m == 1) p->a.row_stride = axis.a_stride;
    p->a.rows = p->m *= axis.length;
  } else if (axis.a_stride == 0 && p->m == 1 && merges(axis.b_stride, p->n, p->b.column_stride)) {
    // All share a single row A: the batch becomes columns.
    if (p->n == 1) p->b.column_stride = axis.b_stride;
    p->b.columns = p->n *= axis.length;
  } else if (axis.a_stride == 0 && p->n == 1) {
    // One matrix times many vectors: these become rows, and the matrix is transposed.
    transpose(p);
    p->a.row_stride = axis.b_stride;
    p->a.rows = p->m = axis.length;
  } else {
    return false;
  }
  p->axes.pop_back();
  return true;
}

// Sets how BLAS sees an operand.
void describe(GemmOperand* x, int64_t batch, bool same) {
  // The stride of an axis of size 1 is never used; set it to a valid value.
  const int64_t row = x->rows == 1 ? std::max<int64_t>(x->columns, 1) : x->row_stride;
  const int64_t column = x->columns == 1 ? 1 : x->column_stride;
  const int64_t flipped_row = x->rows == 1 ? 1 : x->row_stride;
  const int64_t flipped_column = x->columns == 1 ? std::max<int64_t>(x->rows, 1) : x->column_stride;
  if (column == 1 && row >= std::max<int64_t>(x->columns, 1)) {
    x->leading = row;
  } else if (flipped_row == 1 && flipped_column >= std::max<int64_t>(x->rows, 1)) {
    x->transposed = true;
    x->leading = flipped_column;
  } else {
    x->packed = true;
    x->packed_count = same ? 1 : batch;
    x->leading = std::max<int64_t>(x->columns, 1);
  }
}

bool worth_own(const GemmProgram& p) {
  if (p.a.packed || p.b.packed) return p.k * p.n < 4096;
  const bool avx512 = cpu_level() == CpuLevel::Avx512;
  const bool is_double = p.dtype == DType::Float64;
  const bool only_b = p.b.transposed && !p.a.transposed;
  if (p.k < (avx512 || p.n <= 16 ? kShallowNarrow : kShallow)) {
    return (avx512 && only_b) || (p.batch > 1 && p.m * p.n <= kSmallResult);
  }
  if (products(p) <= kSmallCall) {
    if (!avx512) return is_double || !p.b.transposed || products(p) <= 4096;
    const bool thin = !p.a.transposed && p.n >= 10 && p.n <= 16 && p.k >= 128;
    return only_b || thin;
  }
  if (!avx512 && !is_double && p.b.transposed) return false;
  const int64_t stride = p.a.leading * size_of(p.dtype);
  return stride <= kLongStride && p.k * p.n <= kLargeB && p.n >= 8;
}

// True for many products that one call of our kernel computes faster than a call each. Transposes
// vectors that would be read across their matrix.
bool many_small(GemmProgram* p) {
  if (p->batch == 1 || !is_float(p->dtype)) return false;
  const bool vector = p->m == 1 || p->n == 1;
  if (vector && p->a.rows * p->k * p->n <= kSmallProduct) {
    if (p->n == 1 && p->a.column_stride != 1 && p->a.row_stride == 1) transpose(p);
    if (p->m == 1 && p->b.column_stride != 1 && p->b.row_stride == 1) transpose(p);
    if (p->n == 1 && p->a.column_stride == 1 && p->b.row_stride == 1) return true;
    if (p->m == 1 && p->b.column_stride == 1) return true;
  }
  return p->m <= kSmallSide && p->n <= kSmallSide && p->k <= kSmallSide;
}

GemmMethod choose_method(const GemmProgram& p) {
  if (!is_float(p.dtype)) return GemmMethod::Plain;
  if (p.m > 1 && p.n > 1 && worth_own(p)) return GemmMethod::Own;
  if (std::max({p.n, p.a.leading, p.b.leading}) > kBlasLimit) return GemmMethod::Plain;
  return p.m == 1 || p.n == 1 ? GemmMethod::Vector : GemmMethod::Matrix;
}

// True for a vector times a matrix that is stored row by row along k: cutting along k reads in
// order.
bool reads_along_k(const GemmProgram& p) {
  return p.method == GemmMethod::Vector && (p.n == 1 ? p.a.transposed : !p.b.transposed);
}

// Rows of a panel of our kernel that stays in the cache. Divides each matrix of a batch equally if
// it can, so that panels have one size for the group after the product.
int64_t near_rows(const GemmProgram& p) {
  const int64_t row = (std::min<int64_t>(p.k, 256) + p.n) * size_of(p.dtype);
  const int64_t count = ceil_div(p.m, std::max(kFewRows, kL2Bytes / row));
  for (int64_t equal = count; p.batch > 1 && equal < 2 * count; ++equal) {
    if (p.m % equal == 0) return p.m / equal;
  }
  return round_up(ceil_div(p.m, count), 4);
}

// Halves panels until there are enough for any number of threads. Panels of our kernel keep whole
// rows of c unless they take long, so that a group after the product finds the rows in the cache.
// Whether such a group exists must not matter here, since it would change bits.
void choose_panels(GemmProgram& p) {
  if (p.method == GemmMethod::Batch) {
    const int64_t size = p.m * p.k + p.k * p.n + p.m * p.n;
    p.panel_m = p.m;
    p.panel_n = p.n;
    p.panel_k = p.k;
    // Whole leaves of a sum of the result.
    p.group = std::min(p.batch, whole_leaves(chunk_size(p.batch, size), p.m * p.n));
    p.parallel = p.batch * size > 64 * 1024;
    return;
  }
  p.panel_m = std::min(p.m, kBlasLimit);
  p.panel_n = std::min(p.n, kBlasLimit);
  p.panel_k = std::min(p.k, kBlasLimit);
  const double flops = 2.0 * products(p);
  const bool vector = p.method == GemmMethod::Vector;
  const double smallest = vector ? kVectorFlops : kPanelFlops;
  p.parallel = flops * static_cast<double>(p.batch) > (vector ? 1e6 : 4e6);
  const bool own = p.method == GemmMethod::Own;
  if (own) p.panel_m = near_rows(p);
  const int64_t few_rows = own ? kFewRows : kFewColumns;
  int64_t parts = p.batch * ceil_div(p.m, p.panel_m);
  double each = flops * static_cast<double>(p.batch) / static_cast<double>(parts);
  while ((parts < kChunks && each > smallest) || each > kLargestPanelFlops) {
    const bool deep = p.panel_k >= 2 * kSmallestDepth;
    const bool tall = p.panel_m >= 2 * few_rows;
    const bool wide = p.panel_n >= 2 * kFewColumns;
    if (own && !tall && each <= 4 * smallest) break;
    if (deep && ((!tall && !wide) || reads_along_k(p))) {
      p.panel_k = ceil_div(p.panel_k, 2);
    } else if (tall && (own || !wide || p.panel_m >= p.panel_n)) {
      p.panel_m = round_up(ceil_div(p.panel_m, 2), 4);
    } else if (wide) {
      p.panel_n = round_up(ceil_div(p.panel_n, 2), 32);
    } else {
      break;
    }
    parts *= 2;
    each /= 2;
  }
}

int64_t scratch_of(const GemmProgram& p) {
  if (p.method == GemmMethod::Plain) return 0;
  const bool copies = p.method != GemmMethod::Own && p.method != GemmMethod::Batch;
  const int64_t a = copies && p.a.packed ? p.a.packed_count * p.m * p.k : 0;
  const int64_t b = copies && p.b.packed ? p.b.packed_count * p.k * p.n : 0;
  const int64_t c = (ceil_div(p.k, p.panel_k) - 1) * p.batch * p.m * p.n;
  return (a + b + c) * size_of(p.dtype);
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
  p.c_slot = gemm.c.slot;
  p.c_offset = gemm.c.offset;
  p.axes = batch_axes(gemm);
  while (!p.axes.empty() && merge_batch(&p)) {
  }
  bool same_a = true;
  bool same_b = true;
  for (const BatchAxis& axis : p.axes) {
    p.batch *= axis.length;
    same_a &= axis.a_stride == 0;
    same_b &= axis.b_stride == 0;
  }
  if (p.batch == 0 || p.m == 0 || p.n == 0 || p.k == 0) return p;  // nothing to multiply
  const bool batch = many_small(&p);
  describe(&p.a, p.batch, same_a);
  describe(&p.b, p.batch, same_b);
  p.method = batch ? GemmMethod::Batch : choose_method(p);
  choose_panels(p);
  p.scratch_bytes = scratch_of(p);
  if ((p.method == GemmMethod::Matrix || p.method == GemmMethod::Vector) && !blas()) {
    fail(ErrorKind::Runtime,
         "matmul: no BLAS library could be loaded; "
         "run `python -m pullback doctor`, or set PULLBACK_BLAS to the path of one");
  }
  return p;
}

int64_t GemmProgram::rows_of_panels() const {
  if (method == GemmMethod::Batch) return group * m;
  const int64_t rows = std::min(panel_m, m);
  const bool equal = batch == 1 || (rows * n >= kSmallestPanel && m % rows == 0);
  const bool whole = method != GemmMethod::Plain && panel_n == n && panel_k == k && m * n * k > 0;
  return whole && equal ? rows : 0;
}

}  // namespace pullback
