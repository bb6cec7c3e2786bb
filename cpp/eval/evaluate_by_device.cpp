// One round computes the pending transfers without a pending one below, so there are as many rounds
// as the longest chain of transfers. Plans and copies release the interpreter lock: after each
// round, everything is found again.
#include "eval/evaluate_by_device.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "eval/evaluate.h"
#include "graph/make.h"
#include "graph/walk.h"
#include "plan/passes/snapshot.h"
#include "runtime/buffer.h"
#include "runtime/downloads.h"
#include "runtime/integer_ranges.h"

namespace pullback {
namespace {

std::span<Node* const> edges(const Node* node) {
  return is_input(node) ? std::span<Node* const>() : value_inputs(node);
}

std::vector<NodeRef> lowest_transfers(std::span<const NodeRef> roots) {
  std::vector<Node*> below;
  walk(pointers(roots), &below, edges);
  std::vector<uint8_t> reads_transfer(below.size(), 0);
  std::vector<NodeRef> out;
  for (size_t i = 0; i < below.size(); ++i) {
    for (const Node* input : edges(below[i])) reads_transfer[i] |= reads_transfer[input->index];
    if (below[i]->op != Op::transfer || below[i]->has_value()) continue;
    if (!reads_transfer[i]) out.emplace_back(below[i]);
    reads_transfer[i] = 1;
  }
  return out;
}

void evaluate_each_device(std::span<const NodeRef> roots,
                          const std::function<void(std::span<Node* const>)>& evaluate) {
  std::vector<NodeRef> rest(roots.begin(), roots.end());
  while (!rest.empty()) {
    const Device device = device_of(rest.front().get());
    const auto others = std::stable_partition(rest.begin(), rest.end(), [&](const NodeRef& node) {
      return device_of(node.get()) == device;
    });
    evaluate(pointers({rest.begin(), others}));
    rest.erase(rest.begin(), others);
  }
}

}  // namespace

bool is_on_one_device(std::span<Node* const> roots) {
  std::optional<Device> device;
  for (const Node* root : roots) {
    if (root->has_value()) continue;
    if (device && device_of(root) != *device) return false;
    device = device_of(root);
  }
  std::vector<Node*> below;
  walk(roots, &below, edges);
  return std::ranges::none_of(
      below, [](const Node* node) { return node->op == Op::transfer && !node->has_value(); });
}

void evaluate_by_device(std::span<Node* const> roots,
                        const std::function<void(std::span<Node* const>)>& evaluate) {
  const std::vector<NodeRef> held(roots.begin(), roots.end());
  for (;;) {
    const std::vector<NodeRef> transfers = lowest_transfers(held);
    if (transfers.empty()) break;
    std::vector<NodeRef> inputs;
    for (const NodeRef& node : transfers) inputs.emplace_back(node->in[0]);
    evaluate_each_device(inputs, evaluate);
    for (size_t i = 0; i < transfers.size(); ++i) {
      Node* node = transfers[i].get();
      // Without a value, the input is in flight in a run of another thread: the next round waits.
      if (node->value || !inputs[i]->has_value()) continue;
      const Ref<Buffer> from = as_value(inputs[i])->value;
      Ref<Buffer> copy = wait_and_copy_to(device_of(node), from);
      note_integers(*copy, node->dtype, *from);
      // Another thread may have computed it meanwhile, and may write over it now.
      if (node->value || (node->flags & kInFlight)) continue;
      node->value = std::move(copy);
      if (!node->tracked()) seal(node);
    }
  }
  evaluate_each_device(held, evaluate);
}

}  // namespace pullback
