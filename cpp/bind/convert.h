// Between Python values and the core: arrays, dtypes, shapes, axes; and the pybind11 casters that
// use them, so that functions.cpp reads like the core's own signatures.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "base/dtype.h"
#include "base/error.h"
#include "base/shape.h"
#include "bind/tensor.h"
#include "graph/node.h"
#include "ops/ops.h"

namespace pullback {

namespace py = pybind11;

// A snapshot of an array, list or NumPy scalar as a node; `wish` null keeps the natural dtype.
Ref<Node> node_from_array(py::handle object, const DType* wish, const char* who);
// to_node() cast to a dtype, without a detour of Python numbers through another one.
Ref<Node> to_node_of(PyObject* object, DType wish, const char* who);
// Whether an object is a list or tuple that holds Python numbers only.
bool is_number_list(py::handle object);
// A read-only array over the node's buffer; evaluates first.
py::array array_from_node(const Ref<Node>& node);
// One element as a Python number; evaluates first.
py::object item_of(const Ref<Node>& node);

// Anything NumPy takes as a dtype; raises TypeError naming the five supported ones.
DType dtype_from(py::handle object);
py::object dtype_object(DType dtype);
py::tuple shape_tuple(const Shape& shape);

}  // namespace pullback

namespace pybind11::detail {

template <>
struct type_caster<pullback::Ref<pullback::Node>> {
  PYBIND11_TYPE_CASTER(pullback::Ref<pullback::Node>, io_name("typing.Any", "Tensor"));
  bool load(handle src, bool) {
    value = pullback::to_node(src.ptr(), nullptr);
    // Only elementwise operations, which do not come here, let a traced number adapt itself.
    if ((value->flags & pullback::kWeak) && value->op != pullback::Op::scalar) {
      value = pullback::settle_weak(value, pullback::natural_dtype(value.get()));
    }
    return true;
  }
  static handle cast(const pullback::Ref<pullback::Node>& node, return_value_policy, handle) {
    return node ? handle(pullback::wrap(node)) : none().release();
  }
};

template <>
struct type_caster<pullback::Shape> {
  PYBIND11_TYPE_CASTER(pullback::Shape,
                       io_name("int | collections.abc.Sequence[int]", "tuple[int, ...]"));
  bool load(handle src, bool);
  static handle cast(const pullback::Shape& shape, return_value_policy, handle) {
    return pullback::shape_tuple(shape).release();
  }
};

template <>
struct type_caster<pullback::DType> {
  PYBIND11_TYPE_CASTER(pullback::DType, io_name("typing.Any", "numpy.dtype"));
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

// axis = None | int | sequence of ints.
struct AxisArgument {
  Axes axes;
};

}  // namespace pullback

namespace pybind11::detail {

template <>
struct type_caster<pullback::AxisArgument> {
  PYBIND11_TYPE_CASTER(pullback::AxisArgument,
                       const_name("int | collections.abc.Sequence[int] | None"));
  bool load(handle src, bool);
  static handle cast(const pullback::AxisArgument&, return_value_policy, handle) {
    return none().release();
  }
};

}  // namespace pybind11::detail
