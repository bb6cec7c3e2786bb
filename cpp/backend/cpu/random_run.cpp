// Random numbers: element i is a pure function of (seed, counter, i), so any cut into chunks gives the
// same numbers, and so does every processor: the mathematics here is vec_math.h compiled without
// FMA for all instruction sets. Philox4x32-10 (Salmon et al., SC 2011) makes four words a block;
//   uniform float32  word i           24 bits          uniform float64  words 2i, 2i+1   53 bits
//   normal           Box-Muller on neighbours 2i, 2i+1, computed in float64
//   permutation      Fisher-Yates, bounded by multiply-high of 64 bits
#include "backend/cpu/random_run.h"

#include <algorithm>
#include <numeric>

#include "backend/cpu/kernels/vec_math.h"
#include "base/threads.h"

#ifdef __FMA__
#error "random_run.cpp must be compiled for the baseline: its numbers are the same everywhere"
#endif

namespace pullback {
namespace {

constexpr int64_t kPiece = 1024;  // elements made at a time; a multiple of 4

struct Philox {
  uint32_t key[2];
  uint32_t counter[2];

  Philox(int64_t seed, int64_t count)
      : key{static_cast<uint32_t>(seed), static_cast<uint32_t>(static_cast<uint64_t>(seed) >> 32)},
        counter{static_cast<uint32_t>(count),
                static_cast<uint32_t>(static_cast<uint64_t>(count) >> 32)} {}

  void block(uint64_t index, uint32_t out[4]) const {
    uint32_t x0 = static_cast<uint32_t>(index), x1 = static_cast<uint32_t>(index >> 32);
    uint32_t x2 = counter[0], x3 = counter[1];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53u} * x0;
      const uint64_t p1 = uint64_t{0xCD9E8D57u} * x2;
      x0 = static_cast<uint32_t>(p1 >> 32) ^ x1 ^ k0;
      x2 = static_cast<uint32_t>(p0 >> 32) ^ x3 ^ k1;
      x1 = static_cast<uint32_t>(p1);
      x3 = static_cast<uint32_t>(p0);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    out[0] = x0;
    out[1] = x1;
    out[2] = x2;
    out[3] = x3;
  }
};

// Words 4 * first_block … of n blocks.
void make_words(const Philox& philox, int64_t first_block, int64_t blocks, uint32_t* out) {
  for (int64_t i = 0; i < blocks; ++i) {
    philox.block(static_cast<uint64_t>(first_block + i), out + 4 * i);
  }
}

uint64_t long_word(const uint32_t* words, int64_t i) {
  return words[2 * i] | static_cast<uint64_t>(words[2 * i + 1]) << 32;
}

void sin_cos_turn(double turn, double* sine, double* cosine) {
  const double shifted = 4.0 * turn + m::Real<double>::kRound;
  const double quarter = shifted - m::Real<double>::kRound;
  const auto quadrant = m::bits_as<uint64_t>(shifted);
  const double x = 6.283185307179586 * (turn - 0.25 * quarter);
  const double z = x * x;
  // FreeBSD's k_sin.c and k_cos.c
  const double s = x + x * z *
                           m::polynomial(z, -1.66666666666666324348e-01, 8.33333333332248946124e-03,
                                         -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                                         -2.50507602534068634195e-08, 1.58969099521155010221e-10);
  const double c = 1.0 - 0.5 * z +
                   z * z *
                       m::polynomial(z, 4.16666666666666019037e-02, -1.38888888888741095749e-03,
                                     2.48015872894767294178e-05, -2.75573143513906633035e-07,
                                     2.08757232129817482790e-09, -1.13596475577881948265e-11);
  const double a = quadrant & 1 ? c : s;
  const double b = quadrant & 1 ? s : c;
  *sine = quadrant & 2 ? -a : a;
  *cosine = (quadrant + 1) & 2 ? -b : b;
}

// Pairs of uniforms, the first in (0, 1), become pairs of normals in place.
template <class T>
void box_muller(const double* first, const double* second, int64_t pairs, T* out) {
  for (int64_t i = 0; i < pairs; ++i) {
    const double radius = m::sqrt(-2.0 * m::log(first[i]));
    double sine, cosine;
    sin_cos_turn(second[i], &sine, &cosine);
    out[2 * i] = static_cast<T>(radius * cosine);
    out[2 * i + 1] = static_cast<T>(radius * sine);
  }
}

void uniform_piece(const uint32_t* words, int64_t n, float* out) {
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(words[i] >> 8) * 0x1p-24f;
}
void uniform_piece(const uint32_t* words, int64_t n, double* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = static_cast<double>(long_word(words, i) >> 11) * 0x1p-53;
  }
}

