"""Random initial values whose variance depends on the number of inputs and outputs of a layer.

The last axis of a shape counts the outputs of a layer, the axis before its inputs, as in `x @ w`.
The axes before these two, for example of a convolution, are the positions at which each input and
output exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Literal

from .._base.checks import choice, number
from .._core import Tensor
from .._typing import DType, Shape
from ._distributions import axis_sizes, normal, truncated_normal, uniform

MODES = ("fan_in", "fan_out", "fan_avg")
DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """Return the number of inputs and outputs of a layer with a parameter of this shape."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    field = prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def scaled(shape: Sequence[int], scale: float, mode: str, distribution: str) -> float:
    """Return the width of a distribution with the variance scale / n.

    The width is the limit of a uniform distribution, and the standard deviation of the others.
    """
    inputs, outputs = fans(shape)
    n = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
    variance = scale / max(1.0, n)
    if distribution == "uniform":
        return sqrt(3 * variance)
    # The truncation reduces the variance.
    return sqrt(variance) / (_CUT if distribution == "truncated_normal" else 1)


_CUT = 0.87962566103423978  # standard deviation of the standard normal truncated at 2


def variance_scaling(
    shape: Shape,
    scale: float = 1.0,
    mode: Literal["fan_in", "fan_out", "fan_avg"] = "fan_in",
    distribution: Literal["truncated_normal", "normal", "uniform"] = "truncated_normal",
    dtype: DType = None,
) -> Tensor:
    """Draw from a distribution of mean 0 and variance scale / n.

    The number n depends on `mode`. The last axis of `shape` counts the outputs of a layer and the
    axis before counts its inputs. Each is multiplied by the sizes of the other axes.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    scale : float, optional
        Positive factor of the variance. Default: 1.
    mode : {"fan_in", "fan_out", "fan_avg"}, optional
        Meaning of n: the number of inputs, the number of outputs, or their mean. Default: "fan_in".
    distribution : {"truncated_normal", "normal", "uniform"}, optional
        Distribution; the truncated one ends at two standard deviations of the normal distribution.
        Default: "truncated_normal".
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, `scale` is not a number, or `dtype` is not
        floating.
    ValueError
        If `scale` is not positive, `mode` or `distribution` is unknown, or `shape` has a negative
        size.

    Examples
    --------
    >>> pb.nn.initializers.variance_scaling((784, 128), 2.0, "fan_avg", "uniform").shape
    (784, 128)
    """
    who = "variance_scaling"
    size = number(scale, who, "scale")
    if size <= 0:
        raise ValueError(f"{who}: expected a number > 0 for scale, got {size}")
    fan = choice(mode, MODES, who, "mode")
    kind = choice(distribution, DISTRIBUTIONS, who, "distribution")
    width = scaled(axis_sizes(shape, who), size, fan, kind)
    if kind == "uniform":
        return uniform(shape, -width, width, dtype)
    draw = normal if kind == "normal" else truncated_normal
    return draw(shape, 0.0, width, dtype)


def glorot_uniform(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a uniform distribution of variance 1 / n.

    Here n is the mean number of inputs and outputs. The function is equivalent to
    `variance_scaling` with scale 1, mode "fan_avg" and distribution "uniform".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", 2010.

    Examples
    --------
    >>> pb.nn.initializers.glorot_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(axis_sizes(shape, "glorot_uniform"), 1.0, "fan_avg", "uniform", dtype)


def glorot_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a truncated normal distribution of variance 1 / n.

    Here n is the mean number of inputs and outputs; the normal distribution is truncated at two
    standard deviations. The function is equivalent to `variance_scaling` with scale 1, mode
    "fan_avg" and distribution "truncated_normal".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] X. Glorot, Y. Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", 2010.

    Examples
    --------
    >>> pb.nn.initializers.glorot_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(
        axis_sizes(shape, "glorot_normal"), 1.0, "fan_avg", "truncated_normal", dtype
    )


def he_uniform(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a uniform distribution of variance 2 / n.

    Here n is the number of inputs. The function is equivalent to `variance_scaling` with scale 2,
    mode "fan_in" and distribution "uniform".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] K. He et al., "Delving deep into rectifiers", 2015.

    Examples
    --------
    >>> pb.nn.initializers.he_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(axis_sizes(shape, "he_uniform"), 2.0, "fan_in", "uniform", dtype)


def he_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a truncated normal distribution of variance 2 / n.

    Here n is the number of inputs; the normal distribution is truncated at two standard deviations.
    The function is equivalent to `variance_scaling` with scale 2, mode "fan_in" and distribution
    "truncated_normal".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] K. He et al., "Delving deep into rectifiers", 2015.

    Examples
    --------
    >>> pb.nn.initializers.he_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(
        axis_sizes(shape, "he_normal"), 2.0, "fan_in", "truncated_normal", dtype
    )


def lecun_uniform(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a uniform distribution of variance 1 / n.

    Here n is the number of inputs. The function is equivalent to `variance_scaling` with scale 1,
    mode "fan_in" and distribution "uniform".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] Y. LeCun et al., "Efficient backprop", 1998.

    Examples
    --------
    >>> pb.nn.initializers.lecun_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(axis_sizes(shape, "lecun_uniform"), 1.0, "fan_in", "uniform", dtype)


def lecun_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draw from a truncated normal distribution of variance 1 / n.

    Here n is the number of inputs; the normal distribution is truncated at two standard deviations.
    The function is equivalent to `variance_scaling` with scale 1, mode "fan_in" and distribution
    "truncated_normal".

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    dtype : dtype_like, optional
        Floating dtype. Default: the default floating dtype.

    Returns
    -------
    Tensor
        The given shape and dtype.

    Raises
    ------
    TypeError
        If `shape` does not consist of integers, or `dtype` is not floating.
    ValueError
        If `shape` has a negative size.

    References
    ----------
    .. [1] Y. LeCun et al., "Efficient backprop", 1998.

    Examples
    --------
    >>> pb.nn.initializers.lecun_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(
        axis_sizes(shape, "lecun_normal"), 1.0, "fan_in", "truncated_normal", dtype
    )
