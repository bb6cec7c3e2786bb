// Finds the line of the user's program for an error: the first frame that is not of the package.
// Frames are read only after an error was found.
#include "bind/common/trace_checks.h"

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "bind/common/found_once.h"
#include "eval/evaluate.h"
#include "graph/walk.h"
#include "trace/trace.h"

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

// True for a source file of an installed package or of the standard library.
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

std::string location(const std::string& file, int64_t line, bool brief) {
  const py::handle located = found_once([]() -> py::object {
    return py::module_::import("pullback._base.locations").attr("location");
  });
  return py::str(located(file, line, brief));
}

std::string user_place() {
  const UserFrame frame = user_frame();
  return frame.level ? text(" (", location(frame.file, frame.line), ")") : "";
}

namespace {

// The ended traces on whose arguments the tensor depends.
std::vector<const TraceOrigin*> ended_traces(const Node* x) {
  std::vector<const TraceOrigin*> out;
  if (!(x->flags & kTraced)) return out;
  std::vector<Node*> below;
  Node* root = const_cast<Node*>(x);
  walk({&root, 1}, &below, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  for (const Node* leaf : below) {
    if (leaf->op != Op::argument && !is_draw(leaf)) continue;
    const auto* trace = dynamic_cast<const TraceOrigin*>(leaf->origin.get());
    if (trace && !trace->open) out.push_back(trace);
  }
  return out;
}

}  // namespace

void check_not_leaked(const Node* x, std::span<const NodeRef> ys, const char* who,
                      const std::string& what) {
  std::vector<const TraceOrigin*> traces = ended_traces(x);
  for (const NodeRef& y : ys) {  // a rule inside of the trace may differentiate
    for (const TraceOrigin* trace : ended_traces(y.get())) std::erase(traces, trace);
  }
  if (traces.empty()) return;
  const std::string name = traces[0]->name.empty() ? "a function" : traces[0]->name;
  fail(ErrorKind::Runtime, who, ": expected a tensor that the ys depend on for ", what,
       ", got an intermediate result of ", name, " (shape ", x->shape, ", ", x->dtype,
       ") that exists only during its trace; ",
       traces[0]->body
           ? "compute the gradient inside of it, or add an argument of zeros to the "
             "intermediate and differentiate by this argument"
           : "return it from the function, and differentiate by the result of the call");
}

void check_has_value(const NodeRef& x, const char* who, const char* advice) {
  if (x->flags & kTraced) refuse_traced(x.get(), who + user_place(), advice);
}

}  // namespace pullback
