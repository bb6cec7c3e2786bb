// The Python type Composite, written against the C API: a call costs some nanoseconds more than
// that of the function that it wraps, until a result has a gradient and gets a node with the name
// of the composite. In everything else a Composite is its function: attributes are those of the
// function, and isinstance() takes it for one, so that inspect, help and doctest work.
#include "bind/operations/composite_function.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/arrays/convert.h"
#include "bind/arrays/tree.h"
#include "bind/common/tensor.h"
#include "bind/common/typed.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/runtime.h"
#include "ops/composite.h"
#include "ops/ops.h"
#include "plan/profile.h"

// After Python.h, which it needs but does not include.
#include <structmember.h>

namespace pullback {
namespace {

struct PyComposite {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* function;
  PyObject* weak_references;
  Composite which;
  bool of_sequence;  // takes any iterable of arrays
};

PyTypeObject* composite_type = nullptr;
thread_local const char* open = nullptr;

PyComposite* composite_self(PyObject* object) { return reinterpret_cast<PyComposite*>(object); }

// Open while the function runs. A composite that another one calls keeps the name of the outer one.
class Opened {
 public:
  explicit Opened(Composite which) : outer_(open) {
    if (!open) open = name_of(which);
  }
  ~Opened() { open = outer_; }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

 private:
  const char* outer_;
};

// True while results without a gradient have names too: for explanations, profiles and messages of
// check_numerics, which checks the result of a composite and not the operations inside.
bool names_all() { return recording || runtime.check_numbers || Recording::open(); }

bool is_anonymous(const Node* y) {
  if (names_all()) return false;
  return !is_inexact(y->dtype) || !(y->tracked() || entered_overrides);
}

// Nodes of arguments or results. Most functions have few, which need no memory of their own.
class Nodes {
 public:
  void push_back(Node* node) {
    if (many_.empty() && count_ < few_.size()) {
      few_[count_++] = node;
      return;
    }
    if (many_.empty()) many_.assign(few_.begin(), few_.end());
    many_.push_back(node);
  }
  std::span<Node*> all() { return many_.empty() ? std::span(few_).first(count_) : many_; }

 private:
  std::array<Node*, 6> few_;
  size_t count_ = 0;
  std::vector<Node*> many_;
};

class Call {
 public:
  Call(Composite which, PyObject* const* args, Py_ssize_t count)
      : which_(which), args_(args), count_(count) {}

  // The result with the names of its tensors. `result` is a new reference, which is taken.
  PyObject* named(PyObject* result) {
    auto held = pybind11::reinterpret_steal<pybind11::object>(result);
    if (is_tensor(result)) {
      name_one(&held);
      return held.release().ptr();
    }
    std::vector<pybind11::object> leaves;
    const Tree tree = Tree::flatten(result, &leaves);
    const auto tensor = [](const pybind11::object& leaf) { return is_tensor(leaf.ptr()); };
    const auto count = std::ranges::count_if(leaves, tensor);
    bool changed = false;
    if (count == 1) changed = name_one(&*std::ranges::find_if(leaves, tensor));
    if (count > 1) changed = name_several(&leaves);
    return changed ? tree.unflatten(leaves).release().ptr() : held.release().ptr();
  }

 private:
  static Node*& node_of(const pybind11::object& tensor) {
    return reinterpret_cast<PyTensor*>(tensor.ptr())->node;
  }

  // A computed value without a gradient keeps its node, since the next call may check it at once.
  static bool keeps_node(const Node* node) {
    const bool known = !node->tracked() && node->has_value() && !entered_overrides;
    return known || is_anonymous(node);
  }

  // These return true if they replaced a tensor.
  bool name_one(pybind11::object* tensor) {
    Node* node = node_of(*tensor);
    if (keeps_node(node)) return false;
    Nodes inputs;
    std::vector<NodeRef> reads;
    inputs.push_back(node);
    for (Py_ssize_t i = 0; i < count_; ++i) append(args_[i], node->dtype, &inputs, &reads);
    return replace(tensor, name_result(which_, inputs.all()));
  }

