"""`tf.linalg`: products, norms and diagonals under TensorFlow's later names."""

from .array_ops import eye
from .clip import global_norm
from .further_arrays import matrix_band_part as band_part
from .linear_ops import cross, einsum, matrix_transpose, norm, tensordot, trace
from .linear_ops import matrix_diag as diag
from .linear_ops import matrix_diag_part as diag_part
from .math_ops import matmul
from .names import absent
from .nn import l2_normalize

__all__ = [
    "band_part", "cross", "diag", "diag_part", "einsum", "eye", "global_norm", "l2_normalize",
    "matmul", "matrix_transpose", "norm", "tensordot", "trace",
]  # fmt: skip
__getattr__ = absent(__name__)
