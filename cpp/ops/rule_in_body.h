// RuleInBody: the rule of a program for an operation in a body.
#pragma once

#include <utility>
#include <vector>

#include "graph/node.h"
#include "graph/rule.h"

namespace pullback {

// The rule refers to tensors outside by themselves. Where the body has inputs for them, its answers
// refer to these instead, so that derivatives by an input of the body are complete.
class RuleInBody : public Rule {
 public:
  // Tensors outside, and the inputs of the body that stand for them.
  struct Inputs {
    int64_t refs = 0;
    std::vector<NodeRef> outside, inputs;

    friend void add_ref(Inputs* inputs) { ++inputs->refs; }
    friend void release(Inputs* inputs) {
      if (--inputs->refs == 0) delete inputs;
    }
  };

  RuleInBody(Ref<Rule> rule, Ref<Inputs> inputs);
  std::vector<Cotangent> apply(const RuleCall& call) override;
  Rule* rule() const { return rule_.get(); }

 private:
  Ref<Rule> rule_;
  Ref<Inputs> inputs_;
};

}  // namespace pullback
