// Indexing of tensors: x[key] and x.at[key].
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

namespace pullback {

// x[key]; raises IndexError.
Ref<Node> get_item(const Ref<Node>& x, PyObject* key);

// x.at, a new reference.
PyObject* make_at(const Ref<Node>& x);

void bind_indexing(pybind11::module_& m);

}  // namespace pullback
