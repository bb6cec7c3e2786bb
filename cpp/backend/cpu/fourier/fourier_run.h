// FourierStep: Fourier transforms of the columns of matrices, with their tables.
#pragma once

#include <optional>

#include "backend/common/slots.h"
#include "backend/cpu/fourier/long_real.h"

namespace pullback {

// Columns of so many complex points are copied, some at once: a vector of them leaves the caches.
constexpr int64_t kCopiedPoints = 1 << 14;

// One of the three is present, unless no step reads the result.
struct FourierStep {
  LibraryCall call;
  Transform transform;
  std::optional<ShortFourier> short_ones;
  std::optional<LongFourier> long_ones;
  std::optional<LongReal> long_reals;

  int64_t bytes() const;  // of the tables
};

FourierStep compile_fourier(const LibraryCall& call);
Status run_fourier(const FourierStep& step, const Slots& slots);

}  // namespace pullback
