#include "plan/evaluate.h"

#include <algorithm>
#include <mutex>

#include "base/error.h"
#include "graph/make.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/ops.h"
#include "plan/trace.h"

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
    case Problem::Library:
      fail(ErrorKind::Runtime, who,
           ": no BLAS library could be loaded; "
           "run `python -m pullback doctor`, or name one in PULLBACK_BLAS");
    case Problem::Memory:
      fail(ErrorKind::Memory, who, ": no memory for the scratch space of a step");
    case Problem::Interrupted:
      if (hooks.check_signals) hooks.check_signals();
      fail(ErrorKind::Runtime, who, ": interrupted");
    default:
      fail(ErrorKind::Runtime, who, ": a fault was injected by a test");
  }
}

// The trace that a tensor without a value belongs to, as far as its arguments say.
const TraceOrigin* origin_of(Node* node) {
  std::vector<Node*> below;
  walk({&node, 1}, &below, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  for (const Node* leaf : below) {
    if (leaf->op != Op::argument) continue;
    if (const auto* origin = dynamic_cast<const TraceOrigin*>(leaf->rule.get())) return origin;
  }
  return nullptr;
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
    if (snapshot.nodes[i]->value) continue;
    // The argument itself where no root says more: an update of a variable may need it.
    refuse_traced(roots.empty() ? snapshot.nodes[i] : roots[0], "evaluate",
                  "return it from the function to see it, or choose with where() instead of if");
  }
  const auto cached = find_plan(snapshot);
  // Other threads may drop handles while the lock is away: hold what is read and published.
  std::vector<Ref<Buffer>> arguments;
  std::vector<const void*> addresses;
  std::vector<Scalar> scalars;
  for (uint32_t i : snapshot.arguments) {
    arguments.push_back(snapshot.nodes[i]->value);
    addresses.push_back(arguments.back()->data);
  }
  for (uint32_t i : snapshot.scalars) scalars.push_back(snapshot.nodes[i]->scalar);
  std::vector<Ref<Node>> wanted;
  for (uint32_t i : snapshot.outputs) wanted.emplace_back(snapshot.nodes[i]);
  const Plan& plan = cached->plan;
  std::vector<Ref<Buffer>> owned(plan.output_bytes.size());
  run_plan(*cached, addresses.data(), scalars.data(), owned.data());
  for (size_t k = 0; k < wanted.size(); ++k) {
    Node* node = wanted[k].get();
    const Slot& slot = plan.slots[plan.outputs[k]];
    if (!node->value) {
      node->value = slot.kind == SlotKind::Argument ? arguments[slot.index] : owned[slot.index];
    }
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

void refuse_traced(Node* node, const std::string& who, const std::string& advice) {
  const TraceOrigin* origin = origin_of(node);
  const std::string tensor =
      text(who, ": this tensor (shape ", node->shape, ", ", node->dtype, ")");
  const std::string name = origin && !origin->name.empty() ? origin->name : "its function";
  if (origin ? origin->open : Trace::active()) {
    fail(ErrorKind::Runtime, tensor, " has no value while its function is being traced",
         origin && !origin->name.empty() ? ", " + name : std::string(), "; ", advice);
  }
  fail(ErrorKind::Runtime, tensor, " was made while ", name,
       " was traced, and has no value outside of it; return it from the function");
}

void run_plan(const CachedPlan& cached, const void* const* arguments, const Scalar* scalars,
              Ref<Buffer>* owned) {
  const Plan& plan = cached.plan;
  const size_t count = plan.output_bytes.size();
  constexpr size_t kFew = 64;  // more than that get a list from the heap
  void* few[kFew];
  std::vector<void*> many(count > kFew ? count : 0);
  void** outputs = count > kFew ? many.data() : few;
  for (size_t i = 0; i < count; ++i) {
    owned[i] = make_buffer(plan.output_bytes[i]);
    outputs[i] = owned[i]->data;
  }
  const Ref<Buffer> arena = plan.arena_bytes ? make_buffer(plan.arena_bytes) : nullptr;
  Status status;
  {
    Running running;
    status = cached.executable->run(
        {arguments, scalars, outputs, arena ? arena->data : nullptr, hooks.interrupted});
  }
  if (!status) raise(plan, status);
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
