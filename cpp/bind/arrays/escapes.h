// Escapes: values that leave the graph as arrays or numbers, so that no gradient follows them.
// Inside of a function transform such as grad(), the escape of a value that depends on a
// differentiated input would silently make the gradient wrong; it raises or warns, as set_escapes()
// selects.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

namespace pullback {

enum class EscapeForm : uint8_t { Array, Number };

// Called before `who` gives a value to the program as an array or a number. Calls from frames of
// this package are allowed, because library code may read its arguments, unless `from_library`
// is true: then the frame passes the value on to the program. With set_debug(True), the escape of a
// tracked value warns outside of transforms too. A number that an array of another library stores
// raises like an array.
void check_escape(const NodeRef& x, const char* who, EscapeForm form, bool from_library = false);

// True if the caller is SciPy's product of a sparse matrix. SciPy passes the product to the other
// operand if that is not an array.
bool called_by_sparse_product();
// True for a sparse array or matrix of SciPy.
bool is_sparse(PyObject* object);
// True for a sparse matrix, for which `*` is the matrix product.
bool is_sparse_matrix(PyObject* object);
// left @ right, where one is_sparse() and the other is a tensor or variable.
pybind11::object sparse_product(PyObject* left, PyObject* right);

void bind_escapes(pybind11::module_& m);

}  // namespace pullback
