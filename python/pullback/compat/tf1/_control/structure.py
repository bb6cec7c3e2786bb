"""Nests of tensors and TensorArrays, as loops and branches take and give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...._autodiff.nests import leaf_paths
from ...._core import flatten, unflatten
from .._graph.create import convert_to_tensor
from .._ops.indexed_slices import IndexedSlices
from ..dtypes import as_dtype
from ..errors import WrongDtypeError
from .tensor_array import TensorArray


def mapped(function: Callable[..., Any], *nests: Any) -> Any:
    """A function of the leaves at the same place of nests."""
    leaves = [flatten(nest) for nest in nests]
    made = [function(*xs) for xs in zip(*(x for x, _ in leaves), strict=True)]
    return unflatten(leaves[0][1], made)


class Nest:
    """A nest whose leaves are tensors and TensorArrays, as tensors."""

    def __init__(self, nest: Any) -> None:
        leaves, self.structure = flatten(nest)
        self.paths = leaf_paths(nest)
        self.leaves = [convert_to_tensor(x) if isinstance(x, IndexedSlices) else x for x in leaves]
        self.tensors = [
            x.flow if isinstance(x, TensorArray) else convert_to_tensor(x) for x in self.leaves
        ]
        self.arrays = [isinstance(x, TensorArray) for x in self.leaves]

    def like(self, tensors: Iterable[Any], shapes: Nest | None = None) -> Any:
        """A nest of this structure with other tensors; `shapes` has what more is known of the
        elements of arrays."""
        others = (shapes or self).leaves
        leaves = [
            x.with_flow(t, y.element_shape) if isinstance(x, TensorArray) else t
            for x, t, y in zip(self.leaves, tensors, others, strict=True)
        ]
        return unflatten(self.structure, leaves)

    def check_like(self, other: Nest, who: str, what: str) -> None:
        """ValueError where another nest has another structure or other dtypes."""
        if self.paths != other.paths or self.arrays != other.arrays:
            raise ValueError(
                f"{who}: {what} is of another structure: {self._shown()} and {other._shown()}"
            )
        for x, y in zip(self.tensors, other.tensors, strict=True):
            if as_dtype(x.dtype) != as_dtype(y.dtype):
                raise WrongDtypeError(
                    f"{who}: {what} must have the same type: {as_dtype(x.dtype).name} and "
                    f"{as_dtype(y.dtype).name}; use tf.cast"
                )

    def _shown(self) -> str:
        return str(unflatten(self.structure, [None] * len(self.leaves))).replace("None", "·")


def callable_or_raise(f: Any, who: str, what: str) -> None:
    if not callable(f):
        raise TypeError(f"{who}: {what} must be callable, got {f!r:.60}")
