// evaluate(), gradients() and tangents(): the requests of all passes are made here (PassArguments),
// for calls of the user with checks and without intermediate lists.

#include <algorithm>
#include <optional>

#include "bind/arrays/convert.h"
#include "bind/arrays/escapes.h"
#include "bind/arrays/tree.h"
#include "bind/common/tensor.h"
#include "bind/common/trace_checks.h"
#include "bind/grad/rules.h"
#include "eval/evaluate.h"
#include "grad/forward.h"
#include "grad/reverse.h"
#include "grad/tape.h"
#include "grad/taylor.h"
#include "graph/recorder.h"
#include "graph/walk.h"

namespace pullback {
namespace {

// --- evaluate(*nested)

bool has_value_to_see(PyObject* object) { return is_tensor(object) || is_variable(object); }

NodeRef node_to_see(PyObject* object) {
  NodeRef node = as_node(object);
  check_has_value(node, "evaluate", "return it from the function to see it");
  check_escape(node, "evaluate", EscapeForm::Array, true);
  if (recording) record_read(node.get(), "evaluate");
  return node;
}

py::object evaluated(PyObject* const* args, Py_ssize_t count) {
  if (count == 1 && has_value_to_see(args[0])) return array_from_node(node_to_see(args[0]));
  std::vector<py::object> leaves;
  std::vector<Tree> trees;
  for (Py_ssize_t i = 0; i < count; ++i)
    trees.push_back(Tree::flatten(args[i], &leaves, "evaluate"));
  std::vector<NodeRef> roots;
  for (const py::object& leaf : leaves) {
    if (has_value_to_see(leaf.ptr())) roots.push_back(node_to_see(leaf.ptr()));
  }
  evaluate(pointers(roots));
  size_t next = 0;
  for (py::object& leaf : leaves) {
    if (has_value_to_see(leaf.ptr())) leaf = array_from_node(roots[next++]);
  }
  const std::span<py::object> all(leaves);
  if (count == 1) return trees[0].unflatten(all);
  py::tuple out(count);
  size_t first = 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    py::object value = trees[i].unflatten(all.subspan(first, trees[i].leaves()));
    first += trees[i].leaves();
    PyTuple_SET_ITEM(out.ptr(), i, value.release().ptr());
  }
  return out;
}

PyObject* evaluate_pytrees(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded<PyObject*>(nullptr, [&] { return evaluated(args, count).release().ptr(); });
}

// --- gradients and tangents(ys, xs, seeds, stops, overrides, zeros)

// Calls each(entry) for one tensor or variable, for every entry of a list or tuple, or for the
// leaves of another pytree, whose structure is then returned.
template <class Each>
std::optional<Tree> for_tensors(PyObject* value, const std::string& who, const char* name,
                                Each&& each) {
  PyObject** entries = &value;
  Py_ssize_t count = 1;
  if (PyList_CheckExact(value) || PyTuple_CheckExact(value)) {
    entries = PySequence_Fast_ITEMS(value);
    count = PySequence_Fast_GET_SIZE(value);
  }
  if (std::all_of(entries, entries + count, has_value_to_see)) {
    std::for_each(entries, entries + count, each);
    return std::nullopt;
  }
  std::vector<py::object> leaves;
  // None is an empty subtree of a pytree, but alone, in a list of tensors, or as a target it is a
  // mistake.
  const bool none_is_leaf = value == Py_None || PyList_CheckExact(value) ||
                            PyTuple_CheckExact(value) || std::string_view(name) == "ys";
  Tree tree = Tree::flatten(value, &leaves, Tree::Leaves{none_is_leaf, {}});
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!has_value_to_see(leaves[i].ptr())) {
      fail(ErrorKind::Type, who, ": expected a Tensor or a Variable for ", name, "[",
           static_cast<int64_t>(i), "], got ", shown(leaves[i]));
    }
    each(leaves[i].ptr());
  }
  return tree;
}

// True if nodes made from a leaf kept their history, because it was watched then.
bool has_history_from(const Node* x, const std::vector<NodeRef>& ys) {
  std::vector<Node*> below;
  walk(pointers(ys), &below, [&](const Node* node) {
    return node->tracked() && node->seq > x->seq ? node->inputs() : std::span<Node* const>();
  });
  return std::find(below.begin(), below.end(), x) != below.end();
}

