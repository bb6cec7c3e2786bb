// What threads of kernels do to sort rows and to search them. Each is independent of the others: a
// pass merges runs of sorted words, and a thread finds the place of one word by a search.
#pragma once

#include "backend/cpu/data/sort_keys.h"

namespace pullback {
namespace device_order {

// Words of a run that one thread sorts.
constexpr uint64_t kRun = 16;

// Copies word t of [rows, length] to its place in the merged runs. Runs of `run` words are sorted;
// of equal words, those of the left run come first.
inline void merge(const KeyAt* from, KeyAt* to, uint64_t length, uint64_t run, uint64_t t) {
  const uint64_t i = t % length;
  from += t - i;
  to += t - i;
  const uint64_t left = i / (2 * run) * (2 * run);
  const uint64_t middle = left + run < length ? left + run : length;
  const uint64_t right = middle + run < length ? middle + run : length;
  const KeyAt word = from[i];
  const bool in_left = i < middle;
  uint64_t low = in_left ? middle : left, high = in_left ? right : middle;
  while (low < high) {
    const uint64_t at = low + (high - low) / 2;
    if (in_left ? from[at].key < word.key : from[at].key <= word.key) {
      low = at + 1;
    } else {
      high = at;
    }
  }
  to[i + low - middle] = word;
}

// The number of words with keys below `key`; `right`: not above.
template <bool right, class T>
uint64_t count_before(const T* sorted, uint64_t length, T x) {
  const auto key = Keys<T>::of(x, false);
  uint64_t low = 0, high = length;
  while (low < high) {
    const uint64_t at = low + (high - low) / 2;
    const auto other = Keys<T>::of(sorted[at], false);
    if (right ? other <= key : other < key) {
      low = at + 1;
    } else {
      high = at;
    }
  }
  return low;
}

// True if x is better than y: larger or smaller, or a NaN beside a number.
template <bool largest, class T>
bool is_better(T x, T y) {
  if (x != x) return y == y;
  return largest ? x > y : x < y;
}
// The better entry of a and b, the first of equals.
template <bool largest, class T>
uint64_t better_of(const T* x, uint64_t a, uint64_t b) {
  if (is_better<largest>(x[b], x[a])) return b;
  return is_better<largest>(x[a], x[b]) || a < b ? a : b;
}

}  // namespace device_order
}  // namespace pullback
