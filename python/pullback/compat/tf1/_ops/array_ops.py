"""Constants, shapes and padding under TensorFlow's names."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from .... import _core
from .._graph import inference, mode, shape_functions
from .._graph.conversion import as_array, as_static
from .._graph.create import (
    apply,
    cast,
    constant_of,
    contains_tensor,
    convert_to_tensor,
    dtype_of,
    is_tensor,
    known_dims,
    operation,
    row,
    scope_of,
)
from .._graph.opdef import define, like
from .._graph.shapes import TensorShape
from ..dtypes import as_dtype, float32, int32, string
from ..names import public_names

# --- values


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = "Const",
             verify_shape: bool = False) -> Any:  # fmt: skip
    """Create a tensor from a number, a list or an array; with `shape` it is filled up.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     tf.constant([1, 2]), tf.constant(0.5, shape=[2, 2], name="half")
    (<tf.Tensor 'Const:0' shape=(2,) dtype=int32>, <tf.Tensor 'half:0' shape=(2, 2) dtype=float32>)
    """
    if is_tensor(value) and not mode.executing_eagerly():
        raise TypeError(f"constant: expected a value, got the tensor {value!r}; use tf.identity")
    if is_tensor(value):
        return convert_to_tensor(value, dtype)
    array, found = as_array(value, None if dtype is None else as_dtype(dtype), "constant")
    if shape is not None:
        array = _shaped(array, tuple(int(d) for d in TensorShape(shape)), verify_shape)
    return constant_of(array, found, name or "Const")


def _shaped(
    array: np.ndarray[Any, Any], shape: tuple[int, ...], verify: bool
) -> np.ndarray[Any, Any]:
    size = int(np.prod(shape))
    if (verify and array.shape != shape) or array.size > size or not array.size:
        raise ValueError(
            f"constant: expected a value that fits into shape {shape}, got shape {array.shape}"
        )
    filled = np.full(size, array.reshape(-1)[-1])
    filled[: array.size] = array.reshape(-1)
    return filled.reshape(shape)


@row("Fill", "#dims value", shape=shape_functions.of_value, fresh=False)
def fill(dims: Any, value: Any) -> Any:
    """Return a tensor of shape `dims` filled with one number."""
    if value.shape:
        raise ValueError(f"fill: expected a scalar for value, got shape {value.shape}")
    return _core.full(dims, value)


def _full_of(number: int, public: str, type: str) -> Any:
    """Define zeros and zeros_like, or ones and ones_like."""
    define(type, lambda x: _core.full(x.shape, like(x, number)), flows=False, fresh=True,
           shape=shape_functions.unchanged)  # fmt: skip

    def full(shape: Any, dtype: Any = float32, name: str | None = None) -> Any:
        kind = as_dtype(dtype)
        with scope_of(name or public, shape) as scope:
            own = "" if kind == string and not number else kind.dtype.type(number)
            value = convert_to_tensor(own, kind, "Const")
            return fill([shape] if isinstance(shape, int) else shape, value, scope)

    def full_like(
        tensor: Any, dtype: Any = None, name: str | None = None, optimize: Any = True
    ) -> Any:
        out = apply(type, tensor, name=name or f"{public}_like")
        return out if dtype is None else cast(out, dtype)

    full.__doc__ = f"Return {public} of a shape."
    full_like.__doc__ = f"Return {public} of the shape of a tensor, of its dtype or another."
    return full, full_like


zeros, zeros_like = _full_of(0, "zeros", "ZerosLike")
ones, ones_like = _full_of(1, "ones", "OnesLike")


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = float32,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Return ones on the diagonal, zeros elsewhere."""
    sizes = [num_rows, num_rows if num_columns is None else num_columns]
    if any(contains_tensor(n) for n in (*sizes, batch_shape)):
        with scope_of(name or "eye", *sizes):
            counts = [convert_to_tensor(n) for n in sizes]
            if not all(as_dtype(n.dtype).is_integer for n in counts):
                raise TypeError(f"eye: expected integers for the sizes, got {sizes!r:.100}")
            rows, columns = (range(cast(n, int32)) for n in counts)
            square = cast(apply("Equal", expand_dims(rows, 1), columns), dtype)
            batch = ones([] if batch_shape is None else batch_shape, dtype)
            return apply("Mul", square, expand_dims(expand_dims(batch, -1), -1))
    value = np.eye(num_rows, num_columns, dtype=as_dtype(dtype).dtype)
    if batch_shape is not None:
        value = np.broadcast_to(
            value, (*as_static(batch_shape, "eye", "batch_shape"), *value.shape)
        )
    return constant(value, name=name or "eye")


