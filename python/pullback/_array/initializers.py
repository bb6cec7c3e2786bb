"""Initial values of parameters, as functions of a shape and a dtype.

The last axis of a shape counts the outputs of a layer, the axis before its inputs, as in `x @ w`.
The axes before these two, as of a convolution, are the positions at which each input and output
exists.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

from .. import _core, random
from .._core import Tensor
from .._typing import DType, Shape, TensorLike
from .arguments import choice, floating, integers, number
from .creation import eye as _eye
from .products import diagonal as _diagonal

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


def _lengths(shape: Shape, who: str) -> tuple[int, ...]:
    return tuple(integers(shape, who))


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
    return _core.broadcast_to(given, _lengths(shape, "constant"))


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
        If `shape` has a negative size.

    Examples
    --------
    >>> pb.nn.initializers.uniform((2, 3), -1.0, 1.0).shape
    (2, 3)
    """
    first, last = number(low, "uniform"), number(high, "uniform")
    return _core.add(_core.multiply(random.uniform(shape, dtype), last - first), first)


def normal(shape: Shape, mean: float = 0.0, stddev: float = 1.0, dtype: DType = None) -> Tensor:
    """Draw from the normal distribution.

    Parameters
    ----------
    shape : int or sequence of int
        Shape of the result.
    mean : float, optional
        Mean. Default: 0.
    stddev : float, optional
        Standard deviation. Default: 1.
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
        If `shape` has a negative size.

    Examples
    --------
    >>> pb.nn.initializers.normal((2, 3), stddev=0.01).shape
    (2, 3)
    """
    scale, shift = number(stddev, "normal"), number(mean, "normal")
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
        Standard deviation before the truncation. Default: 1.
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
        If `shape` has a negative size.

    Examples
    --------
    >>> bool(pb.all(pb.abs(pb.nn.initializers.truncated_normal(1000)) <= 2))
    True
    """
    scale, shift = number(stddev, "truncated_normal"), number(mean, "truncated_normal")
    drawn = random.truncated_normal(-2.0, 2.0, shape, dtype)
    return _core.add(_core.multiply(drawn, scale), shift)


def variance_scaling(
    shape: Shape,
    scale: float = 1.0,
    mode: str = "fan_in",
    distribution: str = "truncated_normal",
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
    size = number(scale, who)
    if size <= 0:
        raise ValueError(f"{who}: scale must be above 0, got {size}")
    fan = choice(mode, MODES, who, "mode")
    kind = choice(distribution, DISTRIBUTIONS, who, "distribution")
    width = scaled(_lengths(shape, who), size, fan, kind)
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
    return variance_scaling(shape, 1.0, "fan_avg", "uniform", dtype)


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
    return variance_scaling(shape, 1.0, "fan_avg", "truncated_normal", dtype)


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
    return variance_scaling(shape, 2.0, "fan_in", "uniform", dtype)


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
    return variance_scaling(shape, 2.0, "fan_in", "truncated_normal", dtype)


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
    return variance_scaling(shape, 1.0, "fan_in", "uniform", dtype)


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
    return variance_scaling(shape, 1.0, "fan_in", "truncated_normal", dtype)


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
    lengths = _lengths(shape, "orthogonal")
    if len(lengths) < 2:
        raise ValueError(f"orthogonal: expected two axes or more, got shape {lengths}")
    rows, columns = prod(lengths[:-1]), lengths[-1]
    drawn = _core.random_normal((max(rows, columns), min(rows, columns)), dtype)
    q, r = _core.qr(drawn, False)
    diagonal = _diagonal(r)
    # The QR decomposition with a positive diagonal is unique.
    q = _core.multiply(q, _core.where(_core.less(diagonal, 0), -1, 1))
    q = q if rows >= columns else _core.transpose(q, None)
    return _core.multiply(_core.reshape(q, lengths), number(gain, "orthogonal"))


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
    lengths = _lengths(shape, "identity")
    if len(lengths) != 2:
        raise ValueError(f"identity: expected two axes, got shape {lengths}")
    matrix = floating(_eye(lengths[0], lengths[1], dtype=dtype), "identity", "fc")
    return _core.multiply(matrix, number(gain, "identity"))
