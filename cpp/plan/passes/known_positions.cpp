// Reads the constant below the positions of an operation, and cuts it into runs.
#include "plan/passes/known_positions.h"

#include <optional>

#include "graph/make.h"

namespace pullback {
namespace {

constexpr size_t kMostRuns = 16;
// More runs than kFewRuns, of fewer than kShortCopy entries on average, take longer as copies than
// one gather or scatter.
constexpr size_t kFewRuns = 4;
constexpr int64_t kShortCopy = 8;
// Shorter runs of other steps than 1 and -1 are cut into single positions: slices that alternate in
// memory are not recognised as disjoint.
constexpr int64_t kShortRun = 4;

// The operand with the positions; null for other operations.
const Node* position_operand(const Node* node) {
  switch (node->op) {
    case Op::take:
    case Op::scatter_add:
      return node->in[1];
    case Op::at_index:
      if (node->attr.update == Update::Set) return node->in[2];
      return node->attr.update == Update::Add ? node->in[2] : nullptr;
    default:
      return nullptr;
  }
}

// The constant that a node shows in its order; null if its value may be another at the next run.
const Node* constant_below(const Node* node) {
  while (!node->has_value() && (node->op == Op::identity || node->op == Op::reshape)) {
    node = node->in[0];
  }
  constexpr uint8_t kVarying = kTracked | kTraced | kInFlight | kDraw;
  const bool fixed = node->has_value() && !node->variable && !(node->flags & kVarying) &&
                     !(node->op == Op::scalar && node->origin);
  const bool known = node->dtype == DType::Int32 || node->dtype == DType::Int64;
  return fixed && known ? node : nullptr;
}

int64_t last_of(const PositionRun& run) { return run.start + (run.count - 1) * run.step; }

// Cuts positions into runs, from the first on.
class Runs {
 public:
  // False if there are too many.
  template <class I>
  bool add(const I* at, int64_t n, int64_t axis) {
    for (int64_t i = 0; i < n; ++i) {
      const int64_t position = at[i] < 0 ? at[i] + axis : at[i];
      if (position < 0 || position >= axis || !add(position)) return false;
    }
    const bool several = runs_.size() > 1;
    std::vector<PositionRun> cut;
    for (const PositionRun& run : runs_) {
      const bool whole = !several || run.count >= kShortRun || run.step == 1 || run.step == -1;
      for (int64_t k = 0; k < (whole ? 1 : run.count); ++k) {
        cut.push_back(whole ? run : PositionRun{run.start + k * run.step, 1, 1});
      }
    }
    runs_ = std::move(cut);
    return runs_.size() <= kMostRuns;
  }

  bool distinct(int64_t axis) const {
    if (runs_.size() == 1) return runs_[0].count == 1 || runs_[0].step != 0;
    int64_t count = 0;
    for (const PositionRun& run : runs_) count += run.count;
    if (count > axis) return false;
    std::vector<bool> seen(static_cast<size_t>(axis), false);
    for (const PositionRun& run : runs_) {
      for (int64_t k = 0; k < run.count; ++k) {
        const auto position = static_cast<size_t>(run.start + k * run.step);
        if (seen[position]) return false;
        seen[position] = true;
      }
    }
    return true;
  }

  std::vector<PositionRun> take() { return std::move(runs_); }

 private:
  bool add(int64_t position) {
    if (!runs_.empty()) {
      PositionRun& run = runs_.back();
      if (run.count == 1) run.step = position - run.start;
      if (position == last_of(run) + run.step) {
        ++run.count;
        return true;
      }
    }
    runs_.push_back({position, 1, 1});
    return runs_.size() <= kMostRuns;
  }

  std::vector<PositionRun> runs_;
};

}  // namespace

std::vector<PositionRun> known_positions(const Node* node) {
  const Node* positions = position_operand(node);
  if (!positions) return {};
  const Node* constant = constant_below(positions);
  if (!constant) return {};
  const Shape& shape = node->op == Op::take ? node->in[0]->shape : node->shape;
  const int64_t axis = shape[node->attr.axis];
  const int64_t n = constant->shape.size();
  const Ref<Buffer> buffer = read_back(constant);
  Runs runs;
  const bool few = constant->dtype == DType::Int32
                       ? runs.add(static_cast<const int32_t*>(buffer->host()), n, axis)
                       : runs.add(static_cast<const int64_t*>(buffer->host()), n, axis);
  if (!few || (node->op != Op::take && !runs.distinct(axis))) return {};
  std::vector<PositionRun> found = runs.take();
  const int64_t moved = axis > 0 ? n * (shape.size() / axis) : 0;
  const bool short_copies = moved < kShortCopy * static_cast<int64_t>(found.size());
  return found.size() > kFewRuns && short_copies ? std::vector<PositionRun>{} : found;
}

}  // namespace pullback
