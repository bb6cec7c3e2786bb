"""`block`: an array assembled from nested lists of blocks."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._base.composite import composite_of_sequence
from .._core import Tensor

__all__ = ["block"]


@composite_of_sequence
def block(arrays: Any) -> Tensor:
    """Assemble an array from nested lists of blocks.

    The blocks of an innermost list are joined along the last axis, those of the lists around it
    along the axis before, and so on. Differentiable in the blocks.

    Parameters
    ----------
    arrays : array_like or nested list of array_like
        Blocks in lists of one depth. Blocks of a lower rank get leading axes of size 1.

    Returns
    -------
    Tensor
        The assembled array; the dtype to which the blocks promote.

    Raises
    ------
    ValueError
        If the lists differ in depth, a list is empty, or the shapes do not match.
    TypeError
        If a tuple is in the place of a list.

    See Also
    --------
    concat, stack

    Examples
    --------
    >>> corner = pb.constant([[5.0], [6.0]])
    >>> pb.block([[pb.eye(2), corner], [pb.zeros((1, 2)), 7.0]])
    Tensor([[1., 0., 5.],
            [0., 1., 6.],
            [0., 0., 7.]], dtype=float32)
    """
    leaves: list[Any] = []
    depth = _depth(arrays, leaves)
    blocks = _core.parts(leaves, "block")
    rank = max(depth, *(len(x.shape) for x in blocks))
    whole = iter([_core.reshape(x, (1,) * (rank - len(x.shape)) + tuple(x.shape)) for x in blocks])
    return _join(arrays, rank - depth, whole)


def _depth(arrays: Any, leaves: list[Any]) -> int:
    """Return the depth of the lists and append the blocks in them to `leaves`."""
    if isinstance(arrays, tuple):
        raise TypeError("block: expected lists and arrays, got a tuple; use a list")
    if not isinstance(arrays, list):
        leaves.append(arrays)
        return 0
    if not arrays:
        raise ValueError("block: expected at least one block in each list, got an empty list")
    depths = {_depth(entry, leaves) + 1 for entry in arrays}
    if len(depths) > 1:
        found = " and ".join(map(str, sorted(depths)))
        raise ValueError(f"block: expected lists of one depth, got depths {found}")
    return depths.pop()


def _join(arrays: Any, axis: int, blocks: Any) -> Tensor:
    if not isinstance(arrays, list):
        found: Tensor = next(blocks)
        return found
    return _core.concat([_join(entry, axis + 1, blocks) for entry in arrays], axis)
