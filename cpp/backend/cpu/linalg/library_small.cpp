// Passes a step to the kernels of small matrices, and decides which steps use them.
#include "backend/cpu/linalg/library_small.h"

#include "backend/cpu/kernels/small_matrices.h"
#include "backend/cpu/kernels/table.h"

namespace pullback {

bool is_small(const LibraryCall& call) {
  // A single matrix takes as long as a full vector of matrices; up to this size that is little.
  constexpr int64_t kAlone = 16;
  const RoutineForm& form = call.form;
  if (form.n > kAlone && call.batch < kLaneMultiple) return false;
  if (form.is_complex || form.m != form.n || form.n < 1 || form.n > kSmallMatrix) return false;
  if (form.routine == Routine::lu) return !call.out[3];  // the kernels do not return the swaps
  if (form.routine == Routine::solve) return form.n <= kSmallSolve;  // builders make no larger ones
  return form.routine == Routine::cholesky ||
         (form.routine == Routine::triangular_solve && form.k > 0);
}

Status run_small(const LibraryCall& call, const Slots& slots, int64_t first, int64_t end) {
  const RoutineForm& form = call.form;
  const int64_t n = form.n, count = end - first;
  const SmallMatrixTable& table = kernels().small_matrices;
  const int wide = call.in[0].dtype == DType::Float64;
  const auto at = [&](const std::optional<View>& view, int64_t size) {
    return view ? slots.at(*view) + first * size * size_of(view->dtype) : nullptr;
  };
  int64_t failed = -1;
  Problem problem = Problem::None;
  if (form.routine == Routine::lu) {
    table.lu[wide]({n, count, at(call.in[0], n * n), at(call.out[0], n * n),
                    reinterpret_cast<int64_t*>(at(call.out[1], n)), at(call.out[2], 1),
                    at(call.out[4], 1)});
  } else if (form.routine == Routine::cholesky) {
    failed = table.cholesky[wide]({n, count, at(call.in[0], n * n), at(call.out[0], n * n)});
    problem = Problem::NotPositive;
  } else if (form.routine == Routine::solve) {
    failed = table.solve[wide](
        {n, form.k, count, form.transposition != Transposition::None, at(call.in[0], n * n),
         call.in.size() > 1 ? at(call.in[1], n * form.k) : nullptr, at(call.out[0], n * form.k)});
    problem = Problem::Singular;
  } else {
    failed = table.triangular[wide](
        {n, form.k, count, form.lower, form.unit, form.transposition != Transposition::None,
         at(call.in[0], n * n), at(call.in[1], n * form.k), at(call.out[0], n * form.k)});
    problem = Problem::Singular;
  }
  if (failed < 0) return {};
  Status status = failure(problem);
  status.detail = first + failed;
  status.bound = call.batch;
  return status;
}

}  // namespace pullback
