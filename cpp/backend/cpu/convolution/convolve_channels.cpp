// The method Channels: convolutions with many groups of few channels, mainly depthwise ones.
// Groups are adjacent and form vectors; taps outside of the input are skipped. An operand whose
// groups are not adjacent is copied first.
#include <algorithm>
#include <cstring>

#include "backend/cpu/convolution/convolve.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kMostSegments = 256;
constexpr int64_t kGroupStrip = 256;  // groups per unit

template <class T>
struct Channels {
  const ConvolutionProgram& p;
  const ConvolutionPhase& phase;
  const ConvolutionOperands<T>& of;
  const WindowAxis& first = phase.axis[0];
  const WindowAxis& middle = phase.axis[1];
  const WindowAxis& last = phase.axis[2];
  ChannelsKernel kernel = kernels().convolutions.channels[sizeof(T) == 8];
  // The operands with adjacent groups, and their other strides.
  const T* x = of.x;
  const T* w = of.w;
  int64_t x_batch = p.x_batch, x_channel = p.x_channel, w_in = p.w_in, w_out = p.w_out;
  int64_t x_axis[3] = {first.x, middle.x, last.x};
  int64_t w_axis[3] = {first.w, middle.w, last.w};

  // out[a, …, g] = in[a, …, g], one row of groups at a time.
  static void copy(const T* in, const int64_t* lengths, const int64_t* strides, int64_t axes,
                   int64_t groups, int64_t group, T* out) {
    int64_t rows = 1;
    for (int64_t d = 0; d < axes; ++d) rows *= lengths[d];
    const int64_t per_chunk = chunk_size(rows, groups);
    parallel_for(ceil_div(rows, per_chunk), rows * groups > 64 * 1024, [&](int64_t chunk) {
      for (int64_t r = chunk * per_chunk; r < std::min((chunk + 1) * per_chunk, rows); ++r) {
        const T* from = in;
        for (int64_t d = axes, left = r; d-- > 0; left /= lengths[d]) {
          from += left % lengths[d] * strides[d];
        }
        for (int64_t g = 0; g < groups; ++g) out[r * groups + g] = from[g * group];
      }
    });
  }

  void make_adjacent() {
    T* at = of.shared;
    if (p.x_group != 1) {
      const int64_t lengths[] = {p.batch, p.in_channels, first.in, middle.in, last.in};
      const int64_t strides[] = {p.x_batch, p.x_channel, first.x, middle.x, last.x};
      copy(of.x, lengths, strides, 5, p.groups, p.x_group, at);
      x = at;
      x_axis[2] = p.groups;
      x_axis[1] = x_axis[2] * last.in;
      x_axis[0] = x_axis[1] * middle.in;
      x_channel = x_axis[0] * first.in;
      x_batch = x_channel * p.in_channels;
      at += x_batch * p.batch;
    }
    if (p.w_group != 1) {
      const int64_t lengths[] = {p.in_channels, p.out_channels, first.taps, middle.taps, last.taps};
      const int64_t strides[] = {p.w_in, p.w_out, first.w, middle.w, last.w};
      copy(of.w, lengths, strides, 5, p.groups, p.w_group, at);
      w = at;
      w_axis[2] = p.groups;
      w_axis[1] = w_axis[2] * last.taps;
      w_axis[0] = w_axis[1] * middle.taps;
      w_out = w_axis[0] * first.taps;
      w_in = w_out * p.out_channels;
    }
  }

  // The taps of result entry o that read an input entry.
  static TapRange inside(const WindowAxis& a, int64_t o) {
    return taps_inside(o * a.stride - a.low, a.in, a.dilation, a.taps);
  }

