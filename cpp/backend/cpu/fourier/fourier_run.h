// Fourier transforms of columns of matrices, with the tables that they need.
#pragma once

#include <vector>

#include "backend/cpu/common/slots.h"
#include "backend/cpu/fourier/fourier_lanes.h"
#include "backend/cpu/fourier/fourier_routine.h"
#include "backend/cpu/fourier/roots_of_unity.h"

namespace pullback {

struct FourierStep {
  LibraryCall call;
  std::vector<FourierLanes> lanes;  // of the lengths that are transformed many at a time
  std::vector<RootsOfUnity> roots;  // of those that are made of shorter ones

  int64_t bytes() const;  // of the tables
};

Transform transform_of(const LibraryCall& call);
constexpr bool is_whole(Transform transform) {
  return transform == Transform::Forward || transform == Transform::Backward;
}
// Points of the long complex transform that is made of short ones; 0 where there is none.
int64_t long_points(const LibraryCall& call);
// Those of the short ones, of which there are n divided by that: the factor of n nearest its root
// from below, if that is not much smaller; else 1.
int64_t short_points(int64_t n);
// Points of the convolution that a long transform without such factors is, of a prime length for
// one; 0 where there are factors.
int64_t chirp_points(int64_t n);

FourierStep compile_fourier(const LibraryCall& call);
Status run_fourier(const FourierStep& step, const Slots& slots);

}  // namespace pullback
