// Views are compared as numbers, so views of the same elements must be written alike: strides of
// axes of size 1, which have no effect, are set to 0.
#include "plan/passes/strided_views.h"

#include <utility>

#include "base/hash.h"

namespace pullback {

uint32_t StridedViews::number(Strided strided) {
  uint64_t hash =
      mix(static_cast<uint64_t>(strided.offset), static_cast<uint64_t>(strided.shape.rank));
  for (int64_t d = 0; d < strided.shape.rank; ++d) {
    if (strided.shape[d] == 1) strided.strides[d] = 0;
    hash = mix(mix(hash, static_cast<uint64_t>(strided.shape[d])),
               static_cast<uint64_t>(strided.strides[d]));
  }
  const auto fresh = static_cast<uint32_t>(views_.size());
  const uint32_t known =
      interned_.find(hash, fresh, [&](uint32_t other) { return views_[other].strided == strided; });
  if (known == fresh) {
    const int64_t elements = strided.shape.size();
    const bool flat = pullback::is_flat(strided);
    views_.push_back({std::move(strided), elements, flat});
  }
  return known;
}

}  // namespace pullback