def _numbers(start: Any, limit: Any, delta: Any, dtype: Any = None) -> Any:
    if delta == 0 or (limit - start) * delta < 0:
        raise ValueError(
            f"range: expected a delta that leads from start to limit, got start={start}, "
            f"limit={limit}, delta={delta}"
        )
    return np.arange(start, limit, delta, dtype=dtype)


define(
    "Range", lambda start, limit, delta, dtype: _core.constant(
        _numbers(start, limit, delta).astype(dtype.dtype), dtype.dtype
    ),
    static=(0, 1, 2), flows=False, dtype="dtype", labels=("start", "limit", "delta"),
    shape=shape_functions.vector,
    value=lambda start, limit, delta, dtype: _numbers(start, limit, delta),
)  # fmt: skip


def range(
    start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str | None = "range"
) -> Any:
    """Return the numbers from `start` (0 if only one is given) up to `limit`, which is excluded."""
    if limit is None:
        start, limit = 0, start
    values = [start, limit, delta]
    wish = as_dtype(dtype) if dtype is not None else dtype_of(*values)
    floating = any(isinstance(v, (float, np.floating)) for v in values)
    wish = wish or (float32 if floating else int32)
    if wish.is_floating or floating:
        with scope_of(name or "range", *values) as scope:  # integers, scaled: axes are integers
            if any(is_tensor(v) for v in values):
                raise NotImplementedError(
                    "range: expected numbers for floats, got a tensor; use tf.cast(tf.range(n), "
                    "dtype)"
                )
            return constant(_numbers(start, limit, delta, wish.dtype), wish, name=scope)
    with scope_of(name or "range", *values) as scope:
        return apply("Range", *values, name=scope, dtype=wish)


@row(
    "LinSpace", "start stop #num", default_name="linspace", domain="float", same=True,
    shape=lambda start, stop, num: (num,), fresh=False,
)  # fmt: skip
def linspace(start: Any, stop: Any, num: int) -> Any:
    """Return `num` equally spaced numbers from `start` to `stop`, both included."""
    if num < 1:
        raise ValueError(f"linspace: expected num >= 1, got {num}")
    return pb.linspace(start, stop, num)


lin_space = linspace

# --- identities

define("Identity", lambda x: _core.identity(x), shape=shape_functions.unchanged, fresh=True,
       value=lambda x: x)  # fmt: skip


def identity(input: Any, name: str | None = None) -> Any:
    """Return a new tensor with the same values, for example to override its gradient."""
    return apply("Identity", convert_to_tensor(input), name=name)


def identity_n(input: Any, name: str | None = None) -> list[Any]:
    """Return new tensors with the same values."""
    with scope_of(name or "IdentityN", *input):
        return [identity(x) for x in input]


stop_gradient = operation(
    "StopGradient", _core.stop_gradient, "input",
    """Return the same values as a constant, through which no gradient passes.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default(), tf.Session() as session:
    ...     x = tf.constant(3.0)
    ...     session.run(tf.gradients(x * tf.stop_gradient(x), x))
    [np.float32(3.0)]
    """,
    "stop_gradient", flows=False, shape=shape_functions.unchanged, fresh=True,
    value=lambda input: input,
)  # fmt: skip

# --- shapes as values


def _of_shape(type: str, function: Any, doc: str, arguments: str, **fields: Any) -> Any:
    """Define an operation that returns `function(shape)`; NaN is an unknown size."""

    def numbers(x: Any, out_type: Any = "int32") -> Any:
        return _core.constant(np.array(function(x.shape), np.int64), as_dtype(out_type).dtype)

    @inference.whole
    def known(inputs: Any, attrs: Any) -> Any:
        dims = inputs[0].dims
        if dims is None:
            return None
        return np.array(function([np.nan if d is None else d for d in dims]), float)

    return operation(
        type, numbers, f"input name=None{arguments}", f"{doc}; no gradient (None).", flows=False,
        dtype="out_type" if arguments else int32, fresh=True, value=known, **fields,
    )  # fmt: skip


shape = _of_shape(
    "Shape", list, "Return the shape as a tensor of integers", " out_type='int32'",
    shape=lambda x, **attrs: None if x.dims is None else (len(x.dims),),
)  # fmt: skip
size = _of_shape("Size", np.prod, "Return the number of elements", " out_type='int32'",
                 shape=shape_functions.scalar)  # fmt: skip
rank = _of_shape("Rank", len, "Return the number of axes", "", shape=shape_functions.scalar)

# --- changed shapes


