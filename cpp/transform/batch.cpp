// Rebuilds a subgraph with a batch axis, node by node, oldest first; Batcher (batcher.cpp) does one
// node. Start at batch_subgraph().
#include "transform/batch.h"

#include "base/error.h"
#include "graph/graph_copy.h"
#include "graph/make.h"
#include "graph/operation.h"
#include "graph/rebuild.h"
#include "graph/rule.h"
#include "ops/body.h"
#include "ops/ops.h"
#include "transform/batch_control.h"
#include "transform/batcher.h"
#include "transform/recorded_graph.h"

namespace pullback {
namespace {

std::vector<NodeRef> at_once(std::vector<NodeRef> roots, const BatchedInputs& replaced,
                             const Batching& batching);

BatchedInputs replaced_of(const Batching& batching) {
  const auto inputs = pointers(batching.inputs);
  BatchedInputs replaced{{inputs.begin(), inputs.end()}, {}, batching.body.get()};
  for (const NodeRef& batch : batching.batches) replaced.to.push_back({batch, true});
  return replaced;
}

// A rule is called once, for one entry, and its answers are batched.
class BatchedGraph : public GraphCopy {
 public:
  explicit BatchedGraph(Batching batching)
      : GraphCopy(nullptr, {}), batching_(std::move(batching)) {}

  void rebind_answers(std::vector<Cotangent>* answers, const Replacements& more,
                      uint64_t) override {
    for (Cotangent& c : *answers) {
      if (c.mask) c.mask = broadcast_to(c.mask, c.value->shape);
    }
    Batching batching = batching_;  // for the rules of nodes in the answers
    for (size_t k = 0; k < more.from.size(); ++k) {
      batching.inputs.push_back(more.from[k]);
      batching.batches.push_back(more.to[k]);
    }
    remake_answers(answers, [&](std::vector<NodeRef> roots) {
      const NoOverrides none;
      return at_once(std::move(roots), replaced_of(batching), batching);
    });
  }

 protected:
  bool calls_original() const override { return true; }
  NodeRef placeholder(Node* cotangent, const Shape& shape) const override {
    return make_argument(cotangent->dtype, shape);
  }

 private:
  Batching batching_;
};

// The rule of an operation that all entries share, since its value depends on no mapped argument.
// Each entry would need a cotangent of its own if the rule referred to one.
class SharedRule : public Rule {
 public:
  SharedRule(Ref<Rule> rule, std::vector<NodeRef> mapped)
      : rule_(std::move(rule)), mapped_(std::move(mapped)) {
    name = rule_->name;
  }

  std::vector<Cotangent> apply(const RuleCall& call) override {
    const uint64_t since = next_seq();
    std::vector<Cotangent> answers = rule_->apply(call);
    std::vector<Node*> roots, below;
    for (const Cotangent& c : answers) {
      if (c.value) roots.push_back(c.value.get());
    }
    walk(std::span<Node* const>(roots), &below, [&](const Node* node) {
      const bool inside = node->flags & kTraced || node->seq >= since;
      return inside ? node->inputs() : std::span<Node* const>();
    });
    for (Node* node : below) {
      if (std::ranges::find(mapped_, node, &NodeRef::get) != mapped_.end()) {
        fail(ErrorKind::NotImplemented, "vmap: the gradient rule ", name,
             " refers to a mapped argument on which the value of its function does not depend; "
             "pass it to the function as an argument");
      }
      if (rules_since(node, since) && by_users_rule(node)) {
        node->rule = new SharedRule(node->rule, mapped_);
      }
    }
    return answers;
  }

