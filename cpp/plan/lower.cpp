#include "plan/lower.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

class Lowering {
 public:
  Lowering(const Analysis& analysis, const Fusion& fusion)
      : a_(analysis),
        f_(fusion),
        nodes_(analysis.snapshot->nodes),
        slot_(nodes_.size(), -1),
        scalar_(nodes_.size(), -1),
        value_(nodes_.size(), -1) {}

  Plan run() {
    const Snapshot& s = *a_.snapshot;
    plan_.scalars = static_cast<int32_t>(s.scalars.size());
    for (size_t k = 0; k < s.scalars.size(); ++k) {
      scalar_[s.scalars[k]] = static_cast<int32_t>(k);
    }
    for (size_t k = 0; k < s.arguments.size(); ++k) {
      const Node* node = nodes_[s.arguments[k]];
      slot_[s.arguments[k]] = add_slot(SlotKind::Argument, node->dtype, node->bytes());
      plan_.slots.back().index = static_cast<int64_t>(k);
      plan_.arguments.push_back(slot_[s.arguments[k]]);
    }
    find_crossings();
    find_shared();
    for (uint32_t u = 0; u < f_.units.size(); ++u) {
      const Unit& unit = f_.units[u];
      if (!unit.tiles) {
        emit_other(unit.members[0]);
        if (unit.then < 0) continue;
        Op source;
        TileGroup group = tiles(++u, &source);
        std::get<Gemm>(plan_.steps.back().work).then = std::move(group);
        continue;
      }
      if (unit.members.size() == 1 && emit_copy(unit.members[0])) continue;
      Op source;
      TileGroup group = tiles(u, &source);
      if (group.count > 0 || !group.reductions.empty()) add_step(std::move(group), source);
    }
    for (uint32_t position : s.outputs) plan_.outputs.push_back(slot_[a_.view[position].base]);
    return std::move(plan_);
  }

 private:
  int32_t add_slot(SlotKind kind, DType dtype, int64_t bytes) {
    Slot slot{kind, dtype};
    slot.bytes = bytes;
    plan_.slots.push_back(slot);
    return static_cast<int32_t>(plan_.slots.size()) - 1;
  }

  // The memory of a computed node, made when its step is.
  int32_t slot_of(uint32_t position) {
    while (shares_[position] >= 0) position = static_cast<uint32_t>(shares_[position]);
    int32_t& slot = slot_[position];
    if (slot < 0) {
      const Node* node = nodes_[position];
      if (a_.stored[position]) {
        slot = add_slot(SlotKind::Output, node->dtype, node->bytes());
        plan_.slots.back().index = plan_.owned_outputs++;
        plan_.output_bytes.push_back(node->bytes());
      } else {
        slot = add_slot(SlotKind::Temporary, node->dtype, node->bytes());
      }
    }
    return slot;
  }

  View view_of(const NodeView& view) {
    return {slot_of(view.base), nodes_[view.base]->dtype, view.offset, view.shape, view.strides};
  }
  View whole_view(uint32_t position) { return view_of(whole(position, nodes_[position]->shape)); }

  void add_step(Work work, Op source) { plan_.steps.push_back({std::move(work), source}); }

