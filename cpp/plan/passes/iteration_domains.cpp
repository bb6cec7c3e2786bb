// Three passes over the nodes, each nearly linear. (1) Every element count gets a row length:
// folds, picks and places propose one, and the most useful wins. (2) Nodes that read each other in
// order become one class (union-find; the elements that a fold reads are a member separate from its
// result). (3) Classes of rows are attached to the class whose rows they are, the largest first.
// Then each class gets a number.
#include "plan/passes/iteration_domains.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <unordered_map>

#include "ops/reduce.h"

namespace pullback {
namespace {

FoldedShape fold_of(const Analysis& a, uint32_t i) {
  return folded_shape(a.strided(a.reads(i)[0]).shape, a.node(i)->attr.axes);
}

// The elements in rows that a pick chooses from or a place fills; null for other nodes.
const Shape* rows_of(const Analysis& a, uint32_t i) {
  if (a.kind[i] == Analysis::Pick) return &a.strided(a.reads(i)[0]).shape;
  return a.kind[i] == Analysis::Place ? &a.shape(i) : nullptr;
}
int64_t last_axis(const Shape& shape) { return shape[shape.rank - 1]; }

// True if each element of row r reads entry r of a base with so many entries.
bool repeats_rows(const Strided& view, int64_t entries, int64_t length) {
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
  return expected == entries;
}

// The columns of a memory that are read together: entries that are a few elements apart.
struct ColumnKey {
  uint32_t base;
  int64_t first, step, count;
  auto operator<=>(const ColumnKey&) const = default;
};

// The columns to which a view belongs, if it is one of at most four.
std::optional<ColumnKey> columns_of(const Strided& view, uint32_t base) {
  constexpr int64_t kMostColumns = 4;
  int64_t step = 0;
  int64_t inner = 1;
  for (int64_t d = view.shape.rank; d-- > 0; inner *= view.shape[d]) {
    if (view.shape[d] == 1) continue;
    if (step == 0) step = view.strides[d];
    if (view.strides[d] != step * inner) return std::nullopt;
  }
  if (step < 2 || step > kMostColumns) return std::nullopt;
  return ColumnKey{base, view.offset / step, step, inner};
}

class Finder {
 public:
  Finder(const Analysis& a, const Limits& limits)
      : analysis_(a), limits_(limits), size_(a.size()), parent_(2 * static_cast<size_t>(size_)) {
    for (uint32_t i = 0; i < parent_.size(); ++i) parent_[i] = i;
  }

  IterationDomains run() {
    choose_row_lengths();
    merge_readers();
    attach_rows();
    out_.domain.assign(size_, 0);
    out_.row.assign(size_, 0);
    out_.fold.assign(size_, FoldKind::None);
    number_.assign(parent_.size(), -1);
    for (uint32_t i = 0; i < size_; ++i) {
      if (analysis_.tile(i)) assign(i);
    }
    return std::move(out_);
  }

 private:
  int64_t entries(uint32_t i) const { return analysis_.elements(i); }
  // The elements that a fold or a pick reads, as a member of its class.
  uint32_t elements(uint32_t i) const { return size_ + i; }

