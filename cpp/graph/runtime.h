// Runtime: what the core calls in the layers above it. `runtime` is the one instance: the binding
// sets the functions of the interpreter, eval those that evaluate, grad those of tapes and rules.
// All may be null: the C++ tests have no interpreter.
//
// The contract, unless a comment states another one: a function is called with the interpreter
// lock, does not release it, runs no Python and throws nothing. A call that may release the lock or
// run Python may change the graph: hold nodes by NodeRef across it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pullback {

struct Node;
struct Variable;
struct TapeEntry;      // grad/tape.h
struct OverrideEntry;  // graph/rule.h

struct Runtime {
  // The interpreter; set once by the binding.

  // Before and after a run, and before and after a wait for the run of another thread.
  void* (*release_lock)() = nullptr;
  void (*acquire_lock)(void* state) = nullptr;  // called without the lock
  // Between steps and chunks of a run; true ends it. Called without the lock; may acquire it for a
  // while and run Python (signal handlers), which may evaluate.
  bool (*interrupted)() = nullptr;
  // After an interrupted run. Throws the exception of the signal handler.
  void (*check_signals)() = nullptr;
  // The entries of the running context (contextvars), innermost last; may return null. Without
  // them, each thread is a context for tapes, and there are no overrides.
  const std::vector<std::shared_ptr<TapeEntry>>* (*current_tapes)() = nullptr;
  void (*enter_tape)(std::shared_ptr<TapeEntry> entry) = nullptr;  // may throw
  const std::vector<std::shared_ptr<OverrideEntry>>* (*current_overrides)() = nullptr;
  // The present place in the user's program, as a number that the binding resolves; 0: unknown.
  // Sets `library_function` (graph/recorder.h).
  uint32_t (*find_site)() = nullptr;
  // The file and line of such a number; empty if unknown. Runs no code of the program's.
  std::string (*describe_site)(uint32_t site) = nullptr;
  // When the number of live nodes passes kManyNodes (again, after it fell below half): the program
  // keeps history without using it. Runs Python (a warning); may throw.
  void (*warn_many_nodes)(const Node* newest) = nullptr;

  // Evaluation; set once by eval. Each may release the lock and throw.

  void (*evaluate)(Node* node) = nullptr;
  // Computes the pending results that are due (graph/pending_results.h). Ignores failures of runs.
  void (*flush_pending_results)() = nullptr;
  // Computes every pending update, because `variable` gets another one. An update that fails is an
  // error only if `next`, the new value, depends on it.
  void (*finish_updates)(Variable* variable, Node* next) = nullptr;

  // Null unless something is active, so that its cost is one test otherwise.

  // While a thread checks that numbers are finite (set by the binding): for every tensor that a
  // program receives, with null; for every cotangent of a reverse pass, with the operation that
  // sent it (the tensor itself if the pass starts there). May release the lock, runs Python, may
  // throw.
  void (*check_numbers)(Node* node, const Node* operation) = nullptr;
  // While a tape records in any context (set by grad): the number of the innermost tape that the
  // calling context has entered, 0 without one; and a call for every variable that is read.
  uint32_t (*recording_scope)() = nullptr;
  void (*observe_read)(Variable* variable) = nullptr;
  // Once a rule is registered (set by grad): true if one is for operations of that name.
  bool (*has_registered_rule)(const char* name) = nullptr;
};

inline constinit Runtime runtime;

// The scope that a new node gets.
inline uint32_t current_scope() { return runtime.recording_scope ? runtime.recording_scope() : 0; }

}  // namespace pullback
