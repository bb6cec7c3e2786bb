// Builders: one function per operation, from input nodes to a new node. Rules, composites and the
// binding use them; nothing else makes nodes with inputs.
//
// Each checks its arguments and raises Error with its name in the text. Arrays promote by DType
// order; a weak scalar (a Python number) takes the dtype of its neighbour. Rules receive a VjpCall
// (below).
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
// A Python number. Without a neighbour a float has the default float dtype, an integer int64.
NodeRef weak_scalar(double value);
NodeRef weak_scalar(int64_t value);
// A number in a formula of this library: a constant for the planner.
NodeRef scalar(DType dtype, double value);
NodeRef weak_constant(double value);
// The dtype of a weak scalar without a neighbour; the dtype of any other tensor.
DType natural_dtype(const Node* x);
// A weak scalar with the dtype that it takes beside an array of dtype `neighbour`; raises
// OverflowError if an integer does not fit.
NodeRef resolve_weak(const NodeRef& x, DType neighbour);
// Without a neighbour: to its natural dtype, if it is weak.
inline NodeRef resolve_weak(const NodeRef& x) {
  return x->flags & kWeak ? resolve_weak(x, natural_dtype(x.get())) : x;
}

// --- complex numbers (ops/complex.cpp)
NodeRef make_complex(const NodeRef& re, const NodeRef& im);
NodeRef weak_complex(double re, double im);
// For a real tensor these return the tensor, zeros, and the tensor.
NodeRef real_part(const NodeRef& z);
NodeRef imaginary_part(const NodeRef& z);
NodeRef conjugate(const NodeRef& z);

// --- movement (ops/movement.cpp): views
NodeRef identity(const NodeRef& x);
NodeRef stop_gradient(const NodeRef& x);
// x on a device; x itself if it is there already, or on any device.
NodeRef transfer(const NodeRef& x, Device device);
// One entry of `shape` may be -1.
NodeRef reshape(const NodeRef& x, const Shape& shape, const char* who = "reshape");
NodeRef transpose(const NodeRef& x, std::optional<std::vector<int64_t>> order = std::nullopt);
// The permutation that inverts a transpose.
std::vector<int64_t> inverse_order(const Node* transpose);
NodeRef swap_last_axes(const NodeRef& x);
NodeRef broadcast_to(const NodeRef& x, const Shape& shape, const char* who = "broadcast_to");
NodeRef expand_dims(const NodeRef& x, const std::vector<int64_t>& axes);
NodeRef squeeze(const NodeRef& x, const Axes& axes);
// range.step may be negative. All indices are inside x; the binding applies Python's slice rules.
NodeRef slice(const NodeRef& x, const Shape& shape, const StridedSlice& range);
// The entries start … start + length - 1 along one axis.
NodeRef narrow(const NodeRef& x, int64_t axis, int64_t start, int64_t length);
// Zeros of `shape` with x at the places that `slice` with the same range reads.
NodeRef embed(const NodeRef& x, const Shape& shape, const StridedSlice& range);
// A mask of `shape`, true in a slice of shape `inside`. Its size is 1 along axes that the slice
// covers. Null if the slice covers all axes.
NodeRef slice_mask(const Shape& inside, const Shape& shape, const StridedSlice& range);
// base with value (its dtype, the shape of the slice) set at, or added to, a slice.
NodeRef at_slice(const NodeRef& base, const NodeRef& value, const StridedSlice& range,
                 Update update);
NodeRef concat(std::span<const NodeRef> parts, int64_t axis);
NodeRef stack(std::span<const NodeRef> parts, int64_t axis);
std::vector<NodeRef> split(const NodeRef& x, const std::vector<int64_t>& sizes, int64_t axis);

// --- reductions (ops/reduce.cpp)
NodeRef reduce(Op op, const NodeRef& x, const Axes& axes, bool keepdims);  // sum max min all any
NodeRef arg_reduce(Op op, const NodeRef& x, std::optional<int64_t> axis, bool keepdims);
// Sums x down to `shape`, the adjoint of broadcasting; returns x if nothing was broadcast.
NodeRef sum_to(const NodeRef& x, const Shape& shape);

// --- products and indexing (ops/matmul.cpp, ops/index.cpp)
NodeRef matmul(const NodeRef& a, const NodeRef& b);
NodeRef take(const NodeRef& x, const NodeRef& indices, int64_t axis);
// An index outside low … high-1, if the indices have a value. Pending ones are checked at run time.
std::optional<int64_t> known_outside(const NodeRef& indices, int64_t low, int64_t high);
// Raises IndexError for an index outside -length … length-1; for functions that take a user's
// indices.
void check_positions(const NodeRef& indices, int64_t axis, int64_t length, const char* who);
// The adjoint of take: zeros of size `length` along `axis`, to which x is added at the indices.
NodeRef scatter_add(const NodeRef& x, const NodeRef& indices, int64_t axis, int64_t length);
// Rows of a float tensor, sorted by position: rows with one position are summed, in order, at its
// last occurrence; earlier occurrences become zeros.
NodeRef sum_duplicates(const NodeRef& x, const NodeRef& indices);
// base with the entries of value (its dtype, the shape of the take) combined into it at the
// indices, in their order: the last one set to a position remains. `unique` states that no position
// occurs twice.
NodeRef at_index(const NodeRef& base, const NodeRef& value, const NodeRef& indices, int64_t axis,
                 Update update, bool unique);
