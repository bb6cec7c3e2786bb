"""Arrays with axes enough, and joined in NumPy's other ways. Shapes that do not fit together are a
ValueError.
"""

from __future__ import annotations

from collections.abc import Sequence

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .shape import listed


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
    parts = [atleast_1d(x) for x in listed(arrays, "hstack")]
    return _core.concat(parts, 1 if parts and len(parts[0].shape) > 1 else 0)


def vstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """The arrays as rows, one below the other: along the first axis of at least two.

    >>> pb.vstack([[1, 2], [3, 4]])
    Tensor([[1, 2],
            [3, 4]], dtype=int64)
    """
    return _core.concat([atleast_2d(x) for x in listed(arrays, "vstack")], 0)


def dstack(arrays: Sequence[TensorLike], /) -> Tensor:
    """The arrays along the third axis of at least three.

    >>> pb.dstack([[1, 2], [3, 4]]).shape
    (1, 2, 2)
    """
    return _core.concat([atleast_3d(x) for x in listed(arrays, "dstack")], 2)


def column_stack(arrays: Sequence[TensorLike], /) -> Tensor:
    """Arrays of one axis as the columns of a matrix; matrices as they are.

    >>> pb.column_stack([[1, 2], [3, 4]])
    Tensor([[1, 3],
            [2, 4]], dtype=int64)
    """

    def column(x: TensorLike) -> Tensor:
        t = atleast_1d(x)
        return _core.expand_dims(t, 1) if len(t.shape) == 1 else t

    return _core.concat([column(x) for x in listed(arrays, "column_stack")], 1)
