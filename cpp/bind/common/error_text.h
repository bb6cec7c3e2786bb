// Text of errors: the name of the function that was called, and descriptions of objects.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "base/error.h"

namespace pullback {

namespace py = pybind11;

// "name: " of the running Python function.
std::string running_function();
// The function of this package that the program called, from the frames of the package above the
// core; empty if there is none.
std::string package_function();
// The text of an error. If a public function of ours is composed of others, it names the public
// function: `zeros`, not `full`.
std::string error_text(const Error& error);
// A description of an object for messages: the beginning of its repr; for a tensor, type and shape,
// which does not evaluate it.
std::string shown(py::handle object);
// The name of a type after its article: "a float", "an object".
std::string with_article(const std::string& type);
// The beginning of a long text.
std::string shortened(const std::string& text);

}  // namespace pullback
