// Classifies types as pytrees. The exact types of common containers are tested first; the kind of
// another type, its fields and the functions that were registered for it are looked up once.
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "bind/arrays/tree.h"
#include "bind/common/error_text.h"
#include "bind/common/found_once.h"
#include "bind/common/tensor.h"

namespace pullback {
namespace {

// The weak reference shows whether an address still belongs to that type.
struct TypeEntry {
  py::object type;
  PytreeKind kind = PytreeKind::Leaf;
  std::optional<FieldNames> names;
  // Of a class that was registered; null for one that has methods for it, which refer to the class.
  py::object flatten, unflatten;
};
constexpr const char* kFlatten = "tree_flatten";
constexpr const char* kUnflatten = "tree_unflatten";

std::unordered_map<PyTypeObject*, TypeEntry>& type_entries() {
  static auto* entries = new std::unordered_map<PyTypeObject*, TypeEntry>;
  return *entries;
}

PyObject* as_object(PyTypeObject* type) { return reinterpret_cast<PyObject*>(type); }

bool has(PyTypeObject* type, const char* name) {
  return PyObject_HasAttrString(as_object(type), name) != 0;
}

FieldNames read_fields(py::handle fields) {
  py::list entries, statics;
  for (py::handle field : fields) {
    const bool is_static = py::bool_(field.attr("metadata").attr("get")("static", false));
    (is_static ? statics : entries).append(field.attr("name"));
  }
  return {py::tuple(entries), py::tuple(statics)};
}

TypeEntry entry_for(PyTypeObject* type) {
  const py::handle object(as_object(type));
  TypeEntry entry{py::reinterpret_steal<py::object>(PyWeakref_NewRef(object.ptr(), nullptr))};
  if (!entry.type) throw py::error_already_set();
  if (has(type, kFlatten) && has(type, kUnflatten)) {
    entry.kind = PytreeKind::Registered;
  } else if (PyType_IsSubtype(type, &PyTuple_Type)) {
    entry.kind = has(type, "_fields") ? PytreeKind::NamedTuple : PytreeKind::Sequence;
  } else if (PyType_IsSubtype(type, &PyList_Type)) {
    entry.kind = PytreeKind::Sequence;
  } else if (PyType_IsSubtype(type, &PyDict_Type)) {
    const py::handle ordered = found_once(
        []() -> py::object { return py::module_::import("collections").attr("OrderedDict"); });
    entry.kind = object.is(ordered) ? PytreeKind::OrderedDict : PytreeKind::Mapping;
  } else if (has(type, "__dataclass_fields__")) {
    entry.kind = PytreeKind::Fields;
    entry.names = read_fields(py::module_::import("dataclasses").attr("fields")(object));
  } else if (has(type, "__attrs_attrs__")) {
    entry.kind = PytreeKind::Fields;
    entry.names = read_fields(object.attr("__attrs_attrs__"));
  }
  return entry;
}

const TypeEntry& type_entry(PyTypeObject* type) {
  auto& entries = type_entries();
  const auto found = entries.find(type);
  if (found != entries.end() && PyWeakref_GetObject(found->second.type.ptr()) == as_object(type)) {
    return found->second;
  }
  TypeEntry entry = entry_for(type);
  return entries[type] = std::move(entry);
}

bool is_always_leaf(const PyTypeObject* type) {
  return type == tensor_type || type == &PyFloat_Type || type == &PyLong_Type ||
         type == &PyUnicode_Type || type == &PyBool_Type || type == variable_type ||
         type == array_type;
}

bool is_number_of_numpy(PyTypeObject* type) {
  const py::handle generic =
      found_once([]() -> py::object { return py::module_::import("numpy").attr("generic"); });
  return !(type->tp_flags & Py_TPFLAGS_HEAPTYPE) &&
         PyType_IsSubtype(type, reinterpret_cast<PyTypeObject*>(generic.ptr()));
}

// True for a type whose objects are always leaves, or containers with their own kind.
bool has_fixed_kind(PyTypeObject* type) {
  return is_always_leaf(type) || type == &PyComplex_Type || type == &PyTuple_Type ||
         type == &PyList_Type || type == &PyDict_Type || type == Py_TYPE(Py_None) ||
         is_number_of_numpy(type);
}

py::object function_of(PyTypeObject* type, const py::object& registered, const char* method) {
  return registered ? registered : py::handle(as_object(type)).attr(method);
}

bool strings_in_order(PyObject* keys) {
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(keys); ++i) {
    if (!PyUnicode_CheckExact(PyList_GET_ITEM(keys, i))) return false;
    if (i && PyUnicode_Compare(PyList_GET_ITEM(keys, i - 1), PyList_GET_ITEM(keys, i)) > 0) {
      return false;
    }
  }
  return true;
}

}  // namespace

