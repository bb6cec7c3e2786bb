// Functions of NumPy arrays as operations.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

void bind_host(pybind11::module_& m);

}  // namespace pullback
