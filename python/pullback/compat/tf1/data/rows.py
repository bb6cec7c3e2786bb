"""Iterators over the elements of a dataset, each a list of arrays.

A generator ends when it raises. These iterators do not: the next element follows a failed one, as
in TensorFlow.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Iterator as Rows
from operator import itemgetter
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError

__all__ = ["Chained", "at", "batches", "first", "joined", "noted", "repeated", "shuffled"]


def joined(parts: Iterable[list[Any]]) -> list[Any]:
    """Concatenate the components of several elements to one element."""
    return [*itertools.chain(*parts)]


class Chained:
    """The elements of several iterators, one iterator after the other.

    `itertools.chain` would end after an error in the computation of the next iterator.
    """

    def __init__(self, iterators: Rows[Rows[Any]]) -> None:
        self._iterators = iterators
        self._current: Rows[Any] = iter(())

    def __iter__(self) -> Rows[Any]:
        return self

    def __next__(self) -> Any:
        while True:
            for element in self._current:
                return element
            self._current = next(self._iterators)


def at(holds: Callable[[int], bool], left: Rows[Any]) -> Rows[Any]:
    """Return the elements at the positions for which a condition holds."""
    return map(itemgetter(1), filter(lambda pair: holds(pair[0]), enumerate(left)))


def first(left: Rows[Any], count: int) -> Rows[Any]:
    """Return the first `count` elements and compute no further one; all if it is negative."""
    numbers = itertools.count() if count < 0 else range(count)
    return map(itemgetter(1), zip(numbers, left, strict=False))


def noted(left: Rows[Any], finish: Callable[[list[Any]], None]) -> Rows[Any]:
    """Return the elements, and call `finish` with all of them after the last one."""
    kept: list[Any] = []

    def keep(x: Any) -> Any:
        kept.append(x)
        return x

    def end() -> Rows[Any]:
        finish(kept)
        yield from ()

    return itertools.chain(map(keep, left), end())


def repeated(again: Callable[[], Rows[Any]], times: int | None) -> Rows[Any]:
    """Chain `again()` the given number of times; without end for None and below 0, unless empty."""
    found = [True]

    def note(x: Any) -> Any:
        found[:] = [True]
        return x

    def epochs() -> Rows[Any]:
        for _ in itertools.count() if times is None or times < 0 else range(times):
            if not found:
                return
            found.clear()
            yield map(note, again())

    return itertools.chain.from_iterable(epochs())


def shuffled(left: Rows[Any], size: int, random: np.random.Generator) -> Rows[Any]:
    """Draw the elements from a buffer of the next `size`."""
    buffer: list[Any] = []
    ended = False
    # Drawn 256 at a time: a single draw takes as long as NumPy needs for hundreds.
    draws = itertools.chain.from_iterable(iter(lambda: random.random(256).tolist(), None))

    def draw() -> Any:
        nonlocal ended
        if not ended:
            buffer.extend(itertools.islice(left, size - len(buffer)))
            ended = len(buffer) < size
        if not buffer:
            return None
        i = int(next(draws) * len(buffer))
        buffer[i], buffer[-1] = buffer[-1], buffer[i]
        return buffer.pop()

    return iter(draw, None)


def batches(left: Rows[Any], size: int, drop: bool, shapes: Sequence[Any], fills: Any) -> Rows[Any]:
    """Stack `size` elements, with `fills` padded to `shapes`; `drop` drops a smaller batch."""
    chunks: Rows[Any] = iter(lambda: list(itertools.islice(left, size)), [])

    def stacks(chunk: Any) -> list[Any]:
        columns = zip(*chunk, strict=True)
        return [
            _stacked(xs, None if fills is None else fills[k], shapes[k])
            for k, xs in enumerate(columns)
        ]

    return map(stacks, filter(lambda chunk: len(chunk) == size or not drop, chunks))


def _stacked(arrays: Any, fill: Any, dims: Any) -> Any:
    if fill is not None:
        most = np.max([a.shape for a in arrays], 0)
        shape = [int(n) if d is None else d for d, n in zip(dims, most, strict=True)]
        if any(n > d for n, d in zip(most, shape, strict=True)):
            raise InvalidArgumentError(
                None, f"padded_batch: expected shapes up to {tuple(shape)}, got {tuple(most)}"
            )
        made = np.full((len(arrays), *shape), fill)
        for i, a in enumerate(arrays):
            corner: Any = (i, *map(slice, a.shape))
            made[corner] = a
        return made
    if len({a.shape for a in arrays}) > 1:
        shapes = sorted({a.shape for a in arrays})
        raise InvalidArgumentError(
            None, f"batch: expected elements of one shape, got {shapes}; use padded_batch"
        )
    return np.array(arrays)
