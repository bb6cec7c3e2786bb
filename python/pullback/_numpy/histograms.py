"""Counts in bins."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import choice, flag, integer, is_integer, known_values, made_floating
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["bincount", "digitize", "histogram"]


def nonempty_vector(x: Tensor, who: str, what: str) -> Tensor:
    if len(x.shape) != 1 or x.size == 0:
        raise ValueError(f"{who}: expected a non-empty vector for {what}, got shape {x.shape}")
    return x


def digitize(x: TensorLike, bins: TensorLike, right: bool = False) -> Tensor:
    """Return the index of the bin that contains each element.

    Index i means ``bins[i-1] <= x < bins[i]`` for ascending bins and ``bins[i-1] > x >= bins[i]``
    for descending ones; elements outside get 0 or len(bins).

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    bins : array_like, real
        Edges of the bins in ascending or descending order, a vector that is not empty.
    right : bool, default False
        Let a bin include its upper edge instead of its lower one.

    Returns
    -------
    Tensor
        Shape of `x`; dtype int64.

    Raises
    ------
    ValueError
        If `bins` is empty, not a vector or not monotonic.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.digitize([0.5, 1.0, 9.0], [1.0, 2.0])
    Tensor([0, 1, 2], dtype=int64)
    """
    if right is not False:
        right = flag(right, "digitize", "right")
    x, bins = _core.operands([x, bins], "digitize")
    bins = nonempty_vector(bins, "digitize", "bins")
    falling = _core.greater(bins[0], bins[-1])
    if not _core.is_traced(bins):
        steps = np.diff(bins.numpy().astype(np.float64))
        if np.any(steps < 0) and np.any(steps > 0):
            raise ValueError("digitize: expected increasing or decreasing bins")
    at = _core.searchsorted(_core.where(falling, bins[::-1], bins), x, not right)
    return _core.where(falling, _core.subtract(len(bins), at), at)


@composite
def bincount(
    x: TensorLike, /, weights: TensorLike | None = None, minlength: SupportsIndex = 0
) -> Tensor:
    """Count the occurrences of each nonnegative integer.

    The shape of the result depends on values, so `x` is evaluated at the call. Differentiable in
    `weights`.

    Parameters
    ----------
    x : array_like, int or bool
        Vector of nonnegative integers.
    weights : array_like, optional
        Shape of `x`. Sum the weights of each integer instead of counting.
    minlength : int, default 0
        Smallest size of the result.

    Returns
    -------
    Tensor
        Shape (max(max(x) + 1, `minlength`),); dtype int64, or the dtype of
        `sum(weights)`.

    Raises
    ------
    TypeError
        If `x` is not a vector of integers.
    ValueError
        If an integer or `minlength` is negative, or if the shape of `weights` differs from that of
        `x`.
    OverflowError
        If `minlength` does not fit in int64.
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.bincount([0, 2, 2], minlength=4)
    Tensor([1, 0, 2, 0], dtype=int64)
    """
    x = _core.constant(x, who="bincount")
    least = integer(minlength, "bincount", "minlength")
    if len(x.shape) != 1 or (x.size and x.dtype.kind not in "biu"):
        raise TypeError(
            f"bincount: expected a vector of integers for x, got {x.dtype} of shape {x.shape}"
        )
    if least < 0:
        raise ValueError(f"bincount: expected an integer >= 0 for minlength, got {least}")
    if least.bit_length() > 62:
        raise OverflowError(f"bincount: expected at most 2**62 - 1 for minlength, got {least}")
    x = _core.cast(x, "int64")
    values = known_values(x, "bincount")
    if values.size and values.min() < 0:
        raise ValueError(f"bincount: expected integers >= 0 for x, got {values.min()}")
    if weights is None:  # `x` has been evaluated above
        return _core.constant(np.bincount(values, minlength=least))
    added = _summable(_core.constant(weights, who="bincount"))
    if added.shape != x.shape:
        raise ValueError(
            f"bincount: expected shape {x.shape}, that of x, for weights, got {added.shape}"
        )
    return _core.scatter_add(added, x, 0, max(least, int(values.max()) + 1 if values.size else 0))


def _summable(weights: Tensor) -> Tensor:
    """Return weights in the dtype of their sum, which small integers do not overflow."""
    return _core.cast(weights, _core.sum(weights).dtype)


_RULES = ("auto", "doane", "fd", "rice", "scott", "sqrt", "stone", "sturges")


def _number_by_rule(x: Tensor, rule: str, limits: Any) -> int:
    """Return the number of bins that NumPy's rule gives for the values."""
    choice(rule, _RULES, "histogram", "bins")
    values = known_values(x, "histogram")
    if values.dtype.kind not in "iuf":  # bool and bfloat16
        values = _core.cast(x, "float32").numpy()
    if limits is not None:
        limits = tuple(float(limit) for limit in limits)
    try:
        return len(np.histogram_bin_edges(values, rule, limits)) - 1
    except ValueError as error:
        raise ValueError(f"histogram: {error}") from None


