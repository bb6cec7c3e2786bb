// Finds the name of the public function for an error from the Python frames above the core, after
// an error has occurred.
#include "bind/common/error_text.h"

#include <algorithm>

#include "bind/common/found_once.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"

namespace pullback {

std::string shortened(const std::string& text) {
  if (text.size() <= 80) return text;
  size_t end = 77;
  while (end > 0 && (text[end] & 0xC0) == 0x80) --end;  // do not cut inside a character
  return text.substr(0, end) + "...";
}

std::string with_article(const std::string& type) {
  const bool vowel = type.find_first_of("aeiouAEIOU") == 0;
  return (vowel ? "an " : "a ") + type;
}

std::string shown(py::handle object) {
  if (!is_tensor(object.ptr()) && !is_variable(object.ptr())) return shortened(py::repr(object));
  const std::string type = py::str(py::type::of(object).attr("__name__"));
  return text("a ", type, " of shape ", to_node(object.ptr(), nullptr)->shape);
}

// True if a module of the package contains functions that make arrays, or helpers of these.
bool makes_arrays(const std::string& module) {
  for (const char* prefix :
       {"pullback._base.checks", "pullback._numpy.", "pullback._autodiff.clipping", "pullback.fft.",
        "pullback.initializers.", "pullback.linalg.", "pullback.nn.", "pullback.random.",
        "pullback.special."}) {
    if (module.rfind(prefix, 0) == 0) return true;
  }
  return false;
}

// The public array function that the program called: the outermost frame of the package that is
// one. Empty if the call came through another part of the package or an operator.
std::string public_function() {
  std::string found;
  py::object frame =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  const py::handle modules =
      found_once([]() -> py::object { return py::module_::import("sys").attr("modules"); });
  for (; frame && !frame.is_none(); frame = frame.attr("f_back")) {
    const py::object module = frame.attr("f_globals").attr("get")("__name__", "");
    const std::string home = py::str(module);
    if (!makes_arrays(home)) break;
    const py::object code = frame.attr("f_code");
    for (const char* space : {"pullback", "pullback.fft", "pullback.linalg", "pullback.nn",
                              "pullback.random", "pullback.special"}) {
      if (!modules.contains(space)) continue;
      const py::object function = py::getattr(modules[space], code.attr("co_name"), py::none());
      if (py::getattr(function, "__code__", py::none()).is(code)) {
        found = py::str(code.attr("co_name"));
      }
    }
  }
  return found;
}

std::string running_function() {
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return "";
  const std::string found = public_function();
  if (!found.empty()) return found + ": ";
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  return py::cast<std::string>(code.attr("co_name")) + ": ";
}

// Helpers of several functions have the name of the public function in a variable `who`. Functions
// that a decorator or transform returns are local to it, for example `grad.<locals>.call`.
std::string package_function() {
  std::string found;
  auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (; frame && !frame.is_none(); frame = frame.attr("f_back")) {
    const py::object code = frame.attr("f_code");
    const std::string file = py::str(code.attr("co_filename"));
    if (!file.starts_with(package_folder())) break;
    const py::object who = frame.attr("f_locals").attr("get")("who");
    if (py::isinstance<py::str>(who)) {
      found = py::str(who);
      continue;
    }
    std::string name = py::str(code.attr("co_qualname"));
    name.resize(std::min(name.size(), name.find(".<locals>")));
    name.erase(0, name.rfind('.') + 1);
    if (found.empty() || name[0] != '_') found = name;
  }
  return found.substr(0, found.find(':'));
}

std::string error_text(const Error& error) {
  std::string text = error.what();
  if (error.of_run()) return text;
  try {
    const std::string name = public_function();
    if (name.empty()) return text;
    const size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_0123456789");
    const bool named = end != 0 && end != std::string::npos && text.compare(end, 2, ": ") == 0;
    return name + ": " + (named ? text.substr(end + 2) : text);
  } catch (const py::error_already_set&) {
    return text;
  }
}

}  // namespace pullback