PytreeKind pytree_kind(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  if (is_always_leaf(type)) return PytreeKind::Leaf;
  if (object == Py_None) return PytreeKind::None;
  if (type == &PyTuple_Type) return PytreeKind::Tuple;
  if (type == &PyList_Type) return PytreeKind::List;
  if (type == &PyDict_Type) return PytreeKind::Dict;
  return type_entry(type).kind;
}

FieldNames field_names(PyTypeObject* type) { return *type_entry(type).names; }

py::tuple attribute_values(PyObject* object, const py::tuple& names) {
  py::tuple out(names.size());
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.ptr()); ++i) {
    PyObject* value = PyObject_GetAttr(object, PyTuple_GET_ITEM(names.ptr(), i));
    if (!value) throw py::error_already_set();
    PyTuple_SET_ITEM(out.ptr(), i, value);
  }
  return out;
}

Children children_of(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const py::object flatten = function_of(type, type_entry(type).flatten, kFlatten);
  const py::object pair = flatten(py::handle(object));
  const bool is_pair = (PyTuple_Check(pair.ptr()) || PyList_Check(pair.ptr())) &&
                       PySequence_Fast_GET_SIZE(pair.ptr()) == 2;
  const py::object first =
      is_pair ? py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(pair.ptr(), 0))
              : py::object();
  if (!is_pair || PyUnicode_Check(first.ptr()) || !py::isinstance<py::iterable>(first)) {
    fail(ErrorKind::Type, "tree.flatten: expected a pair (children, extra) from the flattening of ",
         Py_TYPE(object)->tp_name, ", got ", shown(pair));
  }
  return {py::tuple(first),
          py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(pair.ptr(), 1))};
}

py::object object_of_children(PyTypeObject* type, const Children& children) {
  const TypeEntry& entry = type_entry(type);
  if (entry.kind != PytreeKind::Registered) {
    fail(ErrorKind::Type, package_function(), ": expected a registered class, got ", type->tp_name,
         "; register it by tree.register");
  }
  const py::object unflatten = function_of(type, entry.unflatten, kUnflatten);
  return unflatten(children.extra, children.entries);
}

bool register_pytree(py::handle type, py::handle flatten, py::handle unflatten) {
  auto* own = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (has_fixed_kind(own)) return false;
  TypeEntry entry = type_entry(own);  // structures of its objects may need the names of fields
  entry.kind = PytreeKind::Registered;
  entry.flatten = py::reinterpret_borrow<py::object>(flatten);
  entry.unflatten = py::reinterpret_borrow<py::object>(unflatten);
  type_entries()[own] = std::move(entry);
  return true;
}

DictKeys keys_of(PyObject* dict, PytreeKind kind) {
  const auto keys = py::reinterpret_steal<py::list>(PyDict_Keys(dict));
  if (!keys) throw py::error_already_set();
  if (kind == PytreeKind::OrderedDict || strings_in_order(keys.ptr())) return {keys, keys};
  const auto sorted = py::reinterpret_steal<py::list>(PySequence_List(keys.ptr()));
  if (PyList_Sort(sorted.ptr()) == 0) return {keys, sorted};
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
  PyErr_Clear();  // keys that cannot be ordered keep their order
  return {keys, keys};
}

}  // namespace pullback
