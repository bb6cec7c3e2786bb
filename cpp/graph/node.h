// Node: one operation of the graph, and the value it may already have. Start at NodeHead and Node:
// each field has its line.
//
// The value that a node stands for never changes. When it is computed, an untracked node drops its
// inputs (it is sealed), so loops over plain arrays do not grow. Inputs exist before the node:
// input->seq < node->seq when it is made, so cycles are impossible and sorting by seq is a
// topological order.
//
// Five places change other fields of a node after it was made: ops/body.cpp (inputs and numbers of
// the nodes of a body), give_history() in graph/rule.cpp (a value gets an input that explains it),
// grad/tape.cpp (nodes that no tape needs are not tracked any more), transform/recorded_graph.cpp
// (Attr::keep) and trace/trace_history.cpp (numbers and scopes of rebuilt nodes).
//
// All graph work happens under the interpreter lock; counts and flags are plain integers.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/device.h"
#include "base/dtype.h"
#include "base/ref.h"
#include "base/shape.h"
#include "graph/attr.h"
#include "graph/op.h"
#include "runtime/buffer.h"

namespace pullback {

struct Node;
struct Rule;       // graph/rule.h: a gradient rule given by the user or by a composite
struct Origin;     // graph/rule.h: where a leaf comes from
struct Operation;  // graph/operation.h: data of an operation with several outputs

void add_ref(Node* node);
void release(Node* node);
void add_ref(Rule* rule);
void release(Rule* rule);
void add_ref(Origin* origin);
void release(Origin* origin);
void add_ref(Operation* operation);
void release(Operation* operation);

using NodeRef = Ref<Node>;  // the one spelling: Ref<Node> is not written elsewhere

struct TensorType {
  DType dtype;
  Shape shape;
};

enum NodeFlag : uint8_t {
  kTracked = 1,  // depends on a variable, a watched tensor or a traced argument: keeps its history
  kHistoryLost = 2,  // made from a result of a call that assigned variables and kept no history
  kWeak = 4,         // a Python number whose dtype may still follow its neighbour's: a weak scalar,
                     // or in a trace a float64 made from nothing but such numbers
  kTraced = 8,       // depends on a traced argument: it has no value, and evaluating it raises
  kInFlight = 16,    // in flight: has no value now, a run writes the next one into its memory
  kConstant = 32,    // a scalar written in this library's own formulas: part of a plan's structure
  kSeed = 64,        // seed of a random operation: a replayed function takes a new one each time
  kCounter = 128,    // counter of a random operation: likewise
  kDraw = kSeed | kCounter,
};

// The fields that every pass over a graph reads. The nodes of a large graph are in no cache, and a
// visit should load one cache line.
struct alignas(64) NodeHead {
  uint32_t refs = 0;   // number of references
  uint32_t users = 0;  // of these, references by nodes that have it as an input
  uint64_t seq = 0;    // global creation number
  Op op = Op::value;
  DType dtype = DType::Float32;
  uint8_t flags = 0;
  uint32_t inputs_count = 0;
  uint32_t mark = 0;   // epoch of the last walk that reached it
  uint32_t index = 0;  // its number in that walk
  Ref<Buffer> value;   // null while pending
  Node* in[3] = {};    // owned
};
static_assert(sizeof(NodeHead) == 64);

struct Node : NodeHead {
  Attr attr;
  Scalar scalar{};  // of a scalar node (Op::scalar): the number
  Shape shape;
  uint32_t depth = 0;     // longest chain of uncomputed nodes below
  uint16_t watchers = 0;  // number of tapes that watch this tensor now
  uint8_t holders = 0;    // tapes that may still need its gradient; 255: that many or more
  // Inside a composite: only a rule for the composite's name applies.
  uint8_t in_composite : 1 = false;
  uint8_t device_id : 7 = 0;  // of its value, or of the run that will compute it: see device()
  uint32_t scope = 0;         // the caller's scope when it was made (see current_scope)
  uint32_t output = 0;       // result, output, value with a history: which of the operation or call
  uint64_t variable = 0;     // read, argument: number of the variable whose value this was
  Ref<Rule> rule;            // custom, or an override stamped when the node was made
  Ref<Origin> origin;        // argument, value: whose argument, or whose result it is
  Ref<Operation> operation;  // custom_call, loop, branch, routine
  std::unique_ptr<StridedSlice> slice;  // slice, embed, at_slice; see ops/convolve.cpp
  std::unique_ptr<Node*[]> rest;        // all inputs where there are more than three, owned

  std::span<Node* const> inputs() const {
    return {inputs_count > 3 ? rest.get() : in, inputs_count};
  }
  bool tracked() const { return (flags & kTracked) || watchers; }
  bool has_value() const { return static_cast<bool>(value) || op == Op::scalar; }
  int64_t bytes() const { return shape.size() * size_of(dtype); }
  Device device() const { return {device_id}; }
};
static_assert(sizeof(Node) == 192, "three cache lines: one more field would make it 256 bytes");

// The nodes of some references, without a copy: a Ref is one pointer. Valid like a span of the
// references.
inline std::span<Node* const> pointers(std::span<const NodeRef> nodes) {
  static_assert(sizeof(NodeRef) == sizeof(uintptr_t) && std::is_standard_layout_v<NodeRef>);
  return {reinterpret_cast<Node* const*>(nodes.data()), nodes.size()};
}

// A seed or a counter: a scalar that is another one at the next run.
inline bool is_draw(const Node* node) { return node->op == Op::scalar && node->flags & kDraw; }

// Frees by a worklist: a chain of a million nodes is freed without recursion.
void free_unused(Node* node);

inline void add_ref(Node* node) { ++node->refs; }
inline void release(Node* node) {
  if (--node->refs == 0) free_unused(node);
}

// An input's reference: counted among the users too.
inline void add_user(Node* input) {
  ++input->refs;
  ++input->users;
}

// Deletes a rule or an origin without references, after the nodes that are being freed.
void end(Rule* rule);
void end(Origin* origin);

// Drops the inputs of a computed node.
void seal(Node* node);

// Remembers a node without keeping it.
class NodeHandle {
 public:
  NodeHandle() = default;
  explicit NodeHandle(Node* node) : node_(node), seq_(node->seq) {}
  // Null if the node is gone. Valid until other code runs that may release it.
  Node* get() const;

 private:
  Node* node_ = nullptr;
  uint64_t seq_ = 0;
};

// A blank node with its number; only graph/make.cpp fills one.
Node* new_node();

int64_t live_nodes();
// Sets Node::mark of every live node to 0.
void clear_marks();
uint64_t next_seq();
// Sets numbers aside for nodes that will be made later and belong here; returns the first.
uint64_t reserve_seqs(uint64_t count);

}  // namespace pullback
