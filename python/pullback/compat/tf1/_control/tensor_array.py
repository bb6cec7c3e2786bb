"""TensorArray: an array of tensors that a loop fills, stored as one tensor; and pytrees of
tensors and TensorArrays, the arguments and results of loops and branches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .... import _core
from ...._base.pytree import flatten_with_none as flatten
from ...._base.pytree import leaf_paths
from ...._core import unflatten
from .._graph import mode
from .._graph.create import apply, convert_to_tensor, graph_of
from .._graph.opdef import RowError, define
from .._graph.operation import Operation
from .._graph.shapes import TensorShape, as_dims
from .._graph.tensor import as_core, as_eager, opaque
from .._ops.array_ops import reshape
from .._ops.grouping import no_op
from .._ops.indexed_slices import IndexedSlices
from .._ops.indexing_ops import from_start
from .._run.instantiate import Unwritten, WantsValues
from ..dtypes import as_dtype, int32
from ..errors import InvalidArgumentError, WrongDtypeError
from .loop_execution import blank, is_blank


def _made(size: int, dtype: Any, element: Any) -> Any:
    shape = (0,) if element is None or None in element else element
    return _core.full((size, *shape), _core.constant(0, dtype.dtype))


def _fitting(flow: Any, count: int, shape: Any) -> Any:
    """Extend the array to `count` elements; a blank one gets elements of this shape."""
    if is_blank(flow):
        flow = blank(flow, (flow.shape[0], *shape))
    missing = count - flow.shape[0]
    if missing > 0:
        flow = _core.concat([flow, blank(flow, (missing, *flow.shape[1:]))], 0)
    return flow


def _written(
    flow: Any, index: Any, value: Any, rows: bool, dynamic: bool, has_values: bool = False
) -> Any:
    shape = value.shape[1:] if rows else value.shape
    count = 0
    if dynamic:
        if not (has_values or _core.is_computed(index)):
            raise WantsValues  # its size is known only then
        count = int(index.numpy().max(initial=-1)) + 1
    flow = _fitting(flow, count, shape)
    if flow.shape[1:] != tuple(shape):
        raise RowError(f"expected an element of shape {flow.shape[1:]}, got {tuple(shape)}")
    return flow.at[from_start(index, flow.shape[0])].set(value)


def _read(flow: Any, index: Any) -> Any:
    if is_blank(flow):
        raise Unwritten("TensorArray: no element was written; give element_shape to read zeros")
    return _core.take(flow, from_start(index, flow.shape[0]), 0)


define("TensorArrayV3", _made, static=(0,), dtype="dtype", fresh=True, public="TensorArray",
       shape=lambda size, dtype, element: None if element is None or None in element
       else (size, *element))  # fmt: skip
define("TensorArrayRead", _read, fresh=True, public="TensorArray.read",
       shape=lambda flow, index: None if flow.dims is None or index.dims is None else
       (*index.dims, *flow.dims[1:]))  # fmt: skip
define("TensorArrayStack", lambda flow: _core.identity(flow), fresh=True,
       public="TensorArray.stack", shape=lambda flow: flow.dims)  # fmt: skip
define("TensorArraySize", lambda flow: _core.constant(flow.shape[0], int32.dtype), flows=False,
       dtype=int32, shape=lambda flow: (), public="TensorArray.size")  # fmt: skip
define("TensorArrayConcat", lambda flow: _core.reshape(flow, (-1, *flow.shape[2:])), fresh=True,
       public="TensorArray.concat",
       shape=lambda flow: None if flow.dims is None else (None, *flow.dims[2:]))  # fmt: skip


def _execute(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    flow, index, value = inputs
    attrs = op.attrs
    return [_written(flow, index, value, attrs["rows"], attrs["dynamic"], run.has_values)]


define("TensorArrayWrite", execute=_execute, public="TensorArray.write")


class TensorArray:
    """An array of tensors of one shape, each of which a loop writes once.

    Writing returns the new array: pass that one to the next iteration. Elements may be read and
    written more than once; elements never written are zeros.

    Parameters
    ----------
    dtype : dtype
        Dtype of the elements.
    size : int or tensor
        Number of elements.
    dynamic_size : bool
        Let writing add elements. A graph's loop that writes to the array then computes eagerly,
        which is slower.
    element_shape : shape, optional
        Shape of the elements. Default: that of the first written element; reading before it is an
        error.

    Raises
    ------
    ValueError
        If elements differ in shape, or in a run if an index is out of range.

    Examples
    --------
    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     squares = tf.TensorArray(tf.int32, size=4)
    ...     _, squares = tf.while_loop(
    ...         lambda i, a: i < 4, lambda i, a: (i + 1, a.write(i, i * i)), [0, squares])
    ...     session.run(squares.stack())
    array([0, 1, 4, 9], dtype=int32)
    """

    def __init__(
        self, dtype: Any, size: Any = None, dynamic_size: bool | None = None,
        clear_after_read: bool | None = None, tensor_array_name: str | None = None,
        handle: Any = None, flow: Any = None, infer_shape: bool = True, element_shape: Any = None,
        colocate_with_first_write_call: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        self.dtype = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self.element_shape = TensorShape(element_shape)
        self.handle = handle
        if flow is None:
            if size is None:
                raise ValueError("TensorArray: expected an integer for size, got None")
            dims = as_dims(element_shape)
            flow = apply("TensorArrayV3", size, name=name or "TensorArray", dtype=self.dtype,
                         element=dims)  # fmt: skip
        self.flow = flow

    def with_flow(self, flow: Any, element_shape: Any = None) -> TensorArray:
        """Return an array of the same kind with other elements."""
        shape = self.element_shape if element_shape is None else element_shape
        return TensorArray(
            self.dtype, dynamic_size=self.dynamic_size, flow=flow, element_shape=shape
        )

    def identity(self) -> TensorArray:
        """Return the same array."""
        return self.with_flow(apply("TensorArrayStack", self.flow, name="identity"))

    def size(self, name: str | None = None) -> Any:
        """Return the number of elements."""
        return apply("TensorArraySize", self.flow, name=name)

    def _shaped(self, x: Any, axes: int) -> Any:
        """Add the static shape of the elements to a result."""
        if not mode.executing_eagerly() and self.element_shape.ndims is not None:
            x.set_shape([*(as_dims(x.shape) or [None] * axes)[:axes], *as_dims(self.element_shape)])  # type: ignore[misc]
        return x

    def read(self, index: Any, name: str | None = None) -> Any:
        """Return the element at an index."""
        return self._shaped(apply("TensorArrayRead", self.flow, index, name=name), 0)

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Return the elements at indices, stacked."""
        return self._shaped(apply("TensorArrayRead", self.flow, indices, name=name), 1)

    def stack(self, name: str | None = None) -> Any:
        """Return all elements along a new first axis."""
        return self._shaped(apply("TensorArrayStack", self.flow, name=name), 1)

    def concat(self, name: str | None = None) -> Any:
        """Return all elements joined along their first axis."""
        return apply("TensorArrayConcat", self.flow, name=name)

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with a new value of one element."""
        return self._writing(index, value, False, name)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Return the array with the rows of a tensor as the elements at these indices."""
        return self._writing(indices, value, True, name)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Return the array whose elements are the rows of a tensor."""
        x = self._converted(value)
        dims = as_dims(x.shape)
        shape = None if dims is None else dims[1:]
        size = None if self.dynamic_size else (as_dims(self.flow.shape) or [None])[0]
        if size is not None and dims and dims[0] is not None and dims[0] > size:
            raise ValueError(
                f"TensorArray.unstack: expected at most {size} rows for value, got {dims[0]}"
            )
        flow = apply("TensorArrayStack", x, name=name or "TensorArrayUnstack")
        return self._new(flow, shape)

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Return the array whose elements are equal parts of a tensor along its first axis."""
        x, sizes = self._converted(value), convert_to_tensor(lengths, name="lengths")
        dims, count = as_dims(x.shape), as_dims(sizes.shape)
        if dims is None or None in dims[1:] or count is None or count[0] is None:
            raise ValueError(f"TensorArray.split: expected a known shape for value, got {x!r:.80}")
        flow = reshape(x, [count[0], -1, *dims[1:]], name=name)
        return self._new(flow, as_dims(flow.shape)[1:])  # type: ignore[index]

    def close(self, name: str | None = None) -> Any:
        """Do nothing: the memory is released with the last reference."""
        return no_op(name)

    def _converted(self, value: Any) -> Any:
        return convert_to_tensor(value, self.dtype, name="value")

    def _new(self, flow: Any, shape: Any) -> TensorArray:
        if not self.element_shape.is_compatible_with(shape):
            raise ValueError(
                f"TensorArray: expected elements of shape {self.element_shape}, got "
                f"{TensorShape(shape)}"
            )
        if mode.executing_eagerly():
            self.flow = flow  # as in TensorFlow: the array itself changes
            return self
        return self.with_flow(flow, self.element_shape.merge_with(shape))

    def _writing(self, index: Any, value: Any, rows: bool, name: str | None) -> TensorArray:
        x, at = self._converted(value), convert_to_tensor(index, name="index")
        dims = as_dims(x.shape)
        shape = dims[1:] if rows and dims is not None else dims
        if mode.executing_eagerly():
            flow, where, given = (as_core(y) for y in (self.flow, at, x))
            try:
                flow = _written(flow, where, given, rows, self.dynamic_size)
            except RowError as error:
                raise InvalidArgumentError(None, f"TensorArray: {error}") from None
            return self._new(as_eager(flow), shape)
        graph = graph_of([self.flow, at, x])
        attrs = {"rows": rows, "dynamic": self.dynamic_size}
        flow = self.flow
        count = None if flow.dims is None or self.dynamic_size else flow.dims[0]
        output = (self.dtype, None if shape is None else (count, *shape))
        abstract = opaque([flow.abstract, x.abstract], *output)
        op = graph.record("TensorArrayWrite", [flow, at, x], attrs, name, (*output, abstract))
        return self._new(op.outputs[0], shape)


