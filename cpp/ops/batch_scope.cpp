// Counts the open BatchScopes of each thread.
#include "ops/batch_scope.h"

namespace pullback {
namespace {

thread_local int scopes = 0;

}  // namespace

BatchScope::BatchScope() { ++scopes; }
BatchScope::~BatchScope() { --scopes; }
bool BatchScope::active() { return scopes > 0; }

}  // namespace pullback
