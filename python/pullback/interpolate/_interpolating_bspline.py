"""`make_interp_spline`: the sum of B-splines through points."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.checks import choice, integer
from .._base.hints import without
from .._core import Tensor
from .._typing import TensorLike
from ..linalg import solve
from ._arrays import beside, points_of, reals, vectors
from ._bsplines import BSpline, checked_knots, degree_of, unchecked


@without(check_finite="NaN and infinity spread to the coefficients")
def make_interp_spline(
    x: TensorLike, y: TensorLike, k: int = 3, t: TensorLike | None = None, bc_type: Any = None,
    axis: int = 0,
) -> BSpline:  # fmt: skip
    """Return the spline of degree `k` through points.

    Its coefficients solve a dense system of equations. They are differentiable in `x`, `y`, `t` and
    the values of `bc_type`.

    Parameters
    ----------
    x : array_like, real
        Points in increasing order, of shape (n,).
    y : array_like
        Values; their size along `axis` is n.
    k : int, optional
        Degree. Default: 3.
    t : array_like, real, optional
        Knots. Default: those of SciPy, not-a-knot conditions for `bc_type` None.
    bc_type : {"not-a-knot", "natural", "clamped"} or pair, optional
        Conditions at both ends: second or first derivatives of 0, or for each end one of these
        words or a list of pairs (order of the derivative, value). Default: None.
    axis : int, optional
        Interpolated axis of `y`. Default: 0.

    Returns
    -------
    BSpline
        The spline.

    Raises
    ------
    ValueError
        If the shapes do not match, the points do not increase, or the number of conditions is
        wrong.
    NotImplementedError
        If `bc_type` is "periodic": use `CubicSpline`.

    See Also
    --------
    CubicSpline

    Examples
    --------
    >>> spline = pb.interpolate.make_interp_spline([0.0, 1.0, 2.0], [0.0, 1.0, 4.0], 2)
    >>> pb.round(spline([0.5, 1.5]), 4)
    Tensor([0.25, 2.25], dtype=float32)
    """
    who = "make_interp_spline"
    degree = degree_of(k, who)
    made, points = beside(who, y, x)
    points = points_of(points, who, least=2)
    values, at = vectors(made, integer(axis, who, "axis"), points.shape[0], who)
    ends = _conditions(bc_type, degree, values, who)
    has_ends = ends != (None, None)
    knots = _knots(points, degree, has_ends) if t is None else reals(who, t, points)[0]
    knots = checked_knots(knots, degree, who)
    size, n = knots.shape[0] - degree - 1, points.shape[0]
    count = sum(len(one or ()) for one in ends)
    if size - n != count:
        raise ValueError(
            f"{who}: expected {max(size - n, 0)} conditions at the ends for {n} points, "
            f"{knots.shape[0]} knots and k={degree}, got {count}"
        )
    unit = unchecked(knots, _core.eye(size, size, 0, knots.dtype), degree, True, 0)
    rows, sides = [unit(points)], [values]
    for end, known in zip((points[:1], points[-1:]), ends, strict=True):
        for order, value in known or ():
            rows.append(unit(end, order))
            sides.append(_core.broadcast_to(value, (1, *values.shape[1:])))
    matrix, right = _core.concat(rows, 0), _core.concat(sides, 0)
    flat = _core.reshape(right, (size, -1))
    c = solve(_core.cast(matrix, right.dtype.name), flat)
    return unchecked(knots, _core.reshape(c, right.shape), degree, True, at)


def _knots(x: Tensor, k: int, has_ends: bool) -> Tensor:
    """Return the knots of SciPy; `has_ends` is True if there are conditions at the ends."""
    first, last = x[:1], x[-1:]
    if k == 0:
        return _core.concat([x, last], 0)
    if has_ends or k == 1:
        return _core.concat([*[first] * k, x, *[last] * k], 0)
    inner = x if k % 2 else 0.5 * (x[1:] + x[:-1])
    cut = (k + 1) // 2
    inner = inner[cut : max(inner.shape[0] - cut, cut)]
    return _core.concat([*[first] * (k + 1), inner, *[last] * (k + 1)], 0)


def _conditions(bc_type: Any, k: int, y: Tensor, who: str) -> tuple[Any, Any]:
    """Return for each end a list of pairs (order, value), or None."""
    if isinstance(bc_type, str) and bc_type == "periodic":
        raise NotImplementedError(f"{who}: bc_type='periodic' is not implemented; use CubicSpline")
    pair = (bc_type, bc_type) if bc_type is None or isinstance(bc_type, str) else bc_type
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise ValueError(
            f"{who}: expected a word or a pair for bc_type, got {_core.shown(bc_type)}"
        )
    return _condition(pair[0], k, y, who), _condition(pair[1], k, y, who)


def _condition(one: Any, k: int, y: Tensor, who: str) -> list[tuple[int, Tensor]] | None:
    """Return the conditions at one end as pairs of the order and a value in the dtype of `y`."""
    words: dict[str, list[tuple[int, float]] | None] = {
        "not-a-knot": None, "natural": [(2, 0.0)], "clamped": [(1, 0.0)]
    }  # fmt: skip
    if isinstance(one, str):
        one = words[choice(one, tuple(words), who, "bc_type")]
    if one is None:
        return None
    if not isinstance(one, (tuple, list)) or any(
        not isinstance(pair, (tuple, list)) or len(pair) != 2 for pair in one
    ):
        raise ValueError(
            f"{who}: expected a word or a list of pairs (order, value) for each end in bc_type, "
            f"got {_core.shown(one)}; write for example [(1, 0.0)]"
        )
    orders = [integer(order, who, "the order of a derivative in bc_type") for order, _ in one]
    if len(set(orders)) < len(orders) or any(not 1 <= order <= k for order in orders):
        raise ValueError(
            f"{who}: expected distinct orders from 1 to k={k} for one end in bc_type, got {orders}"
        )
    return [(order, _value(value, y, who)) for order, (_, value) in zip(orders, one, strict=True)]


def _value(value: Any, y: Tensor, who: str) -> Tensor:
    """Return the value of a condition in the dtype of `y`."""
    made = _core.constant(value, None, f"{who}: bc_type")
    if made.dtype.kind == "c" and y.dtype.kind != "c":
        raise TypeError(f"{who}: expected real values in bc_type, got {made.dtype}; pass complex y")
    try:
        return _core.broadcast_to(_core.cast(made, y.dtype), y.shape[1:])
    except ValueError:
        raise ValueError(
            f"{who}: expected a derivative of shape {y.shape[1:]} in bc_type, got {made.shape}"
        ) from None
