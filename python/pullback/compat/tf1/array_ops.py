"""Constants, shapes, joining, slicing and choosing under TensorFlow's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import mode
from .convert import as_array, constant_operation, convert_to_tensor, dtype_of, is_tensor, scope_of
from .create import apply, convert_pair
from .dtypes import DType, as_dtype, float32, int32
from .dtypes import bool as tf_bool
from .shapes import TensorShape
from .tensor import Tensor

__all__ = [
    "broadcast_to",
    "concat",
    "constant",
    "expand_dims",
    "eye",
    "fill",
    "gather",
    "identity",
    "one_hot",
    "ones",
    "ones_like",
    "pad",
    "range",
    "rank",
    "reshape",
    "shape",
    "size",
    "split",
    "squeeze",
    "stack",
    "stop_gradient",
    "tile",
    "transpose",
    "unstack",
    "where",
    "zeros",
    "zeros_like",
]


def constant(
    value: Any,
    dtype: Any = None,
    shape: Any = None,
    name: str | None = None,
    verify_shape: bool = False,
) -> Any:
    """A tensor with this value: a number, a list or an array. With `shape` it is filled up.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     tf.constant([1, 2]), tf.constant(0.5, shape=[2, 2], name="half")
    (<tf.Tensor 'Const:0' shape=(2,) dtype=int32>, <tf.Tensor 'half:0' shape=(2, 2) dtype=float32>)
    """
    if is_tensor(value) and not mode.executing_eagerly():
        raise TypeError(f"constant: expected a value, got the tensor {value!r}; use tf.identity")
    if is_tensor(value):
        return convert_to_tensor(value, dtype)
    array, found = as_array(value, None if dtype is None else as_dtype(dtype))
    if shape is not None:
        array = _shaped(array, tuple(int(d) for d in TensorShape(shape)), verify_shape)
    if mode.executing_eagerly():
        return convert_to_tensor(array, found)
    return constant_operation(array, found, name or "Const")


def _shaped(
    array: np.ndarray[Any, Any], shape: tuple[int, ...], verify: bool
) -> np.ndarray[Any, Any]:
    size = int(np.prod(shape))
    if (verify and array.shape != shape) or array.size > size or not array.size:
        raise ValueError(
            f"constant: a value of shape {array.shape} does not fit into shape {shape}"
        )
    filled = np.full(size, array.reshape(-1)[-1])
    filled[: array.size] = array.reshape(-1)
    return filled.reshape(shape)


def _shape_tensor(shape: Any, name: str = "shape") -> Any:
    if is_tensor(shape):
        return convert_to_tensor(shape)
    if isinstance(shape, TensorShape):
        shape = [int(d) for d in shape]
    elif isinstance(shape, np.ndarray):
        shape = shape.reshape(-1).tolist()
    elif not isinstance(shape, (list, tuple)):
        shape = [shape]
    return convert_to_tensor(list(shape), None if _has_tensor(shape) else int32, name)


def _has_tensor(values: Any) -> bool:
    return any(is_tensor(v) for v in values)


def fill(dims: Any, value: Any, name: str | None = None) -> Any:
    """A tensor of shape `dims` full of one number."""
    with scope_of(name or "Fill", dims, value) as scope:
        number = convert_to_tensor(value, name="value")
        return apply("Fill", [_shape_tensor(dims, "dims"), number], None, scope)


def _full(shape: Any, number: int, dtype: Any, name: str) -> Any:
    with scope_of(name, shape) as scope:
        value = convert_to_tensor(_number(number, as_dtype(dtype)), as_dtype(dtype), "Const")
        return apply("Fill", [_shape_tensor(shape, "shape_as_tensor"), value], None, scope)


def _number(number: int, dtype: DType) -> Any:
    return bool(number) if dtype.is_bool else number


def zeros(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """Zeros."""
    return _full(shape, 0, dtype, name or "zeros")


def ones(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
    """Ones."""
    return _full(shape, 1, dtype, name or "ones")


def zeros_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Any:
    """Zeros of the shape of a tensor, and of its dtype or another."""
    return _like("ZerosLike", tensor, dtype, name or "zeros_like")


def ones_like(
    tensor: Any, dtype: Any = None, name: str | None = None, optimize: bool = True
) -> Any:
    """Ones of the shape of a tensor, and of its dtype or another."""
    return _like("OnesLike", tensor, dtype, name or "ones_like")


def _like(type: str, tensor: Any, dtype: Any, name: str) -> Any:
    from .create import cast

    out = apply(type, [convert_to_tensor(tensor)], None, name)
    return out if dtype is None else cast(out, dtype)


def eye(
    num_rows: int, num_columns: int | None = None, dtype: Any = float32, name: str | None = None
) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    return constant(np.eye(num_rows, num_columns, dtype=as_dtype(dtype).dtype), name=name or "eye")


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = None
) -> Any:
    """Numbers from `start` (0 if only one is given) up to `limit`, which is not among them."""
    if limit is None:
        start, limit = 0, start
    with scope_of(name or "range", start, limit, delta) as scope:
        values = [start, limit, delta]
        wish = None if dtype is None else as_dtype(dtype)
        wish = wish or next((d for d in map(dtype_of, values) if d is not None), None)
        if wish is None:
            wish = float32 if any(isinstance(v, float) for v in values) else int32
        parts = [convert_to_tensor(v, wish) for v in values]
        return apply("Range", parts, None, scope)


def identity(input: Any, name: str | None = None) -> Any:
    """A new tensor with the same values; the natural place to override a gradient.

    Of a variable it is a read of its own, which sees assignments that it depends on.
    """
    x = input.read_value() if hasattr(input, "read_value") else convert_to_tensor(input)
    return apply("Identity", [x], None, name)


def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The same values, as a constant: no gradient passes, and a path through it counts as none.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(3.0)
    ...     session.run(tf.gradients(x * tf.stop_gradient(x), x))
    [np.float32(3.0)]
    """
    return apply("StopGradient", [convert_to_tensor(input)], None, name)


