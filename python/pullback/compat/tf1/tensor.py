"""Tensor: a symbolic value, one output of an operation.

What is known about its shape is found by trial: beside its dtype a tensor carries stand-ins, core
tensors without value that have one of its possible shapes each. Making an operation builds it on
the stand-ins of its inputs, which computes nothing; see create.py.

ASSIGNMENTS are the possibilities tried. A dimension that differs between them is unknown. The first
two are rich in divisors, so that a `reshape` with -1 works; 1 broadcasts against anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ... import _core
from .dtypes import DType
from .errors import OperatorNotAllowedInGraphError
from .operators import Operators
from .shapes import Dims, TensorShape, as_dims, shape_text

if TYPE_CHECKING:
    from .graph import Graph
from .operation import Operation

__all__ = ["Tensor"]

Trials = tuple[Any, Any, Any]  # a core tensor for each of ASSIGNMENTS, or None where that failed

# For an unknown dimension, and for an unknown rank.
ASSIGNMENTS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (5040, ()),
    (55440, (5040,)),
    (1, (1, 1, 1, 1, 1)),
)


def fresh_argument(dtype: Any, shape: tuple[int, ...]) -> Any:
    """A new core tensor without value that gradients can be asked about."""
    return _core.Trace().argument(dtype, shape, False)


@lru_cache(maxsize=4096)
def stand_in(dtype: DType, shape: tuple[int, ...]) -> Any:
    """A core tensor without value, shared by all that only look at its shape."""
    return fresh_argument(dtype, shape)


def trials_of(dtype: DType, dims: Dims) -> Trials:
    """Stand-ins for a shape that may have unknown dimensions."""
    if dims is not None and None not in dims:
        static = stand_in(dtype, dims)
        return static, static, static
    first, second, third = (
        stand_in(dtype, whole if dims is None else tuple(d if d is not None else one for d in dims))
        for one, whole in ASSIGNMENTS
    )
    return first, second, third


class Tensor(Operators):
    """A symbolic value; a session gives it a number.

    >>> from pullback.compat import tf1 as tf
    >>> x = tf.placeholder(tf.float32, [None, 3], name="rows")
    >>> x, x.shape.as_list(), x.dtype.name, x.op.type
    (<tf.Tensor 'rows:0' shape=(?, 3) dtype=float32>, [None, 3], 'float32', 'Placeholder')
    """

    __slots__ = ("__weakref__", "dims", "dtype", "index", "op", "trials")
    __hash__ = object.__hash__

    def __init__(self, op: Operation, index: int, dtype: DType, dims: Dims, trials: Trials) -> None:
        self.op = op
        self.index = index
        self.dtype = dtype
        self.dims = dims
        self.trials = trials

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.index}"

    @property
    def graph(self) -> Graph:
        return self.op.graph

    @property
    def value_index(self) -> int:
        return self.index

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Says more about the shape than is known so far; ValueError if it contradicts that."""
        wish = as_dims(shape)
        if not self.shape.is_compatible_with(wish):
            raise ValueError(f"set_shape: {shape_text(wish)} contradicts {self!r}")
        if wish is None:
            return
        known = self.dims or (None,) * len(wish)
        self.dims = tuple(a if b is None else b for a, b in zip(known, wish, strict=True))
        self.trials = trials_of(self.dtype, self.dims)

    @property
    def is_static(self) -> bool:
        """Whether the shape is fully known."""
        return self.dims is not None and None not in self.dims

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """The value in `session`, or in the default session."""
        from .session import session_for

        return session_for(self.graph, session, "eval").run(self, feed_dict)

    def __repr__(self) -> str:
        shape = shape_text(self.dims)
        return f"<tf.Tensor '{self.name}' shape={shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={shape_text(self.dims)}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    # --- not before a session runs

    def _refuse(self, what: str) -> OperatorNotAllowedInGraphError:
        return OperatorNotAllowedInGraphError(
            f"{what} of the symbolic tensor '{self.name}' is not known before a session runs"
        )

    def __bool__(self) -> bool:
        raise self._refuse("the truth")

    def __iter__(self) -> Any:
        raise self._refuse("the length")

    def __len__(self) -> int:
        raise self._refuse("the length")

    def __float__(self) -> float:
        raise self._refuse("the number")

    def __int__(self) -> int:
        raise self._refuse("the number")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"the symbolic tensor '{self.name}' has no value yet: run it in a session"
        )

    def __setitem__(self, *_: Any) -> None:
        raise TypeError(f"'{self.name}' does not support item assignment: tensors never change")


def same_shape(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors have the same shape, whatever is fed."""
    pairs = list(zip(a.trials, b.trials, strict=True))
    return all(p is not None and q is not None and p.shape == q.shape for p, q in pairs)
