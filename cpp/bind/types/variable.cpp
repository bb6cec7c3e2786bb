// The Python type Variable: an object around a variable. In operations it acts as the tensor that a
// read returns. Longer than 400 lines because of the docstrings.

#include <cstring>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"

// After Python.h, which it needs but does not include.
#include <structmember.h>

namespace pullback {
namespace {

PyVariable* variable_self(PyObject* object) { return reinterpret_cast<PyVariable*>(object); }

void initialise(PyObject* object, const NodeRef& value, bool trainable, std::string name) {
  if (variable_scope_active()) {
    fail(ErrorKind::Runtime, "Variable", user_place(),
         ": a variable that a traced function creates would not be created again by later calls; "
         "create it outside of the function");
  }
  Ref<Variable> variable = make_variable(value, trainable, std::move(name));
  if (variable_self(object)->variable) release(variable_self(object)->variable);
  variable->handle = object;
  variable_self(object)->variable = variable.detach();
}

std::string name_from(PyObject* object) {
  if (!PyUnicode_Check(object)) {
    fail(ErrorKind::Type, "Variable: expected a string or None for name, got ", shown(object));
  }
  Py_ssize_t size = 0;
  const char* name = PyUnicode_AsUTF8AndSize(object, &size);
  if (!name) throw py::error_already_set();
  if (std::memchr(name, 0, static_cast<size_t>(size))) {
    fail(ErrorKind::Value, "Variable: expected a name without null characters, got ",
         shown(object));
  }
  return name;
}

int variable_init(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"initial", "trainable", "name", "dtype", nullptr};
  PyObject* initial = nullptr;
  PyObject* trainable = Py_True;
  PyObject* name = Py_None;
  PyObject* dtype = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OOO:Variable", const_cast<char**>(names),
                                   &initial, &trainable, &name, &dtype)) {
    return -1;
  }
  return guarded<int>(-1, [&] {
    if (!PyBool_Check(trainable)) {
      fail(ErrorKind::Type, "Variable: expected True or False for trainable, got ",
           shown(trainable), "; pass name and dtype by keyword");
    }
    static int64_t unnamed = 0;
    NodeRef value;
    if (dtype == Py_None) {
      value = to_node(initial, "Variable");
      if (value->flags & kWeak) value = resolve_weak(value, natural_dtype(value.get()));
    } else {
      value = to_node_of(initial, dtype_from(dtype, "Variable: "), "Variable");
    }
    initialise(object, value, trainable == Py_True,
               name == Py_None ? text("Variable_", ++unnamed) : name_from(name));
    return 0;
  });
}

void variable_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (variable_self(object)->weak_references) PyObject_ClearWeakRefs(object);
  if (Variable* variable = std::exchange(variable_self(object)->variable, nullptr)) {
    if (variable->handle == object) variable->handle = nullptr;
    release(variable);
  }
  type->tp_free(object);
  Py_DECREF(type);
}

PyObject* assign_with(PyObject* self, PyObject* value, const char* who, Op op) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    const Ref<Variable> held(variable_of(self));  // other code may run below
    Variable* variable = held.get();
    NodeRef node = to_node(value, who);
    if (node->flags & kWeak) {
      if (traits(variable->dtype).kind < traits(node->dtype).kind && is_inexact(node->dtype)) {
        fail(ErrorKind::Type, who, ": expected ", variable->dtype, " for variable '",
             variable->name, "', got a ", is_complex(node->dtype) ? "complex number" : "float");
      }
      node = resolve_weak(node, variable->dtype);
    } else if (is_number_list(value) && (is_inexact(variable->dtype) || is_integer(node->dtype))) {
      node = to_node_of(value, variable->dtype, who);
    }
    if (op != Op::count) {
      if (node->dtype != variable->dtype) {
        fail(ErrorKind::Type, who, ": expected ", variable->dtype, " for variable '",
             variable->name, "', got ", node->dtype, "; cast it first");
      }
      if (!broadcasts_to(node->shape, variable->shape)) {
        fail(ErrorKind::Value, who, ": expected a value that broadcasts to shape ", variable->shape,
             " for variable '", variable->name, "', got shape ", node->shape);
      }
      finish_update(variable);  // the lock stays taken from here on, so no update is lost
      const NodeRef old = read(variable);
      Node* inputs[] = {old.get(), node.get()};
      node = elementwise(op, inputs);
    }
    if (!variable_scope_active()) check_has_value(node, who, "return it from the function");
    assign(variable, node, who);
    Py_INCREF(self);
    return self;
  });
}

PyObject* variable_repr(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const Variable* variable = variable_of(self);
    const std::string before = "Variable('" + variable->name + "', ";
    const std::string value =
        variable_scope_active()
            ? text("<traced>, shape=", variable->shape, ", dtype=", variable->dtype)
            : value_text(NodeRef(variable->current), before);
    return PyUnicode_FromString((before + value + ")").c_str());
  });
}