 private:
  const Ref<Rule> rule_;
  const std::vector<NodeRef> mapped_;
};

void check(const Batching& batching) {
  if (batching.inputs.size() != batching.batches.size()) {
    fail(ErrorKind::Value, "batched: expected ", static_cast<int64_t>(batching.inputs.size()),
         " batches, one for each input, got ", static_cast<int64_t>(batching.batches.size()));
  }
  for (size_t k = 0; k < batching.inputs.size(); ++k) {
    const Node* input = batching.inputs[k].get();
    const Node* batch = batching.batches[k].get();
    if (input->op != Op::argument || input->dtype != batch->dtype ||
        !(batch->shape == with_batch(batching.count, input->shape, input->shape.rank))) {
      fail(ErrorKind::Value, "batched: expected a batch of ", input->dtype, " ", input->shape,
           " for an argument, got ", batch->dtype, " ", batch->shape);
    }
  }
}

NodeRef with_batch_axis(const NodeRef& root, int64_t count) {
  return broadcast_to(root, with_batch(count, root->shape, root->shape.rank));
}

std::vector<NodeRef> at_once(std::vector<NodeRef> roots, const BatchedInputs& replaced,
                             const Batching& batching) {
  std::vector<NodeRef> out;
  for (const Made& made : batch_subgraph(std::move(roots), replaced, batching)) {
    out.push_back(made.has_batch ? made.node : with_batch_axis(made.node, batching.count));
  }
  return out;
}

std::vector<NodeRef> one_by_one(std::vector<NodeRef> roots, const Batching& batching) {
  std::vector<std::vector<NodeRef>> entries(roots.size());
  const RecordedGraph graph(std::move(roots), batching.inputs, std::nullopt);
  for (int64_t i = 0; i < batching.count; ++i) {
    std::vector<NodeRef> inputs;
    for (const NodeRef& batch : batching.batches) inputs.push_back(entry_of(batch, i));
    const std::vector<NodeRef> copies = graph.copy(std::move(inputs), std::nullopt);
    for (size_t k = 0; k < copies.size(); ++k) entries[k].push_back(copies[k]);
  }
  std::vector<NodeRef> out;
  for (const std::vector<NodeRef>& rows : entries) out.push_back(stack(rows, 0));
  return out;
}

std::vector<NodeRef> of_none(std::span<const NodeRef> roots) {
  std::vector<NodeRef> out;
  for (const NodeRef& root : roots) {
    out.push_back(zeros(with_batch(0, root->shape, root->shape.rank), root->dtype));
  }
  return out;
}

}  // namespace

std::vector<Made> batch_subgraph(std::vector<NodeRef> roots, const BatchedInputs& replaced,
                                 const Batching& batching) {
  const auto own = [&](const Node* node) {
    // Tensors with a value and reads of variables, to which a rule may refer, are outside.
    return replaced.whole_body && replaced.whole_body->owns(node) && !node->has_value() &&
           node->op != Op::read;
  };
  const Subgraph subgraph(
      std::move(roots), replaced.from,
      [&](const Node* node) {
        return own(node) || draws_since(node, batching.first) || rules_since(node, batching.first);
      },
      [&](const Node* node) {
        return node->flags & kTraced || node->seq >= batching.first || own(node);
      });
  std::vector<Made> made(subgraph.size());
  Batcher batcher(batching);
  std::vector<const Made*> below;
  for (size_t i = 0; i < subgraph.size(); ++i) {
    const Subgraph::Entry& entry = subgraph[i];
    if (entry.input) {
      made[i] = replaced.to[*entry.input];
      continue;
    }
    below.clear();
    for (size_t k = 0; k < entry.node->inputs_count; ++k) {
      const int32_t at = subgraph.link(i, k);
      below.push_back(at == Subgraph::kOutside ? nullptr : &made[at]);
    }
    made[i] = batcher.make(entry.node, below);
  }
  std::vector<Made> out;
  for (size_t k = 0; k < subgraph.roots().size(); ++k) {
    const int32_t at = subgraph.root_at(k);
    out.push_back(at == Subgraph::kOutside ? Made{subgraph.roots()[k], false} : made[at]);
  }
  return out;
}

void refuse_mapped(Node* node, const Batching& batching) {
  if (by_users_rule(node)) node->rule = new SharedRule(node->rule, batching.inputs);
}

Ref<Rule> batched_rule(const Node* node, const Batching& batching) {
  const bool named = (node->op != Op::custom && node->op != Op::custom_call) ||
                     node->attr.composite != Composite::None;
  return copied_rule(node, new BatchedGraph(batching), named ? display_name(node) : nullptr);
}

std::vector<NodeRef> batched(std::vector<NodeRef> roots, const Batching& batching) {
  check(batching);
  if (batching.count == 0) return of_none(roots);
  // No override applies: these nodes replace nodes that were made before it was entered.
  const NoOverrides none;
  return at_once(std::move(roots), replaced_of(batching), batching);
}

std::optional<std::vector<NodeRef>> batched_or_each(std::vector<NodeRef> roots,
                                                    const Batching& batching) {
  try {
    return batched(roots, batching);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::NotImplemented) throw;
  }
  const Subgraph subgraph(roots, replaced_of(batching).from, [](const Node*) { return false; });
  for (size_t i = 0; i < subgraph.size(); ++i) {
    const Node* node = subgraph[i].node;
    if (by_users_rule(node)) return std::nullopt;
  }
  const NoOverrides none;
  return one_by_one(std::move(roots), batching);
}

}  // namespace pullback
