// Binds loops and branches.
#pragma once

#include <pybind11/pybind11.h>

namespace pullback {

void bind_control(pybind11::module_& m);

}  // namespace pullback
