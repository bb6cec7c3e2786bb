"""NumPy's functions that write into an array, called with a tensor to write into.

They are assignments to items of the tensor, and so have gradients. `array_function` and
`array_ufunc` call them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .. import _core
from .._base.checks import choice
from .creation import asarray
from .gather import take


def check_kept(x: Any, frame: FrameType, who: str) -> None:
    """Raise a TypeError unless a variable of the caller, or an attribute or item of one, is `x`.

    Otherwise the assignment would be lost: a part such as z[0] is a new tensor, not a view.
    """
    for value in (*frame.f_locals.values(), *frame.f_globals.values()):
        if value is x or any(one is x for one in _parts(value)):
            return
    raise TypeError(
        f"{who}: expected a tensor in a variable to write into, got the result of an expression; a "
        "part of a tensor is a new tensor: write z[index] = value, or y = z[index].copy(), change "
        "y, and then z[index] = y"
    )


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    if isinstance(value, (list, tuple)):
        return value
    return () if isinstance(value, ModuleType) else getattr(value, "__dict__", {}).values()


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Assign `src` to the items of `dst` where a mask is true."""
    if casting != "same_kind":
        raise TypeError(f"copyto: expected casting='same_kind' with a tensor, got {casting!r}")
    dst[...] = src if where is True else _core.where(where, src, dst)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """Assign `val`, repeated if it is shorter, to the main diagonal."""
    # The positions are NumPy's, with its errors.
    marked = np.zeros(a.shape, bool)
    np.fill_diagonal(marked, True, wrap)
    _assign(a, np.flatnonzero(marked), val)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assign `v`, repeated if it is shorter, to items of the flattened tensor."""
    choice(mode, ("raise", "wrap", "clip"), "put", "mode")
    positions = np.asarray(ind).ravel()
    if mode == "wrap":
        positions = positions % a.size
    if mode == "clip":
        positions = np.clip(positions, 0, a.size - 1)
    _assign(a, positions, v)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Assign `values` to the items that `take_along_axis` reads."""
    positions = np.arange(arr.size).reshape(arr.shape)
    places = np.take_along_axis(positions, np.asarray(indices), axis)
    _assign(arr, places.ravel(), _core.broadcast_to(values, places.shape))


def putmask(a: Any, mask: Any, values: Any) -> None:
    """Assign `values`, repeated over the whole tensor, where a mask is true."""
    found = np.flatnonzero(np.broadcast_to(np.asarray(mask), a.shape))
    values = asarray(values).reshape(-1)
    a.flat[found] = take(values, found % values.size)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """Assign `vals`, repeated if they are fewer, where a mask is true."""
    _assign(arr, np.flatnonzero(np.broadcast_to(np.asarray(mask), arr.shape)), vals)


def _assign(a: Any, positions: Any, values: Any) -> None:
    values = asarray(values).reshape(-1)
    if positions.size:
        a.flat[positions] = take(values, np.arange(positions.size) % values.size)


WRITERS: dict[str, Callable[..., None]] = {
    f.__name__: f for f in (copyto, fill_diagonal, place, put, put_along_axis, putmask)
}
