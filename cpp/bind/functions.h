// The operations as Python functions.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

void bind_functions(pybind11::module_& m);
void bind_linalg(pybind11::module_& m);
void bind_matrix_functions(pybind11::module_& m);
void bind_random(pybind11::module_& m);
void bind_attention(pybind11::module_& m);
void bind_fourier(pybind11::module_& m);
void bind_layers(pybind11::module_& m);

}  // namespace pullback