// Entry indices[r] of row r of x (rows are the last axis), and its adjoint: rows of `length` zeros
// with the entries of x at the indices. An index outside 0 … length-1 raises IndexError at run
// time.
NodeRef pick(const NodeRef& x, const NodeRef& indices);
NodeRef place(const NodeRef& x, const NodeRef& indices, int64_t length);

// --- scans, sorts, searches (ops/order.cpp)
// cumulative_sum, _prod (integers in int64), _max, _min along an axis, from its end if `reversed`.
NodeRef scan(Op op, const NodeRef& x, int64_t axis, bool reversed = false);
// r[i] = factors[i] r[i-1] + x[i], starting from 0.
NodeRef linear_recurrence(const NodeRef& factors, const NodeRef& x, int64_t axis,
                          bool reversed = false);
// sort or argsort (int64): stable, NaN last in both directions.
NodeRef sort(Op op, const NodeRef& x, int64_t axis, bool descending);
// For each entry of x, how many entries of `sorted` (rank 1) are less; or not greater, if `right`.
NodeRef searchsorted(const NodeRef& sorted, const NodeRef& x, bool right);

// --- creation (ops/create.cpp)
NodeRef full(const Shape& shape, const NodeRef& scalar);
NodeRef zeros(const Shape& shape, DType dtype);
NodeRef ones(const Shape& shape, DType dtype);
NodeRef iota(int64_t length);  // int64
NodeRef arange(const NodeRef& start, int64_t length, const NodeRef& step, DType dtype);
NodeRef eye(int64_t rows, int64_t columns, int64_t diagonal, DType dtype);

// --- random numbers (ops/random.cpp); `source`: see ops/random_state.h
void seed_random(uint64_t seed);
// A new seed or counter of the source of `node`, which is one of the two.
NodeRef draw_like(const Node* node);
NodeRef random_uniform(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef random_normal(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef random_exponential(const Shape& shape, DType dtype, int64_t source = 0);
NodeRef permutation(int64_t length, int64_t source = 0);
// Parameters broadcast to the shape. int64, low and last included; `low` if it is above last.
NodeRef random_integers(const NodeRef& low, const NodeRef& last, const Shape& shape,
                        int64_t source = 0);
// A draw of scale 1; or its logarithm, which is finite even if the draw itself rounds to 0.
NodeRef random_gamma(const NodeRef& concentration, const Shape& shape, DType dtype, bool log,
                     int64_t source = 0);
// Whole numbers in float64; NaN for invalid parameters.
NodeRef random_poisson(const NodeRef& mean, const Shape& shape, int64_t source = 0);
NodeRef random_binomial(const NodeRef& n, const NodeRef& p, const Shape& shape, int64_t source = 0);

// --- composites (ops/composite.cpp): functions made of other operations, with a name of their own
NodeRef mean(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef prod(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef logsumexp(const NodeRef& x, const Axes& axes, bool keepdims);
NodeRef softmax(const NodeRef& x, int64_t axis);
NodeRef log_softmax(const NodeRef& x, int64_t axis);
// −Σ labels · log_softmax(logits) along the last axis; a label of 0 contributes exactly 0.
NodeRef softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels);
// The same with one integer label per row; a label out of range raises IndexError at run time.
NodeRef sparse_softmax_cross_entropy(const NodeRef& logits, const NodeRef& labels);
NodeRef one_hot(const NodeRef& indices, int64_t depth, DType dtype, int64_t axis);

// --- custom gradients (ops/custom.cpp)
// New nodes with the values of `inside`, whose gradient is computed by `rule` for `inputs`.
std::vector<NodeRef> custom(std::span<const NodeRef> inside, std::span<const NodeRef> inputs,
                            const Ref<Rule>& rule);

// --- callbacks (ops/create.cpp)
NodeRef callback(std::span<const NodeRef> inputs, DType dtype, const Shape& shape,
                 const Ref<CallbackOrigin>& function);

// --- rules and names (ops/opdef.cpp)
struct VjpCall {
  Node* node;                     // the expressions may use it and its inputs
  NodeRef g;                      // cotangent of the node
  std::span<const uint8_t> live;  // per input, a Wanted: whether its cotangent is needed
};
enum Wanted : uint8_t {
  kUnwanted,
  kWanted,
  kWantedMasked,  // needed, with its structural zeros
};
using Vjp = void (*)(const VjpCall& call, Cotangent* out);

Vjp vjp_of(Op op);  // null: not differentiable

// Every name that an override may use, sorted.
std::vector<std::string> op_names();
// Those of operations whose results are integers or bool, so that they have no gradient.
std::vector<std::string> discrete_op_names();
// True for the name of an operation or a composite.
bool is_operation_name(const std::string& name);
// The name of a node in messages: that of its op, its composite or its custom rule.
const char* display_name(const Node* node);

}  // namespace pullback
