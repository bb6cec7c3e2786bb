// Reads, assignments and the pending update of each variable.
#include "graph/variable.h"

#include <unordered_set>
#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/runtime.h"
#include "runtime/buffer.h"
#include "runtime/device_memory.h"

namespace pullback {
namespace {

std::vector<Variable*>& pending_update_list() {
  static auto* list = new std::vector<Variable*>;
  return *list;
}

thread_local VariableScope* variable_scope = nullptr;
uint64_t last_id = 0;

void list_pending(Variable* variable) {
  if (variable->place != Variable::kNowhere) return;
  pending_update_list().push_back(variable);
  variable->place = pending_update_list().size() - 1;
}

std::unordered_set<uint64_t>& lost_ids() {
  static auto* ids = new std::unordered_set<uint64_t>;
  return *ids;
}

void forget_pending(Variable* variable) {
  auto& list = pending_update_list();
  const size_t place = std::exchange(variable->place, Variable::kNowhere);
  if (place == Variable::kNowhere) return;
  list[place] = list.back();
  list[place]->place = place;
  list.pop_back();
  variable->place = Variable::kNowhere;
}

// A computed value as a node without history and with its own memory; a pending value is returned
// as is.
NodeRef detached(const NodeRef& node) {
  if (node->op == Op::scalar) return as_value(node);
  if (!node->value) return node;
  NodeRef copy = make_value(node->dtype, node->shape, node->value);
  if (recording) record_source(copy.get(), node.get());
  return copy;
}

// On a device, for good; a pending value is returned as is.
NodeRef placed(NodeRef node, Device device) {
  if (!several_devices || !node->value) return node;
  node->value = copy_to(device, node->value);
  node->device_id = device.id;
  return node;
}

}  // namespace

void add_ref(Variable* variable) { ++variable->refs; }

void release(Variable* variable) {
  if (--variable->refs) return;
  forget_pending(variable);
  if (variable->history_lost) lost_ids().erase(variable->id);
  delete variable;
}

Ref<Variable> make_variable(const NodeRef& initial, bool trainable, std::string name) {
  Ref<Variable> variable(new Variable);
  variable->id = ++last_id;
  variable->dtype = initial->dtype;
  variable->shape = initial->shape;
  variable->trainable = trainable;
  variable->name = std::move(name);
  variable->device = device_of(initial.get());
  variable->current = placed(detached(initial), variable->device);
  if (variable->pending()) list_pending(variable.get());
  return variable;
}

VariableScope* set_variable_scope(VariableScope* scope) {
  return std::exchange(variable_scope, scope);
}

bool variable_scope_active() { return variable_scope != nullptr; }

bool recording_body() { return variable_scope && variable_scope->is_body(); }

Origin* variable_scope_origin() { return variable_scope->origin(); }
uint64_t variable_scope_since() { return variable_scope->since(); }

NodeRef read(Variable* variable) {
  if (runtime.observe_read) runtime.observe_read(variable);
  if (variable_scope) return variable_scope->read(variable);
  if (!variable->reading) {
    const NodeRef& current = variable->current;
    NodeRef node = make_node(Op::read, variable->dtype, variable->shape, pointers({&current, 1}));
    node->flags |= kTracked;
    node->variable = variable->id;
    if (several_devices) node->device_id = variable->device.id;
    if (recording) record_variable(node.get(), variable->name);
    if (current->value) {
      node->value = current->value;
      seal(node.get());
    }
    variable->reading = std::move(node);
  }
  return variable->reading;
}

void assign(Variable* variable, const NodeRef& value, const char* who) {
  if (value->dtype != variable->dtype) {
    fail(ErrorKind::Type, who, ": expected ", variable->dtype, " for variable '", variable->name,
         "', got ", value->dtype, "; cast it first");
  }
  if (!(value->shape == variable->shape)) {
    fail(ErrorKind::Value, who, ": expected shape ", variable->shape, " for variable '",
         variable->name, "', got ", value->shape);
  }
  const Device device = variable->device;
  if (value->device() != kAnyDevice && value->device() != device) {
    fail(ErrorKind::Value, who, ": variable '", variable->name, "' is on ", name_of(device),
         ", and the value is on ", name_of(value->device()), "; move the value with .to(\"",
         name_of(device), "\")");
  }
  if (variable_scope) {
    variable_scope->assign(variable, value);
    return;
  }
  if (value->flags & kTraced) {
    fail(ErrorKind::Runtime, who,
         ": expected a value without traced arguments, got one of a trace that has ended");
  }
  if (variable->pending() && !value->has_value() && runtime.finish_updates) {
    runtime.finish_updates(variable, value.get());
  }
  // Freed last: destroying a history may run arbitrary code.
  const NodeRef before = std::exchange(variable->current, placed(detached(value), device));
  variable->failed = false;
  const NodeRef reading = std::exchange(variable->reading, nullptr);
  variable->pending() ? list_pending(variable) : forget_pending(variable);
}

void finish_update(Variable* variable) {
  // Another thread may have assigned a new update meanwhile.
  while (variable->pending() && runtime.finish_updates && !variable_scope) {
    const NodeRef update = variable->current;
    runtime.finish_updates(variable, update.get());
  }
}

void lose_history(Variable* variable) {
  if (!std::exchange(variable->history_lost, true)) lost_ids().insert(variable->id);
}

bool history_lost(uint64_t id) { return lost_ids().contains(id); }

const std::vector<Variable*>& pending_variables() { return pending_update_list(); }

void commit_updates() {
  auto& list = pending_update_list();
  // Freed after the list is consistent: destroying a history may run arbitrary code.
  std::vector<NodeRef> histories;
  histories.reserve(list.size());
  for (size_t i = list.size(); i-- > 0;) {
    Variable* variable = list[i];
    if (variable->pending()) continue;
    // A new leaf replaces the update's node, so the history of the update can be freed.
    histories.push_back(
        std::exchange(variable->current, placed(detached(variable->current), variable->device)));
    variable->failed = false;
    if (variable->reading && !variable->reading->value) {
      variable->reading->value = variable->current->value;
      seal(variable->reading.get());
    }
    forget_pending(variable);
  }
}

}  // namespace pullback