PyObject* assign_method(PyObject* self, PyObject* value) {
  return assign_with(self, value, "assign", Op::count);
}
PyObject* assign_add_method(PyObject* self, PyObject* value) {
  return assign_with(self, value, "assign_add", Op::add);
}
PyObject* assign_sub_method(PyObject* self, PyObject* value) {
  return assign_with(self, value, "assign_sub", Op::subtract);
}
PyObject* read_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] { return wrap(read(variable_of(self))); });
}

// These attributes must not count as a read, since tapes and traces watch reads.
PyObject* variable_shape(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return shape_tuple(variable_of(self)->shape).release().ptr(); });
}
PyObject* variable_dtype(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return dtype_object(variable_of(self)->dtype).release().ptr(); });
}
PyObject* get_trainable(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] { return PyBool_FromLong(variable_of(self)->trainable); });
}
PyObject* get_name(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyUnicode_FromString(variable_of(self)->name.c_str()); });
}

// Copies and pickles are new variables of the same class, value and name.
PyObject* reduce_variable(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    // A reference: while the value is computed, another thread may call __init__ again.
    const Ref<Variable> variable = variable_of(self);
    const NodeRef value = read(variable.get());
    check_has_value(value, "pickle", "copy variables outside of the function");
    const py::object dictionary = py::getattr(py::handle(self), "__dict__", py::none());
    const py::tuple state = py::make_tuple(array_from_node(value), variable->trainable,
                                           py::str(variable->name), dictionary);
    return py::make_tuple(py::module_::import("copyreg").attr("__newobj__"),
                          py::make_tuple(py::handle(reinterpret_cast<PyObject*>(Py_TYPE(self)))),
                          state)
        .release()
        .ptr();
  });
}

PyObject* set_state_method(PyObject* self, PyObject* state) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!PyTuple_Check(state) || PyTuple_GET_SIZE(state) != 4) {
      fail(ErrorKind::Type,
           "__setstate__: expected the state that __reduce__ returns, got another object");
    }
    const auto entries = py::reinterpret_borrow<py::tuple>(state);
    initialise(self, to_node(entries[0].ptr(), "Variable"), py::cast<bool>(entries[1]),
               py::cast<std::string>(entries[2]));
    if (!entries[3].is_none()) py::getattr(py::handle(self), "__dict__").attr("update")(entries[3]);
    Py_RETURN_NONE;
  });
}

