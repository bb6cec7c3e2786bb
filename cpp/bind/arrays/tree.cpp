// Flattens and rebuilds pytrees. The exact types of common containers are tested first; the fields
// of a dataclass, and OrderedDict, are looked up once.
#include "bind/arrays/tree.h"

#include <unordered_map>

#include "base/error.h"
#include "bind/common/error_text.h"
#include "bind/common/found_once.h"
#include "bind/common/no_pickle.h"
#include "bind/common/tensor.h"

namespace pullback {
namespace {

// Caches whether a type is a dataclass. The weak reference shows whether an address still belongs
// to that type.
struct DataclassEntry {
  py::object type;
  py::object names;  // null: not a dataclass
};

const DataclassEntry& dataclass_entry(PyTypeObject* type) {
  static auto* entries = new std::unordered_map<PyTypeObject*, DataclassEntry>;
  auto* object = reinterpret_cast<PyObject*>(type);
  const auto found = entries->find(type);
  if (found != entries->end() && PyWeakref_GetObject(found->second.type.ptr()) == object) {
    return found->second;
  }
  DataclassEntry entry{py::reinterpret_steal<py::object>(PyWeakref_NewRef(object, nullptr)), {}};
  if (!entry.type) throw py::error_already_set();
  if (PyObject_HasAttrString(object, "__dataclass_fields__")) {
    py::list names;
    for (py::handle field : py::module_::import("dataclasses").attr("fields")(py::handle(object))) {
      names.append(field.attr("name"));
    }
    entry.names = py::tuple(names);
  }
  return (*entries)[type] = std::move(entry);
}

py::handle ordered_dict() {
  return found_once(
      []() -> py::object { return py::module_::import("collections").attr("OrderedDict"); });
}

// The callable that makes another subclass of dict from a dict.
py::object maker_of(PyObject* mapping) {
  const py::handle type = reinterpret_cast<PyObject*>(Py_TYPE(mapping));
  const py::handle defaultdict = found_once(
      []() -> py::object { return py::module_::import("collections").attr("defaultdict"); });
  if (!PyType_IsSubtype(Py_TYPE(mapping), reinterpret_cast<PyTypeObject*>(defaultdict.ptr()))) {
    return py::reinterpret_borrow<py::object>(type);
  }
  const py::handle partial =
      found_once([]() -> py::object { return py::module_::import("functools").attr("partial"); });
  return partial(type, py::handle(mapping).attr("default_factory"));
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
  if (type == tensor_type || type == &PyFloat_Type || type == &PyLong_Type ||
      type == &PyUnicode_Type || type == &PyBool_Type || object == Py_None ||
      type == variable_type || type == array_type) {
    return PytreeKind::Leaf;
  }
  if (type == &PyTuple_Type) return PytreeKind::Tuple;
  if (type == &PyList_Type) return PytreeKind::List;
  if (type == &PyDict_Type) return PytreeKind::Dict;
  if (PyTuple_Check(object)) {
    return PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), "_fields")
               ? PytreeKind::NamedTuple
               : PytreeKind::Sequence;
  }
  if (PyList_Check(object)) return PytreeKind::Sequence;
  if (PyDict_Check(object)) {
    return ordered_dict().ptr() == reinterpret_cast<PyObject*>(type) ? PytreeKind::OrderedDict
                                                                     : PytreeKind::Mapping;
  }
  return dataclass_entry(type).names ? PytreeKind::Dataclass : PytreeKind::Leaf;
}

