// Prepare, run without the lock, publish. While a run has released the interpreter lock, other
// threads may change the graph. So nodes are held by references, the list of variables is read
// again after the run, and a value that the run overwrites in place is in flight (take_donated): a
// thread that needs it waits.
#include "eval/evaluate.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "base/callback.h"
#include "base/error.h"
#include "base/threads.h"
#include "eval/evaluate_by_device.h"
#include "eval/flush_pending.h"
#include "eval/open_traces.h"
#include "eval/raise_failure.h"
#include "graph/make.h"
#include "graph/runtime.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "ops/ops.h"
#include "runtime/integer_ranges.h"
#include "runtime/uploads.h"

namespace pullback {
namespace {

// Number of nodes with kInFlight, in the whole process.
int nodes_in_flight = 0;
bool in_flight_forever = false;  // in a forked child: the run's thread does not exist

// The state of one thread, in one struct because each access to a thread-local costs a call.
struct Turn {
  int locks = 0;  // locks of the mutex by this thread
  int runs = 0;   // nested runs of this thread
};
thread_local Turn turn;

// One run at a time: two plans at once would compete for the cores. Recursive, because a Python
// signal handler runs inside a run and may evaluate a tensor.
std::recursive_mutex* runtime_mutex() {
  static std::recursive_mutex* mutex = [] {
    // In a forked child, the running thread and its unlock do not exist, so the child gets a new
    // mutex.
    at_fork(nullptr, nullptr, [] {
      mutex = new std::recursive_mutex;
      for (int i = 0; i < turn.locks; ++i) mutex->lock();  // the runs of the forking thread
      in_flight_forever = nodes_in_flight > 0;
    });
    return new std::recursive_mutex;
  }();
  return mutex;
}

// Releases the interpreter lock first and acquires it last, so no thread waits for the mutex while
// it has the interpreter lock.
class Running {
 public:
  Running() : state_(runtime.release_lock ? runtime.release_lock() : nullptr) {
    runtime_mutex()->lock();
    ++turn_.locks;
    ++turn_.runs;
  }
  ~Running() {
    --turn_.runs;
    --turn_.locks;
    runtime_mutex()->unlock();  // read again: a forked child has another one
    if (runtime.acquire_lock) runtime.acquire_lock(state_);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  void* state_;
  Turn& turn_ = turn;
};

}  // namespace

CallbackScope::CallbackScope() noexcept : depth_(std::exchange(turn.locks, 0)) {
  for (int i = 0; i < depth_; ++i) runtime_mutex()->unlock();
}

CallbackScope::~CallbackScope() {
  for (; turn.locks < depth_; ++turn.locks) runtime_mutex()->lock();
}

namespace {

// Waits until the run on another thread that writes the node's next value into its memory ends.
void wait_for(const NodeRef& node) {
  while (node->flags & kInFlight) {
    if (turn.runs || in_flight_forever) {
      fail(ErrorKind::Runtime, display_name(node.get()), ": this value was being updated in place ",
           turn.runs ? "when the signal handler was called"
                     : "by another thread when this process was forked",
           "; read it before or after");
    }
    const Running others_are_done;
  }
}

// The origin of a tensor without a value, among its arguments and draws: a trace, or another origin
// that explains why there is no value.
const Origin* origin_of(Node* node) {
  std::vector<Node*> below;
  walk({&node, 1}, &below, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  for (const Node* leaf : below) {
    if (leaf->op != Op::argument && leaf->op != Op::scalar) continue;
    if (leaf->origin && (leaf->op == Op::argument || leaf->flags & kDraw))
      return leaf->origin.get();
  }
  return nullptr;
}

// The treatment of pending updates of variables in an evaluation.
enum class Updates : uint8_t { Leave, Compute };

std::vector<Node*> with_updates(std::span<Node* const> roots) {
  std::vector<Node*> all(roots.begin(), roots.end());
  for (const Variable* variable : pending_variables()) {
    if (variable->failed) continue;
    all.push_back(variable->current.get());
    if (variable->reading) all.push_back(variable->reading.get());
  }
  return all;
}

NodeRef first_in_flight(std::span<Node* const> nodes) {
  if (nodes_in_flight == 0) return nullptr;
  const auto in_flight = [](const Node* node) { return (node->flags & kInFlight) != 0; };
  const auto found = std::find_if(nodes.begin(), nodes.end(), in_flight);
  return found == nodes.end() ? nullptr : NodeRef(*found);
}

// Takes a snapshot while nothing below the roots is in flight. A wait releases the lock, and other
// threads assign, drop and evaluate: everything is collected again.
Snapshot snapshot_at_rest(std::span<Node* const> roots, Updates updates) {
  for (;;) {
    Snapshot snapshot =
        updates == Updates::Leave ? take_snapshot(roots) : take_snapshot(with_updates(roots));
    const NodeRef in_flight = first_in_flight(snapshot.nodes);
    if (!in_flight) return snapshot;
    wait_for(in_flight);
  }
}

constexpr const char* kNoValueYet =
    "return it from the function to see it; choose with cond() or where() instead of if";

// Returns the plan of the pending nodes, with its arguments in `run` and its outputs in `wanted`;
// null if nothing is pending. The snapshot ends here: it has plain pointers to nodes, which are
// invalid after the lock has been released.
std::shared_ptr<const CachedPlan> prepare(std::span<Node* const> roots, Updates updates,
                                          PlanRun* run, std::vector<NodeRef>* wanted) {
  for (Node* root : roots) {
    if (!(root->flags & kTraced) || root->has_value()) continue;
    refuse_traced(root, "evaluate", kNoValueYet);
  }
  const Snapshot snapshot = snapshot_at_rest(roots, updates);
  if (snapshot.nodes.empty()) return nullptr;
  for (uint32_t i : snapshot.arguments) {  // an update may depend on a traced argument
    if (!snapshot.nodes[i]->value) refuse_traced(snapshot.nodes[i], "evaluate", kNoValueYet);
  }
  auto cached = find_plan(snapshot);
  for (uint32_t i : snapshot.arguments) {
    run->add_argument(snapshot.nodes[i], !snapshot.outlives[i]);
  }
  for (uint32_t i : snapshot.scalars) {
    run->add_scalar(snapshot.nodes[i]->scalar);
    if (snapshot.nodes[i]->origin) run->hold(snapshot.nodes[i]);
  }
  wanted->reserve(snapshot.outputs.size());
  for (uint32_t i : snapshot.outputs) wanted->emplace_back(snapshot.nodes[i]);
  return cached;
}

// The caller keeps the roots alive. All are on one device.
void evaluate_on_device(std::span<Node* const> roots, Updates updates) {
  PlanRun run;
  std::vector<NodeRef> wanted;
  const auto cached = prepare(roots, updates, &run, &wanted);
  if (!cached) return;
  run.run(*cached);
  for (size_t k = 0; k < wanted.size(); ++k) {
    if (!wanted[k]->value) wanted[k]->value = run.result(k);
  }
  // Releasing history can run arbitrary Python (__del__). Do it after the outputs are published, so
  // that no thread recomputes an update whose input buffer was donated.
  commit_updates();
  for (const NodeRef& node : wanted) {
    if (!node->tracked() || node->op == Op::read || ends_history(node.get())) seal(node.get());
  }
}

// The caller keeps the roots alive.
void evaluate_once(std::span<Node* const> roots, Updates updates) {
  if (!several_devices) return evaluate_on_device(roots, updates);
  const auto all = updates == Updates::Leave ? std::vector<Node*>(roots.begin(), roots.end())
                                             : with_updates(roots);
  // evaluate_by_device() holds the updates, so that these would not replace values in place.
  if (is_on_one_device(all)) return evaluate_on_device(roots, updates);
  evaluate_by_device(all, [](auto some) { evaluate_on_device(some, Updates::Leave); });
}

// Evaluates the pending update of one variable, after all updates together have failed.
void evaluate_own(const NodeRef& update, Node* next) {
  Node* root = update.get();
  try {
    evaluate_once({&root, 1}, Updates::Leave);
  } catch (const Error&) {
    std::vector<Node*> below;
    walk({&next, 1}, &below, [](const Node* node) {
      return is_input(node) ? std::span<Node* const>() : value_inputs(node);
    });
    if (std::find(below.begin(), below.end(), root) != below.end()) throw;
  }
}

// After a failure of all updates together: evaluates each by itself. An update that fails stays
// pending and raises when its variable is read.
void set_failed_one_by_one() {
  std::vector<Ref<Variable>> variables;
  for (Variable* variable : pending_variables()) variables.emplace_back(variable);
  for (const Ref<Variable>& variable : variables) {
    const NodeRef update = variable->current;
    try {
      evaluate_once(pointers({&update, 1}), Updates::Leave);
    } catch (const Error&) {
      if (variable->current == update) variable->failed = true;
    }
  }
}

}  // namespace

void refuse_traced(Node* node, const std::string& who, const std::string& advice) {
  const Origin* from = origin_of(node);
  const auto* origin = dynamic_cast<const TraceOrigin*>(from);
  const std::string tensor =
      text(who, ": this tensor (shape ", node->shape, ", ", node->dtype, ")");
  if (from && !origin) fail(ErrorKind::Runtime, tensor, " ", from->name);
  const std::string name = origin && !origin->name.empty() ? origin->name : "its function";
  if (origin ? origin->open : is_tracing()) {
    fail(ErrorKind::Runtime, tensor, " has no value while its function is being traced",
         origin && !origin->name.empty() ? ", " + name : std::string(), "; ", advice);
  }
  fail(ErrorKind::Runtime, tensor, " was created by the trace of ", name,
       ", and has no value outside of it; return it from the function");
}

thread_local PlanRun::Vectors PlanRun::spare;

// A nested run (in a signal handler) finds no spare vectors and allocates its own.
PlanRun::PlanRun() : vectors_(std::move(spare)) {}

PlanRun::~PlanRun() {
  give_back();
  vectors_.nodes.clear();
  vectors_.arguments.clear();
  vectors_.owned.clear();
  vectors_.results.clear();
  vectors_.scalars.clear();
  vectors_.replaced.clear();
  vectors_.held.clear();
  vectors_.inputs.clear();
  vectors_.outputs.clear();
  spare = std::move(vectors_);
}

void PlanRun::add_argument(Node* node, bool donatable) {
  vectors_.arguments.push_back(node->value);
  vectors_.nodes.emplace_back(donatable ? node : nullptr);
}

// The node has no value while the run may write there: another thread that needs the value waits
// and then reads the new one.
bool PlanRun::take_donated(int32_t argument) {
  if (!vectors_.nodes[argument]) return false;
  const Ref<Buffer>& buffer = vectors_.arguments[argument];
  if (buffer->refs != 2 || buffer->exported)
    return false;  // references of the node and of this
                   // run
  drop_uploads_of(buffer.get());
  if (several_devices) forget_integers(*buffer);
  Node* node = vectors_.nodes[argument].get();
  node->value = nullptr;
  node->flags |= kInFlight;
  vectors_.replaced.push_back(node->seq);
  ++nodes_in_flight;
  return true;
}

void PlanRun::give_back() {
  for (size_t i = 0; i < vectors_.nodes.size(); ++i) {
    Node* node = vectors_.nodes[i].get();
    if (!node || !(node->flags & kInFlight)) continue;
    node->value = vectors_.arguments[i];
    node->flags &= ~kInFlight;
    --nodes_in_flight;
  }
}

void PlanRun::run(const CachedPlan& cached) {
  const Plan& plan = cached.plan;
  if (several_devices) {  // those of any device
    for (size_t i = 0; i < vectors_.arguments.size(); ++i) {
      Ref<Buffer>& buffer = vectors_.arguments[i];
      if (!buffer) continue;
      const Ref<Buffer> given = buffer;
      buffer = uploaded(cached.device, given);
      note_integers(*buffer, plan.slots[plan.arguments[i]].dtype, *given);
    }
  }
  bool in_place = false;
  for (size_t k = 0; k < plan.output_bytes.size(); ++k) {
    std::optional<int32_t> donated;
    if (!plan.donated_arguments.empty()) donated = plan.donated_arguments[k];
    const bool taken = donated && take_donated(*donated);
    in_place |= taken;
    vectors_.owned.push_back(taken ? vectors_.arguments[*donated]
                                   : make_buffer(plan.output_bytes[k], cached.device));
    vectors_.outputs.push_back(vectors_.owned.back()->address());
  }
  const int64_t temporary = plan.arena_bytes + cached.executable->scratch_bytes();
  const Ref<Buffer> arena = temporary ? make_buffer(temporary, cached.device) : nullptr;
  for (const Ref<Buffer>& buffer : vectors_.arguments) {
    vectors_.inputs.push_back(buffer ? buffer->address() : nullptr);
  }
  Status status;
  {
    const Running running;
    status = cached.executable->run({vectors_.inputs.data(), vectors_.scalars.data(),
                                     vectors_.outputs.data(), arena ? arena->address() : nullptr,
                                     runtime.interrupted, in_place});
  }
  give_back();
  if (!status) {
    if (status.problem == Problem::Interrupted && runtime.check_signals) {
      runtime.check_signals();
    }
    raise(plan, status, cached.device);
  }
  for (int32_t slot : plan.outputs) {
    const Slot& s = plan.slots[slot];
    vectors_.results.push_back(s.kind == SlotKind::Argument ? vectors_.arguments[s.index]
                                                            : vectors_.owned[s.index]);
  }
}

void evaluate(std::span<Node* const> roots) {
  bool ready = true;
  for (const Node* root : roots) ready &= root->has_value();
  if (ready) return;
  std::array<NodeRef, 4> few;  // keeps the roots alive
  std::vector<NodeRef> many;
  if (roots.size() <= few.size()) {
    std::copy(roots.begin(), roots.end(), few.begin());
  } else {
    many.assign(roots.begin(), roots.end());
  }
  if (pending_variables().empty()) return evaluate_once(roots, Updates::Leave);
  try {
    evaluate_once(roots, Updates::Compute);
  } catch (const Error&) {
    // The failure may belong to an update, in which case other tensors must not be affected, and
    // later evaluations must not try it again.
    evaluate_once(roots, Updates::Leave);
    set_failed_one_by_one();
  }
}

void install_evaluation() {
  runtime.flush_pending_results = flush_pending;
  runtime.evaluate = [](Node* node) { evaluate(node); };
  runtime.finish_updates = [](Variable* variable, Node* next) {
    wait_for(NodeRef(variable->current));
    try {
      evaluate_once({}, Updates::Compute);
    } catch (const Error&) {
      return evaluate_own(NodeRef(variable->current), next);  // a reference, since other threads
                                                              // may assign meanwhile
    }
    if (variable->failed) evaluate_own(NodeRef(variable->current), next);
  };
}

std::string describe_plan(std::span<Node* const> roots) {
  const Snapshot snapshot = snapshot_at_rest(roots, Updates::Leave);
  return snapshot.nodes.empty() ? "nothing to compute\n" : dump(find_plan(snapshot)->plan);
}

}  // namespace pullback
