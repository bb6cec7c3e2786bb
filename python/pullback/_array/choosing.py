"""Positions of what is not zero, and choices between arrays.

The number of results of `nonzero` and its relatives depends on values, so they look at them: inside
of a traced function, where there are none, that is a RuntimeError.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import SupportsIndex

import numpy as np

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import axes_of, looked_at
from .arranging import common_shape
from .shape import listed


def nonzero(x: TensorLike, /) -> tuple[Tensor, ...]:
    """The positions (int64) of the entries that are not 0, an array for each axis. NaN counts.

    >>> pb.nonzero([0.0, 5.0, 7.0])
    (Tensor([1, 2], dtype=int64),)
    """
    values = looked_at(x, "nonzero")
    if values.ndim == 0:
        raise ValueError("nonzero: expected a tensor of rank 1 or more, got one number")
    return tuple(_core.constant(positions) for positions in np.nonzero(values))


def argwhere(x: TensorLike, /) -> Tensor:
    """The positions (int64) of the entries that are not 0, a row for each.

    >>> pb.argwhere([[0, 5], [7, 0]])
    Tensor([[0, 1],
            [1, 0]], dtype=int64)
    """
    return _core.constant(np.argwhere(looked_at(x, "argwhere")))


def flatnonzero(x: TensorLike, /) -> Tensor:
    """The positions (int64) of the entries of x flattened that are not 0.

    >>> pb.flatnonzero([[0, 5], [7, 0]])
    Tensor([1, 2], dtype=int64)
    """
    return _core.constant(np.flatnonzero(looked_at(x, "flatnonzero")))


def extract(condition: TensorLike, x: TensorLike, /) -> Tensor:
    """The entries of x flattened where the condition, of as many, holds.

    >>> pb.extract([True, False, True], [1.0, 2.0, 3.0])
    Tensor([1., 3.], dtype=float32)
    """
    holds = looked_at(condition, "extract")
    flat = _core.reshape(_core.constant(x, who="extract"), -1)
    if holds.size != flat.size:
        raise ValueError(f"extract: {holds.size} conditions for {flat.size} entries")
    return _core.take(flat, np.flatnonzero(holds), 0, checked=True)


def compress(
    condition: TensorLike, x: TensorLike, /, *, axis: SupportsIndex | None = None
) -> Tensor:
    """The entries of x along an axis (or of x flattened) where the condition, of rank 1, holds. It
    may have fewer than the axis.

    >>> pb.compress([False, True], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], axis=0)
    Tensor([[3., 4.]], dtype=float32)
    """
    holds = looked_at(condition, "compress")
    x = _core.constant(x, who="compress")
    if holds.ndim != 1:
        raise ValueError(f"compress: expected a condition of rank 1, got shape {holds.shape}")
    if axis is None:
        x, at = _core.reshape(x, -1), 0
    else:
        (at,) = axes_of([axis], len(x.shape), "compress")
    positions = np.flatnonzero(holds)
    if positions.size and positions[-1] >= x.shape[at]:
        raise IndexError(
            f"compress: index {positions[-1]} is out of range for axis {at} of length {x.shape[at]}"
        )
    return _core.take(x, positions, at, checked=True)


def _broadcast(arrays: list[Tensor], who: str) -> list[Tensor]:
    shape = common_shape([x.shape for x in arrays], who)
    return [_core.broadcast_to(x, shape) for x in arrays]


def choose(x: TensorLike, choices: Sequence[TensorLike], /, *, mode: str = "raise") -> Tensor:
    """For each integer of x the entry of the choice with this number; all broadcast.

    A number that no choice has is an IndexError, at the latest when it is computed; with mode
    "wrap" it counts round, with "clip" it is the nearest.

    >>> pb.choose([0, 1, 0], [[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]])
    Tensor([ 1., 20.,  3.], dtype=float32)
    """
    which = _core.constant(x, who="choose")
    arrays = _core.operands(listed(choices, "choose"), "choose")
    if which.dtype.kind not in "biu":
        raise TypeError(f"choose: expected integers, got {which.dtype}")
    if not arrays:
        raise ValueError("choose: expected at least one choice")
    which = _core.cast(which, "int64")
    if mode == "wrap":
        which = _core.remainder(which, len(arrays))
    elif mode == "clip":
        which = _core.minimum(_core.maximum(which, 0), len(arrays) - 1)
    elif mode != "raise":
        raise ValueError(
            f"choose: expected mode 'raise', 'wrap' or 'clip', got {_core.shown(mode)}"
        )
    elif not _core.is_traced(which):
        out_of_range = [n for n in which.numpy().flat if not -len(arrays) <= n < len(arrays)]
        if out_of_range:
            raise IndexError(f"choose: {out_of_range[0]} is none of {len(arrays)} choices")
    which, *arrays = _broadcast([which, *arrays], "choose")
    return _core.pick(_core.stack(arrays, -1), which)


def select(
    condlist: Sequence[TensorLike], choicelist: Sequence[TensorLike], /, default: TensorLike = 0
) -> Tensor:
    """Where the first of the conditions holds, its choice; the default where none does. All
    broadcast; what is not chosen gets no gradient, as in `where`.

    >>> x = pb.constant([-2.0, 0.5, 3.0])
    >>> pb.select([x < 0, x < 1], [-x, x * x], 1.0)
    Tensor([2.  , 0.25, 1.  ], dtype=float32)
    """
    conditions, choices = listed(condlist, "select"), listed(choicelist, "select")
    if len(conditions) != len(choices) or not conditions:
        raise ValueError(f"select: {len(conditions)} conditions for {len(choices)} choices")
    *choices, out = _core.operands([*choices, default], "select")
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        out = _core.where(condition, choice, out)
    return out


def piecewise(
    x: TensorLike,
    condlist: Sequence[TensorLike],
    funclist: Sequence[Callable[[Tensor], TensorLike] | TensorLike],
    /,
) -> Tensor:
    """Where a condition holds, the value of its function of x (or its number): of the last one that
    does. One function more is for where none does, else that is 0.

    The functions are given all of x, and those that are not chosen pass no gradient.

    >>> x = pb.constant([-1.0, 4.0])
    >>> pb.piecewise(x, [x < 0, x >= 0], [lambda x: -x, pb.sqrt])
    Tensor([1., 2.], dtype=float32)
    """
    x = _core.constant(x, who="piecewise")
    conditions, functions = listed(condlist, "piecewise"), listed(funclist, "piecewise")
    missing = len(functions) - len(conditions)
    if missing not in (0, 1) or not conditions:
        raise ValueError(f"piecewise: {len(conditions)} conditions for {len(functions)} functions")
    values = [f(x) if callable(f) else f for f in functions]
    if not missing:
        values.append(0)
    _, *values, out = _core.operands([x, *values], "piecewise")
    for condition, value in zip(conditions, values, strict=True):
        out = _core.where(condition, value, out)
    return _core.broadcast_to(out, x.shape)
