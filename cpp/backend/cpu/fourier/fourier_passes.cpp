// Chooses the passes of a Fourier transform, builds their roots, and runs them.
#include "backend/cpu/fourier/fourier_passes.h"

#include <utility>

#include "backend/cpu/kernels/table.h"

namespace pullback {
namespace {

// Radices of kernels of their own, in the order of passes: the first ones have the shortest
// vectors.
constexpr int64_t kRadices[] = {8, 4, 2, 5, 3, 7};

int64_t next_radix(int64_t left) {
  for (const int64_t radix : kRadices) {
    // 4 twice rather than 8 and 2.
    if (left % radix == 0 && !(radix == 8 && left % 32 == 16)) return radix;
  }
  for (int64_t radix = 11; radix <= kLargestRadix; radix += 2) {
    if (left % radix == 0) return radix;
  }
  return 0;
}

}  // namespace

void append_real(double x, bool narrow, std::vector<char>* to) {
  const auto rounded = static_cast<float>(x);
  const char* bytes = narrow ? reinterpret_cast<const char*>(&rounded)  //
                             : reinterpret_cast<const char*>(&x);
  to->insert(to->end(), bytes, bytes + (narrow ? sizeof(float) : sizeof(double)));
}

int64_t vector_lanes(bool narrow) { return kernels().fourier.lanes[narrow ? 0 : 1]; }

int64_t FourierPasses::bytes() const {
  return static_cast<int64_t>(tables.size() + passes.size() * sizeof(Pass));
}

bool has_passes(int64_t points) {
  while (points > 1) {
    const int64_t radix = next_radix(points);
    if (!radix) return false;
    points /= radix;
  }
  return points == 1;
}

FourierPasses fourier_passes(int64_t points, bool narrow, bool alone) {
  FourierPasses out{points, narrow, alone, {}, {}};
  const auto append = [&](double x) { append_real(x, narrow, &out.tables); };
  int64_t left = points, stride = 1;
  while (left > 1) {
    const int64_t radix = next_radix(left), groups = left / radix;
    const bool flat = alone && stride < vector_lanes(narrow) && groups > 1;
    FourierPasses::Pass pass{radix, flat, static_cast<int64_t>(out.tables.size()), -1};
    if (flat) {
      for (int64_t k = 1; k < radix; ++k) {
        for (const bool imaginary : {false, true}) {
          for (int64_t p = 0; p < groups; ++p) {
            const std::complex<double> root = root_of_unity(p * k, left);
            for (int64_t q = 0; q < stride; ++q) append(imaginary ? root.imag() : root.real());
          }
        }
      }
    } else if (groups > 1) {
      for (int64_t p = 0; p < groups; ++p) {
        for (int64_t k = 1; k < radix; ++k) {
          const std::complex<double> root = root_of_unity(p * k, left);
          append(root.real());
          append(root.imag());
        }
      }
    }
    if (radix > 8) {
      pass.circle = static_cast<int64_t>(out.tables.size());
      for (int64_t j = 0; j < radix; ++j) append(root_of_unity(j, radix).real());
      for (int64_t j = 0; j < radix; ++j) append(-root_of_unity(j, radix).imag());
    }
    out.passes.push_back(pass);
    left = groups;
    stride *= radix;
  }
  return out;
}

FourierBuffer run_passes(const FourierPasses& passes, int64_t lanes, FourierBuffer here,
                         FourierBuffer there, bool backward, const FourierOutside* in,
                         const FourierOutside* out) {
  const FourierPassKernel kernel = kernels().fourier.pass[passes.narrow ? 0 : 1];
  // A backward transform is a forward one with real and imaginary parts exchanged.
  const auto start = [&](FourierBuffer buffer) {
    return buffer.data + (backward ? buffer.parts * passes.real_bytes() : 0);
  };
  int64_t left = passes.points, stride = lanes;
  for (size_t i = 0; i < passes.passes.size(); ++i) {
    const FourierPasses::Pass& one = passes.passes[i];
    left /= one.radix;
    FourierPass pass{.radix = one.radix,
                     .groups = left,
                     .stride = stride,
                     .flat = one.flat,
                     .roots = passes.tables.data() + one.roots,
                     .circle = one.circle < 0 ? nullptr : passes.tables.data() + one.circle,
                     .from = start(here),
                     .to = start(there),
                     .parts = backward ? -here.parts : here.parts,
                     .outside = nullptr};
    if (i == 0 && in) pass.from = nullptr, pass.outside = in;
    if (left == 1 && out) pass.to = nullptr, pass.outside = out;
    kernel(pass);
    stride *= one.radix;
    std::swap(here, there);
  }
  return here;
}

}  // namespace pullback
