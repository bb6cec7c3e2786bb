// The table of ranges, by address: those of two devices differ.
#include "runtime/integer_ranges.h"

#include <algorithm>
#include <map>
#include <mutex>

namespace pullback {
namespace {

struct Noted {
  DType dtype;
  IntegerRange range;
  bool shared = false;
};

struct Table {
  std::mutex mutex;
  std::map<const void*, Noted> ranges;
};

Table& table() {
  static auto* once = new Table;  // leaked: buffers may outlive static objects
  return *once;
}

template <class T>
IntegerRange range_of(const Buffer& host) {
  const auto* from = static_cast<const T*>(host.host());
  const int64_t count = host.bytes / static_cast<int64_t>(sizeof(T));
  if (count == 0) return {};
  T low = from[0], high = from[0];
  for (int64_t i = 1; i < count; ++i) {
    low = std::min(low, from[i]);
    high = std::max(high, from[i]);
  }
  return {low, high};
}

}  // namespace

void note_integers(const Buffer& copy, DType dtype, const Buffer& host) {
  if (dtype != DType::Int32 && dtype != DType::Int64) return;
  if (copy.device.is_host() || !host.device.is_host() || copy.is_foreign()) return;
  if (host.is_foreign()) return;  // another library may have written to it since it was copied
  {
    const std::lock_guard lock(table().mutex);
    if (table().ranges.contains(copy.address())) return;
  }
  const IntegerRange range =
      dtype == DType::Int32 ? range_of<int32_t>(host) : range_of<int64_t>(host);
  note_range(copy.address(), dtype, range);
}

void note_range(const void* address, DType dtype, const IntegerRange& range) {
  const std::lock_guard lock(table().mutex);
  Noted& noted = table().ranges[address];
  if (!noted.shared) noted = {dtype, range};
}

void share_integers(const Buffer& buffer) {
  const std::lock_guard lock(table().mutex);
  table().ranges[buffer.address()] = {.dtype = DType::Bool, .range = {}, .shared = true};
}

void forget_integers(const Buffer& buffer) noexcept {
  const std::lock_guard lock(table().mutex);
  const auto found = table().ranges.find(buffer.address());
  if (found != table().ranges.end() && !found->second.shared) table().ranges.erase(found);
}

void drop_integers(const Buffer& buffer) noexcept {
  const std::lock_guard lock(table().mutex);
  table().ranges.erase(buffer.address());
}

IntegerRange integers_at(const void* address, DType dtype) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().ranges.find(address);
  if (found == table().ranges.end() || found->second.dtype != dtype) return {};
  return found->second.range;
}

}  // namespace pullback
