"""Indices that contain arrays, tensors or booleans: `x[key]`, `x[key] = value` and `x.at`.

NumPy's rules: a boolean array stands for the positions of its true elements; integer arrays
broadcast together; their axes of the result stay in place if they are adjacent, otherwise they come
first.

`Advanced` converts such an index to one form: a basic index of slices only, a transpose that makes
the indexed axes adjacent, and positions along these axes as one axis. Known positions are checked
at the call; those of a tensor without a value are checked when they are computed.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._core import Tensor, Variable
from .._typing import Index, TensorLike

EVERYTHING = slice(None)


def _entry(entry: Any, who: str) -> Any:
    """An entry of an index: None, Ellipsis, a slice, a tensor of integers, or a NumPy array of
    integers or bool."""
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


class Advanced:
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
        self.lengths: list[int] = []
        layout: list[str] = []  # "new", "kept" or "indexed" for each entry
        entries = [_entry(e, who) for e in (key if isinstance(key, tuple) else (key,))]
        missing = len(shape) - sum(map(_consumed, entries))
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

    def _add(self, index: Any, before: Any, length: int, axis: int) -> None:
        if isinstance(index, Tensor):
            _core.check_positions(index, axis, length, self.who)
        else:
            index = _checked(index, length, axis, self.who)
        self.axes.append(len(self.before))
        self.before.append(before)
        self.indices.append(index)
        self.lengths.append(length)

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
        axis_lengths = iter(shape)
        for entry in self.before:
            if entry is None:
                sliced.append(1)
            else:
                sliced.append(len(range(*entry.indices(next(axis_lengths)))))
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
        self.merged = [*leading, prod(self.lengths), *trailing]
        self.positions, block = _combined(self.indices, self.lengths, self.who)
        self.taken = [*leading, *block, *trailing]
        result: list[int] = []
        lengths = iter(leading + trailing)
        for number, kind in enumerate(layout):
            if number == (first if together else 0):
                result += block
            if kind == "new":
                result.append(1)
            elif kind == "kept":
                result.append(next(lengths))
        self.result = result
        self.plain = all(entry == EVERYTHING for entry in self.before)

    def gathered_from(self, x: TensorLike) -> Tensor:
        """Return `x` with its indexed axes merged into one."""
        if not self.plain:
            x = _core.identity(x)[tuple(self.before)]
        if self.order is not None:
            x = _core.transpose(x, self.order)
        return _core.reshape(x, self.merged)

    def put_back(self, x: TensorLike, changed: Tensor) -> Tensor:
        """Return `x` with the part that `gathered_from` returned replaced."""
        changed = _core.reshape(changed, self.moved)
        if self.order is not None:
            changed = _core.transpose(changed, np.argsort(self.order).tolist())
        if self.plain:
            return changed
        return _core.update_basic(x, tuple(self.before), changed, "set")


def _consumed(entry: Any) -> int:
    """Return the number of axes that an entry of an index consumes."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, np.ndarray) and entry.dtype == bool:
        return entry.ndim
    return 1


def _checked(index: Any, length: int, axis: int, who: str) -> Any:
    """Integers with those from the end resolved; out of range is an IndexError."""
    bad = (index < -length) | (index >= length)
    if np.any(bad):
        raise IndexError(
            f"{who}: index {index[bad].flat[0]} is out of range for axis {axis} of size {length}"
        )
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + length, index)


def _combined(indices: list[Any], lengths: list[int], who: str) -> tuple[Any, tuple[int, ...]]:
    """Positions along all axes as one, and their shape."""
    try:
        block = np.broadcast_shapes(*(index.shape for index in indices))
    except ValueError:
        shapes = ", ".join(str(index.shape) for index in indices)
        raise IndexError(f"{who}: expected indices whose shapes broadcast, got {shapes}") from None
    if len(indices) == 1:
        return indices[0], block
    total: Any = 0
    for k, (index, length) in enumerate(zip(indices, lengths, strict=True)):
        if isinstance(index, Tensor):
            # Taking from 0, 1, 2, … resolves negative indices and checks each axis.
            index = _core.take(_core.arange(0, length, 1, "int64"), index, 0, checked=True)
        total = total + index * prod(lengths[k + 1 :])
    if isinstance(total, Tensor):
        return _core.broadcast_to(total, block), block
    return np.broadcast_to(total, block), block


