// Writes the words of a signature in one pass over the pytree of arguments. Static values
// contribute type and hash, and are compared by == if these agree. Objects that equal only
// themselves are referenced weakly, so that a decorated method keeps no instance alive.
#include "bind/arrays/signature.h"

#include <algorithm>
#include <cstring>

#include "base/hash.h"
#include "bind/arrays/convert.h"
#include "bind/common/found_once.h"
#include "graph/make.h"

namespace pullback {
namespace {

// The kind of the entry that follows, in the low byte of a word.
enum Word : uint64_t {
  kOpen = 1,
  kTensor,
  kFloat,
  kVariable,
  kStatic,
  kStaticFloat,
  kStaticTuple,
  kComplex
};

py::handle numpy_scalar() {
  return found_once([]() -> py::object { return py::module_::import("numpy").attr("generic"); });
}

bool is_array(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (type == &PyLong_Type || type == &PyUnicode_Type || type == &PyBool_Type ||
      object == Py_None) {
    return false;
  }
  if (PyType_IsSubtype(type, array_type)) return true;
  return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(numpy_scalar().ptr()));
}

}  // namespace

bool is_traced_leaf(PyObject* object) {
  return is_tensor(object) || PyFloat_Check(object) || PyComplex_Check(object) || is_array(object);
}

void Signature::open(PytreeKind kind, PyObject* object, Py_ssize_t count) {
  words.push_back(kOpen | static_cast<uint64_t>(kind) << 8 | static_cast<uint64_t>(count) << 16);
  if (kind >= PytreeKind::Sequence) words.push_back(reinterpret_cast<uintptr_t>(Py_TYPE(object)));
}

void Signature::leaf(PyObject* object) {
  if (Py_TYPE(object) == array_type) {
    tensor(node_from_array(object, nullptr, "function"));
  } else if (is_tensor(object)) {
    tensor(as_node(object));
  } else if (PyFloat_CheckExact(object)) {
    // A float is traced in float64, and still takes the dtype of its neighbours.
    Scalar scalar;
    scalar.f = PyFloat_AS_DOUBLE(object);
    words.push_back(kFloat);
    tensors.push_back(make_scalar(DType::Float64, scalar));
  } else if (PyComplex_CheckExact(object)) {
    words.push_back(kComplex);
    tensors.push_back(node_from_complex(object));
  } else if (is_variable(object)) {
    words.push_back(kVariable);
    words.push_back(variable_of(object)->id);
  } else if (PyFloat_Check(object) || PyComplex_Check(object) || is_array(object)) {
    tensor(to_node(object, "function"));
  } else {
    fixed(object);
  }
}

void Signature::tensor(NodeRef node) {
  if (node->flags & kWeak) node = resolve_weak(node, natural_dtype(node.get()));
  words.push_back(kTensor | static_cast<uint64_t>(node->dtype) << 8 |
                  static_cast<uint64_t>(node->shape.rank) << 16 |
                  (several_devices ? static_cast<uint64_t>(device_of(node.get()).id) << 32 : 0));
  for (int64_t i = 0; i < node->shape.rank; ++i) words.push_back(node->shape[i]);
  tensors.push_back(std::move(node));
}

void Signature::fixed(PyObject* object) {
  if (PyFloat_CheckExact(object)) {
    // By bits: -0.0 differs from 0.0, and a NaN equals itself.
    uint64_t bits;
    const double value = PyFloat_AS_DOUBLE(object);
    std::memcpy(&bits, &value, sizeof bits);
    words.push_back(kStaticFloat);
    words.push_back(bits);
  } else if (PyTuple_CheckExact(object)) {
    // (1,) and (True,) are equal but must not share a trace, so the types of entries are compared
    // too.
    const RecursionGuard guard;
    words.push_back(kStaticTuple | static_cast<uint64_t>(PyTuple_GET_SIZE(object)) << 8);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) fixed(PyTuple_GET_ITEM(object, i));
  } else if (is_tensor(object)) {
    throw Unhashable{py::reinterpret_borrow<py::object>(object)};
  } else {
    words.push_back(kStatic);
    words.push_back(reinterpret_cast<uintptr_t>(Py_TYPE(object)));
    hashed(object);
  }
}

void Signature::hashed(PyObject* object) {
  const Py_hash_t hash = PyObject_Hash(object);
  if (hash == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    throw Unhashable{py::reinterpret_borrow<py::object>(object)};
  }
  words.push_back(static_cast<uint64_t>(hash));
  values.push_back(py::reinterpret_borrow<py::object>(object));
}

uint64_t Signature::hash() const {
  return hash_bytes(words.data(), words.size() * sizeof(uint64_t));
}

namespace {

bool equals_only_itself(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type->tp_richcompare == PyBaseObject_Type.tp_richcompare &&
         type->tp_hash == PyBaseObject_Type.tp_hash && PyType_SUPPORTS_WEAKREFS(type);
}

}  // namespace

SignatureKey::SignatureKey(const Signature& signature, py::handle died)
    : words(signature.words.begin(), signature.words.end()),
      values(signature.values.begin(), signature.values.end()) {
  for (py::object& value : values) {
    if (!equals_only_itself(value.ptr())) continue;
    auto reference = py::reinterpret_steal<py::object>(PyWeakref_NewRef(value.ptr(), died.ptr()));
    if (!reference) throw py::error_already_set();
    value = std::move(reference);
  }
}

bool SignatureKey::holds(PyObject* reference) const {
  return std::any_of(values.begin(), values.end(),
                     [&](const py::object& value) { return value.ptr() == reference; });
}

py::object SignatureKey::reference_to(PyObject* object) const {
  if (!equals_only_itself(object)) return {};
  for (const py::object& value : values) {
    if (PyWeakref_CheckRef(value.ptr()) && PyWeakref_GetObject(value.ptr()) == object) return value;
  }
  return {};
}

bool SignatureKey::matches(const Signature& signature, bool by_identity) const {
  if (words.size() != signature.words.size() || values.size() != signature.values.size() ||
      std::memcmp(words.data(), signature.words.data(), words.size() * sizeof(uint64_t)) != 0) {
    return false;
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].is(signature.values[i])) continue;
    if (PyWeakref_CheckRef(values[i].ptr())) {
      if (PyWeakref_GetObject(values[i].ptr()) == signature.values[i].ptr()) continue;
      return false;
    }
    if (by_identity) return false;
    const int same = PyObject_RichCompareBool(values[i].ptr(), signature.values[i].ptr(), Py_EQ);
    if (same < 0) throw py::error_already_set();
    if (!same) return false;
  }
  return true;
}

}  // namespace pullback
