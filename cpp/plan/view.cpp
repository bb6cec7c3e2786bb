// Views of views: the strides of a reshape, transpose, broadcast or slice of a strided view.
#include "plan/view.h"

#include "graph/attr.h"

namespace pullback {

Strided whole(const Shape& shape) { return {0, shape, row_major(shape)}; }

bool is_row_major(const Strided& view) {
  int64_t expected = 1;
  for (int64_t d = view.shape.rank; d-- > 0;) {
    if (view.shape[d] == 0) return true;
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return true;
}

bool is_flat(const Strided& view) { return view.offset == 0 && is_row_major(view); }

bool is_one_number(const Strided& view) {
  for (int64_t d = 0; d < view.shape.rank; ++d) {
    if (view.shape[d] > 1 && view.strides[d] != 0) return false;
  }
  return true;
}

// Axes of equal element count are matched group by group; a group of several input axes must be
// mergeable.
std::optional<Strided> reshaped(const Strided& in, const Shape& shape) {
  Strided out{in.offset, shape, row_major(shape)};
  if (shape.size() == 0) return out;
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
        return std::nullopt;
      }
      run *= in.shape[d];
    }
    int64_t inner = 1;
    for (int64_t d = o_end; d-- > o;) {
      out.strides[d] = step * inner;
      inner *= shape[d];
    }
    i = i_end;
    o = o_end;
  }
  return out;
}

Strided broadcasted(const Strided& in, const Shape& shape) {
  Strided out{in.offset, shape, {}};
  out.strides.resize(shape.rank);
  const int64_t lead = shape.rank - in.shape.rank;
  for (int64_t d = lead; d < shape.rank; ++d) {
    out.strides[d] = in.shape[d - lead] == shape[d] ? in.strides[d - lead] : 0;
  }
  return out;
}

Strided transposed(const Strided& in, const AxisOrder& order) {
  Strided out = in;
  for (int64_t d = 0; d < in.shape.rank; ++d) {
    out.shape[d] = in.shape[order[d]];
    out.strides[d] = in.strides[order[d]];
  }
  return out;
}

Strided sliced(const Strided& in, const Shape& shape, const StridedSlice& where) {
  Strided out{in.offset, shape, in.strides};
  for (int64_t d = 0; d < shape.rank; ++d) {
    out.offset += where.start[d] * in.strides[d];
    out.strides[d] = in.strides[d] * where.step[d];
  }
  return out;
}

bool in_order(const Strided& view) {
  int64_t reach = 0;  // extent of the axes inside
  for (int64_t d = view.shape.rank; d-- > 0;) {
    if (view.shape[d] == 1) continue;
    if (view.strides[d] <= reach) return false;
    reach += (view.shape[d] - 1) * view.strides[d];
  }
  return true;
}

namespace {

// The interval of each period of memory in which a view lies; false if it crosses into the next
// period.
struct Part {
  int64_t first, last;
};
bool part_of(const Strided& view, int64_t period, Part* out) {
  out->first = out->last = view.offset % period;
  for (int64_t d = 0; d < view.shape.rank; ++d) {
    if (view.strides[d] % period != 0) out->last += (view.shape[d] - 1) * view.strides[d];
  }
  return out->last < period;
}

}  // namespace

// Columns, parts of rows, or every other element: each lies in its own interval of a period (a
// stride).
bool disjoint(const Strided& x, const Strided& y) {
  if (!in_order(x) || !in_order(y)) return false;
  const auto disjoint_in = [&](int64_t period) {
    Part a, b;
    if (!part_of(x, period, &a) || !part_of(y, period, &b)) return false;
    return a.last < b.first || b.last < a.first;
  };
  if (disjoint_in(INT64_MAX)) return true;
  for (const Strided* view : {&x, &y}) {
    for (int64_t d = 0; d < view->shape.rank; ++d) {
      if (view->shape[d] > 1 && view->strides[d] > 1 && disjoint_in(view->strides[d])) return true;
    }
  }
  return false;
}

}  // namespace pullback
