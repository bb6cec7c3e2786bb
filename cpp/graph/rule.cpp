// The stack of overrides, and histories that a value gets when a gradient asks for one.
#include "graph/rule.h"

#include "base/error.h"

namespace pullback {
namespace {
thread_local std::vector<OverrideMap> override_stack;
}

void add_ref(Rule* rule) { ++rule->refs; }

void release(Rule* rule) {
  if (--rule->refs == 0) delete rule;
}

void add_ref(Origin* origin) { ++origin->refs; }

void release(Origin* origin) {
  if (--origin->refs == 0) delete origin;
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
  node->op = Op::custom;  // without a rule: gradients pass to what is inside
  node->output = 0;
  node->origin = nullptr;  // last: the history may go with it
}

void push_overrides(OverrideMap overrides) { override_stack.push_back(std::move(overrides)); }

void pop_overrides() {
  if (override_stack.empty()) fail(ErrorKind::Runtime, "gradient_override_map: not entered");
  const OverrideMap last = std::move(override_stack.back());  // a rule's end may run Python code
  override_stack.pop_back();
}

bool overrides_active() { return !override_stack.empty(); }

Ref<Rule> stamped_override(const char* name) {
  for (size_t i = override_stack.size(); i-- > 0;) {
    const auto found = override_stack[i].find(name);
    if (found != override_stack[i].end()) return found->second;
  }
  return nullptr;
}

}  // namespace pullback