  bool name_several(std::vector<pybind11::object>* leaves) {
    const auto is_named = [](const pybind11::object& leaf) {
      return is_tensor(leaf.ptr()) && !keeps_node(node_of(leaf));
    };
    const auto first = std::ranges::find_if(*leaves, is_named);
    if (first == leaves->end()) return false;
    NodeRef call;
    {
      Nodes given, inside;
      std::vector<NodeRef> reads;
      const DType dtype = node_of(*first)->dtype;
      for (Py_ssize_t i = 0; i < count_; ++i) append(args_[i], dtype, &given, &reads);
      for (const pybind11::object& leaf : *leaves) {
        if (is_tensor(leaf.ptr())) inside.push_back(node_of(leaf));
      }
      call = call_composite(which_, inside.all(), given.all());
    }
    bool changed = false;
    uint32_t index = 0;
    for (pybind11::object& leaf : *leaves) {
      if (!is_tensor(leaf.ptr())) continue;
      Node* edges[] = {node_of(leaf), call.get()};
      if (is_named(leaf)) changed |= replace(&leaf, name_result(which_, edges, index));
      ++index;
    }
    return changed;
  }

  // If nothing else refers to the tensor, only its node changes.
  static bool replace(pybind11::object* tensor, NodeRef made) {
    if (!names_all() && !made->tracked())
      return false;  // an override is open, for another function
    if (Py_REFCNT(tensor->ptr()) == 1) {
      hand_out(made.get());
      release(std::exchange(node_of(*tensor), made.detach()));
      return false;
    }
    PyObject* other = wrap(made);
    if (!other) throw pybind11::error_already_set();
    *tensor = pybind11::reinterpret_steal<pybind11::object>(other);
    return true;
  }

  // Appends the tensors in an argument, which may be a pytree. `reads` keeps nodes alive that the
  // argument does not. A number that was passed to a `function` takes the dtype of the result, as
  // it does beside another operand.
  static void append(PyObject* value, DType dtype, Nodes* inputs, std::vector<NodeRef>* reads) {
    if (is_tensor(value) || is_variable(value)) {
      NodeRef node = as_node(value);
      if (node->flags & kWeak && is_inexact(node->dtype)) node = resolve_weak(node, dtype);
      inputs->push_back(node.get());
      if (is_variable(value) || node.get() != reinterpret_cast<PyTensor*>(value)->node) {
        reads->push_back(std::move(node));
      }
    } else if (pytree_kind(value) > PytreeKind::None) {
      std::vector<pybind11::object> leaves;
      Tree::flatten(value, &leaves);
      for (const pybind11::object& leaf : leaves) {
        append(leaf.ptr(), dtype, inputs, reads);
        // The attribute of a dataclass may be a property, which makes a tensor for this call.
        if (is_tensor(leaf.ptr())) reads->push_back(as_node(leaf.ptr()));
      }
    }
  }

  Composite which_;
  PyObject* const* args_;
  Py_ssize_t count_;
};

bool is_plain(PyObject* result) {
  return is_tensor(result) && is_anonymous(reinterpret_cast<PyTensor*>(result)->node);
}

// True for an iterator, the values of a dict or a deque: its tensors cannot be found after the
// call.
bool is_iterated(PyObject* object) {
  return PyIter_Check(object) || PyDictValues_Check(object) ||
         std::string_view(Py_TYPE(object)->tp_name) == "collections.deque";
}

// The arguments of a call, with lists in place of iterators.
class Arguments {
 public:
  Arguments(PyObject* const* args, Py_ssize_t count) : args_(args) {
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!is_iterated(args[i])) continue;
      if (copies_.empty()) copies_.assign(args, args + count);
      lists_.push_back(stolen(PySequence_List(args[i])));
      copies_[i] = lists_.back().ptr();
      args_ = copies_.data();
    }
  }
  PyObject* const* get() const { return args_; }

 private:
  PyObject* const* args_;
  std::vector<PyObject*> copies_;
  std::vector<pybind11::object> lists_;
};

PyObject* call_function(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  const Composite which = composite_self(self)->which;
  PyObject* result = nullptr;
  {
    const Opened opened(which);
    result = PyObject_Vectorcall(composite_self(self)->function, args, flags, names);
  }
  if (!result || is_plain(result)) return result;
  const Py_ssize_t count = PyVectorcall_NARGS(flags) + (names ? PyTuple_GET_SIZE(names) : 0);
  return guarded<PyObject*>(nullptr, [&] { return Call(which, args, count).named(result); });
}

PyObject* composite_call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags) + (names ? PyTuple_GET_SIZE(names) : 0);
  if (!composite_self(self)->of_sequence || std::none_of(args, args + count, is_iterated)) {
    return call_function(self, args, flags, names);
  }
  return guarded<PyObject*>(nullptr, [&] {
    const Arguments listed(args, count);
    // Without the flag that the call may use the entry before the first argument.
    const auto given = static_cast<size_t>(PyVectorcall_NARGS(flags));
    return call_function(self, listed.get(), given, names);
  });
}

PyObject* composite_get(PyObject* self, PyObject* instance, PyObject*) {
  if (instance && instance != Py_None) return PyMethod_New(self, instance);
  Py_INCREF(self);
  return self;
}

