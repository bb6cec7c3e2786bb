#include "graph/variable.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "graph/make.h"

namespace pullback {
namespace {

std::vector<Variable*>& pending_list() {
  static auto* list = new std::vector<Variable*>;
  return *list;
}

thread_local VariableScope* variable_scope = nullptr;
ReadObserver read_observer = nullptr;
uint64_t last_id = 0;

void forget_pending(Variable* variable) {
  auto& list = pending_list();
  list.erase(std::remove(list.begin(), list.end(), variable), list.end());
}

// A computed value without its history, and with memory of its own; a pending one as it is.
Ref<Node> detached(const Ref<Node>& node) {
  if (node->op == Op::scalar) return as_value(node);
  if (!node->value) return node;
  return make_value(node->dtype, node->shape, node->value);
}

}  // namespace

void (*evaluate_pending)(Variable*, Node*) = nullptr;

void add_ref(Variable* variable) { ++variable->refs; }

void release(Variable* variable) {
  if (--variable->refs) return;
  forget_pending(variable);
  delete variable;
}

Ref<Variable> make_variable(const Ref<Node>& initial, bool trainable, std::string name) {
  Ref<Variable> variable(new Variable);
  variable->id = ++last_id;
  variable->dtype = initial->dtype;
  variable->shape = initial->shape;
  variable->trainable = trainable;
  variable->name = std::move(name);
  variable->current = detached(initial);
  if (variable->pending()) pending_list().push_back(variable.get());
  return variable;
}

VariableScope* set_variable_scope(VariableScope* scope) {
  return std::exchange(variable_scope, scope);
}

bool variable_scope_active() { return variable_scope != nullptr; }

void set_read_observer(ReadObserver observer) { read_observer = observer; }

Ref<Node> read(Variable* variable) {
  if (read_observer) read_observer(variable);
  if (variable_scope) return variable_scope->read(variable);
  if (!variable->reading) {
    const Ref<Node>& current = variable->current;
    Node* input = current.get();
    Ref<Node> node = make_node(Op::read, variable->dtype, variable->shape, {&input, 1});
    node->flags |= kTracked;
    node->variable = variable->id;
    if (current->value) {
      node->value = current->value;
      seal(node.get());
    }
    variable->reading = std::move(node);
  }
  return variable->reading;
}

void assign(Variable* variable, const Ref<Node>& value, const char* who) {
  if (value->dtype != variable->dtype) {
    fail(ErrorKind::Type, who, ": variable '", variable->name, "' is ", variable->dtype,
         ", the value is ", value->dtype, "; cast it first");
  }
  if (!(value->shape == variable->shape)) {
    fail(ErrorKind::Value, who, ": variable '", variable->name, "' has shape ", variable->shape,
         ", the value has shape ", value->shape);
  }
  if (variable_scope) {
    variable_scope->assign(variable, value);
    return;
  }
  if (value->flags & kTraced) {
    fail(ErrorKind::Runtime, who, ": the value depends on a traced argument whose trace has ended");
  }
  if (variable->pending() && evaluate_pending) evaluate_pending(variable, value.get());
  forget_pending(variable);
  variable->current = detached(value);
  variable->reading = nullptr;
  if (variable->pending()) pending_list().push_back(variable);
}

void finish_update(Variable* variable) {
  // Another thread may have made the next update in the meantime.
  while (variable->pending() && evaluate_pending && !variable_scope) {
    const Ref<Node> update = variable->current;
    evaluate_pending(variable, update.get());
  }
}

const std::vector<Variable*>& pending_variables() { return pending_list(); }

void settle_variables() {
  auto& list = pending_list();
  std::erase_if(list, [](Variable* variable) {
    if (variable->pending()) return false;
    // A fresh leaf instead of the update's node: the history of the update dies with the step.
    variable->current = detached(variable->current);
    if (variable->reading && !variable->reading->value) {
      variable->reading->value = variable->current->value;
      seal(variable->reading.get());
    }
    return true;
  });
}

}  // namespace pullback