def along_axis(shape: tuple[int, ...], indices: TensorLike, axis: int) -> tuple[Any, ...]:
    """The index that names, in each row along an axis, the entries at the row's own positions."""
    index = _entry(indices, "take_along_axis")
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
        np.arange(length).reshape([-1 if d == k else 1 for d in range(rank)])
        for k, length in enumerate(shape)
    ]
    key[axis] = index
    return tuple(key)


def get(x: Tensor, key: Any, who: str = "index") -> Tensor:
    """x[key], where the key is not a basic one."""
    index = Advanced(x.shape, key, who)
    taken = _core.take(index.gathered_from(x), index.positions, index.axis, checked=True)
    return _core.reshape(taken, index.result)


def assigned(x: Tensor, key: Any, value: TensorLike) -> Tensor:
    """Return `x` after ``x[key] = value`` for an advanced index."""
    return _update(x, key, value, "set", "item assignment")


# --- x.at


class At:
    """Index a tensor for updates: `x.at[index]`."""

    __slots__ = ("_x",)
    # Python's defaults would call __getitem__ with 0, 1, 2, … without end.
    __iter__ = None
    __contains__ = None

    def __init__(self, x: Tensor) -> None:
        self._x = x

    def __getitem__(self, key: Index) -> Place:
        return Place(self._x, key)

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            raise AttributeError(f"at: expected an index as in x.at[index].set(v), got .{name}")

    def __repr__(self) -> str:
        return f"<at of a tensor of shape {self._x.shape}>"


class Place:
    """Represent the entries `x[index]` of a tensor, for updates.

    The index is any NumPy index. Each method returns a new tensor with the shape and dtype of `x`;
    `x` is not modified. If arrays index an entry more than once, the values apply in the order of
    the index: the last one that is set remains; others are added (multiplied, compared) one after
    the other.

    Differentiable in `x` and `value`. Overwritten entries receive a zero gradient. In `min` and
    `max` entries that equal the result share the gradient. A factor of `multiply` receives the
    product of all other factors of its entry, without a division. For that gradient inside a traced
    function, indices that are computed there must not repeat an entry (NotImplementedError).

    Examples
    --------
    >>> x = pb.constant([1.0, 2.0, 3.0, 4.0])
    >>> x.at[1:3].set(0.0)
    Tensor([1., 0., 0., 4.], dtype=float32)
    >>> x.at[[0, 0, -1]].add([10.0, 20.0, 30.0])
    Tensor([31.,  2.,  3., 34.], dtype=float32)
    >>> x.at[x > 2.0].multiply(10.0)
    Tensor([ 1.,  2., 30., 40.], dtype=float32)
    """

    __slots__ = ("_key", "_x")

    def __init__(self, x: Tensor, key: Any) -> None:
        self._x = x
        self._key = key

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            known = ".get, .set, .add, .multiply, .min, .max"
            raise AttributeError(f"at: expected one of {known} after [index], got .{name}")

    def __repr__(self) -> str:
        return f"<at[{self._key!r}] of a tensor of shape {self._x.shape}>"

    def get(self) -> Tensor:
        """Return the entries `x[index]`.

        Returns
        -------
        Tensor
            Shape of the indexed entries; dtype of `x`.
        """
        return self._x[self._key]

    def set(self, value: TensorLike) -> Tensor:
        """Return a tensor with the value at these entries.

        Parameters
        ----------
        value : array_like
            Value, which broadcasts to the shape of `x[index]`.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        TypeError
            If `value` is floating and `x` an integer, or `value` is a number and `x` is of dtype
            bool.
        ValueError
            If `value` does not broadcast to the shape of `x[index]`.
        IndexError
            If an index is out of range. If the index has no value yet, it is raised at the
            evaluation.
        """
        return _update(self._x, self._key, value, "set")

    def add(self, value: TensorLike) -> Tensor:
        """Return a tensor with the value added at these entries; for bool, by or.

        Parameters
        ----------
        value : array_like
            Value, which broadcasts to the shape of `x[index]`.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        TypeError
            If `value` is floating and `x` an integer, or `value` is a number and `x` is of dtype
            bool.
        ValueError
            If `value` does not broadcast to the shape of `x[index]`.
        IndexError
            If an index is out of range. If the index has no value yet, it is raised at the
            evaluation.
        """
        return _update(self._x, self._key, value, "add")

    def multiply(self, value: TensorLike) -> Tensor:
        """Return a tensor with these entries multiplied by the value; for bool, by and.

        Parameters
        ----------
        value : array_like
            Value, which broadcasts to the shape of `x[index]`.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        TypeError
            If `value` is floating and `x` an integer, or `value` is a number and `x` is of dtype
            bool.
        ValueError
            If `value` does not broadcast to the shape of `x[index]`.
        IndexError
            If an index is out of range. If the index has no value yet, it is raised at the
            evaluation.
        """
        return _update(self._x, self._key, value, "multiply")

    def min(self, value: TensorLike) -> Tensor:
        """Return a tensor with the minimum of the value and the present entry at these entries.

        Parameters
        ----------
        value : array_like
            Value, which broadcasts to the shape of `x[index]`.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        TypeError
            If `value` is floating and `x` an integer, or `value` is a number and `x` is of dtype
            bool.
        ValueError
            If `value` does not broadcast to the shape of `x[index]`.
        IndexError
            If an index is out of range. If the index has no value yet, it is raised at the
            evaluation.
        """
        return _update(self._x, self._key, value, "min")

    def max(self, value: TensorLike) -> Tensor:
        """Return a tensor with the maximum of the value and the present entry at these entries.

        Parameters
        ----------
        value : array_like
            Value, which broadcasts to the shape of `x[index]`.

        Returns
        -------
        Tensor
            Shape and dtype of `x`.

        Raises
        ------
        TypeError
            If `value` is floating and `x` an integer, or `value` is a number and `x` is of dtype
            bool.
        ValueError
            If `value` does not broadcast to the shape of `x[index]`.
        IndexError
            If an index is out of range. If the index has no value yet, it is raised at the
            evaluation.
        """
        return _update(self._x, self._key, value, "max")


