// One walk between y and x and one scan forward (entry_sources.h has the rule for each node). The
// sets of a node are freed after its last user was visited.
#include "grad/sparse/sparsity.h"

#include <numeric>

#include "base/error.h"
#include "grad/sparse/entry_sources.h"
#include "graph/walk.h"
#include "transform/batcher.h"

namespace pullback {
namespace {

constexpr int64_t kLongest = INT32_MAX;
constexpr int64_t kMostEntries = int64_t{1} << 27;  // 2 GiB with the position of each

// The inputs of a node that may depend on x, that is, which are not older.
std::span<Node* const> inputs_above(const Node* x, const Node* node) {
  const bool ends = node->seq <= x->seq || node->has_value() || always_true(node);
  return ends ? std::span<Node* const>() : value_inputs(node);
}

std::vector<Node*> between(const NodeRef& y, const NodeRef& x) {
  std::vector<Node*> nodes;
  walk(pointers({&y, 1}), &nodes, [&](const Node* node) { return inputs_above(x.get(), node); });
  return nodes;
}

Pattern pattern_of(const EntrySources& sources, int64_t rows, int64_t columns,
                   const IndexSets& sets, const char* who) {
  Pattern out;
  out.columns = columns;
  int64_t count = 0;
  for (int64_t i = 0; i < rows; ++i) {
    if (!sources.empty()) count += sets.size(sources[i]);
    if (count > kMostEntries) {
      fail(ErrorKind::Memory, who, ": expected at most ", kMostEntries,
           " entries that may differ from zero, got more; use jacobian or hessian");
    }
    out.starts.push_back(static_cast<int32_t>(count));
  }
  out.entries.reserve(static_cast<size_t>(count));
  for (IndexSets::Id id : sources) {
    for (const auto [begin, end] : sets.ranges(id)) {
      for (int32_t at = begin; at < end; ++at) out.entries.push_back(at);
    }
  }
  return out;
}

}  // namespace

std::vector<NodeRef> unknown_positions(const NodeRef& y, const NodeRef& x) {
  std::vector<NodeRef> out;
  for (const Node* node : between(y, x)) {
    if (!has_positions(node->op) || inputs_above(x.get(), node).empty()) continue;
    Node* positions = node->inputs().back();
    if (!positions->has_value() && !(positions->flags & kTraced)) out.emplace_back(positions);
  }
  return out;
}

Pattern dependence(const NodeRef& y, const NodeRef& x, const char* who) {
  const int64_t rows = y->shape.size();
  const int64_t columns = x->shape.size();
  if (columns >= kLongest || rows >= kLongest) {
    fail(ErrorKind::Value, who, ": expected at most ", kLongest - 1, " rows and columns, got ",
         rows, " rows and ", columns, " columns");
  }
  const std::vector<Node*> nodes = between(y, x);
  std::vector<int32_t> users(nodes.size());
  for (const Node* node : nodes) {
    for (const Node* input : inputs_above(x.get(), node)) ++users[input->index];
  }
  ++users[y->index];
  IndexSets sets(columns, who);
  std::vector<EntrySources> sources(nodes.size());
  std::vector<const EntrySources*> in;
  for (const Node* node : nodes) {
    EntrySources& own = sources[node->index];
    if (node == x.get()) {
      own.resize(static_cast<size_t>(columns));
      std::iota(own.begin(), own.end(), IndexSets::single(0));
      continue;
    }
    in.clear();
    for (const Node* input : inputs_above(x.get(), node)) in.push_back(&sources[input->index]);
    own = sources_of(node, in, &sets);
    for (const Node* input : inputs_above(x.get(), node)) {
      if (--users[input->index] == 0) sources[input->index] = {};
    }
  }
  return pattern_of(sources[y->index], rows, columns, sets, who);
}

Pattern transposed(const Pattern& pattern) {
  Pattern out;
  out.columns = pattern.rows();
  out.starts.assign(static_cast<size_t>(pattern.columns) + 1, 0);
  for (int32_t column : pattern.entries) ++out.starts[column + 1];
  std::partial_sum(out.starts.begin(), out.starts.end(), out.starts.begin());
  out.entries.resize(pattern.entries.size());
  std::vector<int32_t> at(out.starts.begin(), out.starts.end() - 1);
  for (int32_t row = 0; row < out.columns; ++row) {
    for (int32_t column : pattern.row(row)) out.entries[at[column]++] = row;
  }
  return out;
}

}  // namespace pullback
