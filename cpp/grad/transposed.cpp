// Placeholders of cotangents have no value, so they must not remain in the result; for a rule that
// is linear in its cotangent none does.
#include "grad/transposed.h"

#include <algorithm>

#include "base/error.h"
#include "grad/zeros/masks.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "ops/expr.h"
#include "transform/recorded_graph.h"

namespace pullback {
namespace {

constexpr const char* kAnyCotangent =
    "is a placeholder of the cotangent while a gradient rule is transposed for forward mode, and "
    "has no value; use reverse mode, or pass the rule as a jvp";

// True if its value depends on one of `us`.
bool made_from(const NodeRef& root, const std::vector<NodeRef>& us) {
  const auto is_one = [&](const Node* node) {
    return std::ranges::any_of(us, [&](const NodeRef& u) { return u.get() == node; });
  };
  std::vector<Node*> under;
  walk(pointers({&root, 1}), &under, [&](const Node* node) {  // older nodes do not depend on them
    return node->seq > us[0]->seq ? node->inputs() : std::span<Node* const>();
  });
  return std::ranges::any_of(under, is_one);
}

void resolve_all(std::vector<NodeRef>* found, const std::vector<NodeRef>& us) {
  std::vector<NodeRef> all_zeros;
  for (const NodeRef& u : us) all_zeros.push_back(zeros(u->shape, u->dtype));
  for (NodeRef& one : *found) {
    if (one == nullptr || !made_from(one, us)) continue;
    one = RecordedGraph({one}, us, std::nullopt).copy(all_zeros, std::nullopt)[0];
  }
}

// Raises an error where None would be wrong, because a reverse pass has a result.
void refuse_untransposed(const NodeRef& answer, const std::vector<NodeRef>& us) {
  if (!made_from(answer, us)) return;
  fail(ErrorKind::NotImplemented,
       "forward mode: a gradient rule applies an operation without a gradient to its cotangent, "
       "so it cannot be transposed; use reverse mode, or pass the rule as a jvp");
}

}  // namespace

NodeRef any_cotangent(const TensorType& type) {
  static const Ref<Origin> origin = [] {
    Ref<Origin> made(new Origin);
    made->name = kAnyCotangent;
    return made;
  }();
  NodeRef u = make_argument(type.dtype, type.shape);
  u->origin = origin;
  return u;
}

std::vector<NodeRef> transpose(std::span<const Cotangent> answers,
                               std::span<const NodeRef> tangents, const std::vector<NodeRef>& us,
                               bool* any_zero) {
  GradientRequest request;
  for (size_t k = 0; k < tangents.size(); ++k) {
    if (!tangents[k] || answers[k].kind == Cotangent::None) continue;
    *any_zero |= answers[k].kind == Cotangent::Zero;
    if (answers[k].kind == Cotangent::Zero) continue;
    FactoredMask own;
    own.intersect(answers[k].mask);
    const NodeRef y = dense_of(answers[k].value, own, answers[k].clean);
    request.ys.push_back(y);
    request.grad_ys.push_back(broadcast_to(tangents[k], y->shape));
  }
  for (const NodeRef& u : us) request.xs.push_back({u, 0});
  if (request.ys.empty()) return std::vector<NodeRef>(us.size());
  std::vector<NodeRef> found = gradients(request);
  resolve_all(&found, us);
  const auto reached = [](const NodeRef& one) { return one != nullptr; };
  if (std::ranges::none_of(found, reached)) {
    for (const NodeRef& y : request.ys) refuse_untransposed(y, us);
  }
  return found;
}

NodeRef mask_of_selection(const Node* node, std::span<const Cotangent> answers,
                          const FactoredMask& nonzero, const NodeRef& u) {
  const NodeRef mask = broadcast_to(nonzero.tensor(), node->in[0]->shape);
  std::vector<NodeRef> tangents(answers.size());
  tangents[0] = cast(mask, node->dtype);
  bool any_zero = false;
  return Expr(transpose(answers, tangents, {u}, &any_zero)[0]) != 0.0;
}

}  // namespace pullback
