// One worklist over creation numbers. A number is a live node, the record of a freed node, or
// unknown.
#include "explain/ancestry.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "grad/connectivity.h"
#include "grad/tape.h"
#include "graph/walk.h"
#include "ops/composite.h"
#include "ops/ops.h"

namespace pullback {
namespace {

class Walk {
 public:
  Walk(const GradientRequest& request, bool assignments)
      : request_(request), assignments_(assignments), graph_(request) {}

  std::vector<Ancestor> run(const std::vector<uint64_t>& also) {
    for (const NodeRef& y : request_.ys) find(y->seq, y.get());
    for (uint64_t seq : also) find(seq, nullptr);
    while (!pending_.empty()) {
      const size_t at = pending_.back();
      pending_.pop_back();
      expand(at);
    }
    std::ranges::sort(found_, {}, &Ancestor::seq);
    return std::move(found_);
  }

 private:
  void find(uint64_t seq, Node* node) {
    const auto [known, is_new] = at_.try_emplace(seq, found_.size());
    if (!is_new && (!node || found_[known->second].node)) return;
    if (is_new) found_.emplace_back();
    const Record* record = record_of(seq);
    found_[known->second].seq = seq;
    found_[known->second].node = node ? node : record ? record->node.get() : nullptr;
    pending_.push_back(known->second);
  }

  void expand(size_t at) {
    Ancestor& own = found_[at];
    Node* node = own.node.get();
    std::vector<std::pair<uint64_t, Node*>> inputs;
    if (node) {
      // An output of an operation with several outputs has the inputs of the operation.
      const Node* operation = node;
      Connectivity::BackwardEdges edges = graph_.backward_edges(node);
      if (edges.of_output()) {
        operation = operation_of(node);
        edges = graph_.backward_edges(operation);
      }
      own.stopped = graph_.stopped(node);
      own.recorded = !request_.tape || request_.tape->recorded(node);
      own.rule = edges.rule;
      const bool is_result = operation->op == Op::custom && !operation->rule &&
                             operation->attr.composite == Composite::None;
      own.name = is_result ? "function" : display_name(operation);
      own.dtype = node->dtype;
      own.variable = node->variable;
      own.tracked = node->tracked();
      if (node->op == Op::scalar) {
        own.scalar = is_float(node->dtype) ? node->scalar.f : static_cast<double>(node->scalar.i);
      }
      own.custom = edges.rule && operation->attr.composite == Composite::None &&
                   (operation->op == Op::custom || operation->op == Op::custom_call);
      // The nodes inside a custom gradient are not ancestors: its rule replaces them.
      const auto all = edges.inputs.empty() ? operation->inputs() : edges.inputs;
      own.passes = !edges.inputs.empty() && graph_.differentiable(node);
      if (node->op != Op::read) {
        for (Node* input : all) inputs.emplace_back(input->seq, input);
      }
      own.given.clear();
      if (operation->attr.composite != Composite::None && !edges.rule) {
        for (const Node* input : given_inputs(operation)) own.given.push_back(input->seq);
      }
    }
    const Record* record = record_of(own.seq);
    if (record) own.site = record->site;
    if (record && !node) {
      own.name =
          record->composite == Composite::None ? name_of(record->op) : name_of(record->composite);
      own.dtype = record->dtype;
      own.variable = record->variable;
      own.tracked = record->tracked;
      if (record->op == Op::scalar) own.scalar = record->number;
    }
    const bool of_read = record && record->op == Op::read;
    if (record && inputs.empty() && (!of_read || assignments_)) {
      auto recorded = record->inputs();
      if (record->composite != Composite::None && !recorded.empty()) {
        auto given = recorded.subspan(1);
        const Record* call = given.size() == 1 ? record_of(given[0]) : nullptr;
        if (call && call->op == Op::custom_call) given = call->inputs();
        own.given.assign(given.begin(), given.end());
        recorded = recorded.first(1);
      }
      for (uint64_t seq : recorded) inputs.emplace_back(seq, nullptr);
    }
    own.inputs.clear();
    for (const auto& [seq, input] : inputs) own.inputs.push_back(seq);
    for (const auto& [seq, input] : inputs) find(seq, input);
  }

  const GradientRequest& request_;
  const bool assignments_;
  const Connectivity graph_;
  std::vector<Ancestor> found_;
  std::unordered_map<uint64_t, size_t> at_;
  std::vector<size_t> pending_;  // to be expanded
};

}  // namespace

std::vector<Ancestor> ancestry(const GradientRequest& request, const std::vector<uint64_t>& also,
                               bool assignments) {
  return Walk(request, assignments).run(also);
}

}  // namespace pullback
