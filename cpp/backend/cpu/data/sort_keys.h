// Keys of sorts: unsigned words whose order is that of the entries, for the processor and for
// kernels of GPUs, which have no standard headers.
#pragma once

#include <cstdint>

namespace pullback {

// A 64-bit key and its position.
struct KeyAt {
  uint64_t key, at;
  bool operator<(const KeyAt& other) const { return key < other.key; }
};

// Sorts a few words; equal ones keep their order.
template <class W>
void insertion_sort(W* a, int64_t n) {
  for (int64_t i = 1; i < n; ++i) {
    const W x = a[i];
    int64_t j = i;
    for (; j > 0 && x < a[j - 1]; --j) a[j] = a[j - 1];
    a[j] = x;
  }
}

template <bool wide>
struct WordOf {
  using Type = uint32_t;
};
template <>
struct WordOf<true> {
  using Type = uint64_t;
};

// Zeros of either sign are equal; NaN is last in both directions.
template <class T>
struct Keys {
  using Word = typename WordOf<sizeof(T) == 8>::Type;
  static constexpr bool kFloat = T(0) < static_cast<T>(0.5) && static_cast<T>(0.5) < T(1);
  static constexpr bool kSigned = static_cast<T>(-1) < T(0);
  static constexpr Word kSign = Word{1} << (8 * sizeof(Word) - 1);
  static constexpr Word kLast = ~Word{0};

  static Word of(T x, bool descending) {
    if constexpr (kFloat) {
      if (x != x) return kLast;
      const Word bits = __builtin_bit_cast(Word, x + T(0));
      const Word key = bits & kSign ? ~bits : bits | kSign;
      return descending ? ~key : key;
    } else {
      const Word key = static_cast<Word>(x) ^ (kSigned ? kSign : 0);
      return descending ? ~key : key;
    }
  }
  static T back(Word key, bool descending) {
    if constexpr (kFloat) {
      if (key == kLast) return static_cast<T>(__builtin_nan(""));
      if (descending) key = ~key;
      return __builtin_bit_cast(T, key & kSign ? key & ~kSign : ~key);
    } else {
      if (descending) key = ~key;
      return static_cast<T>(key ^ (kSigned ? kSign : 0));
    }
  }
};

}  // namespace pullback
