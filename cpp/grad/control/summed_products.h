// SummedProducts: cotangents of a loop's constants that are sums of matrix products over the
// iterations. Instead of a carry to which each iteration adds a product of few rows, the factors of
// all iterations are stacked and multiplied once after the loop:
//
//   sum over t of transpose(x[t]) @ g[t]  =  transpose(concat(x)) @ concat(g)
//
// Start at add.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "grad/control/loop_derivative.h"

namespace pullback {

class SummedProducts {
 public:
  explicit SummedProducts(const LoopView& loop) : loop_(loop) {}

  // Accepts the cotangent of a constant in one iteration, if it is a sum of products of matrices
  // and their factors need less memory traffic than a carry. Returns false otherwise.
  bool add(size_t input, const NodeRef& cotangent);

  bool empty() const { return sums_.empty(); }

  // The factors to stack: outputs of the derived loop, in this order.
  const std::vector<NodeRef>& stacked() const { return stacked_; }

  // The cotangent of each accepted constant from the stacked factors.
  std::vector<std::pair<size_t, NodeRef>> finish(std::span<const NodeRef> stacked) const;

 private:
  // The entries of a factor of all iterations: a stacked input of the derived loop, or a factor
  // that it stacks.
  struct Factor {
    NodeRef given;  // (trips, rows, columns); null: number `place` of stacked()
    size_t place = 0;
  };
  struct Product {
    Factor left, right;  // transpose(left) @ right
  };
  struct Sum {
    size_t input;
    std::vector<Product> products;
  };

  bool collect(const NodeRef& node, std::vector<std::pair<NodeRef, NodeRef>>* factors) const;
  NodeRef given(const NodeRef& factor) const;
  Factor place(const NodeRef& factor);

  const LoopView& loop_;
  std::vector<Sum> sums_;
  std::vector<NodeRef> stacked_;
  int64_t bytes_ = 0;  // of the stacked factors, all iterations
};

}  // namespace pullback
