// Runs argmax and argmin of rows or columns, with the kernels of position.cpp. A single long row is
// cut into blocks, whose results are compared in order.
#include <algorithm>

#include "backend/cpu/data/index_run.h"
#include "backend/cpu/kernels/position.h"
#include "backend/cpu/kernels/table.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kBlock = 64 * 1024;  // elements of a long row

// For a row that is too long for one call, or worth several threads.
int64_t search_row(const PositionKernel& kernel, const char* x, int64_t n, int64_t element) {
  const int64_t blocks = ceil_div(n, kBlock);
  const StepMemory memory(blocks * (8 + element));
  if (!memory.data()) return -1;
  auto* at = reinterpret_cast<int64_t*>(memory.data());
  char* best = memory.data() + blocks * 8;
  parallel_for(blocks, n > 256 * 1024, [&](int64_t b) {
    const char* block = x + b * kBlock * element;
    kernel.rows(block, 1, std::min(kBlock, n - b * kBlock), at + b);
    std::copy_n(block + at[b] * element, element, best + b * element);
  });
  int64_t winner;
  kernel.rows(best, 1, blocks, &winner);
  return winner * kBlock + at[winner];
}

Status search_rows(const ArgReduce& a, const PositionKernel& kernel, const char* x, int64_t* out) {
  const int64_t element = size_of(a.in.dtype);
  if (a.reduced >= 4 * kBlock) {
    for (int64_t o = 0; o < a.outer; ++o) {
      out[o] = search_row(kernel, x + o * a.reduced * element, a.reduced, element);
      if (out[o] < 0) return failure(Problem::Memory);
    }
    return {};
  }
  const int64_t per_chunk = chunk_size(a.outer, a.reduced);
  parallel_for(ceil_div(a.outer, per_chunk), a.outer * a.reduced > 128 * 1024, [&](int64_t chunk) {
    const int64_t first = chunk * per_chunk;
    kernel.rows(x + first * a.reduced * element, std::min(per_chunk, a.outer - first), a.reduced,
                out + first);
  });
  return {};
}

void search_columns(const ArgReduce& a, const PositionKernel& kernel, const char* x, int64_t* out) {
  const int64_t element = size_of(a.in.dtype);
  const int64_t strips = ceil_div(a.inner, kPositionColumns);
  const int64_t units = a.outer * strips;
  const int64_t per_chunk = chunk_size(units, a.reduced * ceil_div(a.inner, strips));
  const bool parallel = a.outer * a.reduced * a.inner > 128 * 1024;
  parallel_for(ceil_div(units, per_chunk), parallel, [&](int64_t chunk) {
    const int64_t end = std::min((chunk + 1) * per_chunk, units);
    for (int64_t unit = chunk * per_chunk; unit < end; ++unit) {
      const int64_t o = unit / strips;
      // Equal strips, so that none is narrow.
      const int64_t left = unit % strips * a.inner / strips;
      const int64_t right = (unit % strips + 1) * a.inner / strips;
      kernel.columns(x + (o * a.reduced * a.inner + left) * element, a.reduced, a.inner,
                     right - left, out + o * a.inner + left);
    }
  });
}

}  // namespace

Status run_arg_reduce(const ArgReduce& a, const Slots& slots) {
  if (a.outer == 0 || a.inner == 0) return {};
  const PositionKernel& kernel =
      kernels().positions.of[a.op == Op::argmax][static_cast<int>(a.in.dtype)];
  const char* x = slots.at(a.in);
  auto* out = reinterpret_cast<int64_t*>(slots.at(a.out));
  if (a.inner == 1) return search_rows(a, kernel, x, out);
  search_columns(a, kernel, x, out);
  return {};
}

}  // namespace pullback