def shape(input: Any, name: str | None = None, out_type: Any = int32, optimize: bool = True) -> Any:
    """The shape as a tensor of integers; no gradient (None)."""
    return apply("Shape", [convert_to_tensor(input)], {"out_type": as_dtype(out_type)}, name)


def size(input: Any, name: str | None = None, out_type: Any = int32) -> Any:
    """The number of elements as a tensor; no gradient (None)."""
    return apply("Size", [convert_to_tensor(input)], {"out_type": as_dtype(out_type)}, name)


def rank(input: Any, name: str | None = None) -> Any:
    """The number of axes as a tensor; no gradient (None)."""
    return apply("Rank", [convert_to_tensor(input)], None, name)


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The same elements in another shape, in which one -1 is found from the others."""
    with scope_of(name or "Reshape", tensor) as scope:
        x = convert_to_tensor(tensor, name="tensor")
        return apply("Reshape", [x, _shape_tensor(shape)], None, scope)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor repeated along axes of length 1 and new ones, to this shape."""
    with scope_of(name or "BroadcastTo", input) as scope:
        return apply("BroadcastTo", [convert_to_tensor(input), _shape_tensor(shape)], None, scope)


def transpose(a: Any, perm: Any = None, name: str | None = None, conjugate: bool = False) -> Any:
    """The axes in another order, reversed unless `perm` names them."""
    with scope_of(name or "transpose", a) as scope:
        x = convert_to_tensor(a, name="a")
        if perm is None:
            count = x.shape.ndims if isinstance(x, Tensor) else x.ndim
            if count is None:
                raise ValueError(f"transpose: the rank of {x!r} is unknown; give perm")
            perm = [*reversed([*np.arange(count)])]
        order = _shape_tensor([int(i) for i in perm] if not is_tensor(perm) else perm, "perm")
        return apply("Transpose", [x, order], None, scope)


def expand_dims(input: Any, axis: Any = None, name: str | None = None, dim: Any = None) -> Any:
    """A new axis of length 1 at `axis`."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("expand_dims: give the axis")
    with scope_of(name or "ExpandDims", input) as scope:
        at = convert_to_tensor(axis, name="dim")
        return apply("ExpandDims", [convert_to_tensor(input), at], None, scope)


def squeeze(input: Any, axis: Any = None, name: str | None = None, squeeze_dims: Any = None) -> Any:
    """Without the axes of length 1, all of them or those given."""
    axis = squeeze_dims if axis is None else axis
    if isinstance(axis, int):
        axis = [axis]
    return apply("Squeeze", [convert_to_tensor(input)], {"squeeze_dims": axis or None}, name)


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor repeated so many times along each axis."""
    with scope_of(name or "Tile", input) as scope:
        return apply(
            "Tile", [convert_to_tensor(input), _shape_tensor(multiples, "multiples")], None, scope
        )


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", name: str | None = None) -> Any:
    """Zeros before and after, as many as `paddings` says for each axis: a list of pairs."""
    if mode != "CONSTANT":
        raise NotImplementedError(f"pad: only mode 'CONSTANT' exists, got {mode!r}")
    with scope_of(name or "Pad", tensor) as scope:
        pairs = convert_to_tensor(paddings, name="paddings")
        return apply("Pad", [convert_to_tensor(tensor), pairs], None, scope)


