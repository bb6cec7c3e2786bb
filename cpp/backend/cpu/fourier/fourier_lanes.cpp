// Chooses the passes of transforms in lanes, builds their roots, and runs the passes.
#include "backend/cpu/fourier/fourier_lanes.h"

#include <algorithm>
#include <utility>

namespace pullback {
namespace {

constexpr int64_t kMostBytes = 1 << 20;  // of the two buffers of the passes
constexpr int64_t kRadices[] = {8, 4, 2, 5, 3};

template <class T>
void append(const std::complex<double>& root, std::vector<char>* to) {
  for (const double part : {root.real(), root.imag()}) {
    const T rounded = static_cast<T>(part);
    const char* bytes = reinterpret_cast<const char*>(&rounded);
    to->insert(to->end(), bytes, bytes + sizeof(T));
  }
}

}  // namespace

int64_t FourierLanes::at_once() const { return kernels().fourier.lanes[narrow ? 0 : 1]; }

int64_t FourierLanes::memory_bytes() const {
  return 2 * points * at_once() * (narrow ? int64_t{8} : int64_t{16});
}

bool has_fourier_lanes(int64_t points, bool narrow) {
  FourierLanes lanes{points, narrow, {}, {}};
  if (points < 2 || lanes.memory_bytes() > kMostBytes) return false;
  for (const int64_t radix : kRadices) {
    while (points % radix == 0) points /= radix;
  }
  return points == 1;
}

FourierLanes fourier_lanes(int64_t points, bool narrow) {
  FourierLanes out{points, narrow, {}, {}};
  int64_t left = points;
  while (left > 1) {
    for (int64_t radix : kRadices) {
      if (left % radix != 0) continue;
      if (radix == 8 && left == 16) radix = 4;  // 4 twice rather than 8 and 2
      out.radices.push_back(radix);
      left /= radix;
      break;
    }
  }
  left = points;
  for (const int64_t radix : out.radices) {
    for (int64_t p = 1; p < left / radix; ++p) {
      for (int64_t k = 1; k < radix; ++k) {
        const std::complex<double> root = root_of_unity(p * k, left);
        narrow ? append<float>(root, &out.roots) : append<double>(root, &out.roots);
      }
    }
    left /= radix;
  }
  return out;
}

void transform(const FourierLanes& lanes, const FourierSequences& of, char* memory) {
  const FourierKernels& table = kernels().fourier;
  const size_t wide = lanes.narrow ? 0 : 1;
  char* here = memory;
  char* there = memory + lanes.memory_bytes() / 2;
  const FourierMove in{.points = lanes.points,
                       .count = of.count,
                       .outside = const_cast<void*>(of.in),
                       .point = of.in_point,
                       .sequence = of.in_sequence,
                       .lanes = here,
                       .factor = 1,
                       .backward = of.backward,
                       .twiddles = nullptr};
  FourierMove out{.points = lanes.points,
                  .count = of.count,
                  .outside = of.out,
                  .point = of.out_point,
                  .sequence = of.out_sequence,
                  .lanes = nullptr,
                  .factor = of.factor,
                  .backward = of.backward,
                  .twiddles = of.twiddles};
  const bool whole = of.count == lanes.at_once();
  const bool loads = whole && of.in_sequence == 1 && lanes.radices.size() > 1;
  const bool stores = whole && of.out_sequence == 1 && !of.twiddles;
  if (!loads) table.load[wide](in);
  const char* roots = lanes.roots.data();
  int64_t left = lanes.points, stride = 1;
  for (const int64_t radix : lanes.radices) {
    left /= radix;
    FourierPass pass{radix, left, stride, here, there, roots, nullptr};
    if (stride == 1 && loads) pass.from = nullptr, pass.outside = &in;
    if (left == 1 && stores) pass.to = nullptr, pass.outside = &out;
    table.pass[wide](pass);
    roots += (left - 1) * (radix - 1) * (lanes.narrow ? 8 : 16);
    stride *= radix;
    std::swap(here, there);
  }
  out.lanes = here;
  if (!stores) table.store[wide](out);
}

int64_t twiddle_bytes(const FourierLanes& lanes) {
  const int64_t entries = ceil_div(lanes.points, kTwiddleSteps) + kTwiddleSteps;
  return entries * 2 * lanes.at_once() * static_cast<int64_t>(sizeof(double));
}

TwiddleFactors fill_twiddles(const FourierLanes& lanes, const RootsOfUnity& roots, int64_t first,
                             char* memory) {
  const int64_t count = lanes.at_once();
  const int64_t last = roots.points() / lanes.points - 1;
  const auto sequence = kernels().fourier.sequence[lanes.narrow ? 0 : 1];
  double* to = reinterpret_cast<double*>(memory);
  const auto fill = [&](int64_t steps, int64_t step) {
    const double* start = to;
    for (int64_t i = 0; i < steps; ++i, to += 2 * count) {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t k = std::min(first + sequence(static_cast<int>(j)), last);
        const std::complex<double> root = roots[i * step * k];
        to[j] = root.real();
        to[count + j] = root.imag();
      }
    }
    return start;
  };
  const double* high = fill(ceil_div(lanes.points, kTwiddleSteps), kTwiddleSteps);
  return {high, fill(std::min(kTwiddleSteps, lanes.points), 1)};
}

}  // namespace pullback
