// The slots that Tensor and Variable share: attributes, indexing, reads of the value. Operators are
// in operators.cpp. Longer than 400 lines because of the docstrings.

#include "bind/arrays/convert.h"
#include "bind/arrays/escapes.h"
#include "bind/arrays/numpy.h"
#include "bind/common/found_once.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "bind/operations/functions.h"
#include "bind/types/assignable.h"
#include "bind/types/indexing.h"
#include "bind/types/ufunc.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "ops/expr.h"

namespace pullback {
namespace {

// --- reads of the value

// Advice for values that do not exist yet.
constexpr const char* kReturnIt =
    "return it from the function to see it, compute on with operations of tensors, and choose by "
    "it "
    "with cond() or where()";

py::object number_of(PyObject* self, const char* who, bool escapes = true) {
  const NodeRef x = to_node(self, who);
  check_has_value(x, who, kReturnIt);
  if (escapes) check_escape(x, who, EscapeForm::Number);
  if (x->shape.size() != 1) {
    fail(ErrorKind::Value, who, ": expected a tensor with exactly one element, got shape ",
         x->shape);
  }
  py::object number = item_of(x);
  if (recording && is_complex(x->dtype)) record_read(x.get(), who);
  if (recording && !is_complex(x->dtype)) record_read(x.get(), who, py::cast<double>(number));
  return number;
}

py::array array_of(PyObject* self, const char* who) {
  const NodeRef x = to_node(self, who);
  check_has_value(x, who,
                  "use pullback's operations on it instead of NumPy's, or return it from the "
                  "function to see it");
  check_escape(x, who, EscapeForm::Array);
  if (recording) record_read(x.get(), who);
  return array_from_node(x);
}

py::object real_number_of(PyObject* self, const char* who) {
  const NodeRef x = to_node(self, who);
  if (is_complex(x->dtype)) {
    fail(ErrorKind::Type, who, ": expected a real tensor, got ", x->dtype,
         "; take its real part, or use complex(x)");
  }
  return number_of(self, who);
}

PyObject* float_slot(PyObject* self) {
  return guarded<PyObject*>(
      nullptr, [&] { return py::float_(real_number_of(self, "float")).release().ptr(); });
}

PyObject* int_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyNumber_Long(real_number_of(self, "int").ptr()); });
}

PyObject* index_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "index");
    if (!is_integer(x->dtype) || x->shape.rank != 0) {
      fail(ErrorKind::Type, "index: expected an integer tensor of rank 0, got ", x->dtype,
           " of shape ", x->shape);
    }
    check_has_value(x, "index", "pass a Python integer, or index with take()");
    return item_of(x).release().ptr();
  });
}

int bool_slot(PyObject* self) {
  return guarded<int>(-1, [&] {
    const NodeRef x = to_node(self, "bool");
    if (x->shape.size() != 1) {
      fail(ErrorKind::Value, "bool: expected a tensor with exactly one element, got shape ",
           x->shape, "; use pb.any or pb.all");
    }
    check_has_value(
        x, "bool",
        "choose with cond() or where() instead of if, loop with while_loop() instead of "
        "while, and combine with logical_and() and logical_or(); or pass what decides "
        "as a Python bool, which is traced once for each value");
    return py::bool_(item_of(x)).ptr() == Py_True ? 1 : 0;
  });
}

// The sizes of a tensor or variable. They do not read the variable, so no tape watches it.
struct Sizes {
  Shape shape;
  DType dtype;
};

Sizes sizes_of(PyObject* self, const char* who) {
  if (is_variable(self)) {
    const Variable* v = variable_of(self);
    return {v->shape, v->dtype};
  }
  const NodeRef x = to_node(self, who);
  return {x->shape, x->dtype};
}

Py_ssize_t length_slot(PyObject* self) {
  return guarded<Py_ssize_t>(-1, [&]() -> Py_ssize_t {
    const Shape shape = sizes_of(self, "len").shape;
    if (shape.rank == 0)
      fail(ErrorKind::Type, "len: expected a tensor of rank 1 or more, got rank 0");
    return shape[0];
  });
}

// --- indexing

