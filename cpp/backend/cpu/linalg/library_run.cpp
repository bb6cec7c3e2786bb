// Runs routines over a batch: each thread takes matrices one after the other, with a workspace
// whose size was queried when the step was compiled. One matrix: library_factors.cpp and
// library_spectra.cpp; many small ones: library_small.cpp.
#include "backend/cpu/linalg/library_run.h"

#include <algorithm>
#include <limits>

#include "backend/cpu/kernels/small_matrices.h"
#include "backend/cpu/linalg/library_call.h"
#include "backend/cpu/linalg/library_small.h"
#include "backend/cpu/linalg/matrix_functions.h"
#include "backend/cpu/products/attention_run.h"
#include "base/error.h"

namespace pullback {
namespace {

template <class T>
int64_t count(const T& size) {
  return static_cast<int64_t>(std::real(size));
}

template <class T>
void query_svd(const Lapack<T>& lapack, LibraryStep* step) {
  const RoutineForm& form = step->call.form;
  const int64_t least = std::min(form.m, form.n);
  const int m = static_cast<int>(form.m), n = static_cast<int>(form.n);
  const int k = static_cast<int>(least);
  T size{};
  typename Lapack<T>::Real real{};
  int ints = 0;
  const char job = job_of_svd(step->call);
  const int height = is_tall(form) ? m : n, width = is_tall(form) ? n : m;
  const int rows = job == 'A' ? width : k;
  if constexpr (Lapack<T>::kComplex) {
    lapack.gesdd(kColumnMajor, job, height, width, nullptr, height, nullptr, nullptr, height,
                 nullptr, rows, &size, -1, &real, &ints);
  } else {
    lapack.gesdd(kColumnMajor, job, height, width, nullptr, height, nullptr, nullptr, height,
                 nullptr, rows, &size, -1, &ints);
  }
  step->work = count(size);
  const int64_t most = std::max(form.m, form.n);
  // From the documentation of the routine.
  step->reals = least * std::max(5 * least + 7, 2 * most + 2 * least + 1);
  step->ints = 8 * least;
}

template <class T>
void query_sizes(const Lapack<T>& lapack, LibraryStep* step) {
  const LibraryCall& call = step->call;
  const RoutineForm& form = call.form;
  const int64_t least = std::min(form.m, form.n);
  const int m = static_cast<int>(form.m), n = static_cast<int>(form.n);
  const int k = static_cast<int>(least);
  T size{};
  typename Lapack<T>::Real real{};
  int ints = 0;
  if (least == 0) return;
  switch (form.routine) {
    case Routine::cholesky:
    case Routine::triangular_solve:
    case Routine::absent:
      return;
    case Routine::eig: {
      const char vectors = job_of_vectors(call);
      if constexpr (Lapack<T>::kComplex) {
        lapack.geev(kColumnMajor, 'N', vectors, n, nullptr, n, nullptr, nullptr, n, nullptr, n,
                    &size, -1, &real);
      } else {
        lapack.geev(kColumnMajor, 'N', vectors, n, nullptr, n, nullptr, nullptr, nullptr, n,
                    nullptr, n, &size, -1);
      }
      step->work = count(size);
      step->reals = 2 * form.n;  // eigenvalues of real matrices, workspace of complex ones
      return;
    }
    case Routine::lu:
      step->ints = least;
      return;
    case Routine::pseudo_inverse: {
      query_svd(lapack, step);
      const int height = std::max(m, n);
      lapack.geqrf(kColumnMajor, height, k, nullptr, height, nullptr, &size, -1);
      step->work = std::max(step->work, count(size));
      lapack.orgqr(kColumnMajor, height, k, k, nullptr, height, nullptr, &size, -1);
      step->work = std::max(step->work, count(size));
      return;
    }
    case Routine::qr:
      lapack.geqrf(kColumnMajor, m, n, nullptr, m, nullptr, &size, -1);
      step->work = count(size);
      lapack.orgqr(kColumnMajor, m, form.full ? m : k, k, nullptr, m, nullptr, &size, -1);
      step->work = std::max(step->work, count(size));
      return;
    case Routine::svd:
      return query_svd(lapack, step);
    case Routine::eigh:
      if constexpr (Lapack<T>::kComplex) {
        lapack.heevd(kColumnMajor, job_of_vectors(call), 'U', n, nullptr, n, nullptr, &size, -1,
                     &real, -1, &ints, -1);
        step->reals = static_cast<int64_t>(real);
      } else {
        lapack.heevd(kColumnMajor, job_of_vectors(call), 'U', n, nullptr, n, nullptr, &size, -1,
                     &ints, -1);
      }
      step->work = count(size);
      step->ints = ints;
      return;
    default:  // matrix_functions.cpp
      return;
  }
}

template <class T>
LibraryArrays<T> take_arrays(const LibraryStep& step, Workspace* space) {
  const RoutineForm& form = step.call.form;
  const int64_t m = form.m, n = form.n, least = std::min(m, n);
  LibraryArrays<T> out{};
  const auto is = [&](Routine routine) { return form.routine == routine; };
  if (is(Routine::cholesky) || is(Routine::triangular_solve) || is(Routine::absent)) return out;
  const bool singular = is(Routine::svd) || is(Routine::pseudo_inverse);
  out.matrix = space->take<T>(m * n);
  if (singular) {  // u or vh
    out.vectors =
        space->take<T>(std::max(m * (form.full ? m : least), n * (form.full ? n : least)));
  }
  if (is(Routine::eig)) out.vectors = space->take<T>(n * n);
  if (singular && is_tall(form)) out.others = space->take<T>(n * n);
  if (is(Routine::pseudo_inverse)) out.factors = space->take<T>((m + n) * least);
  if (is(Routine::qr)) out.vectors = space->take<T>(m * (form.full ? m : least));
  if (is(Routine::qr) || is(Routine::eig) || is(Routine::pseudo_inverse))
    out.tau = space->take<T>(least);
  out.values = space->take<typename RealOf<T>::type>(least);
  out.work = space->take<T>(step.work);
  out.reals = space->take<typename RealOf<T>::type>(step.reals);
  out.ints = space->take<int>(step.ints);
  return out;
}

// A rough estimate, to decide about threads.
double nanoseconds(const LibraryCall& call) {
  const RoutineForm& form = call.form;
  const double columns = static_cast<double>(form.k ? form.k : form.n);
  const double work = static_cast<double>(form.m) * static_cast<double>(form.n) * columns;
  return is_small(call) ? 5 + 0.1 * work : 500 + 0.5 * work;
}

// As in_chunks; counts the column blocks of all matrices.
template <class Run>
Status by_chunks(const LibraryCall& call, const Run& run) {
  const int64_t blocks = column_blocks(call.form), count = call.batch * blocks;
  const double each = nanoseconds(call) / static_cast<double>(blocks);
  const int64_t together = is_small(call) ? kLaneMultiple : 1;
  return in_chunks(count, each, together, run);
}

template <class T>
Status run_with(const LibraryStep& step, const Slots& slots) {
  const Lapack<T>* library = lapack<T>();
  if (!library) return failure(Problem::NoLibrary);
  const MatrixRun<T> run(*library, step, slots);
  Workspace measured(nullptr);
  take_arrays<T>(step, &measured);
  const int64_t blocks = column_blocks(step.call.form);
  return by_chunks(step.call, [&](int64_t first, int64_t end) -> Status {
    const StepMemory memory(std::max<int64_t>(measured.used(), 64));
    if (!memory.data()) return failure(Problem::Memory);
    Workspace space(memory.data());
    const LibraryArrays<T> arrays = take_arrays<T>(step, &space);
    for (int64_t i = first; i < end; ++i) {
      const Problem found = run.one(i / blocks, i % blocks, arrays);
      if (found == Problem::None) continue;
      Status status = failure(found);
      status.detail = i / blocks;
      status.bound = step.call.batch;
      return status;
    }
    return {};
  });
}

}  // namespace

LibraryStep compile_library(const LibraryCall& call) {
  LibraryStep out{call};
  if (is_small(call) || is_attention(call.form.routine)) return out;
  // LAPACK counts in int, so a larger workspace overflows even in the answer to the query.
  const auto check = [&](auto size, const char* what) {
    if (size >= 0 && size <= std::numeric_limits<int>::max()) return;
    fail(ErrorKind::Value, call.form.who ? call.form.who : name_of(call.form.routine),
         ": expected matrices with fewer than 2³¹ ", what, " for LAPACK, got shape (", call.form.m,
         ", ", call.form.n, "); use smaller ones");
  };
  check(std::max(call.form.m, call.form.n), "rows and columns");
  // Upper limits from the routines' documentation; above an int, the query returns a smaller
  // number.
  const double least = static_cast<double>(std::min(call.form.m, call.form.n));
  if (call.form.routine == Routine::eigh && job_of_vectors(call) == 'V') {
    check(1 + 6 * least + 2 * least * least, "elements in the workspace");
  }
  const bool singular =
      call.form.routine == Routine::svd || call.form.routine == Routine::pseudo_inverse;
  if (singular && job_of_svd(call) != 'N') {
    check((call.form.is_complex ? 1 : 4) * least * least + 7 * least, "elements in the workspace");
  }
  by_dtype(call, [&]<class T>(T*) {
    if (const Lapack<T>* library = lapack<T>()) query_sizes(*library, &out);
  });
  // For the other routines the size of the real workspace is not an argument.
  const int64_t reals = call.form.routine == Routine::eigh ? out.reals : 0;
  for (const int64_t size : {out.work, out.ints, reals}) check(size, "large a workspace");
  return out;
}

Status run_library(const LibraryStep& step, const Slots& slots) {
  if (is_small(step.call)) {
    return by_chunks(step.call, [&](int64_t first, int64_t end) {
      return run_small(step.call, slots, first, end);
    });
  }
  if (is_attention(step.call.form.routine)) return run_attention(step.call, slots);
  if (is_matrix_function(step.call.form.routine)) return run_matrix_function(step.call, slots);
  return by_dtype(step.call, [&]<class T>(T*) { return run_with<T>(step, slots); });
}

}  // namespace pullback
