"""`least_squares`: the method of Levenberg and Marquardt as a loop of the plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.closed_graph import recorded_from
from .._autodiff.jacobian_blocks import JacobianBlocks
from .._base.hints import without
from .._control.loops import while_loop
from .._core import Tensor
from .._numpy.diagonals import diag
from ..linalg import lstsq
from ._result import OptimizeResult, dot, largest, most, solve_on_plan, tolerance


@without(
    jac="derivatives are computed by automatic differentiation",
    bounds="substitute a function whose values are inside, such as exp or sigmoid",
    xtol="pass tol",
    ftol="pass tol",
    gtol="pass tol",
    max_nfev="pass maxiter",
    method="the method is that of Levenberg and Marquardt",
    loss="apply the square root of the loss to the residuals",
)
def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    args: Any = (),
    *,
    tol: float | None = None,
    maxiter: int | None = None,
) -> OptimizeResult:
    """Minimize the sum of squares of residuals by the method of Levenberg and Marquardt.

    The solver is a loop of the plan. It forms the Jacobian, and solves each damped system [1]_ by a
    QR factorisation; the damping follows [2]_. Derivatives of the minimum with respect to `args`
    are those of `implicit.minimum`: the second derivatives of the residuals are part of them.

    Parameters
    ----------
    fun : callable
        Function `fun(x, *args)` of operations of this library that returns the residuals, a tensor
        or a pytree of tensors of the dtype of `x0`.
    x0 : array_like or pytree of array_like
        Start; its leaves have a single dtype, float32 or float64. A list or tuple of numbers is a
        vector; an array of integers becomes the default floating dtype.
    args : tuple, optional
        Further arguments of `fun`, tensors or pytrees. A single argument needs no tuple.
    tol : float, optional
        The solver ends when a step changes `x` by less than ``tol`` of its size, or when the
        residuals are orthogonal to the columns of the Jacobian within `tol` (the cosine of the
        angle). Default: the square root of the machine precision.
    maxiter : int, optional
        Largest number of steps. Default: 200.

    Returns
    -------
    OptimizeResult
        `x` has the structure of `x0`; `fun` has the residuals.

    Raises
    ------
    TypeError
        If `x0` has another dtype, or the residuals have another dtype than `x0`.
    ValueError
        If `fun` does not depend on x, or `tol` or `maxiter` is not positive.

    See Also
    --------
    optimize.minimize, linalg.lstsq

    References
    ----------
    .. [1] J. J. More, The Levenberg-Marquardt algorithm: implementation and theory, 1978.
    .. [2] H. B. Nielsen, Damping parameter in Marquardt's method, 1999.

    Examples
    --------
    >>> import numpy as np
    >>> t = np.linspace(0.0, 4.0, 9)
    >>> data = pb.Variable(3.0 * np.exp(-0.5 * t))
    >>> residuals = lambda x, data: x[0] * pb.exp(-x[1] * t) - data
    >>> result = pb.optimize.least_squares(residuals, np.array([1.0, 1.0]), data)
    >>> bool(result.success), pb.round(result.x, 6)
    (True, Tensor([3. , 0.5], dtype=float64))
    """
    who = "least_squares"
    limit = most(maxiter, 200, who)

    def solver(f: Any, start: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return _levenberg(f, start, tolerance(tol, start.dtype, 0.5, who), limit, who)

    return solve_on_plan(fun, x0, args, solver, limit, "least_squares", who)


class _State(NamedTuple):
    x: Tensor
    residuals: Tensor
    matrix: Tensor  # the Jacobian
    scale: Tensor  # of each column: its largest norm so far
    damping: Tensor
    growth: Tensor  # of the damping after a step that is not taken
    nit: Tensor
    converged: Tensor
    stuck: Tensor  # a step that is short because of the damping did not reduce the residuals


def with_jacobian(f: Any, x: Tensor, who: str) -> tuple[Tensor, Tensor]:
    """Return the residuals and their Jacobian, by columns if it has fewer of them than rows."""
    at = _core.identity(x)
    with recorded_from([at]):
        residuals = f(at)
        ((matrix,),) = JacobianBlocks([residuals], [at], "auto", "auto", who).all()
    return residuals, matrix


def _levenberg(
    f: Any, start: Tensor, tol: float, limit: int, who: str
) -> tuple[Tensor, Tensor, Tensor]:
    dtype = start.dtype
    smallest = float(np.finfo(dtype).tiny)

    def norms(matrix: Tensor) -> Tensor:
        return _core.sqrt(_core.sum(matrix * matrix, [0]))

    def scaled(x: Tensor) -> Tensor:
        return f(x) * unit  # type: ignore[no-any-return]

    def is_finite(residuals: Tensor, matrix: Tensor) -> Tensor:
        return _core.isfinite(dot(residuals, residuals) + _core.sum(matrix * matrix))

    def is_orthogonal(residuals: Tensor, matrix: Tensor, tol: float = tol) -> Tensor:
        size = _core.sqrt(dot(residuals, residuals))
        slope = _core.sum(matrix * residuals[:, None], [0])
        return _core.less_equal(largest(slope / (norms(matrix) + smallest)), tol * size)

    def goes_on(state: _State) -> Tensor:
        ended = _core.logical_or(state.converged, state.stuck)
        return _core.logical_and(_core.less(state.nit, limit), _core.logical_not(ended))

    def step(state: _State) -> _State:
        below = diag(_core.sqrt(state.damping) * state.scale)
        # Not finite only in vmap, for an entry that has ended.
        valid = is_finite(state.residuals, state.matrix)
        left = _core.concat([_core.where(valid, state.matrix, 0), below], 0)
        right = _core.concat([_core.where(valid, -state.residuals, 0), 0 * state.x], 0)
        move = lstsq(_core.where(valid, left, 0), right)[0]
        x = state.x + move
        residuals, matrix = with_jacobian(scaled, x, who)
        before = dot(state.residuals, state.residuals)
        gain = before - dot(residuals, residuals)
        linear = state.residuals + _core.sum(state.matrix * move, [1])
        expected = before - dot(linear, linear)
        # False for NaN, so the step becomes smaller.
        better = _core.logical_and(_core.greater(gain, 0), is_finite(residuals, matrix))
        ratio = _core.where(better, gain / _core.where(better, expected, 1), 0)
        shrink = _core.maximum(1 - _core.pow(2 * ratio - 1, 3), 1 / 3)
        short = _core.less_equal(largest(move), tol * (largest(state.x) + tol))
        x, residuals, matrix = (
            _core.where(better, new, old)
            for new, old in zip((x, residuals, matrix), state[:3], strict=True)
        )
        return _State(
            x,
            residuals,
            matrix,
            _core.maximum(norms(matrix), state.scale),
            _core.where(better, state.damping * shrink, state.damping * state.growth),
            _core.where(better, 2, 2 * state.growth),
            state.nit + 1,
            _core.logical_or(_core.logical_and(short, better), is_orthogonal(residuals, matrix)),
            _core.logical_and(short, _core.logical_not(better)),
        )

    # Residuals in units of the largest one at the start: their squares stay in the range of floats.
    size = largest(f(start))
    sized = _core.logical_and(_core.greater(size, smallest), _core.isfinite(size))
    unit = _core.exp2(-_core.floor(_core.log2(_core.where(sized, size, 1))))
    residuals, matrix = with_jacobian(scaled, start, who)
    scale = norms(matrix)
    state = _State(
        start, residuals, matrix, _core.where(_core.greater(scale, 0), scale, 1),
        _core.full((), 1e-3, dtype), _core.full((), 2, dtype), _core.full((), 0, "int64"),
        is_orthogonal(residuals, matrix), _core.logical_not(is_finite(residuals, matrix)),
    )  # fmt: skip
    end: _State = while_loop(goes_on, step, state)
    finite = is_finite(end.residuals, end.matrix)
    # Rounding errors may prevent a decrease next to the minimum.
    loose = float(np.finfo(dtype).eps ** (1 / 3))
    enough = _core.logical_and(end.stuck, is_orthogonal(end.residuals, end.matrix, loose))
    good = _core.logical_or(end.converged, enough)
    return end.x, _core.logical_and(good, finite), end.nit
