"""`Comparison`: gradients of a function next to finite differences of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._base.pytree import flatten, leaf_paths, unflatten
from .._core import Tensor, Variable
from .finite_differences import Difference, derivative
from .gradients import with_zeros

Array = npt.NDArray[np.float64]

SMALL = 64  # up to here, entries are checked one by one, else along random directions
DIRECTIONS = 8


class Comparison:
    """The function at its arguments, as a function of one vector of all of their floats.

    A complex number is two entries, along a last axis.
    """

    def __init__(
        self,
        f: Callable[..., Any],
        args: tuple[Any, ...],
        names: list[str],
        rtol: float,
        atol: float,
        who: str,
        differentiable: Callable[[Any], bool] | None = None,
    ) -> None:
        self.f, self.names, self.rtol, self.atol, self.who = f, names, rtol, atol, who
        self.leaves, self.structure = flatten(args)
        self.paths = leaf_paths(args)
        picked = differentiable or _is_floating
        self.checked = [i for i, x in enumerate(self.leaves) if picked(x) and np.size(_array(x))]
        if not self.checked:
            raise ValueError(f"{self.who}: expected a floating argument, got none")
        self.decided = 0  # number of conclusive comparisons
        whole = [_array(self.leaves[i]) for i in self.checked]
        self.complex = [a.dtype.kind == "c" for a in whole]
        given = [np.stack([a.real, a.imag], -1) if a.dtype.kind == "c" else a for a in whole]
        self.shapes = [a.shape for a in given]
        self.ends = np.cumsum([a.size for a in given])
        self.at: Array = np.concatenate([a.astype(np.float64).ravel() for a in given])
        dtypes = [a.dtype for a in given]
        try:
            self._start([np.dtype("float64")] * len(given))
            # A rule may combine its arguments with narrower tensors from outside.
            if self.dtypes != dtypes:
                self.gradient(self.at)
        except TypeError:
            self._start(dtypes)

    def _start(self, dtypes: list[np.dtype[Any]]) -> None:
        """Choose the dtypes that `f` receives, and the weights of its results."""
        self.dtypes = dtypes
        self.precision = float(max(np.finfo(dtype).eps for dtype in dtypes))
        first = self.values(self.at)
        if not all(np.isfinite(y).all() for y in first):
            raise ValueError(f"{self.who}: expected finite values at the arguments")
        if not all(map(np.array_equal, first, self.values(self.at))):
            raise ValueError(f"{self.who}: expected the same value when called again")
        self.random = np.random.default_rng(0)
        signs = [self.random.choice([-1.0, 1.0], y.shape) for y in first]
        self.weights = [sign * self.random.uniform(0.5, 1.5, sign.shape) for sign in signs]

    # --- f

    def _call(self, x: Array) -> tuple[list[Tensor], list[Tensor]]:
        """Return the tensors that `f` receives for the vector, and its results."""
        parts = np.split(x, self.ends[:-1])
        leaves = list(self.leaves)
        xs = []
        for i, part, shape, dtype, pairs in zip(
            self.checked, parts, self.shapes, self.dtypes, self.complex, strict=True
        ):
            # The value of a variable is tracked, without a tape.
            leaf = Variable(part.reshape(shape).astype(dtype), trainable=False).read()
            xs.append(leaf)
            leaves[i] = _core.make_complex(leaf[..., 0], leaf[..., 1]) if pairs else leaf
        result = self.f(*unflatten(self.structure, leaves))
        ys = [y for y in flatten(result)[0] if _is_floating(y)]
        if not ys:
            raise ValueError(f"{self.who}: expected a floating result, got none")
        return xs, [_as_pairs(_core.constant(y)) for y in ys]

    def values(self, x: Array) -> list[Array]:
        return [y.numpy().astype(np.float64) for y in self._call(x)[1]]

    def value(self, x: Array) -> float:
        return float(sum(np.sum(y * w) for y, w in zip(self.values(x), self.weights, strict=True)))

    def _gradients(self, x: Array, factor: float = 1.0) -> tuple[list[Tensor], ...]:
        """Return the arguments, the upstream gradients and the gradients of the weighted sum."""
        xs, ys = self._call(x)
        upstream = [
            Variable((factor * w).astype(y.dtype), trainable=False).read()
            for w, y in zip(self.weights, ys, strict=True)
        ]
        return xs, upstream, with_zeros(_core.gradients(ys, xs, upstream), xs)

    def gradient(self, x: Array, factor: float = 1.0) -> Array:
        return _vector(self._gradients(x, factor)[2])

    def _mixed(self, gradients: list[Tensor], mix: Array, by: list[Tensor]) -> Array:
        """Return the gradient of the inner product of `mix` and the gradients."""
        seeds = [
            _core.constant(part.reshape(g.shape), g.dtype)
            for part, g in zip(np.split(mix, self.ends[:-1]), gradients, strict=True)
        ]
        return _vector(with_zeros(_core.gradients(gradients, by, seeds), by))

    def curvature(self, x: Array, mix: Array) -> Array:
        xs, _, gradients = self._gradients(x)
        return self._mixed(gradients, mix, xs)

    # --- the comparison

    # Each of these methods returns the message of an error, or None.

    def compare(self, f: Callable[[Array], float], slope: Array, what: str) -> str | None:
        """Compare a slope of `f` with finite differences in all directions."""
        for direction, name in self._directions():
            if (known := self.difference(f, slope, direction)) is not None:
                return (
                    f"{self.who}: the {what} {name} is {_along(slope, direction):.8g}, but finite "
                    f"differences give {known.value:.8g} ± {known.error:.1g}"
                )
        return None

    def compare_linearity(self) -> str | None:
        """Check that the gradient is linear in the upstream gradient."""
        factor = -2.0  # a power of two: roundings are the same
        one, other = self.gradient(self.at), self.gradient(self.at, factor)
        with np.errstate(invalid="ignore"):
            off = np.abs(other - factor * one) > 10 * (self.rtol * np.abs(other) + self.atol)
        if off.any():
            i = int(np.argmax(off))
            return (
                f"{self.who}: the gradient by {self._name_of(i)} is {one[i]:.8g}, and with "
                f"{factor} times the upstream gradient {other[i]:.8g}; it must be linear in it"
            )
        return None

    def compare_derivative_by_upstream(self) -> str | None:
        """Check the derivative of the gradient by the upstream gradient."""
        direction = self.random.normal(size=self.at.size) * self._sizes()
        _, upstream, gradients = self._gradients(self.at)
        slope = self._mixed(gradients, direction, upstream)
        weights = np.concatenate([w.ravel() for w in self.weights])
        known = self.difference(self.value, slope, weights, direction)
        if known is None:
            return None
        return (
            f"{self.who}: the derivative of the gradient by the upstream gradient is "
            f"{_along(slope, weights):.8g} along a random direction, but finite differences "
            f"give {known.value:.8g} ± {known.error:.1g}"
        )

    def difference(
        self, f: Callable[[Array], float], slope: Array, part: Array, along: Array | None = None
    ) -> Difference | None:
        """Return the finite difference along a direction if the slope contradicts it.

        The result is None otherwise. The direction is `along`, or `part`, which selects the entries
        of the slope.
        """
        got, direction = _along(slope, part), part if along is None else along
        moved = direction != 0
        ratio = np.min(self._sizes()[moved] / np.abs(direction[moved]), initial=np.inf)
        scale = float(np.clip(ratio, 1e-6, 1.0))
        known = derivative(lambda h: f(self.at + h * direction), scale, self.precision)
        if not np.isfinite(known.value):
            return None
        claimed = abs(got) if np.isfinite(got) else 0.0
        if known.error > 0.01 * abs(known.value) + 1e-5 * claimed + self.atol:
            return None  # near a kink or a pole, or noise
        largest = max(claimed, abs(known.value))
        self.decided += 1
        if not np.isfinite(got):
            return known
        close = abs(got - known.value) <= self.rtol * largest + self.atol + 8 * known.error
        return None if close else known

    def _directions(self) -> Iterator[tuple[Array, str]]:
        if self.at.size <= SMALL:
            for i in range(self.at.size):
                yield np.eye(1, self.at.size, i)[0], f"by {self._name_of(i)}"
            return
        whole = self.random.normal(size=(DIRECTIONS, self.at.size)) / np.sqrt(self.at.size)
        whole[1::2] *= self._sizes()  # so that small entries keep their sign
        if len(self.ends) > DIRECTIONS:
            for one in whole:
                yield one, "along a random direction"
            return
        for k, (start, end) in enumerate(zip([0, *self.ends[:-1]], self.ends, strict=True)):
            for random in whole if end > start else ():
                one = np.zeros_like(random)
                one[start:end] = random[start:end]
                yield one, f"along a random direction of argument {self._path(k)}"

    def _sizes(self) -> Array:
        """Return the largest step of each entry: its absolute value, or 1 for a zero."""
        return np.where(self.at == 0, 1.0, np.abs(self.at))

    def _path(self, k: int) -> str:
        """Return the path of an argument and its leaf: 0['w'][1]."""
        number, _, rest = self.paths[self.checked[k]].lstrip("[").partition("]")
        return self.names[int(number)] + rest

    def _name_of(self, i: int) -> str:
        k = int(np.searchsorted(self.ends, i, side="right"))
        within = i - (self.ends[k - 1] if k else 0)
        where = np.unravel_index(within, self.shapes[k])
        entry = f", entry {[int(j) for j in where]}" if where else ""
        return f"argument {self._path(k)}{entry}"


def _along(slope: Array, direction: Array) -> float:
    """Return the slope along a direction.

    An entry that is not finite counts only if the direction moves it.
    """
    moved = direction != 0
    with np.errstate(invalid="ignore"):
        return float(np.sum(slope[moved] * direction[moved]))


def _is_floating(x: Any) -> bool:
    if isinstance(x, (Tensor, Variable, np.ndarray, np.generic)):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex))


def _as_pairs(y: Tensor) -> Tensor:
    return _core.stack([_core.real(y), _core.imag(y)], -1) if y.dtype.kind == "c" else y


def _array(x: Any) -> Any:
    return x.numpy() if isinstance(x, (Tensor, Variable)) else np.asarray(x)


def _vector(tensors: list[Tensor]) -> Array:
    return np.concatenate([g.numpy().astype(np.float64).ravel() for g in tensors])
