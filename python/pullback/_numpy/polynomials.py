"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._base.checks import flag, integer
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .flipping import flip
from .scans import cumprod

__all__ = ["polyval", "vander"]

_MOST_COEFFICIENTS = 10_000  # each is an operation


@composite
def polyval(p: TensorLike, x: TensorLike) -> Tensor:
    """Evaluate a polynomial at points.

    The value is ``p[0] * x**(n - 1) + ... + p[n - 1]``, by Horner's method. Differentiable in `p`
    and `x`.

    Parameters
    ----------
    p : array_like
        Coefficients of shape (n,), the highest power first.
    x : array_like
        Points of any shape.

    Returns
    -------
    Tensor
        Shape of `x`; the promoted dtype.

    Raises
    ------
    ValueError
        If `p` is not a vector, or has more than 10,000 coefficients.

    Examples
    --------
    >>> pb.polyval([1.0, 0.0, -2.0], [0.0, 3.0])
    Tensor([-2.,  7.], dtype=float32)
    """
    coefficients, points = _core.operands([p, x], "polyval")
    if len(coefficients.shape) != 1:
        raise ValueError(
            f"polyval: expected a vector of coefficients for p, got shape {coefficients.shape}"
        )
    if coefficients.shape[0] > _MOST_COEFFICIENTS:
        raise ValueError(
            f"polyval: expected at most {_MOST_COEFFICIENTS} coefficients, got "
            f"{coefficients.shape[0]}"
        )
    value = _core.multiply(points, 0)
    for k in range(coefficients.shape[0]):
        value = _core.add(_core.multiply(value, points), coefficients[k])
    return value


@composite
def vander(x: TensorLike, N: SupportsIndex | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    """Return the powers of the entries of a vector (a Vandermonde matrix).

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Vector of shape (n,).
    N : int, optional
        Number of columns. Default: n.
    increasing : bool, default False
        If True, the powers increase from left to right; otherwise they decrease.

    Returns
    -------
    Tensor
        Shape (n, N); the dtype of `x`.

    Raises
    ------
    ValueError
        If `x` is not a vector or `N` is negative.
    TypeError
        If `N` is not an integer or `increasing` is not a bool.

    Examples
    --------
    >>> pb.vander([1.0, 2.0, 3.0], 3)
    Tensor([[1., 1., 1.],
            [4., 2., 1.],
            [9., 3., 1.]], dtype=float32)
    """
    x = _core.constant(x, who="vander")
    if len(x.shape) != 1:
        raise ValueError(f"vander: expected a vector for x, got shape {x.shape}")
    count = x.shape[0] if N is None else integer(N, "vander", "N")
    if count < 0:
        raise ValueError(f"vander: expected N >= 0, got {count}")
    upward = flag(increasing, "vander", "increasing")
    if x.dtype.kind == "b":
        x = _core.cast(x, "int64")
    rows = x.shape[0]
    first = _core.full((rows, min(count, 1)), 1, x.dtype)
    others = _core.broadcast_to(_core.reshape(x, (rows, 1)), (rows, max(count - 1, 0)))
    powers = cumprod(_core.concat([first, others], 1), axis=1)
    return powers if upward else flip(powers, 1)
