// Convolutions: ConvolutionProgram, compiled from shapes and strides alone (convolve.cpp), and its
// methods: convolve_run.cpp (Positions), convolve_taps.cpp, convolve_channels.cpp;
// convolve_winograd.cpp saves products for some Positions. Start at ConvolutionMethod.
#pragma once

#include <algorithm>

#include "backend/common/slots.h"
#include "backend/cpu/common/thread_memory.h"
#include "backend/cpu/products/gemm.h"

namespace pullback {

// One of three axes: sizes, windowing, and strides of the operands in elements. Tap k of result
// entry o reads input entry o * stride + k * dilation - low.
struct WindowAxis {
  int64_t in, taps, out;          // sizes of x, w and y
  int64_t stride, dilation, low;  // see above
  int64_t x, w, y;                // strides

  // The number of input entries that `results` neighbouring results span, with `used` of the taps.
  int64_t input_span(int64_t results, int64_t used) const {
    return (results - 1) * stride + (used - 1) * dilation + 1;
  }
  // The taps [first, last) for which result entry o reads an input entry (first = last: none). The
  // others read padding and are not summed.
  struct Taps {
    int64_t first, last;
  };
  Taps taps_of(int64_t o) const {
    const int64_t at = o * stride - low;  // read by tap 0
    if (at >= 0 && at + (taps - 1) * dilation < in) return {0, taps};
    const int64_t begin = at < 0 ? ceil_div(-at, dilation) : 0;
    const int64_t end = at < in ? std::min(taps, ceil_div(in - at, dilation)) : 0;
    return {std::min(begin, taps), std::max(std::min(begin, taps), end)};
  }
};

enum class ConvolutionMethod : uint8_t {
  Positions,  // rows of a product are positions along the last axis; for many positions
  Taps,  // rows are entries of the batch, per position; for long sums, as in gradients of weights
  Channels,  // vectors of groups; for many groups of few channels
};

struct ConvolutionProgram;

// A whole convolution or, if input entries are spaced, a phase: the results that read the same
// taps.
struct ConvolutionPhase {
  WindowAxis axis[3];
  int64_t x = 0, w = 0, y = 0;  // first element of each operand
  ConvolutionMethod method = ConvolutionMethod::Positions;
  // Size of a unit. Positions: of the last two axes of the result. Taps: `rows` of the kernel's
  // middle axis, `width` of the batch. Channels: both 1.
  int64_t rows = 1, width = 1;
  bool winograd = false;          // Positions: computes results 2 x 2 at a time
  int64_t parts = 1;              // Taps: partial sums, added in order
  int64_t columns = 0;            // Taps: result columns per unit
  int64_t tile = 0;               // elements of memory per thread
  int64_t shared = 0;             // elements of memory shared by all threads
  std::vector<int64_t> segments;  // Positions: where taps begin in a tile
  int64_t segment_length = 0;     // Positions: contiguous elements there
  bool parallel = false;          // worth several threads

  int64_t taps() const { return axis[0].taps * axis[1].taps * axis[2].taps; }
  // Positions: entries along the middle or last axis of a tile that are computed for so many
  // results.
  int64_t covered(int64_t results) const { return winograd ? round_up(results, 2) : results; }
  int64_t lines() const { return axis[1].input_span(covered(rows), axis[1].taps); }
  int64_t line() const { return axis[2].input_span(covered(width), axis[2].taps); }
  int64_t count_units(const ConvolutionProgram& p) const;
  int64_t positions() const { return axis[0].out * axis[1].out * axis[2].out; }
};

struct ConvolutionProgram {
  DType dtype = DType::Float32;
  int32_t x_slot = -1, w_slot = -1, y_slot = -1;
  int64_t y_offset = 0, size = 0;  // of the result, in elements
  int64_t batch = 0, groups = 0;
  int64_t in_channels = 0, out_channels = 0;        // per group
  int64_t x_batch = 0, x_group = 0, x_channel = 0;  // strides
  int64_t w_group = 0, w_in = 0, w_out = 0;
  int64_t y_batch = 0;
  bool clears = false;  // some results read no tap
  std::vector<ConvolutionPhase> phases;
  int64_t scratch_bytes = 0;

  // Elements of the result per panel, all equal except the last; 0 if panels are not contiguous.
  int64_t elements_of_panels() const;
};

ConvolutionProgram compile_convolution(const Convolution& convolution);
// `hook` receives the number of each panel; requires elements_of_panels() != 0.
Status run_convolution(const ConvolutionProgram& program, const Slots& slots, char* scratch,
                       PanelHook hook = {});

// --- the methods

template <class T>
struct ConvolutionOperands {
  const T* x;
  const T* w;
  T* y;
  T* shared;
};
template <class T>
Status run_taps(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                const ConvolutionOperands<T>& of);
template <class T>
Status run_channels(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                    const ConvolutionOperands<T>& of);

// True if a phase can use Winograd's products. winograd_memory: floats per thread besides its tile.
bool winograd_helps(const ConvolutionProgram& p, const ConvolutionPhase& phase);
int64_t winograd_memory(const ConvolutionProgram& p, int64_t rows, int64_t width, int64_t columns);
constexpr int64_t kPatchEntries = 16;  // entries of a 4 x 4 patch: as many matrices are multiplied
// Transforms packed weights of nine taps to the columns of these matrices, each [channel, column].
void winograd_weights(const float* taps, int64_t channels, int64_t columns, float* to);
// Computes `rows` lines of `width` results of a group from a packed tile. Returns false if a result
// is not finite: some may then be NaN where the sum is infinite.
bool winograd_lines(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                    const float* weights, const float* tile, int64_t rows, int64_t width,
                    float* memory, float* out);

// A thread's memory for a tile.
using ConvolutionTile = ThreadMemory<struct ConvolutionTiles>;

// Packs `count` entries of an axis, from entry `first` on, with `channels` each, to `to`. Entry 0
// is at `from`; entries outside 0 … in-1 are zeros.
template <class T>
void pack_entries(const T* from, int64_t in, int64_t stride, int64_t channel, int64_t channels,
                  int64_t first, int64_t count, T* to);

// Columns of packed weights if `used` are needed: kernels exist for half of their vectors too.
inline int64_t packed_columns(int64_t used, int64_t columns) {
  return 2 * used <= columns ? columns / 2 : columns;
}

constexpr int64_t kTileBytes = 256 << 10;  // stays in the second-level cache

}  // namespace pullback
