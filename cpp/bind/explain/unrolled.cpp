// Unrolled loops and inlined branches for explanations: see explain/unrolled_below.h.

#include <memory>
#include <utility>
#include <vector>

#include "bind/arrays/convert.h"
#include "bind/common/tensor.h"
#include "bind/explain/sites.h"
#include "explain/unrolled_below.h"
#include "graph/operation.h"
#include "graph/recorder.h"
#include "graph/runtime.h"
#include "graph/walk.h"

namespace pullback {
namespace {

// While one exists, nodes are made without a site in the user's program.
class NoSites {
 public:
  NoSites() : before_(std::exchange(runtime.find_site, nullptr)) {}
  ~NoSites() { runtime.find_site = before_; }
  NoSites(const NoSites&) = delete;
  NoSites& operator=(const NoSites&) = delete;

 private:
  uint32_t (*before_)();
};

UnrolledBelow unrolled_nowhere(const NodeRef& y, const std::vector<NodeRef>& steps,
                               const std::vector<NodeRef>& ends) {
  std::vector<NodeRef> operations;
  for (const NodeRef& step : steps) {
    if (step->op == Op::output) operations.emplace_back(operation_of(step.get()));
  }
  const NoSites nowhere;
  return unrolled_below(y, operations, ends);
}

// (y, {number of an unrolled operation: (kind, number of iterations or branch, function)}, parts,
// [(number of a copy, number of its original)]).
using UnrolledParts = Typed<
    "tuple[Tensor, dict[int, tuple[str, int, str]], list[dict[str, typing.Any]], "
    "list[tuple[int, int]]]",
    py::tuple>;
UnrolledParts unrolled_parts(const NodeRef& y, const std::vector<NodeRef>& steps,
                             const std::vector<NodeRef>& ends) {
  const UnrolledBelow below = unrolled_nowhere(y, steps, ends);
  const py::handle range(reinterpret_cast<PyObject*>(&PyRange_Type));
  py::list parts;
  py::dict ran;
  for (const auto& [node, number, all] : below.unrolled) {
    const auto bodies = static_cast<int64_t>(node->operation->bodies.size());
    const std::string function = all.empty() ? "" : all[0].body->name;
    ran[py::int_(node->seq)] = py::make_tuple(name_of(node->op), number, function);
    for (const UnrolledPart& part : all) {
      py::dict entry;
      entry["operation"] = node->seq;
      entry["kind"] = name_of(node->op);
      entry["function"] = part.body->name;
      entry["first"] = part.first;
      entry["count"] = part.count;
      entry["of"] = node->op == Op::loop ? number : bodies;
      entry["closed"] = part.closed;
      entry["numbers"] = range(part.begin, part.end);
      entry["copies"] = py::cast(part.copies);
      parts.append(entry);
    }
  }
  return py::make_tuple(py::reinterpret_steal<py::object>(wrap(below.y)), ran, parts, below.copies);
}

}  // namespace

void bind_unrolled(py::module_& m) {
  m.def("unrolled_below", &unrolled_parts, py::arg("y"), py::arg("steps"), py::arg("ends"),
        "Rebuild `y` without the loops and branches among `steps`.");
  m.def(
      "records_aside",
      [](bool begin) {
        static thread_local std::vector<std::unique_ptr<SeparateRecords>> blocks;
        if (begin) {
          blocks.push_back(std::make_unique<SeparateRecords>());
        } else if (!blocks.empty()) {
          blocks.pop_back();
        }
      },
      py::arg("begin"),
      "Begin or end a block in which the nodes of this thread have their own records.");
}

}  // namespace pullback
