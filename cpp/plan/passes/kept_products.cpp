// Pairs each loop with the loops that scan its residuals, and compares their bodies. A node of both
// has the same value in both if all inputs below it do: a carry and its residual, or equal inputs.
#include "plan/passes/kept_products.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/make.h"
#include "graph/rebuild.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/walk.h"

namespace pullback {
namespace {

constexpr int64_t kMostMemory = 8;  // of the kept products, in times of the carries

bool is_product(const Node* node) {
  return node->op == Op::matmul && (node->dtype == DType::Float32 || node->dtype == DType::Float64);
}

// The nodes that the wanted roots of a body depend on, inputs before users.
std::vector<Node*> nodes_of(const LoopRoots& roots) {
  std::vector<Node*> from, out;
  const Body& body = *roots.loop->operation->bodies[0];
  for (size_t k = 0; k < body.roots.size(); ++k) {
    if (roots.wanted[k]) from.push_back(body.roots[k].get());
  }
  walk(std::span<Node* const>(from), &out, [](const Node* node) { return value_inputs(node); });
  return out;
}

class Pair {
 public:
  Pair(const LoopRoots& loop, const LoopRoots& reverse)
      : loop_(loop), reverse_(reverse), operation_(*loop.loop->operation) {}

  // The nodes to keep.
  std::vector<Node*> run() {
    if (!find_equal_inputs()) return {};
    const std::vector<Node*> computed = nodes_of(loop_);
    const std::unordered_set<const Node*> in_loop(computed.begin(), computed.end());
    const std::vector<Node*> nodes = nodes_of(reverse_);  // numbered by it
    std::vector<uint8_t> equal(nodes.size());
    std::vector<Node*> user(nodes.size());
    std::vector<uint32_t> users(nodes.size());
    bool any = false;
    for (size_t i = 0; i < nodes.size(); ++i) {
      Node* node = nodes[i];
      const auto inputs = value_inputs(node);
      for (const Node* input : inputs) {
        user[input->index] = node;
        ++users[input->index];
      }
      if (!in_loop.contains(node)) continue;
      equal[i] = inputs.empty() ? equal_inputs_.contains(node) || is_constant(node)
                                : std::ranges::all_of(inputs, [&](const Node* input) {
                                    return equal[input->index] != 0;
                                  });
      any |= equal[i] && is_product(node);
    }
    if (!any) return {};
    const auto is_root = [&](const Node* node) {
      return std::ranges::any_of(body_of(reverse_).roots,
                                 [&](const NodeRef& root) { return root.get() == node; });
    };
    std::vector<Node*> out;
    for (Node* node : nodes) {
      if (!equal[node->index] || !is_product(node)) continue;
      // A sum of products, and of a bias, is kept in place of its terms.
      while (users[node->index] == 1 && !is_root(node) && user[node->index]->op == Op::add &&
             equal[user[node->index]->index] && user[node->index]->shape == node->shape) {
        node = user[node->index];
      }
      if (!is_root(node) && std::ranges::find(out, node) == out.end()) out.push_back(node);
    }
    return out;
  }

 private:
  static const Body& body_of(const LoopRoots& roots) { return *roots.loop->operation->bodies[0]; }
  static bool is_constant(const Node* node) {
    return node->op == Op::scalar && is_float(node->dtype);
  }

