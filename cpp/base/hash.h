// A 64-bit hash for plan keys. It is fast but not collision-resistant, so equal hashes are followed
// by a comparison of the keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace pullback {

inline uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * 0x9E3779B97F4A7C15ull;
  return h ^ (h >> 29);
}

inline uint64_t hash_bytes(const void* data, size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t h = 0x243F6A8885A308D3ull ^ bytes;
  for (; bytes >= 8; bytes -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix(h, word);
  }
  uint64_t tail = 0;
  if (bytes) std::memcpy(&tail, p, bytes);
  return mix(h, tail);
}

}  // namespace pullback
