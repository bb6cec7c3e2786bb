"""`linalg.diagonal` and `linalg.trace`, which take the last two axes as matrices.

The functions of these names in the main namespace take the first two axes, as in NumPy.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import check_matrices, integer
from .._base.composite import composite
from .._core import Tensor
from .._numpy import diagonals, reductions
from .._typing import DType, TensorLike


@composite
def diagonal(x: TensorLike, /, *, offset: SupportsIndex = 0) -> Tensor:
    """Return a diagonal of each matrix of a stack.

    Parameters
    ----------
    x : array_like
        Matrices: shape (..., m, n).
    offset : int, optional
        Which diagonal: above the main one if positive.

    Returns
    -------
    Tensor
        Shape (..., k) with the k entries of the diagonal as the last axis.

    Raises
    ------
    LinAlgError
        If `x` has less than two axes.

    Examples
    --------
    >>> pb.linalg.diagonal([[[1.0, 2.0], [3.0, 4.0]]])
    Tensor([[1., 4.]], dtype=float32)
    """
    return _entries(x, offset, "diagonal")


@composite
def trace(x: TensorLike, /, *, offset: SupportsIndex = 0, dtype: DType = None) -> Tensor:
    """Compute the sum of a diagonal of each matrix of a stack.

    Parameters
    ----------
    x : array_like
        Matrices: shape (..., m, n).
    offset : int, optional
        Which diagonal: above the main one if positive.
    dtype : dtype, optional
        Of the sum; by default that of `sum`.

    Returns
    -------
    Tensor
        Shape (...).

    Raises
    ------
    LinAlgError
        If `x` has less than two axes.

    Examples
    --------
    >>> pb.linalg.trace([[[1.0, 2.0], [3.0, 4.0]]])
    Tensor([5.], dtype=float32)
    """
    return reductions.sum(_entries(x, offset, "trace"), -1, dtype=dtype)


def _entries(x: TensorLike, offset: SupportsIndex, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    check_matrices(x, who)
    return diagonals.diagonal(x, integer(offset, who, "offset"), -2, -1)
