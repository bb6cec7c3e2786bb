// Conversions between Python values and nodes: numbers, lists and arrays.

#include "bind/arrays/convert.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bind/arrays/float_list.h"
#include "bind/arrays/numpy.h"
#include "eval/evaluate.h"
#include "graph/make.h"
#include "runtime/downloads.h"

namespace pullback {
namespace {

// Does not import numpy.ma, which takes longer than our own first call. If it is not imported, no
// masked array exists.
bool is_masked(py::handle object) {
  const py::object& modules = numpy().loaded_modules;
  return modules.contains("numpy.ma") &&
         py::isinstance(object, modules["numpy.ma"].attr("MaskedArray"));
}

// True if the first leaf of nested lists is a NumPy value, whose dtype is then used.
bool numpy_leaf(py::handle object) {
  py::object leaf = py::reinterpret_borrow<py::object>(object);
  while (PyList_Check(leaf.ptr()) || PyTuple_Check(leaf.ptr())) {
    if (py::len(leaf) == 0) return false;
    leaf = leaf[py::int_(0)];
  }
  return !PyFloat_CheckExact(leaf.ptr()) && py::hasattr(leaf, "dtype");
}

// Fails for lists nested deeper than the highest rank, such as lists that contain themselves.
bool contains_tensor(py::handle object, const char* who, int64_t levels = kMaxRank) {
  if (is_tensor(object.ptr()) || is_variable(object.ptr())) return true;
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) return false;
  if (levels == 0) {
    fail(ErrorKind::Value, who ? std::string(who) + ": " : std::string(),
         "expected lists nested at most ", int64_t{kMaxRank},
         " levels deep, got more, or a list that contains itself");
  }
  bool found = false;  // checks all entries: one after a tensor may contain itself
  for (py::handle entry : object) found |= contains_tensor(entry, who, levels - 1);
  return found;
}

// Writes the elements of an array of another dtype to `out`, converted as by Op::cast: floats to
// integers saturate, integers wrap.
void convert_array(const py::array& array, DType from, DType to, const Shape& shape, void* out) {
  if (is_complex(from) || is_complex(to)) {  // NumPy converts complex numbers as we do
    const Ref<Buffer> target = make_buffer(shape.size() * size_of(to));
    const py::object converted = py::object(array).attr("astype")(dtype_handle(to));
    numpy().copyto(array_over(target.get(), to, shape), converted);
    std::memcpy(out, target->host(), static_cast<size_t>(shape.size() * size_of(to)));
    return;
  }
  const Ref<Buffer> natural = make_buffer(shape.size() * size_of(from));
  numpy().copyto(array_over(natural.get(), from, shape), array);
  const auto* in = static_cast<const char*>(natural->host());
  for (int64_t i = 0; i < shape.size(); ++i) {
    const Scalar scalar = load_scalar(from, in + i * size_of(from));
    store_scalar(to, convert_scalar(scalar, from, to), static_cast<char*>(out) + i * size_of(to));
  }
}

[[noreturn]] void refuse_imaginary_part(const char* who, DType from, DType to) {
  fail(ErrorKind::Type, who, ": ", from, " to ", to,
       " would lose the imaginary part; take real(x), or abs(x)");
}

[[noreturn]] void integer_too_large(const std::string& name, const std::string& number,
                                    DType dtype) {
  fail(ErrorKind::Overflow, name, "the Python integer ", number, " does not fit in ", dtype);
}

// NumPy converts Python integers that int64 cannot represent to unsigned numbers or objects.
py::array array_of_large_integers(const py::array& array, py::handle object, const DType* requested,
                                  const std::string& name) {
  bool floats = requested && is_float(*requested);
  const py::object entries = numpy().asarray(object, "object").attr("flat");
  for (py::handle entry : entries) {
    if (!PyLong_Check(entry.ptr()) && !PyFloat_Check(entry.ptr())) return array;
    floats |= PyFloat_Check(entry.ptr()) != 0;
  }
  if (floats) return py::array(numpy().asarray(object, dtype_handle(DType::Float64)));
  if (array.dtype().kind() == 'u' && (!requested || *requested == DType::UInt64)) return array;
  for (py::handle entry : entries.attr("base").attr("flat")) {
    int overflow = 0;
    PyLong_AsLongLongAndOverflow(entry.ptr(), &overflow);
    if (overflow) integer_too_large(name, py::str(entry), DType::Int64);
  }
  return array;
}

void check_integers_fit(const py::array& array, DType dtype, const std::string& name) {
  if (!is_integer(dtype) || dtype == DType::Int64 || array.size() == 0) return;
  for (const char* extreme : {"min", "max"}) {
    const py::object number = array.attr(extreme)();
    const auto value = py::cast<int64_t>(number);
    if (!fits(value, dtype)) integer_too_large(name, py::str(number), dtype);
  }
}

NodeRef stack_list(py::handle object, const char* who) {
  std::vector<NodeRef> parts;
  for (py::handle entry : object) parts.push_back(to_node(entry.ptr(), who));
  // Numbers beside tensors take the dtype of the tensors, as in arithmetic.
  const auto weak = [](const NodeRef& part) { return (part->flags & kWeak) != 0; };
  const auto strong = std::find_if_not(parts.begin(), parts.end(), weak);
  if (strong == parts.end()) {  // only numbers, some of them weak arguments of a trace
    const auto complex = [](const NodeRef& part) { return is_complex(part->dtype); };
    const bool wide = std::any_of(parts.begin(), parts.end(), complex);
    for (NodeRef& part : parts)
      part = resolve_weak(part, wide ? DType::Complex128 : DType::Float64);
    NodeRef node = stack(parts, 0);
    node->flags |= kWeak;
    return node;
  }
  const DType dtype = (*strong)->dtype;
  for (NodeRef& part : parts) {
    if (weak(part)) part = resolve_weak(part, promote(dtype, natural_dtype(part.get())));
  }
  return stack(parts, 0);
}

}  // namespace

