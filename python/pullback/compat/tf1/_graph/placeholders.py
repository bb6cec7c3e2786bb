"""Placeholders: tensors that every run must be given a value for."""

from __future__ import annotations

from typing import Any

from .... import _core
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from . import mode
from .create import convert_to_tensor
from .graph import get_default_graph
from .opdef import define
from .operation import Operation
from .shapes import TensorShape, as_dims, shape_text
from .tensor import SymbolicTensor as Tensor
from .tensor import opaque

__all__ = ["placeholder", "placeholder_with_default"]


def _missing(run: Any, op: Operation, inputs: list[Any]) -> list[Any]:
    x = op.outputs[0]
    raise InvalidArgumentError(
        op,
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {x.dtype.name} and "
        f"shape {shape_text(x.dims)}: the fetches depend on it",
    )


define("Placeholder", execute=_missing, flows=False)
define("PlaceholderWithDefault", lambda x: _core.identity(x), fresh=True)


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor that `Session.run` is fed. None stands for unknown dimensions, or any shape.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     rows = tf.placeholder(tf.float32, [None, 2])
    ...     session.run(tf.reduce_sum(rows, axis=1), {rows: [[1, 2], [3, 4]]})
    array([3., 7.], dtype=float32)
    """
    if mode.executing_eagerly():
        raise RuntimeError("tf.placeholder does not exist in eager mode: use the value itself")
    attrs = {"dtype": as_dtype(dtype), "shape": TensorShape(shape)}
    output = (as_dtype(dtype), as_dims(shape))
    return get_default_graph().record("Placeholder", (), attrs, name, output).outputs[0]


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Any:
    """A tensor that may be fed and otherwise has the value of `input`."""
    x = convert_to_tensor(input)
    if mode.executing_eagerly():
        return x
    if not TensorShape(shape).is_compatible_with(x.dims):
        raise ValueError(f"placeholder_with_default: {x!r} does not have shape {shape}")
    dims = as_dims(shape)
    fits = dims is not None and None not in dims
    stand_in = _core.identity(x.stand_in) if fits else opaque([x.stand_in], x.dtype, dims)
    output = (x.dtype, dims, stand_in)
    return x.graph.record("PlaceholderWithDefault", [x], {}, name, output).outputs[0]
