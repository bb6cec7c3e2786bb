// Functions of matrices, Sylvester equations, systems of few diagonals. All operands of one dtype,
// a float or complex one that is computed with, and all with the same axes before: what is called
// by users broadcasts and casts.
#pragma once

#include <span>

#include "graph/operation.h"
#include "ops/ops.h"

namespace pullback {

NodeRef expm(const NodeRef& a);
// Principal ones. Of a real matrix real, NaN where it has no such one.
NodeRef logm(const NodeRef& a);
NodeRef sqrtm(const NodeRef& a);

// x with a x + x b = c. `who`, for errors, lives as long as the program.
NodeRef solve_sylvester(const NodeRef& a, const NodeRef& b, const NodeRef& c,
                        const char* who = "solve_sylvester");

// x with a x = b, or aᴴ x = b. Row r of `bands` has the entries of a at (j + r - above, j), where
// `below` rows are below the one of the diagonal and `above` above it.
NodeRef banded_solve(const NodeRef& bands, const NodeRef& b, int64_t below,
                     Transposition transposition, const char* who = "solve_banded");

// Row i swapped with row positions[i], from the first to the last, or backwards.
NodeRef swapped_rows(const NodeRef& x, const NodeRef& positions, bool backwards);

// x with op(a) x = b, by what lu made of a.
NodeRef lu_solve(const NodeRef& packed, const NodeRef& swaps, const NodeRef& b,
                 Transposition transposition);

// Of the inputs of one of these; `y` is what it made.
std::vector<NodeRef> matrix_function_cotangents(const NodeRef& operation, const NodeRef& y,
                                                const NodeRef& g);

}  // namespace pullback
