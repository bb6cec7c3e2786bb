// The cotangent of a take is a scatter_add, to which the cotangents of other takes are added at
// their positions (adjoint.cpp): the oldest is the outermost.
#include "grad/sparse/sparse_rows.h"

#include <algorithm>
#include <vector>

#include "ops/ops.h"

namespace pullback {
namespace {

// The values as rows, one per index.
Rows as_rows(const NodeRef& values, const NodeRef& indices) {
  Shape rows{indices->shape.size()};
  for (int64_t d = indices->shape.rank; d < values->shape.rank; ++d) rows.append(values->shape[d]);
  return {reshape(values, rows), reshape(indices, {indices->shape.size()})};
}

}  // namespace

std::optional<Rows> rows_of(const NodeRef& x, RowOrder order) {
  std::vector<Rows> parts;
  const Node* at = x.get();
  for (bool open = true; open;) {
    if (at->rule || at->inputs_count == 0 || at->attr.axis != 0) return std::nullopt;
    if (at->op == Op::identity) {
      at = at->in[0];
    } else if (at->op == Op::at_index && at->attr.update == Update::Add) {
      parts.push_back(as_rows(NodeRef(at->in[1]), NodeRef(at->in[2])));
      at = at->in[0];
    } else if (at->op == Op::scatter_add) {
      parts.push_back(as_rows(NodeRef(at->in[0]), NodeRef(at->in[1])));
      open = false;
    } else {
      return std::nullopt;
    }
  }
  if (parts.size() == 1) return parts[0];
  if (order == RowOrder::AsAdded) std::reverse(parts.begin(), parts.end());
  const bool wide = std::any_of(parts.begin(), parts.end(), [](const Rows& part) {
    return part.indices->dtype == DType::Int64;
  });
  std::vector<NodeRef> values, indices;
  for (const Rows& part : parts) {
    values.push_back(part.values);
    indices.push_back(cast(part.indices, wide ? DType::Int64 : DType::Int32));
  }
  return Rows{concat(values, 0), concat(indices, 0)};
}

}  // namespace pullback
