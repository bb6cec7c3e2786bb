// Binds rules in Python, overrides, the registry, and batches. Gradients are in package_calls.cpp,
// tapes and traces in tape.cpp.

#include <algorithm>

#include "base/error.h"
#include "bind/arrays/convert.h"
#include "bind/common/context.h"
#include "bind/common/no_pickle.h"
#include "bind/common/tensor.h"
#include "bind/grad/rules.h"
#include "grad/registry.h"
#include "grad/sparse/row_squares.h"
#include "grad/sparse/sparse_rows.h"
#include "graph/runtime.h"
#include "graph/walk.h"
#include "ops/rule_in_body.h"
#include "transform/batch.h"
#include "transform/batch_index.h"

namespace pullback {
namespace {

// fn(op name, inputs, outputs, cotangents) -> one tensor or None for each input.
struct PythonRule : Rule {
  struct Running {
    Running() { ++running_rules; }
    ~Running() { --running_rules; }
  };

  PythonRule(py::object fn, std::string rule_name) : fn(std::move(fn)) {
    name = std::move(rule_name);
  }

  std::vector<Cotangent> apply(const RuleCall& call) override {
    const auto tensors = [](std::span<Node* const> nodes) {
      py::list list;
      for (Node* node : nodes) list.append(node ? tensor_object(NodeRef(node)) : py::none());
      return list;
    };
    const Running running;
    py::object answer =
        fn(call.op, tensors(call.inputs), tensors(call.outputs), tensors(call.cotangents));
    std::vector<Cotangent> out;
    for (py::handle entry : answer) {
      if (entry.is_none()) {
        out.push_back({});
      } else {
        out.push_back({Cotangent::Value, to_node(entry.ptr(), name.c_str()), nullptr});
      }
    }
    return out;
  }

