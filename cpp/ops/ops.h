// The builders: every operation as a function from nodes to a node. Rules, the binding and the
// composites all build with these, and nothing else makes nodes with inputs.
//
// Each checks its arguments at once and raises Error with its name in the text. Arrays promote by
// DType order; a weak scalar (a Python number) takes its neighbour's dtype.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/callback_origin.h"
#include "graph/node.h"
#include "graph/rule.h"

namespace pullback {

using Axes = std::optional<std::vector<int64_t>>;  // nullopt = all axes

// --- elementwise (ops/elementwise.cpp)
NodeRef elementwise(Op op, std::span<Node* const> inputs);
NodeRef cast(const NodeRef& x, DType dtype);

// --- numbers (ops/scalar.cpp)
// A Python number: floats take the default float dtype, integers int64, unless a neighbour decides.
NodeRef weak_scalar(double value);
NodeRef weak_scalar(int64_t value);
// A number of this library's own formulas: the planner knows its value.
NodeRef scalar(DType dtype, double value);
NodeRef weak_constant(double value);
// The dtype a weak scalar has on its own; that of anything else.
DType natural_dtype(const Node* x);
// A weak scalar with the dtype it has next to an array of `neighbour`; raises OverflowError where
// an integer does not fit.
NodeRef resolve_weak(const NodeRef& x, DType neighbour);

// --- complex numbers (ops/complex.cpp)
NodeRef make_complex(const NodeRef& re, const NodeRef& im);
NodeRef weak_complex(double re, double im);
// Of a real tensor: itself, zeros, itself.
NodeRef real_part(const NodeRef& z);
NodeRef imaginary_part(const NodeRef& z);
NodeRef conjugate(const NodeRef& z);

// --- movement (ops/movement.cpp): views
NodeRef identity(const NodeRef& x);
NodeRef stop_gradient(const NodeRef& x);
// One entry of `shape` may be -1.
NodeRef reshape(const NodeRef& x, const Shape& shape, const char* who = "reshape");
NodeRef transpose(const NodeRef& x, std::optional<std::vector<int64_t>> order = std::nullopt);
// The order that undoes that of a transpose.
std::vector<int64_t> inverse_order(const Node* transpose);
NodeRef swap_last_axes(const NodeRef& x);
NodeRef broadcast_to(const NodeRef& x, const Shape& shape, const char* who = "broadcast_to");
NodeRef expand_dims(const NodeRef& x, const std::vector<int64_t>& axes);
NodeRef squeeze(const NodeRef& x, const Axes& axes);
// window.step may be negative; every index is inside x (the binding resolves Python's rules).
NodeRef slice(const NodeRef& x, const Shape& shape, const Window& window);
// Entries start … start + length - 1 along one axis.
NodeRef narrow(const NodeRef& x, int64_t axis, int64_t start, int64_t length);
// Zeros of `shape` with x where `slice` with the same window would have read it.
NodeRef embed(const NodeRef& x, const Shape& shape, const Window& window);
// What such zeros leave of a tensor, true in a window of `piece` entries: of length 1 along axes of
// which it takes all. Null: all of the tensor.
NodeRef window_mask(const Shape& piece, const Shape& shape, const Window& window);
// base with value (its dtype, the window's shape) at the window: set, or added to what is there.
NodeRef at_window(const NodeRef& base, const NodeRef& value, const Window& window, Update update);
NodeRef concat(std::span<const NodeRef> parts, int64_t axis);
NodeRef stack(std::span<const NodeRef> parts, int64_t axis);
std::vector<NodeRef> split(const NodeRef& x, const std::vector<int64_t>& sizes, int64_t axis);

// --- reductions (ops/reduce.cpp)
NodeRef reduce(Op op, const NodeRef& x, const Axes& axes, bool keepdims);  // sum max min all any
NodeRef arg_reduce(Op op, const NodeRef& x, std::optional<int64_t> axis, bool keepdims);
// Sums x down to `shape`, the reverse of broadcasting; x itself where nothing was broadcast.
NodeRef sum_to(const NodeRef& x, const Shape& shape);

// --- products and indexing (ops/matmul.cpp, ops/index.cpp)
NodeRef matmul(const NodeRef& a, const NodeRef& b);
NodeRef take(const NodeRef& x, const NodeRef& indices, int64_t axis);
// An index outside low … high-1, if the indices have their value; others are checked when they run.
std::optional<int64_t> known_outside(const NodeRef& indices, int64_t low, int64_t high);
// Raises IndexError for one outside -length … length-1: for functions that take indices of a user.
void check_positions(const NodeRef& indices, int64_t axis, int64_t length, const char* who);
// The adjoint of take: zeros with `length` along `axis`, plus x at the indices.
NodeRef scatter_add(const NodeRef& x, const NodeRef& indices, int64_t axis, int64_t length);
// Rows of a float tensor at positions in the order of their first axis: those with the same
// position are summed, in order, where it comes last; zeros stand where it comes earlier.
NodeRef sum_duplicates(const NodeRef& x, const NodeRef& indices);
// base with the entries of value (its dtype, the shape of the take) combined into it at the
// indices, in their order: where one position comes twice, the last one set stays. `unique` says
// that none does.
NodeRef at_index(const NodeRef& base, const NodeRef& value, const NodeRef& indices, int64_t axis,
                 Update update, bool unique);
// Entry indices[r] of each row of x (its last axis), and its adjoint: rows of `length` zeros with
// the entries of x at the indices. An index outside 0 … length-1 is an IndexError when it is
// computed.
NodeRef pick(const NodeRef& x, const NodeRef& indices);
NodeRef place(const NodeRef& x, const NodeRef& indices, int64_t length);

// --- scans, sorts, searches (ops/order.cpp)
// cumulative_sum, _prod (integers in int64), _max, _min along an axis, from its end if `reversed`.
NodeRef scan(Op op, const NodeRef& x, int64_t axis, bool reversed = false);
// r[i] = factors[i] r[i-1] + x[i], with nothing before the first.
NodeRef linear_recurrence(const NodeRef& factors, const NodeRef& x, int64_t axis,
                          bool reversed = false);
// sort or argsort (int64): stable, NaN last, whichever way.
NodeRef sort(Op op, const NodeRef& x, int64_t axis, bool descending);
// How many of `sorted`, of rank 1, are less than each of x; or no greater, on the right.
NodeRef searchsorted(const NodeRef& sorted, const NodeRef& x, bool right);

// --- creation (ops/create.cpp)
NodeRef full(const Shape& shape, const NodeRef& scalar);
NodeRef zeros(const Shape& shape, DType dtype);
NodeRef ones(const Shape& shape, DType dtype);
NodeRef iota(int64_t length);  // int64
NodeRef arange(const NodeRef& start, int64_t length, const NodeRef& step, DType dtype);
NodeRef eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype);

