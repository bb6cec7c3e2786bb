"""A check of the end of `least_squares` by second derivatives of the residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian_blocks import JacobianBlocks
from .._core import Tensor
from .._numpy.diagonals import diag
from ..linalg import eigh
from ._result import dot, largest


def is_next_to_minimum(f: Any, x: Tensor, fixed: Tensor, reach: Tensor) -> Tensor:
    """Test whether a minimum of the sum of squares is within `reach`, by a step of Newton's method.

    The matrix of second derivatives must be positive definite for the variables that are not
    `fixed` and on which the residuals depend.
    """
    at = _core.identity(x)
    with recorded_from([at]):
        residuals = f(at)
        (slope,) = _core.gradients([0.5 * dot(residuals, residuals)], [at])
        assert slope is not None  # f depends on x
        ((second,),) = JacobianBlocks([slope], [at], "auto", "auto", "least_squares").all()
    unused = _core.logical_and(_core.equal(_core.max(_core.abs(second), [0]), 0), slope == 0)
    fixed = _core.logical_or(fixed, unused)
    finite = _core.isfinite(_core.sum(second) + _core.sum(slope))
    kept = _core.logical_and(finite, _core.logical_not(fixed))
    # A unit diagonal makes the eigenvalues independent of the units of the variables.
    size = _core.sqrt(_core.where(kept, _core.abs(diag(second)), 1))
    size = _core.where(_core.greater(size, 0), size, 1)
    both = _core.logical_and(kept[:, None], kept[None, :])
    unit = diag(_core.cast(_core.logical_not(kept), x.dtype))
    matrix = _core.where(both, second / size[:, None] / size[None, :], unit)
    values, vectors = eigh(matrix)
    least = x.shape[0] * float(np.finfo(x.dtype).eps) ** 0.5
    definite = _core.all(_core.greater(values, least))
    parts = _core.sum(vectors * _core.where(kept, slope / size, 0)[:, None], [0])
    parts = parts / _core.where(definite, values, 1)
    step = _core.sum(vectors * parts[None, :], [1]) / size
    near = _core.less_equal(largest(step), reach)
    return _core.logical_and(_core.logical_and(finite, definite), near)
