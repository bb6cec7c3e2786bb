// Greedy colouring: in order, each row gets the first colour that no conflicting row has. Sets of
// colours are words of bits, so a visit costs the number of its entries and colours, not the number
// of its neighbours' neighbours: a full row does not make the algorithm quadratic.
#include "grad/sparse/coloring.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "base/error.h"

namespace pullback {
namespace {

// A set of colours for each of a number of items.
class ColourSets {
 public:
  explicit ColourSets(size_t count) : count_(count), bits_(count) {}

  size_t words() const { return words_; }
  const uint64_t* of(int64_t i) const { return &bits_[i * words_]; }
  bool has(int64_t i, int32_t colour) const {
    return static_cast<size_t>(colour) < words_ * 64 && (of(i)[colour / 64] >> colour % 64 & 1);
  }
  void add(int64_t i, int32_t colour) {
    while (static_cast<size_t>(colour) >= words_ * 64) widen();
    bits_[i * words_ + colour / 64] |= uint64_t{1} << colour % 64;
  }

 private:
  void widen() {
    std::vector<uint64_t> wide(count_ * words_ * 2);
    for (size_t i = 0; i < count_; ++i) {
      std::copy_n(&bits_[i * words_], words_, &wide[i * words_ * 2]);
    }
    bits_ = std::move(wide);
    words_ *= 2;
  }

  size_t count_;
  size_t words_ = 1;
  std::vector<uint64_t> bits_;
};

// Colours that are taken, during one visit.
class Taken {
 public:
  void clear() { std::ranges::fill(bits_, 0); }
  void add(const ColourSets& sets, int64_t i) {
    if (bits_.size() < sets.words()) bits_.resize(sets.words());
    for (size_t k = 0; k < sets.words(); ++k) bits_[k] |= sets.of(i)[k];
  }
  void add(int32_t colour) {
    if (bits_.size() <= static_cast<size_t>(colour / 64)) bits_.resize(colour / 64 + 1);
    bits_[colour / 64] |= uint64_t{1} << colour % 64;
  }
  int32_t first_free() const {
    for (size_t k = 0; k < bits_.size(); ++k) {
      if (~bits_[k]) return static_cast<int32_t>(64 * k) + std::countr_one(bits_[k]);
    }
    return static_cast<int32_t>(64 * bits_.size());
  }

 private:
  std::vector<uint64_t> bits_;
};

struct Colouring {
  int32_t count = 0;
  std::vector<int32_t> colours;
};

int32_t longest_row(const Pattern& pattern) {
  int32_t longest = 0;
  for (size_t i = 1; i < pattern.starts.size(); ++i) {
    longest = std::max(longest, pattern.starts[i] - pattern.starts[i - 1]);
  }
  return longest;
}

std::vector<int32_t> natural_order(int64_t count) {
  std::vector<int32_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int32_t> largest_first(const Pattern& pattern) {
  std::vector<int32_t> order = natural_order(pattern.rows());
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int32_t i) { return pattern.row(i).size(); });
  return order;
}

// Orders rows by colour, the last colour first: a greedy colouring in this order needs no more
// colours than the one before (Culberson's iterated greedy).
std::vector<int32_t> by_class(const Colouring& colouring) {
  std::vector<int32_t> order = natural_order(static_cast<int64_t>(colouring.colours.size()));
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](int32_t i) { return colouring.colours[i]; });
  return order;
}

// Colours rows so that equal colours share no column; `across` is the transposed pattern.
Colouring color_disjoint(const Pattern& rows, const Pattern& across,
                         std::span<const int32_t> order) {
  Colouring out;
  out.colours.resize(static_cast<size_t>(rows.rows()));
  ColourSets used(static_cast<size_t>(across.rows()));  // by column
  Taken taken;
  for (int32_t row : order) {
    taken.clear();
    for (int32_t column : rows.row(row)) taken.add(used, column);
    const int32_t colour = taken.first_free();
    for (int32_t column : rows.row(row)) used.add(column, colour);
    out.colours[row] = colour;
    out.count = std::max(out.count, colour + 1);
  }
  return out;
}

// Colours that repeat along the axes of a grid: (a_0 i_0 + a_1 i_1 + …) mod count. For stencils on
// a grid these are often the fewest possible (Goldfarb and Toint, "Optimal Estimation of Jacobian
// and Hessian Matrices That Arise in Finite Difference Calculations", Mathematics of Computation
// 43, 1984); greedy colourings do not find them.
class GridColours {
 public:
  explicit GridColours(const Shape& shape) : factors_(static_cast<size_t>(shape.rank)) {
    for (int64_t length : shape) lengths_.push_back(std::max<int64_t>(length, 1));
  }

