"""Arguments of draws: shape and dtype of the result, and the domains of parameters.

A number outside the domain raises a ValueError at the call; an entry of a tensor gives NaN. A
number of NumPy counts as Python's number, so it has no effect on the dtype.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, TypeAlias

import numpy as np

from .. import _core
from .._base.checks import broadcasts_to, integers
from .._base.domains import Domain, as_python, check_domain, nan_unless
from .._core import Tensor
from .._typing import DType, Shape

Parameter: TypeAlias = float | Tensor  # a Python number, or a tensor of real numbers


class Sequential:
    """Draw from a sequence: of the module, or of a generator."""

    _source: int

    def _uniform(self, shape: Shape, dtype: DType) -> Tensor:
        return _core.random_uniform(shape, dtype, self._source)

    def _normal(self, shape: Shape, dtype: DType) -> Tensor:
        return _core.random_normal(shape, dtype, self._source)

    def _exponential(self, shape: Shape, dtype: DType) -> Tensor:
        return _core.random_exponential(shape, dtype, self._source)

    def _gamma(self, concentration: Any, shape: Any, dtype: Any, log: bool = False) -> Tensor:
        return _core.random_gamma(concentration, shape, dtype, log, self._source)


def refuse_numpy_order(who: str, rest: tuple[Any, ...], *names: str) -> None:
    """Raise for NumPy's order of arguments, who(*names, size), with the call that is meant."""
    if rest:
        pairs = ", ".join(f"{name}={name}" for name in names)
        raise TypeError(
            f"{who}: expected shape and dtype as the only positional arguments, got "
            f"{2 + len(rest)}; NumPy's {who}({', '.join(names)}, size) is {who}(size, {pairs})"
        )


def real(value: Any, who: str) -> Parameter:
    """Return a number as Python's number, and another value as a tensor of real numbers."""
    value = as_python(value)
    if isinstance(value, (int, float)):
        return value
    tensor = _core.constant(value, who=who)
    if tensor.dtype.kind not in "fiub":
        raise TypeError(f"{who}: expected real numbers, got {tensor.dtype}")
    return tensor


def in_domain(value: Any, domain: Domain, who: str, name: str) -> Parameter:
    """Require a number in the domain; entries of a tensor outside of it become NaN."""
    given = real(value, who)
    if isinstance(given, Tensor):
        return valid(given, domain.holds(given))
    check_domain(given, domain, who, name)
    return given


def valid(x: Tensor, holds: Any) -> Tensor:
    """Replace entries by NaN if the condition is false."""
    x = x if x.dtype.kind == "f" else _core.cast(x, _core.default_float())
    return nan_unless(holds, x)


def float_dtype(who: str, dtype: DType, *parameters: Parameter) -> Any:
    """Return the given dtype, or the promoted dtype of the parameters, or the default one."""
    if isinstance(dtype, (int, float)):
        raise TypeError(
            f"{who}: expected a dtype after the shape, got the number {dtype!r}; pass parameters "
            "such as loc and scale by name, as in normal(shape, loc=0, scale=1)"
        )
    if dtype is not None:
        return dtype
    kinds = [p.dtype for p in parameters if isinstance(p, Tensor) and p.dtype.kind == "f"]
    result = kinds[0] if kinds else _core.default_float()
    for kind in kinds[1:]:
        result = _core.promote(result, kind)
    return result


def in_dtype(parameter: Parameter, dtype: Any) -> Parameter:
    return _core.cast(parameter, dtype) if isinstance(parameter, Tensor) else parameter


def drawn_shape(shape: Shape | None, who: str, *parameters: Any) -> tuple[int, ...]:
    """Return the given shape, to which the parameters broadcast, or their broadcast shape."""
    shapes = [p.shape for p in parameters if isinstance(p, Tensor)]
    return shape_of(shape, who, shapes)


def shape_of(shape: Shape | None, who: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        together = np.broadcast_shapes(*shapes)
    except ValueError:
        listed = ", ".join(map(str, shapes))
        raise ValueError(
            f"{who}: expected parameters whose shapes broadcast, got {listed}"
        ) from None
    if shape is None:
        return together
    if not together:
        return _lengths(shape, who)
    wish = _lengths(shape, who)
    if not broadcasts_to(together, wish):
        shown = _core.shown(wish)
        raise ValueError(
            f"{who}: expected parameters that broadcast to shape {shown}, got shape {together}"
        )
    return wish


def _lengths(shape: Shape, who: str) -> tuple[int, ...]:
    wish = tuple(integers(shape, who, "shape"))
    if any(length < 0 for length in wish):
        raise ValueError(f"{who}: expected axis sizes >= 0 for shape, got {_core.shown(wish)}")
    return wish


def moved(x: Tensor, loc: Parameter, scale: Parameter, dtype: Any) -> Tensor:
    """Return loc + scale x."""
    if isinstance(scale, Tensor) or scale != 1:
        x = _core.multiply(x, in_dtype(scale, dtype))
    if isinstance(loc, Tensor) or loc != 0:
        x = _core.add(x, in_dtype(loc, dtype))
    return x


def seed_number(seed: Any, who: str) -> int:
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        shown = _core.shown(seed)
        raise ValueError(f"{who}: expected an integer from 0 to 2**64 - 1 for seed, got {shown}")
    return number
