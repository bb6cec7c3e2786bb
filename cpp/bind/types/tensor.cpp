// The Python type Tensor: an object around a node. Operators and shared slots are in operators.cpp
// and type_slots.cpp.

#include "bind/common/tensor.h"

// After Python.h, which it needs but does not include.
#include <structmember.h>

#include <array>
#include <cstring>
#include <vector>

#include "bind/arrays/convert.h"
#include "bind/arrays/escapes.h"
#include "bind/common/trace_checks.h"
#include "bind/grad/rules.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/expr.h"

namespace pullback {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* array_type = nullptr;
PyTypeObject* variable_type = nullptr;

namespace {

PyTensor* tensor_self(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

// A Python tensor of a subclass of Tensor that adds no fields.
PyObject* wrap_as(PyObject* type, const NodeRef& node) {
  auto* subtype = reinterpret_cast<PyTypeObject*>(type);
  if (!PyType_Check(type) || !PyType_IsSubtype(subtype, tensor_type) ||
      subtype->tp_basicsize != tensor_type->tp_basicsize) {
    fail(ErrorKind::Type, "view_as: expected a subclass of Tensor with __slots__ = () for type");
  }
  PyObject* self = subtype->tp_alloc(subtype, 0);
  if (!self) throw py::error_already_set();
  tensor_self(self)->node = NodeRef(node).detach();
  return self;
}

}  // namespace

bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}

bool is_variable(PyObject* object) {
  return Py_TYPE(object) == variable_type || PyType_IsSubtype(Py_TYPE(object), variable_type);
}

Variable* variable_of(PyObject* object) {
  Variable* variable = reinterpret_cast<PyVariable*>(object)->variable;
  if (!variable) fail(ErrorKind::Runtime, "Variable: __init__ was not called");
  return variable;
}

PyObject* wrap(const NodeRef& given) {
  NodeRef node = given;  // a copy: the code below may run Python and free the original
  hand_out(node.get());
  auto* self = PyObject_GC_New(PyTensor, tensor_type);
  if (!self) throw py::error_already_set();
  self->node = node.detach();
  self->weak_references = nullptr;
  self->wholes = nullptr;
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject*>(self);
}

NodeRef as_node(PyObject* object) {
  if (is_tensor(object)) return NodeRef(reinterpret_cast<PyTensor*>(object)->node);
  if (is_variable(object)) return read(variable_of(object));
  return nullptr;
}

bool is_operand(PyObject* object) {
  if (is_tensor(object) || is_variable(object) || PyFloat_Check(object) || PyLong_Check(object) ||
      PyComplex_Check(object) || PyList_Check(object) || PyTuple_Check(object)) {
    return true;
  }
  // Looked up on the type first: an array's attribute is a dict, which takes microseconds to make.
  constexpr const char* kName = "__array_interface__";
  return PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), kName) ||
         PyObject_HasAttrString(object, kName);
}

NodeRef to_node(PyObject* object, const char* who) {
  if (NodeRef node = as_node(object)) return node;
  if (PyFloat_CheckExact(object)) return weak_scalar(PyFloat_AS_DOUBLE(object));
  if (PyComplex_CheckExact(object)) {
    return weak_complex(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  }
  if (PyBool_Check(object)) {
    Scalar s;
    s.i = object == Py_True;
    return make_scalar(DType::Bool, s);
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    const unsigned long long large = overflow > 0 ? PyLong_AsUnsignedLongLong(object) : 0;
    if (overflow > 0 && !PyErr_Occurred()) {
      Scalar s;
      s.i = static_cast<int64_t>(large);
      return make_scalar(DType::UInt64, s, kWeak);
    }
    if (overflow) {
      PyErr_Clear();
      fail(ErrorKind::Overflow, who ? std::string(who) + ": " : std::string(),
           "the Python integer does not fit in ", overflow > 0 ? "uint64" : "int64");
    }
    return weak_scalar(static_cast<int64_t>(value));
  }
  return node_from_array(object, nullptr, who);
}

std::string value_text(const NodeRef& x, const std::string& before) {
  if (x->flags & kTraced) return text("<traced>, shape=", x->shape, ", dtype=", x->dtype);
  const py::module_ numpy = py::module_::import("numpy");
  // bfloat16 is shown with the digits of the equal float32, since NumPy alone does not support it.
  const NodeRef shown = x->dtype == DType::BFloat16 ? cast(x, DType::Float32) : x;
  const py::str values = numpy.attr("array2string")(
      array_from_node(shown), py::arg("separator") = ", ", py::arg("prefix") = before);
  std::string out = values;
  if (x->shape.size() == 0) out += ", shape=" + to_text(x->shape);
  return out + ", dtype=" + to_text(x->dtype);
}

void raise_current() noexcept {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const CallbackError& error) {
    try {
      std::rethrow_exception(error.reason);
    } catch (py::error_already_set& raised) {
      raised.restore();
    } catch (const std::exception& raised) {
      PyErr_SetString(PyExc_RuntimeError, raised.what());
    }
  } catch (const Error& error) {
    PyErr_SetString(exception_class(error.kind()), error_text(error).c_str());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

namespace {

PyObject* repr_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "repr");
    return PyUnicode_FromString(("Tensor(" + value_text(x, "Tensor(") + ")").c_str());
  });
}

