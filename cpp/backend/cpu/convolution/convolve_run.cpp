// The method Positions: products whose rows are positions along the last axis. A tile of the input,
// padded with zeros, is copied densely, channels last. Rows of the product are read there in place,
// tap after tap, so no entry is copied once per window. Weights are packed once per run.
//
// The order of additions depends on the shapes alone. With Winograd's products
// (convolve_winograd.cpp) it also depends on whether a weight is zero and whether the results of a
// unit are finite. It never depends on threads.
#include "backend/cpu/convolution/convolve.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/threads.h"

namespace pullback {

template <class T>
void pack_entries(const T* from, int64_t in, int64_t stride, int64_t channel, int64_t channels,
                  int64_t first, int64_t count, T* to) {
  const int64_t begin = std::clamp<int64_t>(-first, 0, count);
  const int64_t end = std::clamp<int64_t>(in - first, begin, count);
  std::fill_n(to, begin * channels, T(0));
  std::fill_n(to + end * channels, (count - end) * channels, T(0));
  from += (first + begin) * stride;
  to += begin * channels;
  const int64_t n = end - begin;
  if (channel == 1 && stride == channels) {
    std::copy_n(from, n * channels, to);
  } else if (channel == 1) {
    for (int64_t i = 0; i < n; ++i) std::copy_n(from + i * stride, channels, to + i * channels);
  } else {
    constexpr int64_t kBlock = 16;
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t some = std::min(kBlock, n - i);
      for (int64_t c = 0; c < channels; ++c) {
        const T* at = from + i * stride + c * channel;
        for (int64_t j = 0; j < some; ++j) to[(i + j) * channels + c] = at[j * stride];
      }
    }
  }
}
template void pack_entries(const float*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                           float*);
template void pack_entries(const double*, int64_t, int64_t, int64_t, int64_t, int64_t, int64_t,
                           double*);

namespace {

template <class T>
struct Positions {
  const ConvolutionProgram& p;
  const ConvolutionPhase& phase;
  const ConvolutionOperands<T>& of;
  PanelHook hook;
  const WindowAxis& first = phase.axis[0];
  const WindowAxis& middle = phase.axis[1];
  const WindowAxis& last = phase.axis[2];
  WindowKernel kernel = kernels().convolutions.windows[sizeof(T) == 8];
  int64_t columns = kernels().convolutions.columns[sizeof(T) == 8];
  int64_t depth = phase.taps() * p.in_channels;
  int64_t slices = ceil_div(p.out_channels, columns);

  T* slice(int64_t g, int64_t s) const { return of.shared + (g * slices + s) * depth * columns; }
  int64_t width_of(int64_t s) const { return std::min(columns, p.out_channels - s * columns); }
  int64_t stride_of(int64_t s) const { return packed_columns(width_of(s), columns); }

  void pack_weights(int64_t g, int64_t s) const {
    const int64_t width = width_of(s);
    const int64_t stride = stride_of(s);
    T* to = slice(g, s);
    std::fill_n(to, depth * stride, T(0));
    const T* from = of.w + g * p.w_group + s * columns * p.w_out;
    for (int64_t k = 0; k < phase.taps(); ++k, to += p.in_channels * stride) {
      const int64_t k2 = k % last.taps;
      const int64_t k1 = k / last.taps % middle.taps;
      const int64_t k0 = k / last.taps / middle.taps;
      const T* tap = from + k0 * first.w + k1 * middle.w + k2 * last.w;
      if (p.w_out == 1) {
        for (int64_t c = 0; c < p.in_channels; ++c) {
          std::copy_n(tap + c * p.w_in, width, to + c * stride);
        }
      } else {
        for (int64_t j = 0; j < width; ++j) {
          for (int64_t c = 0; c < p.in_channels; ++c) {
            to[c * stride + j] = tap[c * p.w_in + j * p.w_out];
          }
        }
      }
    }
  }

