// Names of operations for overrides and messages, and the table of their gradient rules.

#include <algorithm>

#include "graph/operation.h"
#include "graph/rule.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/convolve.h"
#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/order.h"
#include "ops/random.h"
#include "ops/reduce.h"
#include "ops/statistics.h"

namespace pullback {
namespace {

constexpr Vjp kVjps[] = {
#define UNARY(name, ...) traits(Op::name).tangent == Tangent::None ? nullptr : elementwise_vjp,
#define BINARY UNARY
#define TERNARY UNARY
#include "graph/elementwise.def"
#define OTHER(name, text, kind, ring, cost, fails, mask, tangent, vjp) vjp,
#include "graph/other.def"
};
static_assert(std::size(kVjps) == kOps, "one rule for every op");

// sum_duplicates has no public name: optimizers make it from gradients. Neither have the operations
// that make up the gradient of max_pool, euclidean_norm, a part of composites, and transfer, which
// has no use with one device.
bool overridable(Op op) {
  return !is_leaf(op) && op != Op::read && op != Op::custom && op != Op::result &&
         op != Op::output && !is_operation(op) && op != Op::sum_duplicates && op != Op::transfer &&
         op != Op::max_pool_spread && op != Op::max_pool_choose && op != Op::euclidean_norm;
}

bool has_discrete_results(Op op) {
  if (is_elementwise(op)) return traits(op).mask == Mask::Stops;
  switch (op) {
    case Op::all:
    case Op::any:
    case Op::argmax:
    case Op::argmin:
    case Op::argsort:
    case Op::searchsorted:
    case Op::random_integers:
    case Op::permutation:
      return true;
    default:
      return false;
  }
}

}  // namespace

Vjp vjp_of(Op op) { return kVjps[static_cast<int>(op)]; }

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kOps; ++i) {
    if (overridable(static_cast<Op>(i))) names.emplace_back(name_of(static_cast<Op>(i)));
  }
  for (int i = 1; i < static_cast<int>(Composite::count); ++i) {
    names.emplace_back(name_of(static_cast<Composite>(i)));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::vector<std::string> discrete_op_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kOps; ++i) {
    const auto op = static_cast<Op>(i);
    if (overridable(op) && has_discrete_results(op)) names.emplace_back(name_of(op));
  }
  return names;
}

bool is_operation_name(const std::string& name) {
  for (int i = 0; i < kOps; ++i) {
    if (overridable(static_cast<Op>(i)) && name == name_of(static_cast<Op>(i))) return true;
  }
  for (int i = 1; i < composites(); ++i) {
    if (name == name_of(static_cast<Composite>(i))) return true;
  }
  return false;
}

const char* display_name(const Node* node) {
  if (node->op == Op::output && node->inputs_count > 0) return display_name(node->in[0]);
  if (node->op == Op::routine) return name_of(node->operation->form.routine);
  if (node->op != Op::custom && node->op != Op::custom_call) return name_of(node->op);
  if (node->attr.composite != Composite::None) return name_of(node->attr.composite);
  return node->rule ? node->rule->name.c_str() : name_of(Op::custom);
}

}  // namespace pullback
