"""`curve_fit`: parameters of a function by least squares, and their covariance."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._autodiff.rules import place
from .._base.checks import flag, made_floating, vector_of_numbers
from .._base.hints import without
from .._control.checks import warned
from .._core import Tensor
from ..linalg import cholesky, inv, solve_triangular, svdvals
from ._bounded import two_sides
from ._least_squares import least_squares, with_jacobian


class CurveFit(NamedTuple):
    """Store the result of `curve_fit`.

    Attributes
    ----------
    popt : Tensor
        Parameters of shape (n,).
    pcov : Tensor
        Estimated covariance of the parameters, of shape (n, n). NaN if the fit failed.

    Examples
    --------
    >>> fit = pb.optimize.curve_fit(lambda x, a: a * x, [1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    >>> pb.round(fit.popt, 4)
    Tensor([2.], dtype=float32)
    """

    popt: Tensor
    pcov: Tensor


@without(
    jac="the Jacobian is computed by automatic differentiation",
    method="the method is that of Levenberg and Marquardt",
    check_finite="NaN in the data make the fit fail",
    maxfev="pass maxiter",
    nan_policy="NaN in the data make the fit fail",
    full_output="use least_squares for the residuals and the number of steps",
)
def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    *,
    bounds: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
) -> CurveFit:
    """Fit the parameters of a function to data by least squares.

    It is `least_squares` of ``f(xdata, *parameters) - ydata``. Parameters and covariance are
    differentiable in the data, `sigma` and all tensors that `f` uses.

    Parameters
    ----------
    f : callable
        Function `f(xdata, a, b, ...)` of operations of this library. It receives the parameters as
        tensors of shape () and returns values of the shape of `ydata`. Decisions that depend on
        values are made by `cond` or `where`.
    xdata : array_like or pytree of array_like
        First argument of `f`.
    ydata : array_like, floating
        Values that `f` approximates, of shape (m,).
    p0 : array_like, optional
        Start of the parameters, of shape (n,). Default: ones, or as in SciPy numbers within the
        bounds; their number is that of the further parameters of `f`.
    sigma : array_like, optional
        Standard deviations of `ydata`, of shape () or (m,), or their covariance matrix (m, m).
    absolute_sigma : bool, optional
        If False, the covariance is scaled so that the sum of squares of the weighted residuals is
        m - n; only the ratios of `sigma` matter then. Default: False.
    bounds, tol, maxiter : optional
        Arguments of `least_squares`. The covariance is that without bounds, as in SciPy.

    Returns
    -------
    CurveFit
        Pair of `popt` and `pcov`, of the dtype to which `p0` and `ydata` promote. The covariance is
        the inverse of the product of the Jacobian with itself. It is NaN if the fit failed. If the
        data do not determine it (m < n, m = n unless `absolute_sigma` is True, or a singular
        matrix), it is infinite and its evaluation issues an OptimizeWarning, as in SciPy.

    Raises
    ------
    TypeError
        If `f` is not callable or `ydata` is complex.
    ValueError
        If a shape is invalid, or the number of parameters is unknown.

    See Also
    --------
    optimize.least_squares

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(0.0, 4.0, 9)
    >>> y = pb.Variable(3.0 * np.exp(-0.5 * x))
    >>> popt, pcov = pb.optimize.curve_fit(lambda x, a, b: a * pb.exp(-b * x), x, y)
    >>> pb.round(popt, 6)
    Tensor([3. , 0.5], dtype=float64)
    """
    who = "curve_fit"
    if not callable(f):
        raise TypeError(f"{who}: expected a function for f, got {_core.shown(f)}")
    if isinstance(xdata, (list, tuple)):
        xdata = vector_of_numbers(xdata, who)
    y = made_floating(vector_of_numbers(ydata, who), who)
    if len(y.shape) != 1 or not y.size:
        raise ValueError(f"{who}: expected a vector with entries for ydata, got shape {y.shape}")
    if p0 is None:
        start = _core.full((_count(f, who),), 1, y.dtype)
        if bounds is not None:
            start = _within(start, *two_sides(bounds, who))
    else:
        start = made_floating(vector_of_numbers(p0, who), f"{who}: p0")
        start = _core.reshape(start, (-1,)) if len(start.shape) < 1 else start
    if len(start.shape) != 1 or not start.size:
        raise ValueError(f"{who}: expected a vector of parameters for p0, got shape {start.shape}")
    dtype = np.result_type(start.dtype, y.dtype).name
    start, (n,), m = _core.cast(start, dtype), start.shape, y.shape[0]
    weigh = _weights(sigma, m, dtype, who)

    @wraps(f)  # so errors name f
    def residuals(p: Tensor) -> Tensor:
        values = _core.constant(f(xdata, *(p[k] for k in range(n))), who=who)
        if values.shape != y.shape:
            raise ValueError(
                f"{who}: expected values of shape {y.shape}, that of ydata, from {place(f)}, got "
                f"{values.shape}"
            )
        return weigh(_core.cast(values, dtype) - _core.cast(y, dtype))

    result = least_squares(residuals, start, bounds=bounds, tol=tol, maxiter=maxiter)
    remaining, slopes = with_jacobian(residuals, result.x, who)
    pcov, is_known = _inverse_square(slopes)
    if not flag(absolute_sigma, who, "absolute_sigma"):
        squares = _core.sum(remaining * remaining)
        pcov = pcov * (squares / max(m - n, 1))
        is_known = is_known if m > n else _core.full((), False, "bool")
    is_known = warned(
        is_known,
        _core.logical_or(is_known, _core.logical_not(result.success)),
        f"{who}: the data do not determine the covariance of the parameters of {place(f)}, which "
        "is infinite; fit fewer parameters or pass more data",
        "scipy.optimize.OptimizeWarning",
    )
    pcov = _core.where(is_known, pcov, np.inf)
    return CurveFit(result.x, _core.where(result.success, pcov, np.nan))


def _inverse_square(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """Return the inverse of the product of a matrix with itself, and True if there is one."""
    m, n = matrix.shape
    unit = _core.eye(n, n, 0, matrix.dtype)
    if m < n:
        return unit, _core.full((), False, "bool")
    usable = _core.isfinite(_core.sum(_core.abs(matrix)))
    values = svdvals(_core.where(usable, _core.stop_gradient(matrix), 0))
    eps = float(np.finfo(matrix.dtype).eps)
    has_inverse = _core.greater(values[-1], eps * m * values[0])
    square = _core.matmul(_core.transpose(matrix, [1, 0]), matrix)
    return inv(_core.where(has_inverse, square, unit)), has_inverse


def _within(start: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Return the middle of two finite bounds, or a point at the distance 1 from a single one."""
    if any(side.shape not in ((), start.shape) for side in (low, high)):
        return start  # least_squares raises the error
    low, high = (_core.stop_gradient(_core.cast(side, start.dtype)) for side in (low, high))
    has_low, has_high = _core.isfinite(low), _core.isfinite(high)
    above = _core.where(has_low, low + start, start)
    single = _core.where(has_high, high - start, above)
    return _core.where(_core.logical_and(has_low, has_high), 0.5 * (low + high), single)


def _count(f: Any, who: str) -> int:
    """Return the number of parameters of the function after the first one."""
    try:
        known = list(signature(f).parameters.values())
    except (TypeError, ValueError):  # some functions written in C have no signature
        known = []
    plain = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    if len(known) < 2 or any(one.kind not in plain for one in known):
        raise ValueError(f"{who}: pass p0, since {place(f)} does not determine its size")
    return len(known) - 1


def _weights(sigma: Any, m: int, dtype: str, who: str) -> Callable[[Tensor], Tensor]:
    """Return the function that divides residuals by their standard deviations."""
    if sigma is None:
        return lambda r: r
    made = _core.cast(made_floating(sigma, f"{who}: sigma"), dtype)
    if made.shape in ((), (1,), (m,)):
        return lambda r: r / made
    if made.shape != (m, m):
        raise ValueError(
            f"{who}: expected shape (), ({m},) or ({m}, {m}) for sigma, got {made.shape}"
        )
    factor = cholesky(made)
    return lambda r: solve_triangular(factor, r, lower=True)
