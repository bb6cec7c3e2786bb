"""Convolutions and pooling of `pb.nn` with TensorFlow's arguments and shapes; space_to_depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import pullback as pb

from .... import _core
from .._graph.create import apply, convert_to_tensor, operation, scope_of
from .._graph.opdef import RowError, define, like, pulled_back
from .._graph.shapes import Dims, TensorShape
from ..names import named, public_names
from .array_ops import expand_dims, squeeze

# --- arguments


def _pair(value: Any, who: str, what: str, channels_last: bool) -> tuple[int, int]:
    """Return the two numbers of height and width, from one, two or four."""
    many = list(value) if isinstance(value, (list, tuple)) else [value]
    if len(many) == 4:
        rest, many = (many[::3], many[1:3]) if channels_last else (many[:2], many[2:])
        if list(rest) != [1, 1]:
            raise ValueError(f"{who}: expected {what} of 1 for batch and channels, got {value}")
    if len(many) not in (1, 2) or any(int(n) < 1 for n in many):
        raise ValueError(f"{who}: expected 1, 2 or 4 positive integers for {what}, got {value}")
    return int(many[0]), int(many[-1])


def _last(data_format: str | None, who: str, first: str = "NCHW", last: str = "NHWC") -> bool:
    if data_format not in (None, first, last):
        raise ValueError(
            f"{who}: data_format must be one of {last!r}, {first!r}; got {data_format!r}"
        )
    return data_format != first


def _scheme(padding: Any, who: str, channels_last: bool) -> Any:
    """Return 'SAME', 'VALID', or the pairs of height and width."""
    if isinstance(padding, (list, tuple)):
        pairs = [tuple(p) for p in padding]
        pairs = pairs[1:3] if channels_last else pairs[2:]
        return tuple(pairs)
    if padding not in ("SAME", "VALID"):
        raise ValueError(f"{who}: padding must be 'SAME', 'VALID' or pairs; got {padding!r}")
    return padding


def _extent(n: int | None, size: int, stride: int, padding: Any, axis: int) -> int | None:
    """Return the number of windows along an axis."""
    if n is None:
        return None
    if padding == "SAME":
        return -(-n // stride)
    n += 0 if padding == "VALID" else sum(padding[axis])
    if n < size:
        raise RowError(f"expected a padded size of {size} or more for a window of {size}, got {n}")
    return (n - size) // stride + 1


def _format(last: bool) -> Literal["NHWC", "NCHW"]:
    return "NHWC" if last else "NCHW"


def _check_rank(x: Any) -> None:
    if len(x.shape) != 4:
        raise RowError(f"expected a tensor of rank 4, got shape {tuple(x.shape)}")


def _outside(x: Any, last: bool, size: Any, attrs: Any, channels: Any) -> Dims:
    """Return the known part of the shape of the result."""
    if x.dims is None:
        return (None,) * 4
    if len(x.dims) != 4:
        raise RowError(f"expected a tensor of rank 4, got shape {TensorShape(x.dims)}")
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
    _check_rank(x)
    return pb.nn.conv2d(x, filters, stride=strides, padding=padding, dilation=dilations,
                        data_format=_format(last))  # fmt: skip


def _check_channels(x: Any, filters: Any, last: bool) -> None:
    channels, inner = x.shape[-1 if last else 1], filters.shape[2]
    if channels != inner:
        raise RowError(f"expected a filter for {channels} channels, got one for {inner}")


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
    """Compute a 2-D cross-correlation of (batch, height, width, channels).

    The filter has shape (height, width, channels, outputs). An axis has ⌈size / stride⌉ windows
    with padding 'SAME', and those that fit with 'VALID'. With `data_format` 'NCHW' the channels are
    the second axis.
    """
    last = _last(data_format, "conv2d")
    if strides is None or padding is None:
        raise ValueError(
            f"conv2d: expected strides and padding, got strides={strides!r}, padding={padding!r}"
        )
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
    _check_channels(x, filters, last)
    rows, columns, inner, times = filters.shape
    weights = _core.reshape(filters, (rows, columns, 1, inner * times))
    return pb.nn.conv2d(x, weights, stride=strides, padding=padding, dilation=dilations,
                        groups=inner, data_format=_format(last))  # fmt: skip


def _depthwise_shape(x: Any, filters: Any, last: bool, **attrs: Any) -> Dims:
    kernel = filters.dims or (None,) * 4
    inner, times = kernel[2:]
    channels = -1 if inner is None or times is None else inner * times
    dims = _outside(x, last, kernel[:2], attrs, channels)
    return dims and tuple(None if d == -1 else d for d in dims)


define("DepthwiseConv2dNative", _depthwise, labels=("input", "filter"), domain="float", same=True,
       fresh=True, shape=_depthwise_shape, public="depthwise_conv2d")  # fmt: skip


def depthwise_conv2d(
    input: Any, filter: Any, strides: Any, padding: Any, rate: Any = None, name: str | None = None,
    data_format: str | None = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Convolve each channel separately; filter (height, width, channels, multiplier)."""
    last = _last(data_format, "depthwise_conv2d")
    attrs = _arguments("depthwise_conv2d", strides, padding, dilations or rate, last)
    return apply("DepthwiseConv2dNative", input, filter, name=name or "depthwise", **attrs)


