"""Functions of the program applied along axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import axes_of, integers
from .._core import Tensor
from .._typing import Axis, TensorLike

__all__ = ["apply_along_axis", "apply_over_axes"]


def _callable(function: Any, who: str, name: str) -> None:
    if not callable(function):
        raise TypeError(f"{who}: expected a function for {name}, got {_core.shown(function)}")


def apply_along_axis(
    func1d: Callable[..., TensorLike],
    axis: SupportsIndex,
    arr: TensorLike,
    *args: Any,
    **kwargs: Any,
) -> Tensor:
    """Apply a function to each vector along an axis.

    The function is called once for each vector, so `vmap` is faster if the function permits it.
    Differentiable in `arr`, like the function.

    Parameters
    ----------
    func1d : callable
        Function ``func1d(vector, *args, **kwargs)`` of a vector, which returns array_like results
        of one shape.
    axis : int
        Axis of the vectors; negative values count from the last axis.
    arr : array_like
        Input of rank 1 or higher, of any dtype.
    *args, **kwargs : object
        Further arguments of the function.

    Returns
    -------
    Tensor
        Shape of `arr` with the axis replaced by the axes of a result.

    Raises
    ------
    ValueError
        If `axis` is out of range, if there are no vectors, or if the shapes of the results differ.
    TypeError
        If `func1d` is not callable.

    See Also
    --------
    apply_over_axes, vmap

    Examples
    --------
    >>> pb.apply_along_axis(pb.cumsum, 1, [[1.0, 2.0], [3.0, 4.0]])
    Tensor([[1., 3.],
            [3., 7.]], dtype=float32)
    """
    who = "apply_along_axis"
    _callable(func1d, who, "func1d")
    x = _core.constant(arr, who=who)
    (k,) = axes_of([axis], len(x.shape), who)
    others = [j for j in range(len(x.shape)) if j != k]
    outer = tuple(x.shape[j] for j in others)
    if 0 in outer:
        raise ValueError(f"{who}: expected at least one vector in arr, got shape {x.shape}")
    rows = _core.transpose(x, [*others, k])
    results = [
        _core.constant(func1d(rows[at], *args, **kwargs), who=who) for at in np.ndindex(outer)
    ]
    shape = results[0].shape
    for result in results:
        if result.shape != shape:
            raise ValueError(
                f"{who}: expected results of one shape, got {shape} and {result.shape}"
            )
    whole = _core.reshape(_core.stack(results, 0), outer + tuple(shape))
    order = list(range(len(outer)))
    order[k:k] = range(len(outer), len(outer) + len(shape))
    return _core.transpose(whole, order)


def apply_over_axes(func: Callable[[Tensor, int], TensorLike], a: TensorLike, axes: Axis) -> Tensor:
    """Apply a function of an array and an axis for several axes, one after the other.

    Differentiable in `a`, like the function.

    Parameters
    ----------
    func : callable
        Function ``func(a, axis)``, which returns an array_like result of the rank of `a`, or
        without the axis, which then gets the size 1.
    a : array_like
        Input of any shape and dtype.
    axes : int or sequence of int
        Axes; negative values count from the last axis.

    Returns
    -------
    Tensor
        The last result, of the rank of `a`.

    Raises
    ------
    ValueError
        If an axis is out of range, or a result has another rank.
    TypeError
        If `func` is not callable.

    See Also
    --------
    apply_along_axis

    Examples
    --------
    >>> pb.apply_over_axes(pb.sum, pb.ones((2, 3, 4)), (0, 2))
    Tensor([[[8.],
             [8.],
             [8.]]], dtype=float32)
    """
    who = "apply_over_axes"
    _callable(func, who, "func")
    x = _core.constant(a, who=who)
    rank = len(x.shape)
    for axis in integers(axes, who, "axes"):
        (k,) = axes_of([axis], rank, who)
        result = _core.constant(func(x, k), who=who)
        if len(result.shape) == rank - 1:
            result = _core.expand_dims(result, k)
        if len(result.shape) != rank:
            raise ValueError(
                f"{who}: expected a result of rank {rank} or {rank - 1} of func, got shape "
                f"{result.shape}"
            )
        x = result
    return x
