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

double products(const ConvolutionProgram& p, const ConvolutionPhase& phase) {
  return static_cast<double>(p.batch * phase.positions()) * static_cast<double>(p.groups) *
         static_cast<double>(phase.taps()) * static_cast<double>(p.in_channels * p.out_channels);
}

// Along one axis, the result entries phase, phase + step …, all of which read the same taps.
struct AxisPhase {
  WindowAxis axis;
  int64_t w = 0, y = 0;  // first tap and first entry
};
std::vector<AxisPhase> phases_of(const WindowAxis& axis, int64_t spacing) {
  const int64_t step = spacing / std::gcd(axis.stride, spacing);
  const int64_t tap_step = spacing / std::gcd(axis.dilation, spacing);
  std::vector<AxisPhase> out;
  for (int64_t phase = 0; phase < std::min(step, axis.out); ++phase) {
    for (int64_t tap = 0; tap < std::min(tap_step, axis.taps); ++tap) {
      const int64_t at = phase * axis.stride + tap * axis.dilation - axis.low;
      if (at % spacing != 0) continue;
      AxisPhase made{axis, tap * axis.w, phase * axis.y};
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

void choose_positions(const ConvolutionProgram& p, ConvolutionPhase* phase) {
  const auto& [first, middle, last] = phase->axis;
  const int64_t element = size_of(p.dtype);
  const int64_t columns = columns_of(p);
  phase->winograd = winograd_helps(p, *phase);
  const auto memory = [&](int64_t rows, int64_t width) {
    const int64_t tile = first.taps * middle.input_span(phase->covered(rows), middle.taps) *
                         last.input_span(phase->covered(width), last.taps) * p.in_channels;
    return tile + (phase->winograd ? winograd_memory(p, rows, width, columns) : 0);
  };
  const int64_t limit = phase->winograd ? 2 * kTileBytes : kTileBytes;
  const int64_t step = phase->winograd ? 2 : 1;
  int64_t width = last.out;
  const int64_t least = phase->winograd ? 32 : 64;
  while (width > least && memory(step, width) * element > limit) width = ceil_div(width, 2);
  width = std::min(phase->covered(width), last.out);
  // Rows: as many as fit, cut evenly, and few enough to give all threads a unit.
  int64_t rows = std::min(step, middle.out);
  const double each = products(p, *phase) / static_cast<double>(p.batch * first.out * middle.out);
  const int64_t planes = p.batch * first.out * ceil_div(last.out, width);
  while (rows < middle.out && memory(rows + step, width) * element <= limit &&
         (planes * ceil_div(middle.out, rows + step) >= kChunks ||
          each * static_cast<double>(rows) < kSmallPart / 8)) {
    rows = std::min(rows + step, middle.out);
  }
  const int64_t cuts = ceil_div(middle.out, rows);
  rows = std::min(phase->covered(ceil_div(middle.out, cuts)), middle.out);
  for (int64_t n = rows; 2 * n > rows; --n) {  // panels of one size
    if (middle.out % n == 0 && (phase->covered(n) == n || n == middle.out)) {
      rows = n;
      break;
    }
  }
  phase->rows = rows;
  phase->width = width;
  phase->tile = memory(rows, width);
  const int64_t weights = p.groups * round_up(p.out_channels, columns) * p.in_channels;
  phase->shared = weights * phase->taps();
  if (phase->winograd) {  // one byte per unit
    phase->shared += weights * kPatchEntries + ceil_div(phase->count_units(p), element);
  }
  const bool dense = last.dilation == 1;
  phase->segment_length = dense ? last.taps * p.in_channels : p.in_channels;
  const int64_t line = phase->line() * p.in_channels;
  for (int64_t k0 = 0; k0 < first.taps; ++k0) {
    for (int64_t k1 = 0; k1 < middle.taps; ++k1) {
      for (int64_t k2 = 0; k2 < (dense ? 1 : last.taps); ++k2) {
        phase->segments.push_back((k0 * phase->lines() + k1 * middle.dilation) * line +
                                  k2 * last.dilation * p.in_channels);
      }
    }
  }
}

void choose_taps(const ConvolutionProgram& p, ConvolutionPhase* phase) {
  const auto& [first, middle, last] = phase->axis;
  const int64_t element = size_of(p.dtype);
  const int64_t columns = columns_of(p);
  const auto tile = [&](int64_t rows, int64_t batch) {
    const int64_t lines = middle.input_span(middle.out, rows);
    const int64_t line = last.input_span(last.out, last.taps);
    return first.out * lines * line * batch + rows * last.taps * round_up(p.out_channels, columns);
  };
  // Enough units for all threads: first cut long sums into parts, as long as these are small, then
  // columns into groups, then the batch.
  const int64_t sums = p.groups * phase->positions() * p.batch * round_up(p.out_channels, columns);
  const double all = products(p, *phase);
  const auto wanted = std::clamp<int64_t>(static_cast<int64_t>(all / kSmallPart), 1, kChunks / 2);
  phase->width = p.batch;
  int64_t rows = 1;
  while (rows < middle.taps &&
         tile(rows + 1, std::min<int64_t>(p.batch, 64)) * element <= kTileBytes) {
    ++rows;
  }
  rows = ceil_div(middle.taps, ceil_div(middle.taps, rows));
  const int64_t bands = p.in_channels * first.taps * ceil_div(middle.taps, rows);
  const int64_t deep = std::max<int64_t>(p.in_channels * phase->taps() / kDeepPart, 1);
  const int64_t most = std::min({bands, wanted, deep});
  phase->parts = std::clamp<int64_t>(kPartBytes / (sums * element), 1, most);
  const int64_t slices = ceil_div(p.out_channels, columns);
  const int64_t cuts = std::min(slices, ceil_div(wanted, phase->parts * p.groups));
  phase->columns = ceil_div(slices, cuts) * columns;
  while (phase->width > 64 && (tile(rows, phase->width) * element > 2 * kTileBytes ||
                               phase->parts * cuts * ceil_div(p.batch, phase->width) < wanted)) {
    phase->width = ceil_div(phase->width, 2);
  }
  phase->rows = rows;
  phase->tile = tile(rows, phase->width);
  phase->shared = phase->parts * sums;
}

// Operands whose groups are not adjacent are copied.
void choose_channels(const ConvolutionProgram& p, ConvolutionPhase* phase) {
  const auto& [a, b, c] = phase->axis;
  const int64_t x = p.batch * a.in * b.in * c.in * p.groups * p.in_channels;
  const int64_t w = phase->taps() * p.groups * p.in_channels * p.out_channels;
  phase->shared = (p.x_group == 1 ? 0 : x) + (p.w_group == 1 ? 0 : w);
  phase->tile = p.out_channels > 1 ? c.out * p.groups : 0;
}

ConvolutionMethod method_of(const ConvolutionProgram& p, const ConvolutionPhase& phase) {
  if (p.out_channels <= kFewChannels && p.groups >= kManyGroups &&
      (p.in_channels <= kFewChannels || phase.taps() > phase.positions())) {
    return ConvolutionMethod::Channels;
  }
  return phase.taps() > phase.positions() ? ConvolutionMethod::Taps : ConvolutionMethod::Positions;
}

}  // namespace

ConvolutionProgram compile_convolution(const Convolution& step) {
  ConvolutionProgram p;
  const View &x = step.x, &w = step.w, &y = step.y;
  p.dtype = y.dtype;
  p.x_slot = x.slot, p.w_slot = w.slot, p.y_slot = y.slot;
  p.y_offset = y.offset;
  p.size = y.shape.size();
  p.batch = y.shape[0], p.groups = y.shape[4], p.in_channels = x.shape[5],
  p.out_channels = y.shape[5];
  p.x_batch = x.strides[0], p.x_group = x.strides[4], p.x_channel = x.strides[5];
  p.w_group = w.strides[3], p.w_in = w.strides[4], p.w_out = w.strides[5];
  // The stride of an axis of size 1 is never used; set it so that entries are adjacent.
  if (p.groups == 1) p.x_group = p.w_group = 1;
  if (p.in_channels == 1) p.x_channel = 1;
  if (p.out_channels == 1) p.w_out = 1;
  p.y_batch = y.strides[0];
  if (p.size == 0) return p;
  std::vector<AxisPhase> per_axis[3];
  int64_t seen = 1;
  for (size_t d = 0; d < 3; ++d) {
    const auto at = static_cast<int64_t>(d);
    const Windowing& f = step.windows;
    per_axis[d] =
        phases_of({x.shape[1 + at], w.shape[at], y.shape[1 + at], f.stride[d], f.dilation[d],
                   f.low[d], x.strides[1 + at], w.strides[at], y.strides[1 + at]},
                  f.spacing[d]);
    int64_t entries = 0;
    for (const AxisPhase& phase : per_axis[d]) entries += phase.axis.out;
    seen *= entries;
  }
  p.clears = p.in_channels == 0 || x.shape.size() == 0 ||
             seen < p.size / (p.batch * p.groups * p.out_channels);
  if (p.in_channels == 0 || x.shape.size() == 0) return p;
  for (const AxisPhase& a : per_axis[0]) {
    for (const AxisPhase& b : per_axis[1]) {
      for (const AxisPhase& c : per_axis[2]) {
        ConvolutionPhase phase{{a.axis, b.axis, c.axis}};
        phase.x = x.offset;
        phase.w = w.offset + a.w + b.w + c.w;
        phase.y = a.y + b.y + c.y;
        phase.method = method_of(p, phase);
        switch (phase.method) {
          case ConvolutionMethod::Positions:
            choose_positions(p, &phase);
            break;
          case ConvolutionMethod::Taps:
            choose_taps(p, &phase);
            break;
          case ConvolutionMethod::Channels:
            choose_channels(p, &phase);
            break;
        }
        phase.parallel = products(p, phase) > 1e6;
        p.scratch_bytes = std::max(p.scratch_bytes, phase.shared * size_of(p.dtype));
        p.phases.push_back(std::move(phase));
      }
    }
  }
  return p;
}

int64_t ConvolutionPhase::count_units(const ConvolutionProgram& p) const {
  const auto& [first, middle, last] = axis;
  return p.batch * first.out * ceil_div(middle.out, rows) * ceil_div(last.out, width);
}

int64_t ConvolutionProgram::elements_of_panels() const {
  if (phases.size() != 1 || clears || phases[0].method != ConvolutionMethod::Positions) return 0;
  const ConvolutionPhase& phase = phases[0];
  const bool whole = phase.width == phase.axis[2].out && phase.axis[1].out % phase.rows == 0;
  return whole ? phase.rows * phase.width * groups * out_channels : 0;
}

}  // namespace pullback
