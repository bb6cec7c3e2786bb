"""Tensor: an input or output of an operation, symbolic in a graph, with a value in eager mode.

A symbolic tensor is one output of an operation. Beside its dtype it stores the part known before a
run: the dimensions (`dims`), the value of a small integer tensor (`known`, with NaN for an unknown
number), and an abstract value: a core tensor without data, built as the run will build it, for
queries about gradients; see inference.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from .... import _core
from ...._base.pytree import flatten_with_none as flatten
from ...._core import unflatten
from ..dtypes import DType, as_dtype
from ..errors import InvalidArgumentError, OperatorNotAllowedInGraphError
from .operation import Operation, session_for
from .shapes import Dims, TensorShape, as_dims, shape_text

if TYPE_CHECKING:

    def _operator(self: Any, other: Any, /) -> Any: ...

    def _power(self: Any, other: Any, mod: None = None, /) -> Any: ...

    def _unary_operator(self: Any, /) -> Any: ...


class Reference:
    """A key of dicts and sets that stands for one tensor or variable, whatever its value is."""

    def __init__(self, of: Any) -> None:
        self._of = of

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reference) and other._of is self._of

    def __hash__(self) -> int:
        return id(self._of)

    def deref(self) -> Any:
        """Return the tensor or variable."""
        return self._of


class Operators:
    """Base class with the operators, which math_ops.py and indexing_ops.py assign."""

    __slots__ = ()
    if TYPE_CHECKING:
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _operator
        __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _operator
        __matmul__ = __rmatmul__ = __and__ = __rand__ = __or__ = __ror__ = _operator
        __xor__ = __rxor__ = __lt__ = __le__ = __gt__ = __ge__ = __getitem__ = _operator
        __pow__ = __rpow__ = _power
        __neg__ = __abs__ = __invert__ = _unary_operator
    # NumPy arrays on the left defer to these operators.
    __array_ufunc__: Any = None
    __array_priority__ = 100

    def ref(self) -> Reference:
        """Return a key of dicts and sets; its `deref()` is this tensor."""
        return Reference(self)

    experimental_ref = ref


class Tensor(Operators):
    """A tensor of either mode; `isinstance(x, tf.Tensor)` holds for both kinds.

    >>> from pullback.compat import tf1 as tf
    >>> x = tf.placeholder(tf.float32, [None, 3], name="rows")
    >>> x, x.shape.as_list(), x.dtype.name, x.op.type
    (<tf.Tensor 'rows:0' shape=(?, 3) dtype=float32>, [None, 3], 'float32', 'Placeholder')
    """

    __slots__ = ()

    @property
    def shape(self) -> Any:
        """The static shape."""
        raise NotImplementedError


class EagerTensor(Tensor, _core.Tensor):
    """A lazy tensor of the main namespace with TensorFlow's repr and operators."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> Any:
        return TensorShape(as_core(self).shape)

    @property
    def dtype(self) -> Any:
        return as_dtype(as_core(self).dtype)

    def numpy(self) -> Any:
        """Return the value; errors of the computation are raised here."""
        try:
            return as_core(self).numpy()
        except (IndexError, ZeroDivisionError) as error:
            raise InvalidArgumentError(None, str(error)) from None

    def __str__(self) -> str:
        value = str(self.numpy())
        line = "\n" if "\n" in value else ""
        return f"tf.Tensor({line}{value}, shape={self.shape}, dtype={self.dtype.name})"

    def __repr__(self) -> str:
        value = repr(self.numpy())
        return f"<tf.Tensor: shape={self.shape}, dtype={self.dtype.name}, numpy={value}>"

    def get_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def __iter__(self) -> Any:
        return (as_eager(x) for x in as_core(self))


def as_eager(value: Any) -> Any:
    """Convert a core tensor to an eager one; other values, None included, are unchanged."""
    return _core.view_as(EagerTensor, value) if type(value) is _core.Tensor else value


def as_core(value: Any) -> Any:
    """Convert an eager tensor to a core tensor."""
    return _core.view_as(_core.Tensor, value) if type(value) is EagerTensor else value


def mapped(function: Callable[..., Any], *trees: Any) -> Any:
    """Apply a function to the leaves at the same place of pytrees."""
    leaves = [flatten(tree) for tree in trees]
    made = [function(*xs) for xs in zip(*(x for x, _ in leaves), strict=True)]
    return unflatten(leaves[0][1], made)


def _unknown_before_run(what: str, advice: str) -> Any:
    def method(self: SymbolicTensor) -> Any:
        raise OperatorNotAllowedInGraphError(
            f"Tensor: the {what} of the symbolic tensor '{self.name}' is not known before a "
            f"session runs; use {advice}"
        )

    return method


