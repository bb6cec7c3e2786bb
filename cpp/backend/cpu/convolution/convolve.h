// Convolutions. How one is computed and cut is decided when the plan is compiled, from its shapes
// and strides alone (convolve.cpp); what runs is in convolve_run.cpp (Positions), convolve_taps.cpp
// and convolve_channels.cpp; convolve_winograd.cpp has fewer products for some Positions.
#pragma once

#include <algorithm>

#include "backend/cpu/common/slots.h"
#include "backend/cpu/common/thread_memory.h"
#include "backend/cpu/products/gemm.h"

namespace pullback {

// One of three axes: lengths, how windows lie along it, and strides of the operands in elements.
// Entry o of the result sees for tap k entry o * stride + k * dilation - low of the input.
struct WindowAxis {
  int64_t in, taps, out;
  int64_t stride, dilation, low;
  int64_t x, w, y;

  // How many entries `outs` of the result see, of `some` of the taps.
  int64_t span(int64_t outs, int64_t some) const {
    return (outs - 1) * stride + (some - 1) * dilation + 1;
  }
  // The taps from `first` to `last` (none: both are `first`) for which entry o of the result sees
  // an entry of the input; the others see padding, and are not summed.
  struct Taps {
    int64_t first, last;
  };
  Taps seen(int64_t o) const {
    const int64_t at = o * stride - low;  // what tap 0 sees
    if (at >= 0 && at + (taps - 1) * dilation < in) return {0, taps};
    const int64_t begin = at < 0 ? ceil_div(-at, dilation) : 0;
    const int64_t end = at < in ? std::min(taps, ceil_div(in - at, dilation)) : 0;
    return {std::min(begin, taps), std::max(std::min(begin, taps), end)};
  }
};

enum class ConvolutionMethod : uint8_t {
  Positions,  // rows of a product are positions along the last axis: many of these
  Taps,       // rows are entries of the batch, for each of few positions; what is summed is long:
              // gradients of weights
  Channels,   // many groups of few channels: vectors of groups
};

struct ConvolutionProgram;

// All of a convolution, or, where entries of the input are spaced, the part of its result that sees
// the same taps.
struct ConvolutionPiece {
  WindowAxis axis[3];
  int64_t x = 0, w = 0, y = 0;  // where the operands begin, in elements
  ConvolutionMethod method = ConvolutionMethod::Positions;
  // Of what runs at once. Positions: of the last two axes of the result. Taps: `rows` of the
  // kernel's middle axis, `width` of the batch. Channels: both 1.
  int64_t rows = 1, width = 1;
  bool winograd = false;          // Positions: results 2 x 2 at a time
  int64_t parts = 1;              // Taps: sums that are made apart and added in order, and …
  int64_t columns = 0;            // … columns of the result that a unit makes
  int64_t tile = 0;               // elements of memory that each thread needs, and …
  int64_t shared = 0;             // … that all share
  std::vector<int64_t> segments;  // Positions: where taps begin in a tile
  int64_t segment_length = 0;     // … and how much is adjacent there
  bool worth = false;             // threads

  int64_t taps() const { return axis[0].taps * axis[1].taps * axis[2].taps; }
  // Positions: entries along the middle and the last axis of a tile.
  int64_t covered(int64_t results) const { return winograd ? round_up(results, 2) : results; }
  int64_t lines() const { return axis[1].span(covered(rows), axis[1].taps); }
  int64_t line() const { return axis[2].span(covered(width), axis[2].taps); }
  int64_t units(const ConvolutionProgram& p) const;
  int64_t positions() const { return axis[0].out * axis[1].out * axis[2].out; }
};

struct ConvolutionProgram {
  DType dtype = DType::Float32;
  int32_t x_slot = -1, w_slot = -1, y_slot = -1;
  int64_t y_offset = 0, size = 0;                   // of the result: elements
  int64_t batch = 0, groups = 0, from = 0, to = 0;  // channels of a group
  int64_t x_batch = 0, x_group = 0, x_channel = 0;  // strides
  int64_t w_group = 0, w_from = 0, w_to = 0;
  int64_t y_batch = 0;
  bool clears = false;  // some of the result sees no tap
  std::vector<ConvolutionPiece> pieces;
  int64_t scratch_bytes = 0;

  // Elements of the result that one call of the hook is about, each as many but the last; 0 where
  // they do not follow each other.
  int64_t elements_of_panels() const;
};

ConvolutionProgram compile_convolution(const Convolution& convolution);
// `hook` gets the number of each panel; only where elements_of_panels() is not 0.
Status run_convolution(const ConvolutionProgram& program, const Slots& slots, char* scratch,
                       PanelHook hook = {});

// --- its parts

template <class T>
struct ConvolutionOperands {
  const T* x;
  const T* w;
  T* y;
  T* shared;
};
template <class T>
Status run_taps(const ConvolutionProgram& p, const ConvolutionPiece& piece,
                const ConvolutionOperands<T>& of);
template <class T>
Status run_channels(const ConvolutionProgram& p, const ConvolutionPiece& piece,
                    const ConvolutionOperands<T>& of);

// Whether a piece may be made of patches; what each thread then needs besides its tile, in floats.
bool winograd_helps(const ConvolutionProgram& p, const ConvolutionPiece& piece);
int64_t winograd_memory(const ConvolutionProgram& p, int64_t rows, int64_t width, int64_t columns);
constexpr int64_t kPatchEntries = 16;  // of its 4 x 4, and so many matrices are multiplied
// Columns of packed weights of the nine taps for these matrices, each [channel, column].
void winograd_weights(const float* taps, int64_t channels, int64_t columns, float* to);
// `rows` lines of `width` results of a group from a packed tile. Whether all are finite: if not,
// some may be NaN that should be infinite.
bool winograd_lines(const ConvolutionProgram& p, const ConvolutionPiece& piece,
                    const float* weights, const float* tile, int64_t rows, int64_t width,
                    float* memory, float* out);

// A thread's own memory for a tile.
using ConvolutionTile = ThreadMemory<struct ConvolutionTiles>;

// `count` entries of an axis from entry `first` on (may lie outside: zeros) with `channels` each,
// at `from` for entry 0, packed to `to`.
template <class T>
void pack_entries(const T* from, int64_t in, int64_t stride, int64_t channel, int64_t channels,
                  int64_t first, int64_t count, T* to);

// Columns of packed weights where so many are used: a kernel has half of its vectors too.
inline int64_t packed_columns(int64_t used, int64_t columns) {
  return 2 * used <= columns ? columns / 2 : columns;
}

constexpr int64_t kTileBytes = 256 << 10;  // stays in the second-level cache

}  // namespace pullback
