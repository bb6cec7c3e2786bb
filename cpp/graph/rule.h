// Rule: a gradient rule that is not the row of an op. Three kinds of nodes own one: a node made by
// custom_gradient, a node made while an override was active (it is stamped with the rule), and a
// composite such as softmax that has a better rule than its parts.
//
// Start at Rule::apply, which takes a RuleCall and returns Cotangents. Origin and History are the
// sources of leaves. A rule may run Python, so apply() may release the interpreter lock.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/node.h"

namespace pullback {

// The result of a rule for one input.
struct Cotangent {
  enum Kind : uint8_t {
    None,  // the input gets no gradient
    Zero,  // exact zeros
    Value,
  };
  Kind kind = None;
  NodeRef value;
  // If set (bool, broadcasts to the value): the value counts where the mask is true; elsewhere the
  // cotangent is a structural zero, which never meets an infinity.
  NodeRef mask;
  // The value is already zero outside of its mask (padding, gather).
  bool clean = false;
};

// One application of a rule. Missing cotangents of an operation with several outputs are passed as
// zeros.
struct RuleCall {
  const char* op;                     // name of the operation
  Node* node;                         // the operation; its output, if it has only one
  std::span<Node* const> inputs;      // the inputs that get a cotangent, in order
  std::span<Node* const> outputs;     // null for an output that was freed
  std::span<Node* const> cotangents;  // one per output
};

struct Rule {
  int64_t refs = 0;
  std::string name;  // name and place of the rule's function, for errors
  // A rule of the library has no state, returns zeros for zeros, and registered rules replace it. A
  // user-defined rule may reference tensors that existed when its operation was made.
  bool of_library = false;

  virtual ~Rule() = default;
  // Returns one entry per input. The caller checks count, dtype and shape.
  virtual std::vector<Cotangent> apply(const RuleCall& call) = 0;
};

struct History;

// The origin of a leaf: the trace that it is an argument of, or the call of a traced function that
// returned it.
struct Origin {
  int64_t refs = 0;
  std::string name;  // of the function and its place, for errors; may be empty
  virtual ~Origin() = default;
  virtual History* history() { return nullptr; }
};

// Builds the history of a value that has none yet: a result of a traced call. It is the origin of
// the node until a reverse pass needs it, before its walk.
struct History : Origin {
  History() { ++live; }
  ~History() override { --live; }
  History* history() override { return this; }
  // Must call give_history(node, …).
  virtual void build(Node* node) = 0;
  // True if the nodes of the call exist already, built for another result.
  virtual bool is_built() const = 0;
  // True if the call returned one of its inputs or a captured tensor.
  virtual bool passes_on(const Node* node) const = 0;
  uint64_t first_seq = 0;  // number of the first of these nodes
  static int64_t live;     // number of histories; 0: passes need not search for one
};
// The node inside of the call from which a result has its history, and on which other results of
// the call depend. Null for other nodes, and for a result whose history was not built.
Node* inside_of_result(const Node* node);
// Sets the origin of a value node that is `output` of the call of `history`.
void defer_history(Node* node, History* history, size_t output);
// Gives a value the history of `origin`, an older node of the same value. No operation is added
// that an override or a registered rule could apply to.
void give_history(Node* node, Node* origin);

// True if no gradient passes a node, so that it drops its inputs when it is computed.
bool ends_history(const Node* node);

using OverrideMap = std::unordered_map<std::string, Ref<Rule>>;

// An entry of gradient_override_map: while it is open in the program's context, new nodes with a
// name in the map are stamped with its rule. Inner entries have priority.
struct OverrideEntry {
  OverrideMap map;
  uintptr_t owner = 0;
  bool open = true;
};
inline int64_t entered_overrides = 0;  // open entries of all contexts
bool overrides_active_here();
inline bool overrides_active() { return entered_overrides && overrides_active_here(); }
Ref<Rule> stamped_override(const char* name);
// True for a user-defined rule, which may reference tensors that existed when its operation was
// made.
inline bool by_users_rule(const Node* node) { return node->rule && !node->rule->of_library; }

// While one exists, nodes made on this thread are not stamped with overrides.
struct NoOverrides {
  NoOverrides();
  ~NoOverrides();
  NoOverrides(const NoOverrides&) = delete;
  NoOverrides& operator=(const NoOverrides&) = delete;
};

}  // namespace pullback
