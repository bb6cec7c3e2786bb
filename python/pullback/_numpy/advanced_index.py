"""An advanced index: one that contains arrays, tensors or booleans.

NumPy's rules: a boolean array stands for the positions of its true elements; integer arrays
broadcast together; their axes of the result stay in place if they are adjacent, otherwise they come
first.

`AdvancedIndex` converts such an index to one form: a basic index of slices only, a transpose that
makes the indexed axes adjacent, and positions along these axes as one axis. Known positions are
checked at the call; those of a tensor without a value are checked when they are computed.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from .. import _core
from .._core import Tensor, Variable
from .._typing import TensorLike

EVERYTHING = slice(None)


def read_entry(entry: Any, who: str) -> Any:
    """Return an entry as None, Ellipsis, a slice, a tensor of integers, or a NumPy array.

    The array has integers or booleans.
    """
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if isinstance(entry, list) and any(isinstance(e, (Tensor, Variable)) for e in entry):
        entry = _core.stack(entry, 0)
    if isinstance(entry, (Tensor, Variable)):
        if entry.dtype.kind == "b":
            if _core.is_traced(entry):
                raise IndexError(
                    f"{who}: expected a mask with known values, because it determines the shape of "
                    "the result, got a traced tensor; use pb.where(mask, x, y)"
                )
            return entry.numpy()
        if entry.dtype.kind in "iu":
            return entry if isinstance(entry, Tensor) else _core.identity(entry)
        raise _wrong_kind(who, f"a {entry.dtype} tensor")
    if isinstance(entry, (float, complex, str, bytes, dict)):
        raise _wrong_kind(who, type(entry).__name__)
    array = np.asarray(entry)
    if array.size == 0 and isinstance(entry, (list, tuple)):
        array = array.astype(np.int64)  # [] selects no positions, as in NumPy
    if array.dtype.kind not in "biu":
        raise _wrong_kind(who, f"{type(entry).__name__} of dtype {array.dtype}")
    return array


def _wrong_kind(who: str, what: str) -> IndexError:
    return IndexError(
        f"{who}: expected integers, slices, None, Ellipsis, or arrays of integers or bool, "
        f"got {what}"
    )


class AdvancedIndex:
    """An index resolved against a shape.

    `before`: index of None (new axes for single truth values) and slices, applied first
    `order`: the transpose after it, which puts the indexed axes next to each other, or None
    `axis`, `merged`: where they begin then, and the shape with all of them as one axis
    `positions`: along that axis, a NumPy array or a tensor
    `taken`, `result`: shapes of the result, without and with the new axes of None
    """

    def __init__(self, shape: tuple[int, ...], key: Any, who: str) -> None:
        self.who = who
        self.before: list[Any] = []
        self.axes: list[int] = []  # indexed axes, in the shape after `before`
        self.indices: list[Any] = []  # one index for each of these axes
        self.sizes: list[int] = []
        layout: list[str] = []  # "new", "kept" or "indexed" for each entry
        entries = [read_entry(e, who) for e in (key if isinstance(key, tuple) else (key,))]
        missing = len(shape) - sum(map(_axes_consumed, entries))
        if missing < 0:
            raise IndexError(
                f"{who}: expected at most {len(shape)} indices for shape {shape}, "
                f"got {len(shape) - missing}"
            )
        if sum(e is Ellipsis for e in entries) > 1:
            raise IndexError(f"{who}: expected at most one Ellipsis, got more than one")
        if not any(e is Ellipsis for e in entries):
            entries.append(Ellipsis)
        at = 0
        for entry in entries:
            if entry is None:
                layout.append("new")
            elif entry is Ellipsis:
                # Also an Ellipsis for no axes separates its neighbours.
                layout += ["kept"] * missing or ["nothing"]
                self.before += [EVERYTHING] * missing
                at += missing
            elif isinstance(entry, slice):
                layout.append("kept")
                self.before.append(entry)
                at += 1
            elif not isinstance(entry, Tensor) and entry.dtype == bool:
                self._add_mask(shape, at, entry)
                layout.append("indexed")
                at += entry.ndim
            else:
                self._add(entry, EVERYTHING, shape[at], at)
                layout.append("indexed")
                at += 1
        self._resolve(shape, layout)

    def _add(self, index: Any, before: Any, size: int, axis: int) -> None:
        if isinstance(index, Tensor):
            _core.check_positions(index, axis, size, self.who)
        else:
            index = _resolve_negative(index, size, axis, self.who)
        self.axes.append(len(self.before))
        self.before.append(before)
        self.indices.append(index)
        self.sizes.append(size)

    def _add_mask(self, shape: tuple[int, ...], at: int, mask: Any) -> None:
        if mask.shape != shape[at : at + mask.ndim]:
            raise IndexError(
                f"{self.who}: expected a mask of shape {shape[at : at + mask.ndim]}, that of the "
                f"axes from {at} of shape {shape}, got {mask.shape}"
            )
        if mask.ndim == 0:  # a single bool: a new axis, taken or empty
            self._add(np.zeros(int(mask), np.int64), None, 1, at)
        for k, positions in enumerate(np.nonzero(mask) if mask.ndim else ()):
            self._add(positions, EVERYTHING, shape[at + k], at + k)

    def _resolve(self, shape: tuple[int, ...], layout: list[str]) -> None:
        sliced = []
        axis_sizes = iter(shape)
        for entry in self.before:
            if entry is None:
                sliced.append(1)
            else:
                sliced.append(len(range(*entry.indices(next(axis_sizes)))))
        first = layout.index("indexed")
        last = len(layout) - 1 - layout[::-1].index("indexed")
        together = all(kind == "indexed" for kind in layout[first : last + 1])
        kept = [axis for axis in range(len(sliced)) if axis not in self.axes]
        self.axis = self.axes[0] if together else 0
        order = kept[: self.axis] + self.axes + kept[self.axis :]
        self.order = order if order != sorted(order) else None
        self.moved = [sliced[axis] for axis in order]
        leading = [sliced[axis] for axis in kept[: self.axis]]
        trailing = [sliced[axis] for axis in kept[self.axis :]]
        self.merged = [*leading, prod(self.sizes), *trailing]
        self.positions, block = _merge_indices(self.indices, self.sizes, self.who)
        self.taken = [*leading, *block, *trailing]
        result: list[int] = []
        sizes = iter(leading + trailing)
        for number, kind in enumerate(layout):
            if number == (first if together else 0):
                result += block
            if kind == "new":
                result.append(1)
            elif kind == "kept":
                result.append(next(sizes))
        self.result = result
        self.plain = all(entry == EVERYTHING for entry in self.before)

    def merge_axes(self, x: TensorLike) -> Tensor:
        """Return `x` with its indexed axes merged into one."""
        if not self.plain:
            x = _core.identity(x)[tuple(self.before)]
        if self.order is not None:
            x = _core.transpose(x, self.order)
        return _core.reshape(x, self.merged)

    def restore_axes(self, x: TensorLike, changed: Tensor) -> Tensor:
        """Return `x` with the part that `merge_axes` returned replaced."""
        changed = _core.reshape(changed, self.moved)
        if self.order is not None:
            changed = _core.transpose(changed, np.argsort(self.order).tolist())
        if self.plain:
            return changed
        return _core.update_basic(x, tuple(self.before), changed, "set")


def _axes_consumed(entry: Any) -> int:
    """Return the number of axes that an entry of an index consumes."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, np.ndarray) and entry.dtype == bool:
        return entry.ndim
    return 1


