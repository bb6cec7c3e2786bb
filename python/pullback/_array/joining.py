"""Arrays with axes enough, and joined in NumPy's other ways. Shapes that do not fit together are a
ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, SupportsIndex

from numpy.exceptions import AxisError

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import along, axes_of, integer, integers, is_integer
from .shape import flat, listed


def atleast_1d(x: TensorLike, /) -> Tensor:
    """x with one axis at least.

    >>> pb.atleast_1d(3.0)
    Tensor([3.], dtype=float32)
    """
    x = _core.constant(x, who="atleast_1d")
    return x if x.shape else _core.reshape(x, (1,))


def atleast_2d(x: TensorLike, /) -> Tensor:
    """x with two axes at least; new ones come in front.

    >>> pb.atleast_2d([1, 2]).shape
    (1, 2)
    """
    x = _core.constant(x, who="atleast_2d")
    return _core.reshape(x, (1,) * (2 - len(x.shape)) + tuple(x.shape))


def atleast_3d(x: TensorLike, /) -> Tensor:
    """x with three axes at least: (n,) becomes (1, n, 1), (m, n) becomes (m, n, 1).

    >>> pb.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    x = _core.constant(x, who="atleast_3d")
    rank = len(x.shape)
    front = (1,) if rank < 2 else ()
    shape = (*front, *x.shape)
    return _core.reshape(x, shape + (1,) * (3 - len(shape)))


def hstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """The arrays side by side: along the second axis, or the only one.

    >>> pb.hstack([[1, 2], [3]])
    Tensor([1, 2, 3], dtype=int64)
    """
    parts = [atleast_1d(x) for x in _core.parts(listed(arrays, "hstack"), "hstack")]
    return _core.concat(parts, 1 if parts and len(parts[0].shape) > 1 else 0)


def vstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """The arrays as rows, one below the other: along the first axis of at least two.

    >>> pb.vstack([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    parts = _core.parts(listed(arrays, "vstack"), "vstack")
    return _core.concat([atleast_2d(x) for x in parts], 0)


def dstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """The arrays along the third axis of at least three.

    >>> pb.dstack([[1, 2], [3, 4]]).shape
    (1, 2, 2)
    """
    parts = _core.parts(listed(arrays, "dstack"), "dstack")
    return _core.concat([atleast_3d(x) for x in parts], 2)


def column_stack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Arrays of one axis as the columns of a matrix; matrices as they are.

    >>> pb.column_stack([[1, 2], [3, 4]])
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """

    def column(x: TensorLike) -> Tensor:
        t = atleast_1d(x)
        return _core.expand_dims(t, 1) if len(t.shape) == 1 else t

    parts = _core.parts(listed(arrays, "column_stack"), "column_stack")
    return _core.concat([column(x) for x in parts], 1)


def concatenate(arrays: Sequence[TensorLike], /, axis: SupportsIndex | None = 0) -> Tensor:
    """`concat`, by NumPy's other name; without an axis all are flattened.

    >>> pb.concatenate([[[1, 2]], [[3, 4]]], axis=None)
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    parts = listed(arrays, "concatenate")
    return _core.concat(parts if axis is not None else flat(parts, "concatenate"), axis or 0)


def append(x: TensorLike, values: TensorLike, /, axis: SupportsIndex | None = None) -> Tensor:
    """x with values behind it along an axis; without an axis both are flattened.

    >>> pb.append([1, 2], [[3], [4]])
    Tensor([1, 2, 3, 4], dtype=int64)
    """
    if axis is None:
        return _core.concat(flat((x, values), "append"), 0)
    return _core.concat([x, values], axis)


def array_split(
    x: TensorLike, /, parts: SupportsIndex | Sequence[SupportsIndex], *, axis: SupportsIndex = 0
) -> list[Tensor]:
    """`split`, where the parts of a number need not be equal: the first ones are longer by 1.

    >>> pb.array_split([1, 2, 3], 2)
    [Tensor([1, 2], dtype=int64), Tensor([3], dtype=int64)]
    """
    return _split(x, parts, axis, False, "array_split")


def hsplit(x: TensorLike, /, parts: SupportsIndex | Sequence[SupportsIndex]) -> list[Tensor]:
    """`split` along the second axis, or the only one.

    >>> [part.shape for part in pb.hsplit(pb.zeros((2, 4)), 2)]
    [(2, 2), (2, 2)]
    """
    x = _ranked(x, 1, "hsplit")
    return _split(x, parts, 1 if len(x.shape) > 1 else 0, True, "hsplit")


def vsplit(x: TensorLike, /, parts: SupportsIndex | Sequence[SupportsIndex]) -> list[Tensor]:
    """`split` along the first axis of two or more.

    >>> [part.shape for part in pb.vsplit(pb.zeros((2, 4)), 2)]
    [(1, 4), (1, 4)]
    """
    return _split(_ranked(x, 2, "vsplit"), parts, 0, True, "vsplit")


def dsplit(x: TensorLike, /, parts: SupportsIndex | Sequence[SupportsIndex]) -> list[Tensor]:
    """`split` along the third axis.

    >>> [part.shape for part in pb.dsplit(pb.zeros((1, 2, 4)), [1])]
    [(1, 2, 1), (1, 2, 3)]
    """
    return _split(_ranked(x, 3, "dsplit"), parts, 2, True, "dsplit")


def _ranked(x: TensorLike, rank: int, who: str) -> Tensor:
    x = _core.constant(x, who=who)
    if len(x.shape) < rank:
        raise ValueError(f"{who}: expected {rank} axes at least, got shape {x.shape}")
    return x


def _split(x: TensorLike, parts: Any, axis: SupportsIndex, equal: bool, who: str) -> list[Tensor]:
    x = _core.constant(x, who=who)
    (k,) = axes_of([axis], len(x.shape), who)
    length = x.shape[k]
    if is_integer(parts):
        count = integer(parts, who)
        if not 0 < count <= 1 << 24 or (equal and length % count):
            equally = " equal" if equal else ""
            raise ValueError(f"{who}: an axis of length {length} in {count}{equally} parts")
        size, longer = divmod(length, count)
        cuts = [i * size + min(i, longer) for i in range(count + 1)]
    else:
        cuts = [0, *(slice(c).indices(length)[1] for c in integers(parts, who)), length]
    return [x[along(k, slice(begin, end))] for begin, end in pairwise(cuts)]


def rollaxis(x: TensorLike, /, axis: SupportsIndex, start: SupportsIndex = 0) -> Tensor:
    """x with an axis moved before the one at `start`; `moveaxis` says it better.

    >>> pb.rollaxis(pb.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    x = _core.constant(x, who="rollaxis")
    rank = len(x.shape)
    (k,), to = axes_of([axis], rank, "rollaxis"), integer(start, "rollaxis")
    if not -rank <= to <= rank:
        raise AxisError(f"rollaxis: start {to} is out of range for an array of rank {rank}")
    to += rank if to < 0 else 0
    order = [a for a in range(rank) if a != k]
    order.insert(to - (k < to), k)
    return _core.transpose(x, order)