  py::object fn;
};

using RuleFunction = Typed<
    "collections.abc.Callable[[str, list[Tensor], list[Tensor], list[Tensor | None]], "
    "collections.abc.Iterable[pullback._typing.TensorLike | None]]">;

// A rule as a Python object.
struct RuleHandle {
  Ref<Rule> rule;
};

// For each x, whether some y is computed from its value.
std::vector<bool> computed_from(const std::vector<NodeRef>& ys, const std::vector<NodeRef>& xs) {
  std::vector<Node*> under;
  walk(pointers(ys), &under, value_inputs);
  std::ranges::sort(under);
  std::vector<bool> out;
  for (const NodeRef& x : xs) out.push_back(std::ranges::binary_search(under, x.get()));
  return out;
}

// The attributes of an operation, under the argument names of the public functions.
Typed<"dict[str, int | bool | tuple[int, ...]]", py::dict> attributes_of(const NodeRef& node) {
  py::dict out;
  const Attr& attr = node->attr;
  const Composite composite = node->op == Op::custom ? attr.composite : Composite::None;
  const bool folds = is_fold(node->op) || composite == Composite::mean ||
                     composite == Composite::prod || composite == Composite::max ||
                     composite == Composite::min || composite == Composite::logsumexp;
  if (folds) {
    py::list axes;
    for (int64_t d = 0; d < kMaxRank; ++d) {
      if (attr.axes >> d & 1) axes.append(d);
    }
    out["axis"] = py::tuple(axes);
    out["keepdims"] = attr.keepdims;
  } else if (composite == Composite::softmax || composite == Composite::log_softmax ||
             node->op == Op::concat || node->op == Op::take || node->op == Op::argmax ||
             node->op == Op::argmin) {
    out["axis"] = static_cast<int64_t>(attr.axis);
  } else if (node->op == Op::transpose) {
    py::list axes;
    for (int64_t d = 0; d < node->shape.rank; ++d) axes.append(attr.order[d]);
    out["axes"] = py::tuple(axes);
  }
  return out;
}

}  // namespace

PyObject* callable_of(Rule* rule) {
  if (auto* in_body = dynamic_cast<RuleInBody*>(rule)) {
    return in_body->rule()->refs == 1 ? callable_of(in_body->rule()) : nullptr;
  }
  auto* python = dynamic_cast<PythonRule*>(rule);
  return python ? python->fn.ptr() : nullptr;
}

Ref<Rule> python_rule(py::object fn, std::string name) {
  return Ref<Rule>(new PythonRule(std::move(fn), std::move(name)));
}

OverrideMap override_map(const py::dict& overrides) {
  OverrideMap map;
  for (auto [key, value] : overrides) {
    map[py::cast<std::string>(key)] = py::cast<RuleHandle&>(value).rule;
  }
  return map;
}

ContextStack<OverrideEntry>& override_stack() {
  static auto* stack = new ContextStack<OverrideEntry>("pullback.gradient_override_map");
  return *stack;
}

// `owner` is the address of the context manager; leaving removes its innermost entry.
void push_overrides(const Typed<"dict[str, Rule]", py::dict>& overrides, uintptr_t owner) {
  override_stack().enter(
      std::make_shared<OverrideEntry>(OverrideEntry{override_map(overrides), owner}));
  ++entered_overrides;
}

void pop_overrides(uintptr_t owner) {
  const auto* entries = override_stack().current();
  for (size_t i = entries ? entries->size() : 0; i-- > 0;) {
    const std::shared_ptr<OverrideEntry> entry = (*entries)[i];
    if (!entry->open || entry->owner != owner) continue;
    entry->open = false;
    --entered_overrides;
    const OverrideMap map = std::exchange(entry->map, {});  // destroying a rule may run Python code
    return;
  }
  fail(ErrorKind::Runtime,
       "gradient_override_map: __exit__ was called without __enter__ in this context");
}

Source source_of(PyObject* x) {
  if (!is_variable(x)) return {as_node(x), 0};
  return {nullptr, variable_of(x)->id};
}

void bind_rules(py::module_& m) {
  py::class_<RuleHandle> rule(m, "Rule", "A gradient rule written in Python.");
  no_pickle(rule).def(
      py::init([](RuleFunction fn, std::string name) {
        return RuleHandle{python_rule(std::move(fn), std::move(name))};
      }),
      py::arg("fn"), py::arg("name"),
      "`fn(name, inputs, outputs, cotangents)` returns a cotangent or None for each input.");
  m.def(
      "batched",
      [](std::vector<NodeRef> roots, std::vector<NodeRef> inputs, std::vector<NodeRef> batches,
         int64_t count, uint64_t first) {
        return batched(std::move(roots), {std::move(inputs), std::move(batches), count, first});
      },
      py::arg("roots"), py::arg("inputs"), py::arg("batches"), py::arg("count"), py::arg("first"),
      "Rebuild the roots for all entries of `batches` in place of `inputs`, along a first axis.");
  m.def(
      "batched_or_each",
      [](std::vector<NodeRef> roots, std::vector<NodeRef> inputs, std::vector<NodeRef> batches,
         int64_t count, bool units) {
        Batching batching{std::move(inputs), std::move(batches), count};
        batching.units = units;
        return batched_or_each(std::move(roots), batching);
      },
      py::arg("roots"), py::arg("inputs"), py::arg("batches"), py::arg("count"),
      py::arg("units") = false,
      "Do the same, one by one if needed; None if a user-defined rule prevents that.");
  m.def("batch_last", &batch_last, py::arg("x"),
        "Move the first axis, a batch, to the end; entries that are taken move in their table.");
  m.def("row_squares", &row_squares, py::arg("x"), "Compute the sum of squares of each row.");
  m.def(
      "rows_of", [](const NodeRef& x, bool as_added)->Typed<"tuple[Tensor, Tensor] | None"> {
        const auto rows = rows_of(x, as_added ? RowOrder::AsAdded : RowOrder::AsTaken);
        if (!rows) return py::none();
        return py::make_tuple(tensor_object(rows->values), tensor_object(rows->indices));
      },
      py::arg("x"), py::arg("as_added") = false,
      "Return values and indices of the rows whose sum `x` is, if it is not evaluated yet.");
  m.def(
      "custom",
      [](const std::vector<NodeRef>& inside, const std::vector<NodeRef>& inputs,
         const RuleHandle& rule) { return custom(inside, inputs, rule.rule); },
      py::arg("inside"), py::arg("inputs"), py::arg("rule"),
      "Return tensors with the values of `inside` whose gradient `rule` computes for `inputs`.");
  m.def(
      "is_number",
      [](const AnyObject& x) {
        return is_tensor(x.ptr()) && (as_node(x.ptr())->flags & kWeak) != 0;
      },
      py::arg("x"), "Test for a Python number that was an argument of a traced function.");
  runtime.current_overrides = [] { return override_stack().current(); };
  m.def("push_overrides", &push_overrides, py::arg("overrides"), py::arg("owner"),
        "Enter a block of overrides; `owner` is the address of its context manager.");
  m.def("pop_overrides", &pop_overrides, py::arg("owner"),
        "Leave the innermost block of the owner.");
  m.def(
      "register_rule",
      [](const std::string& name, const RuleHandle& rule, bool replace) {
        register_rule(name, rule.rule, replace);
      },
      py::arg("name"), py::arg("rule"), py::arg("replace"), "Register a rule under a name.");
  m.def(
      "registered_rule", [](const std::string& name)->Typed<"Rule | None"> {
        Ref<Rule> rule = registered_rule(name);
        return rule ? py::cast(RuleHandle{rule}) : py::none();
      },
      py::arg("name"), "Return the rule that is registered under a name.");
  m.def("op_names", &op_names, "Return the names of the operations.");
  m.def("discrete_op_names", &discrete_op_names,
        "Return the names of the operations whose results are integers or bool.");
  m.def("is_operation_name", &is_operation_name, py::arg("name"),
        "Test for the name of an operation or a composite.");
  m.def(
      "is_computed", [](const NodeRef& x) { return x->has_value(); }, py::arg("x"),
      "Test whether the value is computed already.");
  m.def("attributes_of", &attributes_of, py::arg("x"),
        "Return the attributes of an operation, under the argument names of the public functions.");
  m.def("computed_from", &computed_from, py::arg("ys"), py::arg("xs"),
        "Test for each `x` whether some `y` is computed from its value.");
}

}  // namespace pullback
