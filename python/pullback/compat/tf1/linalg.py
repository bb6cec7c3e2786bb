"""`tf.linalg`: products, norms and diagonals under TensorFlow's later names."""

from ._ops.array_ops import eye
from ._ops.clip_ops import global_norm
from ._ops.linear_ops import cross, einsum, matrix_transpose, norm, tensordot, trace
from ._ops.linear_ops import matrix_diag as diag
from ._ops.linear_ops import matrix_diag_part as diag_part
from ._ops.math_ops import matmul
from ._ops.matrix_ops import cholesky, cholesky_solve, logdet, qr, slogdet, svd
from ._ops.matrix_ops import matrix_determinant as det
from ._ops.matrix_ops import matrix_inverse as inv
from ._ops.matrix_ops import matrix_set_diag as set_diag
from ._ops.matrix_ops import matrix_solve as solve
from ._ops.matrix_ops import matrix_triangular_solve as triangular_solve
from ._ops.matrix_ops import self_adjoint_eig as eigh
from ._ops.matrix_ops import self_adjoint_eigvals as eigvalsh
from ._ops.slicing_ops import matrix_band_part as band_part
from .nn import l2_normalize

__all__ = [
    "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh",
    "eigvalsh", "einsum", "eye", "global_norm", "inv", "l2_normalize", "logdet", "matmul",
    "matrix_transpose", "norm", "qr", "set_diag", "slogdet", "solve", "svd", "tensordot", "trace",
    "triangular_solve",
]  # fmt: skip