void check_tracked(const GradientRequest& request, const char* who) {
  bool from_birth = true;
  for (size_t i = 0; i < request.xs.size(); ++i) {
    const Node* x = request.xs[i].node.get();
    if (!x || x->flags & kTracked) continue;
    const auto is_it = [&](const NodeRef& y) { return y.get() == x; };
    if (std::any_of(request.ys.begin(), request.ys.end(), is_it)) continue;
    from_birth = false;
    if (!is_inexact(x->dtype) || x->tracked() || has_history_from(x, request.ys)) continue;
    fail(ErrorKind::Value, who, ": xs[", static_cast<int64_t>(i), "] (shape ", x->shape, ", ",
         x->dtype,
         ") is not tracked, so tensors computed from it kept no history; make it a Variable, watch "
         "it with a GradientTape before it is used, or differentiate a function of it with grad");
  }
  // Nodes made from a variable, or from a tensor that was tracked at its creation, are always
  // tracked; for these None is correct. Another tensor may have been watched too late.
  if (from_birth || request.ys.empty()) return;
  for (const NodeRef& y : request.ys) {
    if (y->tracked()) return;
  }
  fail(ErrorKind::Value, who,
       ": expected a tracked tensor in ys, got none: no y depends on a variable or on a tensor "
       "that was watched, so their history was not kept; watch the xs with a GradientTape before "
       "they are used, or differentiate a function with grad");
}

// Zeros for an x on which the ys do not depend.
NodeRef zeros_like(PyObject* x) {
  if (!is_variable(x)) return zeros(as_node(x)->shape, as_node(x)->dtype);
  const Variable* variable = variable_of(x);
  return zeros(variable->shape, variable->dtype);
}

enum class Direction : uint8_t { Reverse, Forward };
enum class Caller : uint8_t { User, Library };  // the xs of a user's call are checked

// The arguments that both directions share: ys, xs, stops and overrides, and the structure of the
// result.
struct PassArguments {
  GradientRequest request;
  std::vector<py::object> answered;  // xs or ys; kept because a rule may empty the list that
                                     // contained them
  std::vector<NodeRef> seeds;
  OverrideMap overrides;
  std::optional<Tree> structure;

  PassArguments(py::handle of_ys, py::handle of_xs, py::handle of_seeds, py::handle stops,
                py::handle rules, const std::string& who, Direction direction, Caller caller) {
    const bool forward = direction == Direction::Forward;
    const auto note = [this](PyObject* x) {
      answered.push_back(py::reinterpret_borrow<py::object>(x));
    };
    auto ys = for_tensors(of_ys.ptr(), who, "ys", [&](PyObject* y) {
      request.ys.push_back(as_node(y));
      if (forward) note(y);
    });
    auto xs = for_tensors(of_xs.ptr(), who, "xs", [&](PyObject* x) {
      request.xs.push_back(source_of(x));
      if (!forward) note(x);
    });
    structure = forward ? std::move(ys) : std::move(xs);
    if (!stops.is_none()) {
      for_tensors(stops.ptr(), who, "stop_gradients",
                  [&](PyObject* x) { request.stop.push_back(source_of(x)); });
    }
    if (caller == Caller::User && !request.xs.empty()) check_tracked(request, who.c_str());
    if (!of_seeds.is_none()) {
      for (py::handle g : of_seeds) {
        seeds.push_back(g.is_none() ? nullptr : to_node(g.ptr(), who.c_str()));
      }
    }
    if (py::isinstance<py::bool_>(rules)) {
      // The overrides of the gradient that is calling this rule, for a part of its graph that was
      // not built before.
      if (const OverrideMap* given = overrides_of_caller()) {
        overrides = *given;  // the rule may outlive the call
        request.overrides = &overrides;
      }
    } else if (!rules.is_none()) {
      overrides = override_map(py::reinterpret_borrow<py::dict>(rules));
      request.overrides = &overrides;
    }
  }
  // From the six arguments of an entry for the user's calls.
  PassArguments(PyObject* const* args, const char* who, Direction direction)
      : PassArguments(args[0], args[1], args[2], args[3], args[4], who, direction, Caller::User) {}
  // request.overrides is a pointer into this object.
  PassArguments(const PassArguments&) = delete;
  PassArguments& operator=(const PassArguments&) = delete;

