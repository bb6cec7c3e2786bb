"""Tests whether numbers are equal up to a tolerance."""

from __future__ import annotations

from .. import _core
from .._base.checks import flag
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["allclose", "isclose"]


def isclose(
    a: TensorLike,
    b: TensorLike,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Test whether |a - b| is at most atol + rtol |b|, elementwise.

    An infinity is close to itself only. The result has no gradient.

    Parameters
    ----------
    a, b : array_like
        Operands of numeric dtypes. Their shapes broadcast.
    rtol : float, optional
        Tolerance relative to `b`. Default: 1e-5.
    atol : float, optional
        Absolute tolerance. Default: 1e-8.
    equal_nan : bool, optional
        If True, NaN is close to NaN. Default: False.

    Returns
    -------
    Tensor
        The broadcast shape; dtype bool.

    Raises
    ------
    TypeError
        If `equal_nan` is not a bool, or both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    allclose

    Examples
    --------
    >>> pb.isclose([1.0, 2.0], [1.0000001, 2.1])
    Tensor([ True, False], dtype=bool)
    """
    if equal_nan is not False:
        equal_nan = flag(equal_nan, "isclose", "equal_nan")
    x, y = _core.operands([a, b], "isclose")
    minus = _core.subtract if "c" in (x.dtype.kind, y.dtype.kind) else _core.difference
    apart = _core.abs(minus(x, y))
    # The absolute value of the smallest integer overflows its dtype.
    size = _core.abs(_core.cast(y, "float64") if y.dtype.kind in "iu" else y)
    near = _core.less_equal(apart, _core.add(atol, _core.multiply(rtol, size)))
    near = _core.logical_and(near, _core.isfinite(y))
    same = _core.same(x, y) if equal_nan else _core.equal(x, y)
    return _core.logical_or(near, same)


def allclose(
    a: TensorLike,
    b: TensorLike,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Test whether all entries of `a` and `b` are close, as defined by `isclose`.

    The result has no gradient.

    Parameters
    ----------
    a, b : array_like
        Operands of numeric dtypes. Their shapes broadcast.
    rtol : float, optional
        Tolerance relative to `b`. Default: 1e-5.
    atol : float, optional
        Absolute tolerance. Default: 1e-8.
    equal_nan : bool, optional
        If True, NaN is close to NaN. Default: False.

    Returns
    -------
    Tensor
        A scalar of dtype bool.

    Raises
    ------
    TypeError
        If `equal_nan` is not a bool, or both operands are of dtype bool.
    ValueError
        If the shapes do not broadcast.

    See Also
    --------
    isclose

    Examples
    --------
    >>> bool(pb.allclose([1.0, 2.0], [1.0, 2.0]))
    True
    """
    if equal_nan is not False:
        equal_nan = flag(equal_nan, "allclose", "equal_nan")
    return _core.all(isclose(a, b, rtol, atol, equal_nan))
