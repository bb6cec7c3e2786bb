// Rule: a gradient rule that is not the row of an op. Three kinds of nodes own one: a node made by
// custom_gradient, a node made while an override was active (it is stamped with the rule), and a
// composite such as softmax that has a better rule than its parts.
//
// Start at Rule::apply, which takes a RuleCall and returns Cotangents. Origin and History say where
// a leaf comes from. A rule may run Python, so apply() may release the interpreter lock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/node.h"

namespace pullback {

// What a rule answers for one input.
struct Cotangent {
  enum Kind : uint8_t {
    None,  // nothing flows
    Zero,  // a path that carries exact zeros
    Value,
  };
  Kind kind = None;
  NodeRef value;
  // Where set (bool, broadcasts to the value): the value counts only where the mask holds;
  // elsewhere the cotangent is a structural zero that never meets an infinity.
  NodeRef mask;
  // The value is already zero where the mask does not hold (padding, gather).
  bool clean = false;
};

// One application of a rule. Missing cotangents of a multi-output operation are given as zeros.
struct RuleCall {
  const char* op;                     // name of the operation
  Node* node;                         // the operation: the output itself where there is but one
  std::span<Node* const> inputs;      // what the rule answers for, in order
  std::span<Node* const> outputs;     // null for one that is gone
  std::span<Node* const> cotangents;  // one per output
};

struct Rule {
  int64_t refs = 0;
  std::string name;  // for errors: the rule function's own name and place
  // The library's own holds nothing, makes zeros of zeros, and yields to registered rules. A user's
  // may hold tensors of where its operation was made.
  bool of_library = false;

  virtual ~Rule() = default;
  // One entry per input. Count, dtype and shape of what it returns are checked by the caller.
  virtual std::vector<Cotangent> apply(const RuleCall& call) = 0;
};

struct History;

// Where a leaf comes from, beyond its value: the trace that it is an argument of, or the call of a
// traced function that it is a result of.
struct Origin {
  int64_t refs = 0;
  std::string name;  // of the function and its place, for errors; may be empty
  virtual ~Origin() = default;
  virtual History* history() { return nullptr; }
};

// Builds the history of a value that came without one: a result of a replayed function. It is the
// origin of such a node until the reverse pass asks, before it walks.
struct History : Origin {
  History() { ++live; }
  ~History() override { --live; }
  History* history() override { return this; }
  // Must call give_history(node, …).
  virtual void build(Node* node) = 0;
  // Whether the nodes of the call exist, because a gradient asked for another result.
  virtual bool is_built() const = 0;
  // Whether the call returned what it was given: one of its inputs, or a captured tensor.
  virtual bool passes_on(const Node* node) const = 0;
  uint64_t first_seq = 0;  // of these nodes
  static int64_t live;     // number of histories; if it is 0, no pass searches for one to build
};
// The node inside of the call that a result has got its history from, and that other results of the
// call are made from; null for other nodes and for a result whose history was not built.
Node* inside_of_result(const Node* node);
// The value node is `output` of the call that `history` is about.
void defer_history(Node* node, History* history, size_t output);
// Gives it what is behind `origin`, an older node of the same value. No operation stands between
// them that an override or a registered rule could mean.
void give_history(Node* node, Node* origin);

// Whether a rule is registered for operations of that name; null where none is for any. Set by the
// registry (grad/registry.h).
inline bool (*has_registered_rule)(const char* name) = nullptr;
// Whether no gradient gets behind a node, so that it lets go of its inputs when it is computed.
bool ends_history(const Node* node);

using OverrideMap = std::unordered_map<std::string, Ref<Rule>>;

// gradient_override_map: while an entry is open in the program's context, new nodes of that name
// are stamped. Inner entries win over outer ones.
struct OverrideEntry {
  OverrideMap map;
  uintptr_t owner = 0;
  bool open = true;
};
// The entries of the context that runs now, innermost last. Set by the binding.
inline const std::vector<std::shared_ptr<OverrideEntry>>* (*current_overrides)() = nullptr;
inline int64_t entered_overrides = 0;  // open entries of all contexts
bool overrides_active_here();
inline bool overrides_active() { return entered_overrides && overrides_active_here(); }
Ref<Rule> stamped_override(const char* name);
// A user's rule, which may hold any tensor of where its operation was made.
inline bool by_users_rule(const Node* node) { return node->rule && !node->rule->of_library; }

// While one lives, nodes that this thread makes are not stamped with overrides.
struct NoOverrides {
  NoOverrides();
  ~NoOverrides();
  NoOverrides(const NoOverrides&) = delete;
  NoOverrides& operator=(const NoOverrides&) = delete;
};

}  // namespace pullback