class SymbolicTensor(Tensor):
    """A symbolic value that a session computes."""

    dtype: DType
    __slots__ = ("__weakref__", "abstract", "dims", "dtype", "index", "known", "op")
    __hash__ = object.__hash__

    def __init__(
        self, op: Operation, index: int, dtype: DType, dims: Dims, abstract: Any = None,
        known: Any = None,
    ) -> None:  # fmt: skip
        self.op, self.index, self.dtype, self.dims = op, index, dtype, dims
        self.abstract = abstract_of(dtype, dims) if abstract is None else abstract
        self.known = known

    graph: Any = property(attrgetter("op.graph"))
    device: Any = property(attrgetter("op.device"))
    value_index: Any = property(attrgetter("index"))

    @property
    def name(self) -> str:
        return f"{self.op.name}:{self.index}"

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self.dims)

    def get_shape(self) -> TensorShape:
        return self.shape

    def consumers(self) -> list[Operation]:
        """Return the operations of the graph that have this tensor as an input."""
        return [op for op in self.graph._operations if any(x is self for x in op.inputs)]

    def set_shape(self, shape: Any) -> None:
        """Add static dimensions; ValueError if they contradict the known ones."""
        self.dims = self.shape.merge_with(shape)._dims
        if not stands_for(self.abstract, self.dims):
            self.abstract = opaque([self.abstract], self.dtype, self.dims)

    @property
    def is_static(self) -> bool:
        """Test whether the shape is fully known."""
        return self.dims is not None and None not in self.dims

    def eval(self, feed_dict: Mapping[Any, Any] | None = None, session: Any = None) -> Any:
        """Return the value in `session`, or in the default session."""
        return session_for(self.graph, session, "eval").run(self, feed_dict)

    def __repr__(self) -> str:
        shape = shape_text(self.dims)
        return f"<tf.Tensor '{self.name}' shape={shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        shape = "" if self.dims is None else f", shape={shape_text(self.dims)}"
        return f'Tensor("{self.name}"{shape}, dtype={self.dtype.name})'

    # --- values that exist in a run only

    __bool__: Any = _unknown_before_run("truth", "tf.cond, or the value that session.run returns")
    __iter__: Any = _unknown_before_run("length", "tf.unstack, or tf.map_fn")
    __len__: Any = _unknown_before_run("length", "tf.shape(x)[0], or x.shape")
    __float__: Any = _unknown_before_run("number", "the value that session.run returns")
    __int__: Any = _unknown_before_run("number", "the value that session.run returns")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"Tensor: the symbolic tensor '{self.name}' has no value yet: run it in a session"
        )

    def __setitem__(self, *_: Any) -> None:
        raise TypeError(
            f"Tensor: '{self.name}' does not support item assignment; use tf.tensor_scatter_update"
        )


# --- abstract values

UNKNOWN = 5040  # the size of every unknown axis of an abstract value


def argument(dtype: Any, shape: Any) -> Any:
    """Return a new abstract value for queries about gradients."""
    return _core.Trace().argument(dtype, shape, False)


def abstract_of(dtype: Any, dims: Dims) -> Any:
    return argument(dtype, tuple(UNKNOWN if d is None else d for d in dims or ()))


def stands_for(abstract: Any, dims: Dims) -> bool:
    """Test whether a tensor of these dimensions may have the shape of an abstract value."""
    return dims is None or TensorShape(abstract.shape).is_compatible_with(dims)


def opaque(inputs: list[Any], dtype: Any, dims: Dims) -> Any:
    """Return an abstract value that depends on the inputs, with unknown derivatives."""

    def rule(name: str, ins: list[Any], outs: list[Any], cotangents: list[Any]) -> list[Any]:
        return [opaque([*ins, *cotangents], x.dtype, as_dims(x.shape)) for x in ins]

    fresh = abstract_of(dtype, dims)
    kinds = "fc" if fresh.dtype.kind in "fc" else fresh.dtype.kind
    inputs = [x for x in inputs if x.dtype.kind in kinds]
    if not inputs:
        return fresh
    return _core.custom([fresh], inputs, _core.Rule(rule, "a shape that is not known yet"))[0]


def ancestors(ys: Iterable[SymbolicTensor]) -> list[Operation]:
    """Return the operations that the tensors depend on, oldest first."""
    seen: set[Operation] = set()
    pending = [y.op for y in ys]
    while pending:
        op = pending.pop()
        if op not in seen:
            seen.add(op)
            pending.extend(x.op for x in op.inputs)
    return sorted(seen, key=lambda op: op.number)


def check_outside(targets: list[SymbolicTensor], sources: list[SymbolicTensor]) -> None:
    """Reject gradients from inside a loop's body with respect to a tensor outside of it."""
    arguments = (op for op in ancestors(targets) if op.type == "LoopArgument")
    initial = [x for op in arguments if (x := op.attrs["initial"]) is not None]
    before = {*ancestors(initial)} if initial else set()
    for x in sources:
        if x.op in before:
            raise ValueError(
                f"gradients: cannot compute the gradient inside while loop with respect to "
                f"'{x.name}', through the initial value of a loop variable; take it by the loop "
                "variable, or outside of the loop"
            )


__all__ = ["Tensor"]
