"""Interpolation of values on rectangular grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import nan
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import choice, integer, made_floating
from .._base.composite import composite
from .._base.domains import nan_unless
from .._core import Tensor
from .._numpy.flipping import flip
from .._typing import TensorLike
from ._arrays import beside, points_of, reals, with_axes
from ._grid_splines import DEGREES, GridSpline
from ._image_splines import coefficients, margin, spline_corners

METHODS = ("linear", "nearest", "slinear", "cubic", "quintic")


class RegularGridInterpolator:
    """Interpolate values on a rectangular grid of any number of dimensions.

    It is differentiable in the values and the points at which it is evaluated, and with all methods
    but "nearest" in the coordinates of the grid too.

    Parameters
    ----------
    points : sequence of array_like, real
        Coordinates of the grid along each axis, increasing or decreasing, at least two.
    values : array_like
        Values of shape (m1, …, mn, …).
    method : {"linear", "nearest", "slinear", "cubic", "quintic"}, optional
        Rule between the points of the grid. "cubic" and "quintic" are tensor products of splines
        with not-a-knot conditions, and require 4 and 6 points along each axis; "slinear" is
        "linear". Default: "linear".
    bounds_error : bool, optional
        If True, a point outside the grid is an error. Inside a traced `function` the points are not
        known, and the value there is NaN. Default: True.
    fill_value : array_like, scalar, or None, optional
        Value outside the grid if `bounds_error` is False. None extrapolates. Default: NaN.

    Attributes
    ----------
    grid : tuple of Tensor
        Coordinates along each axis, in increasing order.
    values : Tensor
        Values, in the order of `grid`.
    method : str
        Rule between the points of the grid.
    bounds_error : bool
        Whether a point outside is an error.
    fill_value : array_like or None
        Value outside the grid.

    Raises
    ------
    ValueError
        If the shapes do not match, the coordinates are not sorted, or `method` is unknown.
    TypeError
        If coordinates are complex.

    See Also
    --------
    interpn, map_coordinates

    Examples
    --------
    >>> values = [[0.0, 1.0], [10.0, 11.0]]
    >>> f = pb.interpolate.RegularGridInterpolator(([0.0, 1.0], [0.0, 2.0]), values)
    >>> f([[0.5, 1.0], [1.0, 2.0]])
    Tensor([ 5.5, 11. ], dtype=float32)
    """

    def __init__(
        self,
        points: Sequence[TensorLike],
        values: TensorLike,
        method: str = "linear",
        bounds_error: bool = True,
        fill_value: Any = nan,
    ) -> None:
        who = "RegularGridInterpolator"
        self.method = choice(method, METHODS, who, "method")
        self.bounds_error, self.fill_value = bounds_error, fill_value
        made = made_floating(values, who, "fc")
        if not isinstance(points, (tuple, list)) or not points:
            raise ValueError(f"{who}: expected a tuple with the coordinates along each axis")
        if len(points) > len(made.shape):
            raise ValueError(
                f"{who}: expected values of at least {len(points)} axes, got shape {made.shape}"
            )
        made, *coordinates = beside(who, values, *points)
        grid = []
        for axis, along in enumerate(coordinates):
            size = along.shape[0] if along.shape else 0
            if len(along.shape) == 1 and size > 1:
                along, made = _increasing(along, made, axis)
            grid.append(points_of(along, who, f"points[{axis}]"))
            if made.shape[axis] != grid[-1].shape[0]:
                raise ValueError(
                    f"{who}: expected {grid[-1].shape[0]} values along axis {axis}, as in "
                    f"points[{axis}], got shape {made.shape}"
                )
        self.grid, self.values = tuple(grid), made
        self._spline = self._spline_of(self.method, who)

    def _spline_of(self, method: str, who: str) -> GridSpline | None:
        return GridSpline(self.grid, self.values, method, who) if method in DEGREES else None

    def __repr__(self) -> str:
        sizes = tuple(g.shape[0] for g in self.grid)
        return f"RegularGridInterpolator(grid {sizes}, {self.method})"

    def __call__(self, xi: TensorLike, method: str | None = None) -> Tensor:
        """Evaluate at points.

        Parameters
        ----------
        xi : array_like, real, or tuple of array_like
            Points of shape (…, n), or n coordinates that broadcast.
        method : {"linear", "nearest", "slinear", "cubic", "quintic"}, optional
            Rule between the points of the grid. Default: the attribute.

        Returns
        -------
        Tensor
            Shape of the points without the last axis, then the axes of the values after those of
            the grid.

        Raises
        ------
        ValueError
            If the points have another number of coordinates, or one is outside the grid and
            `bounds_error` is True.

        Examples
        --------
        >>> f = pb.interpolate.RegularGridInterpolator(([0.0, 1.0],), [0.0, 10.0])
        >>> f(([0.25, 0.75],), "nearest")
        Tensor([ 0., 10.], dtype=float32)
        """
        who = "RegularGridInterpolator"
        rule = choice(method or self.method, METHODS, who, "method")
        at = self._coordinates(xi, who)
        values, *rest = beside(who, self.values, *self.grid, *at)
        grid, at = rest[: len(at)], rest[len(at) :]
        outside: Any = None
        missing: Any = None
        for axis, (points, x) in enumerate(zip(grid, at, strict=True)):
            beyond = _core.logical_or(_core.less(x, points[0]), _core.greater(x, points[-1]))
            if self.bounds_error and not _core.is_traced(beyond) and bool(_core.any(beyond)):
                raise ValueError(
                    f"{who}: expected coordinates from {float(points[0]):.6g} to "
                    f"{float(points[-1]):.6g} along axis {axis}, got one outside; pass "
                    "bounds_error=False and fill_value, or clip the points"
                )
            outside = beyond if outside is None else _core.logical_or(outside, beyond)
            none = _core.isnan(x)
            missing = none if missing is None else _core.logical_or(missing, none)
        spline = self._spline if rule == self.method else self._spline_of(rule, who)
        if spline is None:
            corners = [_corners(g, x, rule) for g, x in zip(grid, at, strict=True)]
        else:
            values, *knots = beside(who, spline.coefficients, *spline.knots, *at)
            corners = [spline.corners(k, knots[k], x) for k, x in enumerate(at)]
        result = at_corners(values, corners)
        fill = nan if self.bounds_error else self.fill_value
        trailing = len(result.shape) - len(outside.shape)
        if fill is not None:
            missing = _core.logical_or(missing, _core.logical_and(outside, _core.isnan(fill)))
            filled = _core.logical_and(outside, _core.logical_not(missing))
            result = _core.where(with_axes(filled, trailing), fill, result)
        return nan_unless(_core.logical_not(with_axes(missing, trailing)), result)

    def _coordinates(self, xi: Any, who: str) -> list[Tensor]:
        """Return a tensor of coordinates for each axis, all of one shape."""
        count = len(self.grid)
        if isinstance(xi, tuple):
            made = reals(who, *xi, *self.grid)[: len(xi)]
            shape = np.broadcast_shapes(*(x.shape for x in made))
            made = [_core.broadcast_to(x, shape) for x in made]
        else:
            points = reals(who, xi, *self.grid)[0]
            if count == 1 and (len(points.shape) < 2 or points.shape[-1] != 1):
                points = points[..., None]
            made = [points[..., k] for k in range(points.shape[-1])] if points.shape else []
        if len(made) != count:
            raise ValueError(
                f"{who}: expected points of {count} coordinates, one for each axis of the grid, "
                f"got {len(made)}"
            )
        return made


def _increasing(along: Tensor, values: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Reverse coordinates that decrease, and the values along their axis."""
    decreases = _core.less(along[1], along[0])
    if _core.is_traced(along):
        reverse = _core.where(decreases, flip(along, 0), along)
        return reverse, _core.where(decreases, flip(values, axis), values)
    return (flip(along, 0), flip(values, axis)) if bool(decreases) else (along, values)


