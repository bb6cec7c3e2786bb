"""Derivatives of references by differences in 80-bit long double: the judge of every gradient.

Central differences at steps that halve, combined so that the lowest powers of the step cancel
(Richardson): 6th order with h = 2e-3, 1e-3, 5e-4 for first derivatives, 8th order applied twice for
second ones. What is left of the truncation is 1e-18 of a high derivative, and the rounding is
1e-19 / h or 1e-19 / h²: enough to see an error in the 12th or 11th digit of a gradient. Differences
are taken of whole outputs, so that what an entry does not touch cancels exactly.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = Any
FIRST_STEPS = [np.longdouble(text) for text in ("2e-3", "1e-3", "5e-4")]
SECOND_STEPS = [np.longdouble(text) for text in ("8e-3", "4e-3", "2e-3", "1e-3")]

# Where long double is no better than double the same formulas are good for six digits only.
PRECISE = np.finfo(np.longdouble).eps < 1e-18
FIRST_TOLERANCE = 1e-12 if PRECISE else 1e-7
SECOND_TOLERANCE = 1e-11 if PRECISE else 1e-4


def derivative(f: Callable[[Any], Array], steps: Sequence[Any] = FIRST_STEPS) -> Array:
    """df/dt at 0 of a function of one long double."""
    table = [(f(h) - f(-h)) / (2 * h) for h in steps]
    power = 1
    while len(table) > 1:
        power *= 4
        pairs = itertools.pairwise(table)
        table = [(power * fine - coarse) / (power - 1) for coarse, fine in pairs]
    return table[0]


def along(
    f: Callable[..., Array],
    xs: Sequence[Array],
    directions: Sequence[Array],
    steps: Sequence[Any] = FIRST_STEPS,
) -> Array:
    """The derivative of f(*xs) in a direction; None keeps an argument where it is."""

    def moved(t: Any) -> Array:
        pairs = zip(xs, directions, strict=True)
        return f(*[x if v is None else x + t * v for x, v in pairs])

    return derivative(moved, steps)


def gradient(
    f: Callable[..., Array],
    xs: Sequence[Array],
    wrt: Sequence[int],
    cotangent: Array,
    steps: Sequence[Any] = FIRST_STEPS,
) -> list[Array]:
    """The gradient of <f(*xs), cotangent>, entry by entry."""
    out = []
    for k in wrt:
        slope = np.zeros(xs[k].shape, np.longdouble)
        for at in np.ndindex(xs[k].shape):
            unit = np.zeros(xs[k].shape, np.longdouble)
            unit[at] = 1
            directions: list[Array | None] = [None] * len(xs)
            directions[k] = unit
            slope[at] = np.sum(along(f, xs, directions, steps) * cotangent)
        out.append(slope)
    return out


@dataclass(frozen=True)
class Jacobian:
    """Derivatives of a result by an argument of this shape: `entries` of the shape of the result
    and then of the argument; where a function is elementwise, of the shape of the result."""

    entries: Array
    shape: tuple[int, ...]
    elementwise: bool

    def pull(self, cotangent: Array) -> Array:
        if self.elementwise:
            return _unbroadcast(self.entries * cotangent, self.shape)
        return np.tensordot(cotangent, self.entries, np.ndim(cotangent))

    def push(self, direction: Array) -> Array:
        if self.elementwise:
            return self.entries * direction
        return np.tensordot(self.entries, direction, np.ndim(direction))


def _unbroadcast(x: Array, shape: tuple[int, ...]) -> Array:
    x = np.sum(x, axis=tuple(range(np.ndim(x) - len(shape))))
    stretched = tuple(k for k, n in enumerate(shape) if n == 1 and np.shape(x)[k] != 1)
    return np.sum(x, axis=stretched, keepdims=True)


def jacobian(
    f: Callable[..., Array],
    xs: Sequence[Array],
    k: int,
    elementwise: bool,
    steps: Sequence[Any] = FIRST_STEPS,
) -> Jacobian:
    """That of f by its argument k: all entries at once where f is elementwise, else one by one."""
    shape = np.shape(xs[k])
    directions: list[Array | None] = [None] * len(xs)
    if elementwise:
        directions[k] = np.ones(shape, np.longdouble)
        return Jacobian(along(f, xs, directions, steps), shape, True)
    columns = []
    for at in np.ndindex(shape):
        directions[k] = np.zeros(shape, np.longdouble)
        directions[k][at] = 1
        columns.append(along(f, xs, directions, steps))
    of = np.shape(columns[0] if columns else f(*xs))
    entries = np.stack(columns, axis=-1) if columns else np.zeros((*of, 0), np.longdouble)
    return Jacobian(np.reshape(entries, (*of, *shape)), shape, False)


def off(got: Array, expected: Array, floor: float = 0.01) -> float:
    """The largest error, relative to the entry, or to `floor` of the largest entry (at least 1)."""
    got = np.asarray(got, np.longdouble)
    if got.shape != np.shape(expected):
        return float("inf")
    if got.size == 0:
        return 0.0
    finite = np.where(np.isfinite(expected), np.abs(expected), 0)
    least = floor * max(1.0, float(np.max(finite)))
    error = np.abs(got - expected) / np.maximum(np.abs(expected), least)
    error = np.where(np.isnan(got) & np.isnan(expected), 0.0, error)
    return float("inf") if np.isnan(error).any() else float(np.max(error))
