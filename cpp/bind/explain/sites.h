// Sites: places in the user's program, as numbers that a record can hold.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>

namespace pullback {

// (file, line, function) of a number that find_site() gave; None for 0.
pybind11::object site_of(uint32_t number);

void bind_recorder(pybind11::module_& m);
// What explanations ask (ancestry.cpp, unrolled.cpp).
void bind_ancestry(pybind11::module_& m);
void bind_unrolled(pybind11::module_& m);
// check_numerics (check_numbers.cpp).
void bind_check_numbers(pybind11::module_& m);
// Whether this thread is in it.
bool checking_numbers();

}  // namespace pullback
