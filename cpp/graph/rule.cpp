// The stack of overrides, and histories that a value gets when a gradient asks for one.
#include "graph/rule.h"

#include <algorithm>

#include "base/error.h"

namespace pullback {
namespace {
struct Overriding {
  uintptr_t owner;
  OverrideMap map;
};

// A map that is never left keeps its rules for ever: when its thread ends, nobody holds the lock of
// the interpreter, at exit there is none, and a rule may hold Python objects.
struct OverrideStack : std::vector<Overriding> {
  OverrideStack() = default;
  ~OverrideStack() {
    for (Overriding& entry : *this) {
      for (auto& [name, rule] : entry.map) rule.detach();
    }
  }
  OverrideStack(const OverrideStack&) = delete;
  OverrideStack& operator=(const OverrideStack&) = delete;
};
thread_local OverrideStack override_stack;
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
  node->op = Op::custom;  // without a rule: gradients pass to what is inside
  node->output = 0;
  node->origin = nullptr;  // last: the history may go with it
}

void push_overrides(OverrideMap overrides, uintptr_t owner) {
  override_stack.push_back({owner, std::move(overrides)});
  ++entered_overrides;
}

void pop_overrides(uintptr_t owner) {
  const auto own = std::find_if(override_stack.rbegin(), override_stack.rend(),
                                [&](const Overriding& other) { return other.owner == owner; });
  if (own == override_stack.rend()) {
    fail(ErrorKind::Runtime, "gradient_override_map: not entered on this thread");
  }
  const OverrideMap map = std::move(own->map);  // a rule's end may run Python code
  override_stack.erase(std::next(own).base());
  --entered_overrides;
}

bool ends_history(const Node* node) {
  return ends_gradients(node->op) && !node->rule &&
         !(has_registered_rule && has_registered_rule(name_of(node->op)));
}

bool overrides_active_here() { return !overrides_rest && !override_stack.empty(); }

NoOverrides::NoOverrides() { ++overrides_rest; }
NoOverrides::~NoOverrides() { --overrides_rest; }

Ref<Rule> stamped_override(const char* name) {
  for (size_t i = overrides_rest ? 0 : override_stack.size(); i-- > 0;) {
    const OverrideMap& map = override_stack[i].map;
    const auto found = map.find(name);
    if (found != map.end()) return found->second;
  }
  return nullptr;
}

}  // namespace pullback
