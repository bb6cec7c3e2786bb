"""Updates of rows: a gradient that is zeros but for some rows changes no others, where the rule
leaves alone what has no gradient.

The rows are taken, updated by the same rule as whole variables, and put back. Positions may come
twice: then the gradients are summed first, and the row that is put back last has the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from ._update_rules import Rule, Updated, adam


def update_rows(
    rule: Rule, v: Any, values: Any, indices: Any, state: Mapping[str, Any], hyper: Any
) -> Updated:
    """The rule on the rows of v and its state at the indices, with `values` as their gradients."""
    total = summed_rows(values, indices, v.shape[0])
    rows = {name: _core.take(x, indices, 0) for name, x in state.items()}
    new, changed = rule(_core.take(v, indices, 0), total, rows, hyper)
    return _put(v, new, indices, "set"), {
        name: _put(state[name], x, indices, "set") for name, x in changed.items()
    }


def adam_by_rows(v: Any, values: Any, indices: Any, state: Mapping[str, Any], hyper: Any) -> Any:
    """Adam, which moves all rows, without a gradient of the size of v."""
    total = _core.sum_duplicates(values, _from_start(indices, v.shape[0]))

    def mean(old: Any, new: Any, decay: Any) -> Any:
        return _put(decay * old, (1 - decay) * new, indices, "add")

    return adam(v, total, state, hyper, mean)


def summed_rows(values: Any, indices: Any, length: int) -> Any:
    """The rows, and where a position comes last the sum of all that are for it."""
    if indices.shape[0] > length:  # all sums are fewer
        return _core.take(_core.scatter_add(values, indices, 0, length), indices, 0)
    return _core.sum_duplicates(values, _from_start(indices, length))


def _from_start(indices: Any, length: int) -> Any:
    """Positions that count from the end, from the start."""
    return _core.where(indices < 0, indices + length, indices)


def _put(x: Any, rows: Any, indices: Any, update: str) -> Any:
    return _core.at_index(x, rows, indices, 0, update, False)
