"""Initial values of parameters: functions of a shape, and of a dtype.

Axes: the last one counts the outputs of a layer, the one before its inputs, as in `x @ w`; those
before, as of a convolution, are the places that each input and output has.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt

from .. import _core, random
from .._core import Tensor
from .._typing import DType, Shape, TensorLike
from .arguments import choice, integers, number
from .creation import eye as _eye
from .products import diagonal as _diagonal

MODES = ("fan_in", "fan_out", "fan_avg")
DISTRIBUTIONS = ("truncated_normal", "normal", "uniform")


def fans(shape: Sequence[int]) -> tuple[int, int]:
    """How many inputs and outputs a layer with such a parameter has."""
    if len(shape) < 2:
        return (shape[0], shape[0]) if shape else (1, 1)
    field = prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


def scaled(shape: Sequence[int], scale: float, mode: str, distribution: str) -> float:
    """What a distribution of the variance scale / n is made with: the limit of "uniform", the
    deviation of the others."""
    inputs, outputs = fans(shape)
    n = {"fan_in": inputs, "fan_out": outputs, "fan_avg": (inputs + outputs) / 2}[mode]
    variance = scale / max(1.0, n)
    if distribution == "uniform":
        return sqrt(3 * variance)
    # What is cut off takes some of the variance with it.
    return sqrt(variance) / (_CUT if distribution == "truncated_normal" else 1)


_CUT = 0.87962566103423978  # the deviation of the normal distribution within two deviations


def _lengths(shape: Shape, who: str) -> tuple[int, ...]:
    return tuple(integers(shape, who))


def constant(shape: Shape, value: TensorLike = 0.0, dtype: DType = None) -> Tensor:
    """One value everywhere; or values that broadcast to the shape.

    >>> pb.nn.initializers.constant((2, 2), 0.5)
    Tensor([[0.5, 0.5],
            [0.5, 0.5]], dtype=float32)
    """
    given = _core.constant(value, _core.default_float() if dtype is None else dtype, "constant")
    return _core.broadcast_to(given, _lengths(shape, "constant"))


def uniform(shape: Shape, low: float = -0.05, high: float = 0.05, dtype: DType = None) -> Tensor:
    """Draws between two bounds, all equally likely.

    >>> pb.nn.initializers.uniform((2, 3), -1.0, 1.0).shape
    (2, 3)
    """
    first, last = number(low, "uniform"), number(high, "uniform")
    return _core.add(_core.multiply(random.uniform(shape, dtype), last - first), first)


def normal(shape: Shape, mean: float = 0.0, stddev: float = 1.0, dtype: DType = None) -> Tensor:
    """Draws from the normal distribution.

    >>> pb.nn.initializers.normal((2, 3), stddev=0.01).shape
    (2, 3)
    """
    scale, shift = number(stddev, "normal"), number(mean, "normal")
    return _core.add(_core.multiply(random.normal(shape, dtype), scale), shift)


def truncated_normal(
    shape: Shape, mean: float = 0.0, stddev: float = 1.0, dtype: DType = None
) -> Tensor:
    """Draws from the normal distribution within two deviations of its mean.

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
    """Draws of mean 0 and variance scale / n, where n is the number of inputs (mode "fan_in"), of
    outputs ("fan_out") or their mean ("fan_avg").

    distribution: "truncated_normal" (within two deviations), "normal" or "uniform".

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
    """Uniform draws of variance 1 / n, n the mean number of inputs and outputs (Glorot and Bengio,
    2010).

    >>> pb.nn.initializers.glorot_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 1.0, "fan_avg", "uniform", dtype)


def glorot_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draws from the normal distribution, cut off at two deviations, of variance 1 / n, n the mean
    number of inputs and outputs (Glorot and Bengio, 2010).

    >>> pb.nn.initializers.glorot_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 1.0, "fan_avg", "truncated_normal", dtype)


def he_uniform(shape: Shape, dtype: DType = None) -> Tensor:
    """Uniform draws of variance 2 / n, n the number of inputs (He et al., 2015).

    >>> pb.nn.initializers.he_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 2.0, "fan_in", "uniform", dtype)


def he_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draws from the normal distribution, cut off at two deviations, of variance 2 / n, n the
    number of inputs (He et al., 2015).

    >>> pb.nn.initializers.he_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 2.0, "fan_in", "truncated_normal", dtype)


def lecun_uniform(shape: Shape, dtype: DType = None) -> Tensor:
    """Uniform draws of variance 1 / n, n the number of inputs (LeCun et al., 1998).

    >>> pb.nn.initializers.lecun_uniform((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 1.0, "fan_in", "uniform", dtype)


def lecun_normal(shape: Shape, dtype: DType = None) -> Tensor:
    """Draws from the normal distribution, cut off at two deviations, of variance 1 / n, n the
    number of inputs (LeCun et al., 1998).

    >>> pb.nn.initializers.lecun_normal((784, 128)).shape
    (784, 128)
    """
    return variance_scaling(shape, 1.0, "fan_in", "truncated_normal", dtype)


def orthogonal(shape: Shape, gain: float = 1.0, dtype: DType = None) -> Tensor:
    """A matrix with orthogonal rows or columns of length `gain`, all equally likely; more axes than
    two are taken as rows (Saxe et al., 2014).

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
    # As a QR decomposition with a positive diagonal is the only one.
    q = _core.multiply(q, _core.where(_core.less(diagonal, 0), -1, 1))
    q = q if rows >= columns else _core.transpose(q, None)
    return _core.multiply(_core.reshape(q, lengths), number(gain, "orthogonal"))


def identity(shape: Shape, gain: float = 1.0, dtype: DType = None) -> Tensor:
    """The identity matrix, times `gain`.

    >>> pb.nn.initializers.identity((2, 3))
    Tensor([[1., 0., 0.],
            [0., 1., 0.]], dtype=float32)
    """
    lengths = _lengths(shape, "identity")
    if len(lengths) != 2:
        raise ValueError(f"identity: expected two axes, got shape {lengths}")
    return _core.multiply(_eye(lengths[0], lengths[1], dtype=dtype), number(gain, "identity"))
