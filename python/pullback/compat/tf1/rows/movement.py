"""The rows of OPS that move values: reshape, transpose, concat, slices, gather and their kin."""

from __future__ import annotations

from typing import Any

from .... import _core
from ..opdef import Attrs, define, ints


def _reshape(attrs: Attrs, x: Any, shape: Any) -> Any:
    return _core.reshape(x, ints(shape))


def _transpose(attrs: Attrs, x: Any, order: Any) -> Any:
    return _core.transpose(x, list(ints(order)))


def _expand_dims(attrs: Attrs, x: Any, axis: Any) -> Any:
    return _core.expand_dims(x, ints(axis)[0])


def _squeeze(attrs: Attrs, x: Any) -> Any:
    return _core.squeeze(x, attrs["squeeze_dims"])


def _tile(attrs: Attrs, x: Any, multiples: Any) -> Any:
    counts = ints(multiples)
    if len(counts) != len(x.shape):
        raise ValueError(f"Tile: {len(counts)} multiples for a tensor of shape {x.shape}")
    split = [n for d in x.shape for n in (1, d)]
    wide = [n for count, d in zip(counts, x.shape, strict=True) for n in (count, d)]
    whole = [count * d for count, d in zip(counts, x.shape, strict=True)]
    if len(wide) > 8:  # one axis at a time
        for axis, count in enumerate(counts):
            x = _core.concat([x] * count, axis)
        return x
    return _core.reshape(_core.broadcast_to(_core.reshape(x, split), wide), whole)


def _concat(attrs: Attrs, *parts: Any) -> Any:
    return _core.concat(list(parts[:-1]), ints(parts[-1])[0])


def _pack(attrs: Attrs, *parts: Any) -> Any:
    return _core.stack(list(parts), attrs["axis"])


def _unpack(attrs: Attrs, x: Any) -> Any:
    axis = attrs["axis"] % max(len(x.shape), 1)
    if axis >= len(x.shape) or x.shape[axis] != attrs["num"]:
        raise ValueError(
            f"Unpack: axis {attrs['axis']} of shape {x.shape} has no length {attrs['num']}"
        )
    return [x[(slice(None),) * axis + (i,)] for i in range(attrs["num"])]


def _split(attrs: Attrs, axis: Any, x: Any) -> Any:
    at, count = ints(axis)[0], attrs["num_split"]
    length = x.shape[at] if -len(x.shape) <= at < len(x.shape) else 0
    if not length or length % count:
        raise ValueError(f"Split: axis {at} of shape {x.shape} does not split into {count}")
    return _core.split(x, [length // count] * count, at)


def _split_sizes(attrs: Attrs, x: Any, sizes: Any, axis: Any) -> Any:
    return _core.split(x, list(ints(sizes)), ints(axis)[0])


def _gather(attrs: Attrs, x: Any, indices: Any, axis: Any) -> Any:
    return _core.take(x, indices, ints(axis)[0])


def _pad(attrs: Attrs, x: Any, paddings: Any) -> Any:
    pairs = paddings.numpy()
    if pairs.shape != (len(x.shape), 2):
        raise ValueError(f"Pad: expected paddings of shape ({len(x.shape)}, 2), got {pairs.shape}")
    for axis, (before, after) in enumerate(pairs.tolist()):
        shape = list(x.shape)
        parts = [x]
        if before:
            shape[axis] = before
            parts.insert(0, _core.full(shape, _core.constant(0, x.dtype)))
        if after:
            shape[axis] = after
            parts.append(_core.full(shape, _core.constant(0, x.dtype)))
        x = _core.concat(parts, axis)
    return x


_LINEAR: dict[str, Any] = {"needs": {0: ()}, "flows": (0,), "ring": True}

define("Reshape", _reshape, static=(1,), names=("Reshape",), **_LINEAR)
define("Transpose", _transpose, static=(1,), names=("transpose",), **_LINEAR)
define("ExpandDims", _expand_dims, static=(1,), names=("Reshape",), **_LINEAR)
define("Squeeze", _squeeze, names=("Reshape",), **_LINEAR)
define("Tile", _tile, static=(1,), names=("Sum",), **_LINEAR)
define(
    "BroadcastTo",
    lambda attrs, x, shape: _core.broadcast_to(x, ints(shape)),
    static=(1,),
    names=("Sum",),
    **_LINEAR,
)
define("Pad", _pad, static=(1,), names=("Slice",), **_LINEAR)
define("StridedSlice", lambda attrs, x: x[attrs["key"]], names=("StridedSliceGrad",), **_LINEAR)
define(
    "Unpack",
    _unpack,
    names=("stack",),
    **_LINEAR,
    dtypes=lambda attrs, inputs: (inputs[0].dtype,) * attrs["num"],
)
define(
    "SplitV",
    _split_sizes,
    static=(1, 2),
    names=("concat",),
    **_LINEAR,
    dtypes=lambda attrs, inputs: (inputs[0].dtype,) * (inputs[1].dims[0] or 1),
)
define(
    "Split",
    _split,
    static=(0,),
    needs={1: ()},
    flows=(1,),
    ring=True,
    names=("", "concat"),
    dtypes=lambda attrs, inputs: (inputs[1].dtype,) * attrs["num_split"],
)
define("Pack", _pack, same=True, needs={}, ring=True, names=("unstack",))
# The axis is the last input; gradients reach the others (create.py sets the operation's flows).
define("ConcatV2", _concat, static=(-1,), needs={}, ring=True, names=("Slice",))
define("GatherV2", _gather, static=(2,), needs={0: (1,)}, flows=(0,), ring=True, names=("Reshape",))