py::tuple field_names(PyTypeObject* type) {
  return py::reinterpret_borrow<py::tuple>(dataclass_entry(type).names);
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

struct TreeBuilder {
  Tree tree;
  std::vector<py::object>* leaves;

  void open(PytreeKind kind, PyObject* object, Py_ssize_t count) {
    py::object type;
    if (kind == PytreeKind::Mapping) {
      type = maker_of(object);
    } else if (kind >= PytreeKind::Sequence) {
      type = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    }
    tree.entries_.push_back({kind, static_cast<uint32_t>(count), std::move(type), {}});
  }
  void keys(const DictKeys& keys) {
    for (py::handle key : keys.taken) {
      tree.keys_.push_back(py::reinterpret_borrow<py::object>(key));
    }
    if (!keys.taken.is(keys.inserted)) tree.entries_.back().inserted = keys.inserted;
  }
  void leaf(PyObject* object) {
    tree.entries_.push_back({PytreeKind::Leaf, 0, {}, {}});
    ++tree.leaves_;
    leaves->push_back(py::reinterpret_borrow<py::object>(object));
  }
};

void refuse_endless_pytree(PyObject* object, const char* who) {
  std::string name = who ? who : package_function();
  if (name.empty()) name = "flatten";
  const std::string message =
      text(name, ": expected a finite pytree, got a ", Py_TYPE(object)->tp_name,
           " that contains itself or is nested deeper than sys.getrecursionlimit(), ",
           static_cast<int64_t>(Py_GetRecursionLimit()),
           "; pass containers that do not contain themselves");
  PyErr_SetString(PyExc_RecursionError, message.c_str());
  throw py::error_already_set();
}

Tree Tree::flatten(PyObject* object, std::vector<py::object>* leaves, const char* who) {
  TreeBuilder builder{{}, leaves};
  visit_pytree(object, builder, who);
  return std::move(builder.tree);
}

// Builds a pytree by reading its description from front to back.
struct Tree::Reader {
  const Tree& tree;
  std::span<py::object> leaves;
  size_t entry = 0;
  size_t key = 0;
  size_t leaf = 0;

  py::object next() {
    const Entry& e = tree.entries_[entry++];
    switch (e.kind) {
      case PytreeKind::Leaf:
        return std::move(leaves[leaf++]);
      case PytreeKind::Tuple:
        return tuple(e.count);
      case PytreeKind::List:
        return list(e.count);
      case PytreeKind::Dict:
        return dict(e);
      case PytreeKind::OrderedDict:
        return ordered_dict()(dict(e));
      case PytreeKind::Mapping:
        return called(e, dict(e));
      case PytreeKind::Sequence:
        return called(e, list(e.count));
      case PytreeKind::NamedTuple:
        return py::reinterpret_steal<py::object>(
            checked(PyObject_Call(e.type.ptr(), tuple(e.count).ptr(), nullptr)));
      default:
        return dataclass(e);
    }
  }

  py::object tuple(uint32_t count) {
    py::tuple out(count);
    for (uint32_t i = 0; i < count; ++i) PyTuple_SET_ITEM(out.ptr(), i, next().release().ptr());
    return out;
  }

  py::object list(uint32_t count) {
    py::list out(count);
    for (uint32_t i = 0; i < count; ++i) PyList_SET_ITEM(out.ptr(), i, next().release().ptr());
    return out;
  }

  py::object dict(const Entry& e) {
    py::dict out;
    if (e.inserted) {  // restores the order of insertion
      for (py::handle key : e.inserted) set(out, key, Py_None);
    }
    const size_t first = std::exchange(key, key + e.count);
    for (uint32_t i = 0; i < e.count; ++i) {
      const py::object value = next();
      set(out, tree.keys_[first + i], value);
    }
    return out;
  }

  static void set(const py::dict& dict, py::handle key, py::handle value) {
    if (PyDict_SetItem(dict.ptr(), key.ptr(), value.ptr()) < 0) throw py::error_already_set();
  }

  // Sets the fields without calling __init__ or __post_init__, also in frozen classes: the fields
  // may be tensors where there were numbers.
  py::object dataclass(const Entry& e) {
    auto* type = reinterpret_cast<PyTypeObject*>(e.type.ptr());
    static PyObject* no_arguments = PyTuple_New(0);
    const auto out =
        py::reinterpret_steal<py::object>(checked(type->tp_new(type, no_arguments, nullptr)));
    const py::tuple names = field_names(type);
    for (uint32_t i = 0; i < e.count; ++i) {
      const py::object value = next();
      if (PyObject_GenericSetAttr(out.ptr(), PyTuple_GET_ITEM(names.ptr(), i), value.ptr()) < 0) {
        throw py::error_already_set();
      }
    }
    return out;
  }

  static py::object called(const Entry& e, const py::object& entries) {
    return py::reinterpret_steal<py::object>(
        checked(PyObject_CallOneArg(e.type.ptr(), entries.ptr())));
  }

  static PyObject* checked(PyObject* object) {
    if (!object) throw py::error_already_set();
    return object;
  }
};

py::object Tree::unflatten(std::span<py::object> leaves) const {
  if (is_leaf()) return std::move(leaves[0]);
  return Reader{*this, leaves}.next();
}

int Tree::traverse(visitproc visit, void* arg) const {
  for (const Entry& entry : entries_) {
    Py_VISIT(entry.type.ptr());
    Py_VISIT(entry.inserted.ptr());
  }
  for (const py::object& key : keys_) Py_VISIT(key.ptr());
  return 0;
}

void bind_tree(py::module_& m) {
  py::class_<Tree> structure(m, "Structure", "The structure of a pytree without its leaves.");
  no_pickle(structure);
  m.def(
      "flatten", [](const AnyObject& tree)->Typed<"tuple[list[typing.Any], Structure]"> {
        std::vector<py::object> leaves;
        Tree structure = Tree::flatten(tree.ptr(), &leaves);
        py::list list(leaves.size());
        for (size_t i = 0; i < leaves.size(); ++i) {
          PyList_SET_ITEM(list.ptr(), i, leaves[i].release().ptr());
        }
        return py::make_tuple(list, py::cast(std::move(structure)));
      },
      py::arg("tree"), "Return the leaves of a pytree, in order, and its structure.");
  m.def(
      "unflatten",
      [](const Tree& structure,
         const Typed<"collections.abc.Iterable[builtins.object]", py::iterable>& leaves)
          ->Typed<"typing.Any"> {
            std::vector<py::object> list;
            const py::iterator iterator = py::iter(leaves);
            while (list.size() < structure.leaves()) {  // takes only as many as it needs
              auto leaf = py::reinterpret_steal<py::object>(PyIter_Next(iterator.ptr()));
              if (!leaf) {
                if (PyErr_Occurred()) throw py::error_already_set();
                fail(ErrorKind::Value, "unflatten: expected ", structure.leaves(), " leaves, got ",
                     list.size());
              }
              list.push_back(std::move(leaf));
            }
            return structure.unflatten(list);
          },
      py::arg("structure"), py::arg("leaves"),
      "Return a pytree of this structure with these leaves.");
}

}  // namespace pullback
