// The operations as Python functions. The package provides public names and docstrings
// (pullback/_numpy).

#include "bind/operations/functions.h"

#include <set>
#include <span>
#include <vector>

#include "bind/arrays/convert.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "ops/elementwise.h"

namespace pullback {
namespace {

// One C function for every row of elementwise.def; `self` is the number of the op.
PyObject* call_elementwise(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded<PyObject*>(nullptr, [&] {
    const auto op = static_cast<Op>(PyLong_AsLong(self));
    const char* name = name_of(op);
    if (count != elementwise_arity(op)) {
      fail(ErrorKind::Type, name, ": expected ", elementwise_arity(op), " arguments, got ",
           static_cast<int64_t>(count));
    }
    NodeRef held[3];
    Node* inputs[3];
    to_operands(args, count, name, held, is_comparison(op));
    for (Py_ssize_t i = 0; i < count; ++i) inputs[i] = held[i].get();
    return wrap(elementwise(op, {inputs, static_cast<size_t>(count)}));
  });
}

void bind_elementwise(py::module_& m) {
  static std::vector<PyMethodDef> definitions(kOps);
  static std::vector<std::string> signatures(kOps);  // for the stub
  for (int i = 0; i < static_cast<int>(Op::cast); ++i) {
    const char* name = name_of(static_cast<Op>(i));
    signatures[i] = std::string(name) + "(";
    for (int k = 0; k < elementwise_arity(static_cast<Op>(i)); ++k) {
      signatures[i].append(1, "abc"[k]).append(": pullback._typing.TensorLike, ");
    }
    signatures[i] += "/) -> Tensor";
    definitions[i] = {name,
                      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_elementwise)),
                      METH_FASTCALL, signatures[i].c_str()};
    py::int_ self(i);
    m.add_object(name, py::reinterpret_steal<py::object>(PyCFunction_NewEx(
                           &definitions[i], self.ptr(), m.attr("__name__").ptr())));
  }
}

// Arrays to concatenate or stack: numbers and lists of them take the dtype of floating neighbours.
std::vector<NodeRef> parts_of(const std::vector<ArrayArgument>& values, const char* who) {
  std::vector<PyObject*> objects;
  for (const py::object& value : values) objects.push_back(value.ptr());
  std::vector<NodeRef> out(objects.size());
  to_operands(objects.data(), objects.size(), who, out.data());
  const DType neighbour = neighbour_dtype(objects.data(), out);
  for (NodeRef& node : out) {
    if (!(node->flags & kWeak)) continue;
    node = resolve_weak(node, is_inexact(neighbour) ? neighbour : natural_dtype(node.get()));
  }
  return out;
}

// Values that are compared or weighted with each other. A number takes the dtype of its neighbours
// if that can represent it. Only lists of floats change, to float64 beside float64: their values
// may be out of the range of a narrower dtype.
std::vector<NodeRef> operands(const std::vector<ArrayArgument>& values, const char* who) {
  std::vector<PyObject*> objects;
  std::vector<NodeRef> out;
  for (const py::object& value : values) {
    objects.push_back(value.ptr());
    out.push_back(to_node(value.ptr(), who));
  }
  const DType neighbour = neighbour_dtype(objects.data(), out);
  const bool wide = neighbour == DType::Float64 || neighbour == DType::Complex128;
  for (size_t i = 0; i < out.size(); ++i) {
    const DType natural = natural_dtype(out[i].get());
    if (out[i]->flags & kWeak) {
      const bool held = is_integer(neighbour) && is_integer(natural) && out[i]->op == Op::scalar &&
                        natural == DType::Int64 && fits(out[i]->scalar.i, neighbour);
      const bool adapts = is_inexact(neighbour) && !is_complex(natural);
      out[i] = resolve_weak(out[i], held || adapts ? neighbour : natural);
    } else if (wide && is_float(natural) && is_number_list(objects[i])) {
      out[i] = to_node_of(objects[i], DType::Float64, who);
    }
  }
  return out;
}

NodeRef constant(const ArrayArgument& value, const DTypeArgument& dtype, const char* who) {
  if (!dtype.is_none()) return to_node_of(value.ptr(), dtype_from(dtype), who);
  NodeRef node = to_node(value.ptr(), who);
  return node->flags & kWeak ? resolve_weak(node, natural_dtype(node.get())) : node;
}

DType float_or_default(const DTypeArgument& dtype) {
  return dtype.is_none() ? default_float() : dtype_from(dtype);
}

}  // namespace

NodeRef own_view(const NodeRef& x, const NodeRef& result) {
  if (result.get() != x.get() || !x->tracked() || x->flags & kWeak) return result;
  return make_node(Op::reshape, x->dtype, x->shape, pointers({&x, 1}));
}

