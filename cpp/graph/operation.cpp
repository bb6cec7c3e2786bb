// Reference counts of operations.
#include "graph/operation.h"

namespace pullback {

void add_ref(Operation* operation) { ++operation->refs; }
void release(Operation* operation) {
  if (--operation->refs == 0) delete operation;
}

}  // namespace pullback
