// Readable listings of a trace.

#include <cstdio>

#include "base/error.h"
#include "ops/ops.h"
#include "plan/trace.h"

namespace pullback {
namespace {

std::string number(const Node* scalar) {
  if (!is_float(scalar->dtype)) return to_text(scalar->scalar.i);
  char out[32];
  std::snprintf(out, sizeof out, "%.9g", scalar->scalar.f);
  return out;
}

// A node from outside: the same in every call.
std::string constant(const Node* node) {
  if (node->op == Op::scalar) return number(node);
  return text("constant:", node->dtype, node->shape);
}

std::string padded(std::string s, size_t width) {
  if (s.size() < width) s.append(width - s.size(), ' ');
  return s;
}

}  // namespace

std::string Trace::describe() const { return plan_ ? dump(plan_->plan) : "nothing to compute\n"; }

std::string Trace::listing() const {
  const auto name = [](size_t position) { return text("%", static_cast<int64_t>(position)); };
  const auto operation = [&](const Recorded& entry) -> std::string {
    const Node* node = entry.node;
    const auto input = static_cast<size_t>(entry.input);
    if (entry.input >= 0 && input < arguments_.size()) {
      return text("argument ", static_cast<int64_t>(input));
    }
    if (entry.input >= 0) {
      return text("variable '", states_[input - arguments_.size()].variable->name, "'");
    }
    if (entry.draw >= 0) {
      return draws_[entry.draw] == Draw::Seed ? "random seed" : "random counter";
    }
    std::string out = text(display_name(node), "(");
    const auto inputs = node->inputs();
    for (size_t k = 0; k < inputs.size(); ++k) {
      const int32_t link = links_[entry.links + k];
      out += text(k ? ", " : "", link < 0 ? constant(inputs[k]) : name(link));
    }
    return out + ")";
  };
  std::string out;
  for (size_t i = 0; i < recorded_.size(); ++i) {
    const Recorded& entry = recorded_[i];
    out += text(padded(name(i), 5), padded(operation(entry), 40), " ", entry.node->dtype, " ",
                entry.node->shape, "\n");
  }
  for (size_t k = 0; k < outputs_.size(); ++k) {
    const std::string value = output_at_[k] < 0 ? constant(outputs_[k].get()) : name(output_at_[k]);
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
