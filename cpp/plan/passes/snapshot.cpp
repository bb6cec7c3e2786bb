// Numbers nodes and writes the key in one visit per node (Numbering, KeyWriter). Then finds, from
// the last node to the first, whose values outlive the evaluation.
#include "plan/passes/snapshot.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/hash.h"
#include "graph/make.h"
#include "graph/recorder.h"
#include "graph/variable.h"
#include "graph/walk.h"
#include "plan/backend.h"
#include "plan/passes/bodies.h"
#include "runtime/device_memory.h"

namespace pullback {
namespace {

bool expensive(const Node* node, const Limits& limits) {
  switch (traits(node->op).cost) {
    case Cost::Heavy:
      return true;
    case Cost::Fold:
      return node->in[0]->shape.size() >= limits.large_reduction;
    case Cost::Free:
    case Cost::Arithmetic:
    case Cost::Division:
    case Cost::Function:
    case Cost::Power:
    case Cost::Copy:
      break;
  }
  return false;
}

bool worth_keeping(const Node* node, const Limits& limits) {
  switch (node->attr.keep) {
    case Keep::Default:
      return expensive(node, limits);
    case Keep::Never:
      return false;
    case Keep::Always:
      return true;
  }
  return false;
}

// True for a view of a part of another value, or of all of it permuted or repeated.
bool is_partial_view(const Node* node) {
  const ViewKind view = traits(node->op).view;
  return view == ViewKind::Transpose || view == ViewKind::Broadcast || view == ViewKind::Slice;
}

// Adds or drops axes of size 1.
bool moves_ones(const Node* node) {
  if (traits(node->op).view != ViewKind::Reshape) return false;
  const Shape &to = node->shape, &from = node->in[0]->shape;
  int64_t t = 0;
  int64_t f = 0;
  for (;; ++t, ++f) {
    while (t < to.rank && to[t] == 1) ++t;
    while (f < from.rank && from[f] == 1) ++f;
    if (t == to.rank || f == from.rank) return t == to.rank && f == from.rank;
    if (to[t] != from[f]) return false;
  }
}

// Appends bytes; room is reserved per node.
class KeyWriter {
 public:
  explicit KeyWriter(Snapshot* snapshot) : snapshot_(*snapshot), out_(snapshot->key) {}

  void leaf(const Node* node) {
    make_room(room_of(node));
    const std::optional<Scalar> constant = snapshot_.constant_of(node);
    head(node, node->op == Op::scalar ? Op::scalar : Op::value, constant ? kIsConstant : 0);
    if (constant) put(constant->i);
  }

  // Input positions are relative, so the same step later in a loop writes the same bytes.
  void node(const Node* node, std::span<Node* const> inputs) {
    std::vector<unsigned char> inside;
    if (node->operation) inside = key_of(*node->operation);
    const Node* call = node->op == Op::custom ? operation_of(node) : nullptr;
    const bool next_result = call && call == call_;
    call_ = call;
    const auto given = node->attr.composite == Composite::None || next_result ? inputs.first(0)
                                                                              : given_inputs(node);
    const std::span<const PositionRun> positions = snapshot_.known_positions_of(node->index);
    make_room(room_of(node) + inside.size() + positions.size_bytes() +
              (inputs.size() + given.size() + 3) * sizeof(uint32_t));
    const bool plain = node->attr == Attr{};
    head(node, node->op, (plain ? 0 : kHasAttr) | (positions.empty() ? 0 : kHasPositions));
    if (!plain) put(node->attr);
    if (!positions.empty()) put(static_cast<uint32_t>(positions.size()));
    for (const PositionRun& run : positions) put(run);
    if (node->slice) {
      for (const int64_t start : node->slice->start) put(start);
      for (const int64_t step : node->slice->step) put(step);
    }
    for (const unsigned char byte : inside) put(byte);
    if (node->op == Op::output) put(node->output);
    if (snapshot_.has_sites) put(site_number(node));
    put(static_cast<uint32_t>(inputs.size()));
    for (const Node* input : inputs) put(node->index - input->index);
    // They decide which steps are named after the composite.
    if (next_result) put(~uint32_t{0});
    if (!given.empty()) put(static_cast<uint32_t>(given.size()));
    for (const Node* input : given) {
      put(snapshot_.has(input) ? node->index - input->index : uint32_t{0});
    }
  }

