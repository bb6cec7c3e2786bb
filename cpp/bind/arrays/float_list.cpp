// Fast conversion of nested Python lists of floats to a constant; returns null for anything else,
// which convert.cpp then handles. Two passes: the shape by the first entry of each level, then the
// numbers. No Python code runs meanwhile.

#include "bind/arrays/float_list.h"

#include <algorithm>

#include "base/shape.h"
#include "graph/make.h"
#include "ops/ops.h"

namespace pullback {
namespace {

bool is_level(PyObject* object) { return PyList_CheckExact(object) || PyTuple_CheckExact(object); }

// Returns false if it is not a list of floats, or nested deeper than the highest rank.
bool find_shape(PyObject* object, Shape* shape) {
  while (is_level(object)) {
    const Py_ssize_t length = PySequence_Fast_GET_SIZE(object);
    if (length == 0 || shape->rank == kMaxRank) return false;
    shape->append(length);
    object = PySequence_Fast_GET_ITEM(object, 0);
  }
  return PyFloat_CheckExact(object);
}

template <class T>
bool fill(PyObject* level, const Shape& shape, int64_t axis, T** out) {
  if (!is_level(level) || PySequence_Fast_GET_SIZE(level) != shape[axis]) return false;
  PyObject** entries = PySequence_Fast_ITEMS(level);
  if (axis + 1 < shape.rank) {
    return std::all_of(entries, entries + shape[axis],
                       [&](PyObject* one) { return fill(one, shape, axis + 1, out); });
  }
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (!PyFloat_CheckExact(entries[i])) return false;
    *(*out)++ = static_cast<T>(PyFloat_AS_DOUBLE(entries[i]));
  }
  return true;
}

template <class T>
bool fill_all(PyObject* object, const Shape& shape, void* data) {
  auto* out = static_cast<T*>(data);
  return fill(object, shape, 0, &out);
}

}  // namespace

NodeRef node_from_float_list(PyObject* object, const DType* requested, const char* who) {
  const DType dtype = requested ? *requested : default_float();
  Shape shape;
  if (!is_level(object) || (dtype != DType::Float32 && dtype != DType::Float64) ||
      !find_shape(object, &shape))
    return nullptr;
  check_shape(shape, who ? who : "constant");
  Ref<Buffer> buffer = make_buffer(shape.size() * size_of(dtype));
  const auto filled = dtype == DType::Float32 ? fill_all<float> : fill_all<double>;
  return filled(object, shape, buffer->host()) ? make_value(dtype, shape, std::move(buffer))
                                               : nullptr;
}

}  // namespace pullback
