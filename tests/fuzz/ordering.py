"""What scans, sorts, statistics and narrow dtypes mean: the part of the `Reference` that is not of
values one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from support import nn_reference

from . import special

Array = Any


class Ordering:
    """Takes from the `Reference` what it chooses, and what it takes for constant."""

    exact: bool
    chosen: Any
    undecided: Any
    common: Any
    product: Any
    stop_gradient: Any
    with_slope_of: Any
    dtype: Any

    # --- scans

    def cumulative_sum(self, x: Any, axis: int, include_initial: bool = False) -> Array:
        out = self.product(lambda x: np.cumsum(wide(x), axis), x)
        return np.insert(out, 0, 0, axis) if include_initial else out

    def cumulative_prod(self, x: Any, axis: int) -> Array:
        return np.cumprod(wide(x), axis)

    def cumulative_max(self, x: Any, axis: int) -> Array:
        return self._running(np.maximum, x, axis)

    def cumulative_min(self, x: Any, axis: int) -> Array:
        return self._running(np.minimum, x, axis)

    def _running(self, extreme: Any, x: Any, axis: int) -> Array:
        out = extreme.accumulate(x, axis)
        self.chosen((x == out) | (x != x))
        later, before = (np.delete(a, k, axis) for a, k in ((x, 0), (out, -1)))
        self.chosen(later == before)  # a tie, which the later one may win to both sides
        return out

    def cumulative_logsumexp(self, x: Any, axis: int) -> Array:
        return np.logaddexp.accumulate(self.common(x, floats=True)[0], axis)

    # --- sorts

    def _order(self, x: Any, axis: int, places: bool = False) -> Array:
        """Ties change sides with a step. Rounding decides the places of what nearly ties."""
        order = self.chosen(np.argsort(x, axis=axis, kind="stable"))
        out = np.take_along_axis(x, order, axis)
        near = np.abs(np.diff(out, axis=axis)) <= 1e-6 * np.abs(np.take(out, [0], axis))
        self.chosen(np.diff(out, axis=axis) == 0)
        if places and near.any():
            self.undecided()
        return out

    def sort(self, x: Any, axis: int = -1, descending: bool = False) -> Array:
        out = self._order(x, axis)
        return np.flip(out, axis) if descending else out

    def argsort(self, x: Any, axis: int = -1) -> Array:
        self._order(x, axis, places=True)
        return np.argsort(x, axis=axis, kind="stable")

    def topk(self, x: Any, k: int, axis: int = -1) -> tuple[Array, Array]:
        out = np.flip(self._order(x, axis, places=True), axis)
        order = np.argsort(-x, axis=axis, kind="stable")
        first = np.arange(k)
        return np.take(out, first, axis), np.take(order, first, axis)

    def quantile(
        self, x: Any, q: Any, axis: Any = None, keepdims: bool = False, method: str = "linear"
    ) -> Array:
        (x,) = self.common(x, floats=True)
        self._order(np.ravel(x) if axis is None else x, 0 if axis is None else axis)
        q = np.asarray(q, np.longdouble)
        out = np.nanquantile(x.astype(np.longdouble), q, axis, method=method, keepdims=keepdims)
        return np.asarray(out, x.dtype)

    def searchsorted(self, points: Any, x: Any, side: str = "left") -> Array:
        return self.chosen(np.searchsorted(points, x, side))  # type: ignore[no-any-return]

    def interp(self, x: Any, points: Any, values: Any) -> Array:
        points, values = np.asarray(points, x.dtype), np.asarray(values, x.dtype)
        right = self.chosen(np.searchsorted(points, x, "right"))
        at = np.clip(right - 1, 0, len(points) - 2)
        part = (x - points[at]) / (points[at + 1] - points[at])
        inside = values[at] + part * (values[at + 1] - values[at])
        ends = np.where(right == 0, values[0], values[-1])
        return np.where((right == 0) | (right == len(points)), ends, inside)

    def corrcoef(self, x: Any) -> Array:
        c = np.cov(x, dtype=x.dtype)
        size = np.sqrt(np.diagonal(c))
        return c / size[:, None] / size

    # --- functions that are made of others

    def layer_norm(self, x: Any) -> Array:
        return nn_reference.layer_norm(x)

    def rms_norm(self, x: Any) -> Array:
        return nn_reference.rms_norm(x)

    def batch_norm(self, x: Any) -> Array:
        return nn_reference.normalized(x, tuple(range(x.ndim - 1)))

    def group_norm(self, x: Any, groups: int) -> Array:
        one = x.dtype.type(1)
        return nn_reference.group_norm(x, one, 0 * one, groups)

    def quadratic(self, name: str, x: Any, *parameters: float) -> Array:
        (x,) = self.common(x, floats=True)
        return special.quadratic(name, x, self.stop_gradient(x), *parameters)

    def quadratic_in_all(self, name: str, *xs: Any) -> Array:
        xs = tuple(np.broadcast_arrays(*self.common(*xs, floats=True)))
        return special.quadratic_in_all(name, list(xs), [self.stop_gradient(x) for x in xs])

    def betaln(self, a: Any, b: Any) -> Array:
        a_, b_, both = (self.quadratic("gammaln", x) for x in (a, b, a + b))
        return a_ + b_ - both

    def rel_entr(self, a: Any, b: Any) -> Array:
        return a * np.log(a / b)

    # --- halves

    def narrowed(self, name: str, to: str, *xs: Any, axis: Any = None) -> Array:
        """In few digits, rounded once at each step; the slopes are those without rounding."""

        def of(*xs: Any) -> Array:
            if axis is not None:
                return np.sum(xs[0], axis)
            f = {"subtract": np.subtract, "identity": np.asarray}.get(name) or getattr(np, name)
            return np.asarray(f(*xs))

        rounded = self._few(of(*(self._few(x, to) for x in xs)), to)
        return self.with_slope_of(rounded, of(*xs))  # type: ignore[no-any-return]

    def _few(self, x: Any, to: str) -> Array:
        out, low, high = (few_digits(x * f, to) for f in (1, x.dtype.type(1 - 1e-6), 1 + 1e-6))
        if np.any(low != high):
            middle = np.abs((low + high) / 2 - x) <= 1e-5 * np.abs(x)
            if np.any(middle & (low != high)):
                self.undecided()
        return self.chosen(out)  # type: ignore[no-any-return]


def wide(x: Any) -> Array:
    return np.asarray(x) if x.dtype.kind == "f" else np.asarray(x, np.int64)


def few_digits(x: Any, to: str) -> Array:
    """Rounded to a float16 or bfloat16, ties to even, in the dtype of x."""
    if to == "float16":
        return np.asarray(x, np.float16).astype(x.dtype)
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    bits = (bits + 0x7FFF + ((bits >> np.uint64(16)) & np.uint64(1))) & np.uint64(0xFFFF0000)
    return bits.astype(np.uint32).view(np.float32).astype(x.dtype)
