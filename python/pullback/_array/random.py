"""Random numbers: counter-based, so the same seed gives the same numbers, whatever the number of
threads. Each call draws anew; a drawn tensor keeps its numbers however often it is looked at.
"""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

from .. import _core
from .._core import Tensor
from .._typing import DType, Shape, TensorLike


def seed(seed: SupportsIndex) -> None:
    """Starts the sequence of draws again, with an integer from 0 to 2**64 - 1.

    >>> pb.random.seed(1)
    >>> first = pb.random.uniform(3).numpy()
    >>> pb.random.seed(1)
    >>> (pb.random.uniform(3).numpy() == first).all()
    np.True_
    """
    try:
        number = index(seed)
    except TypeError:
        number = -1
    if not 0 <= number < 2**64:
        raise ValueError(f"seed: expected an integer from 0 to 2**64 - 1, got {_core.shown(seed)}")
    _core.seed_random(number)


def normal(shape: Shape = (), dtype: DType = None) -> Tensor:
    """Draws from the normal distribution of mean 0 and deviation 1; scale them as you need.

    >>> (10 + 2 * pb.random.normal((2, 3))).shape
    (2, 3)
    """
    return _core.random_normal(shape, dtype)


def uniform(shape: Shape = (), dtype: DType = None) -> Tensor:
    """Draws from 0 (included) to 1 (excluded), all equally likely.

    >>> x = pb.random.uniform(1000)
    >>> bool(pb.all((x >= 0) & (x < 1)))
    True
    """
    return _core.random_uniform(shape, dtype)


def permutation(n: SupportsIndex) -> Tensor:
    """The integers 0 … n - 1 (int64) in random order.

    >>> sorted(pb.random.permutation(4).numpy().tolist())
    [0, 1, 2, 3]
    """
    return _core.permutation(n)


def shuffle(x: TensorLike, /) -> Tensor:
    """A new tensor with the entries of x along its first axis in random order. Each gradient finds
    its way back to the entry that it belongs to.

    >>> sorted(pb.random.shuffle([3, 1, 2]).numpy().tolist())
    [1, 2, 3]
    """
    x = _core.identity(x)
    if x.ndim == 0:
        raise ValueError("shuffle: a tensor of rank 0 has nothing to shuffle")
    return _core.take(x, _core.permutation(x.shape[0]), 0)
