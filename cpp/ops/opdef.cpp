// One row for every operation that is not elementwise: its name and its rule.

#include <algorithm>

#include "graph/rule.h"
#include "ops/composite.h"
#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/matmul.h"
#include "ops/movement.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

constexpr int kFirst = static_cast<int>(Op::value);

// In the order of the enum. Columns: name, rule, integer gradients make sense, masks pass through.
constexpr OpDef kDefs[] = {
    {"constant", nullptr},
    {"scalar", nullptr},
    {"argument", nullptr},
    {"identity", identity_vjp, true, true},
    {"stop_gradient", nullptr},
    {"read", nullptr},
    {"custom_gradient", identity_vjp, true, true},  // without a rule: its inside
    {"reshape", reshape_vjp, true, true},
    {"transpose", transpose_vjp, true, true},
    {"broadcast_to", broadcast_vjp, true},
    {"slice", slice_vjp, true},
    {"sum", sum_vjp, true},
    {"max", extremum_vjp},
    {"min", extremum_vjp},
    {"all", nullptr},
    {"any", nullptr},
    {"argmax", nullptr},
    {"argmin", nullptr},
    {"matmul", matmul_vjp, true},
    {"concat", concat_vjp, true},
    {"embed", embed_vjp, true},
    {"at_window", at_window_vjp, true},
    {"take", take_vjp, true},
    {"scatter_add", scatter_add_vjp, true},
    {"at_index", at_index_vjp, true},
    {"pick", pick_vjp, true},
    {"place", place_vjp, true},
    {"iota", nullptr},
    {"random_uniform", nullptr},
    {"random_normal", nullptr},
    {"permutation", nullptr},
};
static_assert(std::size(kDefs) == kOps - kFirst, "one row for every op");

bool overridable(Op op) { return !is_leaf(op) && op != Op::read && op != Op::custom; }

}  // namespace

const OpDef& opdef(Op op) {
  return is_elementwise(op) ? elementwise_opdef(op) : kDefs[static_cast<int>(op) - kFirst];
}

const char* name_of(Op op) { return opdef(op).name; }

std::vector<std::string> op_names() {
  std::vector<std::string> names;
  for (int i = 0; i < kOps; ++i) {
    if (overridable(static_cast<Op>(i))) names.emplace_back(name_of(static_cast<Op>(i)));
  }
  for (int i = 1; i < static_cast<int>(Composite::count); ++i) {
    names.emplace_back(name_of(static_cast<Composite>(i)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

const char* display_name(const Node* node) {
  if (node->op != Op::custom) return name_of(node->op);
  if (composite_of(node) != Composite::None) return name_of(composite_of(node));
  return node->rule ? node->rule->name.c_str() : name_of(Op::custom);
}

}  // namespace pullback