PyObject* composite_getattr(PyObject* self, PyObject* name) {
  for (const char* own : {"__wrapped__", "__class__", "__reduce__", "__reduce_ex__"}) {
    if (PyUnicode_CompareWithASCIIString(name, own) == 0) {
      return PyObject_GenericGetAttr(self, name);
    }
  }
  return PyObject_GetAttr(composite_self(self)->function, name);
}

int composite_setattr(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(composite_self(self)->function, name, value);
}

PyObject* composite_repr(PyObject* self) { return PyObject_Repr(composite_self(self)->function); }

int composite_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(composite_self(self)->function);
  return 0;
}

int composite_clear(PyObject* self) {
  Py_CLEAR(composite_self(self)->function);
  return 0;
}

void composite_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (composite_self(self)->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(composite_self(self)->function);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

// Pickles by name, as a function does.
PyObject* composite_reduce(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(composite_self(self)->function, "__qualname__");
}

PyObject* composite_class(PyObject*, void*) {
  PyObject* type = reinterpret_cast<PyObject*>(&PyFunction_Type);
  Py_INCREF(type);
  return type;
}

PyMethodDef composite_methods[] = {{"__reduce__", composite_reduce, METH_NOARGS, nullptr},
                                   {nullptr, nullptr, 0, nullptr}};

PyGetSetDef composite_attributes[] = {{"__class__", composite_class, nullptr, nullptr, nullptr},
                                      {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef composite_members[] = {
    {"__wrapped__", T_OBJECT_EX, offsetof(PyComposite, function), READONLY, nullptr},
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyComposite, vectorcall), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyComposite, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

using Callable = Typed<"collections.abc.Callable[..., typing.Any]">;

// The name of the function, and that of its namespace if an operation or another composite has the
// name: "linalg.trace".
std::string new_key(const Callable& function) {
  const std::string name = pybind11::str(function.attr("__name__"));
  if (!is_operation_name(name)) return name;
  const std::string module = pybind11::str(function.attr("__module__"));
  const size_t start = module.find('.') + 1;
  return module.substr(start, module.find('.', start) - start) + "." + name;
}

// The key of a composite or of a method that is one; None for other objects.
Typed<"str | None"> key_of(const pybind11::object& function) {
  PyObject* object = function.ptr();
  if (PyMethod_Check(object)) object = PyMethod_GET_FUNCTION(object);
  if (Py_TYPE(object) != composite_type) return pybind11::none();
  return pybind11::str(name_of(composite_self(object)->which));
}

Callable make_composite(const Callable& function, bool of_sequence) {
  auto* self = PyObject_GC_New(PyComposite, composite_type);
  if (!self) throw pybind11::error_already_set();
  self->vectorcall = composite_call;
  self->function = pybind11::object(function).release().ptr();
  self->weak_references = nullptr;
  self->which = add_composite(new_key(function));
  self->of_sequence = of_sequence;
  PyObject_GC_Track(self);
  return pybind11::reinterpret_steal<Callable>(reinterpret_cast<PyObject*>(self));
}

}  // namespace

const char* open_composite() { return open; }

void bind_composite(pybind11::module_& m) {
  PyType_Slot slots[] = {
      {Py_tp_call, slot(PyVectorcall_Call)},      {Py_tp_descr_get, slot(composite_get)},
      {Py_tp_getattro, slot(composite_getattr)},  {Py_tp_setattro, slot(composite_setattr)},
      {Py_tp_traverse, slot(composite_traverse)}, {Py_tp_clear, slot(composite_clear)},
      {Py_tp_dealloc, slot(composite_dealloc)},   {Py_tp_repr, slot(composite_repr)},
      {Py_tp_methods, composite_methods},         {Py_tp_getset, composite_attributes},
      {Py_tp_members, composite_members},         {0, nullptr}};
  PyType_Spec spec = {"pullback._core._Composite", sizeof(PyComposite), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  composite_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!composite_type) throw pybind11::error_already_set();
  m.def("composite", &make_composite, pybind11::arg("function"), pybind11::arg("of_sequence"),
        "Name the results of a function that is made of several operations.");
  m.def(
      "composite_names",
      [] {
        std::vector<std::string> names;
        for (int i = static_cast<int>(Composite::count); i < composites(); ++i) {
          names.emplace_back(name_of(static_cast<Composite>(i)));
        }
        return names;
      },
      "Return the names of the functions that `composite` wraps.");
  m.def("composite_key", &key_of, pybind11::arg("function"),
        "Return the name of the nodes of a function that `composite` wraps; None for others.");
}

}  // namespace pullback
