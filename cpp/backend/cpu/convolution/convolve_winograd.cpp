// Winograd's F(2x2, 3x3) for float32 convolutions by 3 x 3 taps at stride 1: 16 products per 2 x 2
// results instead of 36. Patches of the input and the weights are transformed to 16 matrices each
// (kernels/winograd.cpp), whose products are transformed to results.
//
// The error of a result is some ulp of the largest entry times the largest tap of its own window,
// times the square root of the number of terms. For numbers of similar size this is at most the
// error of the direct sum. If most taps are zero, or far smaller than others, the direct sum is
// better, so weights with a zero are summed directly, as is float64. F(4x4, 3x3) had errors 3 to 12
// times as large, and they affected results outside of the window.
#include <algorithm>

#include "backend/cpu/convolution/convolve.h"

namespace pullback {

bool winograd_helps(const ConvolutionProgram& p, const ConvolutionPhase& phase) {
  constexpr int64_t kFewest = 32;      // channels: for fewer, the transforms cost what the products
                                       // save
  constexpr int64_t kMost = 1024;      // input channels: their patches stay in a cache
  constexpr int64_t kResults = 4;      // per axis: of 3 x 3 results almost half would be unused
  constexpr int64_t kPositions = 128;  // of an image, for which weights are transformed; fixed, so
                                       // that bits do not depend on the batch
  constexpr int64_t kWeightBytes = 6 << 20;  // read by every unit, from a cache
  const auto plain = [](const WindowAxis& a) {
    return a.taps == 3 && a.stride == 1 && a.dilation == 1 && a.out >= kResults;
  };
  return p.dtype == DType::Float32 && phase.axis[0].taps == 1 && plain(phase.axis[1]) &&
         plain(phase.axis[2]) && std::min(p.in_channels, p.out_channels) >= kFewest &&
         p.in_channels <= kMost && phase.positions() >= kPositions &&
         kPatchEntries * p.groups * p.in_channels * p.out_channels * size_of(p.dtype) <=
             kWeightBytes;
}

int64_t winograd_memory(const ConvolutionProgram& p, int64_t rows, int64_t width, int64_t columns) {
  const int64_t patches = ceil_div(rows, 2) * ceil_div(width, 2);
  return kPatchEntries * patches * (p.in_channels + columns);
}

void winograd_weights(const float* taps, int64_t channels, int64_t columns, float* to) {
  const int64_t matrix = channels * columns;
  // So many at a time stay in registers and the nearest cache, although the matrices are far apart.
  constexpr int64_t kBlock = 64;
  for (int64_t first = 0; first < matrix; first += kBlock) {
    const int64_t some = std::min(kBlock, matrix - first);
    const auto spread = [&](const float* a, const float* b, const float* c, float* const* four) {
      for (int64_t i = 0; i < some; ++i) {
        four[0][i] = a[i];
        four[1][i] = (a[i] + c[i] + b[i]) / 2;
        four[2][i] = (a[i] + c[i] - b[i]) / 2;
        four[3][i] = c[i];
      }
    };
    float lines[4][3][kBlock];
    for (int64_t b = 0; b < 3; ++b) {
      const float* tap = taps + b * matrix + first;
      float* const four[] = {lines[0][b], lines[1][b], lines[2][b], lines[3][b]};
      spread(tap, tap + 3 * matrix, tap + 6 * matrix, four);
    }
    for (int64_t a = 0; a < 4; ++a) {
      float* made = to + 4 * a * matrix + first;
      float* const four[] = {made, made + matrix, made + 2 * matrix, made + 3 * matrix};
      spread(lines[a][0], lines[a][1], lines[a][2], four);
    }
  }
}

bool winograd_lines(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                    const float* weights, const float* tile, int64_t rows, int64_t width,
                    float* memory, float* out) {
  const KernelTable& table = kernels();
  const int64_t columns = table.convolutions.columns[0];
  const int64_t across = ceil_div(width, 2);
  const int64_t patches = ceil_div(rows, 2) * across;
  const int64_t line = phase.line() * p.in_channels;
  float* v = memory;
  float* m = v + kPatchEntries * patches * p.in_channels;
  for (int64_t r = 0; r < rows; r += 2) {
    table.winograd.spread({across, p.in_channels, tile + r * line, line,
                           v + r / 2 * across * p.in_channels, patches * p.in_channels});
  }
  bool finite = true;
  constexpr int64_t kStart = 0;
  for (int64_t first = 0; first < p.out_channels; first += columns) {
    const int64_t used = std::min(columns, p.out_channels - first);
    const int64_t packed = packed_columns(used, columns);
    WindowCall call{};
    call.rows = patches;
    call.width = packed;
    call.a_row = p.in_channels;
    call.a_step = 1;
    call.segment_at = &kStart;
    call.segments = 1;
    call.segment_length = p.in_channels;
    call.c_row = packed;
    const float* b = weights + kPatchEntries * p.in_channels * first;
    for (int64_t k = 0; k < kPatchEntries; ++k) {
      call.a = v + k * patches * p.in_channels;
      call.b = b + k * p.in_channels * packed;
      call.c = m + k * patches * packed;
      table.convolutions.windows[0](call);
    }
    const int64_t y_row = phase.axis[1].y, y_entry = phase.axis[2].y;
    for (int64_t r = 0; r < rows; r += 2) {
      finite &= table.winograd.gather({across, used, std::min<int64_t>(2, rows - r), width,
                                       m + r / 2 * across * packed, patches * packed, packed,
                                       out + r * y_row + first, y_row, y_entry});
    }
  }
  return finite;
}

}  // namespace pullback
