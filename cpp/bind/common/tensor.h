// PyTensor and PyVariable: the two Python types that programs use most, written against the C API.
// A tensor operation costs one slot call and no overload resolution. Everything else in bind/ uses
// pybind11. Start at wrap() and to_node().
#pragma once

#include <pybind11/pybind11.h>

#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/node.h"
#include "graph/variable.h"

namespace pullback {

struct PyTensor {
  PyObject_HEAD Node* node;  // owned
  PyObject* weak_references;
  PyObject* wholes;  // null, or weak references: NumPy's array would be a view of these objects
};

struct PyVariable {
  PyObject_HEAD Variable* variable;  // owned; null until __init__
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* variable_type;
extern PyTypeObject* array_type;  // NumPy's array type, the most common argument

// Makes the types and adds them to the module.
void bind_tensor(pybind11::module_& m);
void bind_variable(pybind11::module_& m);

// Takes a new reference; throws the Python error that is set if it is null.
inline pybind11::object stolen(PyObject* object) {
  if (!object) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(object);
}

// A new Python tensor for a node.
PyObject* wrap(const NodeRef& node);
inline pybind11::object tensor_object(const NodeRef& node) { return stolen(wrap(node)); }
// The Python object of a variable; the same one as long as it lives.
PyObject* wrap(const Ref<Variable>& variable);

bool is_tensor(PyObject* object);
bool is_variable(PyObject* object);
// The variable of a Variable object; RuntimeError if __init__ was not called.
Variable* variable_of(PyObject* object);

// A node for any array_like: Tensor, Variable (a read), Python number, NumPy array or scalar,
// nested list. Raises TypeError or ValueError with `who` in the text.
NodeRef to_node(PyObject* object, const char* who);
// The node of a Tensor or Variable; null for other objects.
NodeRef as_node(PyObject* object);
// True if an operator accepts the object as its other operand; otherwise it returns NotImplemented.
bool is_operand(PyObject* object);

// The value in a repr, for example "[1., 2.], dtype=float32"; `before` is the text in front of it.
std::string value_text(const NodeRef& x, const std::string& before);

// Sets the Python error for the C++ exception in flight.
void raise_current() noexcept;

// Calls f; converts C++ exceptions to a Python error and returns `failed`.
template <class Result, class F>
Result guarded(Result failed, F&& f) noexcept {
  try {
    return f();
  } catch (...) {
    raise_current();
    return failed;
  }
}

// A function as the entry of a PyType_Slot.
void* slot(auto function) { return reinterpret_cast<void*>(function); }

// The slots that Tensor and Variable share: operators, attributes, indexing, reads of values.
std::vector<PyType_Slot> shared_slots();
std::vector<PyType_Slot> operator_slots();  // included in shared_slots()

inline const char* name_of(const PyMethodDef& entry) { return entry.ml_name; }
inline const char* name_of(const PyGetSetDef& entry) { return entry.name; }

// A type's own entries, followed by the shared ones with other names.
template <class Entry>
std::vector<Entry> joined(const PyType_Slot& shared, const Entry* own) {
  std::vector<Entry> out;
  for (const Entry* entry = own; name_of(*entry); ++entry) out.push_back(*entry);
  for (auto* entry = static_cast<const Entry*>(shared.pfunc); name_of(*entry); ++entry) {
    bool taken = false;
    for (const Entry& other : out) taken |= !std::strcmp(name_of(other), name_of(*entry));
    if (!taken) out.push_back(*entry);
  }
  out.push_back({});
  return out;
}

// The Python exception class of an error.
PyObject* exception_class(ErrorKind kind);

}  // namespace pullback