  py::object answer(std::vector<NodeRef> answers, bool with_zeros) const {
    std::vector<py::object> out;
    for (size_t i = 0; i < answers.size(); ++i) {
      const py::handle of = answered[i];
      if (!answers[i] && with_zeros) answers[i] = zeros_like(of.ptr());
      // A Python float that was passed to a function has the default dtype for its readers.
      const Node* weak = is_variable(of.ptr()) ? nullptr : as_node(of.ptr()).get();
      if (answers[i] && weak && weak->flags & kWeak && is_float(weak->dtype)) {
        answers[i] = cast(answers[i], default_float());
      }
      out.push_back(answers[i] ? py::reinterpret_steal<py::object>(wrap(answers[i])) : py::none());
    }
    if (structure) return structure->unflatten(out);
    py::list list(out.size());
    for (size_t i = 0; i < out.size(); ++i) {
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), out[i].release().ptr());
    }
    return list;
  }
};

// For an x on which no y depends; `what` is the name of the xs.
void check_x(const GradientRequest& request, size_t i, const char* who, const char* what = "xs") {
  const Node* x = request.xs[i].node.get();
  if (x) check_not_leaked(x, request.ys, who, text(what, "[", static_cast<int64_t>(i), "]"));
}

py::object checked_gradients(PyObject* const* args) {
  PassArguments arguments(args, "gradients", Direction::Reverse);
  GradientRequest& request = arguments.request;
  request.grad_ys = std::move(arguments.seeds);
  for (size_t i = 0; i < request.ys.size(); ++i) {
    if (!is_complex(request.ys[i]->dtype)) continue;
    if (i < request.grad_ys.size() && request.grad_ys[i]) continue;
    fail(ErrorKind::Type, "gradients: expected a real tensor for ys[", static_cast<int64_t>(i),
         "], got ", request.ys[i]->dtype,
         "; use real(y), imag(y) or abs(y), or pass its cotangent as grad_ys");
  }
  std::vector<NodeRef> answers;
  if (!request.xs.empty()) answers = gradients(request);
  for (size_t i = 0; i < answers.size(); ++i) {
    if (!answers[i]) check_x(request, i, "gradients");
  }
  return arguments.answer(std::move(answers), args[5] == Py_True);
}

py::object checked_tangents(PyObject* const* args) {
  PassArguments arguments(args, "tangents", Direction::Forward);
  std::vector<NodeRef> answers(arguments.request.ys.size());
  GradientRequest& request = arguments.request;
  if (!request.xs.empty()) answers = tangents({request, std::move(arguments.seeds), {}});
  if (std::ranges::none_of(answers, [](const NodeRef& t) { return static_cast<bool>(t); })) {
    for (size_t i = 0; i < request.xs.size(); ++i) check_x(request, i, "tangents");
  }
  return arguments.answer(std::move(answers), args[5] == Py_True);
}

// --- the same for lists of tensors, from the library

using OptionalTensors = Typed<"list[Tensor | None]", py::list>;
using Cotangents = Typed<"collections.abc.Iterable[pullback._typing.TensorLike | None] | None">;
using TermList = Typed<"list[pullback._typing.TensorLike | None]", py::list>;
// True: the overrides of the gradient that calls the running rule.
using OverridesArgument = Typed<"dict[str, Rule] | bool | None">;

OptionalTensors gradients_of(const SourceList& ys, const SourceList& xs, const Cotangents& grad_ys,
                             const SourceList& stop, const OverridesArgument& overrides,
                             const Tape* tape, bool integers, bool rows,
                             const std::vector<NodeRef>& masks) {
  PassArguments arguments(ys, xs, grad_ys, stop, overrides, "gradients", Direction::Reverse,
                          Caller::Library);
  GradientRequest& request = arguments.request;
  request.grad_ys = std::move(arguments.seeds);
  request.tape = tape;
  request.integers = integers;
  request.rows = rows;
  request.masks = masks;
  std::vector<NodeRef> answers = gradients(request);
  for (size_t i = 0; tape && i < answers.size(); ++i) {
    if (!answers[i]) check_x(request, i, "gradient", "sources");  // requested by the user
  }
  return arguments.answer(std::move(answers), false);
}

