// Tree: pytrees of dict, list, tuple, namedtuple, dataclass, attrs class and registered class.
// None is an empty subtree; anything else is a leaf. Entries of a dict are taken in the order of
// its sorted keys, so that dicts which were filled in different orders match, and are rebuilt in
// their own order. Entries of an OrderedDict are taken in its order, those of a dataclass in the
// order of its fields. Start at visit_pytree() and Tree; tree_types.cpp classifies types.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace pullback {

namespace py = pybind11;

enum class PytreeKind : uint8_t {
  Leaf,
  None,  // the object None, without entries
  Tuple,
  List,
  Dict,
  OrderedDict,
  Sequence,  // another subclass of list or tuple, made from a list of its entries
  Mapping,   // another subclass of dict, made from a dict of its entries
  NamedTuple,
  Fields,      // a dataclass or a class of attrs
  Registered,  // a class with functions that flatten and rebuild it
};

// The kind of an object. A leaf is nearly always recognised by its type alone.
PytreeKind pytree_kind(PyObject* object);
// The names of the fields of a class of kind Fields. Those with metadata {"static": True} belong to
// the structure.
struct FieldNames {
  py::tuple entries;
  py::tuple statics;
};
FieldNames field_names(PyTypeObject* type);
// The values of these attributes.
py::tuple attribute_values(PyObject* object, const py::tuple& names);
// The children of an object of kind Registered, and its auxiliary data, a part of the structure.
struct Children {
  py::tuple entries;
  py::object extra;
};
Children children_of(PyObject* object);
// An object of a registered class.
py::object object_of_children(PyTypeObject* type, const Children& children);
// Registers a class: flatten(object) returns (children, extra), unflatten(extra, children)
// rebuilds. Returns false for a class whose kind cannot change.
bool register_pytree(py::handle type, py::handle flatten, py::handle unflatten);
// The keys of a dict in their own order, and in the order in which entries are taken (sorted if
// they can be). Both are the same list if the orders agree.
struct DictKeys {
  py::list inserted;
  py::list taken;
};
DictKeys keys_of(PyObject* dict, PytreeKind kind);

// Thrown by RecursionGuard.
struct EndlessPytree {};

// Guards against containers that contain themselves.
class RecursionGuard {
 public:
  RecursionGuard() {
    if (!Py_EnterRecursiveCall("")) return;
    PyErr_Clear();
    throw EndlessPytree{};
  }
  ~RecursionGuard() { Py_LeaveRecursiveCall(); }
  RecursionGuard(const RecursionGuard&) = delete;
  RecursionGuard& operator=(const RecursionGuard&) = delete;
};

// Raises the RecursionError for it, outside of the recursion, where Python code may run. `who` is
// the function that was called; null: it has a Python frame.
[[noreturn]] void refuse_endless_pytree(PyObject* object, const char* who);
// Raises the error for a list whose size changed while its entries were visited.
[[noreturn]] void refuse_changed_list();

template <class Visitor>
void visit_entries(PyObject* object, Visitor& visitor) {
  if constexpr (requires { visitor.stops_at(object); }) {
    if (visitor.stops_at(object)) {
      visitor.leaf(object);
      return;
    }
  }
  const PytreeKind kind = pytree_kind(object);
  if (kind == PytreeKind::Leaf) {
    visitor.leaf(object);
    return;
  }
  if (kind == PytreeKind::None) {
    visitor.open(kind, object, 0);
    return;
  }
  const RecursionGuard guard;
  const auto visit_tuple = [&](const py::tuple& entries) {
    for (py::handle entry : entries) visit_entries(entry.ptr(), visitor);
  };
  if (kind == PytreeKind::Dict || kind == PytreeKind::OrderedDict || kind == PytreeKind::Mapping) {
    const DictKeys keys = keys_of(object, kind);
    visitor.open(kind, object, static_cast<Py_ssize_t>(keys.taken.size()));
    visitor.keys(keys);
    for (py::handle key : keys.taken) {
      PyObject* value = PyDict_GetItemWithError(object, key.ptr());
      if (!value) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key.ptr());
        throw py::error_already_set();
      }
      visit_entries(py::reinterpret_borrow<py::object>(value).ptr(), visitor);
    }
  } else if (kind == PytreeKind::Fields) {
    const FieldNames names = field_names(Py_TYPE(object));
    visitor.open(kind, object, PyTuple_GET_SIZE(names.entries.ptr()));
    if (PyTuple_GET_SIZE(names.statics.ptr())) {
      visitor.extra(attribute_values(object, names.statics));
    }
    visit_tuple(attribute_values(object, names.entries));
  } else if (kind == PytreeKind::Registered) {
    const Children children = children_of(object);
    visitor.open(kind, object, PyTuple_GET_SIZE(children.entries.ptr()));
    visitor.extra(children.extra);
    visit_tuple(children.entries);
  } else {
    // Code of an entry or of `visitor` may change a list.
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    visitor.open(kind, object, count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (PySequence_Fast_GET_SIZE(object) != count) refuse_changed_list();
      const auto entry = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(object, i));
      visit_entries(entry.ptr(), visitor);
    }
    if (PySequence_Fast_GET_SIZE(object) != count) refuse_changed_list();
  }
}

// Visits a pytree depth first: visitor.open(kind, object, count) for a container, then
// visitor.keys(keys) if it is a dict or visitor.extra(value) for static fields and auxiliary data,
// then the entries; visitor.leaf(object) for a leaf. A visitor may declare more objects leaves by
// stops_at(object).
template <class Visitor>
void visit_pytree(PyObject* object, Visitor& visitor, const char* who = nullptr) {
  try {
    visit_entries(object, visitor);
  } catch (const EndlessPytree&) {
    refuse_endless_pytree(object, who);
  }
}

// The structure of a pytree without its leaves.
class Tree {
 public:
  // Objects that are leaves beside the ordinary ones.
  struct Leaves {
    bool none = false;
    py::object test;  // null, or a predicate
  };
  // Appends the leaves of `object`, borrowed from it, and returns its structure. `who`: see
  // refuse_endless_pytree().
  static Tree flatten(PyObject* object, std::vector<py::object>* leaves, const char* who = nullptr);
  static Tree flatten(PyObject* object, std::vector<py::object>* leaves, const Leaves& more);

  size_t leaves() const { return leaves_; }
  bool is_leaf() const { return entries_.size() == 1 && leaves_ == 1; }
  // A pytree with these leaves, leaves() of them; takes over their references.
  py::object unflatten(std::span<py::object> leaves) const;
  // Compares types, keys, static fields and auxiliary data by ==, which may run Python code.
  bool equals(const Tree& other) const;
  size_t hash() const;
  // (class, static values or auxiliary data) of each object of kind Fields or Registered.
  py::list static_data() const;
  std::string text() const;
  int traverse(visitproc visit, void* arg) const;

 private:
  friend struct TreeBuilder;
  friend struct TreeWriter;
  struct Entry {
    PytreeKind kind;
    uint32_t count;   // of entries
    py::object type;  // or another callable that makes it
    // The keys of a dict whose insertion order is not the sorted order; static values; auxiliary
    // data.
    py::object extra;
  };
  struct Reader;

  std::vector<Entry> entries_;  // depth first
  std::vector<py::object> keys_;
  size_t leaves_ = 0;
};

void bind_tree(py::module_& m);

}  // namespace pullback
