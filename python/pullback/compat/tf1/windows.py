"""Convolutions and pooling, made of slices, products and maxima.

A window of kernel size k over an axis is k slices of the padded input, each of which starts one
place further on: so these functions take the memory of k inputs, and their gradients come with
them, of every order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb

from ... import _core
from .array_ops import _pad, expand_dims, squeeze
from .create import apply, convert_to_tensor, scope_of
from .names import public_names
from .opdef import define, like, pulled_back
from .shapes import Dims, TensorShape

# --- arguments


def _pair(value: Any, who: str, what: str, channels_last: bool) -> tuple[int, int]:
    """The two numbers that belong to height and width, of one, two or four."""
    many = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(many) == 4:
        rest, many = (many[::3], many[1:3]) if channels_last else (many[:2], many[2:])
        if list(rest) != [1, 1]:
            raise ValueError(f"{who}: {what} of batch and channels must be 1, got {value}")
    if len(many) not in (1, 2) or any(int(n) < 1 for n in many):
        raise ValueError(f"{who}: {what}: expected 1, 2 or 4 positive integers, got {value}")
    return int(many[0]), int(many[-1])


def _last(data_format: str | None, who: str, first: str = "NCHW", last: str = "NHWC") -> bool:
    if data_format not in (None, first, last):
        raise ValueError(f"{who}: data_format is {last!r} or {first!r}, got {data_format!r}")
    return data_format != first


def _scheme(padding: Any, who: str, channels_last: bool) -> Any:
    """'SAME', 'VALID', or the pairs for height and width."""
    if isinstance(padding, (list, tuple)):
        pairs = [tuple(p) for p in padding]
        pairs = pairs[1:3] if channels_last else pairs[2:]
        return tuple(pairs)
    if str(padding).upper() not in ("SAME", "VALID"):
        raise ValueError(f"{who}: padding is 'SAME', 'VALID' or pairs, got {padding!r}")
    return str(padding).upper()


def _extent(n: int | None, size: int, stride: int, padding: Any, axis: int) -> int | None:
    """How many windows there are along an axis."""
    if n is None:
        return None
    if padding == "SAME":
        return -(-n // stride)
    n += 0 if padding == "VALID" else sum(padding[axis])
    if n < size:
        raise ValueError(f"a window of {size} does not fit into {n}")
    return (n - size) // stride + 1


def _around(n: int, size: int, stride: int, padding: Any, axis: int) -> tuple[int, int]:
    """How much is padded before and after an axis."""
    if padding == "VALID":
        return 0, 0
    if padding != "SAME":
        before, after = padding[axis]
        return before, after
    missing = max((-(-n // stride) - 1) * stride + size - n, 0)
    return missing // 2, missing - missing // 2


def _windows(
    x: Any, size: tuple[int, int], strides: tuple[int, int], padding: Any,
    dilations: tuple[int, int], filling: float,
) -> list[Any]:  # fmt: skip
    """For each place in the window, row by row, its entries in all windows: of (n, h, w, c)."""
    sizes = [(k - 1) * d + 1 for k, d in zip(size, dilations, strict=True)]
    pads, counts = [], []
    for axis in (0, 1):
        n = x.shape[1 + axis]
        counts.append(_extent(n, sizes[axis], strides[axis], padding, axis))
        pads.append(_around(n, sizes[axis], strides[axis], padding, axis))
    if any(sum(p) for p in pads):
        x = _pad(x, [(0, 0), *pads, (0, 0)], "CONSTANT", filling)

    def along(axis: int, i: int) -> slice:
        start = i * dilations[axis]
        return slice(start, start + ((counts[axis] or 0) - 1) * strides[axis] + 1, strides[axis])

    rows, columns = size
    every = slice(None)
    return [
        x[(every, along(0, i), along(1, j), every)] for i in range(rows) for j in range(columns)
    ]


def _moved(x: Any, channels_last: bool) -> Any:
    return x if channels_last else _core.transpose(x, (0, 2, 3, 1))


def _back(y: Any, channels_last: bool) -> Any:
    return y if channels_last else _core.transpose(y, (0, 3, 1, 2))


def _rank(x: Any, rank: int, who: str) -> None:
    if len(x.shape) != rank:
        raise ValueError(f"{who}: expected a tensor of rank {rank}, got shape {tuple(x.shape)}")


def _outside(x: Any, last: bool, size: Any, attrs: Any, channels: Any) -> Dims:
    """The shape of the result, as far as it is known."""
    if x.dims is None:
        return (None,) * 4
    if len(x.dims) != 4:
        raise ValueError(f"expected a tensor of rank 4, got {TensorShape(x.dims)}")
    n, *plane, own = x.dims if last else (x.dims[0], *x.dims[2:], x.dims[1])
    height, width = (
        _extent(m, (k - 1) * d + 1 if k else 1, s, attrs["padding"], axis) if k else None
        for axis, (m, k, s, d) in enumerate(
            zip(plane, size, attrs["strides"], attrs.get("dilations", (1, 1)), strict=True)
        )
    )
    c = own if channels is None else channels
    return (n, height, width, c) if last else (n, c, height, width)


# --- convolutions


def _convolved(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, last: bool) -> Any:
    _rank(x, 4, "conv2d")
    _rank(filters, 4, "conv2d")
    x = _moved(x, last)
    rows, columns, inner, outer = filters.shape
    if x.shape[-1] != inner:
        raise ValueError(f"the input has {x.shape[-1]} channels, the filter {inner}")
    parts = _windows(x, (rows, columns), strides, padding, dilations, 0)
    patches = parts[0] if len(parts) == 1 else _core.concat(parts, 3)
    flat = _core.reshape(patches, (-1, rows * columns * inner))
    out = _core.matmul(flat, _core.reshape(filters, (rows * columns * inner, outer)))
    return _back(_core.reshape(out, (*patches.shape[:3], outer)), last)


def _filter_shape(x: Any, filters: Any, last: bool, **attrs: Any) -> Dims:
    kernel = filters.dims or (None,) * 4
    return _outside(x, last, kernel[:2], attrs, kernel[3])


define("Conv2D", _convolved, labels=("input", "filter"), domain="float", same=True, fresh=True,
       shape=_filter_shape)  # fmt: skip


def conv2d(
    input: Any, filter: Any = None, strides: Any = None, padding: Any = None,
    use_cudnn_on_gpu: bool = True, data_format: str = "NHWC", dilations: Any = [1, 1, 1, 1],  # noqa: B006
    name: str | None = None, filters: Any = None,
) -> Any:  # fmt: skip
    """Products of windows of (batch, height, width, channels) with a filter of shape (height,
    width, channels, outputs), which is not turned round.

    With padding 'SAME' there are ⌈length / stride⌉ windows along an axis, with 'VALID' those that
    fit. `data_format` 'NCHW' has the channels second.
    """
    last = _last(data_format, "conv2d")
    if strides is None or padding is None:
        raise ValueError("conv2d: give strides and padding")
    attrs = _arguments("conv2d", strides, padding, dilations, last)
    kernel = filter if filters is None else filters
    return apply("Conv2D", input, kernel, name=name, **attrs)


def _arguments(who: str, strides: Any, padding: Any, dilations: Any, last: bool) -> dict[str, Any]:
    return {
        "strides": _pair(strides, who, "strides", last),
        "padding": _scheme(padding, who, last),
        "dilations": _pair(1 if dilations is None else dilations, who, "dilations", last),
        "last": last,
    }


def _depthwise(x: Any, filters: Any, strides: Any, padding: Any, dilations: Any, last: bool) -> Any:
    x = _moved(x, last)
    rows, columns, inner, times = filters.shape
    if x.shape[-1] != inner:
        raise ValueError(f"the input has {x.shape[-1]} channels, the filter {inner}")
    parts = _windows(x, (rows, columns), strides, padding, dilations, 0)
    weights = [filters[i, j] for i in range(rows) for j in range(columns)]
    products = [_core.expand_dims(p, -1) * w for p, w in zip(parts, weights, strict=True)]
    total = products[0]
    for product in products[1:]:
        total = total + product
    return _back(_core.reshape(total, (*total.shape[:3], inner * times)), last)


def _depthwise_shape(x: Any, filters: Any, last: bool, **attrs: Any) -> Dims:
    kernel = filters.dims or (None,) * 4
    inner, times = kernel[2:]
    channels = -1 if inner is None or times is None else inner * times
    dims = _outside(x, last, kernel[:2], attrs, channels)
    return dims and tuple(None if d == -1 else d for d in dims)


define("DepthwiseConv2dNative", _depthwise, labels=("input", "filter"), domain="float", same=True,
       fresh=True, shape=_depthwise_shape)  # fmt: skip


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
    data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Each channel by itself, with a filter of shape (height, width, channels, multiplier)."""
    last = _last(data_format, "depthwise_conv2d")
    attrs = _arguments("depthwise_conv2d", strides, padding, dilations or rate, last)
    return apply("DepthwiseConv2dNative", input, filter, name=name or "depthwise", **attrs)


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
    rate: Any = None, name: str | None = None, data_format: str | None = None,
    dilations: Any = None,
) -> Any:  # fmt: skip
    """`depthwise_conv2d`, then a product over the channels of each point."""
    with scope_of(name or "separable_conv2d", input, depthwise_filter) as scope:
        inner = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format,
                                 dilations)  # fmt: skip
        return conv2d(inner, pointwise_filter, 1, "VALID", data_format=data_format or "NHWC",
                      name=scope)  # fmt: skip


