// The Python type of traced functions, written against the C API: the interpreter calls
// TracedFunction::call directly.

#include <pybind11/stl.h>

#include "bind/common/found_once.h"
#include "bind/common/tensor.h"
#include "bind/common/typed.h"
#include "bind/explain/sites.h"
#include "bind/types/function.h"

// After Python.h, which it needs but does not include.
#include <structmember.h>

namespace pullback {
namespace {

struct PyFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* dict;
  PyObject* weak_references;
  TracedFunction* function;  // owned
};

PyTypeObject* function_type = nullptr;

PyFunction* function_self(PyObject* object) { return reinterpret_cast<PyFunction*>(object); }

PyObject* function_call(PyObject* self, PyObject* const* args, size_t flags, PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    // The call may drop the last other reference to the function.
    const auto held = py::reinterpret_borrow<py::object>(self);
    return function_self(self)
        ->function->call({args, PyVectorcall_NARGS(flags), names})
        .release()
        .ptr();
  });
}

PyObject* function_get(PyObject* self, PyObject* instance, PyObject*) {
  if (instance && instance != Py_None) return PyMethod_New(self, instance);
  Py_INCREF(self);
  return self;
}

int function_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(function_self(object)->dict);
  return function_self(object)->function ? function_self(object)->function->traverse(visit, arg)
                                         : 0;
}

int function_clear(PyObject* object) {
  Py_CLEAR(function_self(object)->dict);
  if (function_self(object)->function) function_self(object)->function->drop();
  return 0;
}

void function_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_UnTrack(object);
  if (function_self(object)->weak_references) PyObject_ClearWeakRefs(object);
  Py_CLEAR(function_self(object)->dict);
  delete std::exchange(function_self(object)->function, nullptr);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

PyObject* function_repr(PyObject* self) {
  return PyUnicode_FromFormat("<function of pullback: %s>",
                              function_self(self)->function->place().c_str());
}

using FastMethod = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);

PyObject* plan_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    const Located located;
    const auto record = function_self(self)->function->record_of({args, count, names}, "plan");
    return py::str(record->trace->describe(&line_of)).release().ptr();
  });
}

PyObject* graph_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guarded<PyObject*>(nullptr, [&] {
    const auto record = function_self(self)->function->record_of({args, count, names}, "graph");
    return py::str(record->trace->listing()).release().ptr();
  });
}

PyObject* cache_info_method(PyObject* self, PyObject*) {
  return guarded<PyObject*>(nullptr, [&] {
    const py::handle type = found_once([]() -> py::object {
      return py::module_::import("collections")
          .attr("namedtuple")("CacheInfo", "hits misses currsize");
    });
    const TracedFunction& function = *function_self(self)->function;
    return type(function.hits(), function.misses(), function.size()).release().ptr();
  });
}

PyObject* clear_cache_method(PyObject* self, PyObject*) {
  function_self(self)->function->clear();
  Py_RETURN_NONE;
}

// By name, as Python functions are pickled and copied.
PyObject* reduce_function(PyObject* self, PyObject*) {
  return PyObject_GetAttrString(self, "__qualname__");
}

PyCFunction as_function(FastMethod method) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(method));
}

PyMethodDef function_methods[] = {
    {"plan", as_function(plan_method), METH_FASTCALL | METH_KEYWORDS,
     R"(plan($self, *args, **kwargs)
--

plan(self, *args: object, **kwargs: object) -> str

Return the plan of a call with these arguments, without running it.

The function is traced if there was no such call before.

Parameters
----------
*args, **kwargs : any
    Arguments of the call.

Returns
-------
str
    One line for each step.
)"},
    {"graph", as_function(graph_method), METH_FASTCALL | METH_KEYWORDS,
     R"(graph($self, *args, **kwargs)
--

graph(self, *args: object, **kwargs: object) -> str

Return the operations recorded for a call with these arguments, without running them.

The function is traced if there was no such call before.

Parameters
----------
*args, **kwargs : any
    Arguments of the call.

Returns
-------
str
    One line for each operation: name, operation, inputs, dtype and shape.
)"},
    {"cache_info", cache_info_method, METH_NOARGS,
     R"(cache_info($self)
--

cache_info(self) -> pullback._typing.CacheInfo

Return counts of the cache of traces.

Returns
-------
CacheInfo
    Named tuple of the numbers of calls that found a trace (`hits`), of calls that
    created one (`misses`), and of stored traces (`currsize`).
)"},
    {"clear_cache", clear_cache_method, METH_NOARGS,
     "clear_cache($self)\n--\n\nclear_cache(self) -> None\n\nRemove all traces; the next call "
     "traces again."},
    {"__reduce__", reduce_function, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef function_attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(PyFunction, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(PyFunction, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(PyFunction, weak_references), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

Typed<"Function"> make_function(Typed<"collections.abc.Callable[..., builtins.object]"> f,
                                std::string name, std::string place, std::vector<size_t> positions,
                                std::vector<py::str> names, size_t capacity) {
  auto function = std::make_unique<TracedFunction>(
      std::move(f), std::move(name), std::move(place), std::move(positions),
      std::vector<py::object>(names.begin(), names.end()), capacity);
  auto* self = PyObject_GC_New(PyFunction, function_type);
  if (!self) throw py::error_already_set();
  self->vectorcall = function_call;
  self->dict = nullptr;
  self->weak_references = nullptr;
  self->function = function.release();
  PyObject_GC_Track(self);
  return py::reinterpret_steal<Typed<"Function">>(reinterpret_cast<PyObject*>(self));
}

}  // namespace

Located::Located() { set_recording(true); }

Located::~Located() {
  const auto functions = std::exchange(located_functions, {});
  for (const auto& home : functions) {
    if (*home) (*home)->forget_located();
  }
  set_recording(false);
}

void bind_function(py::module_& m) {
  m.def(
      "inline_functions", [](int change) { inlining += change; }, py::arg("change"),
      "Add to the number of open blocks that run traced functions as plain Python.");
  PyType_Slot slots[] = {{Py_tp_call, slot(PyVectorcall_Call)},
                         {Py_tp_descr_get, slot(function_get)},
                         {Py_tp_traverse, slot(function_traverse)},
                         {Py_tp_clear, slot(function_clear)},
                         {Py_tp_dealloc, slot(function_dealloc)},
                         {Py_tp_repr, slot(function_repr)},
                         {Py_tp_methods, function_methods},
                         {Py_tp_getset, function_attributes},
                         {Py_tp_members, function_members},
                         {Py_tp_doc, const_cast<char*>("Trace a function once for each "
                                                       "signature; `pullback.function` makes it.")},
                         {0, nullptr}};
  PyType_Spec spec = {"pullback._core.Function", sizeof(PyFunction), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                          Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                      slots};
  function_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!function_type) throw py::error_already_set();
  m.add_object("Function", py::handle(reinterpret_cast<PyObject*>(function_type)));
  m.def("make_function", &make_function, py::arg("f"), py::arg("name"), py::arg("place"),
        py::arg("positions"), py::arg("names"), py::arg("capacity"),
        "Make a Function; `positions` and `names` are its static arguments.");
}

}  // namespace pullback
