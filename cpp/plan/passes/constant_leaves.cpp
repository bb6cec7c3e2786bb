// Finds the leaves whose values a plan may depend on.
#include <algorithm>

#include "plan/passes/snapshot.h"

namespace pullback {

std::optional<Scalar> Snapshot::constant_of(const Node* leaf) const {
  if (leaf->op == Op::scalar) {
    const bool constant = leaf->flags & kConstant || (traced && is_float(leaf->dtype));
    return constant ? std::optional(leaf->scalar) : std::nullopt;
  }
  if (!traced || leaf->dtype != DType::Bool || !leaf->value || !leaf->value->device.is_host()) {
    return std::nullopt;
  }
  constexpr int64_t kSmallMask = 4096;
  const int64_t size = leaf->shape.size();
  const auto* entries = static_cast<const uint8_t*>(leaf->value->host());
  if (size == 0 || size > kSmallMask || std::count(entries, entries + size, *entries) != size) {
    return std::nullopt;
  }
  return Scalar{.i = *entries};
}

}  // namespace pullback