PyObject* subscript_slot(PyObject* self, PyObject* key) {
  return guarded<PyObject*>(nullptr, [&] {
    py::object part = stolen(wrap(get_item(to_node(self, "index"), key)));
    if (is_basic(key)) note_whole(part.ptr(), self);
    return part.release().ptr();
  });
}

// x[key] = value. A variable is assigned. The object of a tensor refers to a new node from then on;
// tensors computed from the old node do not change.
int assign_subscript_slot(PyObject* self, PyObject* key, PyObject* value) {
  return guarded<int>(-1, [&] {
    if (!value) fail(ErrorKind::Type, "item deletion: elements of a tensor cannot be deleted");
    NodeRef changed = item_set(self, key, value);
    if (is_variable(self)) {
      py::handle(self).attr("assign")(py::reinterpret_steal<py::object>(wrap(changed)));
      return 0;
    }
    hand_out(changed.get());
    Node*& node = reinterpret_cast<PyTensor*>(self)->node;
    release(std::exchange(node, changed.detach()));
    return 0;
  });
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
      fail(ErrorKind::Type, "iter: expected a tensor of rank 1 or more, got rank 0");
    }
    return PySeqIter_New(self);
  });
}

// value in x: true if any element equals it, as in NumPy; False for objects that no element can
// equal.
int contains_slot(PyObject* self, PyObject* value) {
  return guarded<int>(-1, [&] {
    if (!is_operand(value)) return 0;
    const auto [a, b] = to_operands(self, value, name_of(Op::equal), true);
    Node* inputs[] = {a.get(), b.get()};
    const NodeRef found = reduce(Op::any, elementwise(Op::equal, inputs), std::nullopt, false);
    check_has_value(found, "in", kReturnIt);
    return py::bool_(item_of(found)).ptr() == Py_True ? 1 : 0;
  });
}

// --- attributes and methods

PyObject* get_shape(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return shape_tuple(to_node(self, "shape")->shape).release().ptr(); });
}
PyObject* get_dtype(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    return dtype_object(natural_dtype(to_node(self, "dtype").get())).release().ptr();
  });
}
PyObject* get_ndim(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr,
                            [&] { return PyLong_FromLongLong(sizes_of(self, "ndim").shape.rank); });
}
PyObject* get_size(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return PyLong_FromLongLong(sizes_of(self, "size").shape.size()); });
}
PyObject* get_transposed(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "T");
    return wrap(own_view(x, transpose(x)));
  });
}

PyObject* get_matrix_transposed(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "mT");
    if (x->shape.rank < 2) {
      fail(ErrorKind::Value, "mT: expected a tensor of rank 2 or more, got shape ", x->shape);
    }
    return wrap(swap_last_axes(x));
  });
}
PyObject* get_itemsize(PyObject* self, void*) {
  return guarded<PyObject*>(
      nullptr, [&] { return PyLong_FromLongLong(size_of(sizes_of(self, "itemsize").dtype)); });
}
PyObject* get_nbytes(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] {
    const Sizes sizes = sizes_of(self, "nbytes");
    return PyLong_FromLongLong(sizes.shape.size() * size_of(sizes.dtype));
  });
}

PyObject* get_at(PyObject* self, void*) {
  return guarded<PyObject*>(nullptr, [&] { return make_at(to_node(self, "at")); });
}

PyObject* numpy_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] { return array_of(self, "numpy").release().ptr(); });
}
PyObject* item_method(PyObject* self, PyObject* index) {
  if (PyTuple_GET_SIZE(index) == 0) {
    return guarded<PyObject*>(nullptr, [&] { return number_of(self, "item").release().ptr(); });
  }
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, "item");
    check_has_value(x, "item", kReturnIt);
    check_escape(x, "item", EscapeForm::Number);
    if (recording) record_read(x.get(), "item");
    const py::array array = array_from_node(x);
    try {
      const auto positions = py::reinterpret_borrow<py::args>(index);
      return array.attr("item")(*positions).release().ptr();
    } catch (const py::error_already_set& error) {
      const ErrorKind kind = error.matches(PyExc_IndexError)   ? ErrorKind::Index
                             : error.matches(PyExc_ValueError) ? ErrorKind::Value
                                                               : ErrorKind::Type;
      fail(kind, "item: ", std::string(py::str(error.value())));
    }
  });
}