  // Written last, with the counts at the very end, so that no two snapshots have the same bytes.
  void finish() {
    const auto& outputs = snapshot_.outputs;
    const auto& replaced = snapshot_.replaced;
    make_room((outputs.size() + 2 * replaced.size() + 2) * sizeof(uint32_t));
    for (uint32_t output : outputs) put(output);
    for (const auto& [argument, output] : replaced) {
      put(argument);
      put(output);
    }
    put(static_cast<uint32_t>(outputs.size()));
    put(static_cast<uint32_t>(replaced.size()) | uint32_t{snapshot_.has_sites} << 23 |
        static_cast<uint32_t>(snapshot_.device.id) << 24);
    out_.resize(size_);
  }

 private:
  // Upper limit of the bytes of a node without its inputs.
  static size_t room_of(const Node* node) {
    const auto rank = static_cast<size_t>(node->shape.rank);
    const auto slice_rank = node->slice ? static_cast<size_t>(node->slice->start.rank) : 0;
    return sizeof(uint64_t) * (3 + rank + 2 * slice_rank) + sizeof(Attr);
  }
  static constexpr uint32_t kHasAttr = 1 << 24, kIsConstant = 1 << 25;
  static constexpr uint32_t kHasPositions = uint32_t{1} << 31;

  void head(const Node* node, Op op, uint32_t bits) {
    put(static_cast<uint32_t>(op) | static_cast<uint32_t>(node->dtype) << 16 | bits |
        static_cast<uint32_t>(node->shape.rank) << 26);
    for (int64_t i = 0; i < node->shape.rank; ++i) put(node->shape[i]);
  }
  void make_room(size_t bytes) {
    if (size_ + bytes > out_.size()) out_.resize(std::max(2 * out_.size(), size_ + bytes));
  }
  template <class T>
  void put(const T& value) {
    std::memcpy(out_.data() + size_, &value, sizeof value);
    size_ += sizeof value;
  }

  const Snapshot& snapshot_;
  const Node* call_ = nullptr;  // of the node before, if that is a result of a composite
  std::vector<unsigned char>& out_;
  size_t size_ = 0;
};

// Graphs are larger than caches, so every node is visited once; its properties are stored here.
class Numbering {
 public:
  Numbering(Snapshot* snapshot, size_t nodes) : snapshot_(*snapshot), writer_(snapshot) {
    snapshot_.nodes.reserve(nodes);
    marks_.reserve(nodes);
    edges_.reserve(2 * nodes);
    snapshot_.key.resize(nodes * 32 + 64);
  }

  // Each leaf is placed before the first node that uses it. In creation order, a read left by an
  // earlier evaluation would have another position than a new one, and the same program would have
  // two keys.
  void number(std::span<Node* const> sorted) {
    for (Node* node : sorted) {
      if (!is_input(node)) visit(node);
    }
  }
  void root(Node* node) {
    if (!placed(node)) leaf(node);
    snapshot_.wanted.resize(snapshot_.nodes.size(), 0);
    snapshot_.wanted[node->index] = 1;
  }
  void replace(const Replacement& replacement) {
    if (replacement.new_value->has_value()) return;
    if (!placed(replacement.old_value)) leaf(replacement.old_value);
    snapshot_.wanted.resize(snapshot_.nodes.size(), 0);
    snapshot_.replaced.emplace_back(replacement.old_value->index, replacement.new_value->index);
  }

