"""Names for annotations. Imported by type checkers only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy.typing as npt

from ._core import Tensor, Variable

TensorLike: TypeAlias = Tensor | Variable | npt.ArrayLike | Sequence[Tensor | Variable]
Shape: TypeAlias = int | Sequence[int]
Axis: TypeAlias = int | Sequence[int] | None
DType: TypeAlias = npt.DTypeLike | None
