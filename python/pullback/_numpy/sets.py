"""Set functions.

The number of distinct values depends on values, so these functions except `isin` evaluate their
input. In a traced function, where values are not known, they raise a RuntimeError. Values are
sorted, and their gradients flow to their first occurrence. The functions of the Array API
(`unique_all`, …) treat each NaN as a distinct value.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .. import _core
from .._base.checks import flag, known_values
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .shape import flat

__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


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


def _unique(x: TensorLike, who: str, equal_nan: bool = False) -> UniqueAll:
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
    return _unique(x, "unique_all")


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
    found = _unique(x, "unique_counts")
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
    found = _unique(x, "unique_inverse")
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
        return _unique(x, "unique_values").values
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
    *,
    equal_nan: bool = True,
) -> Any:
    """Return the distinct values, with the options of ``np.unique``.

    The shape of the result depends on values, so `x` is evaluated at the call. Differentiable in
    `x`: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    return_index : bool, default False
        Return also the index of the first occurrence of each value in the flattened `x`.
    return_inverse : bool, default False
        Return also the index of its value for each element, in the shape of `x`.
    return_counts : bool, default False
        Return also the number of occurrences of each value.
    equal_nan : bool, default True
        Treat all NaN as one value; if False, each one is distinct.

    Returns
    -------
    Tensor or tuple of Tensor
        Distinct values in ascending order, NaN last, shape (k,); the dtype of `x`. If an option is
        set, a tuple of the values and what the options add, in the order of the options; dtype
        int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If `x` is complex or an option is not a bool.

    Examples
    --------
    >>> pb.unique([3, 1, 3], return_counts=True)
    (Tensor([1, 3], dtype=int64), Tensor([1, 2], dtype=int64))
    """
    if return_inverse is not False:
        return_inverse = flag(return_inverse, "unique", "return_inverse")
    if return_index is not False:
        return_index = flag(return_index, "unique", "return_index")
    if return_counts is not False:
        return_counts = flag(return_counts, "unique", "return_counts")
    if equal_nan is not True:
        equal_nan = flag(equal_nan, "unique", "equal_nan")
    found = _unique(x, "unique", equal_nan)
    wished = (True, return_index, return_inverse, return_counts)
    out = tuple(one for one, wish in zip(found, wished, strict=True) if wish)
    return out if len(out) > 1 else out[0]


def isin(x: TensorLike, /, test_elements: TensorLike, *, invert: bool = False) -> Tensor:
    """Test whether each element is contained in a set of elements.

    NaN is not equal to anything, so it is never contained. The function works in traced functions.

    Parameters
    ----------
    x : array_like, real
        Input of any shape.
    test_elements : array_like, real
        Elements to compare with, of any shape.
    invert : bool, default False
        Test whether each element is missing from `test_elements`.

    Returns
    -------
    Tensor
        Shape of `x`; dtype bool.

    Raises
    ------
    TypeError
        If an input is complex or `invert` is not a bool.

    Examples
    --------
    >>> pb.isin([1, 2, 5], [5, 1])
    Tensor([ True, False,  True], dtype=bool)
    """
    if invert is not False:
        invert = flag(invert, "isin", "invert")
    x, among = _core.operands([x, test_elements], "isin")
    among = _core.reshape(among, -1)
    if among.size == 0:
        return _core.full(x.shape, bool(invert), "bool")
    among = _core.sort(among, 0)
    at = _core.minimum(_core.searchsorted(among, x, False), among.size - 1)
    compare = _core.not_equal if invert else _core.equal
    return compare(_core.take(among, at, 0, checked=True), x)


@composite
def intersect1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values that both arrays contain.

    NaN is not equal to anything, so it is never contained. The shape of the result depends on
    values, so both inputs are evaluated at the call. Differentiable: the gradient of a value flows
    to its first occurrence in `x`.

    Parameters
    ----------
    x, y : array_like, real
        Inputs of any shape.

    Returns
    -------
    Tensor
        Common values in ascending order, shape (k,); the dtype to which `x` and `y` promote.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.intersect1d([3, 1, 3], [2, 3])
    Tensor([3], dtype=int64)
    """
    two = _core.operands([x, y], "intersect1d")
    both = _core.concat([_unique(one, "intersect1d").values for one in two], 0)
    order = _core.argsort(both, 0).numpy()
    values = both.numpy()[order]
    twice = np.flatnonzero(values[1:] == values[:-1])
    return _core.take(both, order[twice], 0, checked=True)


@composite
def setdiff1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values of `x` that `y` does not contain.

    The shape of the result depends on values, so both inputs are evaluated at the call.
    Differentiable: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x, y : array_like, real
        Inputs of any shape.

    Returns
    -------
    Tensor
        Distinct values in ascending order, shape (k,); the promoted dtype.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.setdiff1d([3, 1, 3, 2], [2, 5])
    Tensor([1, 3], dtype=int64)
    """
    one, other = _core.operands([x, y], "setdiff1d")
    values = _unique(one, "setdiff1d").values
    alone = ~np.isin(values.numpy(), known_values(other, "setdiff1d"))
    return _core.take(values, np.flatnonzero(alone), 0, checked=True)


@composite
def setxor1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values that exactly one of two arrays contains.

    The shape of the result depends on values, so both inputs are evaluated at the call.
    Differentiable: the gradient of a value flows to its first occurrence.

    Parameters
    ----------
    x, y : array_like, real
        Inputs of any shape.

    Returns
    -------
    Tensor
        Distinct values in ascending order, shape (k,); the promoted dtype.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.setxor1d([3, 1, 3], [2, 3])
    Tensor([1, 2], dtype=int64)
    """
    two = _core.operands([x, y], "setxor1d")
    both = _core.concat([_unique(one, "setxor1d").values for one in two], 0)
    order = _core.argsort(both, 0).numpy()
    values = both.numpy()[order]
    differs = np.concatenate([[True], values[1:] != values[:-1], [True]])
    return _core.take(both, order[differs[1:] & differs[:-1]], 0, checked=True)


@composite
def union1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values that at least one of two arrays contains.

    All NaN are one value. The shape of the result depends on values, so both inputs are evaluated
    at the call. Differentiable: the gradient of a value flows to its first occurrence, in `x`
    before `y`.

    Parameters
    ----------
    x, y : array_like, real
        Inputs of any shape.

    Returns
    -------
    Tensor
        Values in ascending order, NaN last, shape (k,); the dtype to which `x` and `y` promote.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.
    TypeError
        If an input is complex.

    Examples
    --------
    >>> pb.union1d([3, 1, 3], [2, 3])
    Tensor([1, 2, 3], dtype=int64)
    """
    return _unique(_core.concat(flat([x, y], "union1d"), 0), "union1d", True).values
