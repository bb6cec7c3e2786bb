// Lowers nodes that are not in a tile group: products, copies, gather and scatter, random numbers.
// An operand that a step cannot read in place (a scalar, axes that do not merge) is copied first.
#include <optional>
#include <utility>

#include "ops/convolve.h"
#include "ops/reduce.h"
#include "plan/passes/lowering.h"

namespace pullback {

// An operand in memory: a scalar is first stored as a one-element array.
View Lowering::operand(uint32_t member, size_t k) {
  const Read& read = analysis_.reads(member)[k];
  if (analysis_.kind[read.base] == Analysis::Number && slot_[read.base] < 0) {
    TileGroup group;
    group.count = 1;
    group.scalars.push_back(scalar_load(read.base));
    group.stores.push_back({0, {slot_of(read.base), nodes_[read.base]->dtype, 0, {}, {}}});
    add_step(std::move(group), nodes_[member]->op);
  }
  return view_of(read);
}

// The same, row-major without gaps; copied if necessary.
View Lowering::dense_operand(uint32_t member, size_t k) {
  View view = operand(member, k);
  if (is_row_major(view)) return view;
  const int64_t bytes = view.shape.size() * size_of(view.dtype);
  View copy{add_slot(SlotKind::Temporary, view.dtype, bytes), view.dtype, whole(view.shape)};
  add_step(Layout{view, copy}, nodes_[member]->op);
  return copy;
}

void Lowering::emit_other(uint32_t member) {
  const Node* node = nodes_[member];
  const Op op = node->op;
  switch (traits(op).step) {
    case StepKind::Product:
      return emit_matmul(member);
    case StepKind::Concat:
      return emit_concat(member);
    case StepKind::Embed:
      return add_step(Layout{operand(member, 0), place_of(node), true}, op);
    case StepKind::AtSlice: {
      const View in = operand(member, 1);
      copy_base(member);
      return add_step(Layout{in, place_of(node), false, node->attr.update == Update::Add}, op);
    }
    case StepKind::Indexed:
      return emit_indexed(member);
    case StepKind::ArgFold: {
      const View in = dense_operand(member, 0);
      const FoldedShape f = folded_shape(in.shape, axis_bit(node->attr.axis));
      return add_step(ArgReduce{op, in, whole_view(member), f.outer, f.reduced, f.inner}, op);
    }
    case StepKind::Scan: {
      const size_t last = analysis_.reads(member).size() - 1;
      const View in = three_axes(member, last, node->attr.axis, 1);
      std::optional<View> factors;
      if (last) factors = three_axes(member, 0, node->attr.axis, 1);
      return add_step(Scan{op, in, whole_view(member), factors, node->attr.reversed, in.shape[0],
                           in.shape[1], in.shape[2]},
                      op);
    }
    case StepKind::Sort: {
      const View in = three_axes(member, 0, node->attr.axis, 1);
      return add_step(Sort{op, in, whole_view(member), node->attr.reversed, in.shape[0],
                           in.shape[1], in.shape[2]},
                      op);
    }
    case StepKind::Search:
      return add_step(Search{dense_operand(member, 0), dense_operand(member, 1), whole_view(member),
                             node->attr.reversed},
                      op);
    case StepKind::Convolve:
    case StepKind::Pool:
      return emit_windows(member);
    case StepKind::Iota:
      return add_step(Iota{whole_view(member)}, op);
    case StepKind::Random:
      return emit_random(member);
    case StepKind::Callback: {
      CallbackCall call{run_scalar(analysis_.reads(member)[0]), {}, whole_view(member)};
      for (size_t k = 1; k < analysis_.reads(member).size(); ++k) {
        call.in.push_back(dense_operand(member, k));
      }
      return add_step(std::move(call), op);
    }
    case StepKind::Control:
      return op == Op::loop ? emit_loop(member) : emit_branch(member);
    case StepKind::Library:
      return emit_routine(member);
    case StepKind::Output:  // computed by the step of its operation
    case StepKind::None:    // in a group, or not computed
      break;
  }
}

void Lowering::emit_random(uint32_t member) {
  const auto reads = analysis_.reads(member);
  Random random{
      nodes_[member]->op, run_scalar(reads[0]), run_scalar(reads[1]), whole_view(member), {}};
  for (size_t k = 2; k < reads.size(); ++k) {
    const bool one = is_one_number(analysis_.strided(reads[k]));
    random.in.push_back(one ? operand(member, k) : dense_operand(member, k));
  }
  add_step(std::move(random), nodes_[member]->op);
}

// The part of a node's memory that its slice selects.
View Lowering::place_of(const Node* node) {
  const Shape& shape = node->in[node->op == Op::at_slice]->shape;
  return {slot_of(node->index), node->dtype, sliced(whole(node->shape), shape, *node->slice)};
}

// at_slice and at_index update a copy of their base, or the base itself.
void Lowering::copy_base(uint32_t member) {
  if (shares_[analysis_.reads(member)[0].base] == static_cast<int32_t>(member)) return;
  add_step(Layout{operand(member, 0), whole_view(member)}, nodes_[member]->op);
}

// An operand as [outer, middle, inner], where the middle is `count` axes from `axis` on; copied if
// its axes do not merge.
View Lowering::three_axes(uint32_t member, size_t k, int64_t axis, int64_t count) {
  const Strided& strided = analysis_.strided(analysis_.reads(member)[k]);
  Shape three;
  for (const auto& [from, to] : {std::pair{int64_t{0}, axis}, std::pair{axis, axis + count},
                                 std::pair{axis + count, int64_t{strided.shape.rank}}}) {
    three.append(1);
    for (int64_t d = from; d < to; ++d) three[three.rank - 1] *= strided.shape[d];
  }
  const std::optional<Strided> merged = reshaped(strided, three);
  const View view = merged ? operand(member, k) : dense_operand(member, k);
  return {view.slot, view.dtype, merged ? *merged : whole(three)};
}

void Lowering::emit_indexed(uint32_t member) {
  const Node* node = nodes_[member];
  const bool based = node->op == Op::at_index;
  const int64_t axis = node->attr.axis;
  if (!analysis_.snapshot->known_positions_of(member).empty()) return emit_slices(member);
  const View indices = dense_operand(member, based ? 2 : 1);
  if (node->op == Op::take) {
    const View in = three_axes(member, 0, axis, 1);
    const View out = whole_view(member);
    return add_step(Gather{in, indices, out, in.shape[0], in.shape[1], in.shape[2]}, node->op);
  }
  const View in = three_axes(member, based ? 1 : 0, axis, indices.shape.rank);
  if (based) copy_base(member);
  add_step(
      ScatterAdd{in, indices, whole_view(member), in.shape[0], node->shape[axis], in.shape[2],
                 based ? node->attr.update : Update::Add, !based, node->op == Op::sum_duplicates},
      node->op);
}

// An indexed operation at known positions: a copy for each run. Positions that are written are
// distinct, so no copy depends on another.
void Lowering::emit_slices(uint32_t member) {
  const Node* node = nodes_[member];
  const std::span<const PositionRun> runs = analysis_.snapshot->known_positions_of(member);
  const bool takes = node->op == Op::take;
  const bool based = node->op == Op::at_index;
  const int64_t axis = node->attr.axis;
  int64_t count = 0;
  for (const PositionRun& run : runs) count += run.count;
  // The list has the shape of its positions; here it is one axis.
  Shape list = takes ? analysis_.strided(analysis_.reads(member)[0]).shape : node->shape;
  list[axis] = count;
  View whole_list = whole_view(member);
  View indexed = whole_list;
  if (takes) {
    static_cast<Strided&>(whole_list) = whole(list);
    indexed = operand(member, 0);
  } else {
    const size_t k = based ? 1 : 0;
    const auto merged = reshaped(analysis_.strided(analysis_.reads(member)[k]), list);
    whole_list = merged ? operand(member, k) : dense_operand(member, k);
    static_cast<Strided&>(whole_list) = merged ? *merged : whole(list);
    if (based) copy_base(member);
  }
  bool clear = !takes && !based;
  const bool add = based && node->attr.update == Update::Add;
  int64_t first = 0;
  for (const PositionRun& run : runs) {
    list[axis] = run.count;
    // Written in the order of memory.
    const bool backwards = !takes && run.step < 0;
    StridedSlice of_list(list.rank), of_axis(list.rank);
    of_list.start[axis] = backwards ? first + run.count - 1 : first;
    of_list.step[axis] = backwards ? -1 : 1;
    of_axis.start[axis] = backwards ? run.start + (run.count - 1) * run.step : run.start;
    of_axis.step[axis] = backwards ? -run.step : run.step;
    const View in_list{whole_list.slot, whole_list.dtype, sliced(whole_list, list, of_list)};
    const View in_axis{indexed.slot, indexed.dtype, sliced(indexed, list, of_axis)};
    add_step(takes ? Layout{in_axis, in_list} : Layout{in_list, in_axis, clear, add}, node->op);
    clear = false;
    first += run.count;
  }
}

void Lowering::emit_matmul(uint32_t member) {
  const Node* node = nodes_[member];
  // Batch axes of the result: missing axes, and axes of size 1, have stride 0.
  const auto factor = [&](size_t k) {
    const View view = operand(member, k);
    Shape shape = node->shape;
    for (int64_t d = 1; d <= 2; ++d) shape[shape.rank - d] = view.shape[view.shape.rank - d];
    return View{view.slot, view.dtype, broadcasted(view, shape)};
  };
  const View a = factor(0);
  const View b = factor(1);
  add_step(Gemm{a, b, whole_view(member), std::nullopt}, Op::matmul);
}

void Lowering::emit_windows(uint32_t member) {
  const Node* node = nodes_[member];
  Windowing windows = windowing_of(node);
  if (node->op != Op::convolve) {
    Pool pool{node->op, dense_operand(member, 0), whole_view(member), std::nullopt, windows};
    if (node->op != Op::max_pool) pool.g = dense_operand(member, 1);
    return add_step(std::move(pool), node->op);
  }
  const View x = operand(member, 0);
  const View w = operand(member, 1);
  for (size_t d = 0; d < 3; ++d) windows.size[d] = w.shape[static_cast<int64_t>(d)];
  add_step(Convolution{x, w, whole_view(member), windows, std::nullopt}, node->op);
}

void Lowering::emit_concat(uint32_t member) {
  const Node* node = nodes_[member];
  const int64_t axis = node->attr.axis;
  View place = whole_view(member);
  const int64_t stride = place.strides[axis];
  for (size_t k = 0; k < analysis_.reads(member).size(); ++k) {
    const View in = operand(member, k);
    place.shape[axis] = in.shape[axis];
    add_step(Layout{in, place}, Op::concat);
    place.offset += in.shape[axis] * stride;
  }
}

}  // namespace pullback
