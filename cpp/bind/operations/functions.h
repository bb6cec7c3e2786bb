// The operations as Python functions.
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

// --- what arguments mean

// The text for as long as the program runs: nodes point to it.
const char* lasting(const std::string& text);
// "N", "T" or "C".
Transposition transposition_of(const std::string& word);

// `result`, or a view of it if the operation had nothing to do and it is x itself: gradients by a
// result count its own uses, not all of x.
NodeRef own_view(const NodeRef& x, const NodeRef& result);

}  // namespace pullback
