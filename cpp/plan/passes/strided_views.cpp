// Views are compared as numbers, so views of the same elements must be written alike: strides of
// axes of size 1, which have no effect, are set to 0.
#include "plan/passes/strided_views.h"

#include <utility>

#include "base/hash.h"

namespace pullback {

uint32_t Windows::number(Strided window) {
  uint64_t hash =
      mix(static_cast<uint64_t>(window.offset), static_cast<uint64_t>(window.shape.rank));
  for (int64_t d = 0; d < window.shape.rank; ++d) {
    if (window.shape[d] == 1) window.strides[d] = 0;
    hash = mix(mix(hash, static_cast<uint64_t>(window.shape[d])),
               static_cast<uint64_t>(window.strides[d]));
  }
  const auto fresh = static_cast<uint32_t>(windows_.size());
  const uint32_t known =
      distinct_.find(hash, fresh, [&](uint32_t other) { return windows_[other].window == window; });
  if (known == fresh) {
    const int64_t elements = window.shape.size();
    const bool flat = pullback::is_flat(window);
    windows_.push_back({std::move(window), elements, flat});
  }
  return known;
}

}  // namespace pullback
