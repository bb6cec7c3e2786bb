// GraphCopy: a closed graph on other inputs. User-defined rules and derivatives of loops inside of
// a copy are evaluated on the original, and their results are rebound to the copy.
//
// A rule may reference tensors that existed when its operation was made: placeholders of a trace or
// a body, or values that a checkpoint has released. So a copied operation has a rule that calls the
// original rule and rebuilds its result on the inputs of the copy. Loops and branches whose
// bodies contain such rules have a CopiedOperation as their origin, for the same reason. Start at
// GraphCopy::copy.
#pragma once

#include <span>
#include <vector>

#include "graph/closed_graph.h"
#include "graph/rule.h"

namespace pullback {

// Nodes and what replaces them. The first replacement of a node is valid. Both are kept alive: a
// placeholder that a rule does not use would otherwise be freed before its address is looked up.
struct Replacements {
  std::vector<NodeRef> from, to;

  void add(Node* node, NodeRef other) {
    from.emplace_back(node);
    to.push_back(std::move(other));
  }
  void add_all(std::span<Node* const> nodes, std::span<Node* const> others) {
    for (size_t k = 0; k < nodes.size() && k < others.size(); ++k)
      add(nodes[k], NodeRef(others[k]));
  }
};

class GraphCopy {
 public:
  // `inputs` replace those of the graph. `around`: if the graph is the body of an operation that is
  // itself part of a copy, that copy.
  GraphCopy(Ref<ClosedGraph> graph, std::vector<NodeRef> inputs, Ref<GraphCopy> around = nullptr)
      : graph_(std::move(graph)), inputs_(std::move(inputs)), around_(std::move(around)) {}
  virtual ~GraphCopy() = default;
  GraphCopy(const GraphCopy&) = delete;
  GraphCopy& operator=(const GraphCopy&) = delete;

  const std::vector<NodeRef>& inputs() const { return inputs_; }
  // The copy of one node, with its rule or origin.
  virtual NodeRef copy(const Node* node, std::span<Node* const> inputs);
  // Rebuilds tensors made from tensors of the graph on those of the copy; `more` are replaced too.
  // `since`: the number of the first node that was made for the roots. The rules of these nodes may
  // refer to tensors of the graph as well, so that their answers are rebound too.
  std::vector<NodeRef> rebind(std::vector<NodeRef> roots, const Replacements& more, uint64_t since);
  // The same for the answers of a rule.
  virtual void rebind_answers(std::vector<Cotangent>* answers, const Replacements& more,
                              uint64_t since);

 protected:
  friend class CopiedRule;
  // True if rules are applied to the original operation and to placeholders of its cotangents;
  // false if they are applied to the copy, so that they may read its operands.
  virtual bool calls_original() const;
  // `shape`: of the original output.
  virtual NodeRef placeholder(Node* cotangent, const Shape& shape) const;

 private:
  friend void add_ref(GraphCopy* copy) { ++copy->refs_; }
  friend void release(GraphCopy* copy) {
    if (--copy->refs_ == 0) delete copy;
  }

  int64_t refs_ = 0;
  Ref<ClosedGraph> graph_;
  std::vector<NodeRef> inputs_;
  Ref<GraphCopy> around_;
};

// Rebuilds the tensors in the answers of a rule by `make`.
template <class Make>
void remake_answers(std::vector<Cotangent>* answers, Make&& make) {
  std::vector<NodeRef> roots;
  for (const Cotangent& c : *answers) {
    if (c.kind == Cotangent::Value) roots.push_back(c.value);
    if (c.mask) roots.push_back(c.mask);
  }
  const std::vector<NodeRef> made = make(std::move(roots));
  size_t next = 0;
  for (Cotangent& c : *answers) {
    if (c.kind == Cotangent::Value) c.value = made[next++];
    if (c.mask) c.mask = made[next++];
  }
}

// The rule of a copy of `node`: calls the rule of `node` and rebinds its answers. `op`: the
// name of the operation for the rule, if the copy has lost it.
Ref<Rule> copied_rule(const Node* node, Ref<GraphCopy> copy, const char* op = nullptr);

// The origin of an operation in a copy. Derivatives are taken of the original, and the result is
// rebound to the copy.
struct CopiedOperation : Origin {
  CopiedOperation(const Node* original, Ref<GraphCopy> copy)
      : original(const_cast<Node*>(original)), copy(std::move(copy)) {}
  const NodeRef original;
  const Ref<GraphCopy> copy;
};

// True if a body of this node contains user-defined rules.
bool holds_rules(const Node* node);
// True if it was made at number `first` or later and has a user-defined rule, itself or in a body.
bool rules_since(const Node* node, uint64_t first);

}  // namespace pullback
