"""Initial values that are orthogonal or identity matrices."""

from __future__ import annotations

from math import prod

from .. import _core
from .._base.checks import floating, number
from .._core import Tensor
from .._numpy.creation import eye as _eye
from .._numpy.diagonals import diagonal as _diagonal
from .._typing import DType, Shape
from ._distributions import axis_sizes


def orthogonal(shape: Shape, gain: float = 1.0, dtype: DType = None) -> Tensor:
    """Draw a random matrix with orthogonal rows or columns of norm `gain`.

    All such matrices are equally likely. With more than two axes, the axes before the last are
    combined into rows.

    Parameters
    ----------
    shape : sequence of int
        Shape of the result, with at least two axes.
    gain : float, optional
        Norm of the orthogonal rows or columns. Default: 1.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `gain` is not a number, or `dtype` is not floating.
    ValueError
        If `shape` has fewer than two axes.

    References
    ----------
    .. [1] A. M. Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear
       neural networks", 2014.

    Examples
    --------
    >>> w = pb.nn.initializers.orthogonal((4, 2))
    >>> bool(pb.allclose(w.T @ w, pb.eye(2), atol=1e-6))
    True
    """
    lengths = axis_sizes(shape, "orthogonal")
    if len(lengths) < 2:
        raise ValueError(f"orthogonal: expected at least two axes for shape, got {lengths}")
    rows, columns = prod(lengths[:-1]), lengths[-1]
    drawn = _core.random_normal((max(rows, columns), min(rows, columns)), dtype)
    q, r = _core.qr(drawn, False)
    diagonal = _diagonal(r)
    # The QR decomposition with a positive diagonal is unique.
    q = _core.multiply(q, _core.where(_core.less(diagonal, 0), -1, 1))
    q = q if rows >= columns else _core.transpose(q, None)
    return _core.multiply(_core.reshape(q, lengths), number(gain, "orthogonal", "gain"))


def identity(shape: Shape, gain: float = 1.0, dtype: DType = None) -> Tensor:
    """Return the identity matrix times `gain`.

    Parameters
    ----------
    shape : sequence of two int
        Shape of the result, not necessarily square.
    gain : float, optional
        Value on the diagonal. Default: 1.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `gain` is not a number, or `dtype` is not a
        floating dtype.
    ValueError
        If `shape` does not have two axes.

    Examples
    --------
    >>> pb.nn.initializers.identity((2, 3))
    Tensor([[1., 0., 0.],
            [0., 1., 0.]], dtype=float32)
    """
    lengths = axis_sizes(shape, "identity")
    if len(lengths) != 2:
        raise ValueError(f"identity: expected two axes for shape, got {lengths}")
    matrix = floating(_eye(lengths[0], lengths[1], dtype=dtype), "identity", "fc")
    return _core.multiply(matrix, number(gain, "identity", "gain"))
