"""Set functions of two arrays.

The number of common values depends on values, so these functions except `isin` evaluate their
inputs. In a traced function, where values are not known, they raise a RuntimeError. Values are
sorted, and their gradients flow to their first occurrence.
"""

from __future__ import annotations

import numpy as np

from .. import _core
from .._base.checks import flag, known_values
from .._base.composite import composite
from .._core import Tensor
from .._typing import TensorLike
from .distinct import distinct
from .shape import flat

__all__ = ["intersect1d", "isin", "setdiff1d", "setxor1d", "union1d"]


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
    both = _core.concat([distinct(one, "intersect1d").values for one in two], 0)
    order = _core.argsort(both, 0).numpy()
    values = both.numpy()[order]
    twice = np.flatnonzero(values[1:] == values[:-1])
    return _core.take(both, order[twice], 0, checked=True)


@composite
def setdiff1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values of `x` that `y` does not contain.

    All NaN of `x` are one value, which `y` never contains. The shape of the result
    depends on values, so both inputs are evaluated at the call. Differentiable: the gradient of a
    value flows to its first occurrence.

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
    values = distinct(one, "setdiff1d", True).values
    alone = ~np.isin(values.numpy(), known_values(other, "setdiff1d"))
    return _core.take(values, np.flatnonzero(alone), 0, checked=True)


@composite
def setxor1d(x: TensorLike, y: TensorLike, /) -> Tensor:
    """Return the distinct values that exactly one of two arrays contains.

    All NaN of one array are one value, which the other one never contains. The shape of the
    result depends on values, so both inputs are evaluated at the call. Differentiable: the gradient
    of a value flows to its first occurrence.

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
    both = _core.concat([distinct(one, "setxor1d", True).values for one in two], 0)
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
    return distinct(_core.concat(flat([x, y], "union1d"), 0), "union1d", True).values
