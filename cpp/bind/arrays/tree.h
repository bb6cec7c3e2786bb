// Tree: pytrees of dict, list, tuple, namedtuple and dataclass; anything else is a leaf. Entries of
// a dict are taken in the order of its sorted keys, so that dicts which were filled in different
// orders match, and are rebuilt in their own order. Entries of an OrderedDict are taken in its
// order, those of a dataclass in the order of its fields. Start at visit_pytree() and Tree.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pullback {

namespace py = pybind11;

enum class PytreeKind : uint8_t {
  Leaf,
  Tuple,
  List,
  Dict,
  OrderedDict,
  Sequence,  // another subclass of list or tuple, made from a list of its entries
  Mapping,   // another subclass of dict, made from a dict of its entries
  NamedTuple,
  Dataclass,
};

// The kind of an object. A leaf is nearly always recognised by its type alone.
PytreeKind pytree_kind(PyObject* object);
// The names of the fields of a dataclass type.
py::tuple field_names(PyTypeObject* type);
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

template <class Visitor>
void visit_entries(PyObject* object, Visitor& visitor) {
  const PytreeKind kind = pytree_kind(object);
  if (kind == PytreeKind::Leaf) {
    visitor.leaf(object);
    return;
  }
  const RecursionGuard guard;
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
  } else if (kind == PytreeKind::Dataclass) {
    const py::tuple names = field_names(Py_TYPE(object));
    const Py_ssize_t count = PyTuple_GET_SIZE(names.ptr());
    visitor.open(kind, object, count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* value = PyObject_GetAttr(object, PyTuple_GET_ITEM(names.ptr(), i));
      if (!value) throw py::error_already_set();
      visit_entries(py::reinterpret_steal<py::object>(value).ptr(), visitor);
    }
  } else {
    // The code of a leaf may change the list, so its size is read again each time.
    visitor.open(kind, object, PySequence_Fast_GET_SIZE(object));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      const auto entry = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(object, i));
      visit_entries(entry.ptr(), visitor);
    }
  }
}

// Visits a pytree depth first: visitor.open(kind, object, count) for a container, then
// visitor.keys(keys) if it is a dict, then the entries; visitor.leaf(object) for a leaf.
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
  // Appends the leaves of `object`, borrowed from it, and returns its structure. `who`: see
  // refuse_endless_pytree().
  static Tree flatten(PyObject* object, std::vector<py::object>* leaves, const char* who = nullptr);

  size_t leaves() const { return leaves_; }
  bool is_leaf() const { return entries_.size() == 1 && leaves_ == 1; }
  // A pytree with these leaves, leaves() of them; takes over their references.
  py::object unflatten(std::span<py::object> leaves) const;
  int traverse(visitproc visit, void* arg) const;

 private:
  friend struct TreeBuilder;
  struct Entry {
    PytreeKind kind;
    uint32_t count;       // of entries
    py::object type;      // or another callable that makes it
    py::object inserted;  // the keys of a dict whose insertion order is not the sorted order
  };
  struct Reader;

  std::vector<Entry> entries_;  // depth first
  std::vector<py::object> keys_;
  size_t leaves_ = 0;
};

void bind_tree(py::module_& m);

}  // namespace pullback
