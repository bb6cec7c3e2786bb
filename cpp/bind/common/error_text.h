// What errors say of Python: the function that was called, and an object that came.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "base/error.h"

namespace pullback {

namespace py = pybind11;

// "name: " of the Python function that is running, for errors.
std::string running_function();
// The function of this package that the program called, by the frames of the package above the
// core; empty if there is none.
std::string package_function();
// The text of an error, which names the public function that was called where that is one of ours
// and made of others: `zeros`, not `full`.
std::string error_text(const Error& error);
// What an error says of an object: the beginning of its repr; of a tensor, which nobody asked to
// compute, its type and shape.
std::string shown(py::handle object);
// The name of a type after its article: "a float", "an object".
std::string with_article(const std::string& type);
// The beginning of a long text.
std::string shortened(const std::string& text);

}  // namespace pullback
