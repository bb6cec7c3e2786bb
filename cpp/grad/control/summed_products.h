// SummedProducts: cotangents of a loop's constants that are sums of matrix products over the
// iterations. Instead of a carry to which each iteration adds a product of few rows, the factors of
// all iterations are stacked and multiplied once after the loop:
//
//   sum over t of transpose(x[t]) @ g[t]  =  transpose(concat(x)) @ concat(g)
//
// The sum of the rows of g[t], the cotangent of a bias, is such a product without a left factor.
// Start at add.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "grad/control/loop_derivative.h"

namespace pullback {

class SummedProducts {
 public:
  // `stacked`: values that the derived loop stacks in any case.
  SummedProducts(const LoopView& loop, std::vector<NodeRef> stacked)
      : loop_(loop), stacked_(std::move(stacked)) {}

  // Accepts the cotangent of a constant in one iteration, if it is a sum of products of matrices
  // and their factors need less memory traffic than a carry and little memory. Returns false
  // otherwise.
  bool add(size_t input, const NodeRef& cotangent);

  bool empty() const { return sums_.empty(); }

  // The given values and the factors to stack: outputs of the derived loop, in this order.
  const std::vector<NodeRef>& stacked() const { return stacked_; }

  // The cotangent of each accepted constant from the stacked factors.
  std::vector<std::pair<size_t, NodeRef>> finish(std::span<const NodeRef> stacked) const;

 private:
  struct Factor {
    NodeRef all;       // (trips, rows, columns), if the loop has it; else null
    size_t place = 0;  // else its number in stacked()
  };
  struct Product {
    std::optional<Factor> left;  // absent: ones
    Factor right;                // transpose(left) @ right
  };
  struct Sum {
    size_t input;
    Shape shape;
    std::vector<Product> products;
  };

  // The factors of a sum of products, the left one transposed, or null for a sum of rows; empty if
  // it is another expression.
  static std::vector<std::pair<NodeRef, NodeRef>> factors_of(const NodeRef& sum);
  NodeRef find_stacked(const NodeRef& factor) const;
  Factor place(const NodeRef& factor);
  int64_t bytes_of_states() const;

  const LoopView& loop_;
  std::vector<Sum> sums_;
  std::vector<NodeRef> stacked_;
  int64_t bytes_ = 0;  // of the factors of an iteration that are stacked for their product
};

}  // namespace pullback
