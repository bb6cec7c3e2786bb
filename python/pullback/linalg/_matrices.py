"""Conversions of operands to matrices of one dtype and one batch shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy

from .. import _core
from .._core import Tensor


def one_dtype(values: Sequence[Any], who: str) -> tuple[list[Tensor], Callable[[Tensor], Tensor]]:
    """Return tensors of one dtype, and a function that rounds a result to the dtype of the result.

    Integers become the default float; float16 and bfloat16 are computed in float32.
    """
    given = _core.operands(values, who)
    dtype = reduce(_core.promote, [x.dtype for x in given])
    if dtype.kind not in "fc":
        dtype = _core.default_float()
    narrow = dtype.itemsize == 2
    wide = [_core.cast(x, "float32" if narrow else dtype) for x in given]
    return wide, (lambda y: _core.cast(y, dtype)) if narrow else _core.identity


def same_batch(xs: Sequence[Tensor], ranks: Sequence[int], who: str) -> list[Tensor]:
    """Broadcast the axes before the last `ranks` ones to one shape."""
    before = [x.shape[: len(x.shape) - rank] for x, rank in zip(xs, ranks, strict=True)]
    if all(batch == before[0] for batch in before):
        return list(xs)
    try:
        batch = numpy.broadcast_shapes(*before)
    except ValueError:
        shapes = " and ".join(str(x.shape) for x in xs)
        raise ValueError(f"{who}: expected batches whose shapes broadcast, got {shapes}") from None
    return [
        _core.broadcast_to(x, (*batch, *x.shape[len(axes) :]))
        for x, axes in zip(xs, before, strict=True)
    ]


def right_sides(b: Tensor, rows: int, who: str) -> tuple[Tensor, Callable[[Tensor], Tensor]]:
    """Return b as matrices of `rows` rows, and a function that restores a vector."""
    vector = len(b.shape) == 1
    if not b.shape or b.shape[0 if vector else -2] != rows:
        raise ValueError(f"{who}: expected {rows} rows for b, got shape {b.shape}")
    if vector:
        return _core.expand_dims(b, 1), lambda x: _core.squeeze(x, -1)
    return b, lambda x: x


def adjoint(x: Tensor) -> Tensor:
    """Return the conjugate transpose of each matrix."""
    return _core.conj(x.mT) if x.dtype.kind == "c" else x.mT


def hermitian(x: Tensor) -> Tensor:
    """Return the Hermitian part of each matrix."""
    half: Tensor = _core.multiply(_core.add(x, adjoint(x)), 0.5)
    return half
