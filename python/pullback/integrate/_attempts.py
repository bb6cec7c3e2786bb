"""Steps of `solve_ivp`: the method of Dormand and Prince, and Radau IIA of order 5.

A step that is tried is an `Attempt`. It is differentiable in t, y and the size, also if it is
rejected. Between its ends the solution is a polynomial of the part x in [0, 1] of the step:
y + sum over j of powers[j - 1] * x**j.

Radau IIA: Hairer and Wanner, Solving Ordinary Differential Equations II (1996), section IV.8. A
simplified Newton iteration with the Jacobian of the start computes the stages, which have the
derivatives of their implicit equation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian import jacobian
from .._control.branches import cond
from .._control.loops import while_loop
from .._core import Tensor
from ..implicit._equation import solution_on_plan
from ..linalg import solve
from ._dormand_prince import (
    ERROR,
    MIDDLE,
    STAGES,
    TIMES,
    Field,
    Tolerance,
    combined,
    larger,
    weighted_norm,
)


class Attempt(NamedTuple):
    y: Tensor
    slope: Tensor  # at the end
    powers: Tensor  # (degree, n)
    error: Tensor  # in units of the tolerance; inf if the step has no solution
    factor: Tensor  # of the next size


def dormand_prince(
    f: Field, t: Tensor, y: Tensor, slope: Tensor, size: Tensor, tolerance: Tolerance
) -> Attempt:
    slopes, end = [slope], y
    for c, row in zip(TIMES[1:], STAGES[1:], strict=True):
        end = y + size * combined(row, slopes)
        slopes.append(f(end, t + c * size))
    error = weighted_norm(size * combined(ERROR, slopes), larger(y, end), tolerance)
    middle = size * combined(MIDDLE, slopes)
    rise = end - y
    first = size * slope - rise
    last = rise - size * slopes[-1] - first
    powers = [rise + first, last + middle - first, -2 * middle - last, middle]
    factor = 0.9 * _core.pow(_core.maximum(error, 1e-30), -0.2)
    return Attempt(end, slopes[-1], _core.stack(powers, 0), error, factor)


_ROOT = 6**0.5
_AT = np.array([(4 - _ROOT) / 10, (4 + _ROOT) / 10, 1.0])
_INTEGRALS = np.array([
    [(88 - 7 * _ROOT) / 360, (296 - 169 * _ROOT) / 1800, (-2 + 3 * _ROOT) / 225],
    [(296 + 169 * _ROOT) / 1800, (88 + 7 * _ROOT) / 360, (-2 - 3 * _ROOT) / 225],
    [(16 - _ROOT) / 36, (16 + _ROOT) / 36, 1 / 9],
])  # fmt: skip
_EIGENVALUE = 3 + 3 ** (2 / 3) - 3 ** (1 / 3)  # the real one of the inverse
_WEIGHTS = np.array([-13 - 7 * _ROOT, -13 + 7 * _ROOT, -1.0]) / 3  # of the error
_POWERS = np.linalg.inv(_AT[:, None] ** np.arange(1, 4))  # of the polynomial through the stages
_MOST_ITERATIONS = 7


class _Iteration(NamedTuple):
    z: Tensor
    last: Tensor  # norm of the last change
    tries: Tensor
    converged: Tensor
    failed: Tensor


def radau(
    f: Field, t: Tensor, y: Tensor, slope: Tensor, size: Tensor, tolerance: Tolerance
) -> Attempt:
    n, dtype = y.shape[0], y.dtype.name
    matrix, integrals, powers = (
        _core.constant(a.astype(dtype)) for a in (_INTEGRALS, _INTEGRALS, _POWERS)
    )
    stop = _core.stop_gradient
    start, now = _core.identity(stop(y)), stop(t)
    with recorded_from([start]):
        (by_y,) = jacobian(f(start, now), [start], None, True)
    assert by_y is not None  # zeros in place of None
    by_y = stop(by_y)
    # I - size * (integrals x by_y), for the stages one after the other
    blocks = _core.reshape(matrix, (3, 1, 3, 1)) * _core.reshape(by_y, (1, n, 1, n))
    whole = _core.eye(3 * n, 3 * n, 0, dtype) - stop(size) * _core.reshape(blocks, (3 * n, 3 * n))
    usable = _core.isfinite(_core.sum(_core.abs(whole)))
    inverse = solve(_core.where(usable, whole, _core.eye(3 * n, 3 * n, 0, dtype)),
                    _core.eye(3 * n, 3 * n, 0, dtype))  # fmt: skip

    def equation(z: Tensor, t: Tensor, y: Tensor, size: Tensor) -> Tensor:
        rows = _core.reshape(z, (3, n))
        slopes = [f(y + rows[i], t + float(c) * size) for i, c in enumerate(_AT)]
        change = size * _core.matmul(integrals, _core.stack(slopes, 0))
        return z - _core.reshape(change, (-1,))

    unit = tolerance.atol + tolerance.rtol * _core.abs(stop(y))
    eps = float(np.finfo(dtype).eps)
    enough = max(10 * eps / max(tolerance.rtol, eps), min(0.03, tolerance.rtol**0.5), eps)

    def goes_on(state: _Iteration) -> Tensor:
        ended = _core.logical_or(state.converged, state.failed)
        more = _core.less(state.tries, _MOST_ITERATIONS)
        return _core.logical_and(more, _core.logical_not(ended))

    def improved(state: _Iteration) -> _Iteration:
        change = -_core.matmul(inverse, equation(state.z, now, start, stop(size)))
        parts = _core.reshape(change, (3, n)) / unit
        norm = _core.sqrt(_core.mean(parts * parts))
        known = _core.greater(state.tries, 0)
        rate = _core.where(known, norm / _core.maximum(state.last, 1e-30), 0.5)
        rest = _core.pow(rate, _core.cast(_MOST_ITERATIONS - state.tries, dtype))
        safe = _core.where(_core.less(rate, 1), 1 - rate, 1)
        # `not <` and `not <=`: NaN counts as a failure.
        slow = _core.logical_not(_core.less_equal(rest / safe * norm, enough))
        slow = _core.logical_or(slow, _core.logical_not(_core.less(rate, 1)))
        failed = _core.logical_or(
            _core.logical_and(known, slow), _core.logical_not(_core.isfinite(norm))
        )
        small = _core.less(rate / safe * norm, enough)
        exact = _core.less_equal(norm, 10 * eps)
        converged = _core.logical_or(_core.logical_and(known, small), exact)
        return _Iteration(
            _core.where(failed, state.z, state.z + change), norm, state.tries + 1,
            _core.logical_and(converged, _core.logical_not(failed)), failed,
        )  # fmt: skip

    false, zeros = _core.full((), False, "bool"), _core.full((3 * n,), 0, dtype)
    one = _core.full((), 1, dtype)
    first = _Iteration(zeros, one, _core.full((), 0, "int64"), false, false)
    found: _Iteration = while_loop(goes_on, improved, first)
    z = stop(found.z)
    rows = _core.reshape(z, (3, n))
    shifted = _EIGENVALUE * _core.eye(n, n, 0, dtype) - stop(size) * by_y
    weights = _core.constant(_WEIGHTS.astype(dtype))
    right = stop(size * slope + _core.matmul(weights, rows))
    difference = solve(_core.where(usable, shifted, _core.eye(n, n, 0, dtype)),
                       _core.where(usable, right, 0))  # fmt: skip
    error = weighted_norm(difference, larger(y, y + rows[2]), tolerance)
    solved = _core.logical_and(found.converged, usable)
    error = _core.where(solved, error, np.inf)
    count = _core.cast(found.tries, dtype)
    safety = 0.9 * (2 * _MOST_ITERATIONS + 1) / (2 * _MOST_ITERATIONS + count)
    factor = safety * _core.pow(_core.maximum(error, 1e-30), -0.25)
    factor = _core.where(solved, factor, 0.5)

    def taken(z: Tensor, t: Tensor, y: Tensor, slope: Tensor, size: Tensor) -> Any:
        made: Tensor = solution_on_plan(
            lambda z: equation(z, t, y, size), z, (), lambda _, z: (z, true), "root", "solve_ivp"
        )[0]
        rows = _core.reshape(made, (3, n))
        end = y + rows[2]
        return end, f(end, t + size), _core.matmul(powers, rows)

    def left(z: Tensor, t: Tensor, y: Tensor, slope: Tensor, size: Tensor) -> Any:
        return y, slope, _core.full((3, n), 0, dtype)

    true = _core.full((), True, "bool")
    # A step that is not taken may be infinite, which must not reach a gradient.
    good = _core.less_equal(error, 1)
    end, last, polynomial = cond(good, taken, left, z, t, y, slope, size)
    return Attempt(end, last, polynomial, error, factor)


METHODS: dict[str, Callable[..., Attempt]] = {"RK45": dormand_prince, "Radau": radau}
DEGREES = {"RK45": 4, "Radau": 3}