class TensorTree:
    """A pytree whose leaves are tensors and TensorArrays, as a list of tensors."""

    def __init__(self, tree: Any) -> None:
        leaves, self.structure = flatten(tree)
        self.paths = leaf_paths(tree, none_is_leaf=True)
        self.leaves = [convert_to_tensor(x) if isinstance(x, IndexedSlices) else x for x in leaves]
        self.tensors = [
            x.flow if isinstance(x, TensorArray) else convert_to_tensor(x) for x in self.leaves
        ]
        self.arrays = [isinstance(x, TensorArray) for x in self.leaves]

    def like(self, tensors: Iterable[Any], shapes: TensorTree | None = None) -> Any:
        """Build the same structure from other tensors.

        `shapes` is a structure whose arrays have the known shapes of the elements.
        """
        others = (shapes or self).leaves
        leaves = [
            x.with_flow(t, y.element_shape) if isinstance(x, TensorArray) else t
            for x, t, y in zip(self.leaves, tensors, others, strict=True)
        ]
        return unflatten(self.structure, leaves)

    def check_like(self, other: TensorTree, who: str, what: str) -> None:
        """Raise ValueError if another pytree differs in structure or dtypes."""
        if self.paths != other.paths or self.arrays != other.arrays:
            raise ValueError(
                f"{who}: expected one structure for {what}, got {self._shown()} and "
                f"{other._shown()}"
            )
        for x, y in zip(self.tensors, other.tensors, strict=True):
            if as_dtype(x.dtype) != as_dtype(y.dtype):
                raise WrongDtypeError(
                    f"{who}: expected the same type for {what}, got {as_dtype(x.dtype).name} and "
                    f"{as_dtype(y.dtype).name}; use tf.cast"
                )

    def _shown(self) -> str:
        return str(unflatten(self.structure, [None] * len(self.leaves))).replace("None", "·")


def callable_or_raise(f: Any, who: str, what: str) -> None:
    if not callable(f):
        raise TypeError(f"{who}: expected a function for {what}, got {f!r:.60}")


__all__ = ["TensorArray"]
