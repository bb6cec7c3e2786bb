// Builds the message of a failed run: the operation, the entry or matrix, and the remedy.
#include "eval/raise_failure.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/callback.h"
#include "base/counted.h"
#include "base/error.h"
#include "graph/runtime.h"

namespace pullback {
namespace {

// True if an operation can fail with this problem.
bool may_have(const Instruction& instruction, Problem problem) {
  if (problem == Problem::NegativePower) return instruction.op == Op::pow;
  if (problem == Problem::IndexOutOfRange) return traits(instruction.op).fails == Fails::Always;
  return instruction.op != Op::pow && instruction.op != Op::wrap_index && can_fail(instruction);
}

// The operation that failed. In a group, source is the operation that the group is named after,
// which may not be the one that can fail.
Op failed_operation(const Step& step, Problem problem) {
  if (const TileGroup* group = group_of(step)) {
    for (const Instruction& instruction : group->instructions) {
      if (instruction.op == Op::wrap_index && problem == Problem::IndexOutOfRange) return Op::take;
      if (may_have(instruction, problem)) return instruction.op;
    }
  }
  return step.source;
}

template <class... Parts>
[[noreturn]] void fail_run(ErrorKind kind, const Parts&... parts) {
  throw Error(kind, text(parts...), Error::Of::Run);
}

// Names the operation, and the line of the program that made it if the plan has it.
std::string operation_of(const Step& step, Problem problem) {
  const Op op = failed_operation(step, problem);
  const char* who = op == Op::routine ? name_of(step) : name_of(op);
  const auto known = [](const Label& label) { return label.site != 0; };
  auto label = std::ranges::find_if(
      step.labels, [&](const Label& each) { return each.op == op && known(each); });
  if (label == step.labels.end()) label = std::ranges::find_if(step.labels, known);
  if (label == step.labels.end() || !runtime.describe_site) return who;
  const std::string place = runtime.describe_site(label->site);
  return place.empty() ? who : text(who, ", made at ", place);
}

// Names the matrix of a batch.
std::string place_of(const Status& status) {
  return status.bound > 1 ? text(" at place ", status.detail, " of the batch") : std::string();
}

}  // namespace

void raise(const Plan& plan, const Status& status, Device device) {
  const bool of_step = status.step >= 0;
  const Step* step = status.inner ? status.inner : of_step ? &plan.steps[status.step] : nullptr;
  const Op op = step ? failed_operation(*step, status.problem) : Op::value;
  const std::string who = of_step ? operation_of(*step, status.problem) : "evaluate";
  switch (status.problem) {
    case Problem::IndexOutOfRange:
      if (op == Op::pick || op == Op::place) {  // pick occurs only in losses, with labels as
                                                // positions
        fail_run(ErrorKind::Index, "sparse_softmax_cross_entropy: label ", status.detail,
                 " is out of range for ", counted(status.bound, "class", "classes"));
      }
      fail_run(ErrorKind::Index, who, ": index ", status.detail,
               " is out of range for an axis of size ", status.bound);
    case Problem::ZeroDivision:
      fail_run(ErrorKind::ZeroDivision, who, ": integer division by zero");
    case Problem::NegativePower:
      fail_run(ErrorKind::Value, who,
               ": expected exponents >= 0 for integers, got a negative one; cast to a float dtype");
    case Problem::NotPositive:
      fail_run(ErrorKind::LinearAlgebra, who, ": the matrix", place_of(status),
               " is not positive definite");
    case Problem::Singular:
      fail_run(ErrorKind::LinearAlgebra, who, ": the matrix", place_of(status),
               " is singular: a pivot is exactly zero");
    case Problem::NotConverged:
      fail_run(ErrorKind::LinearAlgebra, who, ": the decomposition of the matrix", place_of(status),
               " did not converge; test the matrix for NaN and infinity");
    case Problem::Degenerate:
      fail_run(
          ErrorKind::LinearAlgebra, who, ": two values of the matrix", place_of(status),
          " are equal, so their vectors have no derivative; degenerate='mask' omits the terms "
          "between them, which is right for a loss that depends only on the space that they span");
    case Problem::NotUnique:
      fail_run(ErrorKind::LinearAlgebra, who, ": the equation", place_of(status),
               " has no unique solution: an eigenvalue of one matrix is minus one of the other");
    case Problem::NoLibrary:
      fail_run(ErrorKind::Runtime, who,
               ": no LAPACK library could be loaded; run `python -m pullback doctor`");
    case Problem::Memory:
      fail_run(ErrorKind::Memory, who, ": cannot allocate the scratch space of a step");
    case Problem::Device:
      fail_run(ErrorKind::Runtime, who, ": ", memory_of(device).failure());
    case Problem::Callback:
      throw CallbackError(std::exchange(callback_failure, nullptr));
    case Problem::Interrupted:
      fail_run(ErrorKind::Runtime, who, ": interrupted");
    default:
      fail_run(ErrorKind::Runtime, who, ": a fault was injected by a test");
  }
}

}  // namespace pullback