# A corner of a cell along one axis: the number of the point, its weight (None: 1), and a mask of
# the points where it lies on the grid (None: all).
Corner = tuple[Tensor, Any, Any]


def _corners(points: Tensor, x: Tensor, rule: str) -> list[Corner]:
    """Return the corners of the cells that the coordinates are in."""
    low = _core.searchsorted(points, _core.stop_gradient(x), True) - 1
    low = _core.minimum(_core.maximum(low, 0), points.shape[0] - 2)
    first = _core.take(points, low, 0, checked=True)
    width = _core.take(points, low + 1, 0, checked=True) - first
    part = (x - first) / width
    if rule == "nearest":
        return [(_core.where(_core.less_equal(part, 0.5), low, low + 1), None, None)]
    return [(low, 1 - part, None), (low + 1, part, None)]


def at_corners(values: Tensor, axes: list[list[Corner]], outside: Any = None) -> Tensor:
    """Sum the values at all corners of the cells, times the products of their weights."""
    total: Any = None
    for corner in product(*axes):
        term = values[tuple(number for number, _, _ in corner)]
        rank = len(corner[0][0].shape)
        weights = [weight for _, weight, _ in corner if weight is not None]
        masks = [mask for _, _, mask in corner if mask is not None]
        rest = len(term.shape) - rank
        for mask in masks:
            term = _core.where(with_axes(mask, rest), term, outside)
        for weight in weights:
            term = term * with_axes(weight, rest)
        total = term if total is None else total + term
    return total  # type: ignore[no-any-return]


