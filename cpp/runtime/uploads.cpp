// The table of copies, by the buffer of the host and the device. A copy is marked as exported, so
// that no run writes to it.
#include "runtime/uploads.h"

#include <map>
#include <utility>

namespace pullback {
namespace {

using Uploads = std::map<std::pair<const Buffer*, uint8_t>, Ref<Buffer>>;

Uploads& uploads() {
  static auto* table = new Uploads;  // leaked: buffers may outlive static objects
  return *table;
}

}  // namespace

Ref<Buffer> uploaded(Device device, const Ref<Buffer>& buffer) {
  // Another library may write to memory of its own at any time.
  if (buffer->device == device || !buffer->device.is_host() || buffer->is_foreign()) {
    return copy_to(device, buffer);
  }
  const std::pair key(buffer.get(), device.id);
  if (const auto found = uploads().find(key); found != uploads().end()) return found->second;
  Ref<Buffer> copy = copy_to(device, buffer);
  copy->exported = true;
  uploads().emplace(key, copy);
  return copy;
}

void drop_uploads_of(const Buffer* buffer) noexcept {
  if (uploads().empty()) return;
  const auto first = uploads().lower_bound({buffer, 0});
  auto last = first;
  while (last != uploads().end() && last->first.first == buffer) ++last;
  uploads().erase(first, last);
}

bool drop_uploads(Device device) noexcept {
  return std::erase_if(uploads(),
                       [&](const auto& entry) { return entry.first.second == device.id; }) > 0;
}

}  // namespace pullback
