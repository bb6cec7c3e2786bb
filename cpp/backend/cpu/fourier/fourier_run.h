// FourierProgram: Fourier transforms of columns of matrices, with their tables.
#pragma once

#include <vector>

#include "backend/cpu/common/slots.h"
#include "backend/cpu/fourier/fourier_lanes.h"
#include "backend/cpu/fourier/fourier_routine.h"
#include "backend/cpu/fourier/roots_of_unity.h"

namespace pullback {

struct FourierStep {
  LibraryCall call;
  std::vector<FourierLanes> lanes;  // for the lengths transformed many at once
  std::vector<RootsOfUnity> roots;  // for the lengths divided into shorter ones

  int64_t bytes() const;  // of the tables
};

Transform transform_of(const LibraryCall& call);
constexpr bool is_whole(Transform transform) {
  return transform == Transform::Forward || transform == Transform::Backward;
}
// The length of the complex transform that is divided into short ones; 0 if none is.
int64_t long_points(const LibraryCall& call);
// The length of the short transforms: the largest factor of n up to its square root, unless that is
// much smaller; then 1.
int64_t short_points(int64_t n);
// The length of the convolution for a long transform without suitable factors, for example of prime
// length; 0 if it has factors.
int64_t chirp_points(int64_t n);

FourierStep compile_fourier(const LibraryCall& call);
Status run_fourier(const FourierStep& step, const Slots& slots);

}  // namespace pullback
