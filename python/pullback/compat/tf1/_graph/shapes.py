"""Static shapes: TensorShape and Dimension, with None for a dimension unknown before a run."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

import numpy as np

__all__ = ["Dimension", "TensorShape"]

Dims = tuple[int | None, ...] | None  # None: the rank is unknown too


class Dimension:
    """The size of one axis; `.value` is None if it is unknown.

    >>> Dimension(3) == 3, int(Dimension(3)), Dimension(None).value
    (True, 3, None)
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: int | None = _dimension(value)

    def __int__(self) -> int:
        if self.value is None:
            raise TypeError(
                "Dimension: expected a known size, got None; use tf.shape(x) in the run"
            )
        return self.value

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return self.value == (other.value if isinstance(other, Dimension) else other)

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"Dimension({self.value})"

    def __str__(self) -> str:
        return "?" if self.value is None else str(self.value)


def _arithmetic(name: str, wrap: Any, reflected: bool = False) -> Any:
    """Define an operator whose result is unknown if either operand is."""

    def method(self: Dimension, other: Any) -> Any:
        sides = (self.value, Dimension(other).value)
        if None in sides:
            return wrap(None)
        return wrap(getattr(operator, name)(*(reversed(sides) if reflected else sides)))

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Dimension, f"__{_name}__", _arithmetic(_name, Dimension))
    setattr(Dimension, f"__r{_name}__", _arithmetic(_name, Dimension, reflected=True))
for _name in ("lt", "le", "gt", "ge"):
    setattr(Dimension, f"__{_name}__", _arithmetic(_name, lambda x: x))


class TensorShape:
    """A static shape, perhaps with unknown dimensions or of unknown rank.

    >>> shape = TensorShape([None, 784])
    >>> shape.as_list(), shape.ndims, shape[1].value, shape.is_fully_defined()
    ([None, 784], 2, 784, False)
    >>> str(shape), str(TensorShape(None)), shape == [None, 784]
    ('(?, 784)', '<unknown>', True)
    """

    __slots__ = ("_dims",)

    def __init__(self, dims: Any) -> None:
        self._dims = as_dims(dims)

    @property
    def ndims(self) -> int | None:
        return None if self._dims is None else len(self._dims)

    rank = ndims

    @property
    def dims(self) -> list[Dimension] | None:
        return None if self._dims is None else list(self)

    def as_list(self) -> list[int | None]:
        """Return the dimensions as ints and Nones; ValueError if the rank is unknown."""
        return list(self._known())

    def is_fully_defined(self) -> bool:
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        return prod(d or 0 for d in self._known()) if self.is_fully_defined() else None

    def is_compatible_with(self, other: Any) -> bool:
        """Test whether one array could have both shapes."""
        try:
            self.merge_with(other)
        except ValueError:
            return False
        return True

    def merge_with(self, other: Any) -> TensorShape:
        """Combine the known dimensions of two shapes; ValueError if they contradict each other."""
        a, b = self._dims, as_dims(other)
        if a is None or b is None:
            return TensorShape(a if b is None else b)
        pairs = list(zip(a, b, strict=False))
        if len(a) != len(b) or any(None not in (p, q) and p != q for p, q in pairs):
            raise ValueError(
                f"TensorShape: expected a shape compatible with {shape_text(a)}, got "
                f"{shape_text(b)}"
            )
        return TensorShape([q if p is None else p for p, q in pairs])

    assert_is_compatible_with = merge_with

    def concatenate(self, other: Any) -> TensorShape:
        """Return the dimensions of this shape followed by those of another."""
        a, b = self._dims, as_dims(other)
        return TensorShape(None if a is None or b is None else a + b)

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape with the given rank; ValueError if its rank differs."""
        if self._dims is not None and len(self._dims) != rank:
            raise ValueError(f"TensorShape: expected a shape of rank {rank}, got {self}, "
                             f"which must have rank {rank}")  # fmt: skip
        return self.merge_with([None] * rank)

    assert_has_rank = with_rank

    def _known(self) -> tuple[int | None, ...]:
        if self._dims is None:
            raise ValueError(
                "TensorShape: expected a known rank, got <unknown>; use tf.rank(x) in the run"
            )
        return self._dims

    def __len__(self) -> int:
        return len(self._known())

    def __bool__(self) -> bool:
        return self._dims is not None

    def __iter__(self) -> Iterator[Dimension]:
        return (Dimension(d) for d in self._known())

    def __getitem__(self, key: int | slice) -> Any:
        dims = self._known()[key]
        return TensorShape(dims) if isinstance(dims, tuple) else Dimension(dims)

    def __eq__(self, other: object) -> bool:
        try:
            return self._dims == as_dims(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        return hash(self._dims)

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __str__(self) -> str:
        return shape_text(self._dims)


def as_dims(value: Any) -> Dims:
    """Convert a shape in any form to a tuple of ints and Nones, or None."""
    if value is None:
        return None
    if isinstance(value, TensorShape):
        return value._dims
    if not isinstance(value, (Sequence, np.ndarray)) or isinstance(value, str):
        value = [value]
    return tuple(_dimension(d) for d in value)


def _dimension(d: Any) -> int | None:
    value = d.value if isinstance(d, Dimension) else d
    if value is None:
        return None
    if not hasattr(value, "__index__"):
        raise TypeError(f"TensorShape: expected integers or None for dimensions, got {d!r}")
    if operator.index(value) < 0:
        raise ValueError(
            f"TensorShape: expected dimensions of 0 or more, not negative, got {value}"
        )
    return operator.index(value)


def shape_text(dims: Dims) -> str:
    """Format a shape as TensorFlow 1: (?, 784), () or <unknown>."""
    if dims is None:
        return "<unknown>"
    strings = ["?" if d is None else str(d) for d in dims]
    return f"({strings[0]},)" if len(strings) == 1 else f"({', '.join(strings)})"


def common_dims(shapes: Sequence[Dims]) -> Dims:
    """Return the dimensions that all shapes share: None for one that differs, or for all."""
    known = [s for s in shapes if s is not None]
    if len(known) < len(shapes) or len({len(s) for s in known}) > 1:
        return None
    return tuple(ns[0] if len({*ns}) == 1 else None for ns in zip(*known, strict=True))