OptionalTensors tangents_of(const SourceList& ys, const SourceList& xs,
                            const std::vector<NodeRef>& xs_tangents,
                            const std::vector<NodeRef>& masks) {
  const PassArguments arguments(ys, xs, py::none(), py::none(), py::none(), "tangents",
                                Direction::Forward, Caller::Library);
  return arguments.answer(tangents({arguments.request, xs_tangents, masks}), false);
}

Typed<"list[list[Tensor | None]]"> path_of(const SourceList& ys, const SourceList& xs,
                                           const std::vector<TermList>& terms, size_t order) {
  PassArguments arguments(ys, xs, py::none(), py::none(), py::none(), "jet", Direction::Forward,
                          Caller::Library);
  PathRequest request;
  request.of = std::move(arguments.request);
  request.order = order;
  for (const py::list& list : terms) {
    Terms& of_x = request.terms.emplace_back();
    for (py::handle t : list) of_x.push_back(t.is_none() ? nullptr : to_node(t.ptr(), "jet"));
  }
  return py::cast(along_path(request));
}

// --- the module's functions

template <py::object (*answer)(PyObject* const*)>
PyObject* derivative_entry(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded<PyObject*>(nullptr, [&] {
    if (count != 6) fail(ErrorKind::Type, "gradients, tangents: expected 6 arguments");
    return answer(args).release().ptr();
  });
}

PyMethodDef functions[] = {
    {"evaluate", fast(evaluate_pytrees), METH_FASTCALL,
     "evaluate(*nested: builtins.object) -> typing.Any\n\nEvaluate pytrees."},
    {"checked_gradients", fast(derivative_entry<checked_gradients>), METH_FASTCALL,
     "checked_gradients(ys: builtins.object, xs: builtins.object, seeds: "
     "collections.abc.Iterable[pullback._typing.TensorLike | None] | None, stops: builtins.object, "
     "overrides: dict[str, Rule] | None, zeros: bool, /) -> typing.Any\n\n"
     "Check pytrees of tensors and variables and compute gradients in the structure of `xs`."},
    {"checked_tangents", fast(derivative_entry<checked_tangents>), METH_FASTCALL,
     "checked_tangents(ys: builtins.object, xs: builtins.object, seeds: "
     "collections.abc.Iterable[pullback._typing.TensorLike | None] | None, stops: builtins.object, "
     "overrides: dict[str, Rule] | None, zeros: bool, /) -> typing.Any\n\n"
     "Check pytrees of tensors and variables and compute tangents in the structure of `ys`."},
};

}  // namespace

void add_functions(py::module_& m, std::span<PyMethodDef> definitions) {
  for (PyMethodDef& function : definitions) {
    m.add_object(function.ml_name, py::reinterpret_steal<py::object>(PyCFunction_NewEx(
                                       &function, nullptr, m.attr("__name__").ptr())));
  }
}

void bind_entries(py::module_& m) {
  add_functions(m, functions);
  m.def("gradients", &gradients_of, py::arg("ys"), py::arg("xs"), py::arg("grad_ys") = py::none(),
        py::arg("stop_gradients") = py::list(), py::arg("overrides") = py::none(),
        py::arg("tape") = py::none(), py::arg("integers") = false, py::arg("rows") = false,
        py::arg("masks") = std::vector<NodeRef>(),
        "Compute gradients by reverse mode; None for an `x` without a path.");
  m.def("tangents", &tangents_of, py::arg("ys"), py::arg("xs"), py::arg("xs_tangents"),
        py::arg("masks") = std::vector<NodeRef>(),
        "Compute tangents by forward mode; None for a `y` without a path.");
  m.def("along_path", &path_of, py::arg("ys"), py::arg("xs"), py::arg("terms"), py::arg("order"),
        "Compute the derivatives of each `y` along a path, up to `order`; None is zero.");
  m.def(
      "tensors_of",
      [](const AnyObject& value, const std::string& who, const char* name)
          ->Typed<"list[pullback._typing.Source]"> {
            py::list out;
            for_tensors(value.ptr(), who, name, [&](PyObject* x) { out.append(py::handle(x)); });
            return out;
          },
      py::arg("value"), py::arg("who"), py::arg("name"),
      "Return the leaves of a pytree of tensors and variables; errors name the argument.");
}

}  // namespace pullback
