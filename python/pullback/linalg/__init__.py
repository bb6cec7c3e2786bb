"""Linear algebra, `pb.linalg`: equations, decompositions, norms and products of matrices.

The last two axes are matrices, the leading axes a batch; each matrix is computed by one thread.
Integers become the default floating dtype; float16 and bfloat16 are computed in float32. Input that
is not a matrix, or not square where required, raises `numpy.linalg.LinAlgError`. So does a matrix
that has no such decomposition, when the result is computed; the message contains its position in
the batch. Derivatives of every order exist in forward and reverse mode, of complex matrices too; if
they are undefined, they are NaN.

The vectors of equal eigenvalues or singular values are any basis of a space and have no
derivatives. The values themselves have derivatives if a loss treats equal values alike. Values
count as equal if their difference is at most the rounding error of the decomposition, n ε times the
norm. The parameter `degenerate` selects the gradient with respect to the vectors:

"nan": the gradient is NaN.
"mask": the terms between vectors of equal values are omitted. This is correct if the loss depends
    only on the space that the vectors span, such as the projector on it. It is wrong for a function
    of a matrix such as Σ f(w) v vᴴ.
"error": a LinAlgError is raised when the gradient is computed.
"""

from numpy.linalg import LinAlgError

from .._numpy.diagonals import kron
from .._numpy.products import dot, inner, matmul, matrix_transpose, outer, tensordot, vdot, vecdot
from ._decompositions import cholesky, lu, qr, svd, svdvals
from ._diagonals import diagonal, trace
from ._eigenvalues import eig, eigh, eigvals, eigvalsh
from ._expm_multiply import expm_multiply
from ._funm import funm
from ._iterative import cg, gmres, minres
from ._ldl import ldl
from ._least_squares import lstsq, pinv
from ._lsqr import lsqr
from ._lu import lu_factor, lu_solve
from ._matrix_equations import (
    solve_continuous_are,
    solve_continuous_lyapunov,
    solve_discrete_are,
    solve_discrete_lyapunov,
)
from ._matrix_functions import expm, logm, polar, solve_sylvester, sqrtm
from ._norms import cond, cross, matrix_norm, matrix_rank, norm, vector_norm
from ._schur import schur
from ._selected_eigenvalues import eigsh, lobpcg
from ._solve import cho_solve, det, inv, matrix_power, multi_dot, slogdet, solve, solve_triangular
from ._sparse import sparse_solve
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
    "eigsh",
    "eigvals",
    "eigvalsh",
    "expm",
    "expm_multiply",
    "funm",
    "gmres",
    "inner",
    "inv",
    "khatri_rao",
    "kron",
    "ldl",
    "lobpcg",
    "logm",
    "lsqr",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_solve",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "minres",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "polar",
    "qr",
    "schur",
    "slogdet",
    "solve",
    "solve_banded",
    "solve_continuous_are",
    "solve_continuous_lyapunov",
    "solve_discrete_are",
    "solve_discrete_lyapunov",
    "solve_sylvester",
    "solve_triangular",
    "sparse_solve",
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
