// Flattens and rebuilds pytrees, and compares their structures.
#include "bind/arrays/tree.h"

#include "base/error.h"
#include "base/hash.h"
#include "bind/common/error_text.h"
#include "bind/common/found_once.h"

namespace pullback {
namespace {

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

}  // namespace

struct TreeBuilder {
  Tree tree;
  std::vector<py::object>* leaves;
  const Tree::Leaves& more;

  bool stops_at(PyObject* object) const {
    if (more.none && object == Py_None) return true;
    return more.test && py::bool_(more.test(py::handle(object)));
  }
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
    if (!keys.taken.is(keys.inserted)) tree.entries_.back().extra = keys.inserted;
  }
  void extra(py::object value) { tree.entries_.back().extra = std::move(value); }
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

void refuse_changed_list() {
  fail(ErrorKind::Runtime, "flatten: expected a list that keeps its size, got one that changed ",
       "while it was flattened; change it before or after");
}

Tree Tree::flatten(PyObject* object, std::vector<py::object>* leaves, const char* who) {
  const Leaves more;
  TreeBuilder builder{{}, leaves, more};
  visit_pytree(object, builder, who);
  return std::move(builder.tree);
}

Tree Tree::flatten(PyObject* object, std::vector<py::object>* leaves, const Leaves& more) {
  TreeBuilder builder{{}, leaves, more};
  visit_pytree(object, builder);
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
      case PytreeKind::None:
        return py::none();
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
      case PytreeKind::Registered: {
        const py::tuple entries = tuple(e.count);
        return object_of_children(reinterpret_cast<PyTypeObject*>(e.type.ptr()),
                                  {entries, e.extra});
      }
      default:
        return with_fields(e);
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
    if (e.extra) {  // restores the order of insertion
      for (py::handle key : e.extra) set(out, key, Py_None);
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
  py::object with_fields(const Entry& e) {
    auto* type = reinterpret_cast<PyTypeObject*>(e.type.ptr());
    static PyObject* no_arguments = PyTuple_New(0);
    const auto out =
        py::reinterpret_steal<py::object>(checked(type->tp_new(type, no_arguments, nullptr)));
    const FieldNames names = field_names(type);
    const auto set_field = [&](py::handle name, const py::object& value) {
      if (PyObject_GenericSetAttr(out.ptr(), name.ptr(), value.ptr()) < 0) {
        throw py::error_already_set();
      }
    };
    for (uint32_t i = 0; i < e.count; ++i) {
      const py::object value = next();
      set_field(PyTuple_GET_ITEM(names.entries.ptr(), i), value);
    }
    for (size_t i = 0; i < names.statics.size(); ++i) {
      set_field(names.statics[i], py::reinterpret_borrow<py::tuple>(e.extra)[i]);
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
    Py_VISIT(entry.extra.ptr());
  }
  for (const py::object& key : keys_) Py_VISIT(key.ptr());
  return 0;
}

namespace {

bool are_equal(const py::object& a, const py::object& b) {
  if (a.is(b)) return true;
  return a && b && a.equal(b);
}

// True if both make the same type; a defaultdict is made by a functools.partial.
bool are_same_types(const py::object& a, const py::object& b) {
  if (a.is(b)) return true;
  if (!a || !b || PyType_Check(a.ptr()) || PyType_Check(b.ptr())) return false;
  return a.attr("func").is(b.attr("func")) && a.attr("args").equal(b.attr("args"));
}

}  // namespace

bool Tree::equals(const Tree& other) const {
  const auto same = [](const Entry& a, const Entry& b) {
    if (a.kind != b.kind || a.count != b.count || !are_same_types(a.type, b.type)) return false;
    return a.kind < PytreeKind::Fields || are_equal(a.extra, b.extra);
  };
  return std::ranges::equal(entries_, other.entries_, same) &&
         std::ranges::equal(keys_, other.keys_, are_equal);
}

size_t Tree::hash() const {
  std::vector<uint64_t> words;
  for (const Entry& entry : entries_) {
    words.push_back(static_cast<uint64_t>(entry.kind) | static_cast<uint64_t>(entry.count) << 8);
  }
  for (const py::object& key : keys_) words.push_back(static_cast<uint64_t>(py::hash(key)));
  return hash_bytes(words.data(), words.size() * sizeof(uint64_t));
}

py::list Tree::static_data() const {
  py::list out;
  for (const Entry& entry : entries_) {
    if (entry.kind < PytreeKind::Fields) continue;
    out.append(py::make_tuple(entry.type, entry.extra ? entry.extra : py::none()));
  }
  return out;
}

namespace {

std::string repr_of(py::handle object) { return py::str(py::repr(object)); }

}  // namespace

// Writes a structure as an expression with a star for each leaf.
struct TreeWriter {
  const Tree& tree;
  size_t entry = 0;
  size_t key = 0;

  std::string next() {
    const Tree::Entry& e = tree.entries_[entry++];
    switch (e.kind) {
      case PytreeKind::Leaf:
        return "*";
      case PytreeKind::None:
        return "None";
      case PytreeKind::Tuple:
        return "(" + entries(e.count) + (e.count == 1 ? ",)" : ")");
      case PytreeKind::List:
        return "[" + entries(e.count) + "]";
      case PytreeKind::Dict:
        return "{" + items(e.count) + "}";
      case PytreeKind::OrderedDict:
        return "OrderedDict({" + items(e.count) + "})";
      case PytreeKind::Mapping:
        return name(e) + "({" + items(e.count) + "})";
      case PytreeKind::Sequence:
        return name(e) + "([" + entries(e.count) + "])";
      case PytreeKind::NamedTuple:
        return name(e) + "(" + entries(e.count, e.type.attr("_fields")) + ")";
      case PytreeKind::Fields: {
        const FieldNames names = field_names(reinterpret_cast<PyTypeObject*>(e.type.ptr()));
        std::string out = entries(e.count, names.entries);
        for (size_t i = 0; i < names.statics.size(); ++i) {
          out += (out.empty() ? "" : ", ") + std::string(py::str(names.statics[i])) + "=" +
                 repr_of(py::reinterpret_borrow<py::tuple>(e.extra)[i]);
        }
        return name(e) + "(" + out + ")";
      }
      default: {
        std::string out = entries(e.count);
        if (!e.extra.is_none()) out += (out.empty() ? "" : ", ") + ("extra=" + repr_of(e.extra));
        return name(e) + "(" + out + ")";
      }
    }
  }

  static std::string name(const Tree::Entry& e) {
    const py::object type = PyType_Check(e.type.ptr()) ? e.type : e.type.attr("func");
    return py::str(type.attr("__name__"));
  }

  std::string entries(uint32_t count, const py::object& names = {}) {
    std::string out;
    for (uint32_t i = 0; i < count; ++i) {
      if (i) out += ", ";
      if (names) out += std::string(py::str(py::handle(names)[py::int_(i)])) + "=";
      out += next();
    }
    return out;
  }

  std::string items(uint32_t count) {
    const size_t first = std::exchange(key, key + count);
    std::string out;
    for (uint32_t i = 0; i < count; ++i) {
      out += (i ? ", " : "") + repr_of(tree.keys_[first + i]) + ": " + next();
    }
    return out;
  }
};

std::string Tree::text() const { return TreeWriter{*this}.next(); }

}  // namespace pullback
