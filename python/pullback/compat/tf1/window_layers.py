"""The layers of `tf.layers` that look at windows: convolutions and pooling."""

from __future__ import annotations

from typing import Any

from . import nn
from .array_ops import expand_dims, squeeze
from .array_ops import shape as shape_of
from .choice_ops import stack
from .create import convert_to_tensor, scope_of
from .layer_scopes import regularized, scope, variables_of
from .names import public_names
from .shapes import TensorShape
from .windows import padded_length


def _pair(value: Any, who: str, what: str, count: int = 2) -> list[int]:
    many = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(many) != count or any(not isinstance(n, int) or n < 1 for n in many):
        raise ValueError(f"{who}: {what}: expected {count} positive integers, got {value!r}")
    return many


def _format(data_format: str, who: str) -> str:
    formats = {"channels_last": "NHWC", "channels_first": "NCHW"}
    if data_format not in formats:
        raise ValueError(f"{who}: data_format is one of {', '.join(formats)}, got {data_format!r}")
    return formats[data_format]


def _channels(x: Any, layout: str, who: str) -> int:
    dims = TensorShape(x.shape).as_list()
    if len(dims) != 4:
        raise ValueError(f"{who}: expected inputs of rank 4, got {x!r}")
    n = dims[-1 if layout == "NHWC" else 1]
    if n is None:
        raise ValueError(f"{who}: the number of channels of {x!r} must be known")
    return n


def conv2d(
    inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Any = (1, 1), activation: Any = None,
    use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = None,
    kernel_regularizer: Any = None, bias_regularizer: Any = None,
    activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
    trainable: bool = True, name: str | None = None, reuse: Any = None,
) -> Any:  # fmt: skip
    """activation(convolution + bias) of (batch, height, width, channels) with `filters` outputs.

    The variables are `kernel` of shape (height, width, channels, filters), and `bias`.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     y = tf.layers.conv2d(tf.ones([2, 8, 8, 3]), 4, 3, padding="same", name="c")
    ...     y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([2, 8, 8, 4], ['c/kernel:0', 'c/bias:0'])
    """
    x, layout = convert_to_tensor(inputs), _format(data_format, "conv2d")
    inner = _channels(x, layout, "conv2d")
    size = _pair(kernel_size, "conv2d", "kernel_size")
    with scope("conv2d", name, reuse, x):
        kernel, bias = variables_of(
            [*size, inner, filters], filters if use_bias else None, kernel_initializer,
            bias_initializer, kernel_constraint, bias_constraint, trainable,
            kernel_regularizer, bias_regularizer,
        )  # fmt: skip
        steps, rate = _pair(strides, "conv2d", "strides"), _pair(dilation_rate, "conv2d", "rate")
        out = nn.conv2d(x, kernel, steps, padding.upper(), data_format=layout, dilations=rate)
        if bias is not None:
            out = nn.bias_add(out, bias, data_format=layout)
        out = out if activation is None else activation(out)
        regularized(activity_regularizer, out)
        return out


def conv1d(
    inputs: Any, filters: int, kernel_size: Any, strides: Any = 1, padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Any = 1, activation: Any = None,
    use_bias: bool = True, kernel_initializer: Any = None, bias_initializer: Any = None,
    kernel_regularizer: Any = None, bias_regularizer: Any = None,
    activity_regularizer: Any = None, kernel_constraint: Any = None, bias_constraint: Any = None,
    trainable: bool = True, name: str | None = None, reuse: Any = None,
) -> Any:  # fmt: skip
    """activation(convolution + bias) along one axis, of (batch, length, channels)."""
    if data_format != "channels_last":
        raise NotImplementedError("conv1d: channels_first is not part of pullback")
    x = convert_to_tensor(inputs)
    dims = TensorShape(x.shape).as_list()
    if len(dims) != 3 or dims[-1] is None:
        raise ValueError(f"conv1d: expected inputs of rank 3 with known channels, got {x!r}")
    (size,) = _pair(kernel_size, "conv1d", "kernel_size", 1)
    with scope("conv1d", name, reuse, x):
        kernel, bias = variables_of(
            [size, dims[-1], filters], filters if use_bias else None, kernel_initializer,
            bias_initializer, kernel_constraint, bias_constraint, trainable,
            kernel_regularizer, bias_regularizer,
        )  # fmt: skip
        (step,), (rate,) = (_pair(n, "conv1d", "strides", 1) for n in (strides, dilation_rate))
        out = nn.conv1d(x, kernel, step, padding.upper(), dilations=rate)
        out = out if bias is None else nn.bias_add(out, bias)
        out = out if activation is None else activation(out)
        regularized(activity_regularizer, out)
        return out


