// pybind11 casters: shapes, integers and axes as arguments.
#include "bind/arrays/convert.h"

namespace pybind11::detail {

namespace {
int64_t index_of(handle entry, const char* what) {
  PyObject* number = PyNumber_Index(entry.ptr());
  if (!number) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw error_already_set();
    PyErr_Clear();
    pullback::fail(pullback::ErrorKind::Type, pullback::running_function(), what, ", got ",
                   pullback::shown(entry));
  }
  const long long value = PyLong_AsLongLong(number);
  Py_DECREF(number);
  if (value == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    pullback::fail(pullback::ErrorKind::Overflow, pullback::running_function(),
                   "expected an int64, got ", std::string(pybind11::repr(entry)));
  }
  return value;
}
}  // namespace

bool type_caster<pullback::Shape>::load(handle src, bool) {
  value = {};
  if (PyIndex_Check(src.ptr())) {
    if (PyObject* number = PyNumber_Index(src.ptr())) {
      value.append(index_of(reinterpret_steal<object>(number), "expected integers for shape"));
      return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw error_already_set();
    PyErr_Clear();  // an array of rank 1 with the dimensions
  }
  if (!PySequence_Check(src.ptr()) || PyUnicode_Check(src.ptr())) {
    pullback::fail(pullback::ErrorKind::Type, pullback::running_function(),
                   "expected an integer or a tuple of integers for shape, got ",
                   pullback::shown(src));
  }
  for (handle entry : src) {
    value.append(index_of(entry, "expected integers for shape"));
  }
  return true;
}

bool type_caster<pullback::Integer>::load(handle src, bool) {
  value.value = index_of(src, "expected an integer");
  return true;
}

bool type_caster<pullback::AxisArgument>::load(handle src, bool) {
  value = {};
  if (src.is_none()) return true;
  value.axes.emplace();
  if (PyTuple_Check(src.ptr()) || PyList_Check(src.ptr())) {
    for (handle entry : src) value.axes->push_back(index_of(entry, "expected integers for axis"));
  } else {
    value.axes->push_back(index_of(src, "expected an integer or a tuple of integers for axis"));
  }
  return true;
}

}  // namespace pybind11::detail