const char* lasting(const std::string& text) {
  static auto* const all = new std::set<std::string>;
  return all->insert(text).first->c_str();
}

void bind_functions(py::module_& m) {
  bind_elementwise(m);
  const auto none = py::none();
  m.def("constant", &constant, py::arg("value"), py::arg("dtype") = none,
        py::arg("who") = "constant", "Make a tensor of a value.");
  m.def(
      "share",
      [](const Typed<"numpy.typing.NDArray[numpy.generic]", py::array>& array,
         const std::string& who) { return node_over_array(array, who.c_str()); },
      py::arg("array"), py::arg("who"),
      "Make a tensor over the memory of an array, which has to keep its values.");
  m.def(
      "cast",
      [](const ArrayArgument& x, DType dtype, bool copy) {
        const NodeRef result = to_node_of(x.ptr(), dtype, "cast");
        const NodeRef given = copy ? as_node(x.ptr()) : nullptr;
        return given ? own_view(given, result) : result;
      },
      py::arg("x"), py::arg("dtype"), py::arg("copy") = false,
      "Convert to a dtype; with `copy`, the result is never `x` itself.");
  m.def("make_complex", &make_complex, py::arg("real"), py::arg("imag"),
        "Combine a real and an imaginary part.");
  const auto part = [&](const char* name, auto function, const char* doc) {
    m.def(
        name,
        [function, name](const ArrayArgument& x) {
          const NodeRef z = to_node(x.ptr(), name);
          const bool number = z->flags & kWeak && !(z->flags & kTraced);
          return own_view(z, function(number ? resolve_weak(z, natural_dtype(z.get())) : z));
        },
        py::arg("x"), py::pos_only(), doc);
  };
  part("real", &real_part, "Return the real part.");
  part("imag", &imaginary_part, "Return the imaginary part.");
  part("conj", &conjugate, "Compute the complex conjugate.");
  m.def("identity", &identity, py::arg("x"), py::pos_only(),
        "Return a new tensor with the value and the gradient of `x`.");
  m.def("stop_gradient", &stop_gradient, py::arg("x"), py::pos_only(),
        "Return `x` without its gradient.");
  m.def(
      "reshape",
      [](const NodeRef& x, const Shape& shape) { return own_view(x, reshape(x, shape)); },
      py::arg("x"), py::pos_only(), py::arg("shape"), "Change the shape; one size may be -1.");
  m.def(
      "transpose",
      [](const NodeRef& x, const AxisArgument& axes) {
        return own_view(x, transpose(x, axes.axes));
      },
      py::arg("x"), py::pos_only(), py::arg("axes") = none,
      "Permute the axes; None reverses them.");
  m.def(
      "broadcast_to",
      [](const NodeRef& x, const Shape& shape) { return own_view(x, broadcast_to(x, shape)); },
      py::arg("x"), py::pos_only(), py::arg("shape"), "Broadcast to a shape.");
  m.def(
      "expand_dims",
      [](const NodeRef& x, const AxisArgument& axis) {
        return own_view(x, expand_dims(x, axis.axes.value_or(std::vector<int64_t>{})));
      },
      py::arg("x"), py::pos_only(), py::arg("axis"),
      "Insert axes of size 1 at positions of the result.");
  m.def(
      "squeeze",
      [](const NodeRef& x, const AxisArgument& axis) { return own_view(x, squeeze(x, axis.axes)); },
      py::arg("x"), py::pos_only(), py::arg("axis") = none,
      "Remove axes of size 1; None removes all of them.");
  m.def("operands", &operands, py::arg("values"), py::arg("who"),
        "Convert values that are compared or weighted with each other.");
  m.def("parts", &parts_of, py::arg("values"), py::arg("who"),
        "Convert arrays to concatenate or stack.");
  m.def(
      "concat",
      [](const std::vector<ArrayArgument>& arrays, Integer axis) {
        const std::vector<NodeRef> given = parts_of(arrays, "concat");
        const NodeRef joined = concat(given, axis);
        return given.size() == 1 ? own_view(given[0], joined) : joined;
      },
      py::arg("arrays"), py::pos_only(), py::arg("axis"), "Join arrays along an axis.");
  m.def(
      "stack",
      [](const std::vector<ArrayArgument>& arrays, Integer axis) {
        return stack(parts_of(arrays, "stack"), axis);
      },
      py::arg("arrays"), py::pos_only(), py::arg("axis"), "Join arrays along a new axis.");
  m.def(
      "split",
      [](const NodeRef& x, const std::vector<Integer>& sizes, Integer axis) {
        return split(x, {sizes.begin(), sizes.end()}, axis);
      },
      py::arg("x"), py::pos_only(), py::arg("sizes"), py::arg("axis"),
      "Split along an axis into parts of these sizes.");

  const auto reduction = [&](const char* name, Op op, const char* doc) {
    m.def(
        name,
        [op](const NodeRef& x, const AxisArgument& axis, bool keepdims) {
          return own_view(x, reduce(op, x, axis.axes, keepdims));
        },
        py::arg("x"), py::pos_only(), py::arg("axis") = none, py::arg("keepdims") = false, doc);
  };
  reduction("sum", Op::sum, "Compute the sum along axes.");
  reduction("max", Op::max, "Compute the maximum along axes.");
  reduction("min", Op::min, "Compute the minimum along axes.");
  reduction("all", Op::all, "Test whether all elements along axes are true.");
  reduction("any", Op::any, "Test whether any element along axes is true.");
  const auto composite = [&](const char* name, auto function, const char* doc) {
    m.def(
        name,
        [function](const NodeRef& x, const AxisArgument& axis, bool keepdims) {
          return function(x, axis.axes, keepdims);
        },
        py::arg("x"), py::pos_only(), py::arg("axis") = none, py::arg("keepdims") = false, doc);
  };
  composite("mean", &mean, "Compute the mean along axes.");
  composite("prod", &prod, "Compute the product along axes.");
  composite("logsumexp", &logsumexp, "Compute the logarithm of the sum of exponentials.");
  const auto arg_reduction = [&](const char* name, Op op, const char* doc) {
    m.def(
        name,
        [op](const NodeRef& x, std::optional<Integer> axis, bool keepdims) {
          return arg_reduce(op, x, axis, keepdims);
        },
        py::arg("x"), py::pos_only(), py::arg("axis") = none, py::arg("keepdims") = false, doc);
  };
  arg_reduction("argmax", Op::argmax, "Return the index of the maximum along an axis.");
  arg_reduction("argmin", Op::argmin, "Return the index of the minimum along an axis.");

  const auto scanning = [&](const char* name, Op op, const char* doc) {
    m.def(
        name,
        [op](const NodeRef& x, Integer axis, bool reversed) { return scan(op, x, axis, reversed); },
        py::arg("x"), py::pos_only(), py::arg("axis"), py::arg("reversed") = false, doc);
  };
  scanning("cumulative_sum", Op::cumulative_sum, "Compute the cumulative sum along an axis.");
  scanning("cumulative_prod", Op::cumulative_prod, "Compute the cumulative product along an axis.");
  scanning("cumulative_max", Op::cumulative_max, "Compute the cumulative maximum along an axis.");
  scanning("cumulative_min", Op::cumulative_min, "Compute the cumulative minimum along an axis.");
  m.def(
      "linear_recurrence",
      [](const NodeRef& factors, const NodeRef& x, Integer axis, bool reversed) {
        return linear_recurrence(factors, x, axis, reversed);
      },
      py::arg("factors"), py::arg("x"), py::arg("axis"), py::arg("reversed") = false,
      "Compute y[i] = factors[i] * y[i - 1] + x[i] along an axis.");
  const auto sorting = [&](const char* name, Op op, const char* doc) {
    m.def(
        name,
        [op](const NodeRef& x, Integer axis, bool descending) {
          return sort(op, x, axis, descending);
        },
        py::arg("x"), py::pos_only(), py::arg("axis"), py::arg("descending") = false, doc);
  };
  sorting("sort", Op::sort, "Sort the elements along an axis.");
  sorting("argsort", Op::argsort, "Return the indices that sort the elements along an axis.");
  m.def(
      "searchsorted",
      [](const NodeRef& sorted, const NodeRef& x, bool right) {
        return searchsorted(sorted, x, right);
      },
      py::arg("a"), py::arg("v"), py::arg("right"),
      "Find the indices at which `v` keeps the vector `a` sorted.");

  m.def(
      "matmul",
      [](const ArrayArgument& a, const ArrayArgument& b) {
        const auto [left, right] = to_operands(a.ptr(), b.ptr(), "matmul");
        return matmul(left, right);
      },
      py::arg("a"), py::arg("b"), "Compute the matrix product.");
  m.def(
      "take",
      [](const NodeRef& x, const NodeRef& indices, Integer axis, bool checked) {
        NodeRef out = take(x, indices, axis);
        const int64_t along = out->attr.axis;
        if (!checked) check_positions(indices, along, x->shape[along], "take");
        return out;
      },
      py::arg("x"), py::arg("indices"), py::arg("axis"), py::arg("checked") = false,
      "Take entries along an axis; `checked` indices are known to be in range.");
  m.def(
      "check_positions",
      [](const NodeRef& indices, Integer axis, Integer length, const std::string& who) {
        check_positions(indices, axis, length, who.c_str());
      },
      py::arg("indices"), py::arg("axis"), py::arg("size"), py::arg("who"),
      "Raise IndexError if an index is out of range for an axis of this size.");
  m.def(
      "scatter_add",
      [](const NodeRef& x, const NodeRef& indices, Integer axis, Integer length) {
        return scatter_add(x, indices, axis, length);
      },
      py::arg("x"), py::arg("indices"), py::arg("axis"), py::arg("size"),
      "Add the entries of `x` to zeros at indices of an axis of this size.");
  m.def("sum_duplicates", &sum_duplicates, py::arg("x"), py::arg("indices"),
        "Sum the rows of an index at its last occurrence; rows before it become zeros.");
  m.def("pick", &pick, py::arg("x"), py::arg("indices"),
        "Take one entry of each row along the last axis.");
  m.def(
      "place",
      [](const NodeRef& x, const NodeRef& indices, Integer length) {
        return place(x, indices, length);
      },
      py::arg("x"), py::arg("indices"), py::arg("size"),
      "Place the entries of `x` in rows of zeros, the inverse of `pick`.");
  m.def(
      "softmax", [](const NodeRef& x, Integer axis) { return softmax(x, axis); }, py::arg("x"),
      py::pos_only(), py::arg("axis") = -1, "Compute the softmax function along an axis.");
  m.def(
      "log_softmax", [](const NodeRef& x, Integer axis) { return log_softmax(x, axis); },
      py::arg("x"), py::pos_only(), py::arg("axis") = -1,
      "Compute the logarithm of the softmax function along an axis.");
  m.def("softmax_cross_entropy", &softmax_cross_entropy, py::arg("logits"), py::arg("labels"),
        "Compute the cross entropy of the softmax function with distributions.");
  m.def("sparse_softmax_cross_entropy", &sparse_softmax_cross_entropy, py::arg("logits"),
        py::arg("labels"), "Compute the cross entropy of the softmax function with class indices.");
  m.def(
      "one_hot",
      [](const NodeRef& indices, Integer depth, const DTypeArgument& dtype, Integer axis) {
        return one_hot(indices, depth, float_or_default(dtype), axis);
      },
      py::arg("indices"), py::pos_only(), py::arg("depth"), py::arg("dtype") = none,
      py::arg("axis") = -1, "Encode indices as vectors with a single one.");

  m.def(
      "full",
      [](const Shape& shape, const ArrayArgument& value, const DTypeArgument& dtype) {
        return full(shape, constant(value, dtype, "full"));
      },
      py::arg("shape"), py::arg("fill_value"), py::arg("dtype") = none,
      "Make a tensor with equal elements.");
  m.def(
      "arange",
      [](const NodeRef& start, Integer length, const NodeRef& step, DType dtype) {
        return arange(start, length, step, dtype);
      },
      py::arg("start"), py::arg("size"), py::arg("step"), py::arg("dtype"),
      "Make a vector of evenly spaced values.");
  m.def(
      "eye",
      [](Integer rows, Integer columns, Integer diagonal, const DTypeArgument& dtype) {
        return eye(rows, columns, diagonal, float_or_default(dtype));
      },
      py::arg("n_rows"), py::arg("n_cols"), py::pos_only(), py::arg("k"), py::arg("dtype"),
      "Make a matrix with ones on the k-th diagonal.");

  m.def(
      "promote", [](DType a, DType b) { return promote(a, b); }, py::arg("a"), py::arg("b"),
      "Return the dtype to which two dtypes promote.");
  m.def(
      "dtype", [](DType dtype) { return dtype; }, py::arg("dtype"),
      "Convert to a dtype that the package supports.");
  m.def(
      "is_number_list", [](const AnyObject& x) { return is_number_list(x); }, py::arg("x"),
      "Test for a list or tuple of Python numbers only.");
  m.def(
      "neighbour_dtype",
      [](const std::vector<ArrayArgument>& values, const std::vector<NodeRef>& nodes) {
        std::vector<PyObject*> objects;
        for (const py::object& value : values) objects.push_back(value.ptr());
        return neighbour_dtype(objects.data(), nodes);
      },
      py::arg("values"), py::arg("tensors"),
      "Return the promoted dtype of the values that have a dtype; `tensors` are their "
      "conversions.");
  m.def(
      "shown", [](const AnyObject& x) { return shown(x); }, py::arg("x"),
      "Describe an object for messages, without evaluating it.");
  m.def(
      "is_tracked", [](const NodeRef& x) { return x->tracked(); }, py::arg("x"),
      "Test whether a tensor keeps its history.");
}

}  // namespace pullback
