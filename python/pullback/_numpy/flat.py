"""`Tensor.flat`: the elements of a tensor in row-major order, for reads and assignments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _core
from .._core import Tensor
from .._typing import TensorLike


class Flat:
    """Represent the elements of a tensor in row-major order.

    It is iterable, an index returns a tensor, and an assignment changes the items of the tensor, as
    `x[index] = value` does.
    """

    __slots__ = ("base",)

    def __init__(self, base: Any) -> None:
        self.base = base

    def __repr__(self) -> str:
        return f"<flat elements of a {type(self.base).__name__} of shape {self.base.shape}>"

    def __len__(self) -> int:
        return int(self.base.size)

    def __iter__(self) -> Iterator[Tensor]:
        return iter(self.copy())

    def __getitem__(self, index: Any) -> Tensor:
        return self.copy()[index]

    def __setitem__(self, index: Any, value: TensorLike) -> None:
        if isinstance(index, Tensor):
            index = index.numpy()
        positions = np.arange(self.base.size)[index]
        self.base[np.unravel_index(positions, self.base.shape)] = value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.copy().__array__(dtype, copy)

    def copy(self) -> Tensor:
        """Return the elements as a vector."""
        return _core.reshape(self.base, (self.base.size,))