void normal_piece(const uint32_t* words, int64_t n, float* out) {
  double first[kPiece / 2], second[kPiece / 2];
  for (int64_t i = 0; i < n / 2; ++i) {
    first[i] = (words[2 * i] + 0.5) * 0x1p-32;
    second[i] = words[2 * i + 1] * 0x1p-32;
  }
  box_muller(first, second, n / 2, out);
}
void normal_piece(const uint32_t* words, int64_t n, double* out) {
  double first[kPiece / 2], second[kPiece / 2];
  for (int64_t i = 0; i < n / 2; ++i) {
    first[i] = (static_cast<double>(long_word(words, 2 * i) >> 12) + 0.5) * 0x1p-52;
    second[i] = static_cast<double>(long_word(words, 2 * i + 1) >> 11) * 0x1p-53;
  }
  box_muller(first, second, n / 2, out);
}

// Whole blocks into a small buffer, then as many elements as are wanted.
template <class T>
void fill_random(const Philox& philox, bool normal, int64_t size, T* out) {
  constexpr int64_t kPerBlock = 16 / sizeof(T);
  const int64_t pieces = ceil_div(size, kPiece);
  const int64_t per_chunk = chunk_of(pieces, kPiece);
  parallel_for(ceil_div(pieces, per_chunk), size > (normal ? 4096 : 16384), [&](int64_t chunk) {
    uint32_t words[kPiece * sizeof(T) / 4];
    T piece[kPiece];
    for (int64_t p = chunk * per_chunk; p < std::min((chunk + 1) * per_chunk, pieces); ++p) {
      const int64_t n = std::min(kPiece, size - p * kPiece);
      const int64_t blocks = ceil_div(n, kPerBlock);
      make_words(philox, p * kPiece / kPerBlock, blocks, words);
      if (normal) {
        normal_piece(words, blocks * kPerBlock, piece);
      } else {
        uniform_piece(words, blocks * kPerBlock, piece);
      }
      std::copy_n(piece, n, out + p * kPiece);
    }
  });
}

void fill_permutation(const Philox& philox, int64_t n, int64_t* out) {
  std::iota(out, out + n, int64_t{0});
  for (int64_t i = n - 1; i > 0; --i) {
    uint32_t words[4];
    philox.block(static_cast<uint64_t>(i), words);
    const auto wide = static_cast<unsigned __int128>(long_word(words, 0)) *
                      static_cast<unsigned __int128>(i + 1);
    std::swap(out[i], out[static_cast<int64_t>(wide >> 64)]);
  }
}

template <class T>
void fill_iota(T* out, int64_t n) {
  const int64_t per_chunk = chunk_of(n, 1);
  parallel_for(ceil_div(n, per_chunk), n > 256 * 1024, [&](int64_t chunk) {
    for (int64_t i = chunk * per_chunk; i < std::min((chunk + 1) * per_chunk, n); ++i) {
      out[i] = static_cast<T>(i);
    }
  });
}

}  // namespace

Status run_random(const Random& random, const Slots& slots) {
  const Philox philox(slots.scalar(random.seed).i, slots.scalar(random.counter).i);
  const int64_t size = random.out.shape.size();
  char* out = slots.at(random.out);
  if (random.op == Op::permutation) {
    fill_permutation(philox, size, reinterpret_cast<int64_t*>(out));
  } else if (random.out.dtype == DType::Float32) {
    fill_random(philox, random.op == Op::random_normal, size, reinterpret_cast<float*>(out));
  } else {
    fill_random(philox, random.op == Op::random_normal, size, reinterpret_cast<double*>(out));
  }
  return {};
}

Status run_iota(const Iota& iota, const Slots& slots) {
  char* out = slots.at(iota.out);
  const int64_t n = iota.out.shape.size();
  switch (iota.out.dtype) {
    case DType::Bool:
      for (int64_t i = 0; i < n; ++i) out[i] = i != 0;
      break;
    case DType::Int32:
      fill_iota(reinterpret_cast<int32_t*>(out), n);
      break;
    case DType::Int64:
      fill_iota(reinterpret_cast<int64_t*>(out), n);
      break;
    case DType::Float32:
      fill_iota(reinterpret_cast<float*>(out), n);
      break;
    case DType::Float64:
      fill_iota(reinterpret_cast<double*>(out), n);
      break;
  }
  return {};
}

}  // namespace pullback