def interpn(
    points: Sequence[TensorLike],
    values: TensorLike,
    xi: TensorLike,
    method: str = "linear",
    bounds_error: bool = True,
    fill_value: Any = nan,
) -> Tensor:
    """Interpolate values on a rectangular grid at points.

    Parameters
    ----------
    points : sequence of array_like, real
        Coordinates of the grid along each axis, increasing or decreasing, at least two.
    values : array_like
        Values of shape (m1, …, mn, …).
    xi : array_like, real, or tuple of array_like
        Points of shape (…, n), or n coordinates that broadcast.
    method : {"linear", "nearest", "slinear", "cubic", "quintic"}, optional
        Rule between the points of the grid; see `RegularGridInterpolator`. Default: "linear".
    bounds_error : bool, optional
        If True, a point outside the grid is an error; see `RegularGridInterpolator`. Default: True.
    fill_value : array_like, scalar, or None, optional
        Value outside the grid if `bounds_error` is False. None extrapolates. Default: NaN.

    Returns
    -------
    Tensor
        Shape of the points without the last axis, then the axes of the values after those of the
        grid.

    Raises
    ------
    ValueError
        If the shapes do not match, the coordinates are not sorted, `method` is unknown, or a point
        is outside the grid and `bounds_error` is True.
    TypeError
        If coordinates are complex.

    See Also
    --------
    RegularGridInterpolator

    Examples
    --------
    >>> pb.interpolate.interpn(([0.0, 1.0],), [0.0, 10.0], [0.25, 0.5])
    Tensor([2.5, 5. ], dtype=float32)
    """
    return RegularGridInterpolator(points, values, method, bounds_error, fill_value)(xi)


_MODES = ("constant", "grid-constant", "nearest", "mirror", "reflect", "wrap", "grid-wrap")


