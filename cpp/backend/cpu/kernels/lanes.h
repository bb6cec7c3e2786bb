// Lanes: vectors of the widest registers of an instruction set, and transposes of a few of them.
// Included by kernels, which are compiled once per instruction set. Start at Lanes::load.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#ifndef PULLBACK_KERNELS
#define PULLBACK_KERNELS kernels_baseline
#endif

namespace pullback::PULLBACK_KERNELS {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

template <class T>
struct Lanes {
  static constexpr int kCount = kVectorBytes / static_cast<int>(sizeof(T));
  typedef T Vector __attribute__((vector_size(kVectorBytes)));
  typedef T Loose __attribute__((vector_size(kVectorBytes), aligned(alignof(T)), may_alias));

  // Sixteen bytes: every instruction set has such vectors. Wider shuffles move within them.
  static constexpr int kShort = 16 / static_cast<int>(sizeof(T));
  static constexpr int kShorts = kCount / kShort;
  typedef float Quarter __attribute__((vector_size(16)));
  typedef T Short __attribute__((vector_size(16)));
  typedef T LooseShort __attribute__((vector_size(16), aligned(alignof(T)), may_alias));

  static Vector load(const T* x) { return *reinterpret_cast<const Loose*>(x); }
  static void store(T* x, const Vector& v) { *reinterpret_cast<Loose*>(x) = v; }
  static Short load_short(const T* x) { return *reinterpret_cast<const LooseShort*>(x); }
  static void store_short(T* x, const Short& v) { *reinterpret_cast<LooseShort*>(x) = v; }

  // Loads sixteen bytes from each of at(0), at(1) …, in order. By shuffles, since one load of data
  // that several stores wrote would wait for them.
  template <class At>
  static Vector load_shorts(At&& at) {
    const auto quarter = [&](int i) { return reinterpret_cast<Quarter>(load_short(at(i))); };
#if defined(__AVX512F__)
    const __m256 low = _mm256_set_m128(quarter(1), quarter(0));
    const __m256 high = _mm256_set_m128(quarter(3), quarter(2));
    return reinterpret_cast<Vector>(_mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1));
#elif defined(__AVX2__)
    return reinterpret_cast<Vector>(_mm256_set_m128(quarter(1), quarter(0)));
#else
    return reinterpret_cast<Vector>(quarter(0));
#endif
  }
  // From entry e on, of every kShort-th matrix.
  static Vector joined(const T* const* from, int64_t e) {
    return load_shorts([&](int i) { return from[i * kShort] + e; });
  }
  template <int i>
  static Short part(const Vector& v) {
    return part_of<i>(v, std::make_index_sequence<kShort>());
  }
  template <class At>
  static void store_shorts(const Vector& v, At&& at) {
    store_short(at(0), part<0>(v));
    if constexpr (kShorts > 1) store_short(at(1), part<1>(v));
    if constexpr (kShorts > 2) store_short(at(2), part<2>(v)), store_short(at(3), part<3>(v));
  }

  // Within each sixteen bytes, entries of v (numbers from 0) and of w (numbers from kShort).
  template <int... from>
  static Vector choose(const Vector& v, const Vector& w) {
    static_assert(sizeof...(from) == kShort);
    return chosen<repeated<from...>, 0>(v, w, std::make_index_sequence<kCount>());
  }

  // Transposes four vectors (two of float64) within each sixteen bytes: entry j of vector i becomes
  // entry i of vector j. Named variables, because an array would be stored in memory.
  static void transpose(Vector& v0, Vector& v1, Vector& v2, Vector& v3) {
    const Vector a = shuffled<interleaved, 0>(v0, v1);  // 0 of both, 1 of both
    const Vector b = shuffled<interleaved, 2>(v0, v1);
    const Vector c = shuffled<interleaved, 0>(v2, v3);
    const Vector d = shuffled<interleaved, 2>(v2, v3);
    v0 = shuffled<halved, 0>(a, c);
    v1 = shuffled<halved, 2>(a, c);
    v2 = shuffled<halved, 0>(b, d);
    v3 = shuffled<halved, 2>(b, d);
  }
  static void transpose(Vector& v0, Vector& v1) {
    const Vector first = v0;
    v0 = shuffled<interleaved, 0>(first, v1);
    v1 = shuffled<interleaved, 1>(first, v1);
  }

  // Chooses entries of two vectors: entry j is entry `from(j, step)` of both, concatenated.
  template <int (*from)(int, int), int step>
  static Vector shuffled(const Vector& a, const Vector& b) {
    return chosen<from, step>(a, b, std::make_index_sequence<kCount>());
  }

 private:
  template <int i, size_t... j>
  static Short part_of(const Vector& v, std::index_sequence<j...> /*each*/) {
    return __builtin_shufflevector(v, v, i * kShort + static_cast<int>(j)...);
  }
  // Entries from `first` on of each sixteen bytes, alternating between two vectors.
  static constexpr int interleaved(int j, int first) {
    return j / kShort * kShort + j % kShort / 2 + first + (j % 2 ? kCount : 0);
  }
  // Two entries from `first` on of each sixteen bytes, of one vector and then of the other.
  static constexpr int halved(int j, int first) {
    return j / kShort * kShort + j % 2 + first + (j % kShort >= 2 ? kCount : 0);
  }
  template <int... from>
  static constexpr int repeated(int j, int /*step*/) {
    constexpr int each[] = {from...};
    const int e = each[j % kShort];
    return j / kShort * kShort + e % kShort + (e >= kShort ? kCount : 0);
  }
  template <int (*from)(int, int), int step, size_t... j>
  static Vector chosen(const Vector& a, const Vector& b, std::index_sequence<j...> /*each*/) {
    return __builtin_shufflevector(a, b, from(j, step)...);
  }
};

}  // namespace pullback::PULLBACK_KERNELS
