// Reference counts of bodies and operations.
#include "graph/operation.h"

namespace pullback {

void add_ref(Body* body) { ++body->refs; }
void release(Body* body) {
  if (--body->refs == 0) delete body;
}

void add_ref(Operation* operation) { ++operation->refs; }
void release(Operation* operation) {
  if (--operation->refs == 0) delete operation;
}

}  // namespace pullback