@composite
def map_coordinates(
    input: TensorLike,  # the name in SciPy
    coordinates: TensorLike,
    order: int = 3,
    mode: str = "constant",
    cval: TensorLike = 0.0,
) -> Tensor:
    """Interpolate an image at coordinates in units of its entries.

    It is ``scipy.ndimage.map_coordinates`` for the orders 0 to 3. Differentiable in `input`,
    `coordinates` and `cval`.

    Parameters
    ----------
    input : array_like
        Image of any rank n >= 1; integers become the default floating dtype.
    coordinates : array_like, real
        Coordinates of shape (n, …).
    order : {0, 1, 2, 3}, optional
        0: value of the nearest entry. 1: linear interpolation. 2, 3: splines through the entries;
        the image is multiplied by a matrix of its size along each axis. Default: 3.
    mode : str, optional
        Values outside the image, as in SciPy: "constant" (`cval`), "grid-constant" (`cval`, with
        interpolation at the border), "nearest" (the entry at the border), "mirror" and "reflect"
        (reflected about the centre or the edge of the outermost entry), "wrap" and "grid-wrap"
        (periodic; the last entry is the first one, or is next to it). Default: "constant".
    cval : array_like, scalar, optional
        Value outside the image for the first two modes. Default: 0.

    Returns
    -------
    Tensor
        Shape of `coordinates` without the first axis.

    Raises
    ------
    ValueError
        If `order` or `mode` is unknown, the image is a scalar or empty, or the shapes do not match.
    TypeError
        If the coordinates are complex.

    See Also
    --------
    RegularGridInterpolator

    Examples
    --------
    >>> image = [[0.0, 1.0], [2.0, 3.0]]
    >>> pb.interpolate.map_coordinates(image, [[0.5, 5.0], [0.5, 0.0]], 1, "nearest")
    Tensor([1.5, 2. ], dtype=float32)
    """
    who = "map_coordinates"
    if integer(order, who, "order") not in (0, 1, 2, 3):
        raise ValueError(f"{who}: expected order 0, 1, 2 or 3, got {order}")
    rule = choice(mode, _MODES, who, "mode")
    image, at = beside(who, input, coordinates)
    if not image.shape or 0 in image.shape:
        raise ValueError(f"{who}: expected an image with entries, got shape {image.shape}")
    if not at.shape or at.shape[0] != len(image.shape):
        raise ValueError(
            f"{who}: expected coordinates of shape ({len(image.shape)}, ...), one row for each "
            f"axis of the image, got shape {at.shape}"
        )
    spline = order > 1
    wide = margin(rule) if spline else 0
    zeros = spline and rule == "grid-constant"  # the weights of a spline have the sum 1
    if spline:
        image = coefficients(image - cval if zeros else image, order, rule)
    axes, outside = [], None
    for axis, size in enumerate(image.shape):
        x = at[axis] + wide if wide else at[axis]
        if rule == "constant":
            beyond = _core.logical_or(_core.less(x, 0), _core.greater(x, size - 1))
            outside = beyond if outside is None else _core.logical_or(outside, beyond)
        corners = spline_corners if spline else _image_corners
        axes.append(corners(_folded(x, size, rule), size, order, rule))
    result = at_corners(image, axes, 0 if zeros else cval)
    result = result + cval if zeros else result
    return result if outside is None else _core.where(outside, cval, result)


def _folded(x: Tensor, size: int, rule: str) -> Tensor:
    """Return coordinates inside the image that have the same value."""
    if rule == "grid-constant":
        return x
    if rule == "mirror" and size > 1:
        x = _core.remainder(x, 2 * (size - 1))
        x = _core.where(_core.greater(x, size - 1), 2 * (size - 1) - x, x)
    elif rule == "reflect":
        x = _core.remainder(x + 0.5, 2 * size)
        return _core.where(_core.greater(x, size), 2 * size - x, x) - 0.5
    elif rule == "wrap" and size > 1:
        # As in SciPy, a negative multiple of the period is the last entry.
        period = size - 1
        inside = _core.logical_and(_core.greater_equal(x, 0), _core.less_equal(x, period))
        start = _core.less(x, 0)
        turns = _core.where(start, -_core.floor(-x / period) - 1, _core.floor(x / period))
        x = _core.where(inside, x, x - period * _core.stop_gradient(turns))
    elif rule == "grid-wrap":
        return _core.remainder(x, size)
    return _core.minimum(_core.maximum(x, 0), size - 1)


def _image_corners(x: Tensor, size: int, order: int, rule: str) -> list[Corner]:
    below = _core.floor(x if order else x + 0.5)
    part = x - _core.stop_gradient(below)
    made: list[Corner] = []
    for step, weight in ((0, 1 - part), (1, part)) if order else ((0, None),):
        number = _core.cast(_core.stop_gradient(below), "int64") + step
        inside = None
        if rule == "grid-wrap":
            number = _core.remainder(number, size)
        else:
            if rule == "grid-constant":
                inside = _core.logical_and(_core.greater_equal(number, 0), _core.less(number, size))
            number = _core.minimum(_core.maximum(number, 0), size - 1)
        made.append((number, weight, inside))
    return made