py::tuple shape_tuple(const Shape& shape) {
  py::tuple out(static_cast<size_t>(shape.rank));
  for (int64_t i = 0; i < shape.rank; ++i) {
    PyTuple_SET_ITEM(out.ptr(), i, PyLong_FromLongLong(shape[i]));
  }
  return out;
}

NodeRef node_from_complex(PyObject* number) {
  Ref<Buffer> buffer = make_buffer(size_of(DType::Complex128));
  const Py_complex value = PyComplex_AsCComplex(number);
  std::memcpy(buffer->host(), &value, sizeof value);
  return make_value(DType::Complex128, {}, std::move(buffer));
}

// A NumPy scalar of one of our dtypes; null for other objects.
NodeRef node_from_numpy_scalar(py::handle object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()));
  for (int i = 0; i < kDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (is_complex(dtype)) continue;
    if (!numpy().scalar_types[i] || numpy().scalar_types[i].ptr() != type) continue;
    Scalar scalar;
    if (is_float(dtype)) {
      scalar.f = PyFloat_AsDouble(object.ptr());
    } else {
      scalar.i = dtype == DType::Bool ? PyObject_IsTrue(object.ptr())
                 : dtype == DType::UInt64
                     ? static_cast<int64_t>(
                           py::cast<uint64_t>(py::int_(py::reinterpret_borrow<py::object>(object))))
                     : py::cast<int64_t>(object);
    }
    return as_value(make_scalar(dtype, scalar));
  }
  return nullptr;
}

// An array of one of our dtypes; null for other arrays, which NumPy converts first.
NodeRef node_from_plain_array(py::handle object, const char* who) {
  if (Py_TYPE(object.ptr()) != array_type) return nullptr;
  const auto array = py::reinterpret_borrow<py::array>(object);
  const py::dtype dtype = array.dtype();
  DType own;
  if (!dtype_of_array(dtype, &own) || size_of(own) != dtype.itemsize() ||
      (dtype.byteorder() != '=' && dtype.byteorder() != '|')) {
    return nullptr;
  }
  Shape shape;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
  check_shape(shape, who);
  Ref<Buffer> buffer = make_buffer(array.nbytes());
  if (array.flags() & py::array::c_style) {
    std::memcpy(buffer->host(), array.data(), array.nbytes());
  } else {
    const py::array target = array_over(buffer.get(), own, shape);
    if (py::detail::npy_api::get().PyArray_CopyInto_(target.ptr(), object.ptr()) < 0) {
      throw py::error_already_set();
    }
  }
  return make_value(own, shape, std::move(buffer));
}

