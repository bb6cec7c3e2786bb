// Escapes: values that leave the graph as arrays or numbers, where no gradient follows them. Inside
// of a function transform such as grad() a value that depends on a differentiated input would make
// the gradient wrong without a sign, so it raises or warns by the policy of set_escapes().
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

namespace pullback {

enum class EscapeForm : uint8_t { Array, Number };

// Called before `who` gives a value to the program as an array or a number. A call from a frame of
// this package passes, because library code may read its arguments; `from_library` says that such a
// frame passes the value on to the program. While debugging is on, the escape of a tracked value is
// a warning outside of transforms, too.
void check_escape(const NodeRef& x, const char* who, EscapeForm form, bool from_library = false);

// Whether the caller is SciPy's product of a sparse matrix with something: SciPy gives the product
// to the other operand if that is not an array.
bool called_by_sparse_product();
// Whether the object is a sparse array or matrix of SciPy.
bool is_sparse(PyObject* object);
// Whether it is one for which `*` is the matrix product.
bool is_sparse_matrix(PyObject* object);
// left @ right, where one of them is_sparse() and the other a tensor or variable.
pybind11::object sparse_product(PyObject* left, PyObject* right);

void bind_escapes(pybind11::module_& m);

}  // namespace pullback
