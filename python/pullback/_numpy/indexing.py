"""`x[key]` and `x[key] = value` for advanced indices, and the updates `x.at[key]`.

The core calls `get`, `assigned` and `At`; it implements basic indices itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _core
from .._core import Tensor, Variable
from .._typing import Index, TensorLike
from .advanced_index import AdvancedIndex


def get(x: Tensor, key: Any, who: str = "index") -> Tensor:
    """Return `x[key]` for an advanced index."""
    index = AdvancedIndex(x.shape, key, who)
    taken = _core.take(index.merge_axes(x), index.positions, index.axis, checked=True)
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
    index = AdvancedIndex(x.shape, key, who)
    value = _core.reshape(_core.fit(value, index.result, who), index.taken)
    base = index.merge_axes(x)
    unique = False
    # Unique positions simplify the gradients of these two, and complex products need them.
    multiplies = update == "multiply" and "complex" in str(x.dtype)
    tracked = _core.is_tracked(x) or _core.is_tracked(value)
    if multiplies or (update in ("set", "multiply") and tracked):
        unique = _without_duplicates(index.positions, base.shape[index.axis])
    changed = _core.at_index(base, value, index.positions, index.axis, update, unique)
    return index.restore_axes(x, changed)


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
