// The traits of every operation (graph/op.h) against what the operations do: tangents that are said
// to be linear are, masks that are said to meet no infinite slope do not, rules and traits agree,
// and the forward pass moves structural zeros as the operations move entries.
#include <functional>
#include <limits>
#include <optional>

#include "fake_device.h"
#include "grad/forward.h"
#include "graph.h"
#include "ops/expr.h"

namespace pullback::test {
namespace {

NodeRef random_tensor(const Shape& shape) {
  Numbers numbers(static_cast<size_t>(shape.size()));
  for (double& x : numbers) x = static_cast<double>(pick(2001) - 1000) / 250;
  return tensor(shape, numbers);
}

NodeRef sum_of(const NodeRef& a, const NodeRef& b) { return Expr(a) + Expr(b); }

// A case of an operation that is linear in one tensor, or in each of two.
struct Case {
  Shape a, b;  // b of rank 0 and unused where `two` is not set
  std::function<NodeRef(const NodeRef&, const NodeRef&)> build;
  bool two = false;
};

NodeRef spread(const NodeRef& a) { return make_complex(a, 3.0 * Expr(a)); }

StridedSlice slice_at(int64_t start, int64_t step) {
  StridedSlice range(2);
  range.start[1] = start;
  range.step[1] = step;
  return range;
}

std::optional<Case> case_of(Op op) {
  const auto one = [](const Shape& shape, auto f) {
    return Case{shape, {}, [f](const NodeRef& a, const NodeRef&) { return f(a); }};
  };
  switch (op) {
    case Op::cast:
      return one({3},
                 [](const NodeRef& a) { return cast(cast(a, DType::Float32), DType::Float64); });
    case Op::identity:
      return one({3}, [](const NodeRef& a) { return identity(a); });
    case Op::reshape:
      return one({2, 3}, [](const NodeRef& a) { return reshape(a, {3, 2}); });
    case Op::transpose:
      return one({2, 3}, [](const NodeRef& a) { return transpose(a); });
    case Op::broadcast_to:
      return one({3}, [](const NodeRef& a) { return broadcast_to(a, {2, 3}); });
    case Op::slice:
      return one({2, 5}, [](const NodeRef& a) { return slice(a, {2, 2}, slice_at(1, 2)); });
    case Op::sum:
      return one({2, 3}, [](const NodeRef& a) {
        return reduce(Op::sum, a, std::vector<int64_t>{1}, false);
      });
    case Op::transfer:
      fake_device();
      return one({2, 3},
                 [](const NodeRef& a) { return transfer(2.0 * Expr(transfer(a, kFake)), kHost); });
    case Op::cumulative_sum:
      return one({2, 3}, [](const NodeRef& a) { return scan(Op::cumulative_sum, a, 1); });
    case Op::embed:
      return one({2, 2}, [](const NodeRef& a) { return embed(a, {2, 5}, slice_at(1, 2)); });
    case Op::take:
      return one({2, 3}, [](const NodeRef& a) { return take(a, indices({2, 0, 2, 2}), 1); });
    case Op::scatter_add:
      return one({2, 4},
                 [](const NodeRef& a) { return scatter_add(a, indices({2, 0, 2, 2}), 1, 3); });
    case Op::pick:
      return one({2, 3}, [](const NodeRef& a) { return pick(a, indices({2, 0})); });
    case Op::place:
      return one({2}, [](const NodeRef& a) { return place(a, indices({2, 0}), 3); });
    case Op::concat:
      return Case{{2, 3},
                  {2, 1},
                  [](const NodeRef& a, const NodeRef& b) {
                    const NodeRef parts[] = {a, b};
                    return concat(parts, 1);
                  },
                  true};
    case Op::at_slice:
      return Case{{2, 5},
                  {2, 2},
                  [](const NodeRef& a, const NodeRef& b) {
                    return Expr(at_slice(a, b, slice_at(1, 2), Update::Set)) +
                           Expr(at_slice(a, b, slice_at(1, 2), Update::Add));
                  },
                  true};
    case Op::complex:
      return Case{{3},
                  {3},
                  [](const NodeRef& a, const NodeRef& b) {
                    const NodeRef z = make_complex(a, b);
                    return Expr(real_part(z)) - 2.0 * Expr(imaginary_part(z));
                  },
                  true};
    case Op::real:
      return one({3}, [](const NodeRef& a) { return real_part(spread(a)); });
    case Op::imag:
      return one({3}, [](const NodeRef& a) { return imaginary_part(spread(a)); });
    case Op::conj:
      return one({3}, [](const NodeRef& a) {
        const NodeRef z = conjugate(spread(a));
        return Expr(real_part(z)) - 2.0 * Expr(imaginary_part(z));
      });
    case Op::matmul:
      return Case{
          {2, 3}, {3, 4}, [](const NodeRef& a, const NodeRef& b) { return matmul(a, b); }, true};
    default:
      return std::nullopt;
  }
}

void test_linear(Op op) {
  const std::string name = name_of(op);
  const std::optional<Case> found = case_of(op);
  check(found.has_value(),
        name + ": no case for an operation whose tangent is itself, or a product");
  if (!found) return;
  const auto& f = found->build;
  const NodeRef a = random_tensor(found->a);
  const NodeRef b = random_tensor(found->b);
  const NodeRef da = random_tensor(found->a);
  const NodeRef db = random_tensor(found->b);
  const Numbers expected = numbers_of(sum_of(f(a, b), f(da, db)));
  const Numbers joint = numbers_of(f(sum_of(a, da), sum_of(b, db)));
  if (traits(op).tangent == Tangent::Self) {
    check(near(joint, expected, 1e-5), name + ": not linear in all its tensors");
    return;
  }
  check(!near(joint, expected, 1e-5), name + ": linear in all its tensors, no product");
  check(near(numbers_of(f(sum_of(a, da), b)), numbers_of(sum_of(f(a, b), f(da, b)))),
        name + ": not linear in its first tensor");
  check(near(numbers_of(f(a, sum_of(b, db))), numbers_of(sum_of(f(a, b), f(a, db)))),
        name + ": not linear in its second tensor");
}

// The tangent of cbrt(f(sqrt(where(c, x, 0)))) where f is an operation that passes tangents by
// itself. Both slopes are infinite where an entry is 0 because c is false, so the result is NaN if
// grad/zeros/forward_masks.cpp does not move the mask as f moves the entries.
void test_zeros_upwards(Op op) {
  const std::optional<Case> found = case_of(op);
  if (!found) return;
  for (int k = 0; k < (found->two ? 2 : 1); ++k) {
    const Shape& shape = k == 0 ? found->a : found->b;
    const NodeRef other = random_tensor(k == 0 ? found->b : found->a);
    const auto f = [&](const NodeRef& x) {
      return k == 0 ? found->build(x, other) : found->build(other, x);
    };
    Numbers numbers(static_cast<size_t>(shape.size()));
    Numbers chosen(numbers.size());
    Numbers slopes(numbers.size());
    for (size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = static_cast<double>(1 + pick(1000)) / 250;
      chosen[i] = i % 3 == 1;
      slopes[i] = i % 3 == 1 ? 0.5 / std::sqrt(numbers[i]) : 0;
    }
    const NodeRef x = tracked(shape, numbers);
    const Expr condition = Expr(tensor(shape, chosen)) != 0.0;
    const Expr root = formula::sqrt(formula::where(condition, Expr(x), 0.0));
    const NodeRef y = f(root);
    TangentRequest request;
    request.of.ys = {formula::cbrt(Expr(y))};
    request.of.xs = {{x}};
    const Numbers got = numbers_of(tangents(request)[0]);
    // f of zeros in place of b is linear in the tangent, also where f adds b (at_slice).
    const NodeRef nothing = tensor(shape, Numbers(numbers.size()));
    const Numbers dy = numbers_of(Expr(f(tensor(shape, slopes))) - Expr(f(nothing)));
    Numbers expected = numbers_of(y);
    for (size_t i = 0; i < expected.size(); ++i) {
      const double slope = 3 * std::pow(std::cbrt(expected[i]), 2);
      expected[i] = dy[i] == 0 ? 0 : dy[i] / slope;
    }
    check(near(got, expected, 1e-5), std::string(name_of(op)) + ": structural zeros of input " +
                                         std::to_string(k) +
                                         " are lost in the forward pass: expected " +
                                         text_of(expected) + ", got " + text_of(got));
  }
}

// An elementwise operation whose masks are `Entry`: whatever the inputs are, a cotangent of zero
// stays zero, and one of one stays finite. Where they are `Bounded`, whatever finite inputs are.
void test_slopes(Op op, int inputs) {
  const double inf = std::numeric_limits<double>::infinity();
  Numbers values = {-1e300, -2, -0.0, 0.0, 0.5, 2};
  if (traits(op).mask == Mask::Entry) values = {-inf, -2, -0.0, 0.0, 0.5, 2, inf, std::nan("")};
  Numbers columns[3];
  for (double a : values) {
    for (double b : values) {
      for (double c : values) {
        columns[0].push_back(a);
        columns[1].push_back(b);
        columns[2].push_back(c);
      }
    }
  }
  const Shape shape = {static_cast<int64_t>(columns[0].size())};
  NodeRef held[3];
  Node* nodes[3];
  for (int k = 0; k < inputs; ++k) {
    held[k] = tensor(shape, columns[k]);
    nodes[k] = held[k].get();
  }
  const NodeRef y = elementwise(op, {nodes, static_cast<size_t>(inputs)});
  for (double g : {0.0, 1.0}) {
    const std::vector<uint8_t> live(static_cast<size_t>(inputs), kWanted);
    std::vector<Cotangent> out(live.size());
    vjp_of(op)({y.get(), broadcast_to(scalar(DType::Float64, g), shape), live}, out.data());
    for (const Cotangent& c : out) {
      if (c.kind != Cotangent::Value) continue;
      const Numbers numbers = numbers_of(broadcast_to(c.value, shape));
      check(std::all_of(numbers.begin(), numbers.end(),
                        [&](double x) { return g == 0 ? x == 0 : std::isfinite(x); }),
            std::string(name_of(op)) + ": a slope is infinite or NaN that its mask excludes");
    }
  }
}

constexpr int kInputs[] = {
#define UNARY(...) 1,
#define BINARY(...) 2,
#define TERNARY(...) 3,
#include "graph/elementwise.def"
};

void test_all() {
  for (int i = 0; i < kOps; ++i) {
    const Op op = static_cast<Op>(i);
    const OpTraits& t = traits(op);
    const std::string name = t.name;
    const bool several = t.step == StepKind::Control || t.step == StepKind::Library;
    const bool control = several || t.step == StepKind::Output;
    const bool by_rules = op == Op::result || op == Op::custom_call || control;
    check((vjp_of(op) == nullptr) == (t.tangent == Tangent::None || by_rules),
          name + ": a tangent without a rule");
    // What windows see overlaps, and a draw depends on nothing of one entry.
    const bool numbers = t.step == StepKind::Convolve || t.step == StepKind::Pool ||
                         (t.step == StepKind::Random && vjp_of(op));
    check((vjp_of(op) == nullptr || numbers) == (t.mask == Mask::Stops),
          name + ": a mask without a rule");
    check(!t.ring || vjp_of(op), name + ": integer gradients without a rule");
    check((t.mask == Mask::Entry || t.mask == Mask::Bounded || t.mask == Mask::Scales) <=
              is_elementwise(op),
          name + ": its mask is elementwise");
    // What an operation with several outputs costs, these say.
    const bool nothing = t.kind == OpKind::Leaf || t.kind == OpKind::View;
    check((t.cost == Cost::Free) == (nothing || several),
          name + ": leaves and views, and nothing else, are free");
    check((t.fails == Fails::Integers) <= is_elementwise(op),
          name + ": integer arithmetic is elementwise");
    const bool drawn = t.step == StepKind::Random && vjp_of(op);
    check((t.tangent == Tangent::TransposeOfVjp) == (op == Op::custom || by_rules || drawn),
          name + ": who knows only its vjp");
    if (t.tangent == Tangent::Self || t.tangent == Tangent::Product) {
      test_linear(op);
      test_zeros_upwards(op);
    }
    if (i < static_cast<int>(std::size(kInputs)) &&
        (t.mask == Mask::Entry || t.mask == Mask::Bounded))
      test_slopes(op, kInputs[i]);
  }
}

void test_dtypes() {
  for (int i = 0; i < kDTypes; ++i) {
    const auto a = static_cast<DType>(i);
    const std::string name = name_of(a);
    check(promote(a, a) == a, name + ": promotes to itself");
    check(promote(a, traits(a).accumulator) == traits(a).accumulator ||
              traits(a).accumulator == DType::UInt64,
          name + ": sums do not narrow");
    check(traits(traits(a).accumulator).accumulator == traits(a).accumulator,
          name + ": accumulators accumulate themselves");
    check(traits(a).compute == traits(traits(a).compute).compute,
          name + ": computed dtypes compute themselves");
    for (int j = 0; j < kDTypes; ++j) {
      const auto b = static_cast<DType>(j);
      check(promote(a, b) == promote(b, a), name + ": promotion is symmetric");
      const DType both = promote(a, b);
      const bool inexact = !is_integer(a) && a != DType::Bool;
      const bool other_inexact = !is_integer(b) && b != DType::Bool;
      const bool unsigned_beyond = is_integer(a) && is_integer(b) && both == DType::Float64;
      check((!is_integer(both) && both != DType::Bool) == (inexact || other_inexact) ||
                unsigned_beyond,
            name + ": a float stays one");
      check(promote(both, a) == both || unsigned_beyond, name + ": promotion goes up");
    }
  }
}

}  // namespace
}  // namespace pullback::test

int main() {
  pullback::install_evaluation();
  pullback::test::test_all();
  pullback::test::test_dtypes();
  return pullback::test::report();
}
