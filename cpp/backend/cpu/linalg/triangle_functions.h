// The square root and the logarithm of an upper triangle t = zᴴ a z (the Schur factor of a matrix),
// column-major.
#pragma once

#include <complex>
#include <cstdint>

namespace pullback {

using Complex = std::complex<double>;

// From the Schur factors of a real matrix, whose t has 2 x 2 blocks, to factors with a triangle.
void triangle_of_blocks(const double* real_t, const double* real_z, int64_t n, Complex* t,
                        Complex* z);

// r with r r = t. Returns false if none exists, or if it is not unique: two eigenvalues are 0.
bool square_root_of_triangle(const Complex* t, int64_t n, Complex* r);

// l with e^l = t. Returns false if an eigenvalue is 0. `work`: memory for 2 n² numbers.
bool logarithm_of_triangle(const Complex* t, int64_t n, Complex* l, Complex* work);

}  // namespace pullback
