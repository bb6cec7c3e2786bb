"""Jacobians: one reverse pass with a placeholder cotangent, evaluated for all cotangents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from math import prod
from typing import Any

from .. import _core
from .._core import Tensor

MOST_AXES = 16
PLACEHOLDER = "a placeholder cotangent"

# The number of entries for which `vmap` batches the operations of the current function.
mapped_entries: ContextVar[int] = ContextVar("mapped_entries", default=1)
_MANY_ENTRIES = 64
_FEW_UNITS = 4
_FEW_ELEMENTS = 64


def jacobian(
    y: Tensor, xs: list[Any], tape: Any, zeros: bool, batched: bool = False
) -> list[Tensor | None]:
    """Return the derivative of `y` by each of `xs` as recorded by its tape.

    The shape is `y.shape + x.shape`. With `batched`, it is the derivative of each entry of the
    first axis by the same entry of x. A block without a path is None, or zeros.
    """
    shapes = [(*y.shape, *x.shape[batched:]) for x in xs]
    for x, shape in zip(xs, shapes, strict=True):
        check_axes(shape, y, x, "jacobian")
    if prod(y.shape) == 1 and not batched:
        batches = _core.gradients([y], xs, tape=tape)
    else:
        batches = row_batches(y, xs, tape, units(y.shape, batched))
    found = [
        None if batch is None else _core.reshape(entry_first(batch, batched), shape)
        for batch, shape in zip(batches, shapes, strict=True)
    ]
    return [
        _core.full(shape, 0, x.dtype) if block is None and zeros else block
        for block, x, shape in zip(found, xs, shapes, strict=True)
    ]


def check_axes(shape: Sequence[int], y: Tensor, x: Any, who: str) -> None:
    if len(shape) > MOST_AXES:
        raise ValueError(
            f"{who}: expected at most {MOST_AXES} axes for a derivative, got {len(shape)} for "
            f"shape {y.shape} by shape {x.shape}"
        )


def entry_first(batch: Tensor, batched: bool) -> Tensor:
    """Return the batch axis of the source before the axis of the cotangents."""
    return _core.transpose(batch, (1, 0, *range(2, batch.ndim))) if batched else batch


def check_batches(y: Sequence[Any] | None, x: Sequence[Any] | None) -> None:
    """Raise ValueError for shapes without a common batch as first axis.

    None stands for a shape, or a size, that is not known.
    """
    for name, shape in (("target", y), ("source", x)):
        if shape is not None and len(shape) < 2:
            raise ValueError(
                f"batch_jacobian: expected rank 2 or more for {name}, with the batch as first "
                f"axis, got shape {tuple(shape)}"
            )
    if y and x and None not in (y[0], x[0]) and y[0] != x[0]:
        raise ValueError(
            f"batch_jacobian: expected equal first axes for target and source, got shapes "
            f"{tuple(y)} and {tuple(x)}"
        )


def unknown_unit(y: Tensor) -> tuple[Tensor, Tensor]:
    """Return a placeholder unit cotangent of `y`, and the mask argument that selects its entry.

    The zeros are structural: they are not multiplied by an infinite slope if the argument is passed
    as a mask.
    """
    where = _core.Trace(PLACEHOLDER).argument("bool", y.shape, False)
    return unit(where, y), where


def unit(where: Tensor, y: Tensor) -> Tensor:
    return _core.where(where, *(_core.constant(n, y.dtype) for n in (1, 0)))


def units(y_shape: Sequence[int], batched: bool = False) -> Tensor:
    """Return the masks of all unit cotangents as a batch.

    There is one mask for each element of a tensor of this shape or, with `batched`, for each
    element of an entry of its first axis, the same for all entries.
    """
    entry = y_shape[1:] if batched else y_shape
    count = prod(entry)
    chosen = _core.reshape(
        _core.eye(count, count, 0, "bool"), (count, 1, *entry) if batched else (count, *entry)
    )
    return _core.broadcast_to(chosen, (count, *y_shape))


def few_for_many(count: int, xs: Sequence[Any]) -> bool:
    """Test whether a pass for each of `count` units is faster than one pass for all.

    Inside of `vmap` over many entries the axis of few units would be short and innermost: values
    that the units share would be read once for each of them, and all would be stored in rows of few
    numbers.
    """
    small = count <= _FEW_UNITS and all(x.size <= _FEW_ELEMENTS for x in xs)
    return small and mapped_entries.get() >= _MANY_ENTRIES


def all_at_once(linear: Any, count: int) -> int:
    return count


def row_batches(
    y: Tensor,
    xs: list[Any],
    tape: Any,
    chosen: Tensor,
    length: Callable[[Any, int], int] = all_at_once,
) -> list[Tensor | None]:
    """Return the gradients of `y` by `xs` for each unit cotangent; `chosen` are those of `units`.

    They are stacked along a first axis. `length` gives the number of cotangents that are computed
    at once.
    """
    # check_numerics needs values, and names the operations of a gradient.
    count = chosen.shape[0]
    if not count or _core.checking_numbers() or few_for_many(count, xs):
        return _one_by_one(y, xs, tape, chosen)
    g, where = unknown_unit(y)
    try:
        answers = _core.gradients([y], xs, [g], tape=tape, masks=[where])
        live = [a for a in answers if a is not None]
        found = batched_in_chunks(live, where, chosen, length)
    except RuntimeError as error:
        if PLACEHOLDER not in str(error):  # a rule in Python reads its cotangent
            raise
        found = None
    if found is None:
        return _one_by_one(y, xs, tape, chosen)
    remaining = iter(found)
    return [None if a is None else next(remaining) for a in answers]


def batched_in_chunks(
    roots: list[Tensor], where: Tensor, chosen: Tensor, length: Callable[[Any, int], int]
) -> list[Tensor] | None:
    """Return the roots for each mask in `chosen`, in chunks; None if a rule prevents this.

    `chosen` are all unit masks, as from `units`.
    """
    if not roots:
        return []
    count = chosen.shape[0]
    step = length(_core.ClosedGraph(roots, [where]), count)
    chunks = []
    for first in range(0, count, step):
        part = chosen[first : first + step] if step < count else chosen
        made = _core.batched_or_each(roots, [where], [part], part.shape[0], step >= count)
        if made is None:
            return None
        chunks.append(made)
    if len(chunks) == 1:
        return chunks[0]
    return [_core.concat(list(parts), 0) for parts in zip(*chunks, strict=True)]


def _one_by_one(y: Tensor, xs: list[Any], tape: Any, chosen: Tensor) -> list[Tensor | None]:
    if not chosen.shape[0]:
        answers = _core.gradients([y], xs, [_core.full(y.shape, 0, y.dtype)], tape=tape)
        return [None if a is None else _core.broadcast_to(a, (0, *a.shape)) for a in answers]
    lists = [
        _core.gradients([y], xs, [unit(where, y)], tape=tape, masks=[where])
        for where in (chosen[i] for i in range(chosen.shape[0]))
    ]
    stacked: list[Tensor | None] = []
    for x, rows in zip(xs, zip(*lists, strict=True), strict=True):
        if all(row is None for row in rows):
            stacked.append(None)
            continue
        zero = _core.full(x.shape, 0, x.dtype)
        stacked.append(_core.stack([zero if row is None else row for row in rows], 0))
    return stacked
