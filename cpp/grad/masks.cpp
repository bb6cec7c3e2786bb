// The algebra of masks. Nothing here looks at a value: a mask that is known when the gradient is
// built (slices that cover their tensor, a condition and its negation) costs nothing when it runs.

#include "grad/masks.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "ops/expr.h"

namespace pullback {
namespace {

// A tensor of true: ops/create.cpp's ones.
bool is_true(const Node* node) {
  while (node->op == Op::broadcast_to && node->inputs_count == 1 && !node->rule) node = node->in[0];
  return node->op == Op::scalar && node->dtype == DType::Bool && node->scalar.i == 1 &&
         node->flags & kConstant;
}

// The mask of a slice: true in a window of it, false elsewhere.
bool is_window(const Node* mask) {
  return mask->op == Op::embed && mask->inputs_count == 1 && !mask->rule && is_true(mask->in[0]);
}

// Sets of windows as bits.
using Windows = uint64_t;
constexpr size_t kMostWindows = 64;
constexpr size_t kMostSets = 4096;

void drop_repeated(std::vector<Windows>* sets) {
  std::sort(sets->begin(), sets->end());
  sets->erase(std::unique(sets->begin(), sets->end()), sets->end());
}

// For each position of an axis, which windows contain it: the different sets there are. Empty where
// that would take long to find.
std::vector<Windows> sets_along(std::span<const Ref<Node>> masks, int64_t axis) {
  const int64_t length = masks[0]->shape[axis];
  std::vector<int64_t> positions = {0};  // one of each stretch of equal sets
  bool dense = true;
  for (const Ref<Node>& mask : masks) {
    const int64_t start = mask->window->start[axis];
    const int64_t step = mask->window->step[axis];
    const int64_t last = start + (mask->in[0]->shape[axis] - 1) * step;
    dense &= step == 1 || step == -1 || start == last;
    positions.push_back(std::min(start, last));
    positions.push_back(std::max(start, last) + 1);
  }
  if (!dense) {
    if (length > static_cast<int64_t>(kMostSets)) return {};
    positions.resize(static_cast<size_t>(length));
    for (size_t i = 0; i < positions.size(); ++i) positions[i] = static_cast<int64_t>(i);
  }
  std::vector<Windows> sets;
  for (int64_t position : positions) {
    if (position >= length) continue;
    Windows set = 0;
    for (size_t k = 0; k < masks.size(); ++k) {
      const int64_t step = masks[k]->window->step[axis];
      const int64_t offset = position - masks[k]->window->start[axis];
      const int64_t count = masks[k]->in[0]->shape[axis];
      const bool inside = count == 1
                              ? offset == 0
                              : offset % step == 0 && offset / step >= 0 && offset / step < count;
      set |= static_cast<Windows>(inside) << k;
    }
    sets.push_back(set);
  }
  drop_repeated(&sets);
  return sets;
}

// The same for any number of windows that are whole along all axes but `axis`.
bool cover_along(std::span<const Ref<Node>> masks, int64_t axis) {
  const Shape& shape = masks[0]->shape;
  std::vector<std::pair<int64_t, int64_t>> stretches;
  for (const Ref<Node>& mask : masks) {
    const Shape& piece = mask->in[0]->shape;
    for (int64_t d = 0; d < shape.rank; ++d) {
      if (d != axis && piece[d] != shape[d]) return false;
    }
    const int64_t start = mask->window->start[axis];
    const int64_t step = mask->window->step[axis];
    if (piece[axis] > 1 && step != 1 && step != -1) return false;
    const int64_t last = start + (piece[axis] - 1) * step;
    stretches.emplace_back(std::min(start, last), std::max(start, last) + 1);
  }
  std::sort(stretches.begin(), stretches.end());
  int64_t covered = 0;
  for (const auto& [begin, end] : stretches) {
    if (begin > covered) return false;
    covered = std::max(covered, end);
  }
  return covered == shape[axis];
}

// Whether the windows cover their tensor: no choice of one position per axis lies in none of them.
bool cover(std::span<const Ref<Node>> masks) {
  if (masks[0]->shape.size() == 0) return false;
  for (const Ref<Node>& mask : masks) {
    if (!(mask->shape == masks[0]->shape) || mask->in[0]->shape.size() == 0) return false;
  }
  if (masks.size() > kMostWindows) {
    for (int64_t axis = 0; axis < masks[0]->shape.rank; ++axis) {
      if (cover_along(masks, axis)) return true;
    }
    return false;
  }
  std::vector<Windows> sets = {~Windows{0}};
  for (int64_t axis = 0; axis < masks[0]->shape.rank; ++axis) {
    const std::vector<Windows> along = sets_along(masks, axis);
    if (along.empty() || along.size() * sets.size() > kMostSets) return false;
    std::vector<Windows> both;
    for (Windows a : sets) {
      for (Windows b : along) both.push_back(a & b);
    }
    drop_repeated(&both);
    if (both[0] == 0) return false;
    sets = std::move(both);
  }
  return true;
}

// a or b, at the cost of b's piece where that is all it has: many slices of one tensor meet. Bools
// add to what either is.
Ref<Node> either(const Ref<Node>& a, const Ref<Node>& b) {
  const bool piece =
      (b->op == Op::embed || b->op == Op::scatter_add) && b->inputs_count > 0 && !b->rule;
  if (!piece) return formula::logical_or(Expr(a), Expr(b));
  const Ref<Node> base = broadcast_to(a, b->shape);
  if (b->window) return at_window(base, b->in[0], *b->window, Update::Add);
  return at_index(base, b->in[0], b->in[1], b->attr.axis, Update::Add, false);
}

// With as many axes as `rank`.
Ref<Node> aligned(const Ref<Node>& mask, int64_t rank) {
  Shape shape;
  for (int64_t i = mask->shape.rank; i < rank; ++i) shape.append(1);
  for (int64_t i = 0; i < mask->shape.rank; ++i) shape.append(mask->shape[i]);
  return reshape(mask, shape);
}

// The mask of each input's cotangent where they move.
void move_mask(Node* node, const Ref<Node>& mask, std::span<const uint8_t> wanted,
               std::span<Ref<Node>> out) {
  const OpTraits& op = traits(node->op);
  // All or nothing, or not moved at all.
  if (mask->shape.size() == 1 || op.view == ViewKind::Alias || op.view == ViewKind::Broadcast) {
    const Ref<Node> same = mask->shape.size() == 1 ? reshape(mask, {}) : mask;
    std::fill(out.begin(), out.end(), same);
    return;
  }
  const bool narrow = op.view == ViewKind::Transpose || op.step == StepKind::Product;
  const Ref<Node> g = narrow ? aligned(mask, node->shape.rank) : broadcast_to(mask, node->shape);
  std::vector<uint8_t> plain(wanted.size());
  std::transform(wanted.begin(), wanted.end(), plain.begin(),
                 [](uint8_t want) { return want ? kWanted : kUnwanted; });
  std::vector<Cotangent> moved(wanted.size());
  vjp_of(node->op)({node, g, plain}, moved.data());
  for (size_t k = 0; k < out.size(); ++k) {
    if (wanted[k]) out[k] = moved[k].value;
  }
}

bool multiplies(const Node* node) {
  return node->op == Op::at_index && node->attr.update == Update::Multiply;
}

// Whether its rule makes zeros of zeros, whatever its inputs are.
bool keeps_zeros(const Node* node) {
  return traits(node->op).mask != Mask::Scales && node->op != Op::matmul && !multiplies(node);
}

// Products with a finite number, quotients by one that is not 0.
bool has_finite_slope(const Node* node) {
  const auto number = [](const Node* x, bool divides) {
    if (x->op != Op::scalar || x->refs > 1) return false;  // somebody may ask for its gradient
    const double value = is_float(x->dtype) ? x->scalar.f : static_cast<double>(x->scalar.i);
    return std::isfinite(value) && !(divides && value == 0);
  };
  if (node->op == Op::multiply) return number(node->in[0], false) || number(node->in[1], false);
  return node->op == Op::divide && number(node->in[1], true);
}

bool is_negation(const Node* a, const Node* b) {
  return a->op == Op::logical_not && a->inputs_count == 1 && !a->rule && a->in[0] == b;
}

}  // namespace

Zeros zeros_of(const Node* node, Zeros below) {
  switch (traits(node->op).mask) {
    case Mask::Stops:
      return Zeros::Drop;
    case Mask::Entry:
      return below;
    case Mask::Scales:
      return has_finite_slope(node) ? below : Zeros::Keep;
    case Mask::Moves:
      return multiplies(node) ? Zeros::Keep : below;
    case Mask::Mixes:
      // Of a product's rows and columns only: to look whether all of one is zero costs too much.
      return node->op == Op::matmul ? std::min(below, Zeros::Cheap) : below;
  }
  return Zeros::Drop;
}

Ref<Node> intersect(const Ref<Node>& a, const Ref<Node>& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  return formula::logical_and(Expr(a), Expr(b));
}

Ref<Node> unite(std::span<const Ref<Node>> masks) {
  std::vector<Ref<Node>> windows;
  std::copy_if(masks.begin(), masks.end(), std::back_inserter(windows),
               [](const Ref<Node>& mask) { return is_window(mask.get()); });
  if (windows.size() > 1 && cover(windows)) return nullptr;
  Ref<Node> out = masks[0];
  for (size_t i = 1; i < masks.size(); ++i) {
    if (masks[i] == masks[i - 1]) continue;
    if (complementary(out, masks[i])) return nullptr;
    out = either(out, masks[i]);
  }
  return out;
}

bool complementary(const Ref<Node>& a, const Ref<Node>& b) {
  return is_negation(a.get(), b.get()) || is_negation(b.get(), a.get());
}

bool is_narrow(const Node* mask, const Shape& shape) {
  return mask->shape.size() == 1 || mask->shape.size() < shape.size();
}

Ref<Node> sum_of_mask(const Ref<Node>& mask, const Shape& from, const Shape& to, Zeros zeros) {
  Ref<Node> out = aligned(mask, from.rank);
  const int64_t lead = from.rank - to.rank;
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < from.rank; ++i) {
    const bool summed = i < lead || (to[i - lead] == 1 && from[i] != 1);
    if (summed && out->shape[i] != 1) axes.push_back(i);
  }
  if (!axes.empty()) {
    if (zeros != Zeros::Keep) return nullptr;
    out = reduce(Op::any, out, axes, true);
  }
  Shape shape;
  for (int64_t i = lead; i < from.rank; ++i) shape.append(out->shape[i]);
  return reshape(out, shape);
}

void carry_mask(Node* node, const Ref<Node>& mask, bool clean, std::span<const uint8_t> wanted,
                std::span<Cotangent> out) {
  const Mask pass = traits(node->op).mask;
  std::vector<Ref<Node>> masks(out.size(), mask);
  if (pass == Mask::Moves || pass == Mask::Mixes) {
    masks.assign(out.size(), nullptr);
    move_mask(node, mask, wanted, masks);
  }
  const bool stays = clean && keeps_zeros(node);
  for (size_t k = 0; k < out.size(); ++k) {
    Cotangent& c = out[k];
    if (c.kind != Cotangent::Value || masks[k] == nullptr) continue;
    c.clean = stays && (c.clean || c.mask == nullptr);
    c.mask = intersect(c.mask, masks[k]);
  }
}

}  // namespace pullback
