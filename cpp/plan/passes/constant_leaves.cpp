// Finds the leaves whose values a plan may depend on, and equal ones.
#include <algorithm>
#include <cstring>

#include "base/hash.h"
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

bool EqualLeaves::number(Node* leaf) {
  constexpr int64_t kMostBytes = 64 * 1024;  // each trace reads them
  constexpr uint8_t kVarying = kTracked | kTraced | kInFlight | kDraw;
  const Buffer* value = leaf->value.get();
  if (!value || leaf->variable || leaf->flags & kVarying || leaf->bytes() > kMostBytes ||
      !value->device.is_host() || value->is_foreign()) {
    return false;
  }
  const auto bytes = static_cast<size_t>(leaf->bytes());
  const uint64_t hash = hash_bytes(value->host(), bytes);
  const auto [first, last] = leaves_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Node* other = it->second;
    if (other->dtype == leaf->dtype && other->shape == leaf->shape &&
        std::memcmp(other->value->host(), value->host(), bytes) == 0) {
      leaf->index = other->index;
      return true;
    }
  }
  leaves_.emplace(hash, leaf);
  return false;
}

}  // namespace pullback
