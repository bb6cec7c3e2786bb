"""The direction of L-BFGS and its loosest end, which both methods of `minimize` use."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._core import Tensor
from ._result import dot

MEMORY = 10  # pairs of steps and changes of the gradient


class Iterate(NamedTuple):
    """A point, the memory of the steps to it, and the progress."""

    x: Tensor
    value: Tensor
    slope: Tensor
    steps: Tensor  # (memory, n), the last one is the newest
    changes: Tensor  # of the slope
    nit: Tensor
    stuck: Tensor  # the last search found no better point


def first_iterate(x: Tensor, value: Tensor, slope: Tensor) -> Iterate:
    zeros = _core.full((MEMORY, x.shape[0]), 0, x.dtype)
    none, false = _core.full((), 0, "int64"), _core.full((), False, "bool")
    return Iterate(x, value, slope, zeros, zeros, none, false)


def with_slope(f: Any, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return the value and the gradient of a function."""
    at = _core.identity(x)
    with recorded_from([at]):
        value = f(at)
        (slope,) = _core.gradients([value], [at])
    assert slope is not None  # f depends on x
    return value, slope


def direction_of(
    slope: Tensor, steps: Tensor, changes: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the quasi-Newton direction (two-loop recursion), and the first step to try.

    `steps` and the `changes` of the slope have shape (MEMORY, n); the last ones are the newest.
    `weights` are 1 / (step · change), or 0 for an unused pair.
    """
    q = slope
    parts = []
    for i in reversed(range(MEMORY)):
        part = weights[i] * dot(steps[i], q)
        q = q - part * changes[i]
        parts.append(part)
    newest = dot(changes[-1], changes[-1]) * weights[-1]
    used = _core.greater(newest, 0)
    q = q * _core.where(used, 1 / _core.where(used, newest, 1), 1)
    for i in range(MEMORY):
        other = weights[i] * dot(changes[i], q)
        q = q + (parts[MEMORY - 1 - i] - other) * steps[i]
    downhill = _core.greater(dot(q, slope), 0)
    direction = -_core.where(downhill, q, slope)
    size = _core.sqrt(dot(slope, slope))
    first = _core.minimum(1 / _core.where(_core.greater(size, 0), size, 1), 1)
    return direction, _core.where(_core.logical_and(used, downhill), 1, first)


def is_near(left: Tensor, value: Tensor) -> Tensor:
    """Test whether a slope of this size is small enough where rounding errors stop the search."""
    loose = float(np.finfo(value.dtype).eps) ** (1 / 3)
    return _core.less_equal(left, loose * _core.sqrt(_core.maximum(_core.abs(value), 1)))


def succeeded(value: Tensor, small: Tensor, enough: Tensor) -> Tensor:
    """Return True for a finite value with a slope that is small, or small enough."""
    return _core.logical_and(_core.isfinite(value), _core.logical_or(small, enough))
