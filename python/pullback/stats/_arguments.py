"""Arguments of the methods of a distribution, and their standard form (loc 0, scale 1).

`read_arguments` assigns them to the parameters; `StandardForm` subtracts `loc`, divides by `scale`
and compares with the support.
"""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy

from .. import _core
from .._core import Tensor

if TYPE_CHECKING:
    from ._distribution import Distribution


def floats(values: list[Any], who: str, narrow: bool = False) -> tuple[list[Tensor], Any]:
    """Convert values to float64 tensors and return the dtype of the result.

    It is the promoted dtype of the operands, or the default floating dtype for integers. The
    computation is in float64, because densities are small differences of large terms: with
    parameters of some millions, float32 would leave no correct digit. With `narrow`, float32
    remains float32.
    """
    tensors = _core.operands(values, who)
    dtype = reduce(_core.promote, [tensor.dtype for tensor in tensors])
    if dtype.kind == "c":
        raise TypeError(f"{who}: expected real numbers, got {dtype}")
    if dtype.kind != "f":
        dtype = _core.default_float()
    computed = dtype if narrow and dtype == "float32" else "float64"
    return [_core.cast(tensor, computed) for tensor in tensors], dtype


def check_broadcast(tensors: list[Tensor], names: list[str], who: str) -> None:
    """Raise a ValueError that names the arguments whose shapes do not broadcast."""
    try:
        numpy.broadcast_shapes(*(tensor.shape for tensor in tensors))
    except ValueError:
        shapes = zip(names, tensors, strict=False)
        each = ", ".join(f"{name} {tensor.shape}" for name, tensor in shapes)
        raise ValueError(f"{who}: expected shapes that broadcast, got {each}") from None


class Arguments(NamedTuple):
    """Store x (or a probability), shapes, loc and scale; None for a missing loc or scale."""

    x: Tensor | None
    shapes: list[Tensor]
    loc: Tensor | None
    scale: Tensor | None
    dtype: Any  # of the result; None if there is no argument

    def cast(self, value: Tensor) -> Tensor:
        return value if self.dtype is None else _core.cast(value, self.dtype)


def read_arguments(
    who: str,
    family: Distribution,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    x: tuple[Any, ...] = (),
) -> Arguments:
    """Convert the arguments of a method, whose name is `who`; `x` has at most one entry."""
    narrow = family.digits_in_float32 and bool(x) and who != "pdf"  # exp enlarges errors
    who = f"{family.name}.{who}"
    names = [*family.shapes, "loc", *(["scale"] if family.scales else [])]
    if len(args) > len(names):
        raise TypeError(
            f"{who}: expected at most the parameters {', '.join(names)}, got {len(args)} values"
        )
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key not in names:
            raise TypeError(f"{who}: expected the parameters {', '.join(names)}, got {key!r}")
        if key in given:
            raise TypeError(f"{who}: expected one value for {key}, got two")
        given[key] = value
    missing = [key for key in family.shapes if key not in given]
    if missing:
        raise TypeError(f"{who}: expected a value for {missing[0]}, got none")
    order = [key for key in names if key in given]
    all_given = [*x, *(given[key] for key in order)]
    values, dtype = floats(all_given, who, narrow and not order) if all_given else ([], None)
    check_broadcast(values, [*(["x"] if x else []), *order], who)
    found = dict(zip(order, values[len(x) :], strict=True))
    shapes = [found[key] for key in family.shapes]
    return Arguments(values[0] if x else None, shapes, found.get("loc"), found.get("scale"), dtype)


def shift_and_scale(value: Tensor, loc: Tensor | None, scale: Any) -> Tensor:
    if scale is not None:
        value = value * scale
    return value if loc is None else value + loc


class StandardForm:
    """Store a value in standard form, and its position relative to the support."""

    def __init__(self, family: Distribution, given: Arguments) -> None:
        self.family, self.given = family, given
        self.shapes, self.scale = family._standard_parameters(given.shapes, given.scale)
        assert given.x is not None  # its methods have an argument x
        x = _core.constant(given.x)
        if given.loc is not None:
            x = x - given.loc
        if self.scale is not None:
            x = x / self.scale
        # NaN for invalid parameters from here on, so that the derivatives are NaN too.
        x = family._checked(x, given)
        self.exact = x
        self.z = x if family.scales else _core.floor(x)
        before = _core.less if family.low_is_inside else _core.less_equal
        high = family._high(*self.shapes)
        # None: no number is outside.
        low = family._low(*self.shapes)
        self.below = None if isinstance(low, float) and low == -math.inf else before(self.z, low)
        self.above = None if high is math.inf else _core.greater(self.z, high)

    def cast(self, value: Tensor) -> Tensor:
        return self.given.cast(value)

    def density(self, value: Tensor, outside: float) -> Tensor:
        """Return a density, with its value outside the support."""
        ends = _core.isinf(self.z)
        for mask in (self.below, self.above):
            ends = ends if mask is None else _core.logical_or(mask, ends)
        return self.cast(_core.where(ends, outside, value))
