// Indexing of tensors: x[key], x[key] = value and x.at[key].
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

namespace pullback {

// True for an index of integers, slices, None and Ellipsis only.
bool is_basic(PyObject* key);

// x[key]; raises IndexError.
NodeRef get_item(const NodeRef& x, PyObject* key);

// The new node of a Tensor or Variable after object[key] = value. Raises TypeError if others rely
// on the tensor.
NodeRef item_set(PyObject* object, PyObject* key, PyObject* value);

// x.at, as a new reference.
PyObject* make_at(const NodeRef& x);

void bind_indexing(pybind11::module_& m);

}  // namespace pullback