  // Finds the inputs that both bodies have, with the same value. Returns false if the second loop
  // scans no residual of the first.
  bool find_equal_inputs() {
    const LoopForm& form = operation_.loop;
    const LoopForm& other = reverse_.loop->operation->loop;
    if (form.trips != other.trips || reverse_.loop->operation->replays()) return false;
    std::unordered_map<const Node*, size_t> places;
    const Body& body = body_of(loop_);
    for (size_t i = 0; i < body.inputs.size(); ++i) places.emplace(body.inputs[i].get(), i);
    const auto given = [](const LoopRoots& roots, size_t i) {
      return roots.loop->inputs()[roots.loop->operation->inputs[0][i].number];
    };
    const auto is_scanned = [](const LoopForm& of, size_t i) {
      const auto carries = static_cast<size_t>(of.carries);
      return i >= carries && i < carries + static_cast<size_t>(of.stacked_in);
    };
    const auto carries = static_cast<size_t>(form.carries);
    bool any = false;
    const Body& reverse = body_of(reverse_);
    for (size_t i = 0; i < reverse.inputs.size(); ++i) {
      const auto found = places.find(reverse.inputs[i].get());
      if (found == places.end()) continue;
      const Node* value = given(reverse_, i);
      const size_t at = found->second;
      bool equal = value == given(loop_, at) && is_scanned(form, at) == is_scanned(other, i);
      if (at < carries) {
        equal = is_scanned(other, i) && value->op == Op::output && value->in[0] == loop_.loop &&
                value->output == body.roots.size() + 1 + at;
        any |= equal;
      } else {
        equal &= i >= static_cast<size_t>(other.carries);
      }
      if (equal) equal_inputs_.insert(reverse.inputs[i].get());
    }
    return any;
  }

  const LoopRoots& loop_;
  const LoopRoots& reverse_;
  const Operation& operation_;
  std::unordered_set<const Node*> equal_inputs_;
};

}  // namespace

std::vector<KeptProduct> find_kept_products(std::span<const LoopRoots> loops) {
  std::vector<KeptProduct> out;
  for (size_t a = 0; a < loops.size(); ++a) {
    const LoopForm& form = loops[a].loop->operation->loop;
    if (form.trips < 2 || form.memory > 0) continue;
    int64_t left = 0;  // bytes in an iteration
    for (int32_t k = 0; k < form.carries; ++k) {
      left += kMostMemory * loops[a].loop->operation->bodies[0]->roots[k]->bytes();
    }
    for (size_t b = a + 1; b < loops.size(); ++b) {
      for (Node* node : Pair(loops[a], loops[b]).run()) {
        // The first loop of several has it: the reverse of a reverse reads it from there too.
        const auto has = [&](const KeptProduct& other) {
          return other.node == node &&
                 (other.reverse == loops[a].loop || other.reverse == loops[b].loop);
        };
        if (std::ranges::any_of(out, has)) continue;
        const auto stacks = [&](const KeptProduct& other) {
          return other.node == node && other.loop == loops[a].loop;
        };
        if (std::ranges::none_of(out, stacks)) {
          if (node->bytes() > left) continue;
          left -= node->bytes();
        }
        out.push_back({loops[a].loop, loops[b].loop, node});
      }
    }
  }
  return out;
}

ExtendedBody extend_body(const Operation& operation, std::span<const StackedNode> outputs,
                         std::span<const StackedNode> inputs) {
  const NoOverrides none;
  const Unrecorded unrecorded;
  const Body& body = *operation.bodies[0];
  const int32_t scanned_end = operation.loop.carries + operation.loop.stacked_in;
  const auto count = static_cast<int32_t>(inputs.size());
  ExtendedBody out{Ref<Body>(new Body), {}};
  out.body->inputs = body.inputs;
  for (const InputSource& source : operation.inputs[0]) {
    out.sources.push_back(source);
    if (source.number >= scanned_end) out.sources.back().number += count;
  }
  std::vector<Node*> from;
  std::vector<NodeRef> to;
  for (const StackedNode& input : inputs) {
    from.push_back(input.node);
    to.push_back(make_argument(input.node->dtype, input.node->shape));
    out.body->inputs.push_back(to.back());
    out.sources.push_back({scanned_end + static_cast<int32_t>(to.size()) - 1});
  }
  std::vector<NodeRef> roots = body.roots;
  for (const StackedNode& output : outputs) roots.emplace_back(output.node);
  const Subgraph subgraph(
      std::move(roots), from, [](const Node*) { return false; }, [](const Node*) { return true; });
  out.body->roots =
      subgraph.rebuild(to, [](size_t, const Node* node, std::span<Node* const> below) {
        return copy_node(node, below);
      });
  return out;
}

}  // namespace pullback
