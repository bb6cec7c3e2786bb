"""Indices of nonzero elements, and selections between arrays.

The shape of the result of `nonzero` and similar functions depends on values, so they evaluate their
input. In a traced function, where values are not known, they raise a RuntimeError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, SupportsIndex

import numpy as np

from .. import _core
from .._base.checks import axes_of, choice, known_values
from .._base.composite import composite, composite_of_sequence
from .._core import Tensor
from .._typing import TensorLike
from .broadcasting import common_shape
from .shape import listed

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "piecewise",
    "select",
]


def nonzero(x: TensorLike, /) -> tuple[Tensor, ...]:
    """Return the indices of the elements that are not 0.

    NaN counts as nonzero. The shape of the result depends on values, so `x` is evaluated at the
    call.

    Parameters
    ----------
    x : array_like
        Input of rank 1 or higher, of any dtype.

    Returns
    -------
    tuple of Tensor
        One vector of positions for each axis of `x`, in row-major order; dtype int64.

    Raises
    ------
    ValueError
        If `x` has rank 0.
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.nonzero([0.0, 5.0, 7.0])
    (Tensor([1, 2], dtype=int64),)
    """
    return indices_of_nonzero(x, "nonzero")


def indices_of_nonzero(x: TensorLike, who: str) -> tuple[Tensor, ...]:
    """Return the indices of the nonzero elements for the public function `who`: see `nonzero`."""
    values = known_values(x, who)
    if values.ndim == 0:
        raise ValueError(f"{who}: expected a tensor of rank 1 or more, got a scalar")
    return tuple(_core.constant(positions) for positions in np.nonzero(values))


def argwhere(x: TensorLike, /) -> Tensor:
    """Return the indices of the elements that are not 0, one row for each.

    NaN counts as nonzero. The shape of the result depends on values, so `x` is evaluated at the
    call.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Shape (number of elements that are not 0, rank of `x`); dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.argwhere([[0, 5], [7, 0]])
    Tensor([[0, 1],
            [1, 0]], dtype=int64)
    """
    return _core.constant(np.argwhere(known_values(x, "argwhere")))


def flatnonzero(x: TensorLike, /) -> Tensor:
    """Return the indices of the elements of the flattened input that are not 0.

    NaN counts as nonzero. The shape of the result depends on values, so `x` is evaluated at the
    call.

    Parameters
    ----------
    x : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Vector of positions in ascending order; dtype int64.

    Raises
    ------
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.flatnonzero([[0, 5], [7, 0]])
    Tensor([1, 2], dtype=int64)
    """
    return _core.constant(np.flatnonzero(known_values(x, "flatnonzero")))


@composite
def extract(condition: TensorLike, arr: TensorLike) -> Tensor:
    """Return the elements of the flattened input where a condition is true.

    The shape of the result depends on values, so `condition` is evaluated at the call.
    Differentiable in `arr`.

    Parameters
    ----------
    condition : array_like
        As many elements as `arr` has; those that are not 0 are true.
    arr : array_like
        Input of any shape and dtype.

    Returns
    -------
    Tensor
        Vector of the selected elements; the dtype of `arr`.

    Raises
    ------
    ValueError
        If the numbers of elements differ.
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.extract([True, False, True], [1.0, 2.0, 3.0])
    Tensor([1., 3.], dtype=float32)
    """
    holds = known_values(condition, "extract")
    flat = _core.reshape(_core.constant(arr, who="extract"), -1)
    if holds.size != flat.size:
        raise ValueError(
            f"extract: expected {flat.size} elements, as in x, for condition, got {holds.size}"
        )
    return _core.take(flat, np.flatnonzero(holds), 0, checked=True)


@composite
def compress(condition: TensorLike, a: TensorLike, axis: SupportsIndex | None = None) -> Tensor:
    """Select the slices along an axis where a condition is true.

    The shape of the result depends on values, so `condition` is evaluated at the call.
    Differentiable in `a`.

    Parameters
    ----------
    condition : array_like
        Vector whose elements that are not 0 are true. It can be shorter than the axis; the slices
        beyond it are left out.
    a : array_like
        Input of any shape and dtype.
    axis : int, optional
        Axis to select along; negative values count from the last axis. Default: the flattened
        input.

    Returns
    -------
    Tensor
        Shape of `a` with the number of true elements as the size of the axis; the dtype of `a`.

    Raises
    ------
    ValueError
        If `condition` is not a vector or `axis` is out of range.
    IndexError
        If an element of `condition` beyond the end of the axis is true.
    RuntimeError
        If a function is being traced, where the values are not known.

    Examples
    --------
    >>> pb.compress([False, True], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], axis=0)
    Tensor([[3., 4.]], dtype=float32)
    """
    holds = known_values(condition, "compress")
    x = _core.constant(a, who="compress")
    if holds.ndim != 1:
        raise ValueError(f"compress: expected a vector for condition, got shape {holds.shape}")
    if axis is None:
        x, at = _core.reshape(x, -1), 0
    else:
        (at,) = axes_of([axis], len(x.shape), "compress")
    positions = np.flatnonzero(holds)
    if positions.size and positions[-1] >= x.shape[at]:
        raise IndexError(
            f"compress: expected true entries of condition below {x.shape[at]}, the size of axis "
            f"{at}, got one at {positions[-1]}"
        )
    return _core.take(x, positions, at, checked=True)


def _broadcast(arrays: list[Tensor], who: str) -> list[Tensor]:
    shape = common_shape([x.shape for x in arrays], who)
    return [_core.broadcast_to(x, shape) for x in arrays]


@composite_of_sequence
def choose(
    x: TensorLike,
    /,
    choices: Sequence[TensorLike],
    *,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> Tensor:
    """Select each element from one of several arrays by its number.

    Differentiable in `choices`; elements that are not selected receive no gradient.

    Parameters
    ----------
    x : array_like, int or bool
        Number of the array to select from, from 0 to len(choices) - 1. Broadcasts with `choices`.
    choices : sequence of array_like
        Arrays to select from.
    mode : {"raise", "wrap", "clip"}, default "raise"
        Treatment of a number out of range: raise an error, take it modulo the number of choices, or
        clip it to the nearest valid number.

    Returns
    -------
    Tensor
        Broadcast shape of `x` and `choices`; the dtype to which `choices` promote.

    Raises
    ------
    IndexError
        If a number is out of range in mode "raise"; in a traced function, when the result is
        computed.
    ValueError
        If there are no choices, if the shapes do not broadcast, or if `mode` is unknown.
    TypeError
        If `x` is neither integer nor bool.

    Examples
    --------
    >>> pb.choose([0, 1, 0], [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    Tensor([ 1., 20.,  3.], dtype=float32)
    """
    which = _core.constant(x, who="choose")
    arrays = _core.operands(listed(choices, "choose"), "choose")
    if which.dtype.kind not in "biu":
        raise TypeError(f"choose: expected integers for x, got {which.dtype}")
    if not arrays:
        raise ValueError("choose: expected at least one array for choices, got none")
    choice(mode, ("raise", "wrap", "clip"), "choose", "mode")
    which = _core.cast(which, "int64")
    if mode == "wrap":
        which = _core.remainder(which, len(arrays))
    elif mode == "clip":
        which = _core.minimum(_core.maximum(which, 0), len(arrays) - 1)
    elif not _core.is_traced(which):
        out_of_range = [n for n in which.numpy().flat if not -len(arrays) <= n < len(arrays)]
        if out_of_range:
            raise IndexError(
                f"choose: index {out_of_range[0]} is out of range for {len(arrays)} choices; "
                "pass mode='clip' or mode='wrap'"
            )
    which, *arrays = _broadcast([which, *arrays], "choose")
    return _core.pick(_core.stack(arrays, -1), which)


@composite_of_sequence
def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], default: TensorLike = 0
) -> Tensor:
    """Select each element from the array of the first condition that is true.

    Differentiable in `choicelist` and `default`; elements that are not selected receive no
    gradient, as in `where`.

    Parameters
    ----------
    condlist : sequence of array_like
        Conditions; elements that are not 0 are true.
    choicelist : sequence of array_like
        One array for each condition.
    default : array_like, default 0
        Elements where no condition is true.

    Returns
    -------
    Tensor
        Broadcast shape of all arguments; the dtype to which `choicelist` and `default` promote.

    Raises
    ------
    ValueError
        If there are no conditions, if the numbers of conditions and arrays differ, or if the shapes
        do not broadcast.

    Examples
    --------
    >>> x = pb.constant([-2.0, 0.5, 3.0])
    >>> pb.select([x < 0, x < 1], [-x, x * x], 1.0)
    Tensor([2.  , 0.25, 1.  ], dtype=float32)
    """
    conditions, choices = listed(condlist, "select"), listed(choicelist, "select")
    if len(conditions) != len(choices) or not conditions:
        raise ValueError(
            f"select: expected as many choices as conditions and at least one, got "
            f"{len(conditions)} conditions and {len(choices)} choices"
        )
    *choices, out = _core.operands([*choices, default], "select")
    for condition, chosen in zip(reversed(conditions), reversed(choices), strict=True):
        out = _core.where(condition, chosen, out)
    return out


def piecewise(
    x: TensorLike,
    condlist: Sequence[TensorLike],
    funclist: Sequence[Callable[[Tensor], TensorLike] | TensorLike],
) -> Tensor:
    """Evaluate a function that is defined piecewise by conditions.

    Where several conditions are true, the last one applies. Each function is called with all of
    `x`; results that are not selected pass no gradient.

    Parameters
    ----------
    x : array_like
        Input of any shape.
    condlist : sequence of array_like
        Conditions that broadcast to `x`; elements that are not 0 are true.
    funclist : sequence of (callable or array_like)
        For each condition a function of `x`, or its value. One more entry applies where no
        condition is true; without it the value there is 0.

    Returns
    -------
    Tensor
        Shape of `x`; the dtype to which `x` and the values promote.

    Raises
    ------
    ValueError
        If there are no conditions, if the numbers of conditions and functions do not match, or if a
        condition does not broadcast to `x`.

    Examples
    --------
    >>> x = pb.constant([-1.0, 4.0])
    >>> pb.piecewise(x, [x < 0, x >= 0], [lambda x: -x, pb.sqrt])
    Tensor([1., 2.], dtype=float32)
    """
    x = _core.constant(x, who="piecewise")
    conditions, functions = listed(condlist, "piecewise"), listed(funclist, "piecewise")
    missing = len(functions) - len(conditions)
    if missing not in (0, 1) or not conditions:
        raise ValueError(
            f"piecewise: expected one function for each condition and an optional default, got "
            f"{len(conditions)} conditions and {len(functions)} functions"
        )
    values = [f(x) if callable(f) else f for f in functions]
    if not missing:
        values.append(0)
    _, *values, out = _core.operands([x, *values], "piecewise")
    for condition, value in zip(conditions, values, strict=True):
        out = _core.where(condition, value, out)
    return _core.broadcast_to(out, x.shape)
