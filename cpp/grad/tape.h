// A tape is an interval of time on one thread: which nodes that thread made (their creation
// numbers), and which tensors and variables it watched from when on. It holds no operations; the
// graph does.
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

class Tape {
 public:
  // `transform`: the name of the function transform that this tape serves, such as "grad"; empty
  // for a tape of the user.
  explicit Tape(bool watch_accessed_variables, std::string transform = {})
      : accessed_(watch_accessed_variables), transform_(std::move(transform)) {}
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;
  // An object of Python that was made by __new__ alone is a tape, too: an empty one.
  static void* operator new(size_t size);
  static void operator delete(void* tape) { ::operator delete(tape); }

  // Recording is per thread: a tape is on the stack of the thread that started it.
  void start();
  void stop();
  bool recording() const { return recording_; }
  // Whether any tape records on this thread.
  static bool any_recording();
  void reset();

  void watch(const Ref<Node>& tensor);
  void watch(const Ref<Variable>& variable);

  // Inputs whose values the program may use outside of the graph while this tape records, because
  // a custom gradient rule supplies the derivative by them.
  void exempt(std::vector<Ref<Node>> inputs) { exempt_ = std::move(inputs); }
  // The innermost transform on this thread by whose inputs `node` has a derivative; null if none.
  static const Tape* differentiating(const Ref<Node>& node);
  const std::string& transform() const { return transform_; }

  // When a call is over whose arguments only this tape has watched: results that depend on nothing
  // else which is tracked are plain values from now on, and so is all between. Not where another
  // tape may still be asked.
  void end_histories(const std::vector<Ref<Node>>& results) const;

  // Whether a node was made while this tape recorded, by the thread it recorded on.
  bool recorded(const Node* node) const;
  // A tensor or variable counts for users made after this number; max = not watched.
  static constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  uint64_t watched_since(const Node* node) const;
  // In order of the variables' creation.
  std::vector<Ref<Variable>> watched_variables() const;

 private:
  static void observe(Variable* variable);

  struct Interval {
    uint64_t begin, end;
    uint32_t thread;
  };
  struct WatchedTensor {
    Ref<Node> node;
    uint64_t since;
  };
  struct WatchedVariable {
    Ref<Variable> variable;
    uint64_t since;
  };

  bool accessed_;
  std::string transform_;
  std::vector<Ref<Node>> exempt_;
  bool recording_ = false;
  // The list it is in: that of the thread which started it, whoever stops or frees it.
  std::shared_ptr<std::vector<Tape*>> home_;
  std::vector<Interval> intervals_;
  std::unordered_map<const Node*, WatchedTensor> tensors_;
  std::unordered_map<uint64_t, WatchedVariable> variables_;
};

}  // namespace pullback
