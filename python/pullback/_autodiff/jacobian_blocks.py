"""The blocks of a Jacobian: one for each pair of a result and an argument.

A block is computed in forward or reverse mode, with all unit tangents or cotangents of a chunk in
one pass. Start reading at `JacobianBlocks.all`.
"""

from __future__ import annotations

from operator import index
from typing import Any

from .. import _core
from .._core import Tensor
from .gradients import with_zeros
from .jacobian import (
    PLACEHOLDER,
    batched_in_chunks,
    check_axes,
    few_for_many,
    row_batches,
    unit,
    units,
)

# Bytes of all tensors of a chunk as if none were fused. The actual memory is a small part of it.
_CHUNK_BYTES = 2**30


class JacobianBlocks:
    """The derivatives of `ys` with respect to `xs`, in passes that compute several of them."""

    def __init__(self, ys: list[Tensor], xs: list[Tensor], mode: str, chunk: Any, who: str) -> None:
        self.ys = ys
        self.xs = xs
        self.chunk = chunk
        self.mode = mode
        self.shapes = [[(*y.shape, *x.shape) for x in xs] for y in ys]
        for y, row in zip(ys, self.shapes, strict=True):
            for x, shape in zip(xs, row, strict=True):
                check_axes(shape, y, x, who)
        self.forward = [
            [mode in ("forward", "second") or (mode == "auto" and x.size < y.size) for x in xs]
            for y in ys
        ]

    def all(self) -> list[list[Tensor]]:
        """Return the block of each pair, by result and argument."""
        blocks: list[list[Any]] = [[None] * len(self.xs) for _ in self.ys]
        for i, y in enumerate(self.ys):
            places = [k for k in range(len(self.xs)) if not self.forward[i][k]]
            if places:
                found = self._rows(y, [self.xs[k] for k in places])
                for k, block in zip(places, found, strict=True):
                    blocks[i][k] = block
        for k, x in enumerate(self.xs):
            places = [i for i in range(len(self.ys)) if self.forward[i][k]]
            if places:
                for i, block in zip(places, self._forward_blocks(places, x), strict=True):
                    blocks[i][k] = block
        for i, row in enumerate(self.shapes):
            for k, shape in enumerate(row):
                if blocks[i][k] is None:
                    blocks[i][k] = _core.full(shape, 0, self.xs[k].dtype)
        return blocks

    def _forward_blocks(self, places: list[int], x: Tensor) -> list[Tensor | None]:
        ys = [self.ys[i] for i in places]
        try:
            return self._columns(ys, x)
        except (RuntimeError, NotImplementedError) as error:
            # A rule that cannot be transposed; forward mode was not requested explicitly.
            if self.mode == "forward" or "forward mode" not in str(error):
                raise
            return [self._rows(y, [x])[0] for y in ys]

    def _rows(self, y: Tensor, xs: list[Tensor]) -> list[Tensor | None]:
        """Compute blocks in reverse mode, a row for each unit cotangent of `y`."""
        if y.size == 1:
            batches = _core.gradients([y], xs)
        else:
            batches = row_batches(y, xs, None, units(y.shape), self._chunk_length)
        return [
            None if batch is None else _core.reshape(batch, (*y.shape, *x.shape))
            for batch, x in zip(batches, xs, strict=True)
        ]

    def _columns(self, ys: list[Tensor], x: Tensor) -> list[Tensor | None]:
        """Compute blocks in forward mode, a column for each unit tangent of `x`."""
        chosen = units(x.shape)
        count = chosen.shape[0]
        if not count or _core.checking_numbers() or few_for_many(count, [x]):
            return self._one_by_one(ys, x, chosen)
        where = _core.Trace(PLACEHOLDER).argument("bool", x.shape, False)
        try:
            answers = _core.tangents(ys, [x], [unit(where, x)], [where])
            found = batched_in_chunks(
                [a for a in answers if a is not None], where, chosen, self._chunk_length
            )
        except RuntimeError as error:
            if PLACEHOLDER not in str(error):  # a rule in Python reads its tangent
                raise
            found = None
        if found is None:
            return self._one_by_one(ys, x, chosen)
        remaining = iter(found)
        return [
            None if a is None else _columns_last(next(remaining), y, x)
            for a, y in zip(answers, ys, strict=True)
        ]

    def _one_by_one(self, ys: list[Tensor], x: Tensor, chosen: Tensor) -> list[Tensor | None]:
        columns = [
            with_zeros(_core.tangents(ys, [x], [unit(where, x)], [where]), ys)
            for where in (chosen[i] for i in range(chosen.shape[0]))
        ]
        if not columns:
            return [None] * len(ys)
        return [
            _columns_last(_core.stack(list(batch), 0), y, x)
            for batch, y in zip(zip(*columns, strict=True), ys, strict=True)
        ]

    def _chunk_length(self, graph: _core.ClosedGraph, count: int) -> int:
        """Return the number of units that are computed at once."""
        if self.chunk != "auto":
            return min(index(self.chunk), count)
        return chunk_length(graph, count)


def chunk_length(graph: _core.ClosedGraph, count: int) -> int:
    """Return the number of units, at most `count`, whose tensors fit into memory together."""
    return max(1, min(count, _CHUNK_BYTES // max(1, graph.bytes())))


def _columns_last(batch: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Move the batch axis of the elements of `x` from the front to the end."""
    moved = _core.cast(_core.batch_last(batch), x.dtype)
    return _core.reshape(moved, (*y.shape, *x.shape))
