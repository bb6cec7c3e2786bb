"""What left a graph by a run and came back as numbers, which no gradient passes. It is noted while
debugging, for `pb.explain`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .... import _core
from ...._explain.ancestry import Place
from .._graph.tensor import SymbolicTensor as Tensor

_MOST, _LARGEST = 256, 10_000  # looks that are kept, and elements of one


class Look(NamedTuple):
    """A tensor that was fetched, its value, where, and how many operations there were."""

    tensor: Tensor
    value: Any
    place: Place | None
    operations: int


def note_run(graph: Any, feeds: Iterable[Any], elements: Iterable[Any], values: list[Any]) -> None:
    """Keeps what a run has answered, and which of its feeds were answers before."""
    for tensor, array in feeds:
        graph.fed_looks[tensor] = [look for look in graph.looks if _same(look.value, array)]
    site = _core.current_site()
    place = None if site is None else Place(*site)
    for element, value in zip(elements, values, strict=True):
        if isinstance(element, Tensor) and np.size(value) <= _LARGEST:
            look = Look(element, np.array(value), place, len(graph.get_operations()))
            graph.looks = [*graph.looks[1 - _MOST :], look]


def _same(fetched: Any, array: Any) -> bool:
    """Whether a value is one that was fetched; 0 and 1 are everywhere."""
    if fetched.shape != array.shape or fetched.dtype.kind != array.dtype.kind:
        return False
    telling = fetched.size > 1 or (fetched.size == 1 and fetched.item() not in (0, 1))
    return telling and bool((fetched == array).all())


def looks_behind(x: Tensor) -> list[Look]:
    """The fetched values that a placeholder was fed last, or that a constant may come from."""
    if x.op.type != "Const":
        return list(x.graph.fed_looks.get(x, []))
    array = x.op.attrs["value"].numpy()
    looks = (look for look in x.graph.looks if look.operations <= x.op.number)
    return [look for look in looks if _same(look.value, array)]
