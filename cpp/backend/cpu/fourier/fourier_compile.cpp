// Compiles Fourier transforms: chooses how their columns are transformed, and builds the tables.
#include "backend/cpu/fourier/fourier_run.h"
#include "runtime/memory.h"

namespace pullback {
namespace {

int64_t bytes_of(const View& view) { return view.shape.size() * size_of(view.dtype); }

// True if sequences are faster one at a time, with vectors of points, than with a vector of as many
// sequences. `points`: of the passes. Vectors of points need factors of two in the first passes.
bool are_better_alone(int64_t points, const LibraryCall& call, bool narrow) {
  const bool rows = call.form.n == 1;
  const int64_t sequences = rows ? call.batch : call.form.n, vector = vector_lanes(narrow);
  if (points >= kCopiedPoints) return true;
  if (points < 64 ? 2 * sequences <= vector : sequences < vector) return true;
  return rows && (points >= 1024 || (points >= (narrow ? 512 : 256) && points % 64 == 0));
}

}  // namespace

int64_t FourierStep::bytes() const {
  return (short_ones ? short_ones->bytes() : 0) + (long_ones ? long_ones->bytes() : 0) +
         (long_reals ? long_reals->bytes() : 0);
}

FourierStep compile_fourier(const LibraryCall& call) {
  const FourierForm& form = call.form.fourier;
  const int64_t points = form.points;
  const bool narrow = call.in[0].dtype == DType::Float32;
  FourierStep out{call, Transform::Whole, {}, {}, {}};
  const std::optional<View>& result = call.out[0];
  if (!result) return out;
  // Before tables are built for arrays that fit in no memory.
  check_memory_for(bytes_of(call.in[0]) + bytes_of(*result));
  const bool whole = result->shape.size() == 2 * call.batch * call.form.n * points;
  out.transform = !call.form.is_complex ? Transform::HalfOf
                  : whole               ? Transform::Whole
                                        : Transform::RealFrom;
  const int64_t length = out.transform == Transform::Whole || points % 2 ? points : points / 2;
  const int64_t passes = has_passes(length) ? length : convolution_points(length);
  if (passes < long_points(narrow)) {
    const bool alone = are_better_alone(passes, call, narrow);
    out.short_ones = short_fourier(out.transform, points, narrow, alone);
  } else if (out.transform == Transform::Whole) {
    out.long_ones.emplace(points, narrow);
  } else {
    out.long_reals.emplace(out.transform, points, narrow);
  }
  return out;
}

}  // namespace pullback