// The buffer protocol: a read-only view of the value. NumPy uses it before __array__, and calls
// __array__ if it fails. The array keeps the memory alive. A request without the format is refused:
// its consumer, such as torch.asarray, would take the bytes for numbers of another dtype.
int buffer_slot(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const int status = guarded<int>(-1, [&] {
    if ((flags & PyBUF_FORMAT) != PyBUF_FORMAT) {
      PyErr_SetString(PyExc_BufferError,
                      "a buffer without the format of a tensor is refused; pass x.numpy()");
      return -1;
    }
    if (called_by_sparse_product()) {
      PyErr_SetString(PyExc_BufferError, "the product with a sparse matrix is that of the tensor");
      return -1;
    }
    return PyObject_GetBuffer(array_of(self, "numpy").ptr(), view, flags);
  });
  // NumPy discards the error and evaluates again, so the interrupt must come again.
  if (status < 0 && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  return status;
}

PyObject* tolist_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(
      nullptr, [&] { return array_of(self, "tolist").attr("tolist")().release().ptr(); });
}
PyObject* complex_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    return PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type),
                               number_of(self, "complex").ptr());
  });
}

// NumPy functions with the array-function protocol: implemented in Python.
PyObject* array_function_method(PyObject*, PyObject* args) {
  return guarded<PyObject*>(nullptr, [&] {
    const py::handle answer = found_once([]() -> py::object {
      return py::module_::import("pullback._numpy.array_function").attr("array_function");
    });
    return py::object(answer(*py::reinterpret_borrow<py::args>(args))).release().ptr();
  });
}

// A tensor with one element formats as its number.
PyObject* format_method(PyObject* self, PyObject* specification) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (PyUnicode_Check(specification) && PyUnicode_GET_LENGTH(specification) == 0) {
      return PyObject_Str(self);
    }
    const NodeRef x = to_node(self, "format");
    if (x->shape.size() != 1) {
      fail(ErrorKind::Type, "format: expected a tensor with exactly one element, got shape ",
           x->shape, "; format x.numpy()");
    }
    return PyObject_Format(number_of(self, "format", false).ptr(), specification);
  });
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
    if (called_by_sparse_product()) {  // an array of objects means "not an array" to SciPy
      return py::object(numpy().asarray(py::none(), "object")).release().ptr();
    }
    py::object array = array_of(self, "numpy");
    const py::object requested =
        dtype == Py_None
            ? py::object(array.attr("dtype"))
            : py::object(py::dtype::from_args(py::reinterpret_borrow<py::object>(dtype)));
    if (!requested.equal(array.attr("dtype"))) {
      if (copy == Py_False) {
        fail(ErrorKind::Value,
             "__array__: expected the dtype of the tensor with copy=False, got another; permit a "
             "copy");
      }
      array = array.attr("astype")(py::handle(dtype));
    } else if (copy == Py_True) {
      array = array.attr("copy")();
    }
    return array.release().ptr();
  });
}

Py_hash_t identity_hash(PyObject* object) {
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(object) >> 4);
}

