"""Linear algebra: equations, factors, norms and products of matrices, `pb.linalg`.

The last two axes are matrices, the axes before a batch; each matrix is one thread's. Integers
become the default float, float16 and bfloat16 are computed in float32. What is no matrix, or not
square where it has to be, is a `numpy.linalg.LinAlgError`, and so is one that has no such factors,
when it is computed: it names the place in the batch. Derivatives of every order exist in both
directions, of complex matrices too; where they are undefined they are NaN.

Where eigenvalues or singular values are equal, their vectors are any basis of a space, and have no
derivatives; the values' own exist as long as a loss treats equal ones alike. Values count as equal
whose difference is no more than the rounding of a decomposition, n ε times the norm. What a
gradient by vectors makes of them is said by `degenerate`:

"nan": it is NaN.
"mask": what equal values' vectors say of each other is left out. That is right where a loss depends
    on the space that they span alone, as the projector on it does; it is wrong for a function of a
    matrix, as Σ f(w) v vᴴ.
"error": a LinAlgError, when it is computed.
"""

from numpy.linalg import LinAlgError

from .._numpy.diagonals import kron
from .._numpy.products import dot, inner, matmul, matrix_transpose, outer, tensordot, vdot, vecdot
from ._decompositions import cholesky, eig, eigh, eigvals, eigvalsh, lu, qr, svd, svdvals
from ._diagonals import diagonal, trace
from ._iterative import cg, gmres
from ._least_squares import lstsq, pinv
from ._lu import lu_factor, lu_solve
from ._matrix_functions import expm, logm, solve_sylvester, sqrtm
from ._norms import cond, cross, matrix_norm, matrix_rank, norm, vector_norm
from ._solve import cho_solve, det, inv, matrix_power, multi_dot, slogdet, solve, solve_triangular
from ._structured import block_diag, khatri_rao, solve_banded, toeplitz, tridiagonal_solve
from ._tensor_equations import tensorinv, tensorsolve

__all__ = [
    "LinAlgError",
    "block_diag",
    "cg",
    "cho_solve",
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "dot",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "expm",
    "gmres",
    "inner",
    "inv",
    "khatri_rao",
    "kron",
    "logm",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_sylvester",
    "solve_triangular",
    "sqrtm",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "toeplitz",
    "trace",
    "tridiagonal_solve",
    "vdot",
    "vecdot",
    "vector_norm",
]
