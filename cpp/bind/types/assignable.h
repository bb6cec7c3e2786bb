// Whether x[key] = value may change a tensor; TypeError otherwise.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

namespace pullback {

// Notes that `part` was made from `whole` by an index that gives a view in NumPy.
void note_whole(PyObject* part, PyObject* whole);

// Refuses a tensor that tapes or traces may refer to later, and a part of another tensor, whose
// owner would expect that to change.
void check_assignable(PyObject* object, const Node* x);

// Refuses a new value that depends on an argument of vmap's function, for a tensor from outside of
// it: the value would be a placeholder when the call has ended.
void check_assigned(const Node* x, Node* changed);

}  // namespace pullback