  // Values that some other unit reads, or that leave the plan, must be stored.
  void find_crossings() {
    crosses_ = a_.stored;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (const NodeView& read : a_.reads(i)) {
        if (f_.unit_of[read.base] != f_.unit_of[i]) crosses_[read.base] = 1;
      }
    }
  }

  // at_window and at_index work in the memory of their base where nobody needs it afterwards.
  void find_shared() {
    shares_.assign(nodes_.size(), -1);
    std::vector<int32_t> last(nodes_.size(), -1);  // unit that reads a node last
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      for (const NodeView& read : a_.reads(i)) {
        last[read.base] = std::max(last[read.base], f_.unit_of[i]);
      }
    }
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (a_.kind[i] != Analysis::Other) continue;
      if (nodes_[i]->op != Op::at_window && nodes_[i]->op != Op::at_index) continue;
      const auto operands = a_.reads(i);
      const NodeView& base = operands[0];
      const bool also_else = std::any_of(operands.begin() + 1, operands.end(),
                                         [&](const auto& o) { return o.base == base.base; });
      if (a_.computed(base.base) && !a_.stored[base.base] &&
          is_flat(base, nodes_[base.base]) && last[base.base] == f_.unit_of[i] && !also_else) {
        shares_[base.base] = static_cast<int32_t>(i);
      }
    }
  }

  // --- tile groups

  ScalarLoad scalar_load(uint32_t position) const {
    return {scalar_[position], nodes_[position]->dtype, a_.value[position]};
  }

  // Loads and scalars of a group come first in the numbering, so they are collected before anything
  // else.
  class Leaves {
   public:
    Leaves(Lowering* lowering, TileGroup* group) : l_(*lowering), group_(*group) {}

    void add(const NodeView& read) {
      if (l_.a_.kind[read.base] == Analysis::Number) {
        int32_t& number = l_.value_[read.base];
        if (number >= 0) return;
        number = static_cast<int32_t>(group_.scalars.size());
        group_.scalars.push_back(l_.scalar_load(read.base));
        numbers_.push_back(read.base);
      } else if (find(read) < 0) {
        known_.emplace(hash(read), static_cast<int32_t>(group_.loads.size()));
        group_.loads.push_back(l_.view_of(read));
      }
    }
    // The number of its value, once all are added.
    int32_t number(const NodeView& read) const {
      if (l_.a_.kind[read.base] != Analysis::Number) return find(read);
      return static_cast<int32_t>(group_.loads.size()) + l_.value_[read.base];
    }
    ~Leaves() {
      for (uint32_t position : numbers_) l_.value_[position] = -1;
    }

   private:
    static uint64_t hash(const NodeView& read) {
      uint64_t h = mix(read.base, static_cast<uint64_t>(read.offset));
      for (int64_t d = 0; d < read.shape.rank; ++d) {
        h = mix(h, static_cast<uint64_t>(read.strides[d]));
      }
      return h;
    }
    int32_t find(const NodeView& read) const {
      const auto [begin, end] = known_.equal_range(hash(read));
      for (auto it = begin; it != end; ++it) {
        const View& view = group_.loads[it->second];
        if (view.slot == l_.slot_[read.base] && view.offset == read.offset &&
            view.shape == read.shape && view.strides == read.strides) {
          return it->second;
        }
      }
      return -1;
    }

    Lowering& l_;
    TileGroup& group_;
    std::unordered_multimap<uint64_t, int32_t> known_;
    std::vector<uint32_t> numbers_;
  };

  // What a member computes in: `where` in the dtype of its branches.
  DType computed_dtype(uint32_t member) const {
    if (a_.kind[member] == Analysis::Place || a_.kind[member] == Analysis::Copy) {
      return nodes_[member]->dtype;
    }
    return nodes_[a_.reads(member)[nodes_[member]->op == Op::where].base]->dtype;
  }

  // A view that is made real by itself: moved by blocks, which tiles are not.
  bool emit_copy(uint32_t member) {
    if (a_.kind[member] != Analysis::Copy) return false;
    const NodeView& read = a_.reads(member)[0];
    if (a_.kind[read.base] == Analysis::Number) return false;
    View out = whole_view(member);
    out.shape = read.shape;
    out.strides = row_major(read.shape);
    add_step(Layout{view_of(read), out}, nodes_[member]->op);
    return true;
  }

  TileGroup tiles(uint32_t unit_number, Op* source) {
    const Unit& unit = f_.units[unit_number];
    TileGroup group;
    group.count = unit.count;
    group.length = unit.length;
    const auto outside = [&](const NodeView& read) {
      return f_.unit_of[read.base] != static_cast<int32_t>(unit_number);
    };
    Leaves leaves(this, &group);
    for (uint32_t member : unit.members) {
      for (const NodeView& read : a_.reads(member)) {
        if (outside(read)) leaves.add(read);
      }
    }
    const auto first = static_cast<int32_t>(group.loads.size() + group.scalars.size());
    *source = Op::count;
    for (uint32_t member : unit.members) {
      const Node* node = nodes_[member];
      if (*source == Op::count || is_elementwise(node->op)) *source = node->op;
      int32_t in[3] = {-1, -1, -1};
      const auto reads = a_.reads(member);
      for (size_t k = 0; k < reads.size(); ++k) {
        in[k] = outside(reads[k]) ? leaves.number(reads[k]) : value_[reads[k].base];
      }
      const FoldKind fold = f_.spaces.fold[member];
      if (fold == FoldKind::End || fold == FoldKind::General) {
        const FoldedShape f = folded_shape(reads[0].shape, node->attr.axes);
        group.reductions.push_back({node->op, in[0], nodes_[reads[0].base]->dtype, f.outer,
                                    f.reduced, f.inner, whole_view(member)});
        *source = node->op;
        continue;
      }
      const bool row = f_.spaces.row[member] != 0;
      const bool spreads = !outside(reads[0]) && !row && f_.spaces.row[reads[0].base];
      if (a_.kind[member] == Analysis::Copy && !spreads) {
        value_[member] = in[0];
      } else {
        value_[member] = first + static_cast<int32_t>(group.instructions.size());
        group.instructions.push_back({a_.kind[member] == Analysis::Copy ? Op::cast : node->op,
                                      computed_dtype(member), node->dtype, {in[0], in[1], in[2]},
                                      row});
      }
      if (crosses_[member]) group.stores.push_back({value_[member], whole_view(member)});
    }
    return group;
  }

  // --- the other steps

  // An operand with memory behind it: a scalar becomes a one-element array first.
  View operand(uint32_t member, size_t k) {
    const NodeView& read = a_.reads(member)[k];
    if (a_.kind[read.base] == Analysis::Number && slot_[read.base] < 0) {
      TileGroup group;
      group.count = 1;
      group.scalars.push_back(scalar_load(read.base));
      group.stores.push_back({0, whole_view(read.base)});
      add_step(std::move(group), nodes_[member]->op);
    }
    return view_of(read);
  }

  // The same, row-major without gaps: copied where it is not.
  View dense_operand(uint32_t member, size_t k) {
    const View view = operand(member, k);
    if (is_row_major(a_.reads(member)[k])) return view;
    const View copy{
        add_slot(SlotKind::Temporary, view.dtype, view.shape.size() * size_of(view.dtype)),
        view.dtype, 0, view.shape, row_major(view.shape)};
    add_step(Layout{view, copy}, nodes_[member]->op);
    return copy;
  }

  void emit_other(uint32_t member) {
    const Node* node = nodes_[member];
    const Op op = node->op;
    switch (op) {
      case Op::matmul:
        return emit_matmul(member);
      case Op::concat:
        return emit_concat(member);
      case Op::embed:
        return add_step(Layout{operand(member, 0), window_of(node), true}, op);
      case Op::at_window: {
        const View in = operand(member, 1);
        copy_base(member);
        return add_step(Layout{in, window_of(node), false, node->attr.update == Update::Add}, op);
      }
      case Op::take:
      case Op::scatter_add:
      case Op::at_index:
        return emit_indexed(member);
      case Op::argmax:
      case Op::argmin: {
        const View in = dense_operand(member, 0);
        const FoldedShape f = folded_shape(in.shape, static_cast<uint8_t>(1u << node->attr.axis));
        return add_step(ArgReduce{op, in, whole_view(member), f.outer, f.reduced, f.inner}, op);
      }
      case Op::iota:
        return add_step(Iota{whole_view(member)}, op);
      default:  // random
        return add_step(Random{op, scalar_[a_.reads(member)[0].base],
                               scalar_[a_.reads(member)[1].base], whole_view(member)},
                        op);
    }
  }

  // The part of a node's memory that its window names.
  View window_of(const Node* node) {
    View place = whole_view(node->index);
    const Strides strides = place.strides;
    place.shape = node->in[node->op == Op::at_window]->shape;
    for (int64_t d = 0; d < place.shape.rank; ++d) {
      place.offset += node->window->start[d] * strides[d];
      place.strides[d] = strides[d] * node->window->step[d];
    }
    return place;
  }

  // at_window and at_index change a copy of their base, or the base itself.
  void copy_base(uint32_t member) {
    if (shares_[a_.reads(member)[0].base] == static_cast<int32_t>(member)) return;
    add_step(Layout{operand(member, 0), whole_view(member)}, nodes_[member]->op);
  }

  // An operand as [outer, middle, inner], the middle being `count` axes from `axis` on: copied
  // where its axes do not merge.
  View three_axes(uint32_t member, size_t k, int64_t axis, int64_t count) {
    const Shape shape = a_.reads(member)[k].shape;
    Shape three;
    for (const auto& [from, to] : {std::pair{int64_t{0}, axis}, std::pair{axis, axis + count},
                                   std::pair{axis + count, shape.rank}}) {
      three.append(1);
      for (int64_t d = from; d < to; ++d) three[three.rank - 1] *= shape[d];
    }
    NodeView merged;
    if (!reshape_view(a_.reads(member)[k], three, &merged)) {
      View copy = dense_operand(member, k);
      copy.shape = three;
      copy.strides = row_major(three);
      return copy;
    }
    View view = operand(member, k);
    view.shape = three;
    view.strides = merged.strides;
    return view;
  }

  void emit_indexed(uint32_t member) {
    const Node* node = nodes_[member];
    const bool based = node->op == Op::at_index;
    const int64_t axis = node->attr.axis;
    const View indices = dense_operand(member, based ? 2 : 1);
    if (node->op == Op::take) {
      const View in = three_axes(member, 0, axis, 1);
      const View out = whole_view(member);
      return add_step(Gather{in, indices, out, in.shape[0], in.shape[1], in.shape[2]}, node->op);
    }
    const View in = three_axes(member, based ? 1 : 0, axis, indices.shape.rank);
    if (based) copy_base(member);
    add_step(ScatterAdd{in, indices, whole_view(member), in.shape[0], node->shape[axis],
                        in.shape[2], based ? node->attr.update : Update::Add, !based},
             node->op);
  }

  void emit_matmul(uint32_t member) {
    const Node* node = nodes_[member];
    View parts[2] = {operand(member, 0), operand(member, 1)};
    // Batch axes of the result: absent or length-1 axes of an operand have stride 0.
    const int64_t rank = node->shape.rank;
    for (View& part : parts) {
      View wide = part;
      wide.shape = node->shape;
      wide.strides = {};
      const int64_t lead = rank - part.shape.rank;
      for (int64_t d = lead; d < rank; ++d) {
        const bool batch = d < rank - 2;
        wide.strides[d] = batch && part.shape[d - lead] == 1 ? 0 : part.strides[d - lead];
        if (!batch) wide.shape[d] = part.shape[d - lead];
      }
      part = wide;
    }
    add_step(Gemm{parts[0], parts[1], whole_view(member), std::nullopt}, Op::matmul);
  }

  void emit_concat(uint32_t member) {
    const Node* node = nodes_[member];
    const int64_t axis = node->attr.axis;
    View place = whole_view(member);
    const int64_t stride = place.strides[axis];
    for (size_t k = 0; k < a_.reads(member).size(); ++k) {
      const View in = operand(member, k);
      place.shape[axis] = in.shape[axis];
      add_step(Layout{in, place}, Op::concat);
      place.offset += in.shape[axis] * stride;
    }
  }

  const Analysis& a_;
  const Fusion& f_;
  const std::vector<Node*>& nodes_;
  Plan plan_;
  std::vector<int32_t> slot_;    // per node
  std::vector<int32_t> shares_;  // per node: the later node whose memory it is given
  std::vector<int32_t> scalar_;  // per node: position in the run's scalars, -1: none
  std::vector<int32_t> value_;   // per node: its number in the group that is being made
  std::vector<uint8_t> crosses_;
};

}  // namespace

Plan lower(const Analysis& analysis, const Fusion& fusion) {
  return Lowering(analysis, fusion).run();
}

}  // namespace pullback