def _resolve_negative(index: Any, size: int, axis: int, who: str) -> Any:
    """Return integers that count from the start; raise an IndexError if one is out of range."""
    bad = (index < -size) | (index >= size)
    if np.any(bad):
        raise IndexError(
            f"{who}: index {index[bad].flat[0]} is out of range for axis {axis} of size {size}"
        )
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + size, index)


def _merge_indices(indices: list[Any], sizes: list[int], who: str) -> tuple[Any, tuple[int, ...]]:
    """Return the positions along all indexed axes as one axis, and their shape."""
    try:
        block = np.broadcast_shapes(*(index.shape for index in indices))
    except ValueError:
        shapes = ", ".join(str(index.shape) for index in indices)
        raise IndexError(f"{who}: expected indices whose shapes broadcast, got {shapes}") from None
    if len(indices) == 1:
        return indices[0], block
    total: Any = 0
    for k, (index, size) in enumerate(zip(indices, sizes, strict=True)):
        if isinstance(index, Tensor):
            index = _core.wrap_index(index, size)
        total = total + index * prod(sizes[k + 1 :])
    if isinstance(total, Tensor):
        return _core.broadcast_to(total, block), block
    return np.broadcast_to(total, block), block


def along_axis(shape: tuple[int, ...], indices: TensorLike, axis: int) -> tuple[Any, ...]:
    """Return the index of the entries at `indices` along an axis, for each row along it."""
    index = read_entry(indices, "take_along_axis")
    rank = len(shape)
    if not -rank <= axis < rank:
        raise ValueError(
            f"take_along_axis: axis {axis} is out of range for a tensor of rank {rank}"
        )
    if index.ndim != rank:
        raise ValueError(
            f"take_along_axis: expected indices of rank {rank} for x of shape {shape}, got indices "
            f"of shape {index.shape}"
        )
    key: list[Any] = [
        np.arange(size).reshape([-1 if d == k else 1 for d in range(rank)])
        for k, size in enumerate(shape)
    ]
    key[axis] = index
    return tuple(key)