def _edges(x: Tensor, bins: TensorLike, limits: Sequence[TensorLike] | None) -> Tensor:
    if limits is not None and not (isinstance(limits, (tuple, list)) and len(limits) == 2):
        raise TypeError(
            f"histogram: expected a pair (low, high) for range, got {_core.shown(limits)}"
        )
    if isinstance(bins, str):
        bins = _number_by_rule(x, bins, limits)
    if not is_integer(bins):
        edges = nonempty_vector(_core.operands([x, bins], "histogram")[1], "histogram", "bins")
        if not _core.is_traced(edges) and not np.all(np.diff(edges.numpy()) >= 0):
            raise ValueError("histogram: expected increasing edges for bins")
        return edges
    count = integer(bins, "histogram", "bins")
    if not 1 <= count < 2**31:
        raise ValueError(f"histogram: expected from 1 to 2**31 - 1 bins, got {count}")
    x = made_floating(x, "histogram")
    if limits is not None:
        low, high = (_core.cast(limit, x.dtype) for limit in limits)
    elif x.size == 0:
        low, high = (_core.full((), value, x.dtype) for value in (0, 1))
    else:
        low, high = _core.min(x), _core.max(x)
    if not (_core.is_traced(low) or _core.is_traced(high)):
        first, last = float(low), float(high)
        if not (isfinite(first) and isfinite(last) and first <= last):
            raise ValueError(
                f"histogram: expected a finite, increasing range, got {first} to {last}; pass range"
            )
    widen = _core.cast(_core.where(_core.equal(low, high), 0.5, 0.0), x.dtype)
    low, high = _core.subtract(low, widen), _core.add(high, widen)
    step = _core.divide(_core.subtract(high, low), count)
    inner = _core.add(low, _core.multiply(_core.arange(0, count, 1, x.dtype), step))
    return _core.concat([inner, _core.reshape(high, 1)], 0)


@composite
def histogram(
    x: TensorLike,
    /,
    bins: TensorLike = 10,
    range: Sequence[TensorLike] | None = None,
    density: bool = False,
    weights: TensorLike | None = None,
) -> tuple[Tensor, Tensor]:
    """Count the elements in each bin.

    A bin includes its left edge, the last bin both edges. Elements outside all bins and NaN do not
    count. Differentiable in `weights`.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    bins : int, array_like or str, default 10
        Number of bins of equal width, a vector of ascending edges, or NumPy's rule for the number
        of bins: "auto", "doane", "fd", "rice", "scott", "sqrt", "stone" or "sturges". A rule
        evaluates `x` at the call.
    range : pair of array_like scalars, optional
        Outer edges (low, high) if `bins` is a number or a rule. Default: minimum and maximum of
        `x`, or (0, 1) if `x` is empty. Equal edges are moved apart by 0.5 each.
    density : bool, default False
        Divide the result by its sum and by the widths of the bins.
    weights : array_like, optional
        As many elements as `x` has. Sum the weights in each bin instead of counting.

    Returns
    -------
    counts : Tensor
        Shape (number of bins,); dtype int64, floating with `density`, or the dtype of
        `sum(weights)`.
    edges : Tensor
        Shape (number of bins + 1,); the floating dtype of `x` (float32 for 16-bit floats), or the
        dtype of the given edges.

    Raises
    ------
    ValueError
        If the number of bins is below 1 or not below 2**31, if the edges descend or contain NaN, if
        the range descends or is not finite, if the rule is unknown, or if the number of weights is
        wrong.
    TypeError
        If `x` is complex, `range` is not a pair, or weights are given with a rule.
    RuntimeError
        If `bins` is a rule and a function is being traced.

    Examples
    --------
    >>> counts, edges = pb.histogram([0.0, 1.0, 1.5, 4.0], 2)
    >>> counts, edges
    (Tensor([3, 1], dtype=int64), Tensor([0., 2., 4.], dtype=float32))
    """
    if density is not False:
        density = flag(density, "histogram", "density")
    x = _core.reshape(_core.constant(x, who="histogram"), -1)
    if isinstance(bins, str) and weights is not None:
        raise TypeError("histogram: expected a number or edges for bins with weights, got a rule")
    edges = _edges(x, bins, range)
    count = len(edges) - 1
    if weights is None:
        added = _core.full(x.shape, 1, "int64")
    else:
        added = _summable(_core.reshape(_core.operands([x, weights], "histogram")[1], -1))
        if added.shape != x.shape:
            raise ValueError(f"histogram: expected {x.size} weights, as in x, got {added.size}")
    at = _core.subtract(_core.searchsorted(edges, x, True), 1)
    at = _core.where(_core.equal(x, edges[-1]), count - 1, at)
    at = _core.where(_core.less(at, 0), count, _core.minimum(at, count))
    counts = _core.scatter_add(added, at, 0, count + 1)[:count]
    if density:
        widths = _core.subtract(edges[1:], edges[:-1])
        counts = _core.divide(_core.divide(counts, widths), _core.sum(counts))
    return counts, edges
