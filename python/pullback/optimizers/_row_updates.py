"""Updates of rows: a gradient that is zero except for some rows changes only these rows.

It requires a rule that does not change entries without a gradient.

The rows are taken, updated by the rule for whole variables, and put back. If an index occurs twice
its gradients are summed first, and the row that is put back last has the sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .. import _core
from ._update_rules import Rule, Updated, adam


def update_rows(
    rule: Rule, v: Any, values: Any, indices: Any, state: Mapping[str, Any], hyper: Any
) -> Updated:
    """Apply the rule to the rows of `v` and its state at the indices.

    `values` are the gradients of the rows.
    """
    total = summed_rows(values, indices, v.shape[0])
    rows = {name: _core.take(x, indices, 0) for name, x in state.items()}
    new, changed = rule(_core.take(v, indices, 0), total, rows, hyper)
    return _put(v, new, indices, "set"), {
        name: _put(state[name], x, indices, "set") for name, x in changed.items()
    }


def adam_by_rows(v: Any, values: Any, indices: Any, state: Mapping[str, Any], hyper: Any) -> Any:
    """Apply Adam, which changes all rows, without a gradient of the size of `v`."""
    total = _core.sum_duplicates(values, _from_start(indices, v.shape[0]))

    def mean(old: Any, new: Any, decay: Any) -> Any:
        return _put(decay * old, (1 - decay) * new, indices, "add")

    return adam(v, total, state, hyper, mean)


def summed_rows(values: Any, indices: Any, length: int) -> Any:
    """Return the rows; the last occurrence of an index has the sum of all its rows."""
    if indices.shape[0] > length:  # fewer sums than rows
        return _core.take(_core.scatter_add(values, indices, 0, length), indices, 0)
    return _core.sum_duplicates(values, _from_start(indices, length))


def _from_start(indices: Any, length: int) -> Any:
    """Convert negative indices to indices from the start."""
    return _core.where(indices < 0, indices + length, indices)


def _put(x: Any, rows: Any, indices: Any, update: str) -> Any:
    return _core.at_index(x, rows, indices, 0, update, False)
