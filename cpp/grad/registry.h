// The registry of named gradient rules: rules for operations (they replace an op's own row) and
// aliases that overrides may point to.
#pragma once

#include <cstdint>
#include <string>

#include "graph/rule.h"

namespace pullback {

// Raises KeyError if the name is taken, unless `replace`.
void register_rule(const std::string& name, Ref<Rule> rule, bool replace);
// True if any rule is registered; without one, lookups cost nothing.
bool registry_used();
// Changes with every registration: traces made before are invalid.
uint64_t registry_epoch();
// Null if no rule is registered.
Ref<Rule> registered_rule(const std::string& name);

}  // namespace pullback
