// Basic indexing of tensors.
#pragma once

#include <Python.h>

#include "graph/node.h"

namespace pullback {

// x[key] for integers, slices, None and Ellipsis; raises IndexError.
Ref<Node> get_item(const Ref<Node>& x, PyObject* key);

}  // namespace pullback
