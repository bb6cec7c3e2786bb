"""Ways in which the same elements lie in memory.

A layout is where an array is put (`store`) and the tensor that is read from there (`view`); both
together give the array back. What is computed of a view has the bits that a row-major tensor gives,
and its gradient is the same one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import pullback as pb

Array = Any


@dataclass(frozen=True)
class Layout:
    name: str
    store: Callable[[Array], Array]
    view: Callable[[Any, Array], Any]  # of the stored tensor, and the array


def misaligned(x: Array) -> Array:
    """In memory that starts at an odd byte."""
    memory = np.zeros(x.nbytes + 1, np.uint8)
    out = np.ndarray(x.shape, x.dtype, memory.data, 1)
    out[...] = x
    return out


def backwards(x: Array) -> Array:
    return np.array(x[..., ::-1])


def with_gaps(x: Array) -> Array:
    return np.repeat(x, 3, axis=0)


def in_the_middle(x: Array) -> Array:
    """Between two others of its kind: its first element lies at any address."""
    return np.concatenate([x, x, x], axis=-1)


ANY_RANK = (
    Layout("transposed", lambda x: np.array(x.T), lambda t, x: pb.transpose(t)),
    Layout("computed", lambda x: x, lambda t, x: pb.where(True, t, t)),
    Layout("broadcast", lambda x: x, lambda t, x: pb.broadcast_to(t, (2, *x.shape))[1]),
    Layout("misaligned", misaligned, lambda t, x: t),
)
WITH_AXES = (
    Layout("negative step", backwards, lambda t, x: t[..., ::-1]),
    Layout("negative memory", lambda x: backwards(x)[..., ::-1], lambda t, x: t),
    Layout("strided", with_gaps, lambda t, x: t[1::3]),
    Layout("strided memory", lambda x: with_gaps(x)[::3], lambda t, x: t),
    Layout("windowed", in_the_middle, lambda t, x: t[..., x.shape[-1] : 2 * x.shape[-1]]),
)


def layouts(x: Array) -> Iterator[Layout]:
    yield from ANY_RANK
    if np.ndim(x):
        yield from WITH_AXES


def repeated(x: Array) -> Array:
    """x with what it says first along its first axis everywhere, at a stride of 0."""
    return np.broadcast_to(x[:1], x.shape)
