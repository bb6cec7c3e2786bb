"""Type aliases and protocols for annotations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import EllipsisType
from typing import (
    Any,
    Concatenate,
    Literal,
    NamedTuple,
    ParamSpec,
    Protocol,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    overload,
)

import numpy as np
import numpy.typing as npt

from ._core import Tensor, Variable

TensorLike: TypeAlias = Tensor | Variable | npt.ArrayLike | Sequence[Tensor | Variable]
Shape: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Sections: TypeAlias = SupportsIndex | Sequence[SupportsIndex]
Axis: TypeAlias = SupportsIndex | Sequence[SupportsIndex] | None
DType: TypeAlias = npt.DTypeLike | None
Source: TypeAlias = Tensor | Variable
SourceList: TypeAlias = list[Tensor] | list[Variable] | list[Source]
# An index of a tensor: arrays and lists contain integers or bool.
IndexArray: TypeAlias = npt.NDArray[np.integer[Any] | np.bool_]
IndexList: TypeAlias = list[int] | list[bool] | list[list[int]] | list[list[bool]]
# pyright does not read an alias made of several strings, so the recursive one is short.
IndexItem: TypeAlias = SupportsIndex | slice | EllipsisType | Source | IndexArray | IndexList | None
Index: TypeAlias = "IndexItem | tuple[Index, ...]"
# A line of a program: file, line and function.
Site: TypeAlias = tuple[str, int, str]
# A step of a plan that ran: kind, operation, dtype, bytes, operations, elements, runs, seconds, and
# the names and lines of its operations.
RecordedStep: TypeAlias = tuple[
    str, str, str, int, int, int, int, float, list[tuple[str, Site | None]]
]
# A gradient is a Tensor, or None without a path. With `Any` in place of None, as in typeshed, a
# program that knows of a path does not have to test for None.
Gradient: TypeAlias = Tensor | Any
# A pytree of tensors, not of variables or numbers: a result or a gradient has the same type.
TensorTree: TypeAlias = "Tensor | Sequence[TensorTree] | Mapping[Any, TensorTree] | None"

# Options of several functions.
DataFormat: TypeAlias = Literal["NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"]
Device: TypeAlias = str
QuantileMethod: TypeAlias = Literal[
    "linear", "lower", "higher", "nearest", "midpoint", "hazen", "weibull", "median_unbiased",
    "normal_unbiased",
]  # fmt: skip
Reduction: TypeAlias = Literal["mean", "sum", "none"]
Side: TypeAlias = Literal["left", "right"]
Trans: TypeAlias = int | Literal["N", "T", "C"]
Triangle: TypeAlias = Literal["L", "U"]
Unconnected: TypeAlias = Literal["none", "zero"]
Verify: TypeAlias = Literal["first_call", "always", "never"]

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
Key = TypeVar("Key")
Tree = TypeVar("Tree", bound=TensorTree)
Result = TypeVar("Result", covariant=True)
Instance = TypeVar("Instance")
TensorClass = TypeVar("TensorClass", bound=Tensor)


class NamedTupleLike(Protocol):
    @property
    def _fields(self) -> tuple[str, ...]: ...


class Lambda(Protocol):
    """No function: a union with it gives the parameters of a lambda the type Any for pyright.

    pyright takes the parameters of a lambda from the first member of the union. A type of pytrees
    alone would make `x * 2` in the lambda an error.
    """

    _no_function: None

    def __call__(self, x: Any, /, *args: Any, **kwargs: Any) -> Any: ...


class Transformed(Protocol[Result]):
    """A transformed function; the signature of the original does not determine its own."""

    __wrapped__: Callable[..., Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Result: ...


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
