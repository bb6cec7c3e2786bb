// Basic indexing: integers, slices, None and Ellipsis become one strided view and a reshape. Keys
// with arrays, tensors or bools are passed to pullback/_numpy/indexing.py, which converts them to
// basic keys and positions along one axis.

#include "bind/types/indexing.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/counted.h"
#include "bind/arrays/convert.h"
#include "bind/types/assignable.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "ops/expr.h"

namespace pullback {
namespace {

bool is_basic_entry(PyObject* entry) {
  if (PyLong_CheckExact(entry) || PySlice_Check(entry) || entry == Py_None ||
      entry == Py_Ellipsis) {
    return true;
  }
  return PyIndex_Check(entry) && !PyBool_Check(entry) && !is_tensor(entry) && !is_variable(entry) &&
         !py::isinstance<py::array>(entry);
}

}  // namespace

bool is_basic(PyObject* key) {
  if (!PyTuple_Check(key)) return is_basic_entry(key);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) {
    if (!is_basic_entry(PyTuple_GET_ITEM(key, i))) return false;
  }
  return true;
}

namespace {

// A function or class of pullback/_numpy/indexing.py, which imports this module; so it is looked up
// at first use.
py::object from_package(const char* name) {
  PYBIND11_CONSTINIT static py::gil_safe_call_once_and_store<py::object> storage;
  const py::object& module =
      storage
          .call_once_and_store_result(
              [] { return py::object(py::module_::import("pullback._numpy.indexing")); })
          .get_stored();
  return module.attr(name);
}

// A basic key resolved for a shape: the strided view, its shape, and the shape after axes were
// dropped and added.
struct Indexing {
  StridedSlice slice{0};
  Shape slice_shape;
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
        if (ellipsis) {
          fail(ErrorKind::Index, "index: expected at most one Ellipsis, got more than one");
        }
        ellipsis = true;
      } else if (!entry.is_none()) {
        ++consumed;
      }
    }
    if (consumed > shape.rank) {
      fail(ErrorKind::Index, "index: expected at most ", shape.rank, " indices for shape ", shape,
           ", got ", consumed);
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
    slice.start.append(start);
    slice.step.append(step);
    slice_shape.append(length);
  }

  void add_result(int64_t length) {
    if (result.rank == kMaxRank) {
      fail(ErrorKind::Index, "index: expected a result with at most ", kMaxRank, " axes, got more");
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
    PyObject* number = PyNumber_Index(entry.ptr());
    if (!number) throw py::error_already_set();
    int64_t at = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (at == -1 && PyErr_Occurred()) {
      PyErr_Clear();
      at = INT64_MAX;
    }
    const int64_t length = shape[axis];
    if (at < -length || at >= length) {
      fail(ErrorKind::Index, "index: index ", at, " is out of range for axis ", axis, " of size ",
           length, " (shape ", shape, ")");
    }
    add(at < 0 ? at + length : at, 1, 1);
  }
};

NodeRef get_basic(const NodeRef& x, PyObject* key) {
  const Indexing index(x->shape, key);
  NodeRef out = x;
  bool whole = index.slice_shape == x->shape;
  for (int64_t d = 0; whole && d < x->shape.rank; ++d) whole = index.slice.step[d] == 1;
  out = whole ? identity(x) : slice(x, index.slice_shape, index.slice);
  return reshape(out, index.result, "index");
}

// --- x.at[key]: new tensors with some entries changed

Update update_from(const std::string& name) {
  constexpr const char* names[] = {"set", "add", "multiply", "min", "max"};
  for (int i = 0; i < 5; ++i) {
    if (name == names[i]) return static_cast<Update>(i);
  }
  fail(ErrorKind::Value, "at[]: expected set, add, multiply, min or max, got ", name);
}

// Combines x and the value elementwise, as the update does for single entries.
NodeRef combine(const NodeRef& x, const NodeRef& value, Update update) {
  using namespace formula;
  const bool boolean = x->dtype == DType::Bool;
  switch (update) {
    case Update::Set:
      return value;
    case Update::Add:
      return boolean ? logical_or(x, value) : Expr(x) + Expr(value);
    case Update::Multiply:
      return boolean ? logical_and(x, value) : Expr(x) * Expr(value);
    case Update::Min:
      return boolean ? logical_and(x, value) : minimum(x, value);
    default:
      return boolean ? logical_or(x, value) : maximum(x, value);
  }
}