def separable_conv2d(
    input: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any,
    rate: Any = None, name: str | None = None, data_format: str | None = None,
    dilations: Any = None,
) -> Any:  # fmt: skip
    """Compute `depthwise_conv2d`, then a 1 x 1 convolution over the channels."""
    with scope_of(name or "separable_conv2d", input, depthwise_filter) as scope:
        inner = depthwise_conv2d(input, depthwise_filter, strides, padding, rate, None, data_format,
                                 dilations)  # fmt: skip
        return conv2d(inner, pointwise_filter, 1, "VALID", data_format=data_format or "NHWC",
                      name=scope)  # fmt: skip


def _transposed(value: Any, filters: Any, output_shape: Any, **attrs: Any) -> Any:
    zeros = _core.full(tuple(output_shape), like(value, 0))
    made = _convolved(zeros, filters, **attrs)
    if made.shape != value.shape:
        raise RowError(
            f"expected a value of shape {tuple(made.shape)} for output_shape "
            f"{tuple(output_shape)}, got {tuple(value.shape)}"
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
    """Compute the gradient of `conv2d` by its input, of the given shape.

    The filter has shape (height, width, outputs, channels).
    """
    last = _last(data_format, "conv2d_transpose")
    attrs = _arguments("conv2d_transpose", strides, padding, dilations, last)
    x, kernel = (value if input is None else input), (filter if filters is None else filters)
    return apply("Conv2DTranspose", x, kernel, output_shape, name=name or "conv2d_transpose",
                 **attrs)  # fmt: skip


def atrous_conv2d(value: Any, filters: Any, rate: int, padding: Any,
                  name: str | None = None) -> Any:  # fmt: skip
    """Compute `conv2d` with `dilations`."""
    with scope_of(name or "atrous_conv2d", value, filters) as scope:
        return conv2d(value, filters, 1, padding, dilations=rate, name=scope)


def conv1d(
    value: Any = None, filters: Any = None, stride: Any = None, padding: Any = None,
    use_cudnn_on_gpu: Any = None, data_format: str | None = None, name: str | None = None,
    input: Any = None, dilations: Any = None,
) -> Any:  # fmt: skip
    """Convolve along one axis: (batch, length, channels) with (length, channels, outputs)."""
    if not _last(data_format, "conv1d", "NCW", "NWC"):
        raise NotImplementedError(
            "conv1d: expected 'NWC' for data_format, got 'NCW'; use tf.transpose"
        )
    with scope_of(name or "conv1d", value, input) as scope:
        x = expand_dims(convert_to_tensor(value if input is None else input), 1)
        kernel = expand_dims(convert_to_tensor(filters), 0)
        step = stride[-1] if isinstance(stride, (list, tuple)) else stride
        wide = dilations[-1] if isinstance(dilations, (list, tuple)) else dilations
        out = conv2d(x, kernel, [1, step], padding, dilations=[1, wide or 1])
        return squeeze(out, [1], name=scope)


def convolution(
    input: Any, filter: Any, padding: Any, strides: Any = None, dilation_rate: Any = None,
    name: str | None = None, data_format: str | None = None, filters: Any = None,
    dilations: Any = None,
) -> Any:  # fmt: skip
    """Compute `conv1d` or `conv2d`, by the rank of the filter."""
    kernel = convert_to_tensor(filter if filters is None else filters)
    steps = 1 if strides is None else strides
    rate = dilation_rate if dilations is None else dilations
    if len(kernel.shape) == 3:
        return conv1d(input, kernel, steps, padding, data_format=data_format, name=name,
                      dilations=rate)  # fmt: skip
    return conv2d(input, kernel, steps, padding, data_format=data_format or "NHWC", name=name,
                  dilations=1 if rate is None else rate)  # fmt: skip


# --- pooling


def _pooling(type: str, public: str, core: Callable[..., Any], domain: str, doc: str) -> Any:
    def compute(x: Any, size: Any, strides: Any, padding: Any, last: bool) -> Any:
        _check_rank(x)
        return core(x, size, stride=strides, padding=padding, data_format=_format(last))

    define(type, compute, domain=domain, fresh=True, labels=("value",),
           shape=lambda x, size, last, **attrs: _outside(x, last, size, attrs, None))  # fmt: skip

    def pool(
        value: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
        name: str | None = None, input: Any = None,
    ) -> Any:  # fmt: skip
        last = _last(data_format, public)
        attrs = {
            "size": _pair(ksize, public, "ksize", last), "last": last,
            "strides": _pair(strides, public, "strides", last),
            "padding": _scheme(padding, public, last),
        }  # fmt: skip
        return apply(type, value if input is None else input, name=name or type, **attrs)

    return named(pool, public, doc)


max_pool = _pooling(
    "MaxPool", "max_pool", pb.nn.max_pool, "number",
    "Return the largest entry of each window; the first of equal entries has the gradient.",
)  # fmt: skip
avg_pool = _pooling(
    "AvgPool", "avg_pool", pb.nn.avg_pool, "float",
    "Return the mean of each window without the padding.",
)  # fmt: skip


def max_pool2d(
    input: Any, ksize: Any, strides: Any, padding: Any, data_format: str = "NHWC",
    name: str | None = None,
) -> Any:  # fmt: skip
    """Alias of `max_pool`."""
    return max_pool(input, ksize, strides, padding, data_format, name)


avg_pool2d = avg_pool


def padded_length(n: int | None, size: int, stride: int, padding: str) -> int | None:
    """Return the size of a transposed convolution's result along an axis."""
    if n is None:
        return None
    return n * stride if padding.upper() == "SAME" else n * stride + max(size - stride, 0)


_ORDER = (0, 1, 3, 2, 4, 5)


def _rows(type: str, public: str, doc: str, sizes: Any, whole: Any) -> Any:
    """Define an operation that splits axes into `sizes`, transposes and merges them to `whole`."""

    def compute(x: Any, block_size: int, data_format: str) -> Any:
        if data_format != "NHWC" or len(x.shape) != 4:
            raise RowError(
                f"expected images of rank 4 in 'NHWC', got shape {x.shape} in {data_format!r}"
            )
        if block_size < 2:
            raise RowError(f"expected block_size >= 2, got {block_size}")
        cut = _core.reshape(x, sizes(*x.shape, block_size))
        return _core.reshape(pb.permute_dims(cut, _ORDER), whole(*x.shape, block_size))

    def shape(x: Any, block_size: Any, **_: Any) -> Any:
        if x.dims is None or block_size is None:
            return None
        return tuple(d or None for d in whole(*(d or 0 for d in x.dims), block_size))

    return operation(
        type, compute, "input #block_size name=None data_format='NHWC'", doc, public, fresh=True,
        shape=shape,
    )  # fmt: skip


depth_to_space = _rows(
    "DepthToSpace", "depth_to_space", "Return channels as blocks of pixels.",
    lambda b, h, w, c, s: (b, h, w, s, s, c // s**2),
    lambda b, h, w, c, s: (b, h * s, w * s, c // s**2),
)  # fmt: skip
space_to_depth = _rows(
    "SpaceToDepth", "space_to_depth", "Return blocks of pixels as channels.",
    lambda b, h, w, c, s: (b, h // s, s, w // s, s, c),
    lambda b, h, w, c, s: (b, h // s, w // s, s * s * c),
)  # fmt: skip


__all__ = [name for name in public_names(globals()) if name != "padded_length"]