@row(
    "Reshape", "tensor #shape", shape=shape_functions.reshaped,
    value=lambda x, shape: np.reshape(x, shape), fresh=False,
)  # fmt: skip
def reshape(x: Any, shape: Any) -> Any:
    """Reshape a tensor; one -1 is inferred from the other sizes."""
    return _core.reshape(x, shape)


broadcast_to = operation(
    "BroadcastTo", _core.broadcast_to, "input #shape",
    "Broadcast the tensor along axes of size 1 and new axes to this shape.", "broadcast_to",
    shape=lambda x, shape: shape_functions.of_value(shape),
)  # fmt: skip


def _order(given: dict[str, Any]) -> None:
    if given["perm"] is None:
        dims = known_dims(given["a"])
        if dims is None:
            given["perm"] = range(rank(given["a"]) - 1, -1, -1)
        else:
            given["perm"] = [*reversed([*np.arange(len(dims))])]


@row(
    "Transpose", "a #perm=None name='transpose' conjugate=False", prepare=_order,
    shape=lambda a, perm, conjugate: shape_functions.permuted(a, perm), fresh=False,
)  # fmt: skip
def transpose(a: Any, perm: Any, conjugate: Any) -> Any:
    """Permute the axes; the default reverses them."""
    return _core.transpose(_core.conj(a) if conjugate else a, perm)


def _given_axis(given: dict[str, Any]) -> None:
    if given["axis"] is None:
        raise ValueError("expand_dims: expected an integer for axis, got None")


expand_dims = operation(
    "ExpandDims", _core.expand_dims, "input #axis=None", "Insert a new axis of length 1 at `axis`.",
    "expand_dims", aliases={"dim": "axis"}, prepare=_given_axis, shape=shape_functions.expanded,
    labels=("input", "dim"), value=lambda x, axis: np.expand_dims(x, axis),
)  # fmt: skip


def _axes_or_none(given: dict[str, Any]) -> None:
    axes = None if given["axis"] is None else as_static(given["axis"], "squeeze", "axis")
    given["axis"] = ([axes] if isinstance(axes, int) else axes) or None


@row(
    "Squeeze", "input axis=None", prepare=_axes_or_none, aliases={"squeeze_dims": "axis"},
    shape=shape_functions.squeezed, value=lambda x, axis: np.squeeze(x, axis and tuple(axis)),
    fresh=False,
)  # fmt: skip
def squeeze(x: Any, axis: Any) -> Any:
    """Remove the axes of size 1, all of them or the given ones."""
    return _core.squeeze(x, axis)


@row("Tile", "input #multiples", shape=shape_functions.tiled, fresh=False)
def tile(x: Any, multiples: list[int]) -> Any:
    """Repeat the tensor along each axis."""
    if np.ndim(multiples) != 1 or len(multiples) != len(x.shape) or min(multiples, default=0) < 0:
        raise ValueError(
            f"tile: expected {len(x.shape)} multiples of 0 or more for shape {x.shape}, got "
            f"{multiples}"
        )
    return pb.tile(x, multiples)


def _checked_mode(given: dict[str, Any]) -> None:
    given["mode"] = str(given["mode"]).upper()
    if given["mode"] not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(
            f"pad: mode must be one of 'CONSTANT', 'REFLECT', 'SYMMETRIC'; got {given['mode']!r}"
        )


@row(
    "Pad", "tensor #paddings mode='CONSTANT' name=None constant_values=0", prepare=_checked_mode,
    shape=shape_functions.padded, fresh=False,
)  # fmt: skip
def pad(tensor: Any, paddings: Any, mode: str, constant_values: Any) -> Any:
    """Pad each axis with pairs of sizes in `paddings`.

    The padding is `constant_values`; with mode REFLECT or SYMMETRIC it mirrors the tensor.
    """
    if np.shape(paddings) != (len(tensor.shape), 2) or np.min(paddings, initial=0) < 0:
        raise ValueError(
            f"pad: expected paddings of shape ({len(tensor.shape)}, 2), 0 or more, got {paddings}"
        )
    if mode == "CONSTANT":
        return pb.pad(tensor, paddings, constant_values=like(tensor, constant_values))
    for n, pair in zip(tensor.shape, paddings, strict=True):
        if max(pair) > n - (mode == "REFLECT"):
            most = n - (mode == "REFLECT")
            raise ValueError(
                f"pad: expected paddings of at most {most} for mode {mode}, got {pair}"
            )
    return pb.pad(tensor, paddings, "reflect" if mode == "REFLECT" else "symmetric")


__all__ = public_names(globals())
