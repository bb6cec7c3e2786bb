// The registry of named gradient rules: rules for operations (they replace an op's own row) and
// aliases that overrides may point to.
#pragma once

#include <cstdint>
#include <string>

#include "graph/rule.h"

namespace pullback {

// Raises KeyError when the name is taken, unless `replace`.
void register_rule(const std::string& name, Ref<Rule> rule, bool replace);
// Whether anything is registered at all: the common case costs nothing.
bool registry_used();
// Changes with every registration: what was recorded before it is out of date.
uint64_t registry_epoch();
// Null where nothing is registered.
Ref<Rule> registered_rule(const std::string& name);

}  // namespace pullback
