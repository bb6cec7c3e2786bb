// Functions of matrices, Sylvester equations, and banded systems.
//
// All operands have one dtype, a float or complex compute dtype, and the same batch axes; the
// public functions broadcast and cast before.
#pragma once

#include <span>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

NodeRef expm(const NodeRef& a);
// Principal values. Real for a real matrix; NaN if no real one exists.
NodeRef logm(const NodeRef& a);
NodeRef sqrtm(const NodeRef& a);

// x with a x + x b = c. `who`, for errors, must live as long as the process.
NodeRef solve_sylvester(const NodeRef& a, const NodeRef& b, const NodeRef& c,
                        const char* who = "solve_sylvester");

// x with a x = b, or aᴴ x = b. Row r of `bands` has the entries a[j + r - above, j]; there are
// `below` rows below the row of the diagonal and `above` rows above it.
NodeRef banded_solve(const NodeRef& bands, const NodeRef& b, int64_t below,
                     Transposition transposition, const char* who = "solve_banded");

// Swaps row i with row positions[i], for i from the first to the last, or in the opposite order.
NodeRef swapped_rows(const NodeRef& x, const NodeRef& positions, bool backwards);

// x with op(a) x = b, with the factors of lu.
NodeRef lu_solve(const NodeRef& packed, const NodeRef& swaps, const NodeRef& b,
                 Transposition transposition);

// The cotangents of the inputs of one of these operations; `y` is its output.
std::vector<NodeRef> matrix_function_cotangents(const NodeRef& operation, const NodeRef& y,
                                                const NodeRef& g);

}  // namespace pullback
