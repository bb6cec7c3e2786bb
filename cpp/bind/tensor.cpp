// Tensor: the Python object around a node. Variable shares its operators.

#include "bind/tensor.h"

// After Python.h, which it needs and does not include.
#include <structmember.h>

#include <array>
#include <cstring>
#include <vector>

#include "bind/convert.h"
#include "bind/rules.h"
#include "graph/make.h"
#include "ops/expr.h"
#include "plan/evaluate.h"

namespace pullback {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* variable_type = nullptr;

bool is_tensor(PyObject* object) { return Py_TYPE(object) == tensor_type; }

bool is_variable(PyObject* object) {
  return Py_TYPE(object) == variable_type || PyType_IsSubtype(Py_TYPE(object), variable_type);
}

PyObject* wrap(const Ref<Node>& node) {
  auto* self = PyObject_GC_New(PyTensor, tensor_type);
  if (!self) throw py::error_already_set();
  self->node = Ref<Node>(node).detach();
  self->weak_references = nullptr;
  PyObject_GC_Track(self);
  return reinterpret_cast<PyObject*>(self);
}

Ref<Node> as_node(PyObject* object) {
  if (is_tensor(object)) return Ref<Node>(reinterpret_cast<PyTensor*>(object)->node);
  if (is_variable(object)) {
    Variable* variable = reinterpret_cast<PyVariable*>(object)->variable;
    if (!variable) fail(ErrorKind::Runtime, "Variable: __init__ was not called");
    return read(variable);
  }
  return nullptr;
}

bool is_operand(PyObject* object) {
  if (is_tensor(object) || is_variable(object) || PyFloat_Check(object) || PyLong_Check(object) ||
      PyList_Check(object) || PyTuple_Check(object)) {
    return true;
  }
  return PyObject_HasAttrString(object, "__array_interface__");
}

Ref<Node> to_node(PyObject* object, const char* who) {
  if (Ref<Node> node = as_node(object)) return node;
  if (PyFloat_CheckExact(object)) return weak_scalar(PyFloat_AS_DOUBLE(object));
  if (PyBool_Check(object)) {
    Scalar s;
    s.i = object == Py_True;
    return make_scalar(DType::Bool, s);
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow) {
      fail(ErrorKind::Overflow, who ? std::string(who) + ": " : std::string(),
           "the Python integer does not fit in int64");
    }
    return weak_scalar(static_cast<int64_t>(value));
  }
  return node_from_array(object, nullptr, who);
}

std::string value_text(const Ref<Node>& x, const std::string& before) {
  if (x->flags & kTraced) return text("<traced>, shape=", x->shape, ", dtype=", x->dtype);
  const py::module_ numpy = py::module_::import("numpy");
  const py::str values = numpy.attr("array2string")(array_from_node(x), py::arg("separator") = ", ",
                                                    py::arg("prefix") = before);
  std::string out = values;
  if (x->shape.size() == 0) out += ", shape=" + to_text(x->shape);
  return out + ", dtype=" + to_text(x->dtype);
}

void raise_current() noexcept {
  try {
    throw;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const Error& error) {
    PyErr_SetString(exception_class(error.kind()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "out of memory");
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

namespace {

PyTensor* self_of(PyObject* object) { return reinterpret_cast<PyTensor*>(object); }

// --- operators

PyObject* binary(Op op, PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
    const Ref<Node> a = to_node(left, name_of(op));
    const Ref<Node> b = to_node(right, name_of(op));
    Node* inputs[] = {a.get(), b.get()};
    return wrap(elementwise(op, inputs));
  });
}

template <Op op>
PyObject* binary_slot(PyObject* left, PyObject* right) {
  return binary(op, left, right);
}

template <Op op>
PyObject* unary_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const Ref<Node> x = to_node(self, name_of(op));
    Node* input = x.get();
    return wrap(elementwise(op, {&input, 1}));
  });
}

// & | ^ ~ are logical on bool; integers would silently mean something else.
template <Op op>
PyObject* logical_slot(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
    const Ref<Node> a = to_node(left, name_of(op));
    const Ref<Node> b = to_node(right, name_of(op));
    if (a->dtype != DType::Bool || b->dtype != DType::Bool) {
      fail(ErrorKind::Type, name_of(op), ": the operators & | ^ expect bool tensors, got ",
           a->dtype, " and ", b->dtype);
    }
    Node* inputs[] = {a.get(), b.get()};
    return wrap(elementwise(op, inputs));
  });
}

