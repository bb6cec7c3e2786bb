#include "plan/spaces.h"

#include <algorithm>
#include <unordered_map>

#include "ops/reduce.h"

namespace pullback {
namespace {

FoldedShape fold_of(const Analysis& a, uint32_t i) {
  return folded_shape(a.reads(i)[0].shape, a.node(i)->attr.axes);
}

// Reads entry r of its base in each element of row r.
bool repeats_rows(const NodeView& view, const Node* base, int64_t length) {
  int64_t inner = 1;
  int64_t d = view.shape.rank;
  while (d > 0 && inner < length) {
    if (view.shape[d - 1] != 1 && view.strides[d - 1] != 0) return false;
    inner *= view.shape[--d];
  }
  if (inner != length || view.offset != 0) return false;
  int64_t expected = 1;
  for (; d-- > 0;) {
    if (view.shape[d] != 1 && view.strides[d] != expected) return false;
    expected *= view.shape[d];
  }
  return expected == base->shape.size();
}

class Finder {
 public:
  Finder(const Analysis& a, const Limits& limits)
      : a_(a), limits_(limits), n_(a.size()), parent_(2 * static_cast<size_t>(n_)) {
    for (uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  }

  Spaces run() {
    vote();
    unite();
    link();
    out_.space.assign(n_, 0);
    out_.row.assign(n_, 0);
    out_.fold.assign(n_, FoldKind::None);
    number_.assign(parent_.size(), -1);
    for (uint32_t i = 0; i < n_; ++i) {
      if (a_.tile(i)) assign(i);
    }
    return std::move(out_);
  }

 private:
  int64_t entries(uint32_t i) const { return a_.node(i)->shape.size(); }
  // The elements that a fold or a pick reads, as a member of its class.
  uint32_t elements(uint32_t i) const { return n_ + i; }

  uint32_t find(uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void unite(uint32_t i, uint32_t j) {
    const uint32_t a = find(i);
    const uint32_t b = find(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  int64_t length_of(int64_t count) const {
    const auto found = lengths_.find(count);
    return found == lengths_.end() ? 1 : found->second.length;
  }

  // How long the rows of each element count are.
  void vote() {
    const auto propose = [&](int64_t count, int64_t length, int weight) {
      if (length <= 1 || length > limits_.longest_row || count == 0) return;
      Length& known = lengths_[count];
      if (weight > known.weight) known = {length, weight};
    };
    for (uint32_t i = 0; i < n_; ++i) {
      const Shape* rows = a_.kind[i] == Analysis::Pick    ? &a_.reads(i)[0].shape
                          : a_.kind[i] == Analysis::Place ? &a_.node(i)->shape
                                                          : nullptr;
      if (rows) propose(rows->size(), (*rows)[rows->rank - 1], 3);
      if (a_.kind[i] != Analysis::Fold) continue;
      const FoldedShape f = fold_of(a_, i);
      const int64_t count = f.outer * f.reduced * f.inner;
      if (f.inner == 1) {
        propose(count, f.reduced, f.outer > 1 ? 3 : 1);
      } else if (f.outer == 1) {
        propose(count, f.inner, 2);
      }
    }
  }

  void unite_if_flat(uint32_t member, const NodeView& read) {
    if (a_.kind[read.base] != Analysis::Number && is_flat(read, a_.node(read.base))) {
      unite(member, read.base);
    }
  }

  void unite() {
    for (uint32_t i = 0; i < n_; ++i) {
      const auto reads = a_.reads(i);
      switch (a_.kind[i]) {
        case Analysis::Elementwise:
        case Analysis::Copy:
          for (const NodeView& read : reads) unite_if_flat(i, read);
          break;
        case Analysis::Fold:
          unite_if_flat(elements(i), reads[0]);
          break;
        case Analysis::Pick:
          unite_if_flat(elements(i), reads[0]);
          unite_if_flat(i, reads[1]);
          break;
        case Analysis::Place:
          unite_if_flat(elements(i), reads[0]);  // here: its row values
          unite_if_flat(elements(i), reads[1]);
          break;
        default:
          break;
      }
    }
  }

  // Which classes are rows of which: the largest spaces first, and rows have no rows themselves.
  void link() {
    struct Link {
      int64_t count;
      uint32_t rows, host;
    };
    std::vector<Link> links;
    // Only rows of the length that their host has.
    const auto add = [&](uint32_t rows, uint32_t host, int64_t count, int64_t length) {
      if (length == 1 || length != length_of(count)) return;
      links.push_back({count, find(rows), find(host)});
    };
    const auto last = [](const Shape& shape) { return shape[shape.rank - 1]; };
    for (uint32_t i = 0; i < n_; ++i) {
      if (a_.kind[i] == Analysis::Fold) {
        const FoldedShape f = fold_of(a_, i);
        const int64_t count = f.outer * f.reduced * f.inner;
        if (f.inner == 1) add(i, elements(i), count, f.reduced);
      } else if (a_.kind[i] == Analysis::Pick) {
        const Shape& from = a_.reads(i)[0].shape;
        add(i, elements(i), from.size(), last(from));
      } else if (a_.kind[i] == Analysis::Place) {
        add(elements(i), i, entries(i), last(a_.node(i)->shape));
      } else if (a_.tile(i)) {
        const int64_t length = length_of(entries(i));
        if (length == 1) continue;
        for (const NodeView& read : a_.reads(i)) {
          if (a_.tile(read.base) && repeats_rows(read, a_.node(read.base), length)) {
            add(read.base, i, entries(i), length);
          }
        }
      }
    }
    std::stable_sort(links.begin(), links.end(),
                     [](const Link& x, const Link& y) { return x.count > y.count; });
    rows_of_.assign(parent_.size(), kNone);
    host_count_.assign(parent_.size(), 0);
    std::vector<uint8_t> hosts(parent_.size(), 0);
    for (const Link& link : links) {
      if (link.rows == link.host || hosts[link.rows] || rows_of_[link.rows] != kNone ||
          rows_of_[link.host] != kNone) {
        continue;
      }
      rows_of_[link.rows] = link.host;
      host_count_[link.host] = link.count;
      hosts[link.host] = 1;
    }
  }

  uint32_t add_space(int64_t count, int64_t length) {
    out_.count.push_back(count);
    out_.length.push_back(length);
    return static_cast<uint32_t>(out_.count.size()) - 1;
  }

  // The space of a class: that of its host where its members are rows.
  uint32_t space_of(uint32_t member, int64_t entries, bool* row) {
    uint32_t c = find(member);
    *row = rows_of_[c] != kNone;
    if (*row) c = rows_of_[c];
    if (number_[c] >= 0) return static_cast<uint32_t>(number_[c]);
    const int64_t count = host_count_[c] ? host_count_[c] : entries;
    // Small spaces are merged by size.
    if (count > limits_.small_space) return number_[c] = add_space(count, length_of(count));
    const auto [it, fresh] = small_.try_emplace(count, 0);
    if (fresh) it->second = add_space(count, length_of(count));
    return number_[c] = it->second;
  }

  void assign(uint32_t i) {
    if (a_.kind[i] == Analysis::Fold) return assign_fold(i);
    bool row = false;
    uint32_t space = space_of(i, entries(i), &row);
    const Shape* rows = a_.kind[i] == Analysis::Pick    ? &a_.reads(i)[0].shape
                        : a_.kind[i] == Analysis::Place ? &a_.node(i)->shape
                                                        : nullptr;
    if (rows) {
      // In the space of what it picks from or places into, or in one of its own.
      const int64_t length = (*rows)[rows->rank - 1];
      const bool pick = a_.kind[i] == Analysis::Pick;
      if (out_.length[space] != length || out_.count[space] != rows->size() || row != pick) {
        space = add_space(rows->size(), length);
        row = pick;
      }
    }
    out_.space[i] = space;
    out_.row[i] = row;
  }

  void assign_fold(uint32_t i) {
    const FoldedShape f = fold_of(a_, i);
    const int64_t count = f.outer * f.reduced * f.inner;
    bool row = false;
    const uint32_t space = space_of(elements(i), count, &row);
    const int64_t length = out_.length[space];
    out_.space[i] = space;
    if (!row && length > 1 && f.inner == 1 && f.reduced == length &&
        rows_of_[find(i)] == find(elements(i))) {
      out_.fold[i] = FoldKind::Rows;
      out_.row[i] = 1;
    } else if (f.outer == 1 && (f.inner == 1 || (!row && length > 1 && f.inner == length))) {
      out_.fold[i] = FoldKind::End;
    } else {
      out_.fold[i] = FoldKind::General;
      if (row || length > 1) out_.space[i] = add_space(count, 1);
    }
  }

  struct Length {
    int64_t length = 1;
    int weight = 0;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  const Analysis& a_;
  const Limits& limits_;
  uint32_t n_;
  std::vector<uint32_t> parent_;
  std::unordered_map<int64_t, Length> lengths_;
  std::vector<uint32_t> rows_of_;
  std::vector<int64_t> host_count_;  // elements, of classes that have rows
  std::vector<int64_t> number_;
  std::unordered_map<int64_t, uint32_t> small_;
  Spaces out_;
};

}  // namespace

bool Spaces::inside(const Analysis& a, uint32_t i, const NodeView& read) const {
  const uint32_t base = read.base;
  if (!a.tile(base) || space[i] != space[base]) return false;
  if (fold[base] == FoldKind::End || fold[base] == FoldKind::General) return false;
  const Node* from = a.node(base);
  const bool flat = is_flat(read, from);
  switch (a.kind[i]) {
    case Analysis::Fold:
      return flat && (fold[i] == FoldKind::End || !row[base]);
    case Analysis::Pick:
      return flat && row[base] == (read.shape.size() != count[space[i]]);
    case Analysis::Place:
      return flat && row[base];
    default:
      if (row[i] == row[base]) return flat;
      return row[base] && repeats_rows(read, from, length[space[i]]);
  }
}

Spaces find_spaces(const Analysis& analysis, const Limits& limits) {
  return Finder(analysis, limits).run();
}

}  // namespace pullback