  // A colouring with `count` colours; nullopt if these factors give conflicts, or if the search
  // takes too long.
  std::optional<Colouring> with(int32_t count, const Pattern& across) {
    std::ranges::fill(factors_, 0);
    do {
      if (keep_disjoint(count, across)) return colouring(count, across.columns);
    } while (visits_ < most_visits(across) && next_factors(count));
    return std::nullopt;
  }

 private:
  static int64_t most_visits(const Pattern& across) {
    return 16 * static_cast<int64_t>(across.entries.size() + 64);
  }

  bool next_factors(int32_t count) {
    for (size_t d = factors_.size(); d-- > 0;) {
      if (lengths_[d] > 1 && ++factors_[d] < count) return true;
      factors_[d] = 0;
    }
    return false;
  }

  int32_t colour(int64_t i, int32_t count) const {
    int64_t sum = 0;
    for (size_t d = factors_.size(); d-- > 0; i /= lengths_[d]) {
      sum += factors_[d] * (i % lengths_[d]);
    }
    return static_cast<int32_t>(sum % count);
  }

  bool keep_disjoint(int32_t count, const Pattern& across) {
    for (int64_t column = 0; column < across.rows(); ++column) {
      uint64_t seen = 0;
      for (int32_t row : across.row(column)) {
        const uint64_t own = uint64_t{1} << colour(row, count);
        ++visits_;
        if (seen & own) return false;
        seen |= own;
      }
    }
    return true;
  }

  Colouring colouring(int32_t count, int64_t rows) const {
    Colouring out{count, std::vector<int32_t>(static_cast<size_t>(rows))};
    for (int64_t i = 0; i < rows; ++i) out.colours[i] = colour(i, count);
    return out;
  }

  std::vector<int64_t> lengths_, factors_;
  int64_t visits_ = 0;
};

// A colouring with at least `least` and fewer than `most` colours.
std::optional<Colouring> on_grid(const Pattern& across, const Shape& shape, int32_t least,
                                 int32_t most) {
  GridColours grid(shape);
  for (int32_t count = std::max(least, 1); count < std::min(most, 65); ++count) {
    if (auto found = grid.with(count, across)) return found;
  }
  return std::nullopt;
}

Colouring best_coloring(const Pattern& rows, const Pattern& across, const Shape& shape) {
  constexpr int kRounds = 8;
  const int32_t least = longest_row(across);
  const auto colours_in = [&](const std::vector<int32_t>& order) {
    return color_disjoint(rows, across, order);
  };
  Colouring best = colours_in(natural_order(rows.rows()));
  if (best.count <= least) return best;
  Colouring other = colours_in(largest_first(rows));
  if (other.count < best.count) best = std::move(other);
  if (auto regular = on_grid(across, shape, least, best.count)) return *std::move(regular);
  for (int k = 0; k < kRounds && best.count > least; ++k) best = colours_in(by_class(best));
  return best;
}

// A star colouring of a symmetric pattern: neighbours differ, and no path of four nodes has only
// two colours. Then each off-diagonal entry (i, j) can be read on one side: row i has no other
// neighbour of the colour of j, or row j none of the colour of i.
class StarColouring {
 public:
  StarColouring(const Pattern& pattern, std::span<const int32_t> order)
      : pattern_(pattern),
        near_(static_cast<size_t>(pattern.rows())),
        twice_(static_cast<size_t>(pattern.rows())),
        closed_(static_cast<size_t>(pattern.rows())) {
    out_.colours.assign(static_cast<size_t>(pattern.rows()), kNone);
    for (int32_t v : order) colour(v, choose(v));
  }

  const Colouring& colouring() const { return out_; }
  bool shows(int32_t row, int32_t colour) const { return !twice_.has(row, colour); }

 private:
  static constexpr int32_t kNone = -1;

  int32_t choose(int32_t v) {
    taken_.clear();
    for (int32_t w : pattern_.row(v)) {
      if (w == v) continue;
      if (out_.colours[w] == kNone) {
        taken_.add(near_, w);  // the neighbours of an uncoloured node must all differ
      } else {
        taken_.add(out_.colours[w]);
        taken_.add(closed_, w);
      }
    }
    return taken_.first_free();
  }

