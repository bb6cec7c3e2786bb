// NumPy's protocol for universal functions. An array on the left of an operator calls a ufunc;
// those that correspond to operators apply the operator of tensors. Every other ufunc, and each
// method of one, is a function of pullback (python/pullback/_numpy/array_ufunc.py).
#include "bind/types/ufunc.h"

#include <iterator>
#include <string>

#include "bind/common/error_text.h"
#include "bind/common/found_once.h"
#include "bind/common/tensor.h"

namespace pullback {
namespace {

struct Operator {
  const char* ufunc;
  binaryfunc PyNumberMethods::* number;  // null: a comparison, or power (a ternary slot)
  int comparison;                        // Python's code; -1: power
};
constexpr Operator kOperators[] = {
    {"add", &PyNumberMethods::nb_add, 0},
    {"subtract", &PyNumberMethods::nb_subtract, 0},
    {"multiply", &PyNumberMethods::nb_multiply, 0},
    {"true_divide", &PyNumberMethods::nb_true_divide, 0},
    {"floor_divide", &PyNumberMethods::nb_floor_divide, 0},
    {"remainder", &PyNumberMethods::nb_remainder, 0},
    {"divmod", &PyNumberMethods::nb_divmod, 0},
    {"matmul", &PyNumberMethods::nb_matrix_multiply, 0},
    {"bitwise_and", &PyNumberMethods::nb_and, 0},
    {"bitwise_or", &PyNumberMethods::nb_or, 0},
    {"bitwise_xor", &PyNumberMethods::nb_xor, 0},
    {"left_shift", &PyNumberMethods::nb_lshift, 0},
    {"right_shift", &PyNumberMethods::nb_rshift, 0},
    {"power", nullptr, -1},
    {"less", nullptr, Py_LT},
    {"less_equal", nullptr, Py_LE},
    {"equal", nullptr, Py_EQ},
    {"not_equal", nullptr, Py_NE},
    {"greater", nullptr, Py_GT},
    {"greater_equal", nullptr, Py_GE},
};

// The operator that NumPy implements by this ufunc; null if there is none.
const Operator* operator_of(PyObject* ufunc) {
  const py::handle places = found_once([]() -> py::object {
    const py::module_ numpy = py::module_::import("numpy");
    py::dict out;
    for (size_t i = 0; i < std::size(kOperators); ++i) out[numpy.attr(kOperators[i].ufunc)] = i;
    return out;
  });
  PyObject* place = PyDict_GetItemWithError(places.ptr(), ufunc);
  return place ? &kOperators[PyLong_AsSize_t(place)] : nullptr;
}

// Must not call the array's operator, which would call the ufunc again. `self` is the operand that
// may be of a subclass with its own operator.
PyObject* apply(const Operator& found, PyObject* self, PyObject* left, PyObject* right) {
  if (found.number) return (Py_TYPE(self)->tp_as_number->*found.number)(left, right);
  const PyTypeObject& type = *Py_TYPE(self);
  if (found.comparison < 0) return type.tp_as_number->nb_power(left, right, Py_None);
  if (type.tp_richcompare == tensor_type->tp_richcompare || self == left) {
    return type.tp_richcompare(left, right, found.comparison);
  }
  constexpr int kSwapped[] = {Py_GT, Py_GE, Py_EQ, Py_NE, Py_LT, Py_LE};  // by Py_LT ... Py_GE
  return type.tp_richcompare(right, left, kSwapped[found.comparison]);
}

PyObject* other(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  const py::handle answer = found_once([]() -> py::object {
    return py::module_::import("pullback._numpy.array_ufunc").attr("array_ufunc");
  });
  py::tuple inputs(static_cast<size_t>(count - 2));
  for (Py_ssize_t i = 2; i < count; ++i) {
    inputs[static_cast<size_t>(i - 2)] = py::reinterpret_borrow<py::object>(args[i]);
  }
  py::dict options;
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    options[PyTuple_GET_ITEM(names, i)] = py::handle(args[count + i]);
  }
  return py::object(
             answer(py::handle(self), py::handle(args[0]), py::handle(args[1]), inputs, options))
      .release()
      .ptr();
}

// For an operand that the operator of tensors does not accept. If its type does not implement the
// ufunc either, raises the error here: NumPy's names no public function and shows the values.
void check_overrides(const Operator& found, py::handle operand) {
  if (py::hasattr(py::type::of(operand), "__array_ufunc__")) return;
  fail(ErrorKind::Type, found.ufunc, ": expected array_like operands, got ", shown(operand));
}

}  // namespace

PyObject* array_ufunc_method(PyObject* self, PyObject* const* args, Py_ssize_t count,
                             PyObject* names) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (count < 2) fail(ErrorKind::Type, "__array_ufunc__: expected a ufunc and a method");
    const bool called =
        PyUnicode_Check(args[1]) && PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
    const Operator* found = called && count == 4 ? operator_of(args[0]) : nullptr;
    if (!found) return other(self, args, count, names);
    if (names && PyTuple_GET_SIZE(names)) {
      fail(ErrorKind::Type, found->ufunc, ": expected no option with a tensor, got ",
           std::string(py::str(PyTuple_GET_ITEM(names, 0))),
           "; leave it out and use the tensor that is returned (for an array x, x = x * y in place "
           "of x *= y)");
    }
    PyObject* result = apply(*found, self, args[2], args[3]);
    if (result == Py_NotImplemented) check_overrides(*found, args[2] == self ? args[3] : args[2]);
    return result;
  });
}

}  // namespace pullback