  // Marks the nodes whose values are kept, because a later evaluation needs them:
  //   - nodes that a tensor of the program, a variable or a tape holds;
  //   - nodes that are worth keeping and outlive this evaluation: a node outside of the walk has
  //     them as an input, or a node that outlives it keeps them as its history;
  //   - now and then (kRecomputed) a node that is an input outside of the walk, since a loop may
  //     continue from there without ever holding it.
  // All others that outlive the evaluation are cheap to recompute.
  void mark_kept() {
    count_other_uses();
    const Limits& limits = backend_of(snapshot_.device).limits();
    snapshot_.outlives.assign(snapshot_.nodes.size(), 0);
    bool recomputed = false;  // some value may be computed again for other nodes
    const Node* last_call = nullptr;
    for (size_t i = snapshot_.nodes.size(); i-- > 0;) {
      const Mark& mark = marks_[i];
      snapshot_.outlives[i] |= mark.outside > 0;
      if (!snapshot_.outlives[i] || mark.leaf) continue;
      const Node* node = snapshot_.nodes[i];
      if (worth_keeping(node, limits)) snapshot_.wanted[i] = 1;
      if (mark.holders > 0 && !is_operation(node->op)) keep_referenced(static_cast<uint32_t>(i));
      recomputed |= mark.outside > 0 && !snapshot_.wanted[i];
      // It will be sealed. Other nodes keep their inputs, or are still to be computed from them.
      if (snapshot_.wanted[i] && (!node->tracked() || node->op == Op::read)) continue;
      for (uint32_t input : edges_of(i)) snapshot_.outlives[input] = 1;
      const Node* call = node->op == Op::custom ? operation_of(node) : nullptr;
      if (call && call == last_call) continue;
      last_call = call;
      for (const Node* input : given_inputs(node)) {
        if (placed(input)) snapshot_.outlives[input->index] = 1;
      }
    }
    if (recomputed && snapshot_.nodes.size() > kRecomputed) bound_recomputation();
  }

  void finish() {
    for (uint32_t i = 0; i < snapshot_.nodes.size(); ++i) {
      if (snapshot_.wanted[i]) snapshot_.outputs.push_back(i);
    }
    const auto place_in = [](const std::vector<uint32_t>& sorted, uint32_t position) {
      const auto found = std::lower_bound(sorted.begin(), sorted.end(), position);
      return static_cast<uint32_t>(found - sorted.begin());
    };
    for (auto& [argument, output] : snapshot_.replaced) {
      argument = place_in(snapshot_.arguments, argument);
      output = place_in(snapshot_.outputs, output);
    }
    writer_.finish();
  }

 private:
  struct Mark {
    int32_t outside;  // references not found inside of the snapshot
    int32_t holders;  // of these, references that are not from nodes
    uint32_t edges;   // first of its inputs
    bool leaf;
  };

  // Longest chain of nodes that may be computed repeatedly.
  static constexpr uint32_t kRecomputed = 64;
  // Number of views followed to the value that they show.
  static constexpr int kFewViews = 16;

  uint32_t edge_count() const { return static_cast<uint32_t>(edges_.size()); }

  std::span<const uint32_t> edges_of(size_t i) const {
    const uint32_t end = i + 1 < marks_.size() ? marks_[i + 1].edges : edge_count();
    return std::span(edges_).subspan(marks_[i].edges, end - marks_[i].edges);
  }

  // Keeping a view costs no memory if the viewed value is kept. A small view of a value without
  // other references is kept itself.
  void keep_referenced(uint32_t i) {
    uint32_t base = i;
    int views = 0;
    bool partial = false;  // and not the same memory in another shape
    while (!marks_[base].leaf &&
           (is_partial_view(snapshot_.nodes[base]) || moves_ones(snapshot_.nodes[base]))) {
      partial |= is_partial_view(snapshot_.nodes[base]);
      base = edges_of(base)[0];
      if (++views > kFewViews) break;
    }
    if (partial && views <= kFewViews) {
      if (marks_[base].leaf) return;
      const bool small =
          2 * snapshot_.nodes[i]->shape.size() <= snapshot_.nodes[base]->shape.size();
      if (!small || marks_[base].holders > 0) i = base;
    }
    snapshot_.wanted[i] = 1;
  }

  // Repeated evaluations must not recompute ever longer chains for other pending nodes. Of their
  // inputs, the value at the end of every long chain is kept.
  void bound_recomputation() {
    std::vector<uint32_t> chain(snapshot_.nodes.size(), 0);
    for (size_t i = 0; i < snapshot_.nodes.size(); ++i) {
      if (marks_[i].leaf || snapshot_.wanted[i]) continue;
      for (uint32_t input : edges_of(i)) chain[i] = std::max(chain[i], chain[input] + 1);
      if (chain[i] < kRecomputed || marks_[i].outside <= 0) continue;
      if (snapshot_.nodes[i]->attr.keep == Keep::Never) continue;
      if (is_operation(snapshot_.nodes[i]->op)) continue;
      snapshot_.wanted[i] = 1;
      chain[i] = 0;
    }
  }

