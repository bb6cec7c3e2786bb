// The gradient rules of the scans and of sort, for the table in opdef.cpp.
#pragma once

#include "ops/ops.h"

namespace pullback {

void cumulative_sum_vjp(const VjpCall& call, Cotangent* out);
void cumulative_prod_vjp(const VjpCall& call, Cotangent* out);
void cumulative_extremum_vjp(const VjpCall& call, Cotangent* out);
void linear_recurrence_vjp(const VjpCall& call, Cotangent* out);
void sort_vjp(const VjpCall& call, Cotangent* out);

// g in the order of the sort's input.
NodeRef unsorted(const NodeRef& g, const Node* sort);

}  // namespace pullback