  // The position and size of a unit.
  struct Place {
    int64_t n, t0, t1, t2, rows, width;
  };
  Place place_of(int64_t u) const {
    const int64_t across = ceil_div(last.out, phase.width);
    const int64_t down = ceil_div(middle.out, phase.rows);
    const int64_t t2 = u % across * phase.width;
    const int64_t t1 = u / across % down * phase.rows;
    const int64_t t0 = u / across / down % first.out;
    const int64_t n = u / across / down / first.out;
    return {
        n, t0, t1, t2, std::min(phase.rows, middle.out - t1), std::min(phase.width, last.out - t2)};
  }
  T* out(const Place& at, int64_t g) const {
    return of.y + at.n * p.y_batch + at.t0 * first.y + at.t1 * middle.y + at.t2 * last.y +
           g * p.out_channels;
  }

  void pack_tile(const Place& at, int64_t g, T* tile) const {
    const int64_t lines = phase.lines();
    const int64_t used = middle.input_span(phase.covered(at.rows), middle.taps);
    const int64_t line = phase.line() * p.in_channels;
    const int64_t count = last.input_span(phase.covered(at.width), last.taps);
    const T* from = of.x + at.n * p.x_batch + g * p.x_group;
    for (int64_t k0 = 0; k0 < first.taps; ++k0) {
      const int64_t i0 = at.t0 * first.stride + k0 * first.dilation - first.low;
      for (int64_t r = 0; r < used; ++r) {
        const int64_t i1 = at.t1 * middle.stride - middle.low + r;
        const bool outside = i0 < 0 || i0 >= first.in || i1 < 0 || i1 >= middle.in;
        pack_entries(outside ? from : from + i0 * first.x + i1 * middle.x, outside ? 0 : last.in,
                     last.x, p.x_channel, p.in_channels, at.t2 * last.stride - last.low, count,
                     tile + (k0 * lines + r) * line);
      }
    }
  }

  // The segments of a line of the result that read more than padding: along one axis only, since
  // only along one are they contiguous.
  bool planes = first.taps > 1;
  int64_t segments_of_tap =
      static_cast<int64_t>(phase.segments.size()) / (planes ? first.taps : middle.taps);
  WindowAxis::Taps segments_of(int64_t t0, int64_t t1) const {
    const auto [begin, end] = planes ? first.taps_of(t0) : middle.taps_of(t1);
    return {begin * segments_of_tap, end * segments_of_tap};
  }

  void unit(int64_t u, T* tile) const {
    const Place at = place_of(u);
    const int64_t line = phase.line() * p.in_channels;
    // As many segments at once as keep their part of the weights in the cache.
    const auto all = static_cast<int64_t>(phase.segments.size());
    const int64_t bytes = phase.segment_length * columns * static_cast<int64_t>(sizeof(T));
    const int64_t some = std::clamp<int64_t>(kTileBytes / bytes, 1, all);
    WindowCall call{};
    call.rows = at.width;
    call.a_row = last.stride * p.in_channels;
    call.a_step = 1;
    call.segment_length = phase.segment_length;
    call.c_row = last.y;
    for (int64_t g = 0; g < p.groups; ++g) {
      pack_tile(at, g, tile);
      for (int64_t s = 0; s < slices; ++s) {
        call.width = width_of(s);
        for (int64_t seg = 0; seg < all; seg += some) {
          for (int64_t r = 0; r < at.rows; ++r) {
            const WindowAxis::Taps used = segments_of(at.t0, at.t1 + r);
            const int64_t begin = std::max(seg, used.first);
            const int64_t end = std::min(seg + some, used.last);
            if (begin >= end && (seg > 0 || used.first < used.last)) continue;
            call.segment_at = phase.segments.data() + begin;
            call.segments = std::max<int64_t>(end - begin, 0);
            call.b = slice(g, s) + begin * phase.segment_length * stride_of(s);
            call.add = begin > used.first;
            call.a = tile + r * middle.stride * line;
            call.c = out(at, g) + r * middle.y + s * columns;
            kernel(call);
          }
        }
      }
    }
    hook(u);
  }