// Casts the value to the dtype of x. Its kind must not be lowered: bool < integer < float <
// complex.
NodeRef update_value(const NodeRef& x, py::handle value, const char* who) {
  const bool list = is_number_list(value);
  const NodeRef node = list ? node_from_array(value, nullptr, who) : to_node(value.ptr(), who);
  const auto kind = [](DType dtype) {
    if (is_complex(dtype)) return 3;
    return is_float(dtype) ? 2 : dtype == DType::Bool ? 0 : 1;
  };
  if (kind(node->dtype) > kind(x->dtype)) {
    fail(ErrorKind::Type, who, ": expected a value that ", x->dtype, " can represent, got ",
         natural_dtype(node.get()), "; cast one of them");
  }
  if (list) return node_from_array(value, &x->dtype, who);
  return node->flags & kWeak ? resolve_weak(node, x->dtype) : cast(node, x->dtype);
}

// Broadcasts as NumPy assignments do: surplus leading axes of size 1 are dropped.
NodeRef fit(const NodeRef& value, const Shape& shape, const char* who) {
  Shape trimmed;
  for (int64_t i = 0; i < value->shape.rank; ++i) {
    const bool surplus = value->shape.rank - i > shape.rank && value->shape[i] == 1;
    if (!surplus || trimmed.rank) trimmed.append(value->shape[i]);
  }
  if (!broadcasts_to(trimmed, shape)) {
    fail(ErrorKind::Value, who, ": expected a value that broadcasts to the indexed shape ", shape,
         ", got shape ", value->shape);
  }
  return broadcast_to(reshape(value, trimmed), shape);
}

NodeRef update_basic(const NodeRef& x, PyObject* key, const NodeRef& value, Update update,
                     const char* who) {
  const Indexing index(x->shape, key);
  NodeRef part = reshape(fit(value, index.result, who), index.slice_shape);
  const bool add = update == Update::Add;
  if (!add && update != Update::Set) {
    part = combine(slice(x, index.slice_shape, index.slice), part, update);
  }
  return at_slice(x, part, index.slice, add ? update : Update::Set);
}

// Fast path for the most common other key: positions along the first axis. Null for other keys.
NodeRef positions_of(const NodeRef& x, PyObject* key) {
  if (x->shape.rank == 0) return nullptr;
  if (is_tensor(key)) {
    NodeRef node = as_node(key);
    if (!is_integer(node->dtype)) return nullptr;
    check_positions(node, 0, x->shape[0], "index");
    return node;
  }
  if (!py::isinstance<py::array>(key)) return nullptr;
  const auto dtype = py::reinterpret_borrow<py::array>(key).dtype();
  if (dtype.kind() != 'i' && dtype.kind() != 'u') return nullptr;
  const DType wide = DType::Int64;
  NodeRef node = node_from_array(key, &wide, "index");
  check_positions(node, 0, x->shape[0], "index");
  return node;
}

// Fast path for a mask of the first axes, whose value is read. Null for other keys.
NodeRef masked_entries(const NodeRef& x, PyObject* key) {
  NodeRef mask;
  if (is_tensor(key)) {
    mask = as_node(key);
  } else if (py::isinstance<py::array>(key) &&
             py::reinterpret_borrow<py::array>(key).dtype().kind() == 'b') {
    mask = node_from_array(key, nullptr, "index");
  }
  if (!mask || mask->dtype != DType::Bool || mask->flags & kTraced) return nullptr;
  const int64_t rank = mask->shape.rank;
  if (rank == 0 || rank > x->shape.rank) return nullptr;
  if (!std::equal(mask->shape.begin(), mask->shape.end(), x->shape.begin())) return nullptr;
  evaluate(mask.get());
  const Ref<Buffer> value = read_back(mask.get());
  const auto* flags = static_cast<const uint8_t*>(value->host());
  const int64_t size = mask->shape.size();
  const int64_t count = std::count_if(flags, flags + size, [](uint8_t flag) { return flag != 0; });
  Ref<Buffer> positions = make_buffer(count * size_of(DType::Int64));
  auto* out = static_cast<int64_t*>(positions->host());
  int64_t found = 0;
  for (int64_t i = 0; found < count; ++i) {
    out[found] = i;
    found += flags[i] != 0;
  }
  Shape merged{size};
  for (int64_t axis = rank; axis < x->shape.rank; ++axis) merged.append(x->shape[axis]);
  return take(reshape(x, merged), make_value(DType::Int64, {count}, std::move(positions)), 0);
}

}  // namespace

