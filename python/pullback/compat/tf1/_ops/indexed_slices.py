"""IndexedSlices: a gradient with some of its rows, such as that of a table by `gather`.

The core stores such a gradient as rows to be added to zeros. An IndexedSlices reads these rows; as
a tensor it is again zeros with rows added, not computed, so it stays sparse through operations that
return it unchanged.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np

from .... import _core
from .._graph.create import apply, cast, constant_of, convert_to_tensor
from .._graph.opdef import define
from .._graph.operation import Operation
from .._graph.shapes import TensorShape, as_dims
from .._graph.tensor import Operators, SymbolicTensor, as_core, as_eager
from ..dtypes import as_dtype, int32
from .array_ops import shape

__all__ = ["IndexedSlices", "IndexedSlicesValue"]

_LARGE = 100_000_000  # elements of an unintended dense tensor


class IndexedSlicesValue(NamedTuple):
    """The value of an `IndexedSlices` in a session: three arrays."""

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices(Operators):
    """Row k of `values` at position `indices[k]` of a tensor of `dense_shape`, zeros elsewhere.

    Rows of the same position are summed. `gradients`, tapes and `compute_gradients` return it for a
    variable or tensor that is only read by `gather` and `embedding_lookup`. Clipping preserves it,
    optimizers update the rows, a session fetches it as `IndexedSlicesValue`. Other functions
    convert it to a tensor, which requires `dense_shape`: ValueError without it.

    Raises
    ------
    TypeError
        If the indices are not integers.
    ValueError
        If the numbers of rows and indices differ.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     table = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    ...     g = tf.gradients(tf.gather(table, [2, 2]), table)[0]
    ...     session.run([g.values, g.indices, tf.convert_to_tensor(g)])
    [array([[1., 1.],
           [1., 1.]], dtype=float32), array([2, 2], dtype=int32), array([[0., 0.],
           [0., 0.],
           [2., 2.]], dtype=float32)]
    """

    __hash__ = object.__hash__

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = convert_to_tensor(values, name="values")
        self._indices = convert_to_tensor(indices, name="indices")
        self._dense_shape = (
            None if dense_shape is None else convert_to_tensor(dense_shape, name="dense_shape")
        )
        if not as_dtype(self._indices.dtype).is_integer:
            raise TypeError(
                f"IndexedSlices: expected integers for indices, got {self._indices!r:.80}"
            )
        rows, count = as_dims(self._values.shape), as_dims(self._indices.shape)
        if not TensorShape(rows and rows[:1]).is_compatible_with(count) or rows == ():
            raise ValueError(
                f"IndexedSlices: expected one row of values for each index, got shapes "
                f"{self._values.shape} and {self._indices.shape}"
            )

    values = property(lambda self: self._values, doc="A tensor, the rows.")
    indices = property(lambda self: self._indices, doc="An integer for each row.")
    dense_shape = property(lambda self: self._dense_shape, doc="A tensor of integers, or None.")
    dtype = property(lambda self: self._values.dtype, doc="That of the values.")
    name = property(lambda self: self._values.name, doc="The name of the values.")
    op = property(lambda self: self._values.op, doc="The operation that makes the values.")
    graph = property(lambda self: self._values.graph, doc="The graph of the values.")
    device = property(lambda self: self._values.device, doc="Where the values are: the CPU.")

    @property
    def shape(self) -> TensorShape:
        """The static shape of the dense tensor."""
        rows, lengths = as_dims(self._values.shape), _known_lengths(self._dense_shape)
        if rows is None or lengths is None:
            return TensorShape(lengths)
        return TensorShape([lengths[0], *rows[1:]])

    def get_shape(self) -> TensorShape:
        return self.shape

    def with_values(self, values: Any) -> IndexedSlices:
        """Return other rows at the same positions."""
        return IndexedSlices(values, self._indices, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(indices={self._indices!r}, values={self._values!r}, "
            f"dense_shape={self._dense_shape!r})"
        )

    def _as_tensor(self) -> Any:
        if self._dense_shape is None:
            raise ValueError(
                "convert_to_tensor: expected an IndexedSlices with dense_shape, got one without "
                f"it: {self!r:.200}"
            )
        size = prod(d or 0 for d in self.shape._dims or ())
        if size >= _LARGE:
            warnings.warn(
                f"converting an IndexedSlices of {self._values!r} to a tensor of {size} elements; "
                "clipping and optimizers take it as it is",
                stacklevel=3,
            )
        return apply("SlicesToTensor", self._values, self._indices, self._dense_shape)


def _known_lengths(dense_shape: Any) -> list[int | None] | None:
    if dense_shape is None:
        return None
    if not isinstance(dense_shape, SymbolicTensor):
        return [int(d) for d in dense_shape.numpy()]
    if dense_shape.known is None:
        return None
    return [None if np.isnan(d) else int(d) for d in dense_shape.known]


def _to_tensor(values: Any, indices: Any, shape: Sequence[int]) -> Any:
    if values.shape[1:] != tuple(shape)[1:] or values.shape[:1] != indices.shape:
        raise ValueError(
            f"convert_to_tensor: expected {indices.shape[0]} rows of a tensor of shape "
            f"{tuple(shape)}, got values of shape {values.shape}"
        )
    return _core.scatter_add(values, indices, 0, shape[0])


define(
    "SlicesToTensor", _to_tensor, static=(2,), labels=("values", "indices", "dense_shape"),
    domain="number", public="convert_to_tensor",
    shape=lambda values, indices, shape: None if shape is None else tuple(shape),
)  # fmt: skip


def dense_shape_of(x: Any) -> Any:
    """Return the shape of a tensor as a tensor."""
    dims = as_dims(x.shape)
    if dims is None or None in dims:
        return shape(x, name="dense_shape")
    return constant_of(np.array(dims, np.int32), int32, "dense_shape")


def eager_slices(g: Any, x: Any) -> Any:
    """Return the gradient of x in eager mode as an IndexedSlices if it is sparse."""
    rows = None if g is None else _core.rows_of(as_core(g))
    if rows is None:
        return as_eager(g)
    values, indices = (as_eager(part) for part in rows)
    return IndexedSlices(values, indices, dense_shape_of(x))


def on_values(function: Any, t: Any) -> Any:
    """Apply a function to a tensor, or to the values of an IndexedSlices."""
    if isinstance(t, IndexedSlices):
        return t.with_values(function(t.values))
    return function(t)


def total_of(parts: Sequence[Any]) -> Any:
    """Sum gradients; the result is sparse if all are."""
    if len(parts) == 1:
        return parts[0]
    if not all(isinstance(part, IndexedSlices) for part in parts):
        return apply("AddN", *parts)
    values = apply("ConcatV2", *(part.values for part in parts), 0, name="concat")
    wide = {as_dtype(part.indices.dtype) for part in parts}
    kind = wide.pop() if len(wide) == 1 else as_dtype("int64")
    indices = [cast(part.indices, kind) for part in parts]
    return IndexedSlices(
        values, apply("ConcatV2", *indices, 0, name="concat"), parts[0].dense_shape
    )


def mapped(function: Callable[[Any], Any], tree: Any) -> Any:
    """Apply a function to each leaf of a pytree, in its own order."""
    if isinstance(
        tree, (SymbolicTensor, Operation)
    ):  # the frequent case; isinstance(…, Mapping) is slow
        return function(tree)
    if isinstance(tree, IndexedSlices):
        shape = tree.dense_shape
        return IndexedSlicesValue(
            function(tree.values),
            function(tree.indices),
            None if shape is None else function(shape),
        )
    if isinstance(tree, (list, tuple)):
        entries = [mapped(function, entry) for entry in tree]
        return type(tree)(*entries) if hasattr(tree, "_fields") else type(tree)(entries)
    if isinstance(tree, Mapping):
        kind: Any = type(tree)
        return kind((key, mapped(function, entry)) for key, entry in tree.items())
    return function(tree)