PyObject* invert_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const Ref<Node> x = to_node(self, "logical_not");
    if (x->dtype != DType::Bool) {
      fail(ErrorKind::Type, "logical_not: the operator ~ expects a bool tensor, got ", x->dtype);
    }
    Node* input = x.get();
    return wrap(elementwise(Op::logical_not, {&input, 1}));
  });
}

PyObject* power_slot(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(Op::pow, left, right);
}

PyObject* matmul_slot(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
    return wrap(matmul(to_node(left, "matmul"), to_node(right, "matmul")));
  });
}

PyObject* positive_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] { return wrap(identity(to_node(self, "positive"))); });
}

PyObject* compare_slot(PyObject* left, PyObject* right, int operation) {
  constexpr Op ops[] = {Op::less,      Op::less_equal, Op::equal,
                        Op::not_equal, Op::greater,    Op::greater_equal};
  return binary(ops[operation], left, right);
}

// --- looking at values

PyObject* float_slot(PyObject* self) {
  return guarded<PyObject*>(
      nullptr, [&] { return py::float_(item_of(to_node(self, "float"))).release().ptr(); });
}

PyObject* int_slot(PyObject* self) {
  return guarded<PyObject*>(
      nullptr, [&] { return py::int_(item_of(to_node(self, "int"))).release().ptr(); });
}

PyObject* index_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const Ref<Node> x = to_node(self, "index");
    if (!is_integer(x->dtype) || x->shape.rank != 0) {
      fail(ErrorKind::Type, "only an integer tensor of rank 0 can be used as an index; got ",
           x->dtype, " of shape ", x->shape);
    }
    return item_of(x).release().ptr();
  });
}

int bool_slot(PyObject* self) {
  return guarded<int>(-1, [&] {
    const Ref<Node> x = to_node(self, "bool");
    if (x->shape.size() != 1) {
      fail(ErrorKind::Value, "the truth value of a tensor of shape ", x->shape,
           " is ambiguous; use pb.any or pb.all");
    }
    return py::bool_(item_of(x)).ptr() == Py_True ? 1 : 0;
  });
}

Py_ssize_t length_slot(PyObject* self) {
  return guarded<Py_ssize_t>(-1, [&]() -> Py_ssize_t {
    const Ref<Node> x = to_node(self, "len");
    if (x->shape.rank == 0) fail(ErrorKind::Type, "len() of a tensor of rank 0");
    return x->shape[0];
  });
}

// --- indexing

// Resolves integers, slices, None and Ellipsis against a shape: a window, its shape, and the shape
// after dropped and new axes.
struct Indexing {
  Window window;
  Shape windowed;
  Shape result;

  Indexing(const Shape& shape, PyObject* key) {
    std::vector<py::handle> entries;
    if (PyTuple_Check(key)) {
      for (py::handle entry : py::reinterpret_borrow<py::tuple>(key)) entries.push_back(entry);
    } else {
      entries.push_back(key);
    }
    int64_t consumed = 0;
    bool ellipsis = false;
    for (py::handle entry : entries) {
      if (entry.ptr() == Py_Ellipsis) {
        if (ellipsis) fail(ErrorKind::Index, "index: more than one Ellipsis");
        ellipsis = true;
      } else if (!entry.is_none()) {
        ++consumed;
      }
    }
    if (consumed > shape.rank) {
      fail(ErrorKind::Index, "index: ", consumed, " indices for a tensor of rank ", shape.rank,
           " (shape ", shape, ")");
    }
    if (!ellipsis) entries.push_back(Py_Ellipsis);
    int64_t axis = 0;
    for (py::handle entry : entries) {
      if (entry.is_none()) {
        add_result(1);
      } else if (entry.ptr() == Py_Ellipsis) {
        for (int64_t skip = shape.rank - consumed; skip > 0; --skip) {
          add(0, 1, shape[axis]);
          add_result(shape[axis++]);
        }
      } else if (PySlice_Check(entry.ptr())) {
        take_slice(shape[axis++], entry);
      } else {
        take_integer(shape, axis++, entry);
      }
    }
  }

 private:
  void add(int64_t start, int64_t step, int64_t length) {
    window.start[windowed.rank] = start;
    window.step[windowed.rank] = step;
    windowed.append(length);
  }

  void add_result(int64_t length) {
    if (result.rank == kMaxRank) {
      fail(ErrorKind::Index, "index: the result would have more than ", kMaxRank, " axes");
    }
    result.append(length);
  }