def _transposed(value: Any, filters: Any, output_shape: Any, **attrs: Any) -> Any:
    _rank(value, 4, "conv2d_transpose")
    zeros = _core.full(tuple(output_shape), like(value, 0))
    made = _convolved(zeros, filters, **attrs)
    if made.shape != value.shape:
        raise ValueError(
            f"a convolution of {tuple(output_shape)} has shape {tuple(made.shape)}, the value has "
            f"{tuple(value.shape)}"
        )
    return pulled_back(lambda x: _convolved(x, filters, **attrs), [zeros], [value])[0]


define("Conv2DTranspose", _transposed, static=(2,), labels=("value", "filter", "output_shape"),
       domain="float", same=True, fresh=True,
       shape=lambda x, f, shape, **attrs: None if shape is None else tuple(shape))  # fmt: skip


def conv2d_transpose(
    value: Any = None, filter: Any = None, output_shape: Any = None, strides: Any = None,
    padding: Any = "SAME", data_format: str = "NHWC", name: str | None = None, input: Any = None,
    filters: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """The gradient of `conv2d` by its input, of the shape given; the filter has the shape (height,
    width, outputs, channels)."""
    last = _last(data_format, "conv2d_transpose")
    attrs = _arguments("conv2d_transpose", strides, padding, dilations, last)
    x, kernel = (value if input is None else input), (filter if filters is None else filters)
    return apply("Conv2DTranspose", x, kernel, output_shape, name=name or "conv2d_transpose",
                 **attrs)  # fmt: skip


def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None,
    use_cudnn_on_gpu: Any = None, data_format: str | None = None, name: str | None = None,
    input: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """`conv2d` along one axis: of (batch, length, channels) with (length, channels, outputs)."""
    if not _last(data_format, "conv1d", "NCW", "NWC"):
        raise NotImplementedError("conv1d: data_format 'NCW' is not part of pullback")
    with scope_of(name or "conv1d", value, input) as scope:
        x = expand_dims(convert_to_tensor(value if input is None else input), 1)
        kernel = expand_dims(convert_to_tensor(filters), 0)
        step = stride[-1] if isinstance(stride, (list, tuple)) else stride
        wide = dilations[-1] if isinstance(dilations, (list, tuple)) else dilations
        out = conv2d(x, kernel, [1, step], padding, dilations=[1, wide or 1])
        return squeeze(out, [1], name=scope)


# --- pooling


def _largest(x: Any, size: Any, strides: Any, padding: Any, last: bool) -> Any:
    _rank(x, 4, "max_pool")
    low = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    parts = _windows(_moved(x, last), size, strides, padding, (1, 1), low)
    stacked = _core.stack(parts, 4)
    # The first of equals takes the whole gradient.
    place = _core.expand_dims(_core.argmax(stacked, -1), -1)
    return _back(_core.squeeze(pb.take_along_axis(stacked, place, axis=-1), (4,)), last)


def _average(x: Any, size: Any, strides: Any, padding: Any, last: bool) -> Any:
    _rank(x, 4, "avg_pool")
    x = _moved(x, last)
    total, counted = (
        sum(parts[1:], parts[0])
        for parts in (
            _windows(t, size, strides, padding, (1, 1), 0)
            for t in (x, _core.full((1, *x.shape[1:3], 1), like(x, 1)))
        )
    )
    return _back(total / counted, last)  # what is padded does not count


for _type, _function, _domain in (
    ("MaxPool", _largest, "number"), ("AvgPool", _average, "float"),
):  # fmt: skip
    define(_type, _function, domain=_domain, fresh=True, labels=("value",),
           shape=lambda x, size, last, **attrs: _outside(x, last, size, attrs, None))  # fmt: skip


def _pool(type: str, who: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: Any,
          name: str | None) -> Any:  # fmt: skip
    last = _last(data_format, who)
    attrs = {
        "size": _pair(ksize, who, "ksize", last),
        "strides": _pair(strides, who, "strides", last),
        "padding": _scheme(padding, who, last),
        "last": last,
    }
    return apply(type, x, name=name or type, **attrs)


def max_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
    name: str | None = None, input: Any = None,
) -> Any:  # fmt: skip
    """The largest entry of each window; the first of equals has the gradient."""
    x = value if input is None else input
    return _pool("MaxPool", "max_pool", x, ksize, strides, padding, data_format, name)


def avg_pool(
    value: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
    name: str | None = None, input: Any = None,
) -> Any:  # fmt: skip
    """The mean of each window, in which what is padded does not count."""
    x = value if input is None else input
    return _pool("AvgPool", "avg_pool", x, ksize, strides, padding, data_format, name)


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
    name: str | None = None,
) -> Any:  # fmt: skip
    """`max_pool`."""
    return max_pool(input, ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def padded_length(n: int | None, size: int, stride: int, padding: str) -> int | None:
    """How long the result of a transposed convolution is along an axis."""
    if n is None:
        return None
    return n * stride if padding.upper() == "SAME" else n * stride + max(size - stride, 0)


__all__ = [name for name in public_names(globals()) if name != "padded_length"]
