// Convolutions by 3 x 3 taps at stride 1 with 16 products for 2 x 2 results instead of 36
// (kernels/winograd.cpp): patches of the input and the weights become 16 matrices each, whose
// products are gathered to results.
//
// As exact as the sum over the taps: with 2 x 2 results nothing is multiplied but by 1/2. Of
// patches of 6 x 6 for 4 x 4 results the errors were 3 to 12 times as large, and they met results
// whose own window is small.
#include "backend/cpu/convolve.h"

namespace pullback {

bool winograd_helps(const ConvolutionProgram& p, const ConvolutionPiece& piece) {
  constexpr int64_t kChannels = 32;          // below, making the matrices takes what they save
  constexpr int64_t kResults = 4;            // of 3 x 3 almost half would be for nothing
  constexpr int64_t kPositions = 512;        // that the weights are made for
  constexpr int64_t kWeightBytes = 6 << 20;  // a unit reads them all: from a cache
  const auto plain = [](const WindowAxis& a) {
    return a.taps == 3 && a.stride == 1 && a.dilation == 1 && a.out >= kResults;
  };
  return piece.axis[0].taps == 1 && plain(piece.axis[1]) && plain(piece.axis[2]) &&
         std::min(p.from, p.to) >= kChannels && p.batch * piece.positions() >= kPositions &&
         kPatchEntries * p.from * p.to * size_of(p.dtype) <= kWeightBytes;
}

int64_t winograd_memory(const ConvolutionProgram& p, int64_t rows, int64_t width, int64_t columns) {
  const int64_t patches = ceil_div(rows, 2) * ceil_div(width, 2);
  return kPatchEntries * patches * (p.from + columns);
}

template <class T>
void winograd_weights(const T* taps, int64_t channels, int64_t columns, T* to) {
  const int64_t matrix = channels * columns;
  for (int64_t i = 0; i < matrix; ++i) {
    const auto spread = [](T a, T b, T c, T* four, int64_t apart) {
      four[0] = a;
      four[apart] = (a + c + b) / 2;
      four[2 * apart] = (a + c - b) / 2;
      four[3 * apart] = c;
    };
    T rows[4 * 3];  // [entry of the patch, tap]
    for (int64_t b = 0; b < 3; ++b) {
      spread(taps[b * matrix + i], taps[(3 + b) * matrix + i], taps[(6 + b) * matrix + i], rows + b,
             3);
    }
    for (int64_t a = 0; a < 4; ++a) {
      spread(rows[3 * a], rows[3 * a + 1], rows[3 * a + 2], to + 4 * a * matrix + i, matrix);
    }
  }
}

template <class T>
bool winograd_lines(const ConvolutionProgram& p, const ConvolutionPiece& piece, const T* weights,
                    const T* tile, int64_t rows, int64_t width, T* memory, T* out) {
  constexpr bool kWide = sizeof(T) == 8;
  const KernelTable& table = kernels();
  const int64_t columns = table.convolutions.columns[kWide];
  const int64_t across = ceil_div(width, 2);
  const int64_t patches = ceil_div(rows, 2) * across;
  const int64_t line = piece.line() * p.from;
  T* v = memory;
  T* m = v + kPatchEntries * patches * p.from;
  for (int64_t r = 0; r < rows; r += 2) {
    table.winograd.spread[kWide](
        {across, p.from, tile + r * line, line, v + r / 2 * across * p.from, patches * p.from});
  }
  bool finite = true;
  constexpr int64_t kStart = 0;
  for (int64_t first = 0; first < p.to; first += columns) {
    const int64_t used = std::min(columns, p.to - first);
    const int64_t packed = packed_columns(used, columns);
    WindowCall call{};
    call.rows = patches;
    call.width = packed;
    call.a_row = p.from;
    call.a_step = 1;
    call.segment_at = &kStart;
    call.segments = 1;
    call.segment_length = p.from;
    call.c_row = packed;
    const T* b = weights + kPatchEntries * p.from * first;
    for (int64_t k = 0; k < kPatchEntries; ++k) {
      call.a = v + k * patches * p.from;
      call.b = b + k * p.from * packed;
      call.c = m + k * patches * packed;
      table.convolutions.windows[kWide](call);
    }
    const int64_t y_row = piece.axis[1].y, y_entry = piece.axis[2].y;
    for (int64_t r = 0; r < rows; r += 2) {
      finite &= table.winograd.gather[kWide]({across, used, std::min<int64_t>(2, rows - r), width,
                                              m + r / 2 * across * packed, patches * packed, packed,
                                              out + r * y_row + first, y_row, y_entry});
    }
  }
  return finite;
}

template void winograd_weights(const float*, int64_t, int64_t, float*);
template void winograd_weights(const double*, int64_t, int64_t, double*);
template bool winograd_lines(const ConvolutionProgram&, const ConvolutionPiece&, const float*,
                             const float*, int64_t, int64_t, float*, float*);
template bool winograd_lines(const ConvolutionProgram&, const ConvolutionPiece&, const double*,
                             const double*, int64_t, int64_t, double*, double*);

}  // namespace pullback
