// Overrides, and histories that values get when a gradient requires them.
#include "graph/rule.h"

#include <algorithm>

#include "base/error.h"
#include "graph/runtime.h"

namespace pullback {
namespace {
thread_local int overrides_rest = 0;
}  // namespace

void add_ref(Rule* rule) { ++rule->refs; }

void release(Rule* rule) {
  if (--rule->refs == 0) end(rule);
}

void add_ref(Origin* origin) { ++origin->refs; }

void release(Origin* origin) {
  if (--origin->refs == 0) end(origin);
}

int64_t History::live = 0;

void defer_history(Node* node, History* history, size_t output) {
  node->flags |= kTracked;
  node->origin = history;
  node->output = static_cast<uint32_t>(output);
}

void give_history(Node* node, Node* origin) {
  add_user(origin);
  node->in[0] = origin;
  node->inputs_count = 1;
  node->op = Op::custom;  // without a rule, gradients pass to the operations inside
  node->output = 0;
  node->origin = nullptr;  // last, since this may free the history
}

Node* inside_of_result(const Node* node) {
  const bool given = node->op == Op::custom && !node->rule && node->inputs_count == 1;
  return given ? node->in[0] : nullptr;
}

bool ends_history(const Node* node) {
  return ends_gradients(node->op) && !node->rule &&
         !(runtime.has_registered_rule && runtime.has_registered_rule(name_of(node->op)));
}

namespace {

// The first rule that `find` returns, from the innermost map outwards.
template <class Find>
Ref<Rule> innermost(Find&& find) {
  const auto* entries =
      overrides_rest || !runtime.current_overrides ? nullptr : runtime.current_overrides();
  for (size_t i = entries ? entries->size() : 0; i-- > 0;) {
    const OverrideEntry& entry = *(*entries)[i];
    if (!entry.open) continue;
    if (Ref<Rule> rule = find(entry.map)) return rule;
  }
  return nullptr;
}

}  // namespace

bool overrides_active_here() {
  return static_cast<bool>(innermost(
      [](const OverrideMap& map) { return map.empty() ? Ref<Rule>() : map.begin()->second; }));
}

NoOverrides::NoOverrides() { ++overrides_rest; }
NoOverrides::~NoOverrides() { --overrides_rest; }

Ref<Rule> stamped_override(const char* name) {
  return innermost([&](const OverrideMap& map) {
    const auto found = map.find(name);
    return found == map.end() ? Ref<Rule>() : found->second;
  });
}

}  // namespace pullback
