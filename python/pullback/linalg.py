"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._core import Tensor

if TYPE_CHECKING:
    from ._typing import TensorLike


def matmul(a: TensorLike, b: TensorLike, /) -> Tensor:
    """The matrix product, also written a @ b.

    (…, n, k) times (…, k, m) is (…, n, m), where the leading axes broadcast. A vector on the left
    counts as a row, on the right as a column, and its axis is dropped from the result. Inner
    lengths that differ, and tensors of rank 0, are a ValueError.

    >>> pb.matmul([[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0])
    Tensor([21., 43.], dtype=float32)
    """
    return _core.matmul(a, b)
