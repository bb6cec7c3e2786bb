// The only place that makes nodes. Sets the fields that all nodes have (flags, depth, a stamped
// override), and checks shapes.
#include "graph/make.h"

#include <algorithm>

#include "base/error.h"
#include "graph/pending_results.h"
#include "graph/recorder.h"
#include "graph/rule.h"
#include "graph/runtime.h"
#include "graph/variable.h"
#include "runtime/device_memory.h"

namespace pullback {

namespace {

// True if a node needs no history although its inputs have one: its dtype has no gradients and its
// operation passes none. Inside a trace every history is kept.
bool keeps_nothing(const Node* node) {
  return !is_inexact(node->dtype) && ends_history(node) && !(node->flags & kTraced);
}

void watch_growth(const Node* newest) {
  static bool warned = false;
  const int64_t live = live_nodes();
  if (live <= kManyNodes / 2) warned = false;
  if (live <= kManyNodes || warned || !runtime.warn_many_nodes) return;
  warned = true;
  runtime.warn_many_nodes(newest);
}

[[noreturn]] void refuse_devices(std::span<Node* const> inputs, const char* who) {
  std::string devices;
  for (const Node* input : inputs) {
    if (input->device() == kAnyDevice) continue;
    devices += (devices.empty() ? "" : ", ") + name_of(input->device());
  }
  fail(ErrorKind::Value, who, ": expected tensors on one device, got ", devices);
}

Device device_of_result(Op op, const Attr& attr, std::span<Node* const> inputs, const char* who) {
  if (op == Op::transfer && attr.device != kAnyDevice.id) return {attr.device};
  const std::optional<Device> device = common_device(inputs);
  if (!device) refuse_devices(inputs, who ? who : name_of(op));
  return *device;
}

}  // namespace

NodeRef make_node(Op op, DType dtype, const Shape& shape, std::span<Node* const> inputs,
                  const Attr& attr, const char* who) {
  check_shape(shape, who ? who : name_of(op));
  NodeRef ref(new_node());
  Node* node = ref.get();
  node->op = op;
  node->dtype = dtype;
  node->shape = shape;
  node->attr = attr;
  if (inputs.size() > 3) node->rest = std::make_unique<Node*[]>(inputs.size());
  Node** slots = inputs.size() > 3 ? node->rest.get() : node->in;
  uint8_t flags = 0;
  uint32_t depth = 0;
  uint8_t device = kAnyDevice.id;
  for (Node* input : inputs) {
    add_user(input);
    slots[node->inputs_count++] = input;
    flags |= input->flags & (kTracked | kTraced | kHistoryLost);
    if (input->watchers) flags |= kTracked;
    depth = std::max(depth, input->has_value() ? 0 : input->depth);
    device &= input->device_id;  // the device of all, if there are only kHost and kAnyDevice
  }
  if (several_devices) device = device_of_result(op, attr, inputs, who).id;
  node->device_id = device;
  // If no derivative passes, no history is lost.
  if (flags & kHistoryLost && (!is_inexact(dtype) || op == Op::stop_gradient || op == Op::read)) {
    flags &= ~kHistoryLost;
  }
  node->flags = flags;
  node->depth = depth + 1;
  if (overrides_active()) node->rule = stamped_override(name_of(op));
  if (flags & kTracked && keeps_nothing(node)) node->flags &= ~kTracked;
  if (kMakesSmallResults[static_cast<int>(op)] && !(node->flags & (kTracked | kTraced)))
    note_pending_result(node);
  if (recording) record_node(node, inputs);
  return ref;
}

void hand_out(Node* node) {
  if (node->depth > kDepthCap && !(node->flags & (kTracked | kTraced)) && !node->has_value() &&
      runtime.evaluate) {
    runtime.evaluate(node);
  }
  if (flush_due && runtime.flush_pending_results && !variable_scope_active()) {
    runtime.flush_pending_results();
  }
  watch_growth(node);
  if (runtime.check_numbers) runtime.check_numbers(node, nullptr);
}

NodeRef make_value(DType dtype, const Shape& shape, Ref<Buffer> buffer) {
  check_shape(shape, "constant");
  NodeRef node(new_node());
  node->op = Op::value;
  node->dtype = dtype;
  node->shape = shape;
  node->device_id = buffer->device.is_host() ? kAnyDevice.id : buffer->device.id;
  node->value = std::move(buffer);
  if (recording) record_node(node.get(), {});
  return node;
}

NodeRef make_scalar(DType dtype, Scalar scalar, uint8_t flags) {
  NodeRef node(new_node());
  node->op = Op::scalar;
  node->dtype = dtype;
  node->scalar = scalar;
  node->flags = flags;
  node->device_id = kAnyDevice.id;
  if (recording) record_node(node.get(), {});
  return node;
}

NodeRef as_value(const NodeRef& node) {
  if (node->op != Op::scalar) return node;
  return make_value(node->dtype, node->shape, buffer_of_scalar(node.get()));
}

Ref<Buffer> buffer_of_scalar(const Node* node) {
  Ref<Buffer> buffer = make_buffer(size_of(node->dtype));
  store_scalar(node->dtype, node->scalar, buffer->host());
  return buffer;
}

namespace {

Device first_device = kHost;
thread_local Device device_of_thread = kAnyDevice;  // none

}  // namespace

Device default_device() { return device_of_thread == kAnyDevice ? first_device : device_of_thread; }

Device exchange_default_device(Device device) {
  const Device before = default_device();
  device_of_thread = device;
  return before;
}

void set_first_device(Device device) { first_device = device; }

std::optional<Device> common_device(std::span<Node* const> nodes) {
  Device common = kAnyDevice;
  for (const Node* node : nodes) {
    if (node->device() == common || node->device() == kAnyDevice) continue;
    if (common != kAnyDevice) return std::nullopt;
    common = node->device();
  }
  return common;
}

NodeRef make_argument(DType dtype, const Shape& shape) {
  check_shape(shape, "argument");
  NodeRef node(new_node());
  node->op = Op::argument;
  node->dtype = dtype;
  node->shape = shape;
  node->flags = kTracked | kTraced;
  node->device_id = kAnyDevice.id;
  if (recording) record_node(node.get(), {});
  return node;
}

}  // namespace pullback
