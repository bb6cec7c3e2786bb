// When an assignment to items of a tensor is refused.
#include "bind/types/assignable.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "graph/variable.h"
#include "graph/walk.h"

namespace pullback {
namespace {

constexpr const char* kCopy = "; change a copy: y = x.copy(); y[...] = value";

[[noreturn]] void fail_outside() {
  fail(ErrorKind::Type, "item assignment", user_place(),
       ": this tensor was created outside of the function that is being traced, and later calls "
       "could not change it",
       kCopy, ", or use a Variable");
}

bool is_temporary(PyObject* object) {
#if PY_VERSION_HEX >= 0x030E0000  // a local variable does not count as a reference there
  return PyUnstable_Object_IsUniqueReferencedTemporary(object);
#else
  return Py_REFCNT(object) == 1;
#endif
}

bool is_alive(PyObject* weak_reference) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* object = nullptr;
  if (PyWeakref_GetRef(weak_reference, &object) < 0) throw py::error_already_set();
  Py_XDECREF(object);
  return object != nullptr;
#else
  return PyWeakref_GetObject(weak_reference) != Py_None;
#endif
}

// An assignment to a part changes nothing else. In a program written for NumPy, the value would be
// lost without an error.
void check_whole(PyObject* object) {
  if (is_temporary(object)) {
    fail(
        ErrorKind::Type, "item assignment", user_place(),
        ": this tensor has no name, so that the new value would be lost: a part of a tensor is not "
        "a view; index once, z[i, j] = value");
  }
  PyObject* wholes = reinterpret_cast<PyTensor*>(object)->wholes;
  for (Py_ssize_t k = 0; wholes && k < PyTuple_GET_SIZE(wholes); ++k) {
    if (!is_alive(PyTuple_GET_ITEM(wholes, k))) continue;
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": this tensor is a part of another one, which would not change: it is not a view; change "
         "a copy, y = x.copy(); y[...] = value, or assign to the other one, z[i, j] = value");
  }
}

}  // namespace

void note_whole(PyObject* part, PyObject* whole) {
  PyObject* outer = is_tensor(whole) ? reinterpret_cast<PyTensor*>(whole)->wholes : nullptr;
  auto own = py::reinterpret_steal<py::object>(PyWeakref_NewRef(whole, nullptr));
  if (!own) throw py::error_already_set();
  Py_ssize_t count = 1;
  for (Py_ssize_t k = 0; outer && k < PyTuple_GET_SIZE(outer); ++k) {
    count += is_alive(PyTuple_GET_ITEM(outer, k));
  }
  PyObject* wholes = PyTuple_New(count);
  if (!wholes) throw py::error_already_set();
  PyTuple_SET_ITEM(wholes, 0, own.release().ptr());
  for (Py_ssize_t k = 0, at = 1; at < count; ++k) {
    PyObject* one = PyTuple_GET_ITEM(outer, k);
    if (is_alive(one)) PyTuple_SET_ITEM(wholes, at++, Py_NewRef(one));
  }
  reinterpret_cast<PyTensor*>(part)->wholes = wholes;
}

void check_assignable(PyObject* object, const Node* x) {
  if (Py_TYPE(object) != tensor_type) {
    fail(ErrorKind::Type, "'", Py_TYPE(object)->tp_name,
         "' object does not support item assignment");
  }
  if (x->watchers || x->holders) {
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": a tape watches this tensor, and its gradient refers to the current value", kCopy);
  }
  if (x->op == Op::argument) {
    fail(ErrorKind::Type, "item assignment", user_place(),
         ": this tensor is an argument of a function that is being traced, and a call cannot "
         "change its arguments",
         kCopy);
  }
  if (variable_scope_active() && x->seq < variable_scope_since()) fail_outside();
  check_whole(object);
}

// A trace has tested the tensor already, and its placeholders of variables may be newer than a
// tensor inside.
void check_assigned(const Node* x, Node* changed) {
  if (variable_scope_active() || x->flags & kTraced || !(changed->flags & kTraced)) return;
  std::vector<Node*> below;
  Node* const roots[] = {changed};
  walk(std::span<Node* const>(roots), &below, [](const Node* node) {
    return node->flags & kTraced ? node->inputs() : std::span<Node* const>();
  });
  const auto newer = [&](const Node* node) {
    return node->op == Op::argument && node->flags & kTraced && node->seq > x->seq;
  };
  if (std::ranges::any_of(below, newer)) fail_outside();
}

}  // namespace pullback
