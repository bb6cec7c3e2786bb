// Nests of Python containers (pytrees): dict, list, tuple, namedtuple and dataclass, with anything
// else as a leaf. The entries of a dict are taken in the order of its sorted keys, so that dicts
// which were filled in another order match, and are put together in the order they had; those of an
// OrderedDict are taken in its own, those of a dataclass in the order of its fields.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <span>
#include <vector>

namespace pullback {

namespace py = pybind11;

enum class Nest : uint8_t {
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

// What an object is; a leaf is nearly always recognised by its type alone.
Nest nest_of(PyObject* object);
// The names of the fields of a dataclass type.
py::tuple field_names(PyTypeObject* type);
// The keys of a dict: as they are, and in the order in which the entries are taken, sorted where
// they have an order. The same list where both are one.
struct DictKeys {
  py::list inserted;
  py::list taken;
};
DictKeys keys_of(PyObject* dict, Nest nest);

// Thrown by Nesting.
struct EndlessNest {};

// Guards against nests that contain themselves.
class Nesting {
 public:
  Nesting() {
    if (!Py_EnterRecursiveCall("")) return;
    PyErr_Clear();
    throw EndlessNest{};
  }
  ~Nesting() { Py_LeaveRecursiveCall(); }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
};

// Raises the RecursionError for it, above the recursion, where Python code can run. `who` is the
// function that was called; null: it has a Python frame.
[[noreturn]] void refuse_endless_nest(PyObject* object, const char* who);

template <class Visitor>
void visit_entries(PyObject* object, Visitor& visitor) {
  const Nest nest = nest_of(object);
  if (nest == Nest::Leaf) {
    visitor.leaf(object);
    return;
  }
  const Nesting nesting;
  if (nest == Nest::Dict || nest == Nest::OrderedDict || nest == Nest::Mapping) {
    const DictKeys keys = keys_of(object, nest);
    visitor.open(nest, object, static_cast<Py_ssize_t>(keys.taken.size()));
    visitor.keys(keys);
    for (py::handle key : keys.taken) {
      PyObject* value = PyDict_GetItemWithError(object, key.ptr());
      if (!value) {
        if (!PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, key.ptr());
        throw py::error_already_set();
      }
      visit_entries(py::reinterpret_borrow<py::object>(value).ptr(), visitor);
    }
  } else if (nest == Nest::Dataclass) {
    const py::tuple names = field_names(Py_TYPE(object));
    const Py_ssize_t count = PyTuple_GET_SIZE(names.ptr());
    visitor.open(nest, object, count);
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject* value = PyObject_GetAttr(object, PyTuple_GET_ITEM(names.ptr(), i));
      if (!value) throw py::error_already_set();
      visit_entries(py::reinterpret_steal<py::object>(value).ptr(), visitor);
    }
  } else {
    // A leaf's code may change the list meanwhile, so its length is asked for every time.
    visitor.open(nest, object, PySequence_Fast_GET_SIZE(object));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i) {
      const auto entry = py::reinterpret_borrow<py::object>(PySequence_Fast_GET_ITEM(object, i));
      visit_entries(entry.ptr(), visitor);
    }
  }
}

// Visits a nest depth first: visitor.open(nest, object, count) for a container, then
// visitor.keys(keys) if it is a dict, then the entries; visitor.leaf(object) for everything else.
template <class Visitor>
void visit_nest(PyObject* object, Visitor& visitor, const char* who = nullptr) {
  try {
    visit_entries(object, visitor);
  } catch (const EndlessNest&) {
    refuse_endless_nest(object, who);
  }
}

// The structure of a nest without its leaves.
class Tree {
 public:
  // Appends the leaves of `object`, borrowed from it, and describes it. `who`: see
  // refuse_endless_nest().
  static Tree flatten(PyObject* object, std::vector<py::object>* leaves, const char* who = nullptr);

  size_t leaves() const { return leaves_; }
  bool is_leaf() const { return entries_.size() == 1 && leaves_ == 1; }
  // A nest with these leaves, as many as leaves(); takes over their references.
  py::object unflatten(std::span<py::object> leaves) const;
  int traverse(visitproc visit, void* arg) const;

 private:
  friend struct TreeBuilder;
  struct Entry {
    Nest nest;
    uint32_t count;       // of entries
    py::object type;      // or what else makes it
    py::object inserted;  // the keys of a dict that was not filled in the order of its sorted keys
  };
  struct Reader;

  std::vector<Entry> entries_;  // depth first
  std::vector<py::object> keys_;
  size_t leaves_ = 0;
};

void bind_tree(py::module_& m);

}  // namespace pullback