def _update(x: Tensor, key: Any, value: TensorLike, update: str, who: str = "") -> Tensor:
    who = who or f"at[].{update}"
    value = _core.update_value(x, value, who)
    if _core.is_basic_index(key):
        return _core.update_basic(x, key, value, update)
    if _is_mask(key) and (masked := _where(x, key, value, update, who)) is not None:
        return masked
    index = Advanced(x.shape, key, who)
    value = _core.reshape(_core.fit(value, index.result, who), index.taken)
    base = index.gathered_from(x)
    unique = False
    # Unique positions simplify only the gradients of these two.
    if update in ("set", "multiply") and (_core.is_tracked(x) or _core.is_tracked(value)):
        unique = _without_duplicates(index.positions, base.shape[index.axis])
    changed = _core.at_index(base, value, index.positions, index.axis, update, unique)
    return index.put_back(x, changed)


def _is_mask(key: Any) -> bool:
    return isinstance(key, (np.ndarray, Tensor, Variable)) and bool(key.dtype == np.bool_)


def _where(x: Tensor, mask: Any, value: Tensor, update: str, who: str) -> Tensor | None:
    """Perform the update under a mask by `where`, which does not need the number of entries.

    Return None if the value has an element for each entry.
    """
    inner = x.ndim - mask.ndim
    if mask.ndim == 0 or mask.shape != x.shape[: mask.ndim] or value.ndim > inner + 1:
        return None
    if value.ndim == inner + 1:
        if value.shape[0] != 1:
            return None
        value = _core.reshape(value, value.shape[1:])
    value = _core.fit(value, x.shape[mask.ndim :], who)
    mask = _core.reshape(mask, (*mask.shape, *(1,) * inner))
    return _core.where(mask, _core.combine(x, value, update), x)


def _without_duplicates(positions: Any, length: int) -> bool:
    if isinstance(positions, Tensor) or positions.size > length:
        return False
    seen = np.zeros(length, bool)
    seen[positions] = True
    return bool(np.count_nonzero(seen) == positions.size)