  void colour(int32_t v, int32_t colour) {
    out_.colours[v] = colour;
    out_.count = std::max(out_.count, colour + 1);
    for (int32_t x : pattern_.row(v)) {
      if (x == v) continue;
      if (near_.has(x, colour)) {  // v - x - w: an uncoloured end must not have the colour of x
        closed_.add(v, out_.colours[x]);
        if (!twice_.has(x, colour)) {
          twice_.add(x, colour);
          for (int32_t w : pattern_.row(x)) {
            if (w != v && w != x && out_.colours[w] == colour) closed_.add(w, out_.colours[x]);
          }
        }
      }
      near_.add(x, colour);
    }
  }

  const Pattern& pattern_;
  Colouring out_;
  ColourSets near_;    // per node: colours of its neighbours
  ColourSets twice_;   // per node: colours that several neighbours have
  ColourSets closed_;  // per node: colours that an uncoloured neighbour must not take
  Taken taken_;
};

constexpr int64_t kMostProducts = int64_t{1} << 29;  // entries: 4 GiB of float64

// Checks the memory of `count` products of `length` entries each.
void check_products(int64_t count, int64_t length, const char* who) {
  if (count * length <= kMostProducts) return;
  fail(ErrorKind::Memory, who, ": the matrix requires ", count,
       " products with the derivative, of ", length,
       " entries each, too many for a sparse matrix; use jacobian or hessian");
}

Compression by_rows(const Pattern& pattern, Colouring colouring) {
  Compression out{true, colouring.count, std::move(colouring.colours), {}};
  const auto length = static_cast<int32_t>(pattern.columns);
  out.positions.reserve(pattern.entries.size());
  for (int64_t i = 0; i < pattern.rows(); ++i) {
    for (int32_t j : pattern.row(i)) out.positions.push_back(out.colours[i] * length + j);
  }
  return out;
}

Compression by_columns(const Pattern& pattern, Colouring colouring) {
  Compression out{false, colouring.count, std::move(colouring.colours), {}};
  const auto length = static_cast<int32_t>(pattern.rows());
  out.positions.reserve(pattern.entries.size());
  for (int32_t i = 0; i < length; ++i) {
    for (int32_t j : pattern.row(i)) out.positions.push_back(out.colours[j] * length + i);
  }
  return out;
}

Compression compress_symmetric(const Pattern& pattern, const Shape& shape, const char* who) {
  const StarColouring natural(pattern, natural_order(pattern.rows()));
  const StarColouring sorted(pattern, largest_first(pattern));
  const StarColouring& best =
      sorted.colouring().count < natural.colouring().count ? sorted : natural;
  const int32_t count = best.colouring().count;
  if (auto regular = on_grid(pattern, shape, 1, count)) {
    check_products(regular->count, pattern.columns, who);
    return by_rows(pattern, *std::move(regular));
  }
  check_products(count, pattern.columns, who);
  Compression out{true, count, best.colouring().colours, {}};
  const auto n = static_cast<int32_t>(pattern.columns);
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t j : pattern.row(i)) {
      const bool here = i == j || best.shows(i, out.colours[j]);
      out.positions.push_back(here ? out.colours[j] * n + i : out.colours[i] * n + j);
    }
  }
  return out;
}

}  // namespace

Compression compress(const Pattern& pattern, bool symmetric, const Shape& rows,
                     const Shape& columns, const char* who) {
  const Pattern across = transposed(pattern);
  if (symmetric && pattern.starts == across.starts && pattern.entries == across.entries) {
    return compress_symmetric(pattern, columns, who);
  }
  const int32_t least_rows = longest_row(across);  // rows that share a column conflict
  const int32_t least_columns = longest_row(pattern);
  // Starts with the side that promises fewer colours; the other is skipped if it cannot be better.
  // If equal, columns: tangents of slices are cheaper than cotangents.
  bool of_rows = least_rows < least_columns;
  const auto best = [&](bool rows_disjoint) {
    return rows_disjoint ? best_coloring(pattern, across, rows)
                         : best_coloring(across, pattern, columns);
  };
  // Checked before a hopeless colouring fills the memory.
  check_products(std::min(least_rows, least_columns), std::min(pattern.rows(), pattern.columns),
                 who);
  Colouring first = best(of_rows);
  if (first.count > std::max(least_rows, least_columns)) {
    Colouring second = best(!of_rows);
    if (second.count < first.count + (of_rows ? 1 : 0)) {
      first = std::move(second);
      of_rows = !of_rows;
    }
  }
  check_products(first.count, of_rows ? pattern.columns : pattern.rows(), who);
  return of_rows ? by_rows(pattern, std::move(first)) : by_columns(pattern, std::move(first));
}

}  // namespace pullback
