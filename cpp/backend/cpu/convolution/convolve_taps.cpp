// The method Taps: convolutions that sum over many taps for few positions, such as gradients of
// weights. For each position, rows of a product are entries of the batch; the sum runs over the
// taps along the last axis, line after line. With stride 1 the rows of neighbouring positions are
// adjacent, and are computed together.
//
// The sum is cut into parts, and the columns into groups, by the shapes alone. Each part has its
// own result, [group, positions, batch, columns]; these are added in order.
#include <algorithm>

#include "backend/cpu/convolution/convolve.h"
#include "base/threads.h"

namespace pullback {
namespace {

template <class T>
struct Taps {
  const ConvolutionProgram& p;
  const ConvolutionPhase& phase;
  const ConvolutionOperands<T>& of;
  const WindowAxis& first = phase.axis[0];
  const WindowAxis& middle = phase.axis[1];
  const WindowAxis& last = phase.axis[2];
  WindowKernel kernel = kernels().convolutions.windows[sizeof(T) == 8];
  int64_t columns = kernels().convolutions.columns[sizeof(T) == 8];
  int64_t wide = round_up(p.out_channels, columns);
  int64_t line = last.input_span(last.out, last.taps);
  int64_t lines = middle.input_span(middle.out, phase.rows);
  int64_t across = ceil_div(p.batch, phase.width);
  int64_t bands = p.in_channels * first.taps * ceil_div(middle.taps, phase.rows);

  int64_t width_of(int64_t column) const { return std::min(columns, p.out_channels - column); }

  // Packs `rows` lines of taps from k1 on, for the columns j0 … j1, in slices.
  void pack_weights(int64_t g, int64_t c, int64_t k0, int64_t k1, int64_t rows, int64_t j0,
                    int64_t j1, T* to) const {
    for (int64_t j = j0; j < j1; j += columns) {
      const int64_t width = width_of(j);
      const int64_t stride = packed_columns(width, columns);
      T* out = to + (j - j0) * rows * last.taps;
      for (int64_t r = 0; r < rows; ++r) {
        const T* from =
            of.w + g * p.w_group + c * p.w_in + k0 * first.w + (k1 + r) * middle.w + j * p.w_out;
        for (int64_t k2 = 0; k2 < last.taps; ++k2, from += last.w, out += stride) {
          for (int64_t i = 0; i < width; ++i) out[i] = from[i * p.w_out];
          for (int64_t i = width; i < stride; ++i) out[i] = T(0);
        }
      }
    }
  }

  // Packs the entries that all positions read with these taps, for `count` entries of the batch
  // from n.
  void pack_tile(int64_t g, int64_t c, int64_t k0, int64_t k1, int64_t rows, int64_t n,
                 int64_t count, T* tile) const {
    const int64_t used = middle.input_span(middle.out, rows);
    const T* from = of.x + n * p.x_batch + g * p.x_group + c * p.x_channel;
    for (int64_t t0 = 0; t0 < first.out; ++t0) {
      const int64_t i0 = t0 * first.stride + k0 * first.dilation - first.low;
      for (int64_t r = 0; r < used; ++r) {
        const int64_t i1 = k1 * middle.dilation - middle.low + r;
        const bool outside = i0 < 0 || i0 >= first.in || i1 < 0 || i1 >= middle.in;
        pack_entries(outside ? from : from + i0 * first.x + i1 * middle.x, outside ? 0 : last.in,
                     last.x, p.x_batch, count, -last.low, line,
                     tile + (t0 * lines + r) * line * count);
      }
    }
  }

  T* sums(int64_t part, int64_t g) const {
    return of.shared + (part * p.groups + g) * phase.positions() * p.batch * wide;
  }

