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

void push_overrides(OverrideMap overrides) { override_stack.push_back(std::move(overrides)); }

void pop_overrides() {
  if (override_stack.empty()) fail(ErrorKind::Runtime, "gradient_override_map: not entered");
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
