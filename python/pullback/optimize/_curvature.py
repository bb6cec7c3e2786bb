"""A test by the curvature of a function whether its minimum is within rounding errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._control.loops import scan
from .._core import Tensor
from .._numpy.diagonals import diag
from ..linalg import eigh
from ._direction import with_slope
from ._result import dot


def is_at_minimum(f: Any, x: Tensor, fixed: Tensor, below: Tensor, beyond: Tensor) -> Tensor:
    """Test whether a step of Newton's method reduces a positive function only by rounding errors.

    The second derivatives are differences of the slopes between `below` and `beyond`. The step must
    end between them, and the function must be strictly convex in the variables that are not
    `fixed` and on which it depends.
    """
    eps, n = float(np.finfo(x.dtype).eps), x.shape[0]
    value, slope = with_slope(f, x)

    def of_one(carry: Tensor, one: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        row, low, high = one
        low, high = (_core.where(_core.greater(row, 0), end, x) for end in (low, high))
        return carry, with_slope(f, high)[1] - with_slope(f, low)[1]

    width = beyond - below
    ends = [_core.broadcast_to(end, (n, n)) for end in (below, beyond)]
    changes = scan(of_one, _core.full((), 0, x.dtype), (_core.eye(n, n, 0, x.dtype), *ends))[1]
    second = changes / _core.where(_core.greater(width, 0), width, 1)[:, None]
    second = 0.5 * (second + _core.transpose(second))
    unused = _core.logical_and(_core.equal(_core.max(_core.abs(second), [0]), 0), slope == 0)
    kept = _core.logical_not(_core.logical_or(fixed, unused))
    # A unit diagonal makes the eigenvalues independent of the units of the variables.
    curved = _core.greater(diag(second), 0)
    size = _core.sqrt(_core.where(_core.logical_and(kept, curved), diag(second), 1))
    scaled = second / size[:, None] / size[None, :]
    finite = _core.isfinite(_core.sum(scaled) + dot(slope, slope))
    both = _core.logical_and(finite, _core.logical_and(kept[:, None], kept[None, :]))
    values, vectors = eigh(_core.where(both, scaled, _core.eye(n, n, 0, x.dtype)))
    convex = _core.all(_core.greater(values, n * eps**0.5))
    slope = _core.where(_core.logical_and(kept, finite), slope / size, 0)
    parts = _core.sum(vectors * slope[:, None], [0]) / _core.where(convex, values, 1)
    end = x - _core.sum(vectors * parts[None, :], [1]) / size
    near = _core.logical_and(_core.greater_equal(end, below), _core.less_equal(end, beyond))
    level = _core.less_equal(dot(parts * values, parts), 16 * eps * value)
    good = _core.logical_and(finite, _core.logical_and(convex, level))
    return _core.logical_and(good, _core.all(_core.logical_or(near, _core.logical_not(kept))))
