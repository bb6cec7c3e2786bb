"""check_gradients: what the reverse pass says beside what differences of values say."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from .._core import Tensor, Variable
from .differences import Difference, derivative
from .gradients import with_zeros
from .nests import flatten, leaf_paths, unflatten
from .rules import place

Array = npt.NDArray[np.float64]

SMALL = 64  # so many entries are checked one by one, more along random directions
DIRECTIONS = 8


class GradientError(AssertionError):
    """A gradient that is not the derivative."""


def check_gradients(
    f: Callable[..., Any], *args: Any, order: int = 2, rtol: float = 1e-5, atol: float = 1e-7
) -> None:
    """Checks the gradients of f at these arguments against differences of its values.

    f: a function of arrays or nests of them that returns tensors, or a nest; integers and whatever
        else is among the arguments is passed as it is. It is called with float64 tensors, or, where
        it refuses these, with the dtypes as given.
    order: 1 checks gradients, 2 also their gradients.
    rtol, atol: how far the two may differ, beyond what is known to be uncertain in the differences.
        What float32 numbers inside of f make uncertain is known only as far as it shows.

    What is differentiated is a sum of all results with random weights, by each entry where they are
    few, else along some random directions. Where differences cannot tell, as next to a kink,
    nothing is said.

    Raises GradientError, an AssertionError, with the numbers, the argument and the entry;
    ValueError where f gives another value when called again, or values that are not finite, and
    where there is nothing to differentiate.

    >>> pb.testing.check_gradients(lambda x, y: x * pb.sin(y), 1.5, pb.constant([0.5, 0.25]))
    >>> doubled = pb.custom_gradient(lambda x: (x * x, lambda upstream: upstream * x))
    >>> pb.testing.check_gradients(doubled, 3.0)
    Traceback (most recent call last):
    pullback.testing.GradientError: check_gradients: <lambda> ...
    """
    if order not in (1, 2):
        raise ValueError(f"check_gradients: order is 1 or 2, got {_core.shown(order)}")
    who = f"check_gradients: {place(f)}"
    check = _Check(f, args, [str(i) for i in range(len(args))], rtol, atol, who)
    check.compare(check.value, check.gradient(check.at), "derivative")
    if order == 2:
        mix = check.random.normal(size=check.at.size)
        slope = check.curvature(check.at, mix)
        check.compare(lambda x: float(check.gradient(x) @ mix), slope, "second derivative")


def verify_rule(
    call: Callable[..., Any], arguments: Mapping[str, Any], who: str, rule: Callable[..., Any]
) -> None:
    """GradientError where the rule of a custom_gradient is not the derivative at these arguments,
    by one random direction; where it is not, the worst entry is looked for."""
    args = tuple(arguments.values())
    if not any(map(_is_floating_tensor, flatten(args)[0])):
        return
    names = [repr(name) for name in arguments]
    check = _Check(call, args, names, 1e-4, 1e-6, who, _is_floating_tensor)
    slope = check.gradient(check.at)
    direction = check.random.choice([-1.0, 1.0], check.at.size)
    if check.difference(check.value, slope, direction) is None:
        return
    try:
        check.compare(check.value, slope, "derivative")
    except GradientError as error:
        text = str(error)
    else:
        text = f"{who}: the derivative along a random direction is not what differences give"
    raise GradientError(
        f"{text}; the rule is {place(rule)}. Say intentional=True where it is meant to differ"
    )


class _Check:
    """f at its arguments, as a function of one vector that has all of their floats."""

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
        self.checked = [i for i, x in enumerate(self.leaves) if picked(x)]
        if not self.checked:
            raise ValueError(f"{self.who}: no argument is floating; there is nothing to check")
        given = [_array(self.leaves[i]) for i in self.checked]
        self.shapes = [a.shape for a in given]
        self.ends = np.cumsum([a.size for a in given])
        self.dtypes = [np.dtype("float64")] * len(given)
        self.at: Array = np.concatenate([a.astype(np.float64).ravel() for a in given])
        try:
            first = self.values(self.at)
        except TypeError:
            self.dtypes = [a.dtype for a in given]
            first = self.values(self.at)
        if not all(np.isfinite(y).all() for y in first):
            raise ValueError(f"{self.who}: the value is not finite here")
        if not all(map(np.array_equal, first, self.values(self.at))):
            raise ValueError(f"{self.who}: called again it gives another value")
        self.random = np.random.default_rng(0)
        signs = [self.random.choice([-1.0, 1.0], y.shape) for y in first]
        self.weights = [sign * self.random.uniform(0.5, 1.5, sign.shape) for sign in signs]

    # --- f

    def _call(self, x: Array) -> tuple[list[Tensor], list[Tensor]]:
        """The tensors that f was given for the vector, and its results."""
        parts = np.split(x, self.ends[:-1])
        leaves = list(self.leaves)
        xs = []
        for i, part, shape, dtype in zip(
            self.checked, parts, self.shapes, self.dtypes, strict=True
        ):
            # The value of a variable is tracked, without a tape.
            leaves[i] = Variable(part.reshape(shape).astype(dtype), trainable=False).read()
            xs.append(leaves[i])
        result = self.f(*unflatten(self.structure, leaves))
        ys = [y for y in flatten(result)[0] if _is_floating(y)]
        if not ys:
            raise ValueError(f"{self.who}: no result is floating; there is nothing to check")
        return xs, [_core.constant(y) for y in ys]

    def values(self, x: Array) -> list[Array]:
        return [y.numpy().astype(np.float64) for y in self._call(x)[1]]

    def value(self, x: Array) -> float:
        return float(sum(np.sum(y * w) for y, w in zip(self.values(x), self.weights, strict=True)))

    def _gradients(self, x: Array) -> tuple[list[Tensor], list[Tensor]]:
        xs, ys = self._call(x)
        seeds = [_core.constant(w, y.dtype) for w, y in zip(self.weights, ys, strict=True)]
        return xs, with_zeros(_core.gradients(ys, xs, seeds), xs)

    def gradient(self, x: Array) -> Array:
        return _vector(self._gradients(x)[1])

    def curvature(self, x: Array, mix: Array) -> Array:
        """The gradient of mix · gradient."""
        xs, gradients = self._gradients(x)
        parts = np.split(mix, self.ends[:-1])
        seeds = [
            _core.constant(part.reshape(g.shape), g.dtype)
            for part, g in zip(parts, gradients, strict=True)
        ]
        return _vector(with_zeros(_core.gradients(gradients, xs, seeds), xs))

    # --- the comparison

    def compare(self, f: Callable[[Array], float], slope: Array, what: str) -> None:
        for direction, name in self._directions():
            if (known := self.difference(f, slope, direction)) is not None:
                raise GradientError(
                    f"{self.who}: the {what} {name} is {slope @ direction:.8g}, and differences of "
                    f"values give {known.value:.8g} ± {known.error:.1g}"
                )

    def difference(
        self, f: Callable[[Array], float], slope: Array, direction: Array
    ) -> Difference | None:
        """What differences give along a direction, where it is not what the slope says."""
        got = float(slope @ direction)
        scale = float(np.max(np.abs(self.at) * (direction != 0), initial=0)) or 1.0
        known = derivative(lambda h: f(self.at + h * direction), min(scale, 1.0))
        largest = max(abs(got), abs(known.value))
        if not np.isfinite(known.value) or known.error > 0.01 * largest + self.atol:
            return None  # next to a kink or a pole, or noise
        close = abs(got - known.value) <= self.rtol * largest + self.atol + 8 * known.error
        return None if close else known

    def _directions(self) -> Iterator[tuple[Array, str]]:
        if self.at.size <= SMALL:
            for i in range(self.at.size):
                yield np.eye(1, self.at.size, i)[0], f"by {self._name_of(i)}"
            return
        starts = [0, *self.ends[:-1]]
        for _ in range(DIRECTIONS):
            random = self.random.normal(size=self.at.size)
            for k, (start, end) in enumerate(zip(starts, self.ends, strict=True)):
                one = np.zeros_like(random)
                one[start:end] = random[start:end] / np.sqrt(max(end - start, 1))
                if end > start:
                    yield one, f"along a random direction of argument {self._path(k)}"

    def _path(self, k: int) -> str:
        """Which argument, and what of it: 0['w'][1]."""
        number, _, rest = self.paths[self.checked[k]].lstrip("[").partition("]")
        return self.names[int(number)] + rest

    def _name_of(self, i: int) -> str:
        k = int(np.searchsorted(self.ends, i, side="right"))
        within = i - (self.ends[k - 1] if k else 0)
        where = np.unravel_index(within, self.shapes[k])
        entry = f", entry {[int(j) for j in where]}" if where else ""
        return f"argument {self._path(k)}{entry}"


def _is_floating(x: Any) -> bool:
    if isinstance(x, (Tensor, Variable, np.ndarray, np.generic)):
        return x.dtype.kind == "f"
    return isinstance(x, float)


def _is_floating_tensor(x: Any) -> bool:
    return isinstance(x, (Tensor, Variable)) and x.dtype.kind == "f"


def _array(x: Any) -> Any:
    return x.numpy() if isinstance(x, (Tensor, Variable)) else np.asarray(x)


def _vector(tensors: list[Tensor]) -> Array:
    return np.concatenate([g.numpy().astype(np.float64).ravel() for g in tensors])
