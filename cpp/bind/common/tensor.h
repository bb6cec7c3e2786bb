// The two Python types that programs touch all the time, written against the C API: a tensor
// operation costs one slot call, no overload resolution. Everything else in bind/ uses pybind11.
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
};

struct PyVariable {
  PyObject_HEAD Variable* variable;  // owned; null until __init__
  PyObject* weak_references;
};

extern PyTypeObject* tensor_type;
extern PyTypeObject* variable_type;
extern PyTypeObject* array_type;  // NumPy's own, which most arguments are

// Makes the types and adds them to the module.
void bind_tensor(pybind11::module_& m);
void bind_variable(pybind11::module_& m);

// A new Python tensor for a node.
PyObject* wrap(const NodeRef& node);
inline pybind11::object tensor_object(const NodeRef& node) {
  PyObject* object = wrap(node);
  if (!object) throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(object);
}
// The Python object of a variable (the same one for as long as it lives).
PyObject* wrap(const Ref<Variable>& variable);

bool is_tensor(PyObject* object);
bool is_variable(PyObject* object);
// Of a Variable object; a RuntimeError where it was made by __new__ alone.
Variable* variable_of(PyObject* object);

// A node for anything that can be one: Tensor, Variable (a read), Python number, NumPy array or
// scalar, nested list. Raises TypeError or ValueError with `who` in the text.
NodeRef to_node(PyObject* object, const char* who);
// Only for Tensor and Variable; null for others.
NodeRef as_node(PyObject* object);
// What an operator may be handed on its other side; anything else is NotImplemented.
bool is_operand(PyObject* object);

// What a repr shows of a value, `before` being the text in front of it: [1., 2.], dtype=float32.
std::string value_text(const NodeRef& x, const std::string& before);

// Sets the Python error for the exception in flight.
void raise_current() noexcept;

// Runs f, turning C++ exceptions into the Python error and `failed`.
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

// The slots that Tensor and Variable share: operators, attributes, indexing, looking at values.
std::vector<PyType_Slot> shared_slots();
std::vector<PyType_Slot> operator_slots();  // a part of them

inline const char* name_of(const PyMethodDef& entry) { return entry.ml_name; }
inline const char* name_of(const PyGetSetDef& entry) { return entry.name; }

// A type's own entries, then the shared ones whose names are still free.
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
