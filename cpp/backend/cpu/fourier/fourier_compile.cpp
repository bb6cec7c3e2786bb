// Compiles Fourier transforms: divides a long one into shorter ones, and builds their tables.
#include <cmath>

#include "backend/cpu/fourier/fourier_run.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

int64_t bytes_of(const View& view) { return view.shape.size() * size_of(view.dtype); }

constexpr int64_t kLong = 1 << 14;   // points from which a transform is divided
constexpr int64_t kChirp = 1 << 18;  // the same for a convolution: the library takes 50 ms
constexpr int64_t kMostChirp = int64_t{1} << 31;  // the square of a position fits in 64 bits

// True if batches of `at_once` sequences leave few lanes empty.
bool fills(int64_t sequences, int64_t at_once) {
  return 4 * sequences >= 3 * round_up(sequences, at_once);
}

}  // namespace

Transform transform_of(const LibraryCall& call) {
  const FourierForm& form = call.form.fourier;
  const bool to_complex = call.out[0].shape.size() == 2 * call.batch * call.form.n * form.points;
  return !call.form.is_complex ? Transform::HalfOf
         : !to_complex         ? Transform::RealFrom
         : form.backward       ? Transform::Backward
                               : Transform::Forward;
}

int64_t short_points(int64_t n) {
  const int64_t root = static_cast<int64_t>(std::sqrt(static_cast<double>(n)));
  for (int64_t k = root; k > root / 8 && k > 1; --k) {
    if (n % k == 0) return k;
  }
  return 1;
}

int64_t long_points(const LibraryCall& call) {
  const FourierForm& form = call.form.fourier;
  const Transform transform = transform_of(call);
  const bool ends_before = transform == Transform::RealFrom && form.ends != 1;
  if (call.form.n > 1 || ends_before) return 0;
  const bool whole = is_whole(transform);
  const bool odd = !whole && form.points % 2 != 0;
  const int64_t points = whole || odd ? form.points : form.points / 2;
  if (short_points(points) > 1) return points >= kLong && !odd ? points : 0;
  return points >= kChirp && points < kMostChirp ? points : 0;
}

int64_t chirp_points(int64_t n) {
  if (short_points(n) > 1) return 0;
  int64_t out = 0;
  for (int64_t points : {1, 3, 5}) {
    while (points < 2 * n - 1) points *= 2;
    if (out == 0 || points < out) out = points;
  }
  return out;
}

int64_t FourierStep::bytes() const {
  int64_t sum = 0;
  for (const FourierLanes& one : lanes) sum += bytes_of(one.radices) + bytes_of(one.roots);
  for (const RootsOfUnity& one : roots) sum += one.bytes();
  return sum;
}

FourierStep compile_fourier(const LibraryCall& call) {
  FourierStep out{call, {}, {}};
  if (call.out[0].slot < 0) return out;
  // Before tables are built for arrays that fit in no memory.
  check_memory_for(bytes_of(call.in[0]) + bytes_of(call.out[0]));
  const bool narrow = call.in[0].dtype == DType::Float32;
  const auto add_lanes = [&](int64_t points) {
    if (has_fourier_lanes(points, narrow)) out.lanes.push_back(fourier_lanes(points, narrow));
  };
  const int64_t points = call.form.fourier.points;
  if (const int64_t long_ones = long_points(call)) {
    const int64_t chirp = chirp_points(long_ones);
    const int64_t whole = chirp ? chirp : long_ones;
    const int64_t factor = short_points(whole);
    add_lanes(factor);
    if (factor * factor != whole) add_lanes(whole / factor);
    out.roots.emplace_back(whole);
    if (chirp) out.roots.emplace_back(2 * long_ones);
    if (long_ones != points && 2 * long_ones != out.roots.back().points()) {
      out.roots.emplace_back(points);
    }
  } else if (is_whole(transform_of(call))) {
    add_lanes(points);
    // Sequences are rows, or the columns of each matrix.
    const int64_t count = call.form.n > 1 ? call.form.n : call.batch;
    if (!out.lanes.empty() && !fills(count, out.lanes[0].at_once())) out.lanes.clear();
  }
  return out;
}

}  // namespace pullback
