// The kernels: functions over one tile, in a table per instruction set.
//
// The .cpp files of this folder are compiled once per instruction set, each time with another
// PULLBACK_KERNELS as their namespace; kernels() is the set of this processor. An output may be the
// same memory as an input of the same dtype, and overlaps nothing otherwise.
//
// This header is included by those files: declarations only, no inline function that could be
// emitted (see vec_exp.h).
#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "graph/op.h"

namespace pullback {

// What a kernel returns: a Problem of plan/backend.h, as a number so that kernels need not see it.
enum KernelProblem : int { kFine = 0, kIndexOutOfRange = 1, kZeroDivision = 2, kNegativePower = 3 };

// n elements; inputs that the operation does not have are ignored.
using TileKernel = int (*)(void* out, const void* a, const void* b, const void* c,
                           int64_t n) noexcept;

constexpr int kElementwise = static_cast<int>(Op::cast);

// [operation][dtype that it computes in]; null outside its domain. Bools are uint8_t, 0 or 1.
struct ElementwiseTable {
  TileKernel of[kElementwise][kComputeDTypes];
};

// [from][to]: between all that are computed in, of each to itself, and the way of a stored one to
// what it is computed in and back. Null where a cast takes several (widen.h).
struct CastTable {
  TileKernel of[kDTypes][kDTypes];
};

// Values in a leaf. A sum of floats adds the values of each leaf, and then the sums of the leaves
// in the same way. So a row that is cut at leaves has the bits of the whole.
constexpr int64_t kLeaf = 2048;
constexpr int64_t kLeafState = 32;  // accumulators

// Narrow columns are summed in lanes: row r of `width` values goes to lane r % column_lanes(width),
// and the lanes are added in order at the end.
constexpr int64_t column_lanes(int64_t width) { return width > 32 ? 1 : 64 / width; }

// A fold adds to accumulators that hold its identity at first. Two sets of accumulators are merged
// by an elementwise operation.
struct Fold {
  DType accumulator;
  Op merge;
  Scalar identity;
  // accumulator[r] gets the `length` values of row r.
  void (*rows)(const void* values, int64_t rows, int64_t length, void* accumulator) noexcept;
  // Of a sum of floats: values at + i of a leaf of `length` values, which are given in order. The
  // state is between the calls of one leaf, the last of which adds its sum to *accumulator.
  void (*leaf)(const void* values, int64_t n, int64_t at, int64_t length, void* state,
               void* accumulator) noexcept;
  // accumulator[j] gets values[r, j] of each row r of `width` values.
  void (*columns)(const void* values, int64_t rows, int64_t width, void* accumulator) noexcept;
  // Of rows `first` and on, part of more: accumulator[r % lanes, j] gets values[r, j].
  void (*lanes)(const void* values, int64_t rows, int64_t width, int64_t lanes, int64_t first,
                void* accumulator) noexcept;
};

constexpr int kFolds = 5;  // sum, max, min, all, any
constexpr int fold_index(Op op) { return static_cast<int>(op) - static_cast<int>(Op::sum); }

struct FoldTable {
  Fold of[kFolds][kComputeDTypes];
};

// Over `rows` rows of `length` elements: `b` has one entry a row.
using RowKernel = int (*)(void* out, const void* a, const void* b, const void* c, int64_t rows,
                          int64_t length) noexcept;

// Row to[i] of `out` gets row from[i] of `in`, for each i in turn; of both the first `columns`.
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
using AddRowsKernel = void (*)(const RowsCall& call) noexcept;

struct RowTable {
  // By element size: see size_index.
  RowKernel spread[4];     // each entry of a, one a row, along its row
  RowKernel pick[4];       // entry b[r] of row r; b is int64
  RowKernel place[4];      // a[r] at entry b[r] of row r, zeros elsewhere
  RowKernel place_add[2];  // of float32, float64: place's result plus c
  // Elements with their row's entry: add, subtract, multiply, divide of float32, float64.
  RowKernel arithmetic[4][2];
  GatherKernel gather[2];     // elements of 4 and 8 bytes
  AddRowsKernel add_rows[3];  // of float32, float64; float32 to sums in float64
};
constexpr int kSizes = 4;
constexpr int size_index(int64_t element) {
  return element == 1 ? 0 : element == 4 ? 1 : element == 8 ? 2 : 3;
}

// Columns of n entries that take turns in one memory, put together and taken apart.
using InterleaveKernel = void (*)(void* block, const void* const* columns, int64_t n) noexcept;
using DeinterleaveKernel = void (*)(void* const* columns, const void* block, int64_t n) noexcept;

constexpr int kMostInterleaved = 4;
// By number of columns, from 2 on; elements of 4 and 8 bytes.
struct InterleaveTable {
  InterleaveKernel interleave[kMostInterleaved - 1][2];
  DeinterleaveKernel deinterleave[kMostInterleaved - 1][2];
};

// Two unary operations on the same n elements in one call, of float32 and float64.
using PairKernel = int (*)(void* first, void* second, const void* a, int64_t n) noexcept;
struct Pair {
  Op first, second;
  PairKernel of[2];
};
constexpr int kPairs = 4;
struct PairTable {
  Pair of[kPairs];
};

// kRandomPiece elements of (seed, counter) from `first`, a multiple of the piece.
using RandomKernel = void (*)(int64_t seed, int64_t counter, int64_t first, void* out) noexcept;
constexpr int64_t kRandomPiece = 1024;

struct RandomTable {
  RandomKernel uniform[2], normal[2], exponential[2];  // float32, float64
};

// n elements from the number `first` on; concentrations are `step` elements apart, 0 or 1.
using GammaKernel = void (*)(int64_t seed, int64_t counter, int64_t first, int64_t n,
                             const void* concentration, int64_t step, void* out) noexcept;
struct GammaTable {
  GammaKernel of[2][2];  // the draw, its logarithm; of float32, float64
};

// c[m, n] = a[m, k] b[k, n], all sizes at least 1. Strides in elements; the columns of c are
// adjacent.
struct ProductCall {
  int64_t m, n, k;
  const void* a;
  int64_t a_row, a_column;
  const void* b;
  int64_t b_row, b_column;
  void* c;
  int64_t c_row;
  bool add = false;  // to what is in c
};
using ProductKernel = void (*)(const ProductCall& call) noexcept;

// Products of `count` small matrices or vectors, whose first entries lie a_at[i] and b_at[i] behind
// those of the call; the results follow each other without gaps, each m rows of n. Up to
// kSmallSide rows, columns and sums; or n is 1 and both operands are adjacent along k; or the
// columns of b are adjacent.
constexpr int64_t kSmallSide = 16;
using BatchKernel = void (*)(const ProductCall& call, const int64_t* a_at, const int64_t* b_at,
                             int64_t count) noexcept;

struct ProductTable {
  ProductKernel of[2];  // float32, float64
};
struct BatchTable {
  BatchKernel of[2];
};

// Scores of queries (rows) by keys (columns), a block of them. Rows are whole vectors apart: what
// is behind the last column of one may be written.
struct AttentionBlock {
  void* scores;
  int64_t rows, columns, stride;
  int64_t first_row, first_column;  // among all
  bool causal;                      // no key after the query takes part
  const void* mask = nullptr;       // bytes, or numbers that are added
  bool added = false;
  int64_t mask_row = 0, mask_column = 0;  // strides; 0: the same for all
  // Dropout: entry i of all is kept where draw i of (seed, counter) is not below the rate.
  bool dropped = false;
  int64_t seed = 0, counter = 0, first_draw = 0, draws_row = 0;  // of the block's corner; to a row
  float rate = 0;
  void* top;          // of each row, the largest score …
  void* total;        // … and the sum of exp(score - top), so far; or 1 / that, of all
  void* shrunk;       // forward: what the sums before this block are multiplied with
  const void* delta;  // backward: the sum of each row's result times cotangent
  void* slopes;       // backward: by the result of the weights; then by the scores
};

// forward: scores become weights exp(score - top), and top and total those with this block.
// backward: scores become weights exp(score - top) total, and slopes those by the scores.
using AttentionKernel = void (*)(const AttentionBlock& block) noexcept;
struct AttentionTable {
  AttentionKernel forward[2], backward[2];  // float32, float64
};
constexpr int64_t kAttentionColumns = 128;  // at most, of a block

// c[rows, width] = the sum over segments s and entries d < segment_length of what is at
// a + segment_at[s] + row * a_row + d * a_step, times the next row of b: a_step is 1, or a_row is.
// b is packed: its rows follow each other, as wide as `columns` of the table, or half of that where
// `width` is no more. With `add`, c is added to. Strides and places in elements.
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
// x_tap times w at w_at[s] + d * w_tap, channel by channel; these are adjacent everywhere.
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

// Patches of 4 x 4 entries along two lines of results: entries are `channels` apart, so patch i
// begins at x + 2 * i * channels. What each is multiplied by goes to 16 matrices [patch, channel].
struct PatchCall {
  int64_t patches, channels;
  const float* x;
  int64_t x_line;
  float* v;
  int64_t v_matrix;
};
// From 16 matrices of products [patch, channel], which may be read up to a whole vector, `rows`
// (1 or 2) lines of `entries` results.
struct PatchSumCall {
  int64_t patches, channels, rows, entries;
  const float* m;
  int64_t m_matrix, m_patch;
  float* y;
  int64_t y_row, y_entry;
};
struct WinogradTable {
  void (*spread)(const PatchCall& call) noexcept;
  bool (*gather)(const PatchSumCall& call) noexcept;  // whether all are finite
};

constexpr int64_t kFewPoolTaps = 16;  // up to here a spread writes to all taps of a window
// Windows of adjacent channels, whose taps are at `at`. largest: y is the largest of each
// channel; spread: g is added to y where that is; chosen: y is what g has there.
struct PoolCall {
  int64_t channels, taps;
  const void* x;
  const int64_t* at;
  const void* g;
  void* y;
  int64_t windows;          // that see the same taps, and …
  int64_t x_step, to_step;  // … the entries from one to the next, of the input and of a result
  bool stores;              // spread: each entry is of one window; else it adds
};
using PoolKernel = void (*)(const PoolCall& call) noexcept;

struct PoolTable {
  PoolKernel largest[4];  // float32, float64, int32, int64
  PoolKernel spread[2], chosen[2];
};

// Fourier transforms of as many sequences as a vector has lanes. In lanes an entry is a vector of
// real parts and one of imaginary ones.
//
// A factor for point i of each lane: high[i / kTurnSteps] times low[i % kTurnSteps], each of them
// real parts and then imaginary ones.
constexpr int64_t kTwiddleSteps = 32;
struct TwiddleFactors {
  const double* high;
  const double* low;
};

// `count` sequences (others are zeros) from outside to lanes or back, there times `factor`, or
// `twiddles` where these are given; points and sequences are so many complex numbers apart.
// backward: real and imaginary parts change places outside.
struct FourierMove {
  int64_t points, count;
  void* outside;
  int64_t point, sequence;
  void* lanes;
  double factor;
  bool backward;
  const TwiddleFactors* twiddles;
};
using FourierMoveKernel = void (*)(const FourierMove& move) noexcept;

// A pass of a transform of radix * groups * stride points, the last `stride` of which follow each
// other. roots: for all groups but the first, the powers 1 … radix - 1 of its root, (re, im).
// Where `from` or `to` is null the first or the last pass moves on the way, between lanes and
// `outside`, where as many sequences as there are lanes are adjacent.
struct FourierPass {
  int64_t radix, groups, stride;  // radix: 2, 3, 4, 5 or 8
  const void* from;
  void* to;
  const void* roots;
  const FourierMove* outside;
};
using FourierPassKernel = void (*)(const FourierPass& pass) noexcept;

struct FourierKernels {
  FourierPassKernel pass[2];  // float32, float64
  FourierMoveKernel load[2], store[2];
  int64_t lanes[2];
  int (*sequence[2])(int lane);  // which one a lane has
};

enum class CpuLevel;
struct PositionTable;     // position.h
struct SmallMatrixTable;  // small_matrices.h

#define PULLBACK_DECLARE_KERNELS(set)              \
  namespace set {                                  \
  extern const ElementwiseTable kIntegerTable;     \
  extern const ElementwiseTable kFloat32Table;     \
  extern const ElementwiseTable kFloat64Table;     \
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
  extern const FourierKernels kFourierTable;       \
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
  const FourierKernels& fourier;
  const PositionTable& positions;
  const SmallMatrixTable& small_matrices;
};

// Of one of compiled_levels().
const KernelTable& kernels_of(CpuLevel level);
// Those of cpu_level(), chosen once.
const KernelTable& kernels();

}  // namespace pullback
