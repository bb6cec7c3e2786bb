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
    constexpr const char* arguments[] = {"a: typing.Any", ", b: typing.Any", ", c: typing.Any"};
    signatures[i] = std::string(name) + "(";
    for (int k = 0; k < elementwise_arity(static_cast<Op>(i)); ++k) signatures[i] += arguments[k];
    signatures[i] += ") -> Tensor";
    definitions[i] = {name,
                      reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call_elementwise)),
                      METH_FASTCALL, signatures[i].c_str()};
    py::int_ self(i);
    m.add_object(name, py::reinterpret_steal<py::object>(PyCFunction_NewEx(
                           &definitions[i], self.ptr(), m.attr("__name__").ptr())));
  }
}

// Arrays to concatenate or stack: numbers and lists of them take the dtype of floating neighbours.
std::vector<NodeRef> parts_of(const std::vector<py::object>& values, const char* who) {
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
std::vector<NodeRef> operands(const std::vector<py::object>& values, const char* who) {
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

NodeRef constant(py::handle value, const py::object& dtype, const char* who) {
  if (!dtype.is_none()) return to_node_of(value.ptr(), dtype_from(dtype), who);
  NodeRef node = to_node(value.ptr(), who);
  return node->flags & kWeak ? resolve_weak(node, natural_dtype(node.get())) : node;
}

DType float_or_default(const py::object& dtype) {
  return dtype.is_none() ? default_float() : dtype_from(dtype);
}

}  // namespace

NodeRef own_view(const NodeRef& x, const NodeRef& result) {
  if (result.get() != x.get() || !x->tracked() || x->flags & kWeak) return result;
  Node* input = x.get();
  return make_node(Op::reshape, x->dtype, x->shape, {&input, 1});
}

const char* lasting(const std::string& text) {
  static auto* const all = new std::set<std::string>;
  return all->insert(text).first->c_str();
}

void bind_functions(py::module_& m) {
  bind_elementwise(m);
  const auto none = py::none();
  m.def("constant", &constant, py::arg("value"), py::arg("dtype") = none,
        py::arg("who") = "constant");
  m.def(
      "cast",
      [](py::handle x, DType dtype, bool copy) {
        const NodeRef result = to_node_of(x.ptr(), dtype, "cast");
        const NodeRef given = copy ? as_node(x.ptr()) : nullptr;
        return given ? own_view(given, result) : result;
      },
      py::arg("x"), py::arg("dtype"), py::arg("copy") = false);
  m.def("make_complex", &make_complex);
  const auto part = [&](const char* name, auto function) {
    m.def(name, [function, name](py::handle x) {
      const NodeRef z = to_node(x.ptr(), name);
      const bool number = z->flags & kWeak && !(z->flags & kTraced);
      return own_view(z, function(number ? resolve_weak(z, natural_dtype(z.get())) : z));
    });
  };
  part("real", &real_part);
  part("imag", &imaginary_part);
  part("conj", &conjugate);
  m.def("identity", &identity);
  m.def("stop_gradient", &stop_gradient);
  m.def("reshape",
        [](const NodeRef& x, const Shape& shape) { return own_view(x, reshape(x, shape)); });
  m.def(
      "transpose",
      [](const NodeRef& x, const AxisArgument& axes) {
        return own_view(x, transpose(x, axes.axes));
      },
      py::arg("x"), py::arg("axes") = none);
  m.def("broadcast_to",
        [](const NodeRef& x, const Shape& shape) { return own_view(x, broadcast_to(x, shape)); });
  m.def("expand_dims", [](const NodeRef& x, const AxisArgument& axis) {
    return own_view(x, expand_dims(x, axis.axes.value_or(std::vector<int64_t>{})));
  });
  m.def(
      "squeeze",
      [](const NodeRef& x, const AxisArgument& axis) { return own_view(x, squeeze(x, axis.axes)); },
      py::arg("x"), py::arg("axis") = none);
  m.def("operands", &operands, py::arg("values"), py::arg("who"));
  m.def("parts", &parts_of, py::arg("values"), py::arg("who"));
  m.def("concat", [](const std::vector<py::object>& parts, Integer axis) {
    const std::vector<NodeRef> given = parts_of(parts, "concat");
    const NodeRef joined = concat(given, axis);
    return given.size() == 1 ? own_view(given[0], joined) : joined;
  });
  m.def("stack", [](const std::vector<py::object>& parts, Integer axis) {
    return stack(parts_of(parts, "stack"), axis);
  });
  m.def("split", [](const NodeRef& x, const std::vector<Integer>& sizes, Integer axis) {
    return split(x, {sizes.begin(), sizes.end()}, axis);
  });

  const auto reduction = [&](const char* name, Op op) {
    m.def(
        name,
        [op](const NodeRef& x, const AxisArgument& axis, bool keepdims) {
          return own_view(x, reduce(op, x, axis.axes, keepdims));
        },
        py::arg("x"), py::arg("axis") = none, py::arg("keepdims") = false);
  };
  reduction("sum", Op::sum);
  reduction("max", Op::max);
  reduction("min", Op::min);
  reduction("all", Op::all);
  reduction("any", Op::any);
  const auto composite = [&](const char* name, auto function) {
    m.def(
        name,
        [function](const NodeRef& x, const AxisArgument& axis, bool keepdims) {
          return function(x, axis.axes, keepdims);
        },
        py::arg("x"), py::arg("axis") = none, py::arg("keepdims") = false);
  };
  composite("mean", &mean);
  composite("prod", &prod);
  composite("logsumexp", &logsumexp);
  const auto arg_reduction = [&](const char* name, Op op) {
    m.def(
        name,
        [op](const NodeRef& x, std::optional<Integer> axis, bool keepdims) {
          return arg_reduce(op, x, axis, keepdims);
        },
        py::arg("x"), py::arg("axis") = none, py::arg("keepdims") = false);
  };
  arg_reduction("argmax", Op::argmax);
  arg_reduction("argmin", Op::argmin);

  const auto scanning = [&](const char* name, Op op) {
    m.def(
        name,
        [op](const NodeRef& x, Integer axis, bool reversed) { return scan(op, x, axis, reversed); },
        py::arg("x"), py::arg("axis"), py::arg("reversed") = false);
  };
  scanning("cumulative_sum", Op::cumulative_sum);
  scanning("cumulative_prod", Op::cumulative_prod);
  scanning("cumulative_max", Op::cumulative_max);
  scanning("cumulative_min", Op::cumulative_min);
  m.def(
      "linear_recurrence",
      [](const NodeRef& factors, const NodeRef& x, Integer axis, bool reversed) {
        return linear_recurrence(factors, x, axis, reversed);
      },
      py::arg("factors"), py::arg("x"), py::arg("axis"), py::arg("reversed") = false);
  const auto sorting = [&](const char* name, Op op) {
    m.def(
        name,
        [op](const NodeRef& x, Integer axis, bool descending) {
          return sort(op, x, axis, descending);
        },
        py::arg("x"), py::arg("axis"), py::arg("descending") = false);
  };
  sorting("sort", Op::sort);
  sorting("argsort", Op::argsort);
  m.def("searchsorted", [](const NodeRef& sorted, const NodeRef& x, bool right) {
    return searchsorted(sorted, x, right);
  });

  m.def("matmul", [](const py::object& a, const py::object& b) {
    const auto [left, right] = to_operands(a.ptr(), b.ptr(), "matmul");
    return matmul(left, right);
  });
  m.def(
      "take",
      [](const NodeRef& x, const NodeRef& indices, Integer axis, bool checked) {
        NodeRef out = take(x, indices, axis);
        const int64_t along = out->attr.axis;
        if (!checked) check_positions(indices, along, x->shape[along], "take");
        return out;
      },
      py::arg("x"), py::arg("indices"), py::arg("axis"), py::arg("checked") = false);
  m.def("check_positions",
        [](const NodeRef& indices, Integer axis, Integer length, const std::string& who) {
          check_positions(indices, axis, length, who.c_str());
        });
  m.def("scatter_add", [](const NodeRef& x, const NodeRef& indices, Integer axis, Integer length) {
    return scatter_add(x, indices, axis, length);
  });
  m.def("sum_duplicates", &sum_duplicates);
  m.def("pick", &pick);
  m.def("place", [](const NodeRef& x, const NodeRef& indices, Integer length) {
    return place(x, indices, length);
  });
  m.def(
      "softmax", [](const NodeRef& x, Integer axis) { return softmax(x, axis); }, py::arg("x"),
      py::arg("axis") = -1);
  m.def(
      "log_softmax", [](const NodeRef& x, Integer axis) { return log_softmax(x, axis); },
      py::arg("x"), py::arg("axis") = -1);
  m.def("softmax_cross_entropy", &softmax_cross_entropy);
  m.def("sparse_softmax_cross_entropy", &sparse_softmax_cross_entropy);
  m.def(
      "one_hot",
      [](const NodeRef& indices, Integer depth, const py::object& dtype, Integer axis) {
        return one_hot(indices, depth, float_or_default(dtype), axis);
      },
      py::arg("indices"), py::arg("depth"), py::arg("dtype") = none, py::arg("axis") = -1);

  m.def(
      "full",
      [](const Shape& shape, py::handle value, const py::object& dtype) {
        return full(shape, constant(value, dtype, "full"));
      },
      py::arg("shape"), py::arg("value"), py::arg("dtype") = none);
  m.def("arange", [](const NodeRef& start, Integer length, const NodeRef& step, DType dtype) {
    return arange(start, length, step, dtype);
  });
  m.def("eye", [](Integer rows, Integer columns, Integer diagonal, const py::object& dtype) {
    return eye(rows, columns, diagonal, float_or_default(dtype));
  });

  m.def("promote", [](DType a, DType b) { return promote(a, b); });
  m.def("dtype", [](DType dtype) { return dtype; });
  m.def("is_number_list", &is_number_list);
  m.def("neighbour_dtype",
        [](const std::vector<py::object>& values, const std::vector<NodeRef>& nodes) {
          std::vector<PyObject*> objects;
          for (const py::object& value : values) objects.push_back(value.ptr());
          return neighbour_dtype(objects.data(), nodes);
        });
  m.def("shown", &shown);
  m.def("is_tracked", [](const NodeRef& x) { return x->tracked(); });
}

}  // namespace pullback
