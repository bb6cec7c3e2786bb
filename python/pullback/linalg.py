"""Products of matrices, and their diagonals: `pb.linalg`."""

from ._array.products import (
    diagonal,
    dot,
    inner,
    matmul,
    matrix_transpose,
    outer,
    tensordot,
    trace,
    vdot,
    vecdot,
)

__all__ = [
    "diagonal",
    "dot",
    "inner",
    "matmul",
    "matrix_transpose",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
]
