"""The HTML of a tensor in notebooks, and the text of the results of solvers.

Values are read where no tape records the read of a variable.
"""

from __future__ import annotations

from contextvars import Context
from typing import Any

import numpy as np

from .. import _core
from .._base.html import caption, table
from .._core import Tensor, Variable

EDGE = 5  # rows and columns at each end of a larger array


def is_known(x: Any) -> bool:
    """Return whether a tensor or variable has a value, outside of functions that are traced."""
    return isinstance(x, Variable) or not _core.is_traced(x)


def value_of(x: Any) -> Any:
    """Return the value as an array; the read is not recorded."""
    [array] = Context().run(_core.arrays_of, [x])
    return array


def tensor_html(x: Any) -> str:
    """Return a table with the values; they are evaluated as `repr` does.

    Of an array with more than two axes, the first matrix is shown.
    """
    name = f" '{x.name}'" if isinstance(x, Variable) else ""
    head = f"{type(x).__name__}{name}  {x.dtype}  shape {x.shape}"
    if not is_known(x):
        return caption(f"{head}  (traced, without a value)")
    array = value_of(x)
    if array.ndim > 2:
        first = (0,) * (array.ndim - 2)
        if 0 in array.shape[:-2]:
            return caption(head)
        head += f"  entry [{', '.join(map(str, first))}]"
        array = array[first]
    matrix = array.reshape(1, -1) if array.ndim < 2 else array
    rows, columns = map(_shown, matrix.shape)
    cells = [
        ["…" if i is None or k is None else _number(matrix[i, k]) for k in columns] for i in rows
    ]
    if array.ndim == 0:
        return caption(head) + table([], cells)
    labels = ["…" if k is None else str(k) for k in columns]
    if array.ndim == 1:
        return caption(head) + table(labels, cells)
    marks = ["…" if i is None else str(i) for i in rows]
    marked = [[mark, *row] for mark, row in zip(marks, cells, strict=True)]
    return caption(head) + table(["", *labels], marked)


def _shown(count: int) -> list[int | None]:
    """Return the indices to show; None stands for those between the ends."""
    if count <= 2 * EDGE:
        return list(range(count))
    return [*range(EDGE), None, *range(count - EDGE, count)]


def _number(value: Any) -> str:
    return f"{value:.6g}" if value.dtype.kind in "fc" else str(value)


def result_text(result: Any, *names: str) -> str:
    """Return attributes of a result, one per line, with large arrays cut, as SciPy prints them."""
    width = max(map(len, names)) + 1
    with np.printoptions(linewidth=76, edgeitems=2, threshold=12):
        lines = [f"{name:>{width}}: {_attribute(getattr(result, name))}" for name in names]
    return "\n".join(line.replace("\n", "\n" + " " * (width + 2)) for line in lines)


def _attribute(value: Any) -> str:
    return str(value_of(value)) if isinstance(value, Tensor) and is_known(value) else str(value)