void tensor_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (tensor_self(object)->weak_references) PyObject_ClearWeakRefs(object);
  if (tensor_self(object)->node) release(std::exchange(tensor_self(object)->node, nullptr));
  Py_XDECREF(tensor_self(object)->wholes);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// Rules contain Python callables, which may refer to this tensor. The search visits rules of nodes
// that only this object keeps alive; a node with other references ends it.
int tensor_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Node* node = tensor_self(object)->node;
  for (int step = 0; node && step < 64 && node->refs == 1; ++step) {
    const Node* owner = operation_of(node) ? operation_of(node) : node;
    if (owner->rule && owner->rule->refs == 1 && (owner == node || owner->refs == 1)) {
      if (PyObject* callable = callable_of(owner->rule.get())) Py_VISIT(callable);
    }
    const auto inputs = node->inputs();
    node = inputs.empty() ? nullptr : inputs[0];
  }
  return 0;
}

int tensor_clear(PyObject* object) {
  if (tensor_self(object)->node) release(std::exchange(tensor_self(object)->node, nullptr));
  return 0;
}

// Copies and pickles contain the value only, without history.
PyObject* reduce_tensor(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "pickle");
    check_has_value(x, "pickle", "return it from the function to see it");
    check_escape(x, "copy", EscapeForm::Array);
    return py::make_tuple(py::module_::import("pullback").attr("constant"),
                          py::make_tuple(array_from_node(x)))
        .release()
        .ptr();
  });
}

PyMethodDef own_methods[] = {{"__reduce__", reduce_tensor, METH_NOARGS,
                              "__reduce__(self) -> tuple[object, ...]\n\n"
                              "Support pickle and copy, which keep the value without its history."},
                             {nullptr, nullptr, 0, nullptr}};

PyMemberDef tensor_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

void bind_tensor(py::module_& m) {
  static std::vector<PyMethodDef> all_methods;  // the type keeps pointers to them
  std::vector<PyType_Slot> slots = shared_slots();
  for (PyType_Slot& slot : slots) {
    if (slot.slot != Py_tp_methods) continue;
    all_methods = joined(slot, own_methods);
    slot.pfunc = all_methods.data();
  }
  slots.push_back({Py_tp_repr, slot(repr_slot)});
  slots.push_back({Py_tp_dealloc, slot(tensor_dealloc)});
  slots.push_back({Py_tp_traverse, slot(tensor_traverse)});
  slots.push_back({Py_tp_clear, slot(tensor_clear)});
  slots.push_back({Py_tp_members, tensor_members});
  slots.push_back({Py_tp_doc, const_cast<char*>(R"(Tensor()
--

Represent a lazy n-dimensional array.

Functions such as `constant` and all operations create tensors. An operation checks shapes and
dtypes at once; its value is computed when it is read, for example by `numpy()`.

Operators between NumPy arrays and tensors return tensors. A NumPy function reads the value of a
tensor that is not tracked, and raises a TypeError if a tracked tensor would lose its gradient.
NumPy ufuncs other than those of operators always raise a TypeError.

Examples
--------
>>> x = pb.constant([1.0, 2.0])
>>> 2 * x + 1
Tensor([3., 5.], dtype=float32)
>>> x.shape, x.dtype
((2,), dtype('float32'))
)")});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"pullback.Tensor", sizeof(PyTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE |
                          Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots.data()};
  array_type = py::detail::npy_api::get().PyArray_Type_;
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw py::error_already_set();
  m.add_object("Tensor", py::handle(reinterpret_cast<PyObject*>(tensor_type)));
  using TensorClass = Typed<"type[pullback._typing.TensorClass]">;
  m.def(
      "view_as",
      [](const TensorClass& cls, const NodeRef& x)->Typed<"pullback._typing.TensorClass"> {
        return py::reinterpret_steal<py::object>(wrap_as(cls.ptr(), x));
      },
      py::arg("cls"), py::arg("x"), "Return `x` as an object of a subclass of Tensor.");
}

}  // namespace pullback
