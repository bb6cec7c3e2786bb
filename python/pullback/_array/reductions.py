"""Reductions: over all axes, one axis, or a tuple of axes (negative ones count from the end).

With `keepdims` a reduced axis stays with length 1. A bad axis is a ValueError. Sums of float32 are
formed in a fixed tree, so they do not depend on the number of threads and err by a few units in the
last place. An empty sum is 0, an empty product 1, an empty mean NaN; an empty `max` or `min` is a
ValueError.
"""

from __future__ import annotations

from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import Axis, TensorLike


def sum(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The sum. Integers and bool are summed in int64.

    >>> pb.sum([[1.0, 2.0], [3.0, 4.0]], axis=0)
    Tensor([4., 6.], dtype=float32)
    """
    return _core.sum(x, axis, keepdims)


def mean(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean, always floating.

    >>> pb.mean([[1.0, 2.0], [3.0, 4.0]], axis=1)
    Tensor([1.5, 3.5], dtype=float32)
    """
    return _core.mean(x, axis, keepdims)


def prod(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The product. Its gradient divides by nothing, so zeros are exact.

    >>> x = pb.Variable([2.0, 0.0, 3.0])
    >>> pb.gradients(pb.prod(x), x)
    [Tensor([0., 6., 0.], dtype=float32)]
    """
    return _core.prod(x, axis, keepdims)


def max(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element; NaN where there is one. Equal ones share the gradient.

    >>> pb.max([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([5., 4.], dtype=float32)
    """
    return _core.max(x, axis, keepdims)


def min(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element; NaN where there is one. Equal ones share the gradient.

    >>> pb.min([[1.0, 5.0], [3.0, 4.0]], axis=1)
    Tensor([1., 3.], dtype=float32)
    """
    return _core.min(x, axis, keepdims)


def argmax(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """The position (int64) of the first largest element; without an axis, of x flattened.

    >>> pb.argmax([[1.0, 5.0], [4.0, 3.0]], axis=1)
    Tensor([1, 0], dtype=int64)
    """
    return _core.argmax(x, axis, keepdims)


def argmin(x: TensorLike, /, axis: SupportsIndex | None = None, keepdims: bool = False) -> Tensor:
    """The position (int64) of the first smallest element; without an axis, of x flattened.

    >>> pb.argmin([3.0, 1.0, 2.0])
    Tensor(1, dtype=int64)
    """
    return _core.argmin(x, axis, keepdims)


def all(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether every element holds.

    >>> pb.all([[True, True], [True, False]], axis=1)
    Tensor([ True, False], dtype=bool)
    """
    return _core.all(x, axis, keepdims)


def any(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether some element holds.

    >>> pb.any([[False, False], [True, False]], axis=1)
    Tensor([False,  True], dtype=bool)
    """
    return _core.any(x, axis, keepdims)


def logsumexp(x: TensorLike, /, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """log(sum(exp(x))), without overflow; -inf where all of x is, with gradient 0.

    >>> pb.logsumexp([1000.0, float("-inf")])
    Tensor(1000., dtype=float32)
    """
    return _core.logsumexp(x, axis, keepdims)
