// KernelTable: the kernels, functions over one tile, in one table per instruction set. Start at
// TileKernel and kernels().
//
// The .cpp files of this folder are compiled once per instruction set, each time with another
// namespace PULLBACK_KERNELS; kernels() returns the table for this processor. An output may be the
// memory of an input of the same dtype, and must not overlap otherwise.
//
// Those files include this header, so it contains declarations only, and no inline function that
// could be emitted (see vec_exp.h).
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "graph/op.h"

namespace pullback {

// The result of a kernel: a Problem of plan/backend.h as a number, so that kernels need not include
// it.
enum KernelProblem : int { kFine = 0, kIndexOutOfRange = 1, kZeroDivision = 2, kNegativePower = 3 };

// n elements; unused inputs are ignored.
using TileKernel = int (*)(void* out, const void* a, const void* b, const void* c,
                           int64_t n) noexcept;

constexpr int kElementwise = static_cast<int>(Op::cast);

// [operation][dtype]; null outside of its domain. Bools are uint8_t, 0 or 1. Integers of storage
// dtypes have the operations of is_modular (plan/modular.h).
struct ElementwiseTable {
  TileKernel of[kElementwise][kDTypes];
};

// [from][to]: between compute dtypes (including equal ones), and between a storage dtype and its
// compute dtype. Null if a cast needs several steps (plan/passes/widen.h).
struct CastTable {
  TileKernel of[kDTypes][kDTypes];
};

// Number of values in a leaf. A float sum adds the values of each leaf, and then the sums of the
// leaves in the same way, so a row that is cut at leaves has the same bits as the whole row.
constexpr int64_t kLeaf = 2048;

// Narrow columns are summed in lanes: row r of `width` values goes to lane r % column_lanes(width),
// and the lanes are added in order at the end.
constexpr int64_t column_lanes(int64_t width) { return width > 32 ? 1 : 64 / width; }

// A fold combines values into accumulators, which start as its identity. Two sets of accumulators
// are merged by an elementwise operation. Norms of rows begin with accumulators of 0.
struct Fold {
  DType accumulator;
  Op merge;
  Scalar identity;
  // Adds the `length` values of row r to accumulator[r].
  void (*rows)(const void* values, int64_t rows, int64_t length, void* accumulator) noexcept;
  // For float sums and norms: adds values at + i of a leaf of `length` values, in order. `state`,
  // of leaf_state bytes, is kept between the calls for one leaf; the last call adds the sum of the
  // leaf to *accumulator.
  int64_t leaf_state;
  void (*leaf)(const void* values, int64_t n, int64_t at, int64_t length, void* state,
               void* accumulator) noexcept;
  // Adds values[r, j] to accumulator[j], for each row r of `width` values.
  void (*columns)(const void* values, int64_t rows, int64_t width, void* accumulator) noexcept;
  // The same for rows from `first` on, with accumulator[r % lanes, j].
  void (*lanes)(const void* values, int64_t rows, int64_t width, int64_t lanes, int64_t first,
                void* accumulator) noexcept;
  // Sets of accumulators of columns, one after the other, at most three, and the kernel that
  // computes the results of them; null: the accumulators are the results, as numbers of their type.
  int64_t parts = 1;
  TileKernel finish = nullptr;
};

constexpr int kFolds = 6;  // sum, max, min, all, any, euclidean_norm
constexpr int fold_index(Op op) { return static_cast<int>(op) - static_cast<int>(Op::sum); }

struct FoldTable {
  Fold of[kFolds][kComputeDTypes];
  Fold squares[2];     // sum of the squares of float32, of float64
  Fold magnitudes[2];  // maximum of the absolute values
};

// For `rows` rows of `length` elements; `b` has one entry per row.
using RowKernel = int (*)(void* out, const void* a, const void* b, const void* c, int64_t rows,
                          int64_t length) noexcept;

// Adds row from[i] of `in` to row to[i] of `out`, for each i in order; the first `columns` of both.
struct RowsCall {
  const void* in;
  int64_t in_row;
  void* out;
  int64_t out_row;
  int64_t columns;
  const int64_t* from;
  const int64_t* to;
  int64_t count;
};
// n elements, `stride` elements apart in `in`.
using GatherKernel = void (*)(void* out, const void* in, int64_t stride, int64_t n) noexcept;

// Copies entry from[j] of each row of `in` to entry to[j] of the row of `out`, for rows of at most
// kMostRowEntries.
struct RowCopy {
  const void* in;
  int64_t in_row;
  void* out;
  int64_t out_row;
  int64_t rows;
  int64_t entries;
  const int64_t* from;
  const int64_t* to;
};
constexpr int64_t kMostRowEntries = 64;
using RowCopyKernel = void (*)(const RowCopy& call) noexcept;
using AddRowsKernel = void (*)(const RowsCall& call) noexcept;

struct RowTable {
  // By element size; see size_index.
  RowKernel spread[4];     // repeats entry r of a along row r
  RowKernel pick[4];       // entry b[r] of row r; b is int64
  RowKernel place[4];      // a[r] at entry b[r] of row r, zeros elsewhere
  RowKernel place_add[2];  // float32, float64: place's result plus c
  // Elements with the entry of their row: add, subtract, multiply, divide; float32, float64.
  RowKernel arithmetic[4][2];
  GatherKernel gather[2];     // elements of 4 and 8 bytes
  RowCopyKernel copy[4];      // by element size
  AddRowsKernel add_rows[3];  // float32, float64; float32 to sums in float64
};
constexpr int kSizes = 4;
constexpr int size_index(int64_t element) {
  return element == 1 ? 0 : element == 4 ? 1 : element == 8 ? 2 : 3;
}

// Joins and splits columns of n entries that alternate in one memory.
using InterleaveKernel = void (*)(void* block, const void* const* columns, int64_t n) noexcept;
using DeinterleaveKernel = void (*)(void* const* columns, const void* block, int64_t n) noexcept;

constexpr int kMostInterleaved = 4;
// By number of columns, from 2 on; elements of 4 and 8 bytes.
struct InterleaveTable {
  InterleaveKernel interleave[kMostInterleaved - 1][2];
  DeinterleaveKernel deinterleave[kMostInterleaved - 1][2];
};

// Two unary operations on the same n elements in one call; float32, float64.
using PairKernel = int (*)(void* first, void* second, const void* a, int64_t n) noexcept;
struct Pair {
  Op first, second;
  PairKernel of[2];
};
constexpr int kPairs = 4;
// n elements.
using ProductsKernel = int (*)(void* out, const void* a, const void* b, const void* c,
                               const void* d, int64_t n) noexcept;
// Each operation is rounded; float32, float64.
struct PairTable {
  Pair of[kPairs];
  TileKernel product_sums[3][2];          // a * b + c, a * b - c, c - a * b
  ProductsKernel sums_of_products[2][2];  // a * b + c * d, a * b - c * d
};

// kRandomBlock elements of (seed, counter) from `first` on, a multiple of kRandomBlock.
using RandomKernel = void (*)(int64_t seed, int64_t counter, int64_t first, void* out) noexcept;
constexpr int64_t kRandomBlock = 1024;

struct RandomTable {
  RandomKernel uniform[2], normal[2], exponential[2];  // float32, float64
};

// n elements from number `first` on; concentrations are `step` elements apart, 0 or 1.
using GammaKernel = void (*)(int64_t seed, int64_t counter, int64_t first, int64_t n,
                             const void* concentration, int64_t step, void* out) noexcept;
struct GammaTable {
  GammaKernel of[2][2];  // the draw, its logarithm; float32, float64
};

// c[m, n] = a[m, k] b[k, n]; all sizes at least 1. Strides in elements; the columns of c are
// adjacent.
struct ProductCall {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  bool add = false;  // adds to c
};
using ProductKernel = void (*)(const ProductCall& call) noexcept;

// Products of `count` small matrices or vectors. a_at[i] and b_at[i] are offsets of product i from
// the operands of the call; the m x n results are contiguous. Requires one of: at most kSmallSide
// rows, columns and terms; n = 1 and both operands adjacent along k; the columns of b adjacent.
constexpr int64_t kSmallSide = 16;
using BatchKernel = void (*)(const ProductCall& call, const int64_t* a_at, const int64_t* b_at,
                             int64_t count) noexcept;

struct ProductTable {
  ProductKernel of[2];  // float32, float64
};
struct BatchTable {
  BatchKernel of[2];
};

// A block of scores of queries (rows) by keys (columns). Rows begin at whole vectors; the padding
// after the last column may be written.
struct AttentionBlock {
  void* scores;
  int64_t rows, columns, stride;
  int64_t first_row, first_column;  // among all
  bool causal;                      // keys after the query are masked
  const void* mask = nullptr;       // bytes, or floats that are added
  bool added = false;
  int64_t mask_row = 0, mask_column = 0;  // strides; 0: shared
  // Dropout: weight i is kept if draw i of (seed, counter) is not below the rate.
  bool dropped = false;
  int64_t seed = 0, counter = 0, first_draw = 0, draws_row = 0;  // first_draw: of the block's
                                                                 // corner; draws_row: draws per row
  float rate = 0;
  void* top;          // per row: the largest score so far
  void* total;        // per row: the sum of exp(score - top) so far; backward: its inverse, of all
  void* shrunk;       // forward: factors for the sums before this block
  const void* delta;  // backward: per row, the sum of result times cotangent
  void* slopes;       // backward: cotangents of the weights on input, of the scores on output
};

// forward: replaces scores by weights exp(score - top), and updates top and total by this block.
// backward: replaces scores by weights exp(score - top) total, and slopes as described.
using AttentionKernel = void (*)(const AttentionBlock& block) noexcept;
struct AttentionTable {
  AttentionKernel forward[2], backward[2];  // float32, float64
};
constexpr int64_t kAttentionColumns = 128;  // at most, per block

// c[rows, width] = the sum over segments s and entries d < segment_length of the entry at a +
// segment_at[s] + row * a_row + d * a_step, times the next row of b. a_step or a_row is 1. b is
// packed: its rows are contiguous, with `columns` (of the table) entries, or half of that if
// `width` is not more. `add` adds to c. Strides and offsets in elements.
struct WindowCall {
  int64_t rows, width;
  const void* a;
  int64_t a_row, a_step;
  const int64_t* segment_at;
  int64_t segments, segment_length;
  const void* b;
  void* c;
  int64_t c_row;
  bool add;
};
using WindowKernel = void (*)(const WindowCall& call) noexcept;

// y[output, channel] = the sum over segments s and taps d of x at x_at[s] + output * x_output + d *
// x_tap times w at w_at[s] + d * w_tap, for each channel; channels are adjacent in every array.
struct ChannelsCall {
  int64_t channels, outputs, taps;
  const void* x;
  int64_t x_output, x_tap;
  const void* w;
  int64_t w_tap;
  const int64_t* x_at;
  const int64_t* w_at;
  int64_t segments;
  void* y;
  int64_t y_output;
  bool add;
};
using ChannelsKernel = void (*)(const ChannelsCall& call) noexcept;

struct ConvolutionTable {
  WindowKernel windows[2];  // float32, float64
  ChannelsKernel channels[2];
  int64_t columns[2];
};

// Transforms 4 x 4 patches along two lines of results. Entries are `channels` apart, so patch i
// begins at x + 2 * i * channels. The transformed entries go to 16 matrices [patch, channel].
struct PatchCall {
  int64_t patches, channels;
  const float* x;
  int64_t x_line;
  float* v;
  int64_t v_matrix;
};
// Transforms 16 matrices of products [patch, channel] to `rows` (1 or 2) lines of `entries`
// results. The matrices may be read up to a whole vector.
struct PatchSumCall {
  int64_t patches, channels, rows, entries;
  const float* m;
  int64_t m_matrix, m_patch;
  float* y;
  int64_t y_row, y_entry;
};
struct WinogradTable {
  void (*spread)(const PatchCall& call) noexcept;
  bool (*gather)(const PatchSumCall& call) noexcept;  // returns true if all results are finite
};

constexpr int64_t kFewPoolTaps = 16;  // up to here a spread writes to all taps of a window
// Windows of adjacent channels, with taps at the offsets `at`. largest: y is the largest entry per
// channel; spread: adds g to y at that entry; chosen: y is the entry of g there.
struct PoolCall {
  int64_t channels, taps;
  const void* x;
  const int64_t* at;
  const void* g;
  void* y;
  int64_t windows;          // windows with the same taps
  int64_t x_step, to_step;  // distance between these windows, in the input and in the result
  bool stores;              // spread: windows do not overlap, so it stores instead of adding
};
using PoolKernel = void (*)(const PoolCall& call) noexcept;

struct PoolTable {
  PoolKernel largest[4];  // float32, float64, int32, int64
  PoolKernel spread[2], chosen[2];
};

enum class CpuLevel;
struct PositionTable;     // position.h
struct SmallMatrixTable;  // small_matrices.h
struct FourierTable;      // fourier.h
struct FourierMoveTable;
struct FourierFoldTable;

#define PULLBACK_DECLARE_KERNELS(set)              \
  namespace set {                                  \
  extern const ElementwiseTable kIntegerTable;     \
  extern const ElementwiseTable kFloat32Table;     \
  extern const ElementwiseTable kFloat64Table;     \
  extern const ElementwiseTable kOrderTable;       \
  extern const ElementwiseTable kShareTable;       \
  extern const CastTable kCastTable;               \
  extern const FoldTable kFoldTable;               \
  extern const RandomTable kRandomTable;           \
  extern const GammaTable kGammaTable;             \
  extern const RowTable kRowTable;                 \
  extern const InterleaveTable kInterleaveTable;   \
  extern const PairTable kPairTable;               \
  extern const ProductTable kProductTable;         \
  extern const BatchTable kBatchTable;             \
  extern const AttentionTable kAttentionTable;     \
  extern const ConvolutionTable kConvolutionTable; \
  extern const WinogradTable kWinogradTable;       \
  extern const PoolTable kPoolTable;               \
  extern const FourierTable kFourierTable;         \
  extern const FourierMoveTable kFourierMoveTable; \
  extern const FourierFoldTable kFourierFoldTable; \
  extern const PositionTable kPositionTable;       \
  extern const SmallMatrixTable kSmallMatrixTable; \
  }
PULLBACK_DECLARE_KERNELS(kernels_baseline)
PULLBACK_DECLARE_KERNELS(kernels_avx2)
PULLBACK_DECLARE_KERNELS(kernels_avx512)
#undef PULLBACK_DECLARE_KERNELS
namespace special {
extern const ElementwiseTable kSpecialTable;  // rows of special::, for all instruction sets
}

struct KernelTable {
  ElementwiseTable elementwise;
  const CastTable& casts;
  const FoldTable& folds;
  const RandomTable& random;
  const GammaTable& gammas;
  const RowTable& rows;
  const InterleaveTable& interleaves;
  const PairTable& pairs;
  const ProductTable& products;
  const BatchTable& batches;
  const AttentionTable& attention;
  const ConvolutionTable& convolutions;
  const WinogradTable& winograd;
  const PoolTable& pools;
  const FourierTable& fourier;
  const FourierMoveTable& fourier_moves;
  const FourierFoldTable& fourier_folds;
  const PositionTable& positions;
  const SmallMatrixTable& small_matrices;
};

// For one of compiled_levels().
const KernelTable& kernels_of(CpuLevel level);
// For cpu_level(), chosen once.
const KernelTable& kernels();

}  // namespace pullback