// --- random numbers (ops/random.cpp), of a source (ops/random_state.h)
void seed_random(uint64_t seed);
// The next draw of what `node` is, a seed or a counter.
NodeRef draw_like(const Node* node);
NodeRef random_uniform(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef random_normal(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef random_exponential(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef permutation(int64_t length, int64_t source = 0);
// Parameters broadcast to the shape. int64, low and last included; `low` where it is beyond.
NodeRef random_integers(const NodeRef& low, const NodeRef& last, const Shape& shape,
                        int64_t source = 0);
// Of scale 1, or its logarithm, which is finite where the draw itself would be 0.
NodeRef random_gamma(const NodeRef& concentration, const Shape& shape, DType dtype, bool log,
                     int64_t source = 0);
// Whole numbers in float64; NaN where a parameter has no meaning.
NodeRef random_poisson(const NodeRef& mean, const Shape& shape, int64_t source = 0);
NodeRef random_binomial(const NodeRef& n, const NodeRef& p, const Shape& shape, int64_t source = 0);

// --- composites (ops/composite.cpp): made of the others, with a name of their own
NodeRef mean(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef prod(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef logsumexp(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef softmax(const NodeRef& x, int64_t axis);
NodeRef log_softmax(const NodeRef& x, int64_t axis);
// −Σ labels · log_softmax(logits) along the last axis; a label of 0 contributes exactly 0.
NodeRef softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels);
// The same with one integer label a row; a label that is no class is an IndexError when it is
// computed.
NodeRef sparse_softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels);
NodeRef one_hot(const NodeRef& indices, int64_t depth, DType dtype, int64_t axis);

// --- custom gradients (ops/custom.cpp)
// New nodes with the values of `inside`, whose gradient is `rule`'s answer for `inputs`.
std::vector<NodeRef> custom(std::span<const NodeRef> inside, std::span<const NodeRef> inputs,
                            const Ref<Rule>& rule);

// --- functions of the program (ops/create.cpp)
NodeRef host_call(std::span<const NodeRef> inputs, DType dtype, const Shape& shape,
                  const Ref<CallbackOrigin>& function);

// --- rules and names (ops/opdef.cpp)
struct VjpCall {
  Node* node;                     // its inputs and itself may be used in the expressions
  NodeRef g;                      // cotangent of the node
  std::span<const uint8_t> live;  // per input, a Wanted: whether somebody wants its cotangent
};
enum Wanted : uint8_t {
  kUnwanted,
  kWanted,
  kWantedMasked,  // and cares where it is a structural zero
};
using Vjp = void (*)(const VjpCall& call, Cotangent* out);

Vjp vjp_of(Op op);  // null: not differentiable

// Every name that an override may use, sorted.
std::vector<std::string> op_names();
// The name a node goes by: its op's, or its composite's, or its custom rule's.
const char* display_name(const Node* node);

}  // namespace pullback
