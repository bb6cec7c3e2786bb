// Loops and branches opened for explanations: see ops/opened.h.

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "bind/convert.h"
#include "bind/tensor.h"
#include "graph/rebuild.h"
#include "graph/recorder.h"
#include "graph/walk.h"
#include "ops/body.h"
#include "ops/opened.h"
#include "ops/ops.h"
#include "plan/evaluate.h"

namespace pullback {
namespace {

// While one lives, what is made was made nowhere in the user's program.
class NoSites {
 public:
  NoSites() : before_(std::exchange(find_site, nullptr)) {}
  ~NoSites() { find_site = before_; }
  NoSites(const NoSites&) = delete;
  NoSites& operator=(const NoSites&) = delete;

 private:
  uint32_t (*before_)();
};

// What says how many iterations a loop ran for or which branch was taken; null where that is known
// before, in `known`.
Ref<Node> number_of(const Ref<Node>& operation, int64_t* known) {
  if (operation->op == Op::branch) return Ref<Node>(operation->inputs()[0]);
  const LoopForm& form = operation->operation->loop;
  *known = form.trips;
  if (form.trips >= 0) return nullptr;
  const size_t count = operation->operation->bodies[0]->roots.size();
  return form.trips == kWhile ? output_of(operation, count) : Ref<Node>(operation->inputs().back());
}

// How many iterations they ran for, or which branches they took; nothing where that is not known
// yet. While a function is traced, the question is why there is no gradient, and it has one after
// as many iterations as it carries tensors or never.
std::unordered_map<const Node*, int64_t> numbers_of(const std::vector<Ref<Node>>& operations) {
  std::unordered_map<const Node*, int64_t> out;
  std::vector<std::pair<const Node*, Ref<Node>>> asked;
  std::vector<Node*> roots;
  for (const Ref<Node>& operation : operations) {
    int64_t known = 0;
    const Ref<Node> number = number_of(operation, &known);
    if (number == nullptr) {
      out[operation.get()] = known;
    } else if (!(number->flags & kTraced)) {
      asked.emplace_back(operation.get(), number);
      roots.push_back(number.get());
    } else if (operation->op == Op::loop) {
      out[operation.get()] = operation->operation->loop.carries;
    }
  }
  evaluate(roots);
  for (const auto& [operation, number] : asked) {
    int64_t& at = out[operation];
    at = number->op == Op::scalar ? number->scalar.i
                                  : *static_cast<const int64_t*>(number->value->data);
    const auto bodies = static_cast<int64_t>(operation->operation->bodies.size());
    if (operation->op == Op::branch) at = std::clamp<int64_t>(at, 0, bodies - 1);
  }
  return out;
}

// y as it was made, but with some operations between it and `ends`, at which a gradient ends
// anyway, opened (ops/opened.h): (y, {number of such an operation: (kind, how many iterations or
// which branch, function)}, parts, [(number of a copy, of what it is a copy of)] of what else was
// made).
py::tuple opened_below(const Ref<Node>& y, const std::vector<Ref<Node>>& steps,
                       const std::vector<Ref<Node>>& ends) {
  std::vector<Ref<Node>> operations;
  for (const Ref<Node>& step : steps) {
    if (step->op == Op::output) operations.emplace_back(operation_of(step.get()));
  }
  const auto numbers = numbers_of(operations);
  const NoSites nowhere;
  std::vector<Node*> inputs;
  for (const Ref<Node>& end : ends) inputs.push_back(end.get());
  const Subgraph piece(
      {y}, inputs, [&](const Node* node) { return numbers.contains(node); },
      [](const Node* node) { return node->tracked() || node->flags & kTraced; });
  std::unordered_map<const Node*, std::vector<uint8_t>> wanted;
  for (size_t i = 0; i < piece.size(); ++i) {
    const Node* node = piece[i].node;
    const Node* operation = node->op == Op::output ? operation_of(node) : nullptr;
    if (!numbers.contains(operation)) continue;
    auto& flags = wanted[operation];
    flags.resize(operation->operation->outputs.size());
    flags[node->output] = 1;
  }
  std::unordered_map<const Node*, Opened> opened_operations;
  py::list parts;
  const py::handle range(reinterpret_cast<PyObject*>(&PyRange_Type));
  std::vector<std::pair<uint64_t, uint64_t>> copies;
  const auto made = piece.rebuild(ends, [&](size_t, Node* node, std::span<Node* const> on) {
    if (wanted.contains(node)) {
      const int64_t number = numbers.at(node);
      if (auto found = opened(node, on, number, wanted.at(node))) {
        for (const OpenedPart& part : found->parts) {
          py::dict entry;
          entry["operation"] = node->seq;
          entry["kind"] = name_of(node->op);
          entry["function"] = part.body->name;
          entry["first"] = part.first;
          entry["count"] = part.count;
          entry["of"] =
              node->op == Op::loop ? number : static_cast<int64_t>(node->operation->bodies.size());
          entry["closed"] = part.closed;
          entry["numbers"] = range(part.begin, part.end);
          entry["copies"] = py::cast(part.copies);
          parts.append(entry);
        }
        opened_operations[node] = std::move(*found);
        return Ref<Node>(node);
      }
    }
    if (node->op == Op::output) {
      const auto at = opened_operations.find(operation_of(node));
      if (at != opened_operations.end()) return at->second.outputs[node->output];
    }
    Ref<Node> copy = copy_node(node, on);
    copies.emplace_back(copy->seq, node->seq);
    return copy;
  });
  py::dict ran;
  for (const auto& [operation, found] : opened_operations) {
    const std::string function = found.parts.empty() ? "" : found.parts[0].body->name;
    ran[py::int_(operation->seq)] =
        py::make_tuple(name_of(operation->op), numbers.at(operation), function);
  }
  return py::make_tuple(py::reinterpret_steal<py::object>(wrap(made[0])), ran, parts, copies);
}

}  // namespace

void bind_opened(py::module_& m) {
  m.def("opened_below", &opened_below, py::arg("y"), py::arg("steps"), py::arg("ends"));
}

}  // namespace pullback
