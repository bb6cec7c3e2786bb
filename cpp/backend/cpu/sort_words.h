// Sorting of words: keys whose order as unsigned numbers is the order wished for, alone or with the
// position they come from behind them. Short rows are merged without branches, long ones are
// distributed digit by digit. Both are stable, and words with positions are all different, so the
// result is one whatever the way to it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "backend/cpu/slots.h"
#include "base/threads.h"

namespace pullback {

// A key of 64 bits and where it comes from.
struct KeyAt {
  uint64_t key, at;
  bool operator<(const KeyAt& other) const { return key < other.key; }
};

namespace sort_detail {

constexpr int kBits = 8;
constexpr int kDigits = 1 << kBits;

inline uint64_t key_of(uint32_t word) { return word; }
inline uint64_t key_of(uint64_t word) { return word; }
inline uint64_t key_of(const KeyAt& word) { return word.key; }

template <class W>
void insert(W* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const W x = a[i];
    int64_t j = i;
    for (; j > 0 && x < a[j - 1]; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

// Two runs of the same length, from both ends at once: two chains that do not wait for each other.
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

// Which of equal words comes first shows only where they have positions, and these are compared.
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
  insert(a + sorted, n - sorted);
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

template <class W>
int digit(const W& word, int shift) {
  return static_cast<int>(key_of(word) >> shift & (kDigits - 1));
}

// How often each digit comes, for the digits of all passes.
template <class W>
void count_digits(const W* a, int64_t n, int low, int passes, int64_t (*counts)[kDigits]) {
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t key = key_of(a[i]) >> low;
    for (int p = 0; p < passes; ++p) ++counts[p][key >> p * kBits & (kDigits - 1)];
  }
}

// Makes of counts where each digit begins, behind `sum`.
inline int64_t begin_at(int64_t* counts, int64_t sum) {
  for (int d = 0; d < kDigits; ++d) {
    const int64_t own = counts[d];
    counts[d] = sum;
    sum += own;
  }
  return sum;
}

template <class W>
void distribute(const W* from, int64_t n, int shift, int64_t* next, W* to) {
  for (int64_t i = 0; i < n; ++i) to[next[digit(from[i], shift)]++] = from[i];
}

// One pass, cut into parts that are counted and then distributed by themselves.
template <class W>
void distribute_parts(const W* from, int64_t n, int shift, W* to) {
  constexpr int kParts = 16;
  int64_t next[kParts][kDigits] = {};
  const auto part = [&](int64_t p) { return p * n / kParts; };
  parallel_for(kParts, true, [&](int64_t p) {
    for (int64_t i = part(p); i < part(p + 1); ++i) ++next[p][digit(from[i], shift)];
  });
  int64_t sum = 0;
  for (int d = 0; d < kDigits; ++d) {
    for (auto& own : next) {
      const int64_t count = own[d];
      own[d] = sum;
      sum += count;
    }
  }
  parallel_for(kParts, true, [&](int64_t p) {
    distribute(from + part(p), part(p + 1) - part(p), shift, next[p], to);
  });
}

}  // namespace sort_detail

// From here on a row is worth several threads.
constexpr int64_t kLongSort = 128 * 1024;

// Sorts n words by the bits of their keys from `low` on; those below come in order. `spare` has
// room for as many.
template <class W>
void sort_words(W* a, W* spare, int64_t n, int low) {
  using namespace sort_detail;
  constexpr int64_t kShort = sizeof(W) == 4 ? 1024 : sizeof(W) == 8 ? 2048 : 256;
  if (n <= kShort) return sort_short(a, spare, n);
  constexpr int kPasses = 8;
  const int key_bits = sizeof(W) == 4 ? 32 : 64;
  const int passes = (key_bits - low) / kBits;
  int64_t counts[kPasses][kDigits] = {};
  count_digits(a, n, low, passes, counts);
  const bool parts = n >= kLongSort && num_threads() > 1;
  W* from = a;
  W* to = spare;
  for (int p = 0; p < passes; ++p) {
    if (stop_requested()) return;
    const int shift = low + p * kBits;
    if (counts[p][digit(from[0], shift)] == n) continue;  // all the same
    if (parts) {
      distribute_parts(from, n, shift, to);
    } else {
      begin_at(counts[p], 0);
      distribute(from, n, shift, counts[p], to);
    }
    std::swap(from, to);
  }
  if (from != a) std::copy(from, from + n, a);
}

}  // namespace pullback
