"""Tests whether arrays are equal, exactly or up to a tolerance."""

from __future__ import annotations

from numpy import broadcast_shapes

from .. import _core
from .._base.checks import flag
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["allclose", "array_equal", "array_equiv", "isclose"]


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


def array_equal(a1: TensorLike, a2: TensorLike, equal_nan: bool = False) -> Tensor:
    """Test whether two arrays have the same shape and equal elements.

    The result has no gradient.

    Parameters
    ----------
    a1, a2 : array_like
        Arrays of any shape and dtype.
    equal_nan : bool, optional
        If True, NaN is equal to NaN. Default: False.

    Returns
    -------
    Tensor
        A scalar of dtype bool.

    Raises
    ------
    TypeError
        If `equal_nan` is not a bool.

    See Also
    --------
    allclose, array_equiv

    Examples
    --------
    >>> bool(pb.array_equal([1.0, 2.0], [1.0, 2.0]))
    True
    >>> bool(pb.array_equal([1.0, 1.0], 1.0))
    False
    """
    if equal_nan is not False:
        equal_nan = flag(equal_nan, "array_equal", "equal_nan")
    x, y = (_core.constant(a, who="array_equal") for a in (a1, a2))
    if x.shape != y.shape:
        return _core.full((), False, "bool")
    return _core.all(_core.same(x, y) if equal_nan else _core.equal(x, y))


def array_equiv(a1: TensorLike, a2: TensorLike) -> Tensor:
    """Test whether an array broadcasts to the shape of the other and their elements are equal.

    The result has no gradient.

    Parameters
    ----------
    a1, a2 : array_like
        Arrays of any shape and dtype.

    Returns
    -------
    Tensor
        A scalar of dtype bool; False if the shapes do not broadcast.

    See Also
    --------
    array_equal

    Examples
    --------
    >>> bool(pb.array_equiv([1.0, 1.0], 1.0))
    True
    """
    x, y = (_core.constant(a, who="array_equiv") for a in (a1, a2))
    try:
        broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return _core.full((), False, "bool")
    return _core.all(_core.equal(x, y))
