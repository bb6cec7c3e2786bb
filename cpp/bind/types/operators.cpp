// The operators that Tensor and Variable share, as slots of the number protocol.
#include "bind/arrays/convert.h"
#include "bind/arrays/escapes.h"
#include "bind/common/tensor.h"
#include "ops/elementwise.h"
#include "ops/expr.h"

namespace pullback {
namespace {

// left @ right if one of them is a sparse matrix of SciPy for which `matches` is true; else
// NotImplemented.
PyObject* sparse_or_not_implemented(PyObject* left, PyObject* right, bool (*matches)(PyObject*)) {
  if (matches(left) || matches(right)) return sparse_product(left, right).release().ptr();
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject* binary(Op op, PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) {
      if (op == Op::multiply) return sparse_or_not_implemented(left, right, is_sparse_matrix);
      Py_RETURN_NOTIMPLEMENTED;
    }
    const auto [a, b] = to_operands(left, right, name_of(op), is_comparison(op));
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
    const NodeRef x = to_node(self, name_of(op));
    return wrap(elementwise(op, pointers({&x, 1})));
  });
}

// & | ^ are logical if both operands are bool, else bitwise.
template <Op logical, Op bitwise>
PyObject* bits_slot(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
    const auto [a, b] = to_operands(left, right, name_of(bitwise));
    const bool boolean = a->dtype == DType::Bool && b->dtype == DType::Bool;
    Node* inputs[] = {a.get(), b.get()};
    return wrap(elementwise(boolean ? logical : bitwise, inputs));
  });
}

PyObject* invert_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] {
    const NodeRef x = to_node(self, name_of(Op::bitwise_invert));
    return wrap(elementwise(x->dtype == DType::Bool ? Op::logical_not : Op::bitwise_invert,
                            pointers({&x, 1})));
  });
}

PyObject* divmod_slot(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) Py_RETURN_NOTIMPLEMENTED;
    const auto [a, b] = to_operands(left, right, "divmod");
    Node* inputs[] = {a.get(), b.get()};
    const auto quotient =
        py::reinterpret_steal<py::object>(wrap(elementwise(Op::floor_divide, inputs)));
    const auto rest = py::reinterpret_steal<py::object>(wrap(elementwise(Op::remainder, inputs)));
    return py::make_tuple(quotient, rest).release().ptr();
  });
}

PyObject* power_slot(PyObject* left, PyObject* right, PyObject* modulus) {
  if (modulus != Py_None) Py_RETURN_NOTIMPLEMENTED;
  return binary(Op::pow, left, right);
}

PyObject* matmul_slot(PyObject* left, PyObject* right) {
  return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
    if (!is_operand(left) || !is_operand(right)) {
      return sparse_or_not_implemented(left, right, is_sparse);
    }
    const auto [a, b] = to_operands(left, right, "matmul");
    return wrap(matmul(a, b));
  });
}

PyObject* positive_slot(PyObject* self) {
  return guarded<PyObject*>(nullptr, [&] { return wrap(identity(to_node(self, "positive"))); });
}

// True for an array of another library, such as PyTorch or JAX, whose elements are not compared.
bool is_foreign_array(PyObject* object) {
  return !is_operand(object) &&
         PyObject_HasAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__dlpack__");
}

PyObject* compare_slot(PyObject* left, PyObject* right, int operation) {
  constexpr Op ops[] = {Op::less,      Op::less_equal, Op::equal,
                        Op::not_equal, Op::greater,    Op::greater_equal};
  const Op op = ops[operation];
  // Python would compare the identities if both operands returned NotImplemented.
  if ((op == Op::equal || op == Op::not_equal) && is_foreign_array(right)) {
    if (const richcmpfunc compare = Py_TYPE(right)->tp_richcompare) {
      PyObject* const answer = compare(right, left, operation);
      if (answer != Py_NotImplemented) return answer;
      Py_DECREF(answer);
    }
    return guarded<PyObject*>(nullptr, [&]() -> PyObject* {
      fail(ErrorKind::Type, name_of(op), ": expected tensors, arrays of NumPy or numbers, got ",
           Py_TYPE(right)->tp_name, "; convert it by pb.asarray");
    });
  }
  return binary(op, left, right);
}

}  // namespace

std::vector<PyType_Slot> operator_slots() {
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
      {Py_nb_divmod, slot(divmod_slot)},
      {Py_nb_and, slot(bits_slot<Op::logical_and, Op::bitwise_and>)},
      {Py_nb_or, slot(bits_slot<Op::logical_or, Op::bitwise_or>)},
      {Py_nb_xor, slot(bits_slot<Op::logical_xor, Op::bitwise_xor>)},
      {Py_nb_lshift, slot(binary_slot<Op::bitwise_left_shift>)},
      {Py_nb_rshift, slot(binary_slot<Op::bitwise_right_shift>)},
      {Py_nb_invert, slot(invert_slot)},
      {Py_tp_richcompare, slot(compare_slot)},
  };
}

}  // namespace pullback
