// The policy of escapes, their messages, and products with SciPy's sparse matrices.
#include "bind/arrays/escapes.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/arrays/numpy.h"
#include "bind/common/found_once.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "grad/tape.h"

namespace pullback {
namespace {

enum class Policy : uint8_t { Raise, Warn, Allow };
Policy policy = Policy::Raise;
bool debugging = false;  // set_debug(True)

void warn(const std::string& message) {
  const int level = std::max(user_frame().level, 1);
  if (PyErr_WarnEx(PyExc_RuntimeWarning, message.c_str(), level) < 0) {
    throw py::error_already_set();
  }
}

constexpr const char* kInstead =
    "use the function of pullback (pb.stack or pb.asarray in place of np.array), call other "
    "libraries through pb.numpy_function, or write pb.stop_gradient(x) if it is a constant by "
    "intent";

// The text that the error and the warning share.
std::string description(const Node* x, const char* who, EscapeForm form) {
  return text(who, user_place(), ": a tensor of shape ", x->shape, " and dtype ", x->dtype,
              " leaves the graph as ", form == EscapeForm::Array ? "an array" : "a Python number");
}

// True in an assignment such as y[i] = x, which an array or a list of another library executes: the
// frame of the program executes STORE_SUBSCR, and no call.
bool in_item_assignment() {
  const int store = py::cast<int>(found_once(
      [] { return py::object(py::module_::import("opcode").attr("opmap")["STORE_SUBSCR"]); }));
  PyFrameObject* frame = PyEval_GetFrame();
  if (!frame) return false;
  const auto code =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const auto bytes =
      py::reinterpret_steal<py::bytes>(PyCode_GetCode(reinterpret_cast<PyCodeObject*>(code.ptr())));
  const std::string_view instructions = bytes;
  const int at = PyFrame_GetLasti(frame);
  return at >= 0 && static_cast<size_t>(at) < instructions.size() &&
         static_cast<uint8_t>(instructions[static_cast<size_t>(at)]) == store;
}

constexpr const char* kNewArray =
    "collect tensors in a list and call pb.stack, or assign to items of a tensor, such as "
    "pb.zeros(3), or write pb.stop_gradient(x) if it is a constant by intent";

}  // namespace

void check_escape(const NodeRef& x, const char* who, EscapeForm form, bool from_library) {
  if (!x->tracked() || policy == Policy::Allow || !(debugging || Tape::any_recording())) return;
  if (!from_library && called_by_library()) return;
  if (const Tape* tape = Tape::differentiating(x)) {
    const bool stored = form == EscapeForm::Number && in_item_assignment();
    const std::string message =
        text(description(x.get(), who, form), stored ? " in an item of an array" : "",
             ", but it depends on an argument of ", tape->transform(),
             ", and no gradient follows it there; ", stored ? kNewArray : kInstead);
    if ((form == EscapeForm::Array || stored) && policy == Policy::Raise) {
      fail(ErrorKind::Runtime, message);
    }
    warn(message);
  } else if (debugging) {
    warn(text(description(x.get(), who, form),
              "; no gradient passes through values computed from it. If one has to, ", kInstead));
  }
}

bool called_by_sparse_product() {
  static PyObject* const name_of_module = PyUnicode_InternFromString("scipy.sparse");
  if (!PyDict_GetItem(numpy().loaded_modules.ptr(), name_of_module)) return false;
  PyFrameObject* top = PyEval_GetFrame();
  if (!top) return false;
  const auto frame = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(top));
  const std::string function = py::str(frame.attr("f_code").attr("co_name"));
  if (function != "_matmul_dispatch") return false;
  const py::object name = frame.attr("f_globals").attr("get")("__name__", "");
  return std::string(py::str(name)).starts_with("scipy.sparse.");
}

bool is_sparse(PyObject* object) {
  const py::object& modules = numpy().loaded_modules;
  return modules.contains("scipy.sparse") &&
         py::cast<bool>(modules["scipy.sparse"].attr("issparse")(py::handle(object)));
}

bool is_sparse_matrix(PyObject* object) {
  return is_sparse(object) &&
         py::isinstance(object, numpy().loaded_modules["scipy.sparse"].attr("spmatrix"));
}

py::object sparse_product(PyObject* left, PyObject* right) {
  const py::handle product = found_once([]() -> py::object {
    return py::module_::import("pullback._numpy.sparse_products").attr("product");
  });
  return product(py::handle(left), py::handle(right));
}

void bind_escapes(py::module_& m) {
  m.def(
      "set_escapes",
      [](const std::string& requested) {
        policy = requested == "raise"  ? Policy::Raise
                 : requested == "warn" ? Policy::Warn
                                       : Policy::Allow;
      },
      py::arg("policy"),
      "Set the policy for values that leave the graph: 'raise', 'warn' or 'allow'.");
  m.def(
      "warn_of_escapes", [](bool on) { debugging = on; }, py::arg("debugging"),
      "Warn of every value that leaves the graph, while debugging.");
  m.def(
      "check_escape",
      [](const NodeRef& x, const std::string& who) {
        check_escape(x, who.c_str(), EscapeForm::Array, true);
      },
      py::arg("x"), py::arg("who"),
      "Apply the policy to an argument whose value a library function returns as an array.");
}

}  // namespace pullback