  bool placed(const Node* node) const { return snapshot_.has(node); }

  void place(Node* node, bool leaf) {
    node->index = static_cast<uint32_t>(snapshot_.nodes.size());
    snapshot_.nodes.push_back(node);
    const auto refs = static_cast<int32_t>(node->refs);
    const auto users = static_cast<int32_t>(node->users);
    marks_.push_back({refs, refs - users, edge_count(), leaf});
  }

  void leaf(Node* node) {
    if (snapshot_.traced && equal_leaves_.number(node)) return;
    place(node, true);
    writer_.leaf(node);
    if (node->op != Op::scalar) {
      snapshot_.arguments.push_back(node->index);
    } else if (!snapshot_.constant_of(node)) {
      snapshot_.scalars.push_back(node->index);
    }
  }

  void visit(Node* node) {
    const auto inputs = value_inputs(node);
    for (Node* input : inputs) {
      if (!placed(input)) leaf(input);
    }
    place(node, false);
    if (snapshot_.traced) snapshot_.find_positions(node);
    writer_.node(node, inputs);
    for (const Node* input : inputs) {
      edges_.push_back(input->index);
      --marks_[input->index].outside;
    }
    if (node->op == Op::custom) with_rules_.push_back(node);
    if (const Node* operation = operation_of(node);
        operation && operations_.insert(operation).second) {
      with_rules_.push_back(operation);
    }
  }

  void count_other_uses() {
    const auto use = [&](const Node* node, bool by_node) {
      if (!placed(node)) return;
      --marks_[node->index].outside;
      marks_[node->index].holders -= !by_node;
    };
    for (const Node* node : with_rules_) {
      for (const Node* input : rule_inputs(node)) use(input, true);
    }
    // A variable drops its update, and the read of it, after they are computed.
    for (const Variable* variable : pending_variables()) {
      use(variable->current.get(), false);
      if (variable->reading) use(variable->reading.get(), false);
    }
  }

  Snapshot& snapshot_;
  KeyWriter writer_;
  std::vector<Mark> marks_;
  std::vector<uint32_t> edges_;
  std::vector<const Node*> with_rules_;  // nodes whose rules keep more than the values below them
  std::unordered_set<const Node*> operations_;
  EqualLeaves equal_leaves_;
};

// evaluate() computes transfers before it takes a snapshot. A pending one belongs to a trace: it is
// an alias in a plan of its device, unless its input is on another.
Device plan_device(std::span<Node* const> nodes, Device otherwise) {
  const std::optional<Device> device = common_device(nodes);
  if (!device) {
    fail(ErrorKind::NotImplemented,
         "transfer: a traced function runs on one device; transfer its arguments or its results");
  }
  if (*device != kAnyDevice) return *device;
  return otherwise == kAnyDevice ? default_device() : otherwise;
}

}  // namespace

Snapshot take_snapshot(std::span<Node* const> roots, bool traced,
                       std::span<const Replacement> replacements, Device device) {
  Snapshot snapshot{.traced = traced, .has_sites = recording};
  std::vector<Node*> pending;
  for (Node* root : roots) {
    if (!root->has_value()) pending.push_back(root);
  }
  std::vector<Node*> sorted;
  walk(std::span<Node* const>(pending), &sorted, [](const Node* node) {
    return is_input(node) ? std::span<Node* const>() : value_inputs(node);
  });
  if (several_devices) snapshot.device = plan_device(sorted, device);
  Numbering numbering(&snapshot, sorted.size());
  numbering.number(sorted);
  for (Node* root : pending) numbering.root(root);
  for (const Replacement& replacement : replacements) numbering.replace(replacement);
  if (!traced) numbering.mark_kept();
  numbering.finish();
  snapshot.hash = hash_bytes(snapshot.key.data(), snapshot.key.size());
  return snapshot;
}

}  // namespace pullback
