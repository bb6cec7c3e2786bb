"""Jacobians: one reverse pass whose cotangent is not known yet, then all cotangents at once."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from math import prod
from typing import Any

from .. import _core
from .._core import Tensor


def jacobian(y: Tensor, xs: list[Any], tape: Any, batched: bool = False) -> list[Tensor | None]:
    """The derivative of y by each x as its tape knows it, of shape y.shape + x.shape; or, batched,
    of each entry of the first axis by the same entry of x."""
    return [
        None if rows is None else arranged(rows, y.shape, batched)
        for rows in _rows(y, xs, tape, batched)
    ]


def with_zero_blocks(
    found: Sequence[Tensor | None], y_shape: Sequence[int], xs: list[Any], batched: bool = False
) -> list[Tensor | None]:
    """The answers with zeros in place of None."""
    return [
        _core.full((*y_shape, *x.shape[batched:]), 0, x.dtype) if g is None else g
        for g, x in zip(found, xs, strict=True)
    ]


def unknown_unit(y: Tensor) -> tuple[Tensor, Tensor]:
    """A cotangent of y that is one at places not known yet, and the argument that will tell. Its
    zeros are structural: they meet no infinite slope."""
    where = _core.Trace().argument("bool", y.shape, False)
    return _core.where(where, *(_core.constant(n, y.dtype) for n in (1, 0))), where


def unit_rows(y_shape: Sequence[int], batched: bool = False) -> Tensor:
    """What stands for that argument: a row for each element of a tensor of this shape; or for each
    element of an entry of its first axis, the same for all entries."""
    entry = y_shape[1:] if batched else y_shape
    count = prod(entry)
    rows = _core.reshape(
        _core.eye(count, count, 0, "bool"), (count, 1, *entry) if batched else (count, *entry)
    )
    return _core.broadcast_to(rows, (count, *y_shape))


def arranged(rows: Tensor, y_shape: Sequence[int], batched: bool = False) -> Tensor:
    """Rows of gradients as a jacobian."""
    if not batched:
        return _core.reshape(rows, (*y_shape, *rows.shape[1:]))
    by_batch = _core.transpose(rows, (1, 0, *range(2, len(rows.shape))))
    return _core.reshape(by_batch, (*y_shape, *rows.shape[2:]))


def _rows(y: Tensor, xs: list[Any], tape: Any, batched: bool) -> list[Tensor | None]:
    """The gradients of y by xs with an axis in front, one entry for each row of cotangents."""
    g, where = unknown_unit(y)
    rows = unit_rows(y.shape, batched)
    answers: list[Tensor | None] | None = None
    with suppress(RuntimeError):  # a rule in Python looks at its cotangent
        answers = _core.gradients([y], xs, [g], tape=tape)
    if answers is None:
        return _one_by_one(y, xs, tape, _core.cast(rows, y.dtype))
    found = iter(_core.over_rows([a for a in answers if a is not None], [where], [rows]))
    return [None if a is None else next(found) for a in answers]


def _one_by_one(y: Tensor, xs: list[Any], tape: Any, rows: Tensor) -> list[Tensor | None]:
    if not rows.shape[0]:
        return [_core.full((0, *x.shape), 0, x.dtype) for x in xs]
    lists = [_core.gradients([y], xs, [rows[i]], tape=tape) for i in range(rows.shape[0])]
    stacked: list[Tensor | None] = []
    for x, answers in zip(xs, zip(*lists, strict=True), strict=True):
        if all(a is None for a in answers):
            stacked.append(None)
            continue
        zero = _core.full(x.shape, 0, x.dtype)
        stacked.append(_core.stack([zero if a is None else a for a in answers], 0))
    return stacked
