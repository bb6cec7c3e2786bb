"""Layers of `tf.layers` with a kernel: dense ones and convolutions; and pooling."""

from __future__ import annotations

import re
from typing import Any

from . import initializers, nn
from .array_ops import expand_dims, reshape, squeeze
from .array_ops import shape as shape_of
from .base_layer import Layer, layer_function
from .choice_ops import concat, stack
from .math_ops import matmul
from .names import public_names
from .random_ops import zeros_initializer
from .shapes import TensorShape
from .windows import padded_length

_COMMON = (
    "activation=None use_bias=True kernel_initializer=None bias_initializer=None "
    "kernel_regularizer=None bias_regularizer=None activity_regularizer=None "
    "kernel_constraint=None bias_constraint=None trainable=True name=None"
)


def _counts(value: Any, who: str, what: str, count: int = 2) -> list[int]:
    many = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(many) != count or any(not isinstance(n, int) or n < 1 for n in many):
        raise ValueError(f"{who}: {what}: expected {count} positive integers, got {value!r}")
    return many


def _layout(layer: Layer, rank: int) -> str:
    formats = {"channels_last": "NHWC", "channels_first": "NCHW"}
    if layer.data_format not in formats:
        raise ValueError(
            f"{layer.name}: data_format is one of {', '.join(formats)}, got {layer.data_format!r}"
        )
    if rank == 1 and layer.data_format == "channels_first":
        raise NotImplementedError(f"{layer.name}: channels_first is not part of pullback")
    return formats[layer.data_format]


class Weighted(Layer):
    """A layer with a kernel, perhaps a bias, and an activation."""

    def _make(self, kernel: list[Any], bias: int) -> None:
        self.kernel = self._weight("kernel", kernel)
        self.bias = self._bias(bias)

    def _bias(self, size: int) -> Any:
        return self._weight("bias", [size], zeros_initializer) if self.use_bias else None

    def _weight(self, key: str, shape: list[Any], default: Any = None, trained: bool = True,
                end: str = "") -> Any:  # fmt: skip
        """A variable with the initializer, regularizer and constraint that are named after it."""
        kinds = "initializer", "regularizer", "constraint"
        initial, regularizer, constraint = (getattr(self, f"{key}_{k}", None) for k in kinds)
        initial = default if initial is None else by_text(initial, initializers)
        return self.add_weight(key + end, shape, None, initial, regularizer, trained, constraint)

    def _completed(self, out: Any, layout: str = "NHWC") -> Any:
        if self.bias is not None:
            out = nn.bias_add(out, self.bias, data_format=layout)
        return out if self.activation in (None, "linear") else by_text(self.activation, nn)(out)


def by_text(value: Any, space: Any) -> Any:
    """What a text such as 'relu' names."""
    if isinstance(value, str) and not hasattr(space, value):
        raise ValueError(f"expected the name of a function such as 'relu', got {value!r}")
    return getattr(space, value) if isinstance(value, str) else value


class Dense(Weighted):
    """activation(inputs · kernel + bias) along the last axis, whose length must be known.

    The variables are `kernel` of shape (last axis, units), and `bias` of shape (units,), which
    starts with zeros.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     y = tf.layers.dense(tf.ones([3, 4]), 2, tf.nn.relu, name="hidden")
    ...     y.shape, [v.name for v in tf.trainable_variables()]
    (TensorShape([Dimension(3), Dimension(2)]), ['hidden/kernel:0', 'hidden/bias:0'])
    """

    arguments = f"units {_COMMON}"

    def build(self, input_shape: Any) -> None:
        if self.dtype is not None and not self.dtype.is_floating:
            raise TypeError(f"dense: expected floats, got {self.dtype.name}")
        dims = TensorShape(input_shape).as_list()
        if len(dims) < 2 or dims[-1] is None:
            raise ValueError(
                "dense: expected inputs of rank 2 or more whose last dimension is known, got shape "
                f"{input_shape}"
            )
        self.units: int = int(self.units)
        self._make([dims[-1], self.units], self.units)
        self.built = True

    def call(self, inputs: Any) -> Any:
        dims = TensorShape(inputs.shape).as_list()
        if len(dims) == 2:
            return self._completed(matmul(inputs, self.kernel))
        out = matmul(reshape(inputs, [-1, dims[-1]]), self.kernel)
        whole: Any = [*dims[:-1], self.units]
        if None in whole:
            whole = concat([shape_of(inputs)[:-1], [self.units]], 0)
        return self._completed(reshape(out, whole))


