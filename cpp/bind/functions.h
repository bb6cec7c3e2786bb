// The operations as Python functions.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

void bind_functions(pybind11::module_& m);
void bind_linalg(pybind11::module_& m);

}  // namespace pullback