def _parts(values: Any, who: str) -> list[Any]:
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError(f"{who}: expected at least one tensor, got an empty list")
    wish = next((d for d in map(dtype_of, values) if d is not None), None)
    first = convert_to_tensor(values[0], wish)
    return [first, *(convert_to_tensor(v, as_dtype(first.dtype)) for v in values[1:])]


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Tensors of one shape along a new axis."""
    with scope_of(name, *(values if isinstance(values, (list, tuple)) else [values])) as scope:
        parts = _parts(values, "stack")
        return apply("Pack", parts, {"axis": axis, "N": len(parts)}, scope)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """The slices along an axis."""
    x = convert_to_tensor(value)
    if num is None:
        dims = x.dims if isinstance(x, Tensor) else x.shape
        num = None if dims is None or not -len(dims) <= axis < len(dims) else dims[axis]
        if num is None:
            raise ValueError(f"unstack: the length of axis {axis} of {x!r} is unknown; give num")
    out = apply("Unpack", [x], {"axis": axis, "num": num}, name)
    return out if isinstance(out, list) else [out]


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors joined along an axis; the other axes must agree."""
    with scope_of(name, *(values if isinstance(values, (list, tuple)) else [values])) as scope:
        parts = _parts(values, "concat")
        kinds = {as_dtype(x.dtype) for x in parts}
        if len(kinds) > 1:
            names = " and ".join(sorted(kind.name for kind in kinds))
            raise TypeError(f"concat: expected tensors of one dtype, got {names}; use tf.cast")
        return apply("ConcatV2", [*parts, convert_to_tensor(axis, int32, "axis")], None, scope)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split"
) -> list[Any]:
    """The tensor in so many equal parts along an axis, or in parts of the sizes given."""
    with scope_of(name, value) as scope:
        x = convert_to_tensor(value, name="value")
        at = convert_to_tensor(axis, int32, "split_dim")
        if isinstance(num_or_size_splits, int):
            out = apply("Split", [at, x], {"num_split": num_or_size_splits}, scope)
        else:
            sizes = _shape_tensor(num_or_size_splits, "size_splits")
            out = apply("SplitV", [x, sizes, at], None, scope)
        return out if isinstance(out, list) else [out]


def gather(params: Any, indices: Any, axis: Any = 0, name: str | None = None) -> Any:
    """The slices of `params` at these positions along an axis; the gradient is dense."""
    with scope_of(name or "GatherV2", params, indices) as scope:
        x = convert_to_tensor(params, name="params")
        positions = convert_to_tensor(indices, name="indices")
        return apply(
            "GatherV2", [x, positions, convert_to_tensor(axis, int32, "axis")], None, scope
        )


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """x where the condition holds, else y. The gradient of the branch not taken is exactly 0.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant([0.0, 1.0])
    ...     y = tf.where(x > 0, x * tf.log(x), tf.zeros_like(x))
    ...     session.run(tf.gradients(y, x))
    [array([0., 1.], dtype=float32)]
    """
    if (x is None) != (y is None):
        raise ValueError("where: give both x and y")
    if x is None:
        raise NotImplementedError(
            "where: the form that lists positions does not exist, because its shape is known only "
            "after a run; give x and y"
        )
    with scope_of(name or "SelectV2", condition, x, y) as scope:
        test = convert_to_tensor(condition, tf_bool, "condition")
        x, y = convert_pair(x, y)
        if as_dtype(x.dtype) != as_dtype(y.dtype):
            raise TypeError(f"where: expected branches of one dtype, got {x!r} and {y!r}")
        return apply("SelectV2", [test, x, y], None, scope)


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """`on_value` (1) at each index along a new axis of length `depth`, else `off_value` (0)."""
    with scope_of(name or "one_hot", indices) as scope:
        wish = next((d for d in (dtype_of(on_value), dtype_of(off_value)) if d is not None), None)
        if dtype is not None:
            wish = as_dtype(dtype)
        elif wish is None and on_value is not None:
            wish = as_dtype(as_array(on_value, None)[1])
        wish = wish or float32
        on = convert_to_tensor(_number(1, wish) if on_value is None else on_value, wish)
        off = convert_to_tensor(_number(0, wish) if off_value is None else off_value, wish)
        inputs: Sequence[Any] = [
            convert_to_tensor(indices, name="indices"),
            convert_to_tensor(depth, int32, "depth"),
            on,
            off,
        ]
        return apply("OneHot", inputs, {"axis": -1 if axis is None else axis}, scope)