class Conv2D(Weighted):
    """activation(convolution + bias) of (batch, height, width, channels) with `filters` outputs.

    The variables are `kernel` of shape (height, width, channels, filters), and `bias`.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     y = tf.layers.conv2d(tf.ones([2, 8, 8, 3]), 4, 3, padding="same", name="c")
    ...     y.shape.as_list(), [v.name for v in tf.trainable_variables()]
    ([2, 8, 8, 4], ['c/kernel:0', 'c/bias:0'])
    """

    arguments = (
        "filters kernel_size strides=(1,1) padding='valid' data_format='channels_last' "
        f"dilation_rate=(1,1) {_COMMON}"
    )
    rank = 2

    def _given(self, what: str) -> list[int]:
        return _counts(getattr(self, what), self.name, what, self.rank)

    def build(self, input_shape: Any) -> None:
        layout = _layout(self, self.rank)
        dims, rank = TensorShape(input_shape).as_list(), self.rank + 2
        channels = dims[-1 if layout == "NHWC" else 1] if len(dims) == rank else None
        if channels is None:
            raise ValueError(
                f"{self.name}: expected inputs of rank {rank} whose number of channels is known, "
                f"got shape {input_shape}"
            )
        self.filters: int = int(self.filters)
        self._make_for(self._given("kernel_size"), channels)
        self.built = True

    def _make_for(self, size: list[int], channels: int) -> None:
        self._make([*size, channels, self.filters], self.filters)

    def call(self, inputs: Any) -> Any:
        strides, rate = self._given("strides"), self._given("dilation_rate")
        layout, padding = _layout(self, self.rank), self.padding.upper()
        if self.rank == 1:
            return self._completed(nn.conv1d(inputs, self.kernel, strides, padding, dilations=rate))
        out = nn.conv2d(inputs, self.kernel, strides, padding, data_format=layout, dilations=rate)
        return self._completed(out, layout)


class Conv1D(Conv2D):
    """activation(convolution + bias) along one axis, of (batch, length, channels)."""

    arguments = Conv2D.arguments.replace("(1,1)", "1")
    rank = 1


class SeparableConv2D(Conv2D):
    """activation(convolution of each channel, product over the channels of each point + bias).

    The variables are `depthwise_kernel`, of shape (height, width, channels, depth_multiplier),
    `pointwise_kernel` and `bias`.
    """

    arguments = re.sub(
        r"kernel_(\w+)=None", r"depthwise_\1=None pointwise_\1=None",
        Conv2D.arguments.replace(" activation=", " depth_multiplier=1 activation="),
    )  # fmt: skip

    def _make_for(self, size: list[int], channels: int) -> None:
        inner = channels * self.depth_multiplier
        shapes = [*size, channels, self.depth_multiplier], [1, 1, inner, self.filters]
        self.depthwise_kernel = self._weight("depthwise", shapes[0], end="_kernel")
        self.pointwise_kernel = self._weight("pointwise", shapes[1], end="_kernel")
        self.bias = self._bias(self.filters)

    def call(self, inputs: Any) -> Any:
        strides, rate = self._given("strides"), self._given("dilation_rate")
        layout, kernels = _layout(self, 2), (self.depthwise_kernel, self.pointwise_kernel)
        out = nn.separable_conv2d(inputs, *kernels, strides, self.padding.upper(), rate,
                                  data_format=layout)  # fmt: skip
        return self._completed(out, layout)


class Conv2DTranspose(Conv2D):
    """The layer that goes the other way than `conv2d`: its outputs are `strides` times as long.

    The variables are `kernel` of shape (height, width, filters, channels), and `bias`.
    """

    arguments = Conv2D.arguments.replace("dilation_rate=(1,1) ", "")

    def _make_for(self, size: list[int], channels: int) -> None:
        self._make([*size, self.filters, channels], self.filters)

    def call(self, inputs: Any) -> Any:
        layout, steps = _layout(self, 2), self._given("strides")
        dims = TensorShape(inputs.shape).as_list()
        first = 1 if layout == "NHWC" else 2
        sizes = zip(dims[first : first + 2], self._given("kernel_size"), steps, strict=True)
        plane = [padded_length(n, k, s, self.padding) for n, k, s in sizes]
        if None in plane:
            raise ValueError(f"{self.name}: height and width of {inputs!r} must be known")
        batch = dims[0] if dims[0] is not None else shape_of(inputs)[0]
        wanted = [batch, *plane, self.filters] if first == 1 else [batch, self.filters, *plane]
        target = wanted if dims[0] is not None else stack(wanted)
        out = nn.conv2d_transpose(inputs, self.kernel, target, steps, self.padding.upper(), layout)
        return self._completed(out, layout)


class MaxPooling2D(Layer):
    """The largest entries of windows."""

    arguments = "pool_size strides padding='valid' data_format='channels_last' name=None"
    rank = 2
    pool = staticmethod(nn.max_pool)

    def call(self, inputs: Any) -> Any:
        size, steps = (
            _counts(getattr(self, what), self.name, what, self.rank)
            for what in ("pool_size", "strides")
        )
        layout, padding = _layout(self, self.rank), self.padding.upper()
        if self.rank == 2:
            return self.pool(inputs, size, steps, padding, layout)
        return squeeze(self.pool(expand_dims(inputs, 1), [1, *size], [1, *steps], padding), [1])


class AveragePooling2D(MaxPooling2D):
    """The means of windows."""

    pool = staticmethod(nn.avg_pool)


class MaxPooling1D(MaxPooling2D):
    """The largest entries of windows along one axis."""

    rank = 1


class AveragePooling1D(AveragePooling2D):
    """The means of windows along one axis."""

    rank = 1


dense = layer_function(Dense)
conv1d, conv2d = layer_function(Conv1D), layer_function(Conv2D)
conv2d_transpose = layer_function(Conv2DTranspose)
separable_conv2d = layer_function(SeparableConv2D)
max_pooling1d, max_pooling2d, average_pooling1d, average_pooling2d = (
    layer_function(cls, cls.arguments)
    for cls in (MaxPooling1D, MaxPooling2D, AveragePooling1D, AveragePooling2D)
)
__all__ = public_names(globals())
