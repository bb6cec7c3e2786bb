"""What each public function means, in NumPy.

A `Reference` stands in the place of `pb` when a program runs. With `exact` every float is a long
double, so that derivatives can be taken by differences; without, dtypes are those of pullback,
which tells what rounding does to a program.

`choices` collects every decision that a small change of the inputs could turn around: comparisons,
rounding, where a maximum lies. Two runs that chose differently are not on one smooth piece.
`frozen` holds what counts as a constant for derivatives, in order: a run that is given the values
of another one uses those.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from support import reference as formulas

from .functions import (
    CASES,
    CHOICES,
    DIVISIONS,
    FLOAT_FUNCTIONS,
    JUMPS,
    NUMBER_FUNCTIONS,
    PRODUCTS,
    SHAPES,
)
from .ordering import Ordering, wide

Array = Any
DEFAULT = np.dtype(np.float32)


class Meaning:
    """What stands in the place of `pb` to say what a program means."""


class Reference(Ordering, Meaning):
    def __init__(self, exact: bool, frozen: list[Array] | None = None) -> None:
        self.exact = exact
        self.choices: list[bytes] = []
        self.products_are_finite = True  # their operands
        self.frozen: list[Array] = [] if frozen is None else frozen
        self._next = None if frozen is None else 0
        self._may_cancel = self._either_sign = False
        self._rest = 0.0  # of what cancels
        self.special = self.nn = self

    # --- dtypes, choices and constants

    def floating(self, dtype: Any) -> Any:
        return np.dtype(np.longdouble) if self.exact else np.dtype(dtype)

    def dtype(self, name: Any) -> Any:
        found = np.dtype(name)
        return self.floating(found) if found.kind == "f" else found

    def common(self, *xs: Any, floats: bool = False) -> list[Array]:
        """All in one dtype: Python numbers are weak, and integers give way to any float."""
        dtypes = [x.dtype for x in xs if isinstance(x, (np.ndarray, np.generic))]
        numbers = [x for x in xs if not isinstance(x, (np.ndarray, np.generic))]
        own = [d for d in dtypes if d.kind == "f"]
        integers = [d for d in dtypes if d.kind in "iu"]
        if own:
            dtype = max(own, key=lambda d: d.itemsize)
        elif floats or any(isinstance(x, float) for x in numbers):
            dtype = self.floating(DEFAULT)
        elif integers:
            dtype = np.result_type(*integers)
        else:
            whole = any(type(x) is int for x in numbers)
            dtype = np.dtype(np.int64) if whole else np.dtype(np.bool_)
        return [np.asarray(x, dtype) for x in xs]

    def number(self, *xs: Any) -> list[Array]:
        out = self.common(*xs)
        if out[0].dtype == np.bool_:
            raise TypeError("expected numbers")
        return out

    def chosen(self, choice: Array) -> Array:
        found = np.asarray(choice)
        if found.dtype.kind == "f":
            found = found.astype(np.float64) + 0.0
        self.choices.append(found.tobytes())
        return choice

    def undecided(self) -> None:
        """Rounding decides what comes now: the exact run and the other one choose differently."""
        self.choices.append(b"exact" if self.exact else b"rounded")

    def no_ties(self, extreme: Any, x: Any, axis: Any) -> None:
        """Which of two that are equal but for rounding comes first, the order of a sum decides."""
        if np.asarray(x).dtype.kind != "f" or np.size(x) == 0:
            return
        top = extreme(x, axis=axis, keepdims=True)
        near = np.abs(x - top) <= 1e-6 * np.abs(top)
        if np.any(np.sum(near, axis=axis) > 1):
            self.undecided()

    def stop_gradient(self, x: Array) -> Array:
        if self._next is None:
            self.frozen.append(x)
            return x
        self._next += 1
        return self.frozen[self._next - 1]

    def with_slope_of(self, value: Array, other: Array) -> Array:
        """`value`, which changes as `other` does."""
        fixed = self.stop_gradient(other)
        start = self.stop_gradient(value)
        return np.where((other == fixed) | np.isnan(fixed), start, start + (other - fixed))

    # --- elementwise

    def __getattr__(self, name: str) -> Callable[..., Array]:
        function = self._function(name)
        if name in PRODUCTS:
            return lambda *xs: self.product(function, *xs)
        if name in JUMPS:
            return lambda *xs: function(*self.sure(name, xs))
        return function

    def product(self, f: Callable[..., Array], *xs: Any) -> Array:
        """Where all cancels, another order leaves something; and a zero of a sum of products has
        either sign: NumPy's own functions differ in it."""
        value = f(*xs)
        self.products_are_finite &= all(np.isfinite(np.asarray(x)).all() for x in xs)
        if value.dtype.kind == "f" and np.min(np.abs(value), initial=np.inf) < 1e-9:
            self._either_sign |= not np.all(value)
            size = f(*map(np.abs, xs))
            rest = np.abs(value[(np.abs(value) <= 1e-14 * size) & (size != 0)])
            if rest.size:
                self._may_cancel = True
                self._rest = max(self._rest, float(rest.max()))
        return value

    def sure(self, name: str, xs: tuple[Any, ...]) -> tuple[Any, ...]:
        """What is given to a function that jumps at zero, unless a zero may be something else."""
        if name == "pow":
            jumps, may_be = [np.where(np.asarray(xs[1]) < 0, xs[0], 1)], self._either_sign
        elif name in DIVISIONS:
            jumps = list(xs) if self._may_cancel else [xs[1]]
            may_be = self._either_sign or self._may_cancel
        else:
            jumps, may_be = list(xs), self._may_cancel
        floats = [x for x in map(np.asarray, jumps) if x.dtype.kind == "f"]
        if may_be and any(np.any(np.abs(x) <= self._rest) for x in floats):
            self.undecided()
        return xs

    def _function(self, name: str) -> Callable[..., Array]:
        if name in FLOAT_FUNCTIONS:
            return lambda *xs: FLOAT_FUNCTIONS[name](*self.common(*xs, floats=True))
        if name in NUMBER_FUNCTIONS:
            return lambda *xs: NUMBER_FUNCTIONS[name](*self.number(*xs))
        if name in CHOICES:
            return lambda *xs: self.chosen(CHOICES[name](*self.common(*xs)))
        if name in CASES:

            def by_cases(*xs: Any) -> Array:
                xs = tuple(self.number(*xs))
                for case in CASES[name][1](*xs):
                    self.chosen(case)
                return CASES[name][0](*xs)

            return by_cases
        if name in SHAPES:
            return SHAPES[name]
        raise AttributeError(f"{name}: expected its NumPy function in tests/fuzz/functions.py")

    def sin(self, x: Any) -> Array:
        return np.sin(self._near(x))

    def cos(self, x: Any) -> Array:
        return np.cos(self._near(x))

    def _near(self, x: Any) -> Array:
        """A step that goes through several periods tells nothing of a slope."""
        (x,) = self.common(x, floats=True)
        self.chosen(np.round(x / 8))
        return x

    def clip(self, x: Any, low: Any = None, high: Any = None) -> Array:
        if low is not None:
            x = self.maximum(x, low)
        return x if high is None else self.minimum(x, high)

    def where(self, mask: Any, x: Any, y: Any) -> Array:
        return np.where(np.asarray(mask) != 0, *self.common(x, y))

    def astype(self, x: Any, dtype: Any) -> Array:
        to = self.dtype(dtype)
        x = np.asarray(x)
        if x.dtype.kind != "f" or to.kind == "f":
            return x.astype(to)
        if to.kind == "b":
            return self.chosen(x != 0)
        near = np.abs(x - np.round(x))
        if np.any((near > 0) & (near <= 1e-6 * np.abs(x))):
            self.undecided()  # a row of a softmax adds up to 1, or to what is cut to 0
        bounds = np.iinfo(to)
        whole = np.clip(np.trunc(np.where(np.isnan(x), 0, x)), float(bounds.min), float(bounds.max))
        out = np.where(whole >= bounds.max, bounds.max, np.minimum(whole, 2.0**62).astype(to))
        return self.chosen(out.astype(to))

    cast = astype

    # --- reductions

    def sum(self, x: Any, axis: Any = None, keepdims: bool = False, **more: Any) -> Array:
        return np.sum(wide(x), axis=axis, keepdims=keepdims, **more)

    def prod(self, x: Any, axis: Any = None, keepdims: bool = False, **more: Any) -> Array:
        return np.prod(wide(x), axis=axis, keepdims=keepdims, **more)

    def mean(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        return formulas.mean(self.common(x, floats=True)[0], axis, keepdims)

    def max(self, x: Any, axis: Any = None, keepdims: bool = False, **more: Any) -> Array:
        return self._extreme(np.max, x, axis, keepdims, **more)

    def min(self, x: Any, axis: Any = None, keepdims: bool = False, **more: Any) -> Array:
        return self._extreme(np.min, x, axis, keepdims, **more)

    def _extreme(
        self, f: Any, x: Any, axis: Any, keepdims: bool, where: Any = True, initial: Any = None
    ) -> Array:
        if initial is not None:
            initial = np.asarray(initial, x.dtype)
            x = np.where(where, x, -np.inf if f is np.max else np.inf).astype(x.dtype)
        top = f(x, axis=axis, keepdims=True)
        self.chosen((x == top) | (x != x))
        if initial is not None:
            self.chosen(np.sign(top - initial))
        start = {} if initial is None else {"initial": initial}
        return f(x, axis=axis, keepdims=keepdims, **start)

    def argmax(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        self.no_ties(np.max, x, axis)
        return self.chosen(np.argmax(x, axis=axis, keepdims=keepdims))

    def argmin(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        self.no_ties(np.min, x, axis)
        return self.chosen(np.argmin(x, axis=axis, keepdims=keepdims))

    def any(self, x: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Array:
        return np.any(x, axis=axis, keepdims=keepdims, where=where)

    def all(self, x: Any, axis: Any = None, keepdims: bool = False, where: Any = True) -> Array:
        return np.all(x, axis=axis, keepdims=keepdims, where=where)

    def logsumexp(self, x: Any, axis: Any = None, keepdims: bool = False) -> Array:
        (x,) = self.common(x, floats=True)
        top = np.max(x, axis=axis, keepdims=True)
        top = np.where(np.isfinite(top), top, np.zeros_like(top))
        out = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
        return out if keepdims else np.reshape(out, np.max(x, axis=axis).shape)

    def softmax(self, x: Any, axis: int = -1) -> Array:
        return formulas.softmax(self.common(x, floats=True)[0], axis)

    def log_softmax(self, x: Any, axis: int = -1) -> Array:
        (x,) = self.common(x, floats=True)
        below = x - np.max(x, axis=axis, keepdims=True)
        return below - np.log(np.sum(np.exp(below), axis=axis, keepdims=True))

    def softmax_cross_entropy(self, logits: Any, labels: Any) -> Array:
        logits, labels = self.common(logits, labels, floats=True)
        return 0 - np.sum(np.where(labels == 0, 0, labels * self.log_softmax(logits)), axis=-1)

    def sparse_softmax_cross_entropy(self, logits: Any, labels: Any) -> Array:
        return 0 - formulas.pick(self.log_softmax(logits), labels)

    def global_norm(self, tensors: Any) -> Array:
        return np.sqrt(sum(np.sum(np.square(x)) for x in tensors))

    def clip_by_value(self, x: Any, low: Any, high: Any) -> Array:
        return self.clip(x, low, high)

    def clip_by_norm(self, x: Any, norm: Any, axis: Any = None) -> Array:
        own = np.sqrt(np.sum(np.square(x), axis=axis, keepdims=True))
        short = self.chosen(own <= norm)
        return np.where(short, x, x * (x.dtype.type(norm) / np.where(short, 1, own)))

    def clip_by_global_norm(self, tensors: Any, norm: Any) -> tuple[list[Array], Array]:
        own = self.global_norm(tensors)
        factor = 1 if self.chosen(own <= norm) else own.dtype.type(norm) / own
        if not np.isfinite(own):
            factor = own.dtype.type(np.nan)
        return [x * factor for x in tensors], own

    # --- shapes and products

    def concat(self, xs: Any, axis: int = 0) -> Array:
        return np.concatenate(self.common(*xs), axis=axis)

    def stack(self, xs: Any, axis: int = 0) -> Array:
        return np.stack(self.common(*xs), axis=axis)

    def one_hot(self, x: Any, depth: int, axis: int = -1, dtype: Any = "float32") -> Array:
        hot = np.asarray(x)[..., None] == np.arange(depth)
        return np.moveaxis(hot.astype(self.dtype(dtype)), -1, axis)

    def zeros(self, shape: Any, dtype: Any = "float32") -> Array:
        return np.zeros(shape, self.dtype(dtype))

    def ones(self, shape: Any, dtype: Any = "float32") -> Array:
        return np.ones(shape, self.dtype(dtype))

    def full(self, shape: Any, value: Any, dtype: Any = "float32") -> Array:
        return np.full(shape, value, self.dtype(dtype))

    def eye(self, n: int, m: int, k: int = 0, dtype: Any = "float32") -> Array:
        return np.eye(n, m, k=k, dtype=self.dtype(dtype))

    def arange(self, *args: Any, dtype: Any = "float32") -> Array:
        return np.arange(*args, dtype=self.dtype(dtype))

    def constant(self, x: Any, dtype: Any = None) -> Array:
        array = np.asarray(x)
        return array.astype(self.dtype(array.dtype if dtype is None else dtype))

    def take(self, x: Any, indices: Any, axis: int | None = None) -> Array:
        return np.take(x, indices, axis=axis)

    def trace(self, x: Any, *args: Any) -> Array:
        return self.sum(np.diagonal(x, *args), axis=-1)

    def einsum(self, text: str, *xs: Any) -> Array:
        return self.product(lambda *xs: np.einsum(text, *xs), *self.number(*xs))

    def tensordot(self, a: Any, b: Any, axes: Any) -> Array:
        return self.product(lambda a, b: np.tensordot(a, b, axes), *self.number(a, b))

    def vecdot(self, a: Any, b: Any, axis: int = -1) -> Array:
        return self.product(lambda a, b: formulas.vecdot(a, b, axis), *self.number(a, b))

    def at(self, x: Any, key: Any, update: str, value: Any) -> Array:
        value = np.asarray(value, x.dtype)
        if update in ("min", "max"):
            self.chosen(np.sign(x[key] - value))
        return formulas.put(x, value, key, update)
