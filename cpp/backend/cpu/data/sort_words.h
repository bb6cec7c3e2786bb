// Sorts words: keys whose unsigned order is the desired order, alone or followed by the position
// that they come from. Short rows are merge-sorted without branches, long rows by radix. Both are
// stable, and words with positions are distinct, so the result does not depend on the algorithm.
// Start at sort_words().
#pragma once

#include <algorithm>
#include <cstdint>

#include "backend/common/slots.h"
#include "backend/cpu/data/sort_keys.h"
#include "base/threads.h"

namespace pullback {

namespace sort_detail {

inline uint64_t key_of(uint32_t word) { return word; }
inline uint64_t key_of(uint64_t word) { return word; }
inline uint64_t key_of(const KeyAt& word) { return word.key; }

// Merges two runs of equal length from both ends at once: two independent chains.
template <class W>
void merge_equal(const W* a, int64_t length, W* out) {
  const W* left = a;
  const W* right = a + length;
  const W* left_end = right - 1;
  const W* right_end = right + length - 1;
  W* out_end = out + 2 * length - 1;
  for (int64_t i = 0; i < length; ++i) {
    const bool low = *right < *left;
    *out++ = *(low ? right : left);
    right += low;
    left += !low;
    const bool high = *right_end < *left_end;
    *out_end-- = *(high ? left_end : right_end);
    left_end -= high;
    right_end -= !high;
  }
}

template <class W>
void merge(const W* a, int64_t left, int64_t right, W* out) {
  const W* b = a + left;
  const W* a_end = b;
  const W* b_end = b + right;
  while (a != a_end && b != b_end) {
    const bool low = *b < *a;
    *out++ = *(low ? b : a);
    b += low;
    a += !low;
  }
  out = std::copy(a, a_end, out);
  std::copy(b, b_end, out);
}

inline bool first_of(uint32_t a, uint32_t b) { return a < b; }
inline bool first_of(uint64_t a, uint64_t b) { return a < b; }
inline bool first_of(const KeyAt& a, const KeyAt& b) {
  return a.key < b.key || (a.key == b.key && a.at < b.at);
}

template <class W>
void order(W* a, W* b) {
  const bool swapped = first_of(*b, *a);
  const W low = swapped ? *b : *a;
  const W high = swapped ? *a : *b;
  *a = low;
  *b = high;
}

// The order of equal words is visible only if they have positions, and these are compared.
template <class W>
void sort_four(W* a) {
  order(a, a + 1);
  order(a + 2, a + 3);
  order(a, a + 2);
  order(a + 1, a + 3);
  order(a + 1, a + 2);
}

template <class W>
void sort_short(W* a, W* spare, int64_t n) {
  constexpr int64_t kRun = 4;
  int64_t sorted = 0;
  for (; sorted + kRun <= n; sorted += kRun) sort_four(a + sorted);
  insertion_sort(a + sorted, n - sorted);
  W* from = a;
  W* to = spare;
  for (int64_t run = kRun; run < n; run *= 2) {
    int64_t i = 0;
    for (; i + 2 * run <= n; i += 2 * run) merge_equal(from + i, run, to + i);
    const int64_t left = std::min(run, n - i);
    merge(from + i, left, n - i - left, to + i);
    std::swap(from, to);
  }
  if (from != a) std::copy(from, from + n, a);
}

// Rows from this length on are worth several threads.
constexpr int64_t kLongSort = 128 * 1024;
constexpr int64_t kParts = 16;

inline int64_t parts_of(int64_t n) { return n >= kLongSort ? kParts : 1; }

// The width of a digit: few passes, and counts that stay in a cache. Each pass reads all counts, so
// those of a row of few words are fewer.
constexpr int digit_bits(int64_t n) { return n < 2048 ? 8 : 11; }
constexpr int64_t digits_of(int64_t n) { return int64_t{1} << digit_bits(n); }

// Rows of at most this many words are merged. `low`: see sort_words.
constexpr int64_t kShortRow = 256;
template <class W>
constexpr int64_t short_row(int low) {
  return sizeof(W) == 8 && low == 0 ? 2048 : kShortRow;
}

// The bits in which the keys of the words differ.
template <class W>
uint64_t varying(const W* a, int64_t n) {
  uint64_t any = 0;
  uint64_t all = ~uint64_t{0};
  for (int64_t i = 0; i < n; ++i) {
    any |= key_of(a[i]);
    all &= key_of(a[i]);
  }
  return any & ~all;
}

// One pass: the parts are counted and distributed independently.
template <class W>
void distribute(const W* from, int64_t n, int shift, int64_t* counts, W* to) {
  const int64_t digits = digits_of(n);
  const uint64_t mask = static_cast<uint64_t>(digits) - 1;
  const auto digit = [=](const W& word) { return key_of(word) >> shift & mask; };
  const int64_t parts = parts_of(n);
  parallel_for(parts, true, [&](int64_t p) {
    int64_t* own = counts + p * digits;
    std::fill(own, own + digits, 0);
    const int64_t end = (p + 1) * n / parts;
    for (int64_t i = p * n / parts; i < end; ++i) ++own[digit(from[i])];
  });
  if (stop_requested()) return;  // some parts were not counted
  int64_t sum = 0;
  for (int64_t d = 0; d < digits; ++d) {
    for (int64_t p = 0; p < parts; ++p) {
      const int64_t count = counts[p * digits + d];
      counts[p * digits + d] = sum;
      sum += count;
    }
  }
  parallel_for(parts, true, [&](int64_t p) {
    int64_t* next = counts + p * digits;
    const int64_t end = (p + 1) * n / parts;
    for (int64_t i = p * n / parts; i < end; ++i) to[next[digit(from[i])]++] = from[i];
  });
}

}  // namespace sort_detail

// Calls body(begin, end) for each part of a row, in parallel for a long row.
template <class Body>
void each_part(int64_t n, Body&& body) {
  const int64_t parts = sort_detail::parts_of(n);
  parallel_for(parts, true, [&](int64_t p) { body(p * n / parts, (p + 1) * n / parts); });
}

// Bytes that sort_words needs for n words: the words, a copy, and counts after them.
template <class W>
int64_t sort_memory(int64_t n) {
  using namespace sort_detail;
  const int64_t words = 2 * static_cast<int64_t>(sizeof(W)) * n;
  if (n <= kShortRow) return words;
  return words + static_cast<int64_t>(sizeof(int64_t)) * parts_of(n) * digits_of(n);
}

// Sorts the n words at the beginning of that memory by the bits of their keys from `low` on. The
// words must already be sorted by the bits below.
template <class W>
void sort_words(char* memory, int64_t n, int low) {
  using namespace sort_detail;
  W* a = reinterpret_cast<W*>(memory);
  W* spare = a + n;
  if (n <= short_row<W>(low)) return sort_short(a, spare, n);
  auto* counts = reinterpret_cast<int64_t*>(spare + n);
  constexpr int kKeyBits = sizeof(W) == 4 ? 32 : 64;
  const uint64_t differs = varying(a, n);
  W* from = a;
  W* to = spare;
  const uint64_t mask = static_cast<uint64_t>(digits_of(n)) - 1;
  for (int shift = low; shift < kKeyBits; shift += digit_bits(n)) {
    if (stop_requested()) return;
    if ((differs >> shift & mask) == 0) continue;
    distribute(from, n, shift, counts, to);
    std::swap(from, to);
  }
  if (from != a) std::copy(from, from + n, a);
}

}  // namespace pullback
