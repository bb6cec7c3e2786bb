"""Distinct values: `unique` of NumPy and the four functions of the Array API.

The number of distinct values depends on values, so these functions evaluate their input. In a
traced function, where values are not known, they raise a RuntimeError. Values are sorted, and their
gradients flow to their first occurrence. The functions of the Array API (`unique_all`, …) treat
each NaN as a distinct value.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import axes_of, flag, known_values
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike

__all__ = ["unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """Distinct values, their first indices, the index of each element's value, and counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """Distinct values and the number of their occurrences."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """Distinct values and the index of each element's value."""

    values: Tensor
    inverse_indices: Tensor


def _apart(sorted_values: Any, equal_nan: bool) -> Any:
    """Return the mask of the sorted elements that differ from the one before."""
    after, before = sorted_values[1:], sorted_values[:-1]
    differs = after != before
    if equal_nan and sorted_values.dtype.kind == "f":
        differs &= ~(np.isnan(after) & np.isnan(before))
    return np.concatenate([np.ones(min(sorted_values.size, 1), bool), differs])


def distinct(x: TensorLike, who: str, equal_nan: bool = False) -> UniqueAll:
    """Return the distinct values of the flattened input for the public function `who`."""
    x = _core.constant(x, who=who)
    values = known_values(x, who)
    flat = _core.reshape(x, -1)
    order = _core.argsort(flat, 0).numpy()
    apart = _apart(values.reshape(-1)[order], equal_nan)
    starts = np.flatnonzero(apart)
    counts = np.diff(np.append(starts, values.size))
    inverse = np.empty(values.size, np.int64)
    inverse[order] = np.cumsum(apart) - 1
    return UniqueAll(
        _core.take(flat, order[starts], 0, checked=True),
        _core.constant(order[starts]),
        _core.constant(inverse.reshape(values.shape)),
        _core.constant(counts),
    )


def _distinct_slices(x: TensorLike, axis: SupportsIndex, equal_nan: bool) -> UniqueAll:
    """Return the distinct slices along an axis, in the lexicographic order of their elements."""
    x = _core.constant(x, who="unique")
    (k,) = axes_of([axis], len(x.shape), "unique")
    if x.dtype.kind == "c":
        raise TypeError(f"unique: expected real numbers for x, got {x.dtype}")
    values = np.moveaxis(known_values(x, "unique"), k, 0)
    count = len(values)
    rows = values.reshape(count, prod(values.shape[1:]))
    if rows.dtype.kind == "V":  # bfloat16, of which NumPy has no order
        rows = rows.astype(np.float32)
    order = np.lexsort(rows.T[::-1]) if rows.shape[1] else np.arange(count)
    after, before = rows[order[1:]], rows[order[:-1]]
    differs = after != before
    if equal_nan and rows.dtype.kind == "f":
        differs &= ~(np.isnan(after) & np.isnan(before))
    apart = np.concatenate([np.ones(min(count, 1), bool), differs.any(1)])
    starts = np.flatnonzero(apart)
    inverse = np.empty(count, np.int64)
    inverse[order] = np.cumsum(apart) - 1
    return UniqueAll(
        _core.take(x, order[starts], k, checked=True),
        _core.constant(order[starts]),
        _core.constant(inverse),
        _core.constant(np.diff(np.append(starts, count))),
    )


@composite
def unique_all(x: TensorLike, /) -> UniqueAll:
    """Return the distinct values, their first indices, the inverse and the counts.

    Each NaN is a distinct value. The shape of the result depends on values, so `x` is evaluated at
    the call. Differentiable in `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.

    Returns
    -------
    values : Tensor
        Distinct values in ascending order, NaN last, shape (k,); the dtype of `x`.
    indices : Tensor
        Index of the first occurrence of each value in the flattened `x`, shape (k,); dtype int64.
    inverse_indices : Tensor
        Index into `values` for each element; the shape of `x`, dtype int64.
    counts : Tensor
        Number of occurrences of each value, shape (k,); dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.unique_all([3, 1, 3]).indices
    Tensor([1, 0], dtype=int64)
    """
    return distinct(x, "unique_all")


@composite
def unique_counts(x: TensorLike, /) -> UniqueCounts:
    """Return the distinct values and the number of their occurrences.

    Each NaN is a distinct value. The shape of the result depends on values, so `x` is evaluated at
    the call. Differentiable in `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.

    Returns
    -------
    values : Tensor
        Distinct values in ascending order, NaN last, shape (k,); the dtype of `x`.
    counts : Tensor
        Number of occurrences of each value, shape (k,); dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.unique_counts([3, 1, 3]).counts
    Tensor([1, 2], dtype=int64)
    """
    found = distinct(x, "unique_counts")
    return UniqueCounts(found.values, found.counts)


@composite
def unique_inverse(x: TensorLike, /) -> UniqueInverse:
    """Return the distinct values and, for each element, the index of its value.

    Each NaN is a distinct value. The shape of the result depends on values, so `x` is evaluated at
    the call. Differentiable in `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.

    Returns
    -------
    values : Tensor
        Distinct values in ascending order, NaN last, shape (k,); the dtype of `x`.
    inverse_indices : Tensor
        Index into `values` for each element; the shape of `x`, dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.unique_inverse([3, 1, 3]).inverse_indices
    Tensor([1, 0, 1], dtype=int64)
    """
    found = distinct(x, "unique_inverse")
    return UniqueInverse(found.values, found.inverse_indices)


@composite
def unique_values(x: TensorLike, /) -> Tensor:
    """Return the distinct values.

    Each NaN is a distinct value. The shape of the result depends on values, so `x` is evaluated at
    the call. Differentiable in `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.

    Returns
    -------
    Tensor
        Distinct values in ascending order, NaN last, shape (k,); the dtype of `x`.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex.

    Examples
    --------
    >>> pb.unique_values([3, 1, 3])
    Tensor([1, 3], dtype=int64)
    """
    x = _core.constant(x, who="unique_values")
    if _core.is_tracked(x):
        return distinct(x, "unique_values").values
    known_values(x, "unique_values")
    values = _core.sort(_core.reshape(x, -1), 0).numpy()
    return _core.constant(values[_apart(values, False)])


@composite
def unique(
    x: TensorLike,
    /,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: SupportsIndex | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """Return the distinct values, or the distinct slices along an axis.

    The shape of the result depends on values, so `x` is evaluated at the call. Differentiable in
    `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    return_index : bool, default False
        Return also the index of the first occurrence of each value in the flattened `x`, or of each
        slice along `axis`.
    return_inverse : bool, default False
        Return also the index of its value for each element, in the shape of `x`, or of its slice
        for each position along `axis`.
    return_counts : bool, default False
        Return also the number of occurrences of each value.
    axis : int, optional
        Compare the slices along this axis, as a whole. Default: the elements.
    equal_nan : bool, default True
        Treat all NaN as one value; if False, each one is distinct.

    Returns
    -------
    Tensor or tuple of Tensor
        Distinct values in ascending order, NaN last, shape (k,); with `axis`, the shape of `x` with
        k slices in their lexicographic order. The dtype of `x`. If an option is set, a tuple of the
        values and what the options add, in the order of the options; dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex, an option is not a bool or `axis` is not an integer.
    ValueError
        If `axis` is out of range.

    Examples
    --------
    >>> pb.unique([3, 1, 3], return_counts=True)
    (Tensor([1, 3], dtype=int64), Tensor([1, 2], dtype=int64))
    >>> pb.unique([[1, 2], [0, 5], [1, 2]], axis=0)
    Tensor([[0, 5],
            [1, 2]], dtype=int64)
    """
    if return_inverse is not False:
        return_inverse = flag(return_inverse, "unique", "return_inverse")
    if return_index is not False:
        return_index = flag(return_index, "unique", "return_index")
    if return_counts is not False:
        return_counts = flag(return_counts, "unique", "return_counts")
    if equal_nan is not True:
        equal_nan = flag(equal_nan, "unique", "equal_nan")
    if axis is None:
        found = distinct(x, "unique", equal_nan)
    else:
        found = _distinct_slices(x, axis, equal_nan)
    wished = (True, return_index, return_inverse, return_counts)
    out = tuple(one for one, wish in zip(found, wished, strict=True) if wish)
    return out if len(out) > 1 else out[0]