def conv2d_transpose(
    inputs: Any, filters: int, kernel_size: Any, strides: Any = (1, 1), padding: str = "valid",
    data_format: str = "channels_last", activation: Any = None, use_bias: bool = True,
    kernel_initializer: Any = None, bias_initializer: Any = None, kernel_regularizer: Any = None,
    bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
    bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
    reuse: Any = None,
) -> Any:  # fmt: skip
    """The layer that goes the other way than `conv2d`: its outputs are `strides` times as long.

    The variables are `kernel` of shape (height, width, filters, channels), and `bias`.
    """
    who = "conv2d_transpose"
    x, layout = convert_to_tensor(inputs), _format(data_format, who)
    inner = _channels(x, layout, who)
    size, steps = _pair(kernel_size, who, "kernel_size"), _pair(strides, who, "strides")
    with scope(who, name, reuse, x):
        kernel, bias = variables_of(
            [*size, filters, inner], filters if use_bias else None, kernel_initializer,
            bias_initializer, kernel_constraint, bias_constraint, trainable,
            kernel_regularizer, bias_regularizer,
        )  # fmt: skip
        dims = TensorShape(x.shape).as_list()
        first = 1 if layout == "NHWC" else 2
        plane = []
        for n, k, s in zip(dims[first : first + 2], size, steps, strict=True):
            length = padded_length(n, k, s, padding)
            if length is None:
                raise ValueError(f"{who}: height and width of {x!r} must be known")
            plane.append(length)
        batch = dims[0] if dims[0] is not None else shape_of(x)[0]
        wanted = [batch, *plane, filters] if layout == "NHWC" else [batch, filters, *plane]
        target = wanted if dims[0] is not None else stack(wanted)
        out = nn.conv2d_transpose(x, kernel, target, steps, padding.upper(), layout)
        if bias is not None:
            out = nn.bias_add(out, bias, data_format=layout)
        out = out if activation is None else activation(out)
        regularized(activity_regularizer, out)
        return out


def _pooling(function: Any, who: str, x: Any, size: Any, strides: Any, padding: str,
             data_format: str, name: str | None) -> Any:  # fmt: skip
    layout = _format(data_format, who)
    return function(
        x, _pair(size, who, "pool_size"), _pair(strides, who, "strides"), padding.upper(), layout,
        name or who,
    )  # fmt: skip


def max_pooling2d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
    data_format: str = "channels_last", name: str | None = None,
) -> Any:  # fmt: skip
    """The largest entries of windows."""
    return _pooling(nn.max_pool, "max_pooling2d", inputs, pool_size, strides, padding,
                    data_format, name)  # fmt: skip


def average_pooling2d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
    data_format: str = "channels_last", name: str | None = None,
) -> Any:  # fmt: skip
    """The means of windows."""
    return _pooling(nn.avg_pool, "average_pooling2d", inputs, pool_size, strides, padding,
                    data_format, name)  # fmt: skip


def _along_one(function: Any, who: str, x: Any, size: Any, strides: Any, padding: str,
               data_format: str, name: str | None) -> Any:  # fmt: skip
    if data_format != "channels_last":
        raise NotImplementedError(f"{who}: channels_first is not part of pullback")
    (n,), (step,) = _pair(size, who, "pool_size", 1), _pair(strides, who, "strides", 1)
    with scope_of(name or who, x) as opened:
        flat = expand_dims(convert_to_tensor(x), 1)
        return squeeze(function(flat, [1, n], [1, step], padding.upper()), [1], name=opened)


def max_pooling1d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
    data_format: str = "channels_last", name: str | None = None,
) -> Any:  # fmt: skip
    """The largest entries of windows along one axis."""
    return _along_one(nn.max_pool, "max_pooling1d", inputs, pool_size, strides, padding,
                      data_format, name)  # fmt: skip


def average_pooling1d(
    inputs: Any, pool_size: Any, strides: Any, padding: str = "valid",
    data_format: str = "channels_last", name: str | None = None,
) -> Any:  # fmt: skip
    """The means of windows along one axis."""
    return _along_one(nn.avg_pool, "average_pooling1d", inputs, pool_size, strides, padding,
                      data_format, name)  # fmt: skip


__all__ = public_names(globals())
