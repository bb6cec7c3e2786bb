// Pytrees as Python functions; pullback._base.pytree and pullback.tree have the public ones.
#include "base/error.h"
#include "bind/arrays/tree.h"
#include "bind/common/no_pickle.h"
#include "bind/common/typed.h"

namespace pullback {
namespace {

py::list as_list(std::vector<py::object> objects) {
  py::list list(objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), objects[i].release().ptr());
  }
  return list;
}

std::string bracketed(py::handle key) { return "[" + std::string(py::str(py::repr(key))) + "]"; }

// An object that was not initialised would end the process.
PyObject* refuse_new_structure(PyTypeObject*, PyObject*, PyObject*) {
  PyErr_SetString(PyExc_TypeError, "Structure: cannot be made directly; use tree.structure");
  return nullptr;
}

// Collects the entries of one container and their steps of a path.
struct EntryReader {
  std::vector<py::object> entries;
  py::list steps;
  bool opened = false;

  bool stops_at(PyObject*) const { return opened; }
  void open(PytreeKind kind, PyObject* object, Py_ssize_t count) {
    opened = true;
    const bool named = kind == PytreeKind::Fields;
    const py::tuple names = named ? field_names(Py_TYPE(object)).entries : py::tuple();
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (named) steps.append("." + std::string(py::str(py::handle(names)[py::int_(i)])));
      if (!named) steps.append(bracketed(py::int_(i)));
    }
  }
  void keys(const DictKeys& keys) {
    steps = py::list();
    for (py::handle key : keys.taken) steps.append(bracketed(key));
  }
  void extra(const py::object&) {}
  void leaf(PyObject* object) {
    if (opened) entries.push_back(py::reinterpret_borrow<py::object>(object));
  }
};

}  // namespace

void bind_tree(py::module_& m) {
  py::class_<Tree> structure(m, "Structure", "The structure of a pytree without its leaves.");
  no_pickle(structure);
  reinterpret_cast<PyTypeObject*>(structure.ptr())->tp_new = refuse_new_structure;
  structure
      .def(
          "__eq__",
          [](const Tree& self, const AnyObject& other) {
            return py::isinstance<Tree>(other) && self.equals(other.cast<const Tree&>());
          },
          py::arg("other"))
      .def("__hash__", &Tree::hash)
      .def("__repr__", [](const Tree& self) { return "Structure(" + self.text() + ")"; })
      .def("__len__", &Tree::leaves)
      .def(
          "static_data", [](const Tree& self)->Typed<"list[tuple[type, typing.Any]]"> {
            return self.static_data();
          },
          "Return class and static data of each dataclass, class of attrs and registered class.");
  m.def(
      "flatten",
      [](const AnyObject& tree, const AnyObject& is_leaf, bool none_is_leaf)
          ->Typed<"tuple[list[typing.Any], Structure]"> {
            std::vector<py::object> leaves;
            Tree::Leaves more{none_is_leaf, {}};
            if (!is_leaf.is_none()) more.test = is_leaf;
            Tree structure = Tree::flatten(tree.ptr(), &leaves, more);
            return py::make_tuple(as_list(std::move(leaves)), py::cast(std::move(structure)));
          },
      py::arg("tree"), py::arg("is_leaf") = py::none(), py::arg("none_is_leaf") = false,
      "Return the leaves of a pytree, in order, and its structure.");
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
  m.def(
      "pytree_entries",
      [](const AnyObject& tree)->Typed<"tuple[list[str], list[typing.Any]] | None"> {
        EntryReader reader;
        visit_pytree(tree.ptr(), reader);
        if (!reader.opened) return py::none();
        return py::make_tuple(reader.steps, as_list(std::move(reader.entries)));
      },
      py::arg("tree"),
      "Return the steps of paths to the entries of a container, and the entries; None for a leaf.");
  m.def(
      "children_of",
      [](const AnyObject& object)->Typed<"tuple[tuple[typing.Any, ...], typing.Any] | None"> {
        if (pytree_kind(object.ptr()) != PytreeKind::Registered) return py::none();
        const Children children = children_of(object.ptr());
        return py::make_tuple(children.entries, children.extra);
      },
      py::arg("object"), "Return (children, extra) of an object of a registered class, else None.");
  m.def(
      "object_of_children",
      [](const py::type& type, const Typed<"tuple[typing.Any, ...]", py::tuple>& children,
         const AnyObject& extra)
          ->Typed<"typing.Any"> {
            return object_of_children(reinterpret_cast<PyTypeObject*>(type.ptr()),
                                      {children, extra});
          },
      py::arg("type"), py::arg("children"), py::arg("extra"),
      "Return an object of a registered class.");
  m.def(
      "register_pytree",
      [](const AnyObject& type, const AnyObject& flatten, const AnyObject& unflatten) {
        return register_pytree(type, flatten, unflatten);
      },
      py::arg("type"), py::arg("flatten"), py::arg("unflatten"),
      "Register the functions that flatten and rebuild the objects of a class; return False if it "
      "has "
      "a treatment of its own.");
}

}  // namespace pullback
