// Text listings of a trace.

#include <cstdio>

#include "base/error.h"
#include "ops/ops.h"
#include "trace/trace.h"

namespace pullback {
namespace {

std::string number(const Node* scalar) {
  if (!is_float(scalar->dtype)) return to_text(scalar->scalar.i);
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", scalar->scalar.f);
  return out;
}

// A node from outside, which is equal in every call.
std::string constant(const Node* node) {
  if (node->op == Op::scalar) return number(node);
  return text("constant:", node->dtype, node->shape);
}

std::string padded(std::string s, size_t width) {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}

}  // namespace

std::string Trace::describe(LineText line_of) const {
  return plan_ ? dump(plan_->plan, line_of) : "nothing to compute\n";
}

std::string Trace::listing() const {
  const auto name = [](size_t position) { return text("%", static_cast<int64_t>(position)); };
  const auto operation = [&](size_t i) -> std::string {
    const auto& [node, edges, input] = record_[i];
    if (input && *input < arguments_.size()) return text("argument ", int64_t{*input});
    if (input && *input < arguments_.size() + states_.size()) {
      return text("variable '", states_[*input - arguments_.size()].variable->name, "'");
    }
    if (input) return node->flags & kSeed ? "random seed" : "random counter";
    std::string out = text(display_name(node), "(");
    const auto inputs = node->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int32_t at = record_.link(i, k);
      out += text(k ? ", " : "", at == Subgraph::kOutside ? constant(inputs[k]) : name(at));
    }
    return out + ")";
  };
  std::string out;
  for (size_t i = 0; i < record_.size(); ++i) {
    const Node* node = record_[i].node;
    out += text(padded(name(i), 5), padded(operation(i), 40), " ", node->dtype, " ", node->shape,
                "\n");
  }
  for (size_t k = 0; k < record_.roots().size(); ++k) {
    const int32_t at = record_.root_at(k);
    const std::string value =
        at == Subgraph::kOutside ? constant(record_.roots()[k].get()) : name(at);
    if (k < returned_) {
      out += text("return ", value, "\n");
    } else {
      out +=
          text("variable '", states_[assigned_[k - returned_]].variable->name, "' = ", value, "\n");
    }
  }
  return out;
}

}  // namespace pullback