  void take_slice(int64_t length, py::handle entry) {
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(entry.ptr(), &start, &stop, &step) < 0) throw py::error_already_set();
    const Py_ssize_t count = PySlice_AdjustIndices(length, &start, &stop, step);
    add(count ? start : 0, step, count);
    add_result(count);
  }

  void take_integer(const Shape& shape, int64_t axis, py::handle entry) {
    const bool boolean = PyBool_Check(entry.ptr());
    PyObject* number = boolean ? nullptr : PyNumber_Index(entry.ptr());
    if (!number) {
      PyErr_Clear();
      fail(ErrorKind::Index, "index: expected integers, slices, None or Ellipsis, got ",
           std::string(py::str(py::type::of(entry).attr("__name__"))),
           "; use take(x, indices, axis) for positions and where() for masks");
    }
    int64_t at = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (at == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      at = INT64_MAX;
    }
    const int64_t length = shape[axis];
    if (at < -length || at >= length) {
      fail(ErrorKind::Index, "index: ", at, " is out of range for axis ", axis, " of length ",
           length, " (shape ", shape, ")");
    }
    add(at < 0 ? at + length : at, 1, 1);
  }
};

Ref<Node> get_item(const Ref<Node>& x, PyObject* key) {
  const Indexing index(x->shape, key);
  Ref<Node> out = x;
  bool whole = index.windowed == x->shape;
  for (int64_t d = 0; whole && d < x->shape.rank; ++d) whole = index.window.step[d] == 1;
  out = whole ? identity(x) : slice(x, index.windowed, index.window);
  return reshape(out, index.result, "index");
}

PyObject* subscript_slot(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr, [&] { return wrap(get_item(to_node(self, "index"), key)); });
}

int assign_subscript_slot(PyObject* self, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s does not support item assignment: tensors never change",
               Py_TYPE(self)->tp_name);
  return -1;
}

PyObject* item_slot(PyObject* self, Py_ssize_t i) {
  PyObject* key = PyLong_FromSsize_t(i);
  PyObject* out = subscript_slot(self, key);
  Py_DECREF(key);
  return out;
}

PyObject* iter_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (to_node(self, "iter")->shape.rank == 0) {
      fail(ErrorKind::Type, "a tensor of rank 0 cannot be iterated over");
    }
    return PySeqIter_New(self);
  });
}

// --- attributes and methods

PyObject* get_shape(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return shape_tuple(to_node(self, "shape")->shape).release().ptr(); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return dtype_object(to_node(self, "dtype")->dtype).release().ptr(); });
}
PyObject* get_ndim(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyLong_FromLongLong(to_node(self, "ndim")->shape.rank); });
}
PyObject* get_size(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return PyLong_FromLongLong(to_node(self, "size")->shape.size()); });
}
PyObject* get_transposed(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] { return wrap(transpose(to_node(self, "T"))); });
}
PyObject* get_none(PyObject*, void*) { Py_RETURN_NONE; }

PyObject* numpy_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(
      nullptr, [&] { return array_from_node(to_node(self, "numpy")).release().ptr(); });
}
PyObject* item_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return item_of(to_node(self, "item")).release().ptr(); });
}

PyObject* array_method(PyObject* self, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"dtype", "copy", nullptr};
  PyObject* dtype = Py_None;
  PyObject* copy = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO", const_cast<char**>(names), &dtype,
                                   &copy)) {
    return nullptr;
  }
  return guarded<PyObject*>(nullptr, [&] {
    py::object array = array_from_node(to_node(self, "__array__"));
    const py::object wish =
        dtype == Py_None
            ? py::object(array.attr("dtype"))
            : py::object(py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype)));
    if (!wish.equal(array.attr("dtype"))) {
      if (copy == Py_False) {
        fail(ErrorKind::Value, "__array__: another dtype needs a copy, and copy=False forbids it");
      }
      array = array.attr("astype")(py::handle(dtype));
    } else if (copy == Py_True) {
      array = array.attr("copy")();
    }
    return array.release().ptr();
  });
}

PyObject* repr_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const Ref<Node> x = to_node(self, "repr");
    return PyUnicode_FromString(("Tensor(" + value_text(x, "Tensor(") + ")").c_str());
  });
}