NodeRef node_from_array(py::handle object, const DType* requested, const char* who) {
  if (!requested) {
    if (NodeRef node = node_from_plain_array(object, who ? who : "constant")) return node;
    if (NodeRef node = node_from_numpy_scalar(object)) return node;
  }
  if (NodeRef node = node_from_float_list(object.ptr(), requested, who)) return node;
  const std::string name = who ? std::string(who) + ": " : std::string();
  const bool list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  if (list && contains_tensor(object, who)) {
    NodeRef node = stack_list(object, who);
    return requested ? cast(node, *requested) : node;
  }
  if (!list && is_masked(object)) {
    fail(ErrorKind::Type, name,
         "expected an array without a mask, got a masked array; use its filled()");
  }
  py::array array;
  try {
    array = py::array(numpy().asarray(object));
  } catch (py::error_already_set& error) {
    if (error.matches(PyExc_ValueError) && list) {
      fail(ErrorKind::Value, name,
           "expected nested lists of one length at each level, got ragged lists");
    }
    throw;
  }
  const bool python_numbers = list && !numpy_leaf(object);
  const char kind = array.dtype().kind();
  if (python_numbers && (kind == 'O' || (kind == 'u' && array.itemsize() == 8))) {
    array = array_of_large_integers(array, object, requested, name);
  }
  DType dtype;
  if (!dtype_of_array(array.dtype(), &dtype)) {
    const std::string got = list || py::isinstance<py::array>(object)
                                ? "an array of dtype " + std::string(py::str(array.dtype()))
                                : with_article(py::str(py::type::of(object).attr("__name__")));
    fail(ErrorKind::Type, name, "expected numbers, got ", got);
  }
  const DType natural = dtype;
  if (python_numbers && dtype == DType::Float64) dtype = default_float();
  if (python_numbers && dtype == DType::Complex128 && default_float() != DType::Float64) {
    dtype = DType::Complex64;
  }
  if (requested && is_complex(natural) && !is_complex(*requested) && *requested != DType::Bool) {
    refuse_imaginary_part(who ? who : "constant", natural, *requested);
  }
  if (requested) dtype = *requested;
  if (python_numbers && natural == DType::Int64) check_integers_fit(array, dtype, name);
  Shape shape;
  for (py::ssize_t i = 0; i < array.ndim(); ++i) shape.append(array.shape(i));
  check_shape(shape, who ? who : "constant");
  // A snapshot: later changes of the array have no effect.
  Ref<Buffer> buffer = make_buffer(shape.size() * size_of(dtype));
  if (dtype == natural) {
    numpy().copyto(array_over(buffer.get(), dtype, shape), array);
  } else {
    convert_array(array, natural, dtype, shape, buffer->host());
  }
  return make_value(dtype, shape, std::move(buffer));
}

NodeRef to_node_of(PyObject* object, DType requested, const char* who) {
  if (PyList_Check(object) || PyTuple_Check(object))
    return node_from_array(object, &requested, who);
  if (PyLong_CheckExact(object) && requested != DType::Bool) {
    if (is_inexact(requested)) {
      if (is_complex(requested))
        return cast(to_node_of(object, traits(requested).compute, who), requested);
      int overflow = 0;
      Scalar exact;
      exact.i = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (!overflow) return make_scalar(requested, convert_scalar(exact, DType::Int64, requested));
      const double value = PyLong_AsDouble(object);
      if (value == -1.0 && PyErr_Occurred()) throw py::error_already_set();
      return cast(weak_scalar(value), requested);
    }
    // As for a weak scalar beside a tensor: a value that does not fit is an error.
    return resolve_weak(to_node(object, who), requested);
  }
  const NodeRef node = to_node(object, who);
  if (who && is_complex(node->dtype) && !is_complex(requested) && requested != DType::Bool) {
    refuse_imaginary_part(who, node->dtype, requested);
  }
  return cast(node, requested);
}

