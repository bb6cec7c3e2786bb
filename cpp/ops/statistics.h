// Formulas of the public functions that training loops call: variances, normalisations, Euclidean
// norms. The functions of Python check the arguments and name the results (composites).
#pragma once

#include "ops/ops.h"

namespace pullback {

// In float64, divided by the number of elements minus `correction`; NaN if that is not positive.
// Only elements where `mask` is true count, if there is one; it has the shape of x.
NodeRef variance(const NodeRef& x, const std::vector<int64_t>& axes, double correction,
                 bool keepdims, const NodeRef& mask);
// The square root of a variance in another dtype. The gradient of 0 is 0.
NodeRef deviation(const NodeRef& variance, DType dtype);

// Floats with mean 0 and variance 1 along axes, up to epsilon.
NodeRef normalize(const NodeRef& x, const std::vector<int64_t>& axes, double epsilon);
// Floats with mean square 1.
NodeRef normalize_square(const NodeRef& x, const std::vector<int64_t>& axes, double epsilon);

// The Euclidean norm of real floats. It is finite if it can be represented, and its gradient at 0
// is 0.
NodeRef euclidean_norm(const NodeRef& x, const Axes& axes, bool keepdims);
void euclidean_norm_vjp(const VjpCall& call, Cotangent* out);
// That of all entries of tensors of one dtype.
NodeRef euclidean_norm(const std::vector<NodeRef>& xs);
// The largest power of two up to the largest of some absolute values: a division by it is exact.
NodeRef power_of_two_scale(const NodeRef& sizes, const Axes& axes);

}  // namespace pullback
