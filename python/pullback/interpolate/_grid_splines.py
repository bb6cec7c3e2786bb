"""Tensor products of B-splines through values on a rectangular grid."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._core import Tensor
from ._interpolating_bspline import make_interp_spline

DEGREES = {"cubic": 3, "quintic": 5}


class GridSpline:
    """Coefficients and knots of the spline with not-a-knot conditions along each axis."""

    def __init__(self, grid: tuple[Tensor, ...], values: Tensor, method: str, who: str) -> None:
        self.degree = DEGREES[method]
        self.knots: list[Tensor] = []
        for axis, points in enumerate(grid):
            if points.shape[0] <= self.degree:
                raise ValueError(
                    f"{who}: expected at least {self.degree + 1} coordinates along axis {axis} for "
                    f"method {method!r}, got {points.shape[0]}"
                )
            spline = make_interp_spline(points, values, self.degree, axis=axis)
            self.knots.append(spline.t)
            back = [*range(1, axis + 1), 0, *range(axis + 1, len(values.shape))]
            values = _core.transpose(spline.c, back)
        self.coefficients = values

    def corners(self, axis: int, knots: Tensor, x: Tensor) -> list[tuple[Tensor, Tensor, None]]:
        """Return the numbers of the coefficients along an axis and their weights at `x`.

        They are the B-splines that are not 0 there, by the recurrence of Cox and de Boor.
        """
        k, size = self.degree, self.coefficients.shape[axis]
        at = _core.searchsorted(knots, _core.stop_gradient(x), True) - 1
        at = _core.minimum(_core.maximum(at, k), size - 1)

        def knot(offset: int) -> Any:
            return _core.take(knots, at + offset, 0, checked=True)

        weights: list[Any] = [_core.full((), 1, x.dtype)]
        for degree in range(1, k + 1):
            rest: Any = None
            longer = []
            for r, weight in enumerate(weights):
                low, high = knot(r + 1 - degree), knot(r + 1)
                share = weight / (high - low)
                part = (high - x) * share
                longer.append(part if rest is None else rest + part)
                rest = (x - low) * share
            weights = [*longer, rest]
        return [(at - k + j, weight, None) for j, weight in enumerate(weights)]
