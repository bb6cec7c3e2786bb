// The kernels of Fourier transforms: passes (fourier.cpp), moves between memory and buffers
// (fourier_moves.cpp), folds of real sequences and products (fourier_folds.cpp). One or several
// sequences are transformed at once. Inside, real and imaginary parts are separate arrays of
// [points][lanes], where a lane is a sequence.
#pragma once

#include <cstdint>

namespace pullback {

constexpr int kLargestRadix = 113;

// A pass of a transform of radix * groups * stride entries; the stride includes the lanes. With
// `outside`, the first pass (`from` is null) or the last one reads or writes adjacent pairs there:
// rows of `width` entries, `point` entries after one another; `exchanged`: imaginary parts first.
struct FourierOutside {
  void* data;
  int64_t width, point;
  double factor;  // of a result
  bool exchanged;
};
struct FourierPass {
  int64_t radix, groups, stride;
  bool flat;  // the stride is shorter than a vector, and this is not the last pass
  // Powers k = 1 … radix - 1 of the root of each group, (re, im). If flat: for each k, re of all
  // positions in groups and stride, then im.
  const void* roots;
  const void* circle;  // of odd radices above 7: cosines, then sines, of 2 pi j / radix
  const void* from;
  void* to;
  int64_t parts;  // entries from real to imaginary parts
  const FourierOutside* outside;
};
using FourierPassKernel = void (*)(const FourierPass& pass) noexcept;

struct FourierTable {
  FourierPassKernel pass[2];  // float32, float64
  int64_t lanes[2];           // of a vector
};

// The factor for point i of each lane is high[i / kTwiddleSteps] times low[i % kTwiddleSteps]; each
// has real parts, then imaginary parts.
constexpr int64_t kTwiddleSteps = 32;
struct TwiddleFactors {
  const double* high;
  const double* low;
};

// Moves `count` sequences between memory, where points and sequences are these numbers of entries
// apart, and separate parts of `lanes` sequences; loads fill other lanes with zeros. A store
// multiplies by `factor`, or, with several lanes, by `twiddles` if not null. Entries are real if
// `im` is null.
struct FourierMove {
  int64_t points, count, lanes;
  void* data;
  int64_t point, sequence;
  void *re, *im;
  double factor;
  const TwiddleFactors* twiddles;
};
using FourierMoveKernel = void (*)(const FourierMove& move) noexcept;

struct FourierMoveTable {  // float32, float64
  FourierMoveKernel load[2], store[2];
};

// unfold: the transform y of h complex numbers, which are pairs of real numbers, becomes the first
// h + 1 numbers of the transform of 2 h real numbers, times `factor`, the first and the last also
// times `ends`. fold: the inverse up to a factor, with the ends multiplied before. roots: powers 0
// … h / 2 of exp(-pi i / h), real parts and then, h / 2 + 1 later, imaginary parts. Results have
// room for h + 1 points.
struct FourierFold {
  int64_t half, lanes;
  const void* roots;
  const void *from_re, *from_im;
  void *re, *im;
  double factor, ends;
};
using FourierFoldKernel = void (*)(const FourierFold& fold) noexcept;

// The same for `count` pairs of adjacent numbers of a long transform, without a factor: number j
// from `first` on, and its partner, number j backwards from `last`. The root of a pair is low[j],
// (re, im), times `high`. The results may be stored in place.
struct FourierPairs {
  int64_t count;
  const double* low;
  double high_re, high_im;
  const void *first, *last;
  void *to_first, *to_last;
};
using FourierPairsKernel = void (*)(const FourierPairs& pairs) noexcept;

// Multiplies each point by a complex number; `by` has real parts and, by_parts later, imaginary
// ones. The result may be the input.
struct FourierProduct {
  int64_t points, lanes;
  const void* by;
  int64_t by_parts;
  const void *from_re, *from_im;
  void *re, *im;
};
using FourierProductKernel = void (*)(const FourierProduct& product) noexcept;

struct FourierFoldTable {  // float32, float64
  FourierFoldKernel fold[2], unfold[2];
  FourierPairsKernel fold_pairs[2], unfold_pairs[2];
  FourierProductKernel multiply[2];
};

}  // namespace pullback
