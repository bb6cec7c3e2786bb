#include "plan/evaluate.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "graph/make.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/ops.h"

namespace pullback {
namespace {

LockHooks hooks;

// One run at a time: two plans at once would fight for the cores.
std::mutex& runtime_mutex() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

// Lets go of the interpreter lock first and takes it back last, so that nobody waits for the mutex
// while holding it.
class Running {
 public:
  Running() : state_(hooks.release ? hooks.release() : nullptr) { runtime_mutex().lock(); }
  ~Running() {
    runtime_mutex().unlock();
    if (hooks.acquire) hooks.acquire(state_);
  }

 private:
  void* state_;
};

[[noreturn]] void raise(const Plan& plan, const Status& status) {
  const char* who = status.step >= 0 ? name_of(plan.steps[status.step].source) : "evaluate";
  switch (status.problem) {
    case Problem::IndexOutOfRange:
      fail(ErrorKind::Index, who, ": index ", status.detail,
           " is out of range for an axis of length ", status.bound);
    case Problem::ZeroDivision:
      fail(ErrorKind::ZeroDivision, who, ": integer division by zero");
    case Problem::NegativePower:
      fail(ErrorKind::Value, who,
           ": integers to negative integer powers are not integers; "
           "cast to a float dtype first");
    case Problem::Memory:
      fail(ErrorKind::Memory, who, ": no memory for the scratch space of a step");
    case Problem::Interrupted:
      if (hooks.check_signals) hooks.check_signals();
      fail(ErrorKind::Runtime, who, ": interrupted");
    default:
      fail(ErrorKind::Runtime, who, ": a fault was injected by a test");
  }
}

[[noreturn]] void refuse_argument(std::span<Node* const> roots) {
  const Node* root = roots.empty() ? nullptr : roots[0];
  fail(ErrorKind::Runtime, root ? display_name(root) : "evaluate", ": this tensor",
       root ? text(" (shape ", root->shape, ", ", root->dtype, ")") : std::string(),
       " has no value while its function is being traced; return it from the function to see it, "
       "or choose with where() instead of if");
}

// Variables whose pending update this evaluation computes too.
std::vector<Node*> with_pending(std::span<Node* const> roots) {
  std::vector<Node*> all(roots.begin(), roots.end());
  for (const Variable* variable : pending_variables()) {
    all.push_back(variable->current.get());
    if (variable->reading) all.push_back(variable->reading.get());
  }
  return all;
}

void evaluate_once(std::span<Node* const> roots) {
  const Snapshot snapshot = take_snapshot(roots, true);
  if (snapshot.nodes.empty()) return;
  for (uint32_t i : snapshot.arguments) {
    if (!snapshot.nodes[i]->value) refuse_argument(roots);
  }
  const auto cached = find_plan(snapshot);
  std::vector<Ref<Buffer>> arguments;
  std::vector<Scalar> scalars;
  for (uint32_t i : snapshot.arguments) arguments.push_back(snapshot.nodes[i]->value);
  for (uint32_t i : snapshot.scalars) scalars.push_back(snapshot.nodes[i]->scalar);
  // Other threads may drop handles while the lock is away: hold what will be published.
  std::vector<Ref<Node>> wanted;
  for (uint32_t i : snapshot.outputs) wanted.emplace_back(snapshot.nodes[i]);
  const std::vector<Ref<Buffer>> values = run_plan(*cached, arguments, scalars);
  for (size_t k = 0; k < wanted.size(); ++k) {
    Node* node = wanted[k].get();
    if (!node->value) node->value = values[k];
    if (!node->tracked() || node->op == Op::read) seal(node);
  }
  settle_variables();
}

// The pending update of one variable, when all of them together have failed.
void evaluate_own(const Ref<Node>& update, Node* next) {
  Node* root = update.get();
  try {
    evaluate_once({&root, 1});
  } catch (const Error&) {
    std::vector<Node*> below;
    walk({&next, 1}, &below, [](const Node* node) {
      return is_input(node) ? std::span<Node* const>() : value_inputs(node);
    });
    if (std::find(below.begin(), below.end(), root) != below.end()) throw;
  }
}

}  // namespace

void set_lock_hooks(const LockHooks& h) { hooks = h; }

std::vector<Ref<Buffer>> run_plan(const CachedPlan& cached, std::span<const Ref<Buffer>> arguments,
                                  std::span<const Scalar> scalars) {
  const Plan& plan = cached.plan;
  std::vector<Ref<Buffer>> owned;
  std::vector<void*> outputs;
  for (int64_t bytes : plan.output_bytes) {
    owned.push_back(make_buffer(bytes));
    outputs.push_back(owned.back()->data);
  }
  const int64_t temporary = plan.arena_bytes + cached.executable->scratch_bytes();
  Ref<Buffer> arena = temporary ? make_buffer(temporary) : nullptr;
  std::vector<const void*> inputs;
  for (const Ref<Buffer>& buffer : arguments) inputs.push_back(buffer->data);
  Status status;
  {
    Running running;
    status = cached.executable->run({inputs.data(), scalars.data(), outputs.data(),
                                     arena ? arena->data : nullptr, hooks.interrupted});
  }
  if (!status) raise(plan, status);
  std::vector<Ref<Buffer>> results;
  for (int32_t slot : plan.outputs) {
    const Slot& s = plan.slots[slot];
    results.push_back(s.kind == SlotKind::Argument ? arguments[s.index] : owned[s.index]);
  }
  return results;
}

void evaluate(std::span<Node* const> roots) {
  bool ready = true;
  for (const Node* root : roots) ready &= root->has_value();
  if (ready) return;
  if (pending_variables().empty()) return evaluate_once(roots);
  try {
    evaluate_once(with_pending(roots));
  } catch (const Error&) {
    // The fault may be an update's own: a look at something else must not suffer from it.
    evaluate_once(roots);
  }
}

void install_evaluation() {
  evaluate_deep = [](Node* node) { evaluate(node); };
  evaluate_pending = [](Variable* variable, Node* next) {
    try {
      evaluate_once(with_pending({}));
    } catch (const Error&) {
      evaluate_own(Ref<Node>(variable->current), next);  // held: others may assign meanwhile
    }
  };
}

std::string describe_plan(std::span<Node* const> roots) {
  const Snapshot snapshot = take_snapshot(roots, true);
  return snapshot.nodes.empty() ? "nothing to compute\n" : dump(find_plan(snapshot)->plan);
}

}  // namespace pullback
