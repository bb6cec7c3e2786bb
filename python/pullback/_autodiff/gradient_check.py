"""`check_gradients`: compare gradients with finite differences of values.

`_Check` evaluates a function at its arguments as a function of one vector. Start reading at
`check_gradients`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any
from warnings import warn

import numpy as np
import numpy.typing as npt

from .. import _core
from .._base.domains import NON_NEGATIVE, check_numbers
from .._base.pytree import flatten, leaf_paths, unflatten
from .._core import Tensor, Variable
from .finite_differences import Difference, derivative
from .gradients import with_zeros
from .recorded_call import is_floating
from .rules import place

Array = npt.NDArray[np.float64]

SMALL = 64  # up to here, entries are checked one by one, else along random directions
DIRECTIONS = 8


class GradientError(AssertionError):
    """Error for a gradient that is not the derivative."""


def check_gradients(
    f: Callable[..., Any], *args: Any, order: int = 2, rtol: float = 1e-5, atol: float = 1e-7
) -> None:
    """Check the gradients of `f` against finite differences of its values.

    The differentiated quantity is the sum of all results with random weights. Up to 64 entries are
    checked one by one, more along random directions. The gradient must also be linear in the
    upstream gradient. Where finite differences are not conclusive, at or near a kink or if the
    values of `f` are dominated by noise, nothing is compared. A RuntimeWarning reports if nothing
    could be compared at all. Variables that `f` reads count as constants; pass them as arguments to
    check them.

    Parameters
    ----------
    f : callable
        Function that returns tensors or a pytree of them. It is called with float64 tensors or, if
        it raises TypeError for these, with the given dtypes.
    *args
        Arguments of `f`: floating arrays, tensors and numbers, or pytrees of them. Integers and all
        other leaves are passed unchanged.
    order : {1, 2}, optional
        1 checks gradients, 2 also gradients of gradients. Default: 2.
    rtol, atol : float, optional
        Relative and absolute tolerance, in addition to the uncertainty of the finite differences.
        That consists of the noise of the values, which is larger for float32 computations inside
        `f`, and of the change of the slope. Defaults: 1e-5 and 1e-7.

    Raises
    ------
    TypeError
        If `f` is not callable, or `rtol` or `atol` is not a number.
    ValueError
        If `order` is invalid, if `rtol` or `atol` is negative, if `f` returns another value when
        called again, if its values are not finite, or if no argument or no result is floating.
    pullback.testing.GradientError
        If a gradient is wrong. It is an AssertionError; the message contains the numbers, the
        argument and the entry.

    Examples
    --------
    >>> pb.testing.check_gradients(lambda x, y: x * pb.sin(y), 1.5, pb.constant([0.5, 0.25]))
    >>> doubled = pb.custom_gradient(lambda x: (x * x, lambda upstream: upstream * x))
    >>> pb.testing.check_gradients(doubled, 3.0)
    Traceback (most recent call last):
    pullback.testing.GradientError: check_gradients: <lambda> ...
    """
    if not callable(f):
        raise TypeError(f"check_gradients: expected a function for f, got {_core.shown(f)}")
    if order not in (1, 2):
        raise ValueError(f"check_gradients: order must be one of 1, 2; got {_core.shown(order)}")
    check_numbers("check_gradients", NON_NEGATIVE, rtol=rtol, atol=atol)
    who = f"check_gradients: {place(f)}"
    check = _Check(f, args, [str(i) for i in range(len(args))], rtol, atol, who)
    check.compare(check.value, check.gradient(check.at), "derivative")
    check.compare_linearity()
    if order == 2:
        mix = check.random.normal(size=check.at.size)
        slope = check.curvature(check.at, mix)
        check.compare(lambda x: float(check.gradient(x) @ mix), slope, "second derivative")
        check.compare_derivative_by_upstream()
    if not check.decided:
        warn(
            f"{who}: nothing could be compared: finite differences are not conclusive here, as at "
            "a kink, at the end of a domain or in noise; check it at another point",
            RuntimeWarning,
            stacklevel=2,
        )


def verify_rule(
    call: Callable[..., Any], arguments: Mapping[str, Any], who: str, rule: Callable[..., Any]
) -> None:
    """Raise GradientError if the rule of a custom_gradient is not the derivative here.

    One random direction is compared. Only if it differs is the worst entry searched.
    """
    args = tuple(arguments.values())
    if not any(is_floating(x) and x.size for x in flatten(args)[0]):
        return
    names = [repr(name) for name in arguments]
    try:
        check = _Check(call, args, names, 1e-4, 1e-6, who, is_floating)
    except ValueError:
        return  # not finite or random: nothing can be compared
    slope = check.gradient(check.at)
    direction = check.random.uniform(0.5, 1.5, check.at.size)  # signs alone may cancel
    direction *= check.random.choice([-1.0, 1.0], check.at.size)
    if check.difference(check.value, slope, direction) is None:
        return
    try:
        check.compare(check.value, slope, "derivative")
    except GradientError as error:
        text = str(error)
    else:
        text = f"{who}: the derivative along a random direction differs from finite differences"
    raise GradientError(
        f"{text}; the rule is {place(rule)}. Pass intentional=True if it is meant to differ"
    )


class _Check:
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
        self.dtypes = [np.dtype("float64")] * len(given)
        self.precision = 2.0**-52
        self.at: Array = np.concatenate([a.astype(np.float64).ravel() for a in given])
        try:
            first = self.values(self.at)
        except TypeError:
            self.dtypes = [a.dtype for a in given]
            self.precision = float(max(np.finfo(dtype).eps for dtype in self.dtypes))
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

    def compare(self, f: Callable[[Array], float], slope: Array, what: str) -> None:
        for direction, name in self._directions():
            if (known := self.difference(f, slope, direction)) is not None:
                raise GradientError(
                    f"{self.who}: the {what} {name} is {_along(slope, direction):.8g}, but finite "
                    f"differences give {known.value:.8g} ± {known.error:.1g}"
                )

    def compare_linearity(self) -> None:
        """Check that the gradient is linear in the upstream gradient."""
        factor = -2.0  # a power of two: roundings are the same
        one, other = self.gradient(self.at), self.gradient(self.at, factor)
        with np.errstate(invalid="ignore"):
            off = np.abs(other - factor * one) > 10 * (self.rtol * np.abs(other) + self.atol)
        if off.any():
            i = int(np.argmax(off))
            raise GradientError(
                f"{self.who}: the gradient by {self._name_of(i)} is {one[i]:.8g}, and with "
                f"{factor} times the upstream gradient {other[i]:.8g}; it must be linear in it"
            )

    def compare_derivative_by_upstream(self) -> None:
        """Check the derivative of the gradient by the upstream gradient."""
        direction = self.random.normal(size=self.at.size) * self._sizes()
        _, upstream, gradients = self._gradients(self.at)
        slope = self._mixed(gradients, direction, upstream)
        weights = np.concatenate([w.ravel() for w in self.weights])
        known = self.difference(self.value, slope, weights, direction)
        if known is not None:
            raise GradientError(
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
