// Data for explanations: ancestors of tensors, with sites and recorded reads of values, as plain
// tuples.

#include "explain/ancestry.h"
#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/explain/sites.h"
#include "bind/grad/rules.h"
#include "eval/evaluate.h"
#include "grad/tape.h"
#include "graph/walk.h"
#include "ops/ops.h"

namespace pullback {
namespace {

py::dict described(const Ancestor& ancestor) {
  const Node* node = ancestor.node.get();
  py::dict out;
  out["number"] = ancestor.seq;
  out["name"] = ancestor.name;
  out["dtype"] = ancestor.dtype ? py::object(py::cast(*ancestor.dtype)) : py::none();
  out["inputs"] = py::cast(ancestor.inputs);
  out["given"] = py::cast(ancestor.given);
  out["passes"] = ancestor.passes;
  out["stopped"] = ancestor.stopped;
  out["recorded"] = ancestor.recorded;
  out["rule"] = ancestor.rule ? py::object(py::str(ancestor.rule->name)) : py::none();
  out["own_rule"] = ancestor.rule && ancestor.rule->of_library;
  out["custom"] = ancestor.custom;
  out["scalar"] = ancestor.scalar;
  out["variable"] = ancestor.variable;
  out["variable_name"] = ancestor.variable ? recorded_name(ancestor.variable) : "";
  const Node* operation = node && node->op == Op::output ? operation_of(node) : nullptr;
  const bool control = operation && traits(operation->op).step == StepKind::Control;
  out["operation"] = control ? operation->seq : 0;
  out["place"] = site_of(ancestor.site);
  const Record* record = record_of(ancestor.seq);
  out["through"] = record && record->through ? record->through : "";
  out["tensor"] = node ? py::reinterpret_steal<py::object>(wrap(ancestor.node)) : py::none();
  out["tracked"] = ancestor.tracked;
  out["traced"] = node && (node->flags & kTraced);
  out["origin"] = node && node->origin ? node->origin->name : "";
  return out;
}

Typed<"list[dict[str, typing.Any]]", py::list> ancestors(
    const std::vector<NodeRef>& ys, const SourceList& xs, const SourceList& stop,
    const OptionalRules& overrides, const Tape* tape, const std::vector<uint64_t>& also,
    bool assignments) {
  GradientRequest request;
  request.ys = ys;
  for (py::handle x : xs) request.xs.push_back(source_of(x.ptr()));
  for (py::handle x : stop) request.stop.push_back(source_of(x.ptr()));
  OverrideMap map;
  if (!overrides.is_none()) {
    map = override_map(overrides);
    request.overrides = &map;
  }
  request.tape = tape;
  py::list out;
  for (const Ancestor& ancestor : ancestry(request, also, assignments))
    out.append(described(ancestor));
  return out;
}

// (number of the tensor, number of the next node, site, how, shape, value) of every recorded read.
Typed<"list[tuple[int, int, pullback._typing.Site | None, str, tuple[int, ...], float | None]]",
      py::list>
list_reads() {
  py::list out;
  for (const ValueRead& read : recorded_reads()) {
    out.append(
        py::make_tuple(read.seq, read.next, site_of(read.site), read.how, read.shape, read.number));
  }
  return out;
}

// The values of some tensors; does not count as a read by the program.
Typed<"list[numpy.typing.NDArray[typing.Any]]", py::list> arrays_of(
    const std::vector<NodeRef>& nodes) {
  evaluate(pointers(nodes));
  py::list out;
  for (const NodeRef& node : nodes) out.append(array_from_node(node));
  return out;
}

// (number, variable, tracked, when the tape watched it or None) of a tensor or a variable.
Typed<"tuple[int, int, bool, int | None]", py::tuple> identity_of(
    const Typed<"pullback._typing.Source">& x, const Tape* tape) {
  const Source source = source_of(x.ptr());
  const uint64_t seq = source.node ? source.node->seq : 0;
  const uint64_t variable = source.node ? source.node->variable : source.variable;
  py::object since = py::none();
  if (tape) {
    Node placeholder;
    placeholder.variable = variable;
    const uint64_t watched = tape->watched_since(source.node ? source.node.get() : &placeholder);
    if (watched != Tape::kNever) since = py::int_(watched);
  }
  return py::make_tuple(seq, variable, !source.node || source.node->tracked(), since);
}

}  // namespace

void bind_ancestry(py::module_& m) {
  m.def("ancestors", &ancestors, py::arg("ys"), py::arg("xs"), py::arg("stop"),
        py::arg("overrides"), py::arg("tape") = py::none(),
        py::arg("also") = std::vector<uint64_t>(), py::arg("assignments") = false,
        "Describe the tensors from which the `ys` are computed.");
  m.def("recorded_reads", &list_reads,
        "Return the recorded reads of values: number of the tensor, number of the next node, site, "
        "function, shape and value.");
  m.def("arrays_of", &arrays_of, py::arg("tensors"),
        "Return the values of tensors; not recorded as reads.");
  m.def("identity_of", &identity_of, py::arg("x"), py::arg("tape") = py::none(),
        "Return the numbers of the tensor and of its variable, whether it is tracked, and since "
        "which number the tape watches it.");
  m.def(
      "place_of", [](const NodeRef& node) { return site_of(site_number(node.get())); },
      py::arg("x"), "Return file, line and function where a tensor was made, if recorded.");
  m.def("recording", [] { return recording; }, "Test whether the program records.");
}

}  // namespace pullback
