"""`BSpline`: sums of B-splines."""

from __future__ import annotations

from math import nan
from typing import Any

from .. import _core
from .._base.checks import axes_of, integer
from .._base.domains import nan_unless
from .._core import Tensor
from .._numpy.scans import cumsum
from .._typing import TensorLike
from ._arrays import Extrapolate, beside, extrapolate_of, reals, with_axes


class BSpline:
    """Represent a spline by its knots and its coefficients in the basis of B-splines.

    It is evaluated by de Boor's algorithm. It is differentiable in the coefficients, the knots and
    the points at which it is evaluated.

    Parameters
    ----------
    t : array_like, real
        Knots of shape (n + k + 1,), which do not decrease.
    c : array_like
        Coefficients of shape (n, …). As in SciPy, further ones are ignored.
    k : int
        Degree.
    extrapolate : bool or "periodic", optional
        What the spline is outside of ``t[k]`` and ``t[n]``: the first or the last polynomial
        (True), NaN (False), or a periodic function. Default: True.
    axis : int, optional
        Axis of the results to which the shape of the points belongs. Default: 0.

    Attributes
    ----------
    t : Tensor
        Knots.
    c : Tensor
        Coefficients.
    k : int
        Degree.
    extrapolate : bool or "periodic"
        Rule outside of the base interval.
    axis : int
        Axis of the results.

    Raises
    ------
    ValueError
        If the shapes do not match, `k` is negative, or the knots decrease.

    See Also
    --------
    make_interp_spline, PPoly

    Examples
    --------
    >>> steps = pb.interpolate.BSpline([0.0, 1.0, 2.0], [1.0, 3.0], 0)
    >>> steps([0.5, 1.5])
    Tensor([1., 3.], dtype=float32)
    """

    def __init__(
        self, t: TensorLike, c: TensorLike, k: int, extrapolate: Extrapolate | None = None,
        axis: int = 0,
    ) -> None:  # fmt: skip
        who = "BSpline"
        made, knots = beside(who, c, t)
        degree, axis = degree_of(k, who), integer(axis, who, "axis")
        knots = checked_knots(knots, degree, who)
        at = axes_of(axis, len(made.shape), who)[0]
        if at:
            made = _core.transpose(made, [at, *(j for j in range(len(made.shape)) if j != at)])
        n = knots.shape[0] - degree - 1
        if not made.shape or made.shape[0] < n:
            raise ValueError(
                f"{who}: expected at least {n} coefficients for {knots.shape[0]} knots and "
                f"k={degree}, got shape {made.shape}"
            )
        self._set(knots, made[:n], degree, extrapolate_of(extrapolate, True, who), at)

    def _set(self, t: Tensor, c: Tensor, k: int, extrapolate: Extrapolate, axis: int) -> None:
        self.t, self.c, self.k, self.extrapolate, self.axis = t, c, k, extrapolate, axis

    def __repr__(self) -> str:
        return f"BSpline(degree {self.k}, {self.t.shape[0]} knots)"

    def __call__(
        self, x: TensorLike, nu: int = 0, extrapolate: Extrapolate | None = None
    ) -> Tensor:
        """Evaluate the spline or a derivative of it.

        Parameters
        ----------
        x : array_like, real
            Points of any shape.
        nu : int, optional
            Order of the derivative. Default: 0.
        extrapolate : bool or "periodic", optional
            Rule outside of the base interval. Default: the attribute.

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
        >>> line = pb.interpolate.BSpline([0.0, 0.0, 2.0, 2.0], [1.0, 5.0], 1)
        >>> line([0.5, 3.0]), line(0.5, 1)
        (Tensor([2., 7.], dtype=float32), Tensor(2., dtype=float32))
        """
        who = "BSpline"
        rule = extrapolate_of(extrapolate, self.extrapolate, who)
        order = integer(nu, who, "nu")
        if order < 0:
            raise ValueError(f"{who}: expected nu >= 0, got {order}; see antiderivative")
        at, knots = reals(who, x, self.t)
        first, last = knots[self.k], knots[self.c.shape[0]]
        if rule == "periodic":
            at = first + _core.remainder(at - first, last - first)
        spline = self.derivative(order) if order else self
        value = spline._evaluate(at, self.k > 0)
        if rule is False:
            outside = _core.logical_or(_core.less(at, first), _core.greater(at, last))
            inside = _core.logical_not(with_axes(outside, len(self.c.shape) - 1))
            value = nan_unless(inside, value)
        if self.axis == 0:
            return value
        rank = len(at.shape)
        rest = range(rank, len(value.shape))
        return _core.transpose(value, [*rest[: self.axis], *range(rank), *rest[self.axis :]])

    def _evaluate(self, at: Tensor, skips_empty: bool) -> Tensor:
        """Return values of shape (*at.shape, *rest) by de Boor's algorithm.

        The first and the last interval may be empty. They count as intervals for degree 0 only, not
        for derivatives of that degree.
        """
        at, knots = reals("BSpline", at, self.t)
        k, n = self.k, self.c.shape[0]
        # The last interval that starts at or before the point; it is not empty, except at the ends.
        starts, fixed = _core.stop_gradient(knots[k:n]), _core.stop_gradient(knots)
        number = _core.searchsorted(starts, _core.stop_gradient(at), True) - 1 + k
        if skips_empty:
            least = _core.searchsorted(starts, fixed[k], True) - 1 + k
            most = _core.searchsorted(starts, fixed[n], False) - 1 + k
            number = _core.minimum(_core.maximum(number, least), most)
        else:
            number = _core.maximum(number, k)

        def knot(shift: int) -> Tensor:
            return _core.take(knots, number + shift, 0, checked=True)

        d = [_core.take(self.c, number - k + j, 0, checked=True) for j in range(k + 1)]
        for r in range(1, k + 1):
            for j in range(k, r - 1, -1):
                low, high = knot(j - k), knot(j + 1 - r)
                part = with_axes((at - low) / (high - low), len(self.c.shape) - 1)
                d[j] = (1 - part) * d[j - 1] + part * d[j]
        return d[k] + with_axes(0.0 * at, len(self.c.shape) - 1)  # the dtype of both

    def derivative(self, nu: int = 1) -> BSpline:
        """Return a derivative as a spline.

        Parameters
        ----------
        nu : int, optional
            Order of the derivative, at least 0. Default: 1.

        Returns
        -------
        BSpline
            The derivative, with the rule outside of the base interval of this one.

        Raises
        ------
        ValueError
            If `nu` is negative.

        Examples
        --------
        >>> line = pb.interpolate.BSpline([0.0, 0.0, 2.0, 2.0], [1.0, 5.0], 1)
        >>> line.derivative()(1.0)
        Tensor(2., dtype=float32)
        """
        order = integer(nu, "BSpline.derivative", "nu")
        if order < 0:
            raise ValueError(f"BSpline.derivative: expected nu >= 0, got {order}")
        t, c, k = self.t, self.c, self.k
        for _ in range(order):
            if k == 0:
                c = c * 0.0
                continue
            n = c.shape[0]
            gap = t[k + 1 : n + k] - t[1:n]
            is_empty = _core.equal(gap, 0)  # the B-spline of the difference is 0
            rate = _core.where(is_empty, 0.0, k / _core.where(is_empty, 1.0, gap))
            c = (c[1:] - c[:-1]) * with_axes(rate, len(c.shape) - 1)
            t, k = t[1:-1], k - 1
        return unchecked(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: int = 1) -> BSpline:
        """Return an antiderivative that is 0 at the first knot.

        Parameters
        ----------
        nu : int, optional
            How often to integrate, at least 0. Default: 1.

        Returns
        -------
        BSpline
            The antiderivative. One of a periodic spline is not periodic, so its rule outside of the
            base interval is False.

        Raises
        ------
        ValueError
            If `nu` is negative.

        Examples
        --------
        >>> line = pb.interpolate.BSpline([0.0, 0.0, 2.0, 2.0], [0.0, 4.0], 1)
        >>> line.antiderivative()(3.0)
        Tensor(9., dtype=float32)
        """
        order = integer(nu, "BSpline.antiderivative", "nu")
        if order < 0:
            raise ValueError(f"BSpline.antiderivative: expected nu >= 0, got {order}")
        t, c, k = self.t, self.c, self.k
        for _ in range(order):
            gap = t[k + 1 :] - t[: -k - 1]
            sums = cumsum(c * with_axes(gap / (k + 1), len(c.shape) - 1), axis=0)
            c = _core.concat([sums[:1] * 0.0, sums], 0)
            t, k = _core.concat([t[:1], t, t[-1:]], 0), k + 1
        rule = False if self.extrapolate == "periodic" and order else self.extrapolate
        return unchecked(t, c, k, rule, self.axis)

    def integrate(
        self, a: TensorLike, b: TensorLike, extrapolate: Extrapolate | None = None
    ) -> Tensor:
        """Integrate from `a` to `b`.

        Parameters
        ----------
        a, b : array_like, real, scalar
            Limits of the integral.
        extrapolate : bool or "periodic", optional
            Rule outside of the base interval; with False, the parts outside of it do not count, as
            in SciPy. Default: the attribute.

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
        >>> line = pb.interpolate.BSpline([0.0, 0.0, 2.0, 2.0], [0.0, 4.0], 1)
        >>> line.integrate(0.0, 3.0)
        Tensor(9., dtype=float32)
        """
        rule = extrapolate_of(extrapolate, self.extrapolate, "BSpline.integrate")
        whole = self.antiderivative()
        a, b, knots = reals("BSpline.integrate", a, b, self.t)
        first, last = knots[self.k], knots[self.c.shape[0]]
        values = []
        for at in (a, b):
            if rule is False:
                at = _core.minimum(_core.maximum(at, first), last)
            if rule != "periodic":
                values.append(whole(at, 0, True))
                continue
            turns = _core.stop_gradient(_core.floor((at - first) / (last - first)))
            start = whole(first, 0, True)
            inside = whole(at - turns * (last - first), 0, True) - start
            values.append(turns * (whole(last, 0, True) - start) + inside)
        return values[1] - values[0]


def degree_of(k: Any, who: str) -> int:
    degree = integer(k, who, "k")
    if degree < 0:
        raise ValueError(f"{who}: expected k >= 0, got {degree}")
    return degree


def checked_knots(t: Tensor, k: int, who: str) -> Tensor:
    """Return the knots, after a check; in a trace, NaN for invalid ones."""
    if len(t.shape) != 1 or t.shape[0] < 2 * k + 2:
        raise ValueError(
            f"{who}: expected a vector of at least {2 * k + 2} knots for k={k}, got shape {t.shape}"
        )
    is_sorted = _core.all(_core.greater_equal(t[1:], t[:-1]))
    valid = _core.logical_and(is_sorted, _core.greater(t[-k - 1], t[k]))
    if _core.is_traced(t):
        return _core.where(valid, t, nan)
    if not bool(valid):
        raise ValueError(f"{who}: expected knots that do not decrease, and t[k] < t[n]")
    return t


def unchecked(t: Tensor, c: Tensor, k: int, extrapolate: Extrapolate, axis: int) -> BSpline:
    """Return a spline without the checks of its arguments."""
    made = BSpline.__new__(BSpline)
    made._set(t, c, k, extrapolate, axis)
    return made
