// Compiles convolutions. A spaced input is divided into phases, so that no tap reads an absent
// entry. For each phase it chooses a method and the size of units. Start at compile_convolution.
#include "backend/cpu/convolution/convolve.h"

#include <algorithm>
#include <numeric>

namespace pullback {
namespace {

constexpr int64_t kFewChannels = 4;
constexpr int64_t kManyGroups = 8;
constexpr int64_t kPartBytes = 32 << 20;  // for separate partial sums
constexpr double kSmallPart = 8e6;        // products per part
constexpr int64_t kDeepPart = 768;        // products per entry from which the sum is cut into parts

int64_t columns_of(const ConvolutionProgram& p) {
  return kernels().convolutions.columns[p.dtype == DType::Float64];
}

double products(const ConvolutionProgram& p, const ConvolutionPiece& piece) {
  return static_cast<double>(p.batch * piece.positions()) * static_cast<double>(p.groups) *
         static_cast<double>(piece.taps()) * static_cast<double>(p.from * p.to);
}

// Along one axis, the result entries phase, phase + step …, all of which read the same taps.
struct Phase {
  WindowAxis axis;
  int64_t w = 0, y = 0;  // first tap and first entry
};
std::vector<Phase> phases_of(const WindowAxis& axis, int64_t spacing) {
  const int64_t step = spacing / std::gcd(axis.stride, spacing);
  const int64_t tap_step = spacing / std::gcd(axis.dilation, spacing);
  std::vector<Phase> out;
  for (int64_t phase = 0; phase < std::min(step, axis.out); ++phase) {
    for (int64_t tap = 0; tap < std::min(tap_step, axis.taps); ++tap) {
      const int64_t at = phase * axis.stride + tap * axis.dilation - axis.low;
      if (at % spacing != 0) continue;
      Phase made{axis, tap * axis.w, phase * axis.y};
      made.axis.out = ceil_div(axis.out - phase, step);
      made.axis.taps = ceil_div(axis.taps - tap, tap_step);
      made.axis.stride = step * axis.stride / spacing;
      made.axis.dilation = tap_step * axis.dilation / spacing;
      made.axis.low = -at / spacing;
      made.axis.w *= tap_step;
      made.axis.y *= step;
      out.push_back(made);
      break;
    }
  }
  return out;
}

void choose_positions(const ConvolutionProgram& p, ConvolutionPiece* piece) {
  const auto& [first, middle, last] = piece->axis;
  const int64_t element = size_of(p.dtype);
  const int64_t columns = columns_of(p);
  piece->winograd = winograd_helps(p, *piece);
  const auto memory = [&](int64_t rows, int64_t width) {
    const int64_t tile = first.taps * middle.span(piece->covered(rows), middle.taps) *
                         last.span(piece->covered(width), last.taps) * p.from;
    return tile + (piece->winograd ? winograd_memory(p, rows, width, columns) : 0);
  };
  const int64_t limit = piece->winograd ? 2 * kTileBytes : kTileBytes;
  const int64_t step = piece->winograd ? 2 : 1;
  int64_t width = last.out;
  const int64_t least = piece->winograd ? 32 : 64;
  while (width > least && memory(step, width) * element > limit) width = ceil_div(width, 2);
  width = std::min(piece->covered(width), last.out);
  // Rows: as many as fit, cut evenly, and few enough to give all threads a unit.
  int64_t rows = std::min(step, middle.out);
  const double each = products(p, *piece) / static_cast<double>(p.batch * first.out * middle.out);
  const int64_t planes = p.batch * first.out * ceil_div(last.out, width);
  while (rows < middle.out && memory(rows + step, width) * element <= limit &&
         (planes * ceil_div(middle.out, rows + step) >= kChunks ||
          each * static_cast<double>(rows) < kSmallPart / 8)) {
    rows = std::min(rows + step, middle.out);
  }
  const int64_t cuts = ceil_div(middle.out, rows);
  rows = std::min(piece->covered(ceil_div(middle.out, cuts)), middle.out);
  for (int64_t n = rows; 2 * n > rows; --n) {  // panels of one size
    if (middle.out % n == 0 && (piece->covered(n) == n || n == middle.out)) {
      rows = n;
      break;
    }
  }
  piece->rows = rows;
  piece->width = width;
  piece->tile = memory(rows, width);
  const int64_t weights = p.groups * round_up(p.to, columns) * p.from;
  piece->shared = weights * piece->taps();
  if (piece->winograd) {  // one byte per unit
    piece->shared += weights * kPatchEntries + ceil_div(piece->units(p), element);
  }
  const bool dense = last.dilation == 1;
  piece->segment_length = dense ? last.taps * p.from : p.from;
  const int64_t line = piece->line() * p.from;
  for (int64_t k0 = 0; k0 < first.taps; ++k0) {
    for (int64_t k1 = 0; k1 < middle.taps; ++k1) {
      for (int64_t k2 = 0; k2 < (dense ? 1 : last.taps); ++k2) {
        piece->segments.push_back((k0 * piece->lines() + k1 * middle.dilation) * line +
                                  k2 * last.dilation * p.from);
      }
    }
  }
}

void choose_taps(const ConvolutionProgram& p, ConvolutionPiece* piece) {
  const auto& [first, middle, last] = piece->axis;
  const int64_t element = size_of(p.dtype);
  const int64_t columns = columns_of(p);
  const auto tile = [&](int64_t rows, int64_t batch) {
    const int64_t lines = middle.span(middle.out, rows);
    const int64_t line = last.span(last.out, last.taps);
    return first.out * lines * line * batch + rows * last.taps * round_up(p.to, columns);
  };
  // Enough units for all threads: first cut long sums into parts, as long as these are small, then
  // columns into groups, then the batch.
  const int64_t sums = p.groups * piece->positions() * p.batch * round_up(p.to, columns);
  const double all = products(p, *piece);
  const auto wanted = std::clamp<int64_t>(static_cast<int64_t>(all / kSmallPart), 1, kChunks / 2);
  piece->width = p.batch;
  int64_t rows = 1;
  while (rows < middle.taps &&
         tile(rows + 1, std::min<int64_t>(p.batch, 64)) * element <= kTileBytes) {
    ++rows;
  }
  rows = ceil_div(middle.taps, ceil_div(middle.taps, rows));
  const int64_t bands = p.from * first.taps * ceil_div(middle.taps, rows);
  const int64_t deep = std::max<int64_t>(p.from * piece->taps() / kDeepPart, 1);
  const int64_t most = std::min({bands, wanted, deep});
  piece->parts = std::clamp<int64_t>(kPartBytes / (sums * element), 1, most);
  const int64_t slices = ceil_div(p.to, columns);
  const int64_t cuts = std::min(slices, ceil_div(wanted, piece->parts * p.groups));
  piece->columns = ceil_div(slices, cuts) * columns;
  while (piece->width > 64 && (tile(rows, piece->width) * element > 2 * kTileBytes ||
                               piece->parts * cuts * ceil_div(p.batch, piece->width) < wanted)) {
    piece->width = ceil_div(piece->width, 2);
  }
  piece->rows = rows;
  piece->tile = tile(rows, piece->width);
  piece->shared = piece->parts * sums;
}

// Operands whose groups are not adjacent are copied.
void choose_channels(const ConvolutionProgram& p, ConvolutionPiece* piece) {
  const auto& [a, b, c] = piece->axis;
  const int64_t x = p.batch * a.in * b.in * c.in * p.groups * p.from;
  const int64_t w = piece->taps() * p.groups * p.from * p.to;
  piece->shared = (p.x_group == 1 ? 0 : x) + (p.w_group == 1 ? 0 : w);
  piece->tile = p.to > 1 ? c.out * p.groups : 0;
}

ConvolutionMethod method_of(const ConvolutionProgram& p, const ConvolutionPiece& piece) {
  if (p.to <= kFewChannels && p.groups >= kManyGroups &&
      (p.from <= kFewChannels || piece.taps() > piece.positions())) {
    return ConvolutionMethod::Channels;
  }
  return piece.taps() > piece.positions() ? ConvolutionMethod::Taps : ConvolutionMethod::Positions;
}

}  // namespace

ConvolutionProgram compile_convolution(const Convolution& step) {
  ConvolutionProgram p;
  const View &x = step.x, &w = step.w, &y = step.y;
  p.dtype = y.dtype;
  p.x_slot = x.slot, p.w_slot = w.slot, p.y_slot = y.slot;
  p.y_offset = y.offset;
  p.size = y.shape.size();
  p.batch = y.shape[0], p.groups = y.shape[4], p.from = x.shape[5], p.to = y.shape[5];
  p.x_batch = x.strides[0], p.x_group = x.strides[4], p.x_channel = x.strides[5];
  p.w_group = w.strides[3], p.w_from = w.strides[4], p.w_to = w.strides[5];
  // The stride of an axis of size 1 is never used; set it so that entries are adjacent.
  if (p.groups == 1) p.x_group = p.w_group = 1;
  if (p.from == 1) p.x_channel = 1;
  if (p.to == 1) p.w_to = 1;
  p.y_batch = y.strides[0];
  if (p.size == 0) return p;
  std::vector<Phase> phases[3];
  int64_t seen = 1;
  for (size_t d = 0; d < 3; ++d) {
    const auto at = static_cast<int64_t>(d);
    const Windowing& f = step.windows;
    phases[d] =
        phases_of({x.shape[1 + at], w.shape[at], y.shape[1 + at], f.stride[d], f.dilation[d],
                   f.low[d], x.strides[1 + at], w.strides[at], y.strides[1 + at]},
                  f.spacing[d]);
    int64_t entries = 0;
    for (const Phase& phase : phases[d]) entries += phase.axis.out;
    seen *= entries;
  }
  p.clears = p.from == 0 || x.shape.size() == 0 || seen < p.size / (p.batch * p.groups * p.to);
  if (p.from == 0 || x.shape.size() == 0) return p;
  for (const Phase& a : phases[0]) {
    for (const Phase& b : phases[1]) {
      for (const Phase& c : phases[2]) {
        ConvolutionPiece piece{{a.axis, b.axis, c.axis}};
        piece.x = x.offset;
        piece.w = w.offset + a.w + b.w + c.w;
        piece.y = a.y + b.y + c.y;
        piece.method = method_of(p, piece);
        switch (piece.method) {
          case ConvolutionMethod::Positions:
            choose_positions(p, &piece);
            break;
          case ConvolutionMethod::Taps:
            choose_taps(p, &piece);
            break;
          case ConvolutionMethod::Channels:
            choose_channels(p, &piece);
            break;
        }
        piece.worth = products(p, piece) > 1e6;
        p.scratch_bytes = std::max(p.scratch_bytes, piece.shared * size_of(p.dtype));
        p.pieces.push_back(std::move(piece));
      }
    }
  }
  return p;
}

int64_t ConvolutionPiece::units(const ConvolutionProgram& p) const {
  const auto& [first, middle, last] = axis;
  return p.batch * first.out * ceil_div(middle.out, rows) * ceil_div(last.out, width);
}

int64_t ConvolutionProgram::elements_of_panels() const {
  if (pieces.size() != 1 || clears || pieces[0].method != ConvolutionMethod::Positions) return 0;
  const ConvolutionPiece& piece = pieces[0];
  const bool whole = piece.width == piece.axis[2].out && piece.axis[1].out % piece.rows == 0;
  return whole ? piece.rows * piece.width * groups * to : 0;
}

}  // namespace pullback
