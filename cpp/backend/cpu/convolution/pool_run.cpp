// Pools: the largest entry of each window, and the moves of cotangents and tangents to and from it.
#include <algorithm>
#include <memory>
#include <new>

#include "backend/cpu/convolution/pool_run.h"
#include "backend/cpu/kernels/table.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kMostTaps = 1024;    // of one window on the stack; more are allocated
constexpr int64_t kChannelStrip = 64;  // channels per unit, if there are few images

PoolKernel kernel_of(const Pool& pool) {
  const PoolTable& table = kernels().pools;
  const bool wide = size_of(pool.in.dtype) == 8;
  if (pool.op == Op::max_pool_spread) return table.spread[wide];
  if (pool.op == Op::max_pool_choose) return table.chosen[wide];
  return table.largest[(is_float(pool.in.dtype) ? 0 : 2) + wide];
}

class PoolRun {
 public:
  PoolRun(const Pool& pool, const Slots& slots) : pool_(pool), slots_(slots), stores_(tiles()) {}

  Status run() const {
    if (pool_.out.shape.size() == 0) return {};
    const bool spreads = pool_.op == Op::max_pool_spread;
    const Shape& windows = shape_of_windows();
    const int64_t taps = most_taps();
    // Threads that add must not share entries, so a unit of a spread is a whole image.
    const int64_t lines = spreads ? 1 : windows[1] * windows[2];
    const int64_t strip = spreads && windows[0] < 16 ? kChannelStrip : windows[4];
    const int64_t strips = ceil_div(windows[4], strip);
    const int64_t units = windows[0] * lines * strips;
    const int64_t size = windows.size() * taps;
    const int64_t per_chunk = ceil_div(units, 4 * kChunks);
    FirstProblem problem;
    parallel_for(ceil_div(units, per_chunk), size > 64 * 1024, [&](int64_t chunk) {
      int64_t near[kMostTaps];
      std::unique_ptr<int64_t[]> far;
      if (taps > kMostTaps) far.reset(new (std::nothrow) int64_t[static_cast<size_t>(taps)]);
      int64_t* at = taps > kMostTaps ? far.get() : near;
      if (!at) return problem.report(chunk, Problem::Memory);
      for (int64_t u = chunk * per_chunk; u < std::min((chunk + 1) * per_chunk, units); ++u) {
        const int64_t c = u % strips * strip;
        const int64_t line = u / strips % lines;
        const int64_t n = u / strips / lines;
        const int64_t channels = std::min(strip, windows[4] - c);
        if (!spreads) {
          do_line(n, line / windows[2], line % windows[2], c, channels, at);
          continue;
        }
        if (!stores_) clear(n, c, channels);
        for (int64_t t = 0; t < windows[1] * windows[2]; ++t) {
          do_line(n, t / windows[2], t % windows[2], c, channels, at);
        }
      }
    });
    return problem.status();
  }

 private:
  // The largest number of taps that are inside of the input; windows may be far larger.
  int64_t most_taps() const {
    int64_t taps = 1;
    for (size_t d = 0; d < 3; ++d) {
      const int64_t length = pool_.in.shape[static_cast<int64_t>(d) + 1];
      taps *= std::min(pool_.windows.size[d], ceil_div(length, pool_.windows.dilation[d]));
    }
    return taps;
  }
  // [batch, three axes, channels]
  const Shape& shape_of_windows() const {
    return pool_.op == Op::max_pool_spread && pool_.g ? pool_.g->shape : pool_.out.shape;
  }

  // True if windows are small and each input entry belongs to one window: a spread then stores.
  bool tiles() const {
    const Windowing& f = pool_.windows;
    int64_t taps = 1;
    for (size_t d = 0; d < 3; ++d) {
      const auto axis = static_cast<int64_t>(d) + 1;
      taps *= f.size[d];
      const int64_t end = shape_of_windows()[axis] * f.stride[d] - f.low[d];
      const bool dense = f.size[d] == 1 || f.dilation[d] == 1;
      if (!dense || f.size[d] != f.stride[d] || end < pool_.in.shape[axis]) return false;
    }
    return taps <= kFewPoolTaps;
  }

  int64_t element() const { return size_of(pool_.in.dtype); }

  void clear(int64_t n, int64_t c, int64_t channels) const {
    const Shape& shape = pool_.out.shape;
    const int64_t entries = shape[1] * shape[2] * shape[3];
    char* to = slots_.at(pool_.out) + (n * entries * shape[4] + c) * element();
    for (int64_t i = 0; i < entries; ++i) {
      std::fill_n(to + i * shape[4] * element(), channels * element(), 0);
    }
  }

  TapRange inside(size_t d, int64_t o) const {
    const Windowing& f = pool_.windows;
    const int64_t length = pool_.in.shape[static_cast<int64_t>(d) + 1];
    return taps_inside(o * f.stride[d] - f.low[d], length, f.dilation[d], f.size[d]);
  }

  // Computes the windows along the last axis. Taps are offsets from the start of a window, so
  // windows with the same taps share a list.
  void do_line(int64_t n, int64_t t0, int64_t t1, int64_t c, int64_t channels, int64_t* at) const {
    const Windowing& f = pool_.windows;
    const Shape& in = pool_.in.shape;
    const Shape& windows = shape_of_windows();
    const int64_t column = in[4];
    const int64_t row = in[3] * column;
    const int64_t plane = in[2] * row;
    const int64_t image = n * in[1] * plane + (t0 * f.stride[0] - f.low[0]) * plane +
                          (t1 * f.stride[1] - f.low[1]) * row - f.low[2] * column + c;
    const int64_t result = (((n * windows[1] + t0) * windows[2] + t1) * windows[3]) * column + c;
    const TapRange k0 = inside(0, t0);
    const TapRange k1 = inside(1, t1);
    const char* x = slots_.at(pool_.in);
    const char* g = pool_.g ? slots_.at(*pool_.g) : nullptr;
    char* y = slots_.at(pool_.out);
    const PoolKernel kernel = kernel_of(pool_);
    PoolCall call{};
    call.channels = channels;
    call.at = at;
    call.x_step = f.stride[2] * column;
    call.to_step = column;
    call.stores = stores_;
    for (int64_t t2 = 0; t2 < windows[3]; t2 += call.windows) {
      const TapRange k2 = inside(2, t2);
      call.windows = 1;
      while (t2 + call.windows < windows[3] && inside(2, t2 + call.windows) == k2) ++call.windows;
      call.taps = 0;
      for (int64_t a = k0.begin; a < k0.end; ++a) {
        for (int64_t b = k1.begin; b < k1.end; ++b) {
          for (int64_t k = k2.begin; k < k2.end; ++k) {
            at[call.taps++] =
                a * f.dilation[0] * plane + b * f.dilation[1] * row + k * f.dilation[2] * column;
          }
        }
      }
      if (call.taps == 0) continue;  // refused by the builder
      const int64_t from = (image + t2 * f.stride[2] * column) * element();
      const int64_t to = (result + t2 * column) * element();
      call.x = x + from;
      switch (pool_.op) {
        case Op::max_pool_spread:
          call.g = g + to;
          call.y = y + from;
          break;
        case Op::max_pool_choose:
          call.g = g + from;
          call.y = y + to;
          break;
        default:
          call.y = y + to;
      }
      kernel(call);
    }
  }

  const Pool& pool_;
  const Slots& slots_;
  const bool stores_;
};

}  // namespace

Status run_pool(const Pool& pool, const Slots& slots) { return PoolRun(pool, slots).run(); }

}  // namespace pullback