PyMethodDef methods[] = {
    {"numpy", numpy_method, METH_NOARGS,
     "numpy(self) -> numpy.ndarray\n\nThe value as a NumPy array (read-only, not a copy)."},
    {"item", item_method, METH_NOARGS,
     "item(self) -> bool | int | float\n\nThe value of a one-element tensor as a Python number."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_method)),
     METH_VARARGS | METH_KEYWORDS,
     "__array__(self, dtype: typing.Any = None, copy: bool | None = None) -> numpy.ndarray\n\n"
     "NumPy's array protocol."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "Lengths of the axes, a tuple of int.", nullptr},
    {"dtype", get_dtype, nullptr, "The element type, a numpy.dtype.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of axes.", nullptr},
    {"size", get_size, nullptr, "The number of elements.", nullptr},
    {"T", get_transposed, nullptr, "The tensor with its axes reversed.", nullptr},
    // NumPy arrays on the left leave operators to us.
    {"__array_ufunc__", get_none, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

void* slot(auto function) { return reinterpret_cast<void*>(function); }

// --- the Tensor type itself

void tensor_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (self_of(object)->weak_references) PyObject_ClearWeakRefs(object);
  if (self_of(object)->node) release(std::exchange(self_of(object)->node, nullptr));
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// Rules hold Python callables, which may hold this very tensor. Those that only this object keeps
// alive are its own; a node that somebody else holds too belongs to nobody and ends the search.
int tensor_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Node* node = self_of(object)->node;
  for (int step = 0; node && step < 64 && node->refs == 1; ++step) {
    if (node->rule && node->rule->refs == 1) {
      if (PyObject* callable = callable_of(node->rule.get())) Py_VISIT(callable);
    }
    const auto inputs = node->inputs();
    node = inputs.empty() ? nullptr : inputs[0];
  }
  return 0;
}

int tensor_clear(PyObject* object) {
  if (self_of(object)->node) release(std::exchange(self_of(object)->node, nullptr));
  return 0;
}

Py_hash_t tensor_hash(PyObject* object) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(object) >> 4);
}

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyTensor, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

}  // namespace

std::vector<PyType_Slot> shared_slots() {
  return {
      {Py_nb_add, slot(binary_slot<Op::add>)},
      {Py_nb_subtract, slot(binary_slot<Op::subtract>)},
      {Py_nb_multiply, slot(binary_slot<Op::multiply>)},
      {Py_nb_true_divide, slot(binary_slot<Op::divide>)},
      {Py_nb_floor_divide, slot(binary_slot<Op::floor_divide>)},
      {Py_nb_remainder, slot(binary_slot<Op::remainder>)},
      {Py_nb_power, slot(power_slot)},
      {Py_nb_matrix_multiply, slot(matmul_slot)},
      {Py_nb_negative, slot(unary_slot<Op::negative>)},
      {Py_nb_positive, slot(positive_slot)},
      {Py_nb_absolute, slot(unary_slot<Op::abs>)},
      {Py_nb_and, slot(logical_slot<Op::logical_and>)},
      {Py_nb_or, slot(logical_slot<Op::logical_or>)},
      {Py_nb_xor, slot(logical_slot<Op::logical_xor>)},
      {Py_nb_invert, slot(invert_slot)},
      {Py_nb_float, slot(float_slot)},
      {Py_nb_int, slot(int_slot)},
      {Py_nb_index, slot(index_slot)},
      {Py_nb_bool, slot(bool_slot)},
      {Py_tp_richcompare, slot(compare_slot)},
      {Py_tp_hash, slot(tensor_hash)},
      {Py_tp_iter, slot(iter_slot)},
      {Py_mp_length, slot(length_slot)},
      {Py_mp_subscript, slot(subscript_slot)},
      {Py_mp_ass_subscript, slot(assign_subscript_slot)},
      {Py_sq_item, slot(item_slot)},
      {Py_tp_methods, methods},
      {Py_tp_getset, attributes},
  };
}

void bind_tensor(py::module_& m) {
  std::vector<PyType_Slot> slots = shared_slots();
  slots.push_back({Py_tp_repr, slot(repr_slot)});
  slots.push_back({Py_tp_dealloc, slot(tensor_dealloc)});
  slots.push_back({Py_tp_traverse, slot(tensor_traverse)});
  slots.push_back({Py_tp_clear, slot(tensor_clear)});
  slots.push_back({Py_tp_members, members});
  slots.push_back({Py_tp_doc, const_cast<char*>(
                                  "A lazy n-dimensional value.\n\n"
                                  "Operations check shapes and dtypes at once and compute nothing; "
                                  "the value is computed when\nsomebody looks at it.")});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"pullback._core.Tensor", sizeof(PyTensor), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw py::error_already_set();
  m.add_object("Tensor", py::handle(reinterpret_cast<PyObject*>(tensor_type)));
}

}  // namespace pullback
