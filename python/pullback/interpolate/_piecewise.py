"""`PPoly`: piecewise polynomials, which all splines are."""

from __future__ import annotations

from math import factorial
from typing import Any

from .. import _core
from .._base.checks import axes_of, flag, integer
from .._base.domains import nan_unless
from .._core import Tensor
from .._numpy.scans import cumsum
from .._typing import TensorLike
from ._arrays import Extrapolate, beside, extrapolate_of, points_of, reals, with_axes
from ._piecewise_roots import roots_of


class PPoly:
    """Represent a piecewise polynomial by coefficients and breakpoints.

    Between ``x[i]`` and ``x[i + 1]`` it is the sum of ``c[k - m, i] * (t - x[i])**m`` over m <= k,
    where k is the degree. It is differentiable in the coefficients, the breakpoints and the points
    at which it is evaluated.

    Parameters
    ----------
    c : array_like
        Coefficients of shape (k + 1, n - 1, …), the highest power first.
    x : array_like, real
        Breakpoints in increasing order, of shape (n,).
    extrapolate : bool or "periodic", optional
        What the polynomial is outside the breakpoints: the one of the outermost interval (True),
        NaN (False), or a periodic function. Default: True.
    axis : int, optional
        Axis of the results to which the shape of the points belongs. Default: 0.

    Attributes
    ----------
    c : Tensor
        Coefficients.
    x : Tensor
        Breakpoints.
    extrapolate : bool or "periodic"
        Rule outside the breakpoints.
    axis : int
        Axis of the results.

    Raises
    ------
    ValueError
        If the shapes do not match, or the breakpoints do not increase.

    Examples
    --------
    >>> square = pb.interpolate.PPoly([[1.0], [0.0], [0.0]], [0.0, 1.0])
    >>> square([0.5, 2.0]), square(0.5, 1)
    (Tensor([0.25, 4.  ], dtype=float32), Tensor(1., dtype=float32))
    """

    def __init__(
        self, c: TensorLike, x: TensorLike, extrapolate: Extrapolate | None = None, axis: int = 0
    ) -> None:
        who = type(self).__name__
        made, points = beside(who, c, x)
        points = points_of(points, who)
        if len(made.shape) < 2 or made.shape[1] != points.shape[0] - 1 or made.shape[0] < 1:
            raise ValueError(
                f"{who}: expected coefficients of shape (k + 1, {points.shape[0] - 1}, ...), one "
                f"column for each interval, got shape {made.shape}"
            )
        self._set(made, points, extrapolate_of(extrapolate, True, who), integer(axis, who, "axis"))

    def _set(self, c: Tensor, x: Tensor, extrapolate: Extrapolate, axis: int) -> None:
        self.c, self.x, self.extrapolate = c, x, extrapolate
        self.axis = axes_of(axis, len(c.shape) - 1, type(self).__name__)[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}(degree {self.c.shape[0] - 1}, {self.x.shape[0]} breakpoints)"

    def __call__(
        self, x: TensorLike, nu: int = 0, extrapolate: Extrapolate | None = None
    ) -> Tensor:
        """Evaluate the polynomial or a derivative of it.

        Parameters
        ----------
        x : array_like, real
            Points of any shape.
        nu : int, optional
            Order of the derivative. Default: 0.
        extrapolate : bool or "periodic", optional
            Rule outside the breakpoints. Default: the attribute.

        Returns
        -------
        Tensor
            Values; the shape of `x` replaces the interpolated axis.

        Raises
        ------
        ValueError
            If `nu` is negative or `extrapolate` is invalid.

        Examples
        --------
        >>> line = pb.interpolate.PPoly([[2.0], [1.0]], [0.0, 1.0], extrapolate=False)
        >>> line([0.5, 3.0])
        Tensor([ 2., nan], dtype=float32)
        """
        who = type(self).__name__
        rule = extrapolate_of(extrapolate, self.extrapolate, who)
        order = integer(nu, who, "nu")
        if order < 0:
            raise ValueError(f"{who}: expected nu >= 0, got {order}; see antiderivative")
        at, points = reals(who, x, self.x)
        if rule == "periodic":
            at = points[0] + _core.remainder(at - points[0], points[-1] - points[0])
        value = self._evaluate(at, points, order)
        if rule is False:
            outside = _core.logical_or(_core.less(at, points[0]), _core.greater(at, points[-1]))
            value = nan_unless(_core.logical_not(self._beside(outside)), value)
        return self._placed(value, len(at.shape))

    def _evaluate(self, at: Tensor, points: Tensor, order: int) -> Tensor:
        """Return values of shape (*at.shape, *rest)."""
        degree = self.c.shape[0] - 1
        last = points.shape[0] - 2
        number = _core.searchsorted(points, at, True) - 1
        number = _core.minimum(_core.maximum(number, 0), last)
        t = self._beside(at - _core.take(points, number, 0, checked=True))
        if order > degree:
            return _core.take(self.c[0], number, 0, checked=True) * 0.0 + 0.0 * t
        # A polynomial of degree 0 has no t, whose shape and dtype belong to the result.
        value = 0.0 * t
        for power in range(degree, order - 1, -1):
            factor = factorial(power) // factorial(power - order)
            term = factor * _core.take(self.c[degree - power], number, 0, checked=True)
            value = term + (value if power == degree else value * t)
        return value

    def _beside(self, t: Tensor) -> Tensor:
        """Append axes of size 1 for those of the coefficients."""
        return with_axes(t, len(self.c.shape) - 2)

    def _placed(self, value: Tensor, rank: int) -> Tensor:
        """Move the axes of the points, which are the first ones, to the interpolated axis."""
        if self.axis == 0:
            return value
        rest = range(rank, len(value.shape))
        order = [*rest[: self.axis], *range(rank), *rest[self.axis :]]
        return _core.transpose(value, order)

    def derivative(self, nu: int = 1) -> PPoly:
        """Return a derivative as a piecewise polynomial.

        Parameters
        ----------
        nu : int, optional
            Order of the derivative, at least 0. Default: 1.

        Returns
        -------
        PPoly
            The derivative, with the rule outside the breakpoints of this one.

        Raises
        ------
        ValueError
            If `nu` is negative.

        Examples
        --------
        >>> square = pb.interpolate.PPoly([[1.0], [0.0], [0.0]], [0.0, 1.0])
        >>> square.derivative()(3.0)
        Tensor(6., dtype=float32)
        """
        order = integer(nu, type(self).__name__, "nu")
        if order < 0:
            raise ValueError(f"{type(self).__name__}.derivative: expected nu >= 0, got {order}")
        degree = self.c.shape[0] - 1
        rows = [
            self.c[degree - power] * (factorial(power) // factorial(power - order))
            for power in range(degree, order - 1, -1)
        ]
        c = _core.stack(rows or [self.c[0] * 0.0], 0)
        return _made(c, self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> PPoly:
        """Return an antiderivative that is 0 at the first breakpoint.

        Parameters
        ----------
        nu : int, optional
            How often to integrate, at least 0. Default: 1.

        Returns
        -------
        PPoly
            The antiderivative, which is continuous. One of a periodic polynomial is not periodic,
            so its rule outside the breakpoints is False.

        Raises
        ------
        ValueError
            If `nu` is negative.

        Examples
        --------
        >>> line = pb.interpolate.PPoly([[2.0], [0.0]], [0.0, 1.0])
        >>> line.antiderivative()(3.0)
        Tensor(9., dtype=float32)
        """
        order = integer(nu, type(self).__name__, "nu")
        if order < 0:
            raise ValueError(f"{type(self).__name__}.antiderivative: expected nu >= 0, got {order}")
        c, degree = self.c, self.c.shape[0] - 1
        widths = self._beside(self.x[1:] - self.x[:-1])
        for _ in range(order):
            rows = [c[degree - power] / (power + 1) for power in range(degree, -1, -1)]
            area: Any = rows[0]
            for row in rows[1:]:
                area = area * widths + row
            sums = cumsum(area * widths, axis=0)
            start = _core.concat([sums[:1] * 0.0, sums[:-1]], 0)
            c, degree = _core.stack([*rows, start], 0), degree + 1
        rule = False if self.extrapolate == "periodic" and order else self.extrapolate
        return _made(c, self.x, rule, self.axis)

    def integrate(
        self, a: TensorLike, b: TensorLike, extrapolate: Extrapolate | None = None
    ) -> Tensor:
        """Integrate from `a` to `b`.

        Parameters
        ----------
        a, b : array_like, real, scalar
            Limits of the integral.
        extrapolate : bool or "periodic", optional
            Rule outside the breakpoints. Default: the attribute.

        Returns
        -------
        Tensor
            The integral, without the interpolated axis.

        Raises
        ------
        ValueError
            If `extrapolate` is invalid.

        Examples
        --------
        >>> square = pb.interpolate.PPoly([[1.0], [0.0], [0.0]], [0.0, 1.0])
        >>> square.integrate(0.0, 3.0)
        Tensor(9., dtype=float32)
        """
        rule = extrapolate_of(extrapolate, self.extrapolate, type(self).__name__)
        whole = self.antiderivative()
        a, b, _ = reals("PPoly.integrate", a, b, self.x)
        if rule != "periodic":
            return whole(b, 0, rule) - whole(a, 0, rule)
        period = self.x[-1] - self.x[0]
        parts = []
        for at in (a, b):
            first = self.x[0]
            turns = _core.stop_gradient(_core.floor((at - first) / period))
            parts.append(turns * whole(self.x[-1], 0, True) + whole(at - turns * period, 0, True))
        return parts[1] - parts[0]

    def solve(
        self, y: TensorLike = 0.0, discontinuity: bool = True,
        extrapolate: Extrapolate | None = None,
    ) -> Tensor:  # fmt: skip
        """Find the points at which the polynomial is `y`.

        They are differentiable in the coefficients, the breakpoints and `y`, up to the third order;
        the gradient of a root at which the slope is 0 is NaN.

        Parameters
        ----------
        y : array_like, real, scalar, optional
            Value. Default: 0.
        discontinuity : bool, optional
            If True, jumps across `y` at breakpoints are roots. Default: True.
        extrapolate : bool or "periodic", optional
            If False, only roots between the breakpoints are found; "periodic" does the same.
            Default: the attribute.

        Returns
        -------
        Tensor
            Roots in increasing order, of shape (m,), as in SciPy: NaN follows the start of an
            interval in which the polynomial is equal to `y`.

        Raises
        ------
        TypeError
            If values are not known because a function is traced.
        ValueError
            If the coefficients are complex or have more than two axes.

        Examples
        --------
        >>> square = pb.interpolate.PPoly([[1.0], [0.0], [-4.0]], [0.0, 3.0], extrapolate=False)
        >>> square.solve(), square.solve(5.0)
        (Tensor([2.], dtype=float32), Tensor([3.], dtype=float32))
        """
        return self._solved(y, discontinuity, extrapolate, "solve")

    def roots(self, discontinuity: bool = True, extrapolate: Extrapolate | None = None) -> Tensor:
        """Find the roots of the polynomial; see `solve`.

        Parameters
        ----------
        discontinuity : bool, optional
            If True, changes of the sign at breakpoints are roots. Default: True.
        extrapolate : bool or "periodic", optional
            If False, only roots between the breakpoints are found. Default: the attribute.

        Returns
        -------
        Tensor
            Roots in increasing order, of shape (m,).

        Raises
        ------
        TypeError
            If values are not known because a function is traced.
        ValueError
            If the coefficients are complex or have more than two axes.

        Examples
        --------
        >>> spline = pb.interpolate.CubicSpline([0.0, 1.0, 2.0, 3.0], [-1.0, 0.0, 7.0, 26.0])
        >>> pb.round(spline.roots(), 4)
        Tensor([1.], dtype=float32)
        """
        return self._solved(0.0, discontinuity, extrapolate, "roots")

    def _solved(self, y: Any, discontinuity: Any, extrapolate: Any, what: str) -> Tensor:
        who = f"{type(self).__name__}.{what}"
        rule = extrapolate_of(extrapolate, self.extrapolate, who)
        level = _core.constant(y, None, who)
        if level.shape != () or level.dtype.kind == "c":
            raise ValueError(f"{who}: expected a real number for y, got {_core.shown(y)}")
        return roots_of(
            self, _core.cast(level, self.x.dtype), flag(discontinuity, who, "discontinuity"),
            rule is True, who,
        )  # fmt: skip


def _made(c: Tensor, x: Tensor, extrapolate: Extrapolate, axis: int) -> PPoly:
    """Return a polynomial without the checks of its arguments."""
    made = PPoly.__new__(PPoly)
    made._set(c, x, extrapolate, axis)
    return made


def of_slopes(x: Tensor, y: Tensor, slopes: Tensor) -> Tensor:
    """Return the coefficients of cubic polynomials from values and slopes at the breakpoints.

    `y` and `slopes` have shape (n, …); the result has shape (4, n - 1, …).
    """
    widths = with_axes(x[1:] - x[:-1], len(y.shape) - 1)
    rise = (y[1:] - y[:-1]) / widths
    bend = (slopes[:-1] + slopes[1:] - 2 * rise) / widths
    c = [bend / widths, (rise - slopes[:-1]) / widths - bend, slopes[:-1], y[:-1]]
    return _core.stack(c, 0)