  // Computes a row of the result for the groups g …, for one channel: [last.out, groups] at y.
  void row(int64_t n, int64_t t0, int64_t t1, int64_t g, int64_t groups, int64_t o, T* y,
           int64_t y_output) const {
    ChannelsCall call{};
    call.channels = groups;
    call.x_output = last.stride * x_axis[2];
    call.x_tap = last.dilation * x_axis[2];
    call.w_tap = w_axis[2];
    call.y_output = y_output;
    int64_t x_at[kMostSegments], w_at[kMostSegments];
    call.x_at = x_at;
    call.w_at = w_at;
    const TapRange k0 = inside(first, t0);
    const TapRange k1 = inside(middle, t1);
    const int64_t planes = k0.end - k0.begin;
    const int64_t lines = k1.end - k1.begin;
    const int64_t segments = p.in_channels * planes * lines;
    bool add = false;
    const auto some = [&] {
      for (int64_t t2 = 0, end; t2 < last.out; t2 = end) {
        const TapRange taps = inside(last, t2);
        for (end = t2 + 1; end < last.out && inside(last, end) == taps;) ++end;
        call.outputs = end - t2;
        call.taps = taps.end - taps.begin;
        call.x = x + n * x_batch + g +
                 (t2 * last.stride + taps.begin * last.dilation - last.low) * x_axis[2];
        call.w = w + g + o * w_out + taps.begin * w_axis[2];
        call.y = y + t2 * y_output;
        call.add = add;
        kernel(call);
      }
      add = true;
      call.segments = 0;
    };
    for (int64_t s = 0; s < segments; ++s) {
      const int64_t b = k1.begin + s % lines;
      const int64_t a = k0.begin + s / lines % planes;
      const int64_t c = s / lines / planes;
      x_at[call.segments] = c * x_channel +
                            (t0 * first.stride + a * first.dilation - first.low) * x_axis[0] +
                            (t1 * middle.stride + b * middle.dilation - middle.low) * x_axis[1];
      w_at[call.segments++] = c * w_in + a * w_axis[0] + b * w_axis[1];
      if (call.segments == kMostSegments) some();
    }
    if (call.segments > 0 || !add) some();
  }

  Status run() {
    make_adjacent();
    const int64_t strips = ceil_div(p.groups, kGroupStrip);
    const int64_t units = p.batch * first.out * middle.out * strips;
    const int64_t per_chunk = ceil_div(units, 4 * kChunks);
    FirstProblem problem;
    parallel_for(ceil_div(units, per_chunk), phase.parallel, [&](int64_t chunk) {
      const ConvolutionTile tile(p.out_channels > 1 ? phase.tile * static_cast<int64_t>(sizeof(T))
                                                    : 0);
      T* line = reinterpret_cast<T*>(tile.data());
      if (p.out_channels > 1 && !line) return problem.report(chunk, Problem::Memory);
      for (int64_t u = chunk * per_chunk; u < std::min((chunk + 1) * per_chunk, units); ++u) {
        const int64_t g = u % strips * kGroupStrip;
        const int64_t t1 = u / strips % middle.out;
        const int64_t t0 = u / strips / middle.out % first.out;
        const int64_t n = u / strips / middle.out / first.out;
        const int64_t groups = std::min(kGroupStrip, p.groups - g);
        T* y = of.y + n * p.y_batch + t0 * first.y + t1 * middle.y + g * p.out_channels;
        if (p.out_channels == 1) {
          row(n, t0, t1, g, groups, 0, y, last.y);
          continue;
        }
        for (int64_t o = 0; o < p.out_channels; ++o) {
          row(n, t0, t1, g, groups, o, line, groups);
          for (int64_t t2 = 0; t2 < last.out; ++t2) {
            for (int64_t i = 0; i < groups; ++i) {
              y[t2 * last.y + i * p.out_channels + o] = line[t2 * groups + i];
            }
          }
        }
      }
    });
    return problem.status();
  }
};

}  // namespace

template <class T>
Status run_channels(const ConvolutionProgram& p, const ConvolutionPhase& phase,
                    const ConvolutionOperands<T>& of) {
  return Channels<T>{p, phase, of}.run();
}
template Status run_channels(const ConvolutionProgram&, const ConvolutionPhase&,
                             const ConvolutionOperands<float>&);
template Status run_channels(const ConvolutionProgram&, const ConvolutionPhase&,
                             const ConvolutionOperands<double>&);

}  // namespace pullback
