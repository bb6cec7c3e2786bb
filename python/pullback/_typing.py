"""Type aliases and protocols for annotations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import (
    Any,
    Concatenate,
    NamedTuple,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
)

import numpy.typing as npt

from ._core import Tensor, Variable

TensorLike: TypeAlias = Tensor | Variable | npt.ArrayLike | Sequence[Tensor | Variable]
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
DType: TypeAlias = npt.DTypeLike | None

P = ParamSpec("P")
Q = ParamSpec("Q")
Result = TypeVar("Result", covariant=True)
Instance = TypeVar("Instance")


class CacheInfo(NamedTuple):
    hits: int
    misses: int
    currsize: int


class Function(Protocol[P, Result]):
    """The result of `function` for a function of these parameters."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Result: ...
    @overload
    def __get__(self, instance: None, owner: Any = None, /) -> Function[P, Result]: ...
    @overload
    def __get__(
        self: Function[Concatenate[Instance, Q], Result], instance: Instance, owner: Any = None, /
    ) -> Callable[Q, Result]: ...
    def plan(self, *args: P.args, **kwargs: P.kwargs) -> str: ...
    def graph(self, *args: P.args, **kwargs: P.kwargs) -> str: ...
    def cache_info(self) -> CacheInfo: ...
    def clear_cache(self) -> None: ...
