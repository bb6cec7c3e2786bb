// Shared by gathers and scatters: checks of indices, and ranges of small blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "backend/common/slots.h"
#include "base/index_bounds.h"
#include "base/threads.h"

namespace pullback::index_parts {

template <class I>
Status check(const I* indices, int64_t n, int64_t bound) {
  constexpr int64_t kPart = 64 * 1024;
  std::atomic<bool> bad{false};
  parallel_for(ceil_div(n, kPart), n > 256 * 1024, [&](int64_t part) {
    const int64_t begin = part * kPart;
    if (any_outside(indices + begin, std::min(kPart, n - begin), -bound, bound)) {
      bad.store(true, std::memory_order_relaxed);
    }
  });
  if (!bad.load()) return {};
  Status out = failure(Problem::IndexOutOfRange);
  out.detail = first_outside(indices, n, -bound, bound);
  out.bound = bound;
  return out;
}

template <class I>
int64_t position(I index, int64_t axis) {
  return index < 0 ? index + axis : index;
}

// Rows are at random places, so the next ones are prefetched.
constexpr int64_t kAhead = 8;

// Elements of a block, [positions, inner], that one pass over the outer blocks moves.
constexpr int64_t kSmallBlock = 64;

// Calls run(first, last) for ranges of the outer blocks.
template <class Run>
void for_small_blocks(int64_t outer, int64_t elements, Run&& run) {
  const int64_t per_chunk = chunk_size(outer, elements);
  parallel_for(ceil_div(outer, per_chunk), outer * elements > 64 * 1024, [&](int64_t chunk) {
    run(chunk * per_chunk, std::min((chunk + 1) * per_chunk, outer));
  });
}

}  // namespace pullback::index_parts
