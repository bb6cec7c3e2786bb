// Binders of the operations, one per file, and conversions of arguments that they share.
#pragma once

#include <pybind11/pybind11.h>

#include "graph/node.h"

#include <string>

#include "graph/operation.h"

namespace pullback {

void bind_functions(pybind11::module_& m);
void bind_linalg(pybind11::module_& m);
void bind_matrix_functions(pybind11::module_& m);
void bind_random(pybind11::module_& m);
void bind_attention(pybind11::module_& m);
void bind_fourier(pybind11::module_& m);
void bind_layers(pybind11::module_& m);
void bind_statistics(pybind11::module_& m);
void bind_device(pybind11::module_& m);
void bind_dlpack(pybind11::module_& m);

// --- conversions of arguments

// A copy of the text that lives as long as the process: nodes point to it.
const char* lasting(const std::string& text);
// "N", "T" or "C".
Transposition transposition_of(const std::string& word);

// `result`; or, if the operation did nothing and returned x itself, a view of x: gradients with
// respect to a result count its own uses, not all uses of x.
NodeRef own_view(const NodeRef& x, const NodeRef& result);

}  // namespace pullback
