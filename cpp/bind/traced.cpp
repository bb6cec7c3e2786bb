// The line of the user's program that looked is the first frame above that is not ours; it is found
// only once there is something to refuse.
#include "bind/traced.h"

#include <pybind11/pybind11.h>

#include <string>

#include "base/error.h"
#include "plan/evaluate.h"

namespace pullback {

namespace py = pybind11;

std::string user_place() {
  const std::string package = py::str(py::module_::import("os").attr("path").attr("dirname")(
      py::module_::import("pullback").attr("__file__")));
  PyFrameObject* top = PyEval_GetFrame();
  auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(top));
  for (; frame && !frame.is_none(); frame = frame.attr("f_back")) {
    const std::string file = py::str(frame.attr("f_code").attr("co_filename"));
    if (file.starts_with(package)) continue;
    return text(" (", file, ":", py::cast<int64_t>(frame.attr("f_lineno")), ")");
  }
  return "";
}

void check_has_value(const Ref<Node>& x, const char* who, const char* advice) {
  if (x->flags & kTraced) refuse_traced(x.get(), who + user_place(), advice);
}

}  // namespace pullback
