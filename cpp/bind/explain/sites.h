// Sites: places in the user's program, as numbers that a record can contain.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

#include "bind/common/typed.h"

namespace pullback {

// (file, line, function) of a number that find_site() returned; None for 0.
using OptionalSite = Typed<"pullback._typing.Site | None">;
OptionalSite site_of(uint32_t number);

// "file.py:12"; empty for 0.
std::string line_of(uint32_t site);
// The same with the whole path.
std::string path_and_line_of(uint32_t site);

void set_recording(bool on);
void bind_recorder(pybind11::module_& m);
// Functions for explanations (ancestry.cpp, unrolled.cpp).
void bind_ancestry(pybind11::module_& m);
void bind_unrolled(pybind11::module_& m);
// check_numerics (check_numbers.cpp).
void bind_check_numbers(pybind11::module_& m);
// True if this thread is inside of check_numerics.
bool checking_numbers();

}  // namespace pullback