NodeRef get_item(const NodeRef& x, PyObject* key) {
  if (is_basic(key)) return get_basic(x, key);
  if (const NodeRef positions = positions_of(x, key)) return take(x, positions, 0);
  if (NodeRef entries = masked_entries(x, key)) return entries;
  return to_node(
      from_package("get")(py::reinterpret_steal<py::object>(wrap(x)), py::handle(key)).ptr(),
      "index");
}

NodeRef item_set(PyObject* object, PyObject* key, PyObject* value) {
  constexpr const char* kWho = "item assignment";
  const NodeRef x = to_node(object, kWho);
  if (!is_variable(object)) check_assignable(object, x.get());
  const py::object given = py::reinterpret_borrow<py::object>(value);
  NodeRef out;
  if (is_basic(key)) {
    out = update_basic(x, key, update_value(x, given, kWho), Update::Set, kWho);
  } else {
    const py::object old = py::reinterpret_steal<py::object>(wrap(x));
    out = to_node(from_package("assigned")(old, py::handle(key), given).ptr(), kWho);
  }
  if (!is_variable(object)) check_assigned(x.get(), out.get());
  return out;
}

PyObject* make_at(const NodeRef& x) {
  return from_package("At")(py::reinterpret_steal<py::object>(wrap(x))).release().ptr();
}

void bind_indexing(py::module_& m) {
  m.def(
      "is_basic_index", [](const AnyObject& key) { return is_basic(key.ptr()); }, py::arg("key"),
      "Test for an index of integers, slices, None and Ellipsis only.");
  m.def(
      "update_value",
      [](const NodeRef& x, const ArrayArgument& value, const std::string& who) {
        return update_value(x, value, who.c_str());
      },
      py::arg("x"), py::arg("value"), py::arg("who"),
      "Convert the value of an update of `x` to the dtype of `x`.");
  m.def(
      "fit",
      [](const NodeRef& value, const Shape& shape, const std::string& who) {
        return fit(value, shape, who.c_str());
      },
      py::arg("value"), py::arg("shape"), py::arg("who"),
      "Broadcast the value of an update to a shape.");
  m.def(
      "combine",
      [](const NodeRef& x, const NodeRef& value, const std::string& update) {
        return combine(x, value, update_from(update));
      },
      py::arg("x"), py::arg("value"), py::arg("update"),
      "Update every entry of `x`; `update` is 'set', 'add', 'multiply', 'min' or 'max'.");
  using Index = Typed<"pullback._typing.Index">;
  m.def(
      "update_basic",
      [](const NodeRef& x, const Index& key, const NodeRef& value, const std::string& update) {
        return update_basic(x, key.ptr(), value, update_from(update), ("at[]." + update).c_str());
      },
      py::arg("x"), py::arg("key"), py::arg("value"), py::arg("update"),
      "Update the entries at a basic index.");
  m.def(
      "at_index",
      [](const NodeRef& x, const NodeRef& value, const NodeRef& indices, Integer axis,
         const std::string& update,
         bool unique) { return at_index(x, value, indices, axis, update_from(update), unique); },
      py::arg("x"), py::arg("value"), py::arg("indices"), py::arg("axis"), py::arg("update"),
      py::arg("unique"),
      "Update the entries at indices of an axis; with `unique`, no index occurs twice.");
  m.def(
      "is_traced", [](const NodeRef& x) { return (x->flags & kTraced) != 0; }, py::arg("x"),
      "Test for a tensor of a function that is being traced, which has no value.");
}

}  // namespace pullback
