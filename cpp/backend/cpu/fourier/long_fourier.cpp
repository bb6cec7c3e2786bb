// Compiles and runs transforms that leave the caches.
#include "backend/cpu/fourier/long_fourier.h"

#include <algorithm>
#include <cmath>

#include "backend/common/slots.h"
#include "backend/cpu/fourier/fourier_parts.h"
#include "base/error.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kStoredKernel = 1 << 20;  // points: larger ones are computed in each run

// The largest factor of n up to its square root, unless that is much smaller; then 1.
int64_t column_points(int64_t n) {
  const int64_t root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  for (int64_t k = root; k > root / 16 && k > 1; --k) {
    if (n % k == 0) return k;
  }
  return 1;
}

bool can_divide(int64_t length) { return has_passes(length) && column_points(length) > 1; }

template <class T>
bool transform(const DividedFourier& of, const std::complex<T>* x, std::complex<T>* y,
               std::complex<T>* between, bool backward, double factor) {
  const int64_t n1 = of.columns.points, n2 = of.rows.points;
  const int64_t lanes = vector_lanes(sizeof(T) == 4);
  FirstProblem problem;
  parallel_for(ceil_div(n2, lanes), true, [&](int64_t chunk) {
    const int64_t first = chunk * lanes, count = std::min(lanes, n2 - first);
    const int64_t bytes = of.columns.memory_bytes(lanes);
    const StepMemory memory(bytes + twiddle_bytes(n1, lanes));
    if (!memory.data()) return problem.report(chunk, Problem::Memory);
    const TwiddleFactors twiddles =
        fill_twiddles(n1, lanes, of.roots, first, backward, memory.data() + bytes);
    transform(of.columns,
              {.in = x + first,
               .in_point = n2,
               .in_sequence = 1,
               .out = between + first,
               .out_point = n2,
               .out_sequence = 1,
               .count = count,
               .backward = backward,
               .factor = 1,
               .twiddles = &twiddles},
              lanes, memory.data());
  });
  if (!problem.status()) return false;
  parallel_for(ceil_div(n1, lanes), true, [&](int64_t chunk) {
    const int64_t first = chunk * lanes, count = std::min(lanes, n1 - first);
    const StepMemory memory(of.rows.memory_bytes(lanes));
    if (!memory.data()) return problem.report(chunk, Problem::Memory);
    transform(of.rows,
              {.in = between + first * n2,
               .in_point = 1,
               .in_sequence = n2,
               .out = y + first,
               .out_point = n1,
               .out_sequence = 1,
               .count = count,
               .backward = backward,
               .factor = factor},
              lanes, memory.data());
  });
  return static_cast<bool>(problem.status());
}

// Calls f with each k below the length, and with the chirp exp(-πi k² / length).
template <class F>
void over_chirp(const LongFourier& of, F&& f) {
  over_ranges(of.length, [&](int64_t first, int64_t end) {
    const int64_t period = 2 * of.length;
    auto square = static_cast<int64_t>(static_cast<unsigned __int128>(first) * first % period);
    for (int64_t k = first; k < end; ++k) {
      f(k, (*of.chirp)[square]);
      square += 2 * k + 1;
      if (square >= period) square -= period;
    }
  });
}

// The chirp's conjugate at both ends of the points of the convolution, divided by their number.
template <class T>
void fill_kernel(const LongFourier& of, std::complex<T>* kernel) {
  const int64_t points = of.divided.points();
  const double factor = 1 / static_cast<double>(points);
  for_each_in_chunks(points, [&](int64_t k) { kernel[k] = std::complex<T>(); });
  over_chirp(of, [&](int64_t k, const std::complex<double>& chirp) {
    kernel[k] = kernel[k > 0 ? points - k : 0] = std::complex<T>(factor * std::conj(chirp));
  });
}

}  // namespace

DividedFourier::DividedFourier(int64_t points, bool narrow)
    : columns(short_fourier(Transform::Whole, column_points(points), narrow, false)),
      rows(short_fourier(Transform::Whole, points / column_points(points), narrow, false)),
      roots(points) {}

LongFourier::LongFourier(int64_t length, bool narrow)
    : length(length), divided(can_divide(length) ? length : convolution_points(length), narrow) {
  if (can_divide(length)) return;
  chirp.emplace(2 * length);
  const int64_t points = divided.points();
  if (points > kStoredKernel) return;
  const Interruption none(nullptr);  // a plan is compiled once, also inside an interrupted run
  const LongFourier whole(points, false);
  std::vector<std::complex<double>> made(static_cast<size_t>(points)), scratch(made);
  fill_kernel(*this, made.data());
  if (!pullback::transform(whole, made.data(), made.data(), false, 1, scratch.data())) {
    fail(ErrorKind::Memory, "cannot allocate the tables of a Fourier transform");
  }
  for (const std::complex<double>& x : made) {
    append_real(x.real(), narrow, &kernel);
    append_real(x.imag(), narrow, &kernel);
  }
}

int64_t LongFourier::bytes() const {
  return divided.bytes() + (chirp ? chirp->bytes() : 0) + static_cast<int64_t>(kernel.size());
}

template <class T>
bool prepare(const LongFourier& of, std::complex<T>* scratch) {
  if (!of.chirp || !of.kernel.empty()) return true;
  const int64_t points = of.divided.points();
  fill_kernel(of, scratch);
  return transform(of.divided, scratch, scratch, scratch + points, false, 1);
}

template <class T>
bool transform(const LongFourier& of, const std::complex<T>* x, std::complex<T>* y, bool backward,
               double factor, std::complex<T>* scratch) {
  if (!of.chirp) return transform(of.divided, x, y, scratch, backward, factor);
  // Backward is the conjugate of forward.
  const int64_t points = of.divided.points();
  const auto* kernel =
      of.kernel.empty() ? scratch : reinterpret_cast<const std::complex<T>*>(of.kernel.data());
  std::complex<T>* sequence = scratch + points;
  std::complex<T>* between = sequence + points;
  over_chirp(of, [&](int64_t k, const std::complex<double>& chirp) {
    sequence[k] = times(backward ? std::conj(x[k]) : x[k], chirp);
  });
  for_each_in_chunks(points - of.length,
                     [&](int64_t k) { sequence[of.length + k] = std::complex<T>(); });
  if (!transform(of.divided, sequence, sequence, between, false, 1)) return false;
  for_each_in_chunks(points, [&](int64_t k) {
    sequence[k] = times(sequence[k], std::complex<double>(kernel[k]));
  });
  if (!transform(of.divided, sequence, sequence, between, true, factor)) return false;
  over_chirp(of, [&](int64_t k, const std::complex<double>& chirp) {
    const std::complex<T> made = times(sequence[k], chirp);
    y[k] = backward ? std::conj(made) : made;
  });
  return true;
}

template bool prepare(const LongFourier&, std::complex<float>*);
template bool prepare(const LongFourier&, std::complex<double>*);
template bool transform(const LongFourier&, const std::complex<float>*, std::complex<float>*, bool,
                        double, std::complex<float>*);
template bool transform(const LongFourier&, const std::complex<double>*, std::complex<double>*,
                        bool, double, std::complex<double>*);

}  // namespace pullback
