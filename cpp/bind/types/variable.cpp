// Variable: the Python object around a variable. It takes part in operations like the tensor that a
// read of it gives.

#include <cstring>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/common/traced.h"

// After Python.h, which it needs and does not include.
#include <structmember.h>

namespace pullback {
namespace {

PyVariable* variable_self(PyObject* object) { return reinterpret_cast<PyVariable*>(object); }

void initialise(PyObject* object, const Ref<Node>& value, bool trainable, std::string name) {
  if (variable_scope_active()) {
    fail(ErrorKind::Runtime, "Variable", user_place(),
         ": made while a function is being traced, so a later call "
         "would not make it again; make it outside of the function");
  }
  Ref<Variable> variable = make_variable(value, trainable, std::move(name));
  if (variable_self(object)->variable) release(variable_self(object)->variable);
  variable->handle = object;
  variable_self(object)->variable = variable.detach();
}

int variable_init(PyObject* object, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"initial", "trainable", "name", "dtype", nullptr};
  PyObject* initial = nullptr;
  PyObject* trainable = Py_True;
  const char* name = nullptr;
  PyObject* dtype = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|OzO:Variable", const_cast<char**>(names),
                                   &initial, &trainable, &name, &dtype)) {
    return -1;
  }
  return guarded<int>(-1, [&] {
    if (!PyBool_Check(trainable)) {
      fail(ErrorKind::Type, "Variable: trainable: expected True or False, got ", shown(trainable),
           "; name and dtype are passed by keyword");
    }
    static int64_t unnamed = 0;
    Ref<Node> value;
    if (dtype == Py_None) {
      value = to_node(initial, "Variable");
      if (value->flags & kWeak) value = settle_weak(value, natural_dtype(value.get()));
    } else {
      value = to_node_of(initial, dtype_from(dtype, "Variable: "), "Variable");
    }
    initialise(object, value, trainable == Py_True, name ? name : text("Variable_", ++unnamed));
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
    const Ref<Variable> held(variable_of(self));  // whatever runs while the lock is given away
    Variable* variable = held.get();
    Ref<Node> node = to_node(value, who);
    if (node->flags & kWeak) {
      if (traits(variable->dtype).kind < traits(node->dtype).kind && is_inexact(node->dtype)) {
        fail(ErrorKind::Type, who, ": variable '", variable->name, "' is ", variable->dtype,
             ", the value is a ", is_complex(node->dtype) ? "complex number" : "float");
      }
      node = settle_weak(node, variable->dtype);
    } else if (is_number_list(value) && (is_inexact(variable->dtype) || is_integer(node->dtype))) {
      node = to_node_of(value, variable->dtype, who);
    }
    if (op != Op::count) {
      if (node->dtype != variable->dtype) {
        fail(ErrorKind::Type, who, ": variable '", variable->name, "' is ", variable->dtype,
             ", the value is ", node->dtype, "; cast it first");
      }
      finish_update(variable);  // from here on nobody else gets a turn, so no update is lost
      const Ref<Node> old = read(variable);
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
            : value_text(Ref<Node>(variable->current), before);
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

// Answers that must not count as a read: tapes and traces watch those.
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

// Copies and pickles are variables of their own, of the same class, value and name.
PyObject* reduce_variable(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    // Held: while the value is computed, another thread may call __init__ again.
    const Ref<Variable> variable = variable_of(self);
    const Ref<Node> value = read(variable.get());
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
      fail(ErrorKind::Type, "Variable: __setstate__ expects what __reduce__ gave");
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
     "__reduce__(self) -> tuple[typing.Any, ...]\n\nFor pickle and copy."},
    {"__setstate__", set_state_method, METH_O,
     "__setstate__(self, state: tuple[typing.Any, ...], /) -> None\n\nFor pickle and copy."},
    {"assign", assign_method, METH_O,
     "assign($self, value)\n--\n\nassign(self, value: typing.Any) -> Variable\n\nReplaces the "
     "value; returns the variable."},
    {"assign_add", assign_add_method, METH_O,
     "assign_add($self, value)\n--\n\nassign_add(self, value: typing.Any) -> Variable\n\nAdds to "
     "the value; returns the variable."},
    {"assign_sub", assign_sub_method, METH_O,
     "assign_sub($self, value)\n--\n\nassign_sub(self, value: typing.Any) -> Variable\n\n"
     "Subtracts from the value; returns the variable."},
    {"read", read_method, METH_NOARGS,
     "read($self)\n--\n\nread(self) -> Tensor\n\nReturn the present value as a tensor (a "
     "snapshot).\n\nUntil the next assignment each read, also by an operation on the variable, is "
     "the same tensor:\nthe gradient by it counts all uses of the variable in that time. Use "
     "identity(v) for a tensor that\ncounts its own uses only."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef variable_attributes[] = {
    {"trainable", get_trainable, nullptr,
     "Whether tapes watch it, and so whether minimize() changes it unasked.", nullptr},
    {"name", get_name, nullptr, "The name in messages.", nullptr},
    {"shape", variable_shape, nullptr, "Lengths of the axes, a tuple of int.", nullptr},
    {"dtype", variable_dtype, nullptr, "The element type, a numpy.dtype.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef variable_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyVariable, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

constexpr const char* kDoc =
    R"(Variable(initial, trainable=True, name=None, dtype=None)
--

A place that holds a value of one dtype and shape.

In operations it stands for its present value: a read is a snapshot, which a later assignment does
not change. Gradients with respect to a variable are the sum over all its reads, and never pass
through an assignment. `assign`, `assign_add` and `assign_sub` return the variable; another shape
is a ValueError, another dtype a TypeError. A `trainable` variable is watched by tapes, and changed
by `minimize` unasked. One without a name gets a number. Pickles and copies are variables of their
own.

>>> import pullback as pb
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
  // The type keeps pointers to these tables for the life of the process.
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
  PyType_Spec spec = {"pullback._core.Variable", sizeof(PyVariable), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots.data()};
  variable_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!variable_type) throw py::error_already_set();
  m.add_object("Variable", py::handle(reinterpret_cast<PyObject*>(variable_type)));
  // A variable of an optimizer: one that is not there yet may be made while a function is traced,
  // because nobody makes it twice.
  m.def("slot_variable", [](const Ref<Node>& initial, const std::string& name) {
    return py::reinterpret_steal<py::object>(wrap(make_variable(initial, false, name)));
  });
}

}  // namespace pullback