  uint32_t find(uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void merge(uint32_t i, uint32_t j) {
    const uint32_t a = find(i);
    const uint32_t b = find(j);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  int64_t length_of(int64_t count) const {
    const auto found = lengths_.find(count);
    return found == lengths_.end() ? 1 : found->second.length;
  }

  // Chooses the row length of each element count.
  void choose_row_lengths() {
    const auto propose = [&](int64_t count, int64_t length, int weight) {
      if (length <= 1 || length > limits_.longest_row || count == 0) return;
      Length& known = lengths_[count];
      if (weight > known.weight) known = {length, weight};
    };
    for (uint32_t i = 0; i < size_; ++i) {
      const Shape* rows = rows_of(analysis_, i);
      if (rows) propose(rows->size(), last_axis(*rows), 3);
      if (analysis_.kind[i] != Analysis::Fold) continue;
      const FoldedShape f = fold_of(analysis_, i);
      const int64_t count = f.outer * f.reduced * f.inner;
      if (f.inner == 1) {
        propose(count, f.reduced, f.outer > 1 ? 3 : 1);
      } else if (f.outer == 1) {
        propose(count, f.inner, 2);
      }
    }
  }

  // Merges a member with the values that it reads in order, or with other readers of the same view
  // or of columns beside it: real and imaginary parts are computed in one pass over the parts of
  // their operands. Views that repeat entries do not count.
  void merge_readers_of(uint32_t member, const Read& read) {
    if (analysis_.kind[read.base] == Analysis::Number) return;
    if (analysis_.is_flat(read)) return merge(member, read.base);
    const Strided& strided = analysis_.strided(read);
    for (int64_t d = 0; d < strided.shape.rank; ++d) {
      if (strided.strides[d] == 0 && strided.shape[d] != 1) return;
    }
    if (const auto columns = columns_of(strided, read.base)) {
      const auto [it, first] = columns_.try_emplace(*columns, member);
      if (!first) merge(member, it->second);
      return;
    }
    const uint64_t key = static_cast<uint64_t>(read.base) << 32 | read.view;
    const auto [it, first] = readers_.try_emplace(key, member);
    if (!first) merge(member, it->second);
  }

  // Nodes and the values that they read in order are one class.
  void merge_readers() {
    for (uint32_t i = 0; i < size_; ++i) {
      const auto reads = analysis_.reads(i);
      switch (analysis_.kind[i]) {
        case Analysis::Elementwise:
        case Analysis::Copy:
          for (const Read& read : reads) merge_readers_of(i, read);
          break;
        case Analysis::Fold:
          merge_readers_of(elements(i), reads[0]);
          break;
        case Analysis::Pick:
          merge_readers_of(elements(i), reads[0]);
          merge_readers_of(i, reads[1]);
          break;
        case Analysis::Place:
          merge_readers_of(elements(i), reads[0]);  // its values per row
          merge_readers_of(elements(i), reads[1]);
          break;
        case Analysis::Input:
        case Analysis::Number:
        case Analysis::View:
        case Analysis::Other:
          break;
      }
    }
  }

  // Attaches classes of rows to their classes of elements: the largest domains first; rows have no
  // rows.
  void attach_rows() {
    struct Attachment {
      int64_t count;
      uint32_t rows, host;
    };
    std::vector<Attachment> attachments;
    // Requires that the row length is that of the host.
    const auto add = [&](uint32_t rows, uint32_t host, int64_t count, int64_t length) {
      if (length == 1 || length != length_of(count)) return;
      attachments.push_back({count, find(rows), find(host)});
    };
    for (uint32_t i = 0; i < size_; ++i) {
      if (analysis_.kind[i] == Analysis::Fold) {
        const FoldedShape f = fold_of(analysis_, i);
        const int64_t count = f.outer * f.reduced * f.inner;
        if (f.inner == 1) add(i, elements(i), count, f.reduced);
      } else if (analysis_.kind[i] == Analysis::Pick) {
        const Shape& from = *rows_of(analysis_, i);
        add(i, elements(i), from.size(), last_axis(from));
      } else if (analysis_.kind[i] == Analysis::Place) {
        add(elements(i), i, entries(i), last_axis(analysis_.shape(i)));
      } else if (analysis_.tile(i)) {
        const int64_t length = length_of(entries(i));
        if (length == 1) continue;
        for (const Read& read : analysis_.reads(i)) {
          if (analysis_.tile(read.base) &&
              repeats_rows(analysis_.strided(read), entries(read.base), length)) {
            add(read.base, i, entries(i), length);
          }
        }
      }
    }
    std::stable_sort(attachments.begin(), attachments.end(),
                     [](const auto& x, const auto& y) { return x.count > y.count; });
    host_of_.assign(parent_.size(), kNone);
    host_count_.assign(parent_.size(), 0);
    std::vector<uint8_t> hosts(parent_.size(), 0);
    for (const auto& [count, rows, host] : attachments) {
      if (rows == host || hosts[rows] || host_of_[rows] != kNone || host_of_[host] != kNone) {
        continue;
      }
      host_of_[rows] = host;
      host_count_[host] = count;
      hosts[host] = 1;
    }
  }

  uint32_t add_domain(int64_t count, int64_t length) {
    out_.count.push_back(count);
    out_.length.push_back(length);
    return static_cast<uint32_t>(out_.count.size()) - 1;
  }

  // The domain of a class; for a class of rows, that of its host.
  uint32_t domain_of(uint32_t member, int64_t entries, bool* row) {
    uint32_t c = find(member);
    *row = host_of_[c] != kNone;
    if (*row) c = host_of_[c];
    if (number_[c] >= 0) return static_cast<uint32_t>(number_[c]);
    const int64_t count = host_count_[c] ? host_count_[c] : entries;
    // Small domains of one size are merged.
    if (count > limits_.small_domain) return number_[c] = add_domain(count, length_of(count));
    const auto [it, fresh] = small_.try_emplace(count, 0);
    if (fresh) it->second = add_domain(count, length_of(count));
    return number_[c] = it->second;
  }

  void assign(uint32_t i) {
    if (analysis_.kind[i] == Analysis::Fold) return assign_fold(i);
    bool row = false;
    uint32_t domain = domain_of(i, entries(i), &row);
    if (const Shape* rows = rows_of(analysis_, i)) {
      // In the domain of the elements it picks from or places into, or in a domain of its own.
      const int64_t length = last_axis(*rows);
      const bool pick = analysis_.kind[i] == Analysis::Pick;
      if (out_.length[domain] != length || out_.count[domain] != rows->size() || row != pick) {
        domain = add_domain(rows->size(), length);
        row = pick;
      }
    }
    out_.domain[i] = domain;
    out_.row[i] = row;
  }

  void assign_fold(uint32_t i) {
    const FoldedShape f = fold_of(analysis_, i);
    const int64_t count = f.outer * f.reduced * f.inner;
    bool row = false;
    const uint32_t domain = domain_of(elements(i), count, &row);
    const int64_t length = out_.length[domain];
    out_.domain[i] = domain;
    if (!row && length > 1 && f.inner == 1 && f.reduced == length &&
        host_of_[find(i)] == find(elements(i))) {
      out_.fold[i] = FoldKind::Rows;
      out_.row[i] = 1;
    } else if (f.outer == 1 && (f.inner == 1 || (!row && length > 1 && f.inner == length))) {
      out_.fold[i] = FoldKind::End;
    } else {
      out_.fold[i] = FoldKind::General;
      if (row || length > 1) out_.domain[i] = add_domain(count, 1);
    }
  }

  struct Length {
    int64_t length = 1;
    int weight = 0;
  };
  static constexpr uint32_t kNone = UINT32_MAX;

  const Analysis& analysis_;
  const Limits& limits_;
  uint32_t size_;
  std::vector<uint32_t> parent_;
  std::unordered_map<int64_t, Length> lengths_;
  std::unordered_map<uint64_t, uint32_t> readers_;  // first reader of each view
  std::map<ColumnKey, uint32_t> columns_;           // and of columns
  std::vector<uint32_t> host_of_;
  std::vector<int64_t> host_count_;  // elements of classes that have rows
  std::vector<int64_t> number_;
  std::unordered_map<int64_t, uint32_t> small_;
  IterationDomains out_;
};

}  // namespace

bool IterationDomains::inside(const Analysis& a, uint32_t i, const Read& read) const {
  const uint32_t base = read.base;
  if (!a.tile(base) || domain[i] != domain[base]) return false;
  if (fold[base] == FoldKind::End || fold[base] == FoldKind::General) return false;
  const bool flat = a.is_flat(read);
  switch (a.kind[i]) {
    case Analysis::Fold:
      return flat && (fold[i] == FoldKind::End || !row[base]);
    case Analysis::Pick:
      return flat && row[base] == (a.views.elements(read.view) != count[domain[i]]);
    case Analysis::Place:
      return flat && row[base];
    case Analysis::Elementwise:
    case Analysis::Copy:
      if (row[i] == row[base]) return flat;
      return row[base] && repeats_rows(a.strided(read), a.elements(base), length[domain[i]]);
    case Analysis::Input:
    case Analysis::Number:
    case Analysis::View:
    case Analysis::Other:
      break;  // in no domain
  }
  return false;
}

IterationDomains find_iteration_domains(const Analysis& analysis, const Limits& limits) {
  return Finder(analysis, limits).run();
}

}  // namespace pullback
