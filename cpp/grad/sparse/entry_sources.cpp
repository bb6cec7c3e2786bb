// The sources of entries by kind of operation: index maps of movement, folds along axes, rows and
// columns of products, positions of gathers. Start at Maker::made.
#include "grad/sparse/entry_sources.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "graph/make.h"
#include "ops/reduce.h"

namespace pullback {
namespace {

using Id = IndexSets::Id;
using Ids = EntrySources;

// Positions along an axis of size `length`, as non-negative numbers; nullopt if they have no value
// or are out of range.
std::optional<std::vector<int64_t>> positions_of(const Node* indices, int64_t length) {
  if (!indices->has_value()) return std::nullopt;
  const Ref<Buffer> known = read_back(indices);
  const auto* data = static_cast<const char*>(known->host());
  std::vector<int64_t> out(static_cast<size_t>(indices->shape.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t at = load_scalar(indices->dtype, data + i * size_of(indices->dtype)).i;
    out[i] = at < 0 ? at + length : at;
    if (out[i] < 0 || out[i] >= length) return std::nullopt;
  }
  return out;
}

// Calls each(position) for every element of a strided view of a tensor, in order.
template <class Each>
void each_position(const Shape& shape, const PerAxis& strides, int64_t first, Each&& each) {
  if (shape.size() == 0) return;
  std::vector<int64_t> at(static_cast<size_t>(shape.rank));
  int64_t position = first;
  while (true) {
    each(position);
    int64_t d = shape.rank - 1;
    for (; d >= 0; --d) {
      position += strides[d];
      if (++at[d] < shape[d]) break;
      position -= strides[d] * shape[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

// A tensor as lines along one axis: entry k of line (o, i) is at (o * length + k) * inner + i.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;

  Lines(const Shape& shape, int64_t axis, int64_t axes = 1) {
    for (int64_t d = 0; d < shape.rank; ++d) {
      (d < axis ? outer : d < axis + axes ? length : inner) *= shape[d];
    }
  }
  int64_t at(int64_t o, int64_t k, int64_t i) const { return (o * length + k) * inner + i; }
};

class Maker {
 public:
  Maker(const Node* node, std::span<const EntrySources* const> in, IndexSets* sets)
      : node_(node), in_(in), sets_(*sets) {}

  Ids made() {
    if (std::ranges::all_of(in_, [](const Ids* one) { return one->empty(); })) return {};
    if (has_positions(node_->op) && !in_.back()->empty()) return everything();
    const OpTraits& op = traits(node_->op);
    switch (op.kind) {
      case OpKind::Leaf:
        return {};
      case OpKind::View:
        return view(op.view);
      case OpKind::Elementwise:
        return elementwise();
      case OpKind::Fold: {
        const FoldedShape shape = folded_shape(input(0)->shape, node_->attr.axes);
        return folded(*in_[0], shape.outer, shape.reduced, shape.inner);
      }
      case OpKind::Pick:
        return picked();
      case OpKind::Place:
        return placed();
      case OpKind::Step:
        return step(op.step);
    }
    return everything();
  }

 private:
  const Node* input(size_t k) const { return node_->inputs()[k]; }
  size_t size() const { return static_cast<size_t>(node_->shape.size()); }

  // Every entry depends on every entry: for operations without an index map.
  Ids everything() {
    Ids all;
    for (const Ids* one : in_) all.insert(all.end(), one->begin(), one->end());
    return Ids(size(), sets_.unite(all));
  }

  Ids through(const Ids& from, const PerAxis& strides, int64_t first) const {
    Ids out;
    out.reserve(size());
    each_position(node_->shape, strides, first, [&](int64_t at) { out.push_back(from[at]); });
    return out;
  }

  Ids broadcast(const Ids& from, const Shape& shape) const {
    if (shape == node_->shape) return from;
    const Strides own = row_major(shape);
    Strides strides;
    strides.resize(node_->shape.rank);
    for (int64_t d = 0; d < shape.rank; ++d) {
      if (shape[d] != 1) strides[node_->shape.rank - shape.rank + d] = own[d];
    }
    return through(from, strides, 0);
  }

  void unite_into(Ids* out, const Ids& other) {
    for (size_t i = 0; i < out->size(); ++i) (*out)[i] = sets_.unite((*out)[i], other[i]);
  }

  Ids elementwise() {
    Ids out;
    for (size_t k = 0; k < in_.size(); ++k) {
      if (in_[k]->empty()) continue;
      Ids own = broadcast(*in_[k], input(k)->shape);
      if (out.empty()) {
        out = std::move(own);
      } else {
        unite_into(&out, own);
      }
    }
    return out;
  }

  Ids view(ViewKind kind) const {
    const Shape& from = input(0)->shape;
    switch (kind) {
      case ViewKind::None:
      case ViewKind::Alias:
      case ViewKind::Reshape:
        break;
      case ViewKind::Broadcast:
        return broadcast(*in_[0], from);
      case ViewKind::Transpose: {
        const Strides own = row_major(from);
        Strides strides;
        for (int64_t d = 0; d < from.rank; ++d) strides.append(own[node_->attr.order[d]]);
        return through(*in_[0], strides, 0);
      }
      case ViewKind::Slice: {
        Strides strides = row_major(from);
        const int64_t first = into_slice(&strides);
        return through(*in_[0], strides, first);
      }
    }
    return *in_[0];
  }

  // Converts strides of a tensor to strides of the node's slice in it; returns its first position.
  int64_t into_slice(Strides* strides) const {
    int64_t first = 0;
    for (int64_t d = 0; d < strides->rank; ++d) {
      first += node_->slice->start[d] * (*strides)[d];
      (*strides)[d] *= node_->slice->step[d];
    }
    return first;
  }

  Ids folded(const Ids& from, int64_t outer, int64_t length, int64_t inner) {
    Ids out(static_cast<size_t>(outer * inner));
    Ids line(static_cast<size_t>(length));
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t i = 0; i < inner; ++i) {
        for (int64_t k = 0; k < length; ++k) line[k] = from[(o * length + k) * inner + i];
        out[o * inner + i] = sets_.unite(line);
      }
    }
    return out;
  }

  // Every entry of a line along the axis (of `length`) depends on the whole line (o, i).
  Ids along(const Ids& lines, int64_t outer, int64_t length, int64_t inner) const {
    Ids out(static_cast<size_t>(outer * length * inner));
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < length; ++k) {
        std::copy_n(&lines[o * inner], inner, &out[(o * length + k) * inner]);
      }
    }
    return out;
  }

  Ids picked() {
    const Lines lines(input(0)->shape, input(0)->shape.rank - 1);
    const auto at = positions_of(input(1), lines.length);
    if (!at) return folded(*in_[0], lines.outer, lines.length, 1);
    Ids out(size());
    for (size_t row = 0; row < out.size(); ++row) {
      out[row] = (*in_[0])[row * lines.length + (*at)[row]];
    }
    return out;
  }

  Ids placed() {
    const Lines lines(node_->shape, node_->shape.rank - 1);
    const auto at = positions_of(input(1), lines.length);
    if (!at) return along(*in_[0], lines.outer, lines.length, 1);
    Ids out(size());
    for (size_t row = 0; row < in_[0]->size(); ++row) {
      out[row * lines.length + (*at)[row]] = (*in_[0])[row];
    }
    return out;
  }

  Ids step(StepKind kind) {
    switch (kind) {
      case StepKind::Product:
        return product();
      case StepKind::Concat:
        return joined();
      case StepKind::Embed:
      case StepKind::AtSlice:
        return update_slice();
      case StepKind::Indexed:
        if (node_->op == Op::take) return taken();
        if (node_->op == Op::scatter_add || node_->op == Op::at_index) return added();
        break;  // sum_duplicates
      case StepKind::Scan:
        return scanned();
      case StepKind::ArgFold: {
        const Lines lines(input(0)->shape, node_->attr.axis);
        return folded(*in_[0], lines.outer, lines.length, lines.inner);
      }
      case StepKind::Sort: {
        const Lines lines(node_->shape, node_->attr.axis);
        return along(folded(*in_[0], lines.outer, lines.length, lines.inner), lines.outer,
                     lines.length, lines.inner);
      }
      case StepKind::None:
      case StepKind::Search:
      case StepKind::Convolve:
      case StepKind::Pool:
      case StepKind::Iota:
      case StepKind::Random:
      case StepKind::Callback:
      case StepKind::Library:
      case StepKind::Control:  // one set, of everything that it depends on
      case StepKind::Output:
        break;
    }
    return everything();
  }

  // Row i of the left one and column j of the right one.
  Ids product() {
    Ids out;
    for (size_t k = 0; k < 2; ++k) {
      if (in_[k]->empty()) continue;
      Shape shape = input(k)->shape;
      const int64_t summed = k == 0 ? shape.rank - 1 : shape.rank - 2;
      const Lines lines(shape, summed);
      shape[summed] = 1;
      const Ids whole = folded(*in_[k], lines.outer, lines.length, lines.inner);
      Ids own = broadcast(whole, shape);
      if (out.empty()) {
        out = std::move(own);
      } else {
        unite_into(&out, own);
      }
    }
    return out;
  }

  Ids joined() const {
    const Lines lines(node_->shape, node_->attr.axis);
    Ids out(size());
    int64_t before = 0;
    for (size_t k = 0; k < in_.size(); ++k) {
      const int64_t block = input(k)->shape[node_->attr.axis] * lines.inner;
      for (int64_t o = 0; o < lines.outer && !in_[k]->empty(); ++o) {
        std::copy_n(&(*in_[k])[o * block], block, &out[o * lines.length * lines.inner + before]);
      }
      before += block;
    }
    return out;
  }

  // embed: input 0 inside of zeros; at_slice: input 1 inside of input 0.
  Ids update_slice() {
    const bool embeds = node_->op == Op::embed;
    const Ids& value = *in_[embeds ? 0 : 1];
    Ids out = embeds || in_[0]->empty() ? Ids(size()) : *in_[0];
    Strides strides = row_major(node_->shape);
    const int64_t first = into_slice(&strides);
    const bool sets = embeds || node_->attr.update == Update::Set;
    size_t i = 0;
    each_position(input(embeds ? 0 : 1)->shape, strides, first, [&](int64_t at) {
      const Id own = value.empty() ? IndexSets::kNone : value[i++];
      out[at] = sets ? own : sets_.unite(out[at], own);
    });
    return out;
  }

  Ids taken() {
    const Lines from(input(0)->shape, node_->attr.axis);
    const int64_t count = input(1)->shape.size();
    const auto at = positions_of(input(1), from.length);
    if (!at) {
      return along(folded(*in_[0], from.outer, from.length, from.inner), from.outer, count,
                   from.inner);
    }
    Ids out(size());
    for (int64_t o = 0; o < from.outer; ++o) {
      for (int64_t k = 0; k < count && from.inner; ++k) {
        std::copy_n(&(*in_[0])[from.at(o, (*at)[k], 0)], from.inner,
                    &out[(o * count + k) * from.inner]);
      }
    }
    return out;
  }

  // scatter_add: input 0 in zeros at the positions; at_index: input 1 in input 0 at the positions.
  Ids added() {
    const bool adds = node_->op == Op::scatter_add;
    const size_t k = adds ? 0 : 1;
    const Node* indices = node_->inputs().back();
    const Lines to(node_->shape, node_->attr.axis);
    const Lines from(input(k)->shape, node_->attr.axis, indices->shape.rank);
    Ids out = adds || in_[0]->empty() ? Ids(size()) : *in_[0];
    const auto at = positions_of(indices, to.length);
    if (!at) {
      if (in_[k]->empty()) return out;
      unite_into(&out, along(folded(*in_[k], from.outer, from.length, from.inner), to.outer,
                             to.length, to.inner));
      return out;
    }
    // The entries by their positions.
    std::vector<size_t> order(at->size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return (*at)[i]; });
    const bool sets = adds || node_->attr.update == Update::Set;
    Ids met;
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      const int64_t position = (*at)[order[begin]];
      while (end < order.size() && (*at)[order[end]] == position) ++end;
      for (int64_t o = 0; o < to.outer; ++o) {
        for (int64_t i = 0; i < to.inner; ++i) {
          Id& entry = out[to.at(o, position, i)];
          met.assign(sets ? 0 : 1, entry);
          for (size_t n = begin; n < end && !in_[k]->empty(); ++n) {
            met.push_back((*in_[k])[from.at(o, static_cast<int64_t>(order[n]), i)]);
          }
          entry = sets_.unite(met);
        }
      }
    }
    return out;
  }

  // An entry and all entries before it.
  Ids scanned() {
    const Lines lines(node_->shape, node_->attr.axis);
    Ids out = elementwise();
    const bool reversed = node_->attr.reversed;
    for (int64_t o = 0; o < lines.outer; ++o) {
      for (int64_t i = 0; i < lines.inner; ++i) {
        Id before = IndexSets::kNone;
        for (int64_t n = 0; n < lines.length; ++n) {
          Id& entry = out[lines.at(o, reversed ? lines.length - 1 - n : n, i)];
          entry = before = sets_.unite(before, entry);
        }
      }
    }
    return out;
  }

  const Node* node_;
  std::span<const Ids* const> in_;
  IndexSets& sets_;
};

}  // namespace

bool has_positions(Op op) {
  return op == Op::take || op == Op::scatter_add || op == Op::at_index || op == Op::pick ||
         op == Op::place;
}

EntrySources sources_of(const Node* node, std::span<const EntrySources* const> in,
                        IndexSets* sets) {
  return Maker(node, in, sets).made();
}

}  // namespace pullback