PyMethodDef shared_methods[] = {
    {"numpy", numpy_method, METH_NOARGS,
     R"(numpy($self)
--

numpy(self) -> numpy.typing.NDArray[typing.Any]

Return the value as a NumPy array.

The tensor is evaluated. The array is read-only and not a copy.

Returns
-------
numpy.ndarray
    Shape and dtype of the tensor.

Raises
------
RuntimeError
    If the tensor is traced, since it has no value then.

Examples
--------
>>> pb.constant([1.0, 2.0]).numpy()
array([1., 2.], dtype=float32)
)"},
    {"item", item_method, METH_VARARGS,
     R"(item($self, *args)
--

item(self, *args: int | tuple[int, ...]) -> bool | int | float | complex

Return one element as a Python number.

Parameters
----------
*args : int or tuple of int
    Nothing for a tensor with one element, the position in the flattened tensor, or one position
    for each axis.

Returns
-------
bool, int, float or complex
    The kind of number of the dtype.

Raises
------
ValueError
    If there is no argument and the tensor does not have exactly one element, or if the number of
    positions is not the rank.
IndexError
    If a position is out of range.
RuntimeError
    If the tensor is traced, since it has no value then.

Examples
--------
>>> pb.constant([2.5]).item()
2.5
>>> pb.constant([[1, 2], [3, 4]]).item(2)
3
)"},
    {"tolist", tolist_method, METH_NOARGS,
     R"(tolist($self)
--

tolist(self) -> typing.Any

Return the value as a nested list of Python numbers.

Returns
-------
list or number
    One level of lists for each axis; a number if the rank is 0.

Raises
------
RuntimeError
    If the tensor is traced, since it has no value then.

Examples
--------
>>> pb.constant([[1, 2], [3, 4]]).tolist()
[[1, 2], [3, 4]]
)"},
    {"__complex__", complex_method, METH_NOARGS,
     "__complex__(self) -> complex\n\nReturn the value of a tensor with one element."},
    {"__array__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_method)),
     METH_VARARGS | METH_KEYWORDS,
     "__array__(self, dtype: pullback._typing.DType = None, copy: bool | None = None) -> "
     "numpy.typing.NDArray[numpy.generic]\n\n"
     "Implement NumPy's array protocol."},
    {"__array_function__", array_function_method, METH_VARARGS,
     "__array_function__(self, function: collections.abc.Callable[..., object], types: "
     "collections.abc.Iterable[type], args: tuple[object, ...], kwargs: dict[str, object], /) -> "
     "typing.Any\n\n"
     "Implement NumPy's function protocol: of a tracked tensor, the functions of pullback."},
    {"__array_ufunc__",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_ufunc_method)),
     METH_FASTCALL | METH_KEYWORDS,
     "__array_ufunc__(self, ufunc: numpy.ufunc, method: str, /, *inputs: object, **options: "
     "object) -> typing.Any\n\n"
     "Implement NumPy's ufunc protocol by the operators and functions of pullback."},
    {"__format__", format_method, METH_O,
     "__format__(self, specification: str, /) -> str\n\nFormat the number of a tensor with one "
     "element."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef shared_attributes[] = {
    {"shape", get_shape, nullptr, "Return the sizes of the axes, a tuple of int.", nullptr},
    {"dtype", get_dtype, nullptr, "Return the dtype of the elements, a numpy.dtype.", nullptr},
    {"ndim", get_ndim, nullptr, "Return the number of axes, an int.", nullptr},
    {"size", get_size, nullptr, "Return the number of elements, an int.", nullptr},
    {"T", get_transposed, nullptr, "Return a Tensor with the axes in reverse order.", nullptr},
    {"mT", get_matrix_transposed, nullptr,
     "Return a Tensor with the last two axes exchanged; the rank must be 2 or more.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Return the size of an element in bytes, an int.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Return the size of all elements in bytes, an int.", nullptr},
    {"at", get_at, nullptr,
     R"(Return an indexer for updates of entries.

`x.at[index]` has the methods `get()`, `set(value)`, `add(value)`, `multiply(value)`, `min(value)`
and `max(value)`. They return a tensor and do not modify `x`.
)",
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

std::vector<PyType_Slot> shared_slots() {
  std::vector<PyType_Slot> slots = operator_slots();
  const PyType_Slot others[] = {
      {Py_nb_float, slot(float_slot)},         {Py_nb_int, slot(int_slot)},
      {Py_nb_index, slot(index_slot)},         {Py_nb_bool, slot(bool_slot)},
      {Py_tp_hash, slot(identity_hash)},       {Py_tp_iter, slot(iter_slot)},
      {Py_mp_length, slot(length_slot)},       {Py_sq_length, slot(length_slot)},
      {Py_mp_subscript, slot(subscript_slot)}, {Py_mp_ass_subscript, slot(assign_subscript_slot)},
      {Py_sq_item, slot(item_slot)},           {Py_sq_contains, slot(contains_slot)},
      {Py_tp_methods, shared_methods},         {Py_tp_getset, shared_attributes},
      {Py_bf_getbuffer, slot(buffer_slot)},
  };
  slots.insert(slots.end(), std::begin(others), std::end(others));
  return slots;
}

}  // namespace pullback