  // Calls each(u, tile) for all units.
  template <class Each>
  Status over_units(Each&& each) const {
    const int64_t units = phase.count_units(p);
    const int64_t per_chunk = ceil_div(units, 4 * kChunks);
    FirstProblem problem;
    parallel_for(ceil_div(units, per_chunk), phase.parallel, [&](int64_t chunk) {
      const ConvolutionTile tile(phase.tile * static_cast<int64_t>(sizeof(T)));
      if (!tile.data()) return problem.report(chunk, Problem::Memory);
      for (int64_t u = chunk * per_chunk; u < std::min((chunk + 1) * per_chunk, units); ++u) {
        each(u, reinterpret_cast<T*>(tile.data()));
      }
    });
    return problem.status();
  }
  template <class Each>
  void over_weights(Each&& each) const {
    parallel_for(p.groups * slices, phase.parallel && phase.shared > 64 * 1024,
                 [&](int64_t i) { each(i / slices, i % slices); });
  }

  Status run() const {
    over_weights([&](int64_t g, int64_t s) { pack_weights(g, s); });
    if constexpr (sizeof(T) == 4) {
      if (phase.winograd && !has_zeros()) return run_patches();
    }
    return over_units([&](int64_t u, T* tile) { unit(u, tile); });
  }

  bool has_zeros() const {
    std::atomic<bool> found = false;
    over_weights([&](int64_t g, int64_t s) {
      for (int64_t i = 0; i < depth && !found; ++i) {
        const T* row = slice(g, s) + i * stride_of(s);
        if (std::find(row, row + width_of(s), T(0)) != row + width_of(s)) found = true;
      }
    });
    return found;
  }

  // After the packed weights: the transformed weights, and a byte per unit.
  Status run_patches() const {
    T* weights = of.shared + p.groups * slices * depth * columns;
    const int64_t of_slice = kPatchEntries * p.in_channels * columns;
    auto* infinite = reinterpret_cast<unsigned char*>(weights + p.groups * slices * of_slice);
    over_weights([&](int64_t g, int64_t s) {
      winograd_weights(slice(g, s), p.in_channels, stride_of(s),
                       weights + (g * slices + s) * of_slice);
    });
    std::atomic<bool> any = false;
    const Status status = over_units([&](int64_t u, T* tile) {
      const Place at = place_of(u);
      bool finite = true;
      for (int64_t g = 0; g < p.groups; ++g) {
        pack_tile(at, g, tile);
        finite &= winograd_lines(p, phase, weights + g * slices * of_slice, tile, at.rows, at.width,
                                 tile + phase.lines() * phase.line() * p.in_channels, out(at, g));
      }
      infinite[u] = finite ? 0 : 1;
      if (finite) {
        hook(u);
      } else {
        any = true;
      }
    });
    if (!status || !any) return status;
    return over_units([&](int64_t u, T* tile) {
      if (infinite[u]) unit(u, tile);
    });
  }
};

template <class T>
Status run_phases(const ConvolutionProgram& p, const Slots& slots, char* scratch, PanelHook hook) {
  T* y = reinterpret_cast<T*>(slots.at(p.y_slot)) + p.y_offset;
  if (p.clears) std::fill_n(y, p.size, T(0));
  for (const ConvolutionPhase& phase : p.phases) {
    const ConvolutionOperands<T> of{reinterpret_cast<const T*>(slots.at(p.x_slot)) + phase.x,
                                    reinterpret_cast<const T*>(slots.at(p.w_slot)) + phase.w,
                                    y + phase.y, reinterpret_cast<T*>(scratch)};
    Status status;
    switch (phase.method) {
      case ConvolutionMethod::Positions:
        status = Positions<T>{p, phase, of, hook}.run();
        break;
      case ConvolutionMethod::Taps:
        status = run_taps(p, phase, of);
        break;
      case ConvolutionMethod::Channels:
        status = run_channels(p, phase, of);
        break;
    }
    if (!status) return status;
  }
  return {};
}

}  // namespace

Status run_convolution(const ConvolutionProgram& p, const Slots& slots, char* scratch,
                       PanelHook hook) {
  return p.dtype == DType::Float32 ? run_phases<float>(p, slots, scratch, hook)
                                   : run_phases<double>(p, slots, scratch, hook);
}

}  // namespace pullback
