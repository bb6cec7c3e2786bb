// A tape is an interval of time in the contexts that entered it: which nodes these made (their
// creation numbers and scopes), and which tensors and variables it watched from when on. It holds
// no operations; the graph does.
//
// A context is the one of contextvars: two tasks of an event loop record into different tapes, and
// a task that was created inside of a block records into that block's tape. Each entered tape is a
// scope with a number of its own. A node has the number of the innermost scope that its context has
// entered, so a tape has recorded the nodes with its own number and the numbers of the scopes that
// were entered inside of it.
#pragma once

#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/node.h"
#include "graph/variable.h"

namespace pullback {

class Tape;

// An entered tape, shared by the context that entered it and by copies of that context.
struct TapeEntry {
  Tape* tape;
  uint32_t number;
  bool open = true;     // until the block ends; then closed in every context
  bool paused = false;  // by stop_recording()
  // Numbers of this scope and of those entered inside, as closed ranges in ascending order.
  std::vector<std::pair<uint32_t, uint32_t>> scopes;

  bool records() const { return open && !paused; }
  void add_scope(uint32_t scope);
  bool has_scope(uint32_t scope) const;
};
using TapeEntries = std::vector<std::shared_ptr<TapeEntry>>;

class Tape {
 public:
  // `transform`: the name of the function transform that this tape serves, such as "grad"; empty
  // for a tape of the user.
  explicit Tape(bool watch_accessed_variables, std::string transform = {})
      : accessed_(watch_accessed_variables), transform_(std::move(transform)) {}
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  // Constructs an empty tape, since Python's __new__ allocates without running a constructor.
  static void* operator new(size_t size);
  static void operator delete(void* tape) { ::operator delete(tape); }

  // Records in the calling context and in later copies of it.
  void start();
  void stop();
  // The block is not left between the two: resume() continues in each context that records into it.
  void pause();
  void resume();
  bool recording() const { return entry_ && entry_->records(); }
  // True if any tape records in this context.
  static bool any_recording();
  void reset();

  void watch(const NodeRef& tensor);
  void watch(const Ref<Variable>& variable);

  // Inputs whose values the program may read while this tape records, because a custom gradient
  // rule provides their derivatives.
  void exempt(std::vector<NodeRef> inputs) { exempt_ = std::move(inputs); }
  // The innermost transform of this context with respect to whose inputs `node` has a derivative;
  // null if none.
  static const Tape* differentiating(const NodeRef& node);
  const std::string& transform() const { return transform_; }

  // Called after a call whose arguments only this tape watched: results that depend on no other
  // tracked tensor, and the nodes between, become untracked. Does nothing if another tape may still
  // need them.
  void end_histories(const std::vector<NodeRef>& results) const;

  // True if a node was made while this tape recorded, in a context in which it recorded.
  bool recorded(const Node* node) const;
  // A tensor or variable counts for nodes made after this number; kNever: not watched.
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  uint64_t watched_since(const Node* node) const;
  // In order of the variables' creation.
  std::vector<Ref<Variable>> watched_variables() const;

 private:
  static void observe(Variable* variable);
  void begin_interval();
  void end_interval();
  void forget_intervals();

  struct Interval {
    uint64_t begin, end;
    std::shared_ptr<TapeEntry> entry;
  };
  struct WatchedTensor {
    NodeRef node;
    uint64_t since;
  };
  struct WatchedVariable {
    Ref<Variable> variable;
    uint64_t since;
  };

  bool accessed_;
  std::string transform_;
  std::vector<NodeRef> exempt_;
  std::shared_ptr<TapeEntry> entry_;  // null unless the tape is recording
  std::vector<Interval> intervals_;
  std::unordered_map<const Node*, WatchedTensor> tensors_;
  std::unordered_map<uint64_t, WatchedVariable> variables_;
};

}  // namespace pullback
