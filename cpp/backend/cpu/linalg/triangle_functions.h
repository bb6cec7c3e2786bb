// The square root and the logarithm of an upper triangle, which Schur's factors make of a matrix.
// Columns one after the other.
#pragma once

#include <complex>
#include <cstdint>

namespace pullback {

using Complex = std::complex<double>;

// From Schur's factors of a real matrix, whose t has blocks of two rows, those with a triangle.
void triangle_of_blocks(const double* real_t, const double* real_z, int64_t n, Complex* t,
                        Complex* z);

// r with r r = t. False where there is none, or no single one: two eigenvalues are 0.
bool square_root_of_triangle(const Complex* t, int64_t n, Complex* r);

// l with e to the power of l = t. False where an eigenvalue is 0. `work`: room for 2 n² numbers.
bool logarithm_of_triangle(const Complex* t, int64_t n, Complex* l, Complex* work);

}  // namespace pullback
