// What a backend owes a run whatever its steps do: they are counted, an interrupt stops between
// them, and the null backend does nothing and fails when told.

#include "check.h"
#include "plans.h"

namespace pullback::test {
namespace {

void test_run() {
  Runner r;
  for (int i = 0; i < 3; ++i) r.add(Iota{row_view(r.output(DType::Int64, 2), DType::Int64, {2})});
  const StepCounts before = step_counts();
  check(bool(r.run()), "run");
  const size_t iota = Work(Iota{}).index();
  check(step_counts().of[iota] - before.of[iota] == 3, "steps are counted");
  static int polls;
  polls = 0;
  const Status stopped = r.run([] { return ++polls == 2; });
  check(stopped.problem == Problem::Interrupted && stopped.step == 2,
        "an interrupt stops between steps");
  null_backend_fail(2);
  const auto nothing = null_backend().compile(r.plan);
  check(bool(nothing->run({})), "null backend");
  check(nothing->run({}).problem == Problem::Injected, "null backend fails when told");
  check(bool(nothing->run({})), "and only once");
}

}  // namespace
}  // namespace pullback::test

int main() {
  using namespace pullback::test;
  test_run();
  return report();
}
