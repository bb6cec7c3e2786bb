"""Initial values that are constant or drawn from a distribution with given parameters."""

from __future__ import annotations

from .. import _core, random
from .._base.checks import integers, number
from .._base.domains import NON_NEGATIVE, check_domain
from .._core import Tensor
from .._typing import DType, Shape, TensorLike


def axis_sizes(shape: Shape, who: str) -> tuple[int, ...]:
    return tuple(integers(shape, who, "shape"))


def constant(shape: Shape, value: TensorLike = 0.0, dtype: DType = None) -> Tensor:
    """Return a tensor filled with a value.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    value : array_like, optional
        A number, or values that broadcast to `shape`. Default: 0.
    dtype : dtype_like, optional
        Dtype of the result. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is unknown.
    ValueError
        If `value` does not broadcast to `shape`, or `shape` has a negative size.

    Examples
    --------
    >>> pb.nn.initializers.constant((2, 2), 0.5)
    Tensor([[0.5, 0.5],
            [0.5, 0.5]], dtype=float32)
    """
    given = _core.constant(value, _core.default_float() if dtype is None else dtype, "constant")
    return _core.broadcast_to(given, axis_sizes(shape, "constant"))


def uniform(shape: Shape, low: float = -0.05, high: float = 0.05, dtype: DType = None) -> Tensor:
    """Draw from the uniform distribution between two bounds.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    low, high : float, optional
        Bounds. Default: -0.05 and 0.05.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, a bound is not a number, or `dtype` is not
        floating.
    ValueError
        If `low` is above `high`, `dtype` cannot represent their difference, or `shape` has a
        negative size.

    Examples
    --------
    >>> pb.nn.initializers.uniform((2, 3), -1.0, 1.0).shape
    (2, 3)
    """
    first, last = number(low, "uniform", "low"), number(high, "uniform", "high")
    return random.uniform(shape, dtype, low=first, high=last)


def normal(shape: Shape, mean: float = 0.0, stddev: float = 1.0, dtype: DType = None) -> Tensor:
    """Draw from the normal distribution.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    mean : float, optional
        Mean. Default: 0.
    stddev : float, optional
        Standard deviation, at least 0. Default: 1.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `mean` or `stddev` is not a number, or `dtype` is
        not floating.
    ValueError
        If `stddev` is negative or `shape` has a negative size.

    Examples
    --------
    >>> pb.nn.initializers.normal((2, 3), stddev=0.01).shape
    (2, 3)
    """
    scale, shift = number(stddev, "normal", "stddev"), number(mean, "normal", "mean")
    check_domain(scale, NON_NEGATIVE, "normal", "stddev")
    return _core.add(_core.multiply(random.normal(shape, dtype), scale), shift)


def truncated_normal(
    shape: Shape, mean: float = 0.0, stddev: float = 1.0, dtype: DType = None
) -> Tensor:
    """Draw from the normal distribution within two standard deviations of its mean.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    mean : float, optional
        Mean. Default: 0.
    stddev : float, optional
        Standard deviation before the truncation, at least 0. Default: 1.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `mean` or `stddev` is not a number, or `dtype` is
        not floating.
    ValueError
        If `stddev` is negative or `shape` has a negative size.

    Examples
    --------
    >>> bool(pb.all(pb.abs(pb.nn.initializers.truncated_normal(1000)) <= 2))
    True
    """
    who = "truncated_normal"
    scale, shift = number(stddev, who, "stddev"), number(mean, who, "mean")
    check_domain(scale, NON_NEGATIVE, who, "stddev")
    drawn = random.truncated_normal(-2.0, 2.0, shape, dtype)
    return _core.add(_core.multiply(drawn, scale), shift)
