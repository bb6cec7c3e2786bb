// Conversions between Python values and the core: arrays, dtypes, shapes, axes; and pybind11
// casters for them, so that functions.cpp reads like the core's signatures.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <array>
#include <span>
#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"
#include "bind/common/error_text.h"
#include "bind/common/tensor.h"
#include "bind/common/typed.h"
#include "graph/node.h"
#include "ops/ops.h"

namespace pullback {

namespace py = pybind11;

// A node with a copy of an array, list or NumPy scalar; `requested` null: keeps the natural dtype.
NodeRef node_from_array(py::handle object, const DType* requested, const char* who);
// A node whose value is the memory of an array, without a copy; raises ValueError if its dtype or
// layout does not permit that.
NodeRef node_over_array(const py::array& array, const char* who);
// A Python complex number as a complex128 of rank 0.
NodeRef node_from_complex(PyObject* number);
// to_node() cast to a dtype; Python numbers are converted directly.
NodeRef to_node_of(PyObject* object, DType requested, const char* who);
// True for a list or tuple of Python numbers only.
bool is_number_list(py::handle object);
// The operands of an elementwise operation. A list of Python numbers beside a floating array takes
// its dtype, as a number does. In comparisons, Python integers may have any size.
void to_operands(PyObject* const* objects, size_t count, const char* who, NodeRef* out,
                 bool compared = false);
inline std::array<NodeRef, 2> to_operands(PyObject* left, PyObject* right, const char* who,
                                          bool compared = false) {
  PyObject* const objects[] = {left, right};
  std::array<NodeRef, 2> out;
  to_operands(objects, 2, who, out.data(), compared);
  return out;
}
// The promoted dtype of the operands that have a dtype: neither numbers nor lists of numbers.
DType neighbour_dtype(PyObject* const* objects, std::span<const NodeRef> nodes);
// A read-only array that shares the node's buffer; evaluates first.
py::array array_from_node(NodeRef node);
// The single element as a Python number; evaluates first.
py::object item_of(NodeRef node);

// Converts anything that NumPy accepts as a dtype. Raises TypeError with the supported dtypes, and
// `who` for calls without a function of the package around them.
DType dtype_from(py::handle object, const char* who = "");
py::object dtype_object(DType dtype);
py::tuple shape_tuple(const Shape& shape);
}  // namespace pullback

namespace pybind11::detail {

template <>
struct type_caster<pullback::NodeRef> {
  PYBIND11_TYPE_CASTER(pullback::NodeRef, io_name("pullback._typing.TensorLike", "Tensor"));
  bool load(handle src, bool) {
    try {
      value = pullback::to_node(src.ptr(), nullptr);
    } catch (const pullback::Error& error) {
      pullback::fail(error.kind(), pullback::running_function(), error.what());
    }
    // Elementwise operations, which resolve weak scalars themselves, do not use this caster.
    if (value->op != pullback::Op::scalar) value = pullback::resolve_weak(value);
    return true;
  }
  static handle cast(const pullback::NodeRef& node, return_value_policy, handle) {
    return node ? handle(pullback::wrap(node)) : none().release();
  }
};

template <>
struct type_caster<pullback::Shape> {
  PYBIND11_TYPE_CASTER(pullback::Shape, io_name("pullback._typing.Shape", "tuple[int, ...]"));
  bool load(handle src, bool);
  static handle cast(const pullback::Shape& shape, return_value_policy, handle) {
    return pullback::shape_tuple(shape).release();
  }
};

template <>
struct type_caster<pullback::DType> {
  PYBIND11_TYPE_CASTER(pullback::DType,
                       io_name("numpy.typing.DTypeLike", "numpy.dtype[typing.Any]"));
  bool load(handle src, bool) {
    value = pullback::dtype_from(src);
    return true;
  }
  static handle cast(pullback::DType dtype, return_value_policy, handle) {
    return pullback::dtype_object(dtype).release();
  }
};

}  // namespace pybind11::detail

namespace pullback {

// An argument of any type with __index__.
struct Integer {
  int64_t value = 0;
  operator int64_t() const { return value; }
};

// axis = None, an int or a sequence of ints.
struct AxisArgument {
  Axes axes;
};

// Arguments that a function converts itself.
using ArrayArgument = Typed<"pullback._typing.TensorLike">;
using DTypeArgument = Typed<"pullback._typing.DType">;  // None: the default

}  // namespace pullback

namespace pybind11::detail {

template <>
struct type_caster<pullback::Integer> {
  PYBIND11_TYPE_CASTER(pullback::Integer, io_name("typing.SupportsIndex", "int"));
  bool load(handle src, bool);
  static handle cast(pullback::Integer number, return_value_policy, handle) {
    return PyLong_FromLongLong(number.value);
  }
};

template <>
struct type_caster<pullback::AxisArgument> {
  PYBIND11_TYPE_CASTER(pullback::AxisArgument, const_name("pullback._typing.Axis"));
  bool load(handle src, bool);
  static handle cast(const pullback::AxisArgument&, return_value_policy, handle) {
    return none().release();
  }
};

}  // namespace pybind11::detail
