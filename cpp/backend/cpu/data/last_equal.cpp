// Looks up each index in an open hash table, from the end of the list, and inserts it if it is
// missing.
#include "backend/cpu/data/last_equal.h"

#include <algorithm>
#include <bit>

namespace pullback {
namespace {

constexpr int64_t kWord = sizeof(int64_t);

// The table is at most half full.
int table_bits(int64_t n) { return std::bit_width(static_cast<uint64_t>(n)) + 1; }

template <class I>
void find(const I* indices, int64_t n, int64_t* last, int64_t* table) {
  const int bits = table_bits(n);
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  std::fill(table, table + mask + 1, int64_t{-1});
  for (int64_t k = n; k-- > 0;) {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;
    uint64_t at = static_cast<uint64_t>(indices[k]) * kGolden >> (64 - bits);
    while (table[at] >= 0 && indices[table[at]] != indices[k]) at = (at + 1) & mask;
    if (table[at] < 0) table[at] = k;
    last[k] = table[at];
  }
}

}  // namespace

int64_t last_equal_bytes(int64_t n) { return kWord * (n + (int64_t{1} << table_bits(n))); }

const int64_t* find_last(DType dtype, const char* indices, int64_t n, char* memory) {
  auto* last = reinterpret_cast<int64_t*>(memory);
  if (dtype == DType::Int32) {
    find(reinterpret_cast<const int32_t*>(indices), n, last, last + n);
  } else {
    find(reinterpret_cast<const int64_t*>(indices), n, last, last + n);
  }
  return last;
}

}  // namespace pullback
