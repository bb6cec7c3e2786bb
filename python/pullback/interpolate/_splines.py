"""Cubic splines: the slopes at the breakpoints determine them."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.checks import choice, integer
from .._core import Tensor
from .._typing import TensorLike
from ..linalg import solve, solve_banded
from ._arrays import Extrapolate, extrapolate_of, points_of, reals, vectors, with_axes
from ._piecewise import PPoly, of_slopes


class _Spline(PPoly):
    """Represent a cubic spline through points; a subclass determines its slopes."""

    def _through(
        self, x: TensorLike, y: TensorLike, axis: int, least: int = 2
    ) -> tuple[Tensor, Tensor, int]:
        """Return the points, the values of shape (n, …), and the interpolated axis."""
        who = type(self).__name__
        points, values = reals(who, x, y)
        points = points_of(points, who, least=least)
        values, at = vectors(values, integer(axis, who, "axis"), points.shape[0], who)
        return points, values, at


def _columns(x: Tensor, rank: int) -> Tensor:
    return with_axes(x, rank - 1)


class CubicSpline(_Spline):
    """Interpolate by a cubic spline, which has two continuous derivatives.

    It is differentiable in `x`, `y` and the points at which it is evaluated.

    Parameters
    ----------
    x : array_like, real
        Breakpoints in increasing order, of shape (n,), n >= 2.
    y : array_like, real
        Values at the breakpoints: n along `axis`.
    axis : int, optional
        Axis of `y` that belongs to `x`. Default: 0.
    bc_type : str or tuple, optional
        Conditions at both ends: "not-a-knot" (the first two polynomials are one, and the last two),
        "natural" (the second derivative is 0), "clamped" (the first derivative is 0), "periodic",
        or a pair of conditions for the first and the last point. A condition of a pair is one of
        these names except "periodic", or a pair (1 or 2, value of this derivative). Default:
        "not-a-knot".
    extrapolate : bool or "periodic", optional
        Rule outside the breakpoints; see `PPoly`. Default: "periodic" for a periodic spline,
        otherwise True.

    Attributes
    ----------
    c : Tensor
        Coefficients of shape (4, n - 1, …).
    x : Tensor
        Breakpoints.
    extrapolate : bool or "periodic"
        Rule outside the breakpoints.
    axis : int
        Interpolated axis.

    Raises
    ------
    ValueError
        If the shapes do not match, the breakpoints do not increase, a condition is invalid, or the
        first and last value of a periodic spline differ.
    TypeError
        If an input is complex.

    See Also
    --------
    PPoly, PchipInterpolator

    References
    ----------
    .. [1] C. de Boor, A Practical Guide to Splines, 1978, chapter IV.

    Examples
    --------
    >>> spline = pb.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 8.0, 27.0])
    >>> pb.round(spline([0.5, 2.5]), 3), pb.round(spline(1.0, 1), 3)
    (Tensor([ 0.125, 15.625], dtype=float32), Tensor(3., dtype=float32))
    """

    def __init__(
        self,
        x: TensorLike,
        y: TensorLike,
        axis: int = 0,
        bc_type: Any = "not-a-knot",
        extrapolate: Extrapolate | None = None,
    ) -> None:
        points, values, at = self._through(x, y, axis)
        first, last = _conditions(bc_type, values)
        periodic = first == "periodic"
        if periodic and not _core.is_traced(values):
            gap = _core.max(_core.abs(values[0] - values[-1])) if values.size else 0.0
            size = _core.max(_core.abs(values)) if values.size else 0.0
            if bool(_core.greater(gap, 1e-5 * size + 1e-8)):
                raise ValueError(
                    "CubicSpline: expected equal first and last values for bc_type='periodic'"
                )
        slopes = (_periodic_slopes if periodic else _slopes)(points, values, first, last)
        rule = extrapolate_of(extrapolate, "periodic" if periodic else True, "CubicSpline")
        self._set(of_slopes(points, values, slopes), points, rule, at)


def _conditions(bc_type: Any, y: Tensor) -> tuple[Any, Any]:
    """Return two conditions, each "not-a-knot", "periodic" or (order, value)."""
    names = {"natural": (2, 0.0), "clamped": (1, 0.0)}
    known = ("not-a-knot", "natural", "clamped", "periodic")
    if isinstance(bc_type, str):
        name = choice(bc_type, known, "CubicSpline", "bc_type")
        return names.get(name, name), names.get(name, name)
    if not isinstance(bc_type, (tuple, list)) or len(bc_type) != 2:
        raise ValueError(
            f"CubicSpline: expected a name or a pair of conditions for bc_type, got {bc_type!r}"
        )
    made: list[Any] = []
    for one in bc_type:
        if isinstance(one, str):
            name = choice(one, known[:3], "CubicSpline", "bc_type")
            made.append(names.get(name, name))
            continue
        if not isinstance(one, (tuple, list)) or len(one) != 2 or one[0] not in (1, 2):
            raise ValueError(
                "CubicSpline: expected a name or a pair (1 or 2, value) for a condition of "
                f"bc_type, got {one!r}"
            )
        value = reals("CubicSpline", one[1], y)[0]
        if tuple(value.shape) != tuple(y.shape[1:]):
            raise ValueError(
                f"CubicSpline: expected a derivative of shape {y.shape[1:]} in bc_type, got "
                f"{value.shape}"
            )
        made.append((one[0], _core.cast(value, y.dtype)))
    return made[0], made[1]


def _slopes(x: Tensor, y: Tensor, first: Any, last: Any) -> Tensor:
    """Solve for the slopes at the points, n >= 2."""
    n, rank = x.shape[0], len(y.shape)
    h = x[1:] - x[:-1]
    wide = _columns(h, rank)
    rise = (y[1:] - y[:-1]) / wide
    if n == 2:  # without a knot inside, that condition is a straight line
        first = (1, rise[0]) if isinstance(first, str) else first
        last = (1, rise[0]) if isinstance(last, str) else last
    if (
        n == 3 and isinstance(first, str) and isinstance(last, str)
    ):  # both conditions are one: a parabola
        second = (rise[1] - rise[0]) / (x[2] - x[0])
        middle = rise[0] + second * wide[0]
        return _core.stack([rise[0] - second * wide[0], middle, rise[1] + second * wide[1]], 0)
    one = _core.full((1,), 1, x.dtype)
    # Rows of the tridiagonal matrix: (below, diagonal, above, right-hand side).
    rows: dict[str, tuple[Any, Any, Any]] = {}
    for end, condition, inner, outer in (("first", first, 1, 0), ("last", last, -2, -1)):
        near, far = h[outer : outer + 1 or None], h[inner : inner + 1 or None] if n > 2 else None
        slope = rise[outer]
        if isinstance(condition, str):
            assert far is not None
            span = near + far
            s, t = near[0], far[0]
            right = ((s + 2 * span[0]) * t * slope + s * s * rise[inner]) / span[0]
            rows[end] = (far, span, right)
        elif condition[0] == 1:
            rows[end] = (one, 0 * one, condition[1] + 0 * slope)
        else:
            bend = (-0.5 if end == "first" else 0.5) * condition[1] * near[0]
            rows[end] = (2 * one, one, 3 * slope + bend)
    (start, above, right_first), (stop, below, right_last) = rows["first"], rows["last"]
    diagonal = _core.concat([start, 2 * (h[:-1] + h[1:]), stop], 0)
    upper = _core.concat([0 * one, above, h[:-1]], 0)
    lower = _core.concat([h[1:], below, 0 * one], 0)
    inside = 3 * (wide[1:] * rise[:-1] + wide[:-1] * rise[1:])
    right = _core.concat([right_first[None], inside, right_last[None]], 0)
    flat = _core.reshape(right, (n, -1)) if right.size else _core.reshape(right, (n, 0))
    solved = solve_banded((1, 1), _core.stack([upper, diagonal, lower], 0), flat)
    return _core.reshape(solved, right.shape)


def _periodic_slopes(x: Tensor, y: Tensor, first: Any, last: Any) -> Tensor:
    """Solve for the slopes of a periodic spline; the last slope is the first one.

    The matrix is tridiagonal but for two corners, which are a matrix of rank 1 (Sherman and
    Morrison, 1950).
    """
    n, rank = x.shape[0] - 1, len(y.shape)
    h = x[1:] - x[:-1]
    before = _core.concat([h[-1:], h[:-1]], 0)
    wide, wide_before = _columns(h, rank), _columns(before, rank)
    rise = (y[1:] - y[:-1]) / wide
    rise_before = _core.concat([rise[-1:], rise[:-1]], 0)
    right = 3 * (wide * rise_before + wide_before * rise)
    diagonal = 2 * (h + before)
    # Row i: h[i] s[i - 1] + diagonal[i] s[i] + before[i] s[i + 1].
    if n <= 2:
        if n == 1:
            slopes = right / _columns(diagonal + h + before, rank)
        else:
            matrix = _core.stack(
                [
                    _core.stack([diagonal[0], h[0] + before[0]], 0),
                    _core.stack([h[1] + before[1], diagonal[1]], 0),
                ],
                0,
            )
            flat = _core.reshape(right, (n, -1))
            slopes = _core.reshape(solve(matrix, flat), right.shape)
        return _core.concat([slopes, slopes[:1]], 0)
    corner = -diagonal[:1]
    ends = [diagonal[:1] - corner, diagonal[1:-1], diagonal[-1:] - before[-1:] * h[:1] / corner]
    zero = _core.full((1,), 0, x.dtype)
    bands = [
        _core.concat([zero, before[:-1]], 0),
        _core.concat(ends, 0),
        _core.concat([h[1:], zero], 0),
    ]
    beyond = _core.concat([corner, _core.full((n - 2,), 0, x.dtype), before[-1:]], 0)
    flat = _core.concat([_core.reshape(right, (n, -1)), beyond[:, None]], 1)
    solved = solve_banded((1, 1), _core.stack(bands, 0), flat)
    z, q = solved[:, :-1], solved[:, -1:]
    ratio = h[0] / corner[0]
    dot_z, dot_q = z[:1] + ratio * z[-1:], q[:1] + ratio * q[-1:]
    slopes = _core.reshape(z - q * (dot_z / (1 + dot_q)), right.shape)
    return _core.concat([slopes, slopes[:1]], 0)


class PchipInterpolator(_Spline):
    """Interpolate by monotonic cubic polynomials (PCHIP).

    The result has one continuous derivative and is monotonic where the data are. It is
    differentiable in `x`, `y` and the points at which it is evaluated.

    Parameters
    ----------
    x : array_like, real
        Breakpoints in increasing order, of shape (n,), n >= 2.
    y : array_like, real
        Values at the breakpoints: n along `axis`.
    axis : int, optional
        Axis of `y` that belongs to `x`. Default: 0.
    extrapolate : bool or "periodic", optional
        Rule outside the breakpoints; see `PPoly`. Default: True.

    Attributes
    ----------
    c : Tensor
        Coefficients of shape (4, n - 1, …).
    x : Tensor
        Breakpoints.
    extrapolate : bool or "periodic"
        Rule outside the breakpoints.
    axis : int
        Interpolated axis.

    Raises
    ------
    ValueError
        If the shapes do not match or the breakpoints do not increase.
    TypeError
        If an input is complex.

    See Also
    --------
    CubicSpline, Akima1DInterpolator

    References
    ----------
    .. [1] F. N. Fritsch and J. Butland, A method for constructing local monotone piecewise cubic
       interpolants, 1984.

    Examples
    --------
    >>> step = pb.interpolate.PchipInterpolator([0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 1.0, 1.0])
    >>> step([0.5, 1.5, 2.5])
    Tensor([0. , 0.5, 1. ], dtype=float32)
    """

    def __init__(
        self,
        x: TensorLike,
        y: TensorLike,
        axis: int = 0,
        extrapolate: Extrapolate | None = None,
    ) -> None:
        points, values, at = self._through(x, y, axis)
        wide = _columns(points[1:] - points[:-1], len(values.shape))
        rise = (values[1:] - values[:-1]) / wide
        rule = extrapolate_of(extrapolate, True, "PchipInterpolator")
        if points.shape[0] == 2:
            slopes = _core.concat([rise, rise], 0)
        else:
            ends = [
                _end_slope(wide[0], wide[1], rise[0], rise[1]),
                _end_slope(wide[-1], wide[-2], rise[-1], rise[-2]),
            ]
            slopes = _core.concat([ends[0][None], _inner_slopes(wide, rise), ends[1][None]], 0)
        self._set(of_slopes(points, values, slopes), points, rule, at)


def _inner_slopes(wide: Tensor, rise: Tensor) -> Tensor:
    """Compute weighted harmonic means of neighbouring slopes, 0 if their signs differ."""
    left, right = rise[:-1], rise[1:]
    same = _core.greater(_core.sign(left) * _core.sign(right), 0)
    # The other branch of a where() must be finite, for its gradient.
    safe_left, safe_right = _core.where(same, left, 1.0), _core.where(same, right, 1.0)
    first, second = 2 * wide[1:] + wide[:-1], wide[1:] + 2 * wide[:-1]
    mean = (first + second) / (first / safe_left + second / safe_right)
    return _core.where(same, mean, 0.0)


def _end_slope(near: Tensor, far: Tensor, rise: Tensor, next_rise: Tensor) -> Tensor:
    """Compute the slope of a parabola through three points, limited to keep the shape."""
    slope = ((2 * near + far) * rise - near * next_rise) / (near + far)
    turns = _core.not_equal(_core.sign(rise), _core.sign(next_rise))
    steep = _core.logical_and(turns, _core.greater(_core.abs(slope), 3 * _core.abs(rise)))
    against = _core.not_equal(_core.sign(slope), _core.sign(rise))
    return _core.where(against, 0.0, _core.where(steep, 3 * rise, slope))


class Akima1DInterpolator(_Spline):
    """Interpolate by Akima's cubic polynomials, which oscillate little.

    The result has one continuous derivative. It is differentiable in `x`, `y` and the points at
    which it is evaluated.

    Parameters
    ----------
    x : array_like, real
        Breakpoints in increasing order, of shape (n,), n >= 2.
    y : array_like, real
        Values at the breakpoints: n along `axis`.
    axis : int, optional
        Axis of `y` that belongs to `x`. Default: 0.
    method : {"akima", "makima"}, optional
        Weights of neighbouring slopes. The modified ones ("makima") overshoot less at plateaus.
        Default: "akima".
    extrapolate : bool or "periodic", optional
        Rule outside the breakpoints; see `PPoly`. Default: False, as in SciPy.

    Attributes
    ----------
    c : Tensor
        Coefficients of shape (4, n - 1, …).
    x : Tensor
        Breakpoints.
    extrapolate : bool or "periodic"
        Rule outside the breakpoints.
    axis : int
        Interpolated axis.

    Raises
    ------
    ValueError
        If the shapes do not match, the breakpoints do not increase, or `method` is unknown.
    TypeError
        If an input is complex.

    See Also
    --------
    CubicSpline, PchipInterpolator

    References
    ----------
    .. [1] H. Akima, A new method of interpolation and smooth curve fitting based on local
       procedures, 1970.

    Examples
    --------
    >>> line = pb.interpolate.Akima1DInterpolator([0.0, 1.0, 2.0, 4.0], [0.0, 2.0, 4.0, 8.0])
    >>> line([0.5, 3.0, 5.0])
    Tensor([ 1.,  6., nan], dtype=float32)
    """

    def __init__(
        self,
        x: TensorLike,
        y: TensorLike,
        axis: int = 0,
        *,
        method: str = "akima",
        extrapolate: Extrapolate | None = None,
    ) -> None:
        points, values, at = self._through(x, y, axis)
        modified = choice(method, ("akima", "makima"), "Akima1DInterpolator", "method") == "makima"
        wide = _columns(points[1:] - points[:-1], len(values.shape))
        rise = (values[1:] - values[:-1]) / wide
        rule = extrapolate_of(extrapolate, False, "Akima1DInterpolator")
        if points.shape[0] == 2:
            slopes = _core.concat([rise, rise], 0)
        else:
            slopes = _akima_slopes(rise, modified)
        self._set(of_slopes(points, values, slopes), points, rule, at)


def _akima_slopes(rise: Tensor, modified: bool) -> Tensor:
    """Compute means of neighbouring slopes, weighted by the changes of slope on the other side."""
    before = 2 * rise[:1] - rise[1:2]
    behind = 2 * rise[-1:] - rise[-2:-1]
    m = _core.concat([2 * before - rise[:1], before, rise, behind, 2 * behind - rise[-1:]], 0)
    change = _core.abs(m[1:] - m[:-1])
    if modified:
        change = change + 0.5 * _core.abs(m[1:] + m[:-1])
    left, right = change[2:], change[:-2]
    total = left + right
    weighted = _core.greater(total, 1e-9 * _core.max(total)) if total.size else total
    ratio = _core.where(weighted, left, 0.5) / _core.where(weighted, total, 1.0)
    means = ratio * m[1:-2] + (1 - ratio) * m[2:-1]
    return _core.where(weighted, means, 0.5 * (m[3:] + m[:-3]))