  struct Unit {
    int64_t part, g, n, j0, j1;
  };
  void band(const Unit& unit, int64_t b, bool add, T* tile) const {
    const auto [part, g, n, j0, j1] = unit;
    const int64_t down = ceil_div(middle.taps, phase.rows);
    const int64_t k1 = b % down * phase.rows;
    const int64_t k0 = b / down % first.taps;
    const int64_t c = b / down / first.taps;
    const int64_t rows = std::min(phase.rows, middle.taps - k1);
    const int64_t count = std::min(phase.width, p.batch - n);
    T* weights = tile + first.out * lines * line * count;
    pack_tile(g, c, k0, k1, rows, n, count, tile);
    pack_weights(g, c, k0, k1, rows, j0, j1, weights);
    int64_t segments[kTileBytes / 512];
    const bool together = last.stride == 1 && count == p.batch;
    const int64_t steps = together ? 1 : last.out;
    WindowCall call{};
    call.rows = together ? last.out * count : count;
    call.a_row = 1;
    call.a_step = last.dilation * count;
    call.segment_length = last.taps;
    call.c_row = wide;
    constexpr auto kMost = static_cast<int64_t>(std::size(segments));
    for (int64_t r0 = 0; r0 < rows; r0 += kMost) {
      const int64_t most = std::min(kMost, rows - r0);
      for (int64_t r = 0; r < most; ++r) {
        segments[r] = (r0 + r) * middle.dilation * line * count;
      }
      for (int64_t j = j0; j < j1; j += columns) {
        call.width = width_of(j);
        const int64_t stride = packed_columns(call.width, columns);
        const T* packed = weights + (j - j0) * rows * last.taps;
        for (int64_t t = 0; t < first.out * middle.out * steps; ++t) {
          const int64_t t2 = t % steps;
          const int64_t t1 = t / steps % middle.out;
          const int64_t t0 = t / steps / middle.out;
          // Lines of padding are skipped.
          const WindowAxis::Taps seen = middle.taps_of(t1);
          const WindowAxis::Taps planes = first.taps_of(t0);
          const bool outside = k0 < planes.first || k0 >= planes.last;
          const int64_t begin = std::clamp(seen.first - k1, r0, r0 + most);
          const int64_t end = outside ? begin : std::min(seen.last - k1, r0 + most);
          if (begin >= end && (add || r0 > 0)) continue;
          call.segment_at = segments + (begin - r0);
          call.segments = std::max<int64_t>(end - begin, 0);
          call.b = packed + begin * last.taps * stride;
          call.add = add || r0 > 0;
          call.a = tile + ((t0 * lines + t1 * middle.stride) * line + t2 * last.stride) * count;
          const int64_t position = (t0 * middle.out + t1) * last.out + t2;
          call.c = sums(part, g) + (position * p.batch + n) * wide + j;
          kernel(call);
        }
      }
    }
  }

  // Adds the parts of one position and stores the sum.
  void store(int64_t i) const {
    const int64_t positions = phase.positions();
    const int64_t position = i % positions;
    const int64_t g = i / positions;
    const int64_t t2 = position % last.out;
    const int64_t t1 = position / last.out % middle.out;
    const int64_t t0 = position / last.out / middle.out;
    T* y = of.y + t0 * first.y + t1 * middle.y + t2 * last.y + g * p.out_channels;
    for (int64_t n = 0; n < p.batch; ++n, y += p.y_batch) {
      const int64_t at = (position * p.batch + n) * wide;
      std::copy_n(sums(0, g) + at, p.out_channels, y);
      for (int64_t part = 1; part < phase.parts; ++part) {
        const T* more = sums(part, g) + at;
        for (int64_t j = 0; j < p.out_channels; ++j) y[j] += more[j];
      }
    }
  }

  Status run() const {
    FirstProblem problem;
    const int64_t cut = phase.columns;
    const int64_t cuts = ceil_div(p.out_channels, cut);
    parallel_for(phase.parts * p.groups * across * cuts, phase.parallel, [&](int64_t unit) {
      const ConvolutionTile tile(phase.tile * static_cast<int64_t>(sizeof(T)));
      if (!tile.data()) return problem.report(unit, Problem::Memory);
      const int64_t j = unit % cuts * cut;
      const int64_t n = unit / cuts % across * phase.width;
      const int64_t g = unit / cuts / across % p.groups;
      const int64_t part = unit / cuts / across / p.groups;
      const int64_t begin = part * bands / phase.parts;
      const int64_t end = (part + 1) * bands / phase.parts;
      for (int64_t b = begin; b < end; ++b) {
        band({part, g, n, j, std::min(j + cut, p.out_channels)}, b, b > begin,
             reinterpret_cast<T*>(tile.data()));
      }
    });
    if (!problem.status()) return problem.status();
    parallel_for(p.groups * phase.positions(), p.size > 64 * 1024, [&](int64_t i) { store(i); });
    return {};
  }
};

}  // namespace

template <class T>
Status run_taps(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                const ConvolutionOperands<T>& of) {
  return Taps<T>{p, phase, of}.run();
}
template Status run_taps(const ConvolutionProgram&, const ConvolutionPhase&,
                         const ConvolutionOperands<float>&);
template Status run_taps(const ConvolutionProgram&, const ConvolutionPhase&,
                         const ConvolutionOperands<double>&);

}  // namespace pullback