bool is_number_list(py::handle object) {
  const bool list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  return list && !contains_tensor(object, nullptr) && !numpy_leaf(object);
}

DType neighbour_dtype(PyObject* const* objects, std::span<const NodeRef> nodes) {
  DType out = DType::Bool;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i]->flags & kWeak || is_number_list(objects[i])) continue;
    out = promote(out, nodes[i]->dtype);
  }
  return out;
}

// An operand of a comparison; an integer outside of every dtype becomes a float beyond all
// integers.
NodeRef to_compared(PyObject* object, const char* who) {
  try {
    return to_node(object, who);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::Overflow || !PyLong_CheckExact(object)) throw;
  }
  const double value = PyLong_AsDouble(object);
  if (PyErr_Occurred()) throw py::error_already_set();
  // The integer is below every int64 but may have been rounded to -2^63, which an int64 can equal.
  return weak_scalar(value == -0x1p63 ? std::nextafter(value, -HUGE_VAL) : value);
}

void to_operands(PyObject* const* objects, size_t count, const char* who, NodeRef* out,
                 bool compared) {
  bool lists = false;
  for (size_t i = 0; i < count; ++i) {
    out[i] = compared ? to_compared(objects[i], who) : to_node(objects[i], who);
    lists |= PyList_Check(objects[i]) || PyTuple_Check(objects[i]);
  }
  if (!lists) return;
  const DType neighbour = neighbour_dtype(objects, {out, count});
  if (!is_inexact(neighbour)) return;
  for (size_t i = 0; i < count; ++i) {
    if (out[i]->dtype != DType::Bool && is_number_list(objects[i])) {
      out[i] = to_node_of(objects[i], neighbour, who);
    }
  }
}

namespace {

Ref<Buffer> wait_and_read_back(const Node* node) {
  return node->value ? wait_and_copy_to(kHost, node->value) : buffer_of_scalar(node);
}

}  // namespace

py::array array_from_node(NodeRef node) {  // by value: the reference of a variable changes
  evaluate(node.get());
  const Ref<Buffer> value = wait_and_read_back(node.get());
  value->exported = true;
  auto* holder = new Ref<Buffer>(value);
  py::capsule owner(holder, [](void* p) { delete static_cast<Ref<Buffer>*>(p); });
  const std::vector<py::ssize_t> shape(node->shape.begin(), node->shape.end());
  py::array out(numpy_dtype(node->dtype), shape, value->host(), owner);
  // The graph shares the buffer: writing to it would change other tensors.
  py::detail::array_proxy(out.ptr())->flags &= ~py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  return out;
}

namespace {

// The entry of a computed tensor. No reference to a buffer of the host: float(x) takes 30 ns.
Scalar entry_of(const Node* node) {
  const Buffer& value = *node->value;
  if (value.device.is_host()) return load_scalar(node->dtype, value.host());
  return load_scalar(node->dtype, wait_and_copy_to(kHost, node->value)->host());
}

}  // namespace

py::object item_of(NodeRef node) {
  evaluate(node.get());
  if (is_complex(node->dtype)) {
    const Ref<Buffer> value = wait_and_read_back(node.get());
    double re, im;
    if (node->dtype == DType::Complex128) {
      re = static_cast<const double*>(value->host())[0];
      im = static_cast<const double*>(value->host())[1];
    } else {
      re = static_cast<const float*>(value->host())[0];
      im = static_cast<const float*>(value->host())[1];
    }
    return py::reinterpret_steal<py::object>(PyComplex_FromDoubles(re, im));
  }
  Scalar scalar = node->scalar;
  if (node->op != Op::scalar) {
    scalar = entry_of(node.get());
  } else if (node->dtype == DType::Float32) {
    scalar.f = static_cast<float>(scalar.f);
  }
  if (is_float(node->dtype)) return py::float_(scalar.f);
  if (node->dtype == DType::Bool) return py::bool_(scalar.i != 0);
  if (node->dtype == DType::UInt64) return py::int_(static_cast<uint64_t>(scalar.i));
  return py::int_(scalar.i);
}

}  // namespace pullback
