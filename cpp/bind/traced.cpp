// The line of the user's program that looked is the first frame above that is not ours; it is found
// only once there is something to refuse.
#include "bind/traced.h"

#include <pybind11/pybind11.h>

#include <string>

#include "base/error.h"
#include "bind/once.h"
#include "plan/evaluate.h"

namespace pullback {

namespace py = pybind11;

const std::string& package_folder() {
  static const std::string* folder = nullptr;  // under the interpreter lock; never freed
  if (!folder) {
    const py::object path = py::module_::import("os").attr("path");
    const py::object file = py::module_::import("pullback").attr("__file__");
    const std::string found = py::str(path.attr("join")(path.attr("dirname")(file), ""));
    if (!folder) folder = new std::string(found);  // an import lets other threads run
  }
  return *folder;
}

namespace {

// Whether a source file belongs to an installed package or to the standard library.
bool is_library(const std::string& file) {
  const py::handle standard = found_once(
      []() -> py::object { return py::module_::import("sysconfig").attr("get_path")("stdlib"); });
  return file.find("site-packages") != std::string::npos ||
         file.find("dist-packages") != std::string::npos ||
         file.starts_with(std::string(py::str(standard)));
}

}  // namespace

bool called_by_library() {
  PyFrameObject* top = PyEval_GetFrame();
  if (!top) return false;
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(top)));
  return std::string(py::str(code.attr("co_filename"))).starts_with(package_folder());
}

UserFrame user_frame() {
  const std::string& package = package_folder();
  PyFrameObject* top = PyEval_GetFrame();
  auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(top));
  UserFrame nearest;  // of a library, if no frame is the program's
  for (int level = 1; frame && !frame.is_none(); ++level, frame = frame.attr("f_back")) {
    const std::string file = py::str(frame.attr("f_code").attr("co_filename"));
    if (file.starts_with(package)) continue;
    const UserFrame found{file, py::cast<int64_t>(frame.attr("f_lineno")), level};
    if (!is_library(file)) return found;
    if (!nearest.level) nearest = found;
  }
  return nearest;
}

std::string user_place() {
  const UserFrame frame = user_frame();
  return frame.level ? text(" (", frame.file, ":", frame.line, ")") : "";
}

void check_has_value(const Ref<Node>& x, const char* who, const char* advice) {
  if (x->flags & kTraced) refuse_traced(x.get(), who + user_place(), advice);
}

}  // namespace pullback
