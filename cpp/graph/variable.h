// Variable: a place that holds a value. A read captures the present value; an
// assignment replaces it.
//
// A variable has at most one pending update, so the graph of a training loop that evaluates nothing
// spans two steps at most. All functions run under the interpreter lock; those that evaluate may
// release it, as documented. Start at read() and assign(); commit_updates() ends an evaluation.
#pragma once

#include <string>
#include <vector>

#include "graph/node.h"

namespace pullback {

struct Variable {
  int64_t refs = 0;
  uint64_t id = 0;
  DType dtype = DType::Float32;
  Shape shape;
  bool trainable = true;
  bool history_lost = false;  // see lose_history()
  bool failed = false;        // the pending update failed: it is evaluated only when it is read
  std::string name;
  Device device;            // where its values are
  NodeRef current;          // a value node, or a pending update
  NodeRef reading;          // the read node of `current`, made at first read
  void* handle = nullptr;   // the binding's object for it, if there is one. Not owned.
  size_t place = kNowhere;  // in the list of pending variables

  static constexpr size_t kNowhere = static_cast<size_t>(-1);

  bool pending() const { return !current->has_value(); }
};

void add_ref(Variable* variable);
void release(Variable* variable);

Ref<Variable> make_variable(const NodeRef& initial, bool trainable, std::string name);

// The read node of the present value. Gradients with respect to the variable are the sum over all
// its read nodes; differentiation never passes through one.
NodeRef read(Variable* variable);

// Replaces the value; dtype and shape must be the variable's (checked, `who` in the text). A second
// update evaluates a pending one first. Assigning a computed value neither fails nor releases the
// lock.
void assign(Variable* variable, const NodeRef& value, const char* who);

// Evaluates a pending update. Other threads may run meanwhile; a following assignment then takes
// place without waiting.
void finish_update(Variable* variable);

// Marks a variable whose value a call replaced, if the call's results depend on the old value
// without keeping it (nodes with kHistoryLost). `history_lost(id)`: whether such a call has
// happened.
void lose_history(Variable* variable);
bool history_lost(uint64_t id);

// Variables with a pending update, in no order.
const std::vector<Variable*>& pending_variables();
// After an evaluation: variables with a computed update drop its history.
void commit_updates();

// While a function is traced, reads and assignments go to the trace instead of the variable.
struct VariableScope {
  virtual ~VariableScope() = default;
  virtual NodeRef read(Variable* variable) = 0;
  virtual void assign(Variable* variable, const NodeRef& value) = 0;
  // The origin of leaves made in this scope.
  virtual Origin* origin() const = 0;
  // The number of the first node made in this scope.
  virtual uint64_t since() const = 0;
  // True for the body of a loop or branch.
  virtual bool is_body() const { return false; }
};
// Sets the scope of this thread; returns the previous one.
VariableScope* set_variable_scope(VariableScope* scope);

// True if a function is being traced on this thread.
bool variable_scope_active();
// True if the innermost scope is a body.
bool recording_body();
// The origin of the active scope; requires one.
Origin* variable_scope_origin();
uint64_t variable_scope_since();

}  // namespace pullback
