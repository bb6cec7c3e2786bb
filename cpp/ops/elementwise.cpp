// Elementwise builders: dtype promotion, broadcasting, and the gradient rules, which are generated
// from the expressions of elementwise.def.
#include "ops/elementwise.h"

#include <cmath>
#include <utility>

#include "base/error.h"
#include "graph/make.h"
#include "ops/complex.h"
#include "ops/composite.h"
#include "ops/expr.h"

namespace pullback {
namespace {

enum class Domain : uint8_t { A, N, F, B, W, I, P, AC, NC, FC };
using traits_detail::Result;

struct Row {
  const char* name;
  uint8_t arity;
  Domain domain;
  Result result;
};

constexpr Row kRows[] = {
#define UNARY(name, domain, result, ...) {#name, 1, Domain::domain, Result::result},
#define BINARY(name, domain, result, ...) {#name, 2, Domain::domain, Result::result},
#define TERNARY(name, domain, result, ...) {#name, 3, Domain::domain, Result::result},
#include "graph/elementwise.def"
};

// Operations on bools take the truth of complex numbers.
bool takes_complex(Domain domain) { return domain == Domain::B || domain >= Domain::AC; }

NodeRef convert(const Row& row, const NodeRef& x, DType dtype) {
  if (!(x->flags & kWeak)) return cast(x, dtype);
  try {
    return resolve_weak(x, dtype);
  } catch (const Error& error) {
    fail(error.kind(), row.name, ": ", error.what());
  }
}

// -1 or 1 if a Python number is below or above the range of an integer dtype, else 0.
int beyond(const Node* number, DType dtype) {
  if (is_float(number->dtype)) {
    return number->scalar.f >= 0x1p64 ? 1 : number->scalar.f < -0x1p63 ? -1 : 0;
  }
  if (number->dtype == DType::UInt64) return dtype != DType::UInt64;
  return fits(number->scalar.i, dtype) ? 0 : number->scalar.i < 0 ? -1 : 1;
}

// A comparison of integers with a Python number outside the range of their dtype: its result does
// not depend on the integers. Null for any other operation.
NodeRef compare_beyond(Op op, std::span<Node* const> inputs) {
  if (!is_comparison(op)) return nullptr;
  const bool swapped = (inputs[0]->flags & kWeak) != 0;
  const Node* number = inputs[swapped ? 0 : 1];
  const Node* x = inputs[swapped ? 1 : 0];
  if (!(number->flags & kWeak) || number->op != Op::scalar) return nullptr;
  if (x->flags & kWeak || !is_integer(x->dtype)) return nullptr;
  int order = -beyond(number, x->dtype);  // order of x relative to the number
  if (order == 0) return nullptr;
  if (swapped) order = -order;
  const bool answer = op == Op::not_equal ||
                      (order < 0 && (op == Op::less || op == Op::less_equal)) ||
                      (order > 0 && (op == Op::greater || op == Op::greater_equal));
  return full(x->shape, scalar(DType::Bool, answer));
}

// The dtype in which an operation on these inputs computes.
DType compute_dtype(const Row& row, std::span<Node* const> inputs) {
  bool strong = false;
  DType dtype = DType::Bool;
  DType weak = DType::Bool;
  for (const Node* x : inputs) {
    if (x->flags & kWeak) {
      weak = promote(weak, natural_dtype(x));
    } else {
      strong = true;
      dtype = promote(dtype, x->dtype);
    }
  }
  if (!strong) {
    dtype = weak;
  } else if (is_complex(weak)) {
    dtype = complex_dtype(dtype);
  } else if (is_float(weak) && !is_inexact(dtype)) {
    dtype = default_float();
  } else if (is_integer(weak) && dtype == DType::Bool) {
    dtype = weak;
  }
  switch (row.domain) {
    case Domain::F:
    case Domain::FC:
      if (&row == &kRows[static_cast<int>(Op::nextafter)] && is_storage(dtype) && is_float(dtype)) {
        fail(ErrorKind::Type, row.name, ": expected float32 or float64, got ", dtype);
      }
      return is_inexact(dtype) ? dtype : default_float();
    case Domain::B:
      return DType::Bool;
    case Domain::N:
    case Domain::NC:
      if (dtype == DType::Bool && row.result != Result::Bool) {
        fail(ErrorKind::Type, row.name,
             ": expected numbers, got bool; cast it, or use logical_and, logical_or, "
             "logical_xor, logical_not");
      }
      return dtype == DType::Bool ? DType::Int32 : dtype;
    case Domain::W:
    case Domain::I:
    case Domain::P:
      if (is_inexact(dtype) || (row.domain != Domain::W && dtype == DType::Bool)) {
        fail(ErrorKind::Type, row.name, ": expected integers",
             row.domain == Domain::W ? " or bool" : "", ", got ", dtype);
      }
      return row.domain == Domain::P ? DType::Int64 : dtype;
    case Domain::A:
    case Domain::AC:
      break;
  }
  return dtype;
}

// The operators of Python numbers.
bool is_python_arithmetic(Op op) {
  return op == Op::add || op == Op::subtract || op == Op::multiply || op == Op::divide ||
         op == Op::floor_divide || op == Op::remainder || op == Op::pow || op == Op::square ||
         op == Op::negative || op == Op::abs;
}

// True for Python arithmetic on weak arguments of a traced function. Without the trace the result
// would be a Python number, with its precision, so the node stays weak.
bool stays_weak(Op op, std::span<Node* const> inputs) {
  if (!is_python_arithmetic(op)) return false;
  bool traced = false;
  for (const Node* x : inputs) {
    if (!(x->flags & kWeak)) return false;
    traced |= x->op != Op::scalar;
  }
  return traced;
}

// The shape of the result: that of an input if it matches, else built in `room`.
const Shape& result_shape(const Row& row, std::span<Node* const> inputs, Shape* room) {
  const Shape* shape = &inputs[0]->shape;
  for (size_t i = 1; i < inputs.size(); ++i) {
    const Shape& other = inputs[i]->shape;
    if (other.rank == 0 || other == *shape) continue;
    const Shape& before = *std::exchange(shape, shape->rank ? room : &other);
    if (before.rank == 0 || broadcast(before, other, room)) continue;
    std::string shapes;
    for (const Node* x : inputs) shapes += (shapes.empty() ? "" : " and ") + to_text(x->shape);
    fail(ErrorKind::Value, row.name, ": shapes ", shapes, " do not broadcast");
  }
  return *shape;
}

}  // namespace

NodeRef cast(const NodeRef& x, DType dtype) {
  if (x->flags & kWeak && x->op == Op::complex && is_complex(dtype)) return resolve_weak(x, dtype);
  if (is_complex(x->dtype) && !is_complex(dtype) && dtype != DType::Bool) {
    fail(ErrorKind::Type, "cast: ", x->dtype, " to ", dtype,
         " would lose the imaginary part; take real(x), or abs(x)");
  }
  if (x->op == Op::scalar && is_complex(dtype)) {
    const DType part = traits(dtype).compute;
    if (x->flags & kWeak || !x->watchers) return make_complex(cast(x, part), scalar(part, 0));
  } else if (x->op == Op::scalar) {
    const uint8_t constant = x->flags & kConstant;
    if (x->flags & kWeak) {
      const DType from = is_float(x->dtype) ? DType::Float64 : x->dtype;
      return make_scalar(dtype, convert_scalar(x->scalar, from, dtype), constant);
    }
    if (!x->watchers)
      return make_scalar(dtype, convert_scalar(x->scalar, x->dtype, dtype), constant);
  }
  if (x->dtype == dtype) return x->flags & kWeak ? identity(x) : x;
  return make_node(Op::cast, dtype, x->shape, pointers({&x, 1}));
}

namespace {

// x**2 and x**3 become products and x**-1 a quotient: faster than a power, within 1.5 ulp, and with
// derivatives at 0 of every order. Larger exponents would accumulate rounding errors or leave the
// range in between. Null for every other exponent, and if pow refuses x.
NodeRef small_power(Node* x, const Node* exponent) {
  const bool is_real = is_float(exponent->dtype);
  const bool numbers = is_inexact(x->dtype);
  if ((is_real && !numbers) || x->dtype == DType::Bool) return nullptr;
  const double power = is_real ? exponent->scalar.f : static_cast<double>(exponent->scalar.i);
  if (power == -1 && numbers) {
    const NodeRef one = weak_constant(1.0);
    Node* const parts[] = {one.get(), x};
    return elementwise(Op::divide, parts);
  }
  if (power != 2 && power != 3) return nullptr;
  NodeRef square = elementwise(Op::square, {&x, 1});
  if (power == 2) return square;
  Node* const parts[] = {x, square.get()};
  return elementwise(Op::multiply, parts);
}

}  // namespace

NodeRef elementwise(Op op, std::span<Node* const> inputs) {
  if (op == Op::pow && inputs[1]->op == Op::scalar && inputs[1]->flags & kWeak) {
    if (NodeRef out = small_power(inputs[0], inputs[1])) return power(out, inputs[0], inputs[1]);
  }
  if (NodeRef answer = compare_beyond(op, inputs)) return answer;
  const Row& row = kRows[static_cast<int>(op)];
  // The first input of `where` is a condition; its dtype does not count.
  const size_t first = op == Op::where;
  DType dtype = compute_dtype(row, inputs.subspan(first));
  const bool weak = is_inexact(dtype) && stays_weak(op, inputs);
  if (weak) dtype = is_complex(dtype) ? DType::Complex128 : DType::Float64;
  bool complex = is_complex(dtype);
  for (const Node* x : inputs.subspan(first)) complex |= is_complex(x->dtype);
  if (complex && !takes_complex(row.domain)) {
    for (const Node* x : inputs.subspan(first)) refuse_complex(x, row.name);
  }
  const bool real_operands = complex && takes_real_operands(op);
  NodeRef converted[3];
  Node* operands[3];
  for (size_t i = 0; i < inputs.size(); ++i) {
    const bool stays_real = real_operands && !is_complex(inputs[i]->dtype);
    const DType requested = i < first ? DType::Bool : stays_real ? traits(dtype).compute : dtype;
    operands[i] = inputs[i];
    if (inputs[i]->dtype != requested || (inputs[i]->flags & kWeak)) {
      converted[i] = convert(row, inputs[i], requested);
      operands[i] = converted[i].get();
    }
  }
  Shape room;
  const Shape& shape = result_shape(row, {operands, inputs.size()}, &room);
  const DType result = row.result == Result::Bool ? DType::Bool
                       : complex && op == Op::abs ? traits(dtype).compute
                                                  : dtype;
  NodeRef node = make_node(op, result, shape, {operands, inputs.size()});
  if (weak && result != DType::Bool) node->flags |= kWeak;
  return node;
}

// --- rules

namespace {

using namespace formula;

const Cotangent none;
const Cotangent zero{Cotangent::Zero, nullptr, nullptr};

struct Answer : Cotangent {
  Answer(const Cotangent& c) : Cotangent(c) {}
  Answer(const Expr& e) : Cotangent{Cotangent::Value, e.node, nullptr} {}
};

// The derivative by df of the logarithm of Student's density at x, and the derivative of that.
Expr student_slope(const Expr& a, const Expr& b) {
  return 0.5 * ((square(b) - 1.0) / (a + square(b)) - log1p(square(b) / a) -
                polygamma_gap(0.0, 0.5 * a, 0.5));
}
Expr student_bend(const Expr& a, const Expr& b) {
  return 0.5 * (square(b) / (a * (a + square(b))) - (square(b) - 1.0) / square(a + square(b)) -
                0.5 * polygamma_gap(1.0, 0.5 * a, 0.5));
}

// For slopes that lose too many digits if their terms are rounded to a narrower float.
Expr wide(const Expr& x) { return cast(x, DType::Float64); }
Expr narrow(const Expr& x, const Expr& like) { return cast(x, like.node->dtype); }

// The derivative by p of x = inverse(a, b, p), where betainc(a, b, x) = p.
using OfThree = Expr(const Expr&, const Expr&, const Expr&);
Expr inverse_slope(OfThree* inverse, const Expr& a, const Expr& b, const Expr& p) {
  return narrow(1.0 / beta_density(wide(a), wide(b), inverse(wide(a), wide(b), wide(p))), p);
}
// The derivative by a parameter; `by` is the derivative of betainc by it.
Expr inverse_slope(OfThree* inverse, OfThree* by, const Expr& a, const Expr& b, const Expr& p) {
  const Expr x = inverse(wide(a), wide(b), wide(p));
  return narrow(-by(wide(a), wide(b), x) / beta_density(wide(a), wide(b), x), p);
}

// The derivative by x of log_gammainc_daa, or of its complement.
using OfTwo = Expr(const Expr&, const Expr&);
Expr log_share_bend(OfTwo* dx, OfTwo* da, OfTwo* daa, const Expr& a, const Expr& x) {
  const Expr size = wide(a), at = wide(x);
  const Expr slope = log(at) - digamma(size) - da(size, at);
  return narrow(dx(size, at) * (square(slope) - polygamma(1.0, size) - daa(size, at)), x);
}

[[noreturn]] Answer no_order(const char* name) {
  fail(ErrorKind::NotImplemented, name,
       ": expected an order without a gradient, for which there is no formula; pass "
       "stop_gradient(order)");
}
[[noreturn]] Answer third_order(const char* name, const char* parameters) {
  fail(ErrorKind::NotImplemented, name, ": expected at most second derivatives by ", parameters,
       ", got one of third order; derivatives by the other arguments are available at any order");
}

// Derivatives of densities for the third order and above, built from the lower ones.
Expr gamma_density_daa(const Expr& a, const Expr& x) {
  return gamma_density_da(a, x) * (log(x) - digamma(a)) - gamma_density(a, x) * polygamma(1.0, a);
}
Expr gamma_density_dax(const Expr& a, const Expr& x) {
  return gamma_density_da(a, x) * ((a - 1.0) / x - 1.0) + gamma_density(a, x) / x;
}
// of log(beta_density)
Expr by_a(const Expr& a, const Expr& b, const Expr& x) { return log(x) - polygamma_gap(0.0, a, b); }
Expr by_b(const Expr& a, const Expr& b, const Expr& x) {
  return log1p(-x) - polygamma_gap(0.0, b, a);
}
Expr beta_density_daa(const Expr& a, const Expr& b, const Expr& x) {
  return beta_density_da(a, b, x) * by_a(a, b, x) -
         beta_density(a, b, x) * polygamma_gap(1.0, a, b);
}
Expr beta_density_dab(const Expr& a, const Expr& b, const Expr& x) {
  return beta_density_da(a, b, x) * by_b(a, b, x) + beta_density(a, b, x) * polygamma(1.0, a + b);
}
Expr beta_density_dbb(const Expr& a, const Expr& b, const Expr& x) {
  return beta_density_db(a, b, x) * by_b(a, b, x) -
         beta_density(a, b, x) * polygamma_gap(1.0, b, a);
}
Expr beta_density_dax(const Expr& a, const Expr& b, const Expr& x) {
  return beta_density_dx(a, b, x) * by_a(a, b, x) + beta_density(a, b, x) / x;
}
Expr beta_density_dbx(const Expr& a, const Expr& b, const Expr& x) {
  return beta_density_dx(a, b, x) * by_b(a, b, x) - beta_density(a, b, x) / (1.0 - x);
}

// One function per input of each row, for example sin_da(g, a, b, c, y).
#define RULE(rule, text)                                                      \
  Answer rule([[maybe_unused]] const Expr& g, [[maybe_unused]] const Expr& a, \
              [[maybe_unused]] const Expr& b, [[maybe_unused]] const Expr& c, \
              [[maybe_unused]] const Expr& y) {                               \
    return text;                                                              \
  }
#define UNARY(name, domain, result, integers, cost, mask, value, da) RULE(name##_rule_a, (da))
#define BINARY(name, domain, result, integers, cost, mask, value, da, db) \
  RULE(name##_rule_a, (da)) RULE(name##_rule_b, (db))
#define TERNARY(name, domain, result, integers, cost, mask, value, da, db, dc) \
  RULE(name##_rule_a, (da)) RULE(name##_rule_b, (db)) RULE(name##_rule_c, (dc))
#include "graph/elementwise.def"
#undef RULE

using ElementRule = Answer (*)(const Expr&, const Expr&, const Expr&, const Expr&, const Expr&);

constexpr ElementRule kRules[][3] = {
#define UNARY(name, ...) {name##_rule_a, nullptr, nullptr},
#define BINARY(name, ...) {name##_rule_a, name##_rule_b, nullptr},
#define TERNARY(name, ...) {name##_rule_a, name##_rule_b, name##_rule_c},
#include "graph/elementwise.def"
};

}  // namespace

void elementwise_vjp(const VjpCall& call, Cotangent* out) {
  Node* y = call.node;
  const size_t n = y->inputs().size();
  const auto row = kRules[static_cast<int>(y->op)];
  if (is_complex(y->dtype) && y->op != Op::where) {
    // Derivatives at the conjugates of the operands are the conjugates of the derivatives.
    const Expr a = conjugate(y->in[0]);
    const Expr b = n > 1 ? Expr(conjugate(y->in[1])) : a;
    const Expr value = conjugate(y);
    for (size_t i = 0; i < n; ++i) {
      if (!call.live[i]) continue;
      const auto own = complex_cotangent(y, i, call.g, a, b, value);
      out[i] = own ? *own : Cotangent(row[i](call.g, a, b, a, value));
      if (out[i].value && !is_complex(y->in[i]->dtype)) out[i].value = real_part(out[i].value);
    }
    return;
  }
  const Expr a = y->in[0];
  const Expr b = n > 1 ? y->in[1] : y->in[0];
  const Expr c = n > 2 ? y->in[2] : y->in[0];
  for (size_t i = 0; i < n; ++i) {
    if (call.live[i]) out[i] = row[i](call.g, a, b, c, y);
  }
}

void cast_vjp(const VjpCall& call, Cotangent* out) {
  const DType from = call.node->in[0]->dtype;
  const DType to = call.node->dtype;
  // Gradients pass between floats, or between integers (for compat.tf1), never from one to the
  // other.
  if (is_inexact(from) != is_inexact(to)) return;
  if (is_complex(to) && !is_complex(from)) {
    out[0] = {Cotangent::Value, cast(real_part(call.g), from), nullptr};
    return;
  }
  out[0] = {Cotangent::Value, cast(call.g, from), nullptr};
}

int elementwise_arity(Op op) { return op == Op::cast ? 1 : kRows[static_cast<int>(op)].arity; }

}  // namespace pullback
