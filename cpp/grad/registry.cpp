// A map from names to rules, and a number that changes with it; traced functions compare that
// number to detect new rules.
#include "grad/registry.h"

#include "base/error.h"
#include "graph/runtime.h"

namespace pullback {
namespace {

OverrideMap& table() {
  static auto* map = new OverrideMap;  // leaked on purpose: rules may hold Python objects
  return *map;
}

uint64_t epoch = 0;

}  // namespace

void register_rule(const std::string& name, Ref<Rule> rule, bool replace) {
  const auto found = table().find(name);
  if (found != table().end() && !replace) {
    fail(ErrorKind::Key, "register_gradient: '", name, "' is registered already, by ",
         found->second->name, "; pass replace=True to change it");
  }
  table()[name] = std::move(rule);
  runtime.has_registered_rule = [](const char* of) { return table().contains(of); };
  ++epoch;
}

bool registry_used() { return !table().empty(); }

uint64_t registry_epoch() { return epoch; }

Ref<Rule> registered_rule(const std::string& name) {
  const auto found = table().find(name);
  return found == table().end() ? nullptr : found->second;
}

}  // namespace pullback