PyMethodDef variable_methods[] = {
    {"__reduce__", reduce_variable, METH_NOARGS,
     "__reduce__(self) -> tuple[object, ...]\n\nSupport pickle and copy."},
    {"__setstate__", set_state_method, METH_O,
     "__setstate__(self, state: tuple[object, ...], /) -> None\n\nSupport pickle and copy."},
    {"assign", assign_method, METH_O,
     R"(assign($self, value)
--

assign(self, value: pullback._typing.TensorLike) -> Variable

Replace the value of the variable.

Parameters
----------
value : array_like
    Tensor with the shape and the dtype of the variable. Python numbers take its dtype.

Returns
-------
Variable
    The variable itself.

Raises
------
ValueError
    If the shape differs from that of the variable.
TypeError
    If the dtype differs, or a Python number cannot be cast to the dtype of the variable.

Examples
--------
>>> v = pb.Variable([1.0, 2.0], name="v")
>>> v.assign([3.0, 5.0])
Variable('v', [3., 5.], dtype=float32)
)"},
    {"assign_add", assign_add_method, METH_O,
     R"(assign_add($self, value)
--

assign_add(self, value: pullback._typing.TensorLike) -> Variable

Add to the value of the variable.

Parameters
----------
value : array_like
    Tensor of the dtype of the variable, or a Python number; the shape broadcasts to its shape.

Returns
-------
Variable
    The variable itself.

Raises
------
ValueError
    If the shape does not broadcast to that of the variable.
TypeError
    If the dtype differs, or a Python number cannot be cast to the dtype of the variable.

Examples
--------
>>> v = pb.Variable([1.0, 2.0], name="v")
>>> v.assign_add([3.0, 5.0])
Variable('v', [4., 7.], dtype=float32)
)"},
    {"assign_sub", assign_sub_method, METH_O,
     R"(assign_sub($self, value)
--

assign_sub(self, value: pullback._typing.TensorLike) -> Variable

Subtract from the value of the variable.

Parameters
----------
value : array_like
    Tensor of the dtype of the variable, or a Python number; the shape broadcasts to its shape.

Returns
-------
Variable
    The variable itself.

Raises
------
ValueError
    If the shape does not broadcast to that of the variable.
TypeError
    If the dtype differs, or a Python number cannot be cast to the dtype of the variable.

Examples
--------
>>> v = pb.Variable([1.0, 2.0], name="v")
>>> v.assign_sub([3.0, 5.0])
Variable('v', [-2., -3.], dtype=float32)
)"},
    {"read", read_method, METH_NOARGS,
     R"(read($self)
--

read(self) -> Tensor

Return the present value as a tensor, a snapshot.

Until the next assignment all reads return the same tensor, reads by operations included. So the
gradient with respect to that tensor counts all uses of the variable in that time. `identity(v)` is
a tensor with uses of its own.

Returns
-------
Tensor
    Shape and dtype of the variable.

Examples
--------
>>> v = pb.Variable([1.0, 2.0])
>>> old = v.read()
>>> v.assign([0.0, 0.0]).read(), old
(Tensor([0., 0.], dtype=float32), Tensor([1., 2.], dtype=float32))
)"},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef variable_attributes[] = {
    {"trainable", get_trainable, nullptr,
     "Return True if tapes watch the variable, so that minimize() changes it by default.", nullptr},
    {"name", get_name, nullptr,
     "Return the name, a str, which messages and the state of optimizers use.", nullptr},
    {"shape", variable_shape, nullptr, "Return the sizes of the axes, a tuple of int.", nullptr},
    {"dtype", variable_dtype, nullptr, "Return the dtype of the elements, a numpy.dtype.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef variable_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kDoc =
    R"(Variable(initial, trainable=True, name=None, dtype=None)
--

Store a value of one dtype and shape that can be assigned.

Operations use the present value: a read is a snapshot, which a later assignment does not change.
The gradient with respect to a variable is the sum over all its reads. Gradients never pass through
an assignment. Pickles and copies are independent variables.

Parameters
----------
initial : array_like
    Initial value of any shape and dtype.
trainable : bool, optional
    If True, tapes watch the variable, and `minimize` updates it by default. Default: True.
name : str, optional
    Name in messages and in the state of optimizers. Default: `Variable_` and a number.
dtype : dtype_like, optional
    Dtype of the variable. Default: the dtype of `initial`.

Raises
------
TypeError
    If `initial` is not numeric, `trainable` is not a bool, `name` is not a string, or `dtype` is
    unknown.
RuntimeError
    If the variable is created while a function is traced.

Examples
--------
>>> v = pb.Variable([1.0, 2.0], name="v")
>>> y = pb.sum(v * v)
>>> v.assign([0.0, 0.0])
Variable('v', [0., 0.], dtype=float32)
>>> float(y)
5.0
>>> pb.gradients(y, v)
[Tensor([2., 4.], dtype=float32)]
)";

}  // namespace

PyObject* wrap(const Ref<Variable>& variable) {
  if (variable->handle) {
    auto* object = static_cast<PyObject*>(variable->handle);
    Py_INCREF(object);
    return object;
  }
  PyObject* object = variable_type->tp_alloc(variable_type, 0);
  if (!object) throw py::error_already_set();
  variable_self(object)->variable = Ref<Variable>(variable).detach();
  variable->handle = object;
  return object;
}

void bind_variable(py::module_& m) {
  // The type keeps pointers to these tables for the lifetime of the process.
  static std::vector<PyMethodDef> all_methods;
  static std::vector<PyGetSetDef> all_attributes;
  std::vector<PyType_Slot> slots = shared_slots();
  for (PyType_Slot& slot : slots) {
    if (slot.slot == Py_tp_methods) {
      all_methods = joined(slot, variable_methods);
      slot.pfunc = all_methods.data();
    } else if (slot.slot == Py_tp_getset) {
      all_attributes = joined(slot, variable_attributes);
      slot.pfunc = all_attributes.data();
    }
  }
  slots.push_back({Py_tp_init, reinterpret_cast<void*>(variable_init)});
  slots.push_back({Py_tp_new, reinterpret_cast<void*>(PyType_GenericNew)});
  slots.push_back({Py_tp_dealloc, reinterpret_cast<void*>(variable_dealloc)});
  slots.push_back({Py_tp_members, variable_members});
  slots.push_back({Py_tp_repr, reinterpret_cast<void*>(variable_repr)});
  slots.push_back({Py_tp_doc, const_cast<char*>(kDoc)});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"pullback.Variable", sizeof(PyVariable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  variable_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!variable_type) throw py::error_already_set();
  m.add_object("Variable", py::handle(reinterpret_cast<PyObject*>(variable_type)));
  // Unlike other variables, that of an optimizer may be created while a function is traced, because
  // it is created once.
  m.def(
      "slot_variable", [](const NodeRef& initial, const std::string& name)->Typed<"Variable"> {
        return py::reinterpret_steal<py::object>(wrap(make_variable(initial, false, name)));
      },
      py::arg("initial"), py::arg("name"), "Make a variable of an optimizer.");
}

}  // namespace pullback
