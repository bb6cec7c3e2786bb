#include "plan/views.h"

namespace pullback {

// Axes of equal element count are matched group by group; a group of several input axes must be
// mergeable.
bool reshape_view(const NodeView& in, const Shape& shape, NodeView* out) {
  *out = in;
  out->shape = shape;
  out->strides = row_major(shape);
  if (shape.size() == 0) return true;
  int64_t i = 0;
  int64_t o = 0;
  while (i < in.shape.rank || o < shape.rank) {
    int64_t i_end = i;
    int64_t o_end = o;
    int64_t i_size = i_end < in.shape.rank ? in.shape[i_end++] : 1;
    int64_t o_size = o_end < shape.rank ? shape[o_end++] : 1;
    while (i_size != o_size) {
      if (i_size < o_size) {
        i_size *= in.shape[i_end++];
      } else {
        o_size *= shape[o_end++];
      }
    }
    // Merge input axes i … i_end into one run with a single stride.
    int64_t step = 0;
    int64_t run = 1;
    bool first = true;
    for (int64_t d = i_end; d-- > i;) {
      if (in.shape[d] == 1) continue;
      if (first) {
        step = in.strides[d];
        first = false;
      } else if (in.strides[d] != step * run) {
        return false;
      }
      run *= in.shape[d];
    }
    int64_t inner = 1;
    for (int64_t d = o_end; d-- > o;) {
      out->strides[d] = shape[d] == 1 ? 0 : step * inner;
      inner *= shape[d];
    }
    i = i_end;
    o = o_end;
  }
  return true;
}

NodeView whole(uint32_t position, const Shape& shape) {
  return {position, 0, shape, row_major(shape)};
}

bool is_row_major(const NodeView& view) {
  int64_t expected = 1;
  for (int64_t d = view.shape.rank; d-- > 0;) {
    if (view.shape[d] == 0) return true;
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

bool is_flat(const NodeView& view, const Node* base) {
  return view.offset == 0 && is_row_major(view) && view.shape.size() == base->shape.size();
}

bool apply_view(const Node* node, const NodeView& in, NodeView* out) {
  switch (traits(node->op).kind) {
    case OpKind::Reshape:
      return reshape_view(in, node->shape, out);
    case OpKind::Transpose:
      *out = in;
      for (int64_t d = 0; d < node->shape.rank; ++d) {
        out->shape[d] = in.shape[node->attr.order[d]];
        out->strides[d] = in.strides[node->attr.order[d]];
      }
      return true;
    case OpKind::Broadcast: {
      *out = in;
      out->shape = node->shape;
      out->strides = {};
      out->strides.resize(node->shape.rank);
      const int64_t lead = node->shape.rank - in.shape.rank;
      for (int64_t d = lead; d < node->shape.rank; ++d) {
        out->strides[d] = in.shape[d - lead] == 1 ? 0 : in.strides[d - lead];
      }
      return true;
    }
    case OpKind::Slice:
      *out = in;
      out->shape = node->shape;
      for (int64_t d = 0; d < node->shape.rank; ++d) {
        out->offset += node->window->start[d] * in.strides[d];
        out->strides[d] = in.strides[d] * node->window->step[d];
      }
      return true;
    case OpKind::Alias:
      *out = in;
      return true;
    case OpKind::Elementwise:  // no views
    case OpKind::Leaf:
    case OpKind::Fold:
    case OpKind::Pick:
    case OpKind::Place:
    case OpKind::ArgFold:
    case OpKind::Product:
    case OpKind::Concat:
    case OpKind::Embed:
    case OpKind::AtWindow:
    case OpKind::Indexed:
    case OpKind::Iota:
    case OpKind::Random:
      break;
  }
  return false;
}

}  // namespace pullback
