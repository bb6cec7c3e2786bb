// Makes nodes. The builders in ops/ infer shapes and dtypes and call make_node(), which sets the
// fields that every node has.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/node.h"

namespace pullback {

// A node with inputs: flags, depth, device and a stamped override follow from them. Here, and in
// the two leaves below that have a shape, is where shapes are checked: ValueError by `who`, the
// name of the op unless something else was called. So are the devices of the inputs. Making nodes
// never gives the interpreter lock away.
NodeRef make_node(Op op, DType dtype, const Shape& shape, std::span<Node* const> inputs,
                  const Attr& attr = {}, const char* who = nullptr);

// Leaves.
NodeRef make_value(DType dtype, const Shape& shape, Ref<Buffer> buffer);
NodeRef make_scalar(DType dtype, Scalar scalar, uint8_t flags = 0);
// A scalar as a value node with a buffer of its own; any other node as it is.
NodeRef as_value(const NodeRef& node);
Ref<Buffer> buffer_of_scalar(const Node* node);  // a new buffer with its value
// The value of a computed node in memory of the host, row-major, to be read there: the only way in
// which the host reads values. The node's own buffer if it is there.
inline Ref<Buffer> read_back(const Node* node) {
  return node->value ? copy_to(kHost, node->value) : buffer_of_scalar(node);
}
// Where this thread's nodes of any device are evaluated, and where its variables are made.
Device default_device();
// Sets it, and returns the one before.
Device exchange_default_device(Device device);
// The default device of threads that have set none; kHost at first.
void set_first_device(Device device);
// The device on which a node has or will have its value.
inline Device device_of(const Node* node) {
  return node->device() == kAnyDevice ? default_device() : node->device();
}

// The device of all nodes, or kAnyDevice; nullopt if there are two.
std::optional<Device> common_device(std::span<Node* const> nodes);
// A placeholder: stands for an input while a function is traced.
NodeRef make_argument(DType dtype, const Shape& shape);

// Called once for each tensor that a program receives. Evaluates an untracked chain of pending
// nodes that is deeper than the cap, and pending results that are due; reports growth. May release
// the lock. The caller holds `node`.
void hand_out(Node* node);

constexpr uint32_t kDepthCap = 4096;    // of untracked chains
constexpr int64_t kManyNodes = 100000;  // see Runtime::warn_many_nodes

}  // namespace pullback
