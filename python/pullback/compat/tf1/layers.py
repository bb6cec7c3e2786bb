"""`tf.layers`: dense layers, convolutions and pooling, dropout, batch normalization and flatten.

A function creates a layer of the class of its name and calls it once.
"""

from __future__ import annotations

import re
from math import prod
from typing import Any

from ..._base.hints import did_you_mean
from . import initializers, nn
from ._graph import mode
from ._graph.create import cast, convert_to_tensor
from ._graph.shapes import TensorShape
from ._layers.base_layer import Layer as Layer
from ._layers.base_layer import layer_function
from ._ops.array_ops import expand_dims, identity, reshape, shape, squeeze, transpose
from ._ops.array_ops import shape as shape_of
from ._ops.array_ops import size as size_of
from ._ops.convolutions import padded_length
from ._ops.indexing_ops import concat, stack, where
from ._ops.math_ops import matmul, maximum
from ._ops.random_ops import ones_initializer, zeros_initializer
from .dtypes import as_dtype, float16, float32, float64
from .dtypes import bool as tf_bool
from .names import public_names

_COMMON = (
    "activation=None use_bias=True kernel_initializer=None bias_initializer=None "
    "kernel_regularizer=None bias_regularizer=None activity_regularizer=None "
    "kernel_constraint=None bias_constraint=None trainable=True name=None"
)


def _counts(value: Any, who: str, what: str, count: int = 2) -> list[int]:
    many = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(many) != count or any(not isinstance(n, int) or n < 1 for n in many):
        raise ValueError(f"{who}: expected {count} positive integers for {what}, got {value!r}")
    return many


def _layout(layer: Layer, rank: int) -> str:
    formats = {"channels_last": "NHWC", "channels_first": "NCHW"}
    if layer.data_format not in formats:
        names = ", ".join(map(repr, formats))
        raise ValueError(
            f"{layer.who}: data_format must be one of {names}; got {layer.data_format!r}"
        )
    if rank == 1 and layer.data_format == "channels_first":
        raise NotImplementedError(
            f"{layer.who}: expected 'channels_last' for data_format, got 'channels_first'"
        )
    return formats[layer.data_format]


class Weighted(Layer):
    """Base class of layers with a kernel, an optional bias and an activation."""

    _weight_dtype: Any = None  # of the variables, if it is not the layer's

    def _make(self, kernel: list[Any], bias: int) -> None:
        self.kernel = self._weight("kernel", kernel)
        self.bias = self._bias(bias)

    def _bias(self, size: int) -> Any:
        return self._weight("bias", [size], zeros_initializer) if self.use_bias else None

    def _weight(self, key: str, shape: list[Any], default: Any = None, trained: bool = True,
                end: str = "") -> Any:  # fmt: skip
        """Create a variable with the initializer, regularizer and constraint named after it."""
        kinds = "initializer", "regularizer", "constraint"
        initial, regularizer, constraint = (getattr(self, f"{key}_{k}", None) for k in kinds)
        initial = default if initial is None else by_name(initial, initializers, self.who)
        return self.add_weight(
            key + end, shape, self._weight_dtype, initial, regularizer, trained, constraint
        )

    def _completed(self, out: Any, layout: str = "NHWC") -> Any:
        if self.bias is not None:
            out = nn.bias_add(out, self.bias, data_format=layout)
        return (
            out
            if self.activation in (None, "linear")
            else by_name(self.activation, nn, self.who)(out)
        )


def by_name(value: Any, space: Any, who: str) -> Any:
    """Return the function that a string such as 'relu' names."""
    if isinstance(value, str) and not hasattr(space, value):
        home, hint = space.__name__.rpartition(".")[2], did_you_mean(value, space.__all__)
        raise ValueError(
            f"{who}: expected the name of a function of tf.{home}, got {value!r}{hint}"
        )
    return getattr(space, value) if isinstance(value, str) else value


class Dense(Weighted):
    """Compute activation(inputs · kernel + bias) along the last axis, whose size must be known.

    The variables are `kernel` of shape (last axis, units), and `bias` of shape (units,), which is
    initialized with zeros.

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
    """Compute activation(convolution + bias) of (batch, height, width, channels).

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
                f"{self.who}: expected inputs of rank {rank} whose number of channels is known, "
                f"got shape {input_shape}"
            )
        self.filters: int = _counts(int(self.filters), self.name, "filters", 1)[0]
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
    """Compute activation(convolution + bias) along one axis of (batch, length, channels)."""

    arguments = Conv2D.arguments.replace("(1,1)", "1")
    rank = 1


class SeparableConv2D(Conv2D):
    """Compute activation(1 x 1 convolution of a depthwise convolution + bias).

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
    """Compute a transposed convolution, whose output is `strides` times larger.

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
            raise ValueError(
                f"{self.who}: expected a known height and width for inputs, got {inputs!r}"
            )
        batch = dims[0] if dims[0] is not None else shape_of(inputs)[0]
        wanted = [batch, *plane, self.filters] if first == 1 else [batch, self.filters, *plane]
        target = wanted if dims[0] is not None else stack(wanted)
        out = nn.conv2d_transpose(inputs, self.kernel, target, steps, self.padding.upper(), layout)
        return self._completed(out, layout)


class MaxPooling2D(Layer):
    """Compute the largest entry of each window."""

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
    """Compute the mean of each window."""

    pool = staticmethod(nn.avg_pool)


class MaxPooling1D(MaxPooling2D):
    """Compute the largest entry of each window along one axis."""

    rank = 1


class AveragePooling1D(AveragePooling2D):
    """Compute the mean of each window along one axis."""

    rank = 1


dense = layer_function(Dense)
conv1d, conv2d = layer_function(Conv1D), layer_function(Conv2D)
conv2d_transpose = layer_function(Conv2DTranspose)
separable_conv2d = layer_function(SeparableConv2D)
max_pooling1d, max_pooling2d, average_pooling1d, average_pooling2d = (
    layer_function(cls, cls.arguments)
    for cls in (MaxPooling1D, MaxPooling2D, AveragePooling1D, AveragePooling2D)
)


class Flatten(Layer):
    """Merge all axes but the first.

    With 'channels_first' the second axis is moved to the end before.
    """

    arguments = "data_format='channels_last' name=None"

    def call(self, inputs: Any) -> Any:
        if self.data_format == "channels_first" and len(inputs.shape) > 2:
            inputs = transpose(inputs, [0, *range(2, len(inputs.shape)), 1])
        dims = TensorShape(inputs.shape).as_list()
        if not dims:
            raise ValueError("flatten: expected a tensor of rank 1 or more")
        if None in dims[1:]:
            return reshape(inputs, concat([shape(inputs)[:1], [-1]], 0))
        return reshape(inputs, [-1 if dims[0] is None else dims[0], prod(d or 0 for d in dims[1:])])


class Dropout(Layer):
    """Set a share `rate` of the entries to zero if `training`; scale the others by 1 / (1 - rate).

    `training` may be a tensor, such as a placeholder.
    """

    arguments = "rate=0.5 noise_shape=None seed=None name=None"

    def call(self, inputs: Any, training: Any = False) -> Any:
        flag = _flag(training)
        if flag is False:
            return identity(inputs)
        dropped = nn.dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate)
        return dropped if flag is True else where(flag, dropped, inputs)


class BatchNormalization(Weighted):
    """Compute (inputs - mean) / √(variance + ε) · gamma + beta, over all axes but one.

    If `training`, mean and variance are those of the batch, and two operations in the collection
    `UPDATE_OPS` update `moving_mean` and `moving_variance`: let the training step depend on them.
    Otherwise the moving values are used. `training` may be a tensor. For four axes the moving
    variance is unbiased, n / (n - 1) times the batch's, unless `fused` is False or the dtype is
    float64. The variables of float16 inputs are float32.
    """

    arguments = (
        "axis=-1 momentum=0.99 epsilon=0.001 center=True scale=True beta_initializer=None "
        "gamma_initializer=None moving_mean_initializer=None moving_variance_initializer=None "
        "beta_regularizer=None gamma_regularizer=None beta_constraint=None gamma_constraint=None "
        "renorm=False renorm_clipping=None renorm_momentum=0.99 fused=None trainable=True "
        "virtual_batch_size=None adjustment=None name=None"
    )

    def build(self, input_shape: Any) -> None:
        for key in ("renorm", "virtual_batch_size", "adjustment"):
            if value := getattr(self, key):
                raise NotImplementedError(
                    f"batch_normalization: expected the default for {key}, got {value!r}"
                )
        dims = TensorShape(input_shape).as_list()
        axis, *more = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        if more or not -len(dims) <= axis < len(dims):
            raise ValueError(
                f"batch_normalization: expected one axis of {input_shape} for axis, got {self.axis}"
            )
        if self.dtype is not None and not self.dtype.is_floating:
            raise TypeError(f"batch_normalization: expected floats, got {self.dtype.name}")
        self._weight_dtype = float32 if self.dtype == float16 else None
        self._axis, size = axis % len(dims), dims[axis]
        if size is None:
            raise ValueError(
                f"batch_normalization: expected a known size of axis {axis}, got shape "
                f"{input_shape}"
            )
        self.gamma = self._weight("gamma", [size], ones_initializer) if self.scale else None
        self.beta = self._weight("beta", [size], zeros_initializer) if self.center else None
        self.moving_mean = self._weight("moving_mean", [size], zeros_initializer, False)
        self.moving_variance = self._weight("moving_variance", [size], ones_initializer, False)
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        flag, rank, axis = _flag(training), len(inputs.shape), self._axis
        dtype = as_dtype(inputs.dtype)
        inputs = cast(inputs, as_dtype(self.moving_mean.dtype))
        moving = mean, variance = [self.moving_mean, self.moving_variance]
        if flag is not False:
            batch = list(nn.moments(inputs, [i for i in range(rank) if i != axis]))
            now = [
                b if flag is True else where(flag, b, m) for b, m in zip(batch, moving, strict=True)
            ]
            mean, variance = now
            if rank == 4 and self.fused is not False and inputs.dtype != float64:
                n = cast(size_of(inputs), as_dtype(inputs.dtype)) / int(inputs.shape[axis])
                sample = batch[1] * (n / maximum(n - 1, 1.0))
                now = [mean, sample if flag is True else where(flag, sample, moving[1])]
            for average, value in zip(moving, now, strict=True):
                update = average.assign_sub((average - value) * (1 - self.momentum))
                if not mode.executing_eagerly():
                    self.add_update(update.op)
        along = [-1, *[1] * (rank - 1 - axis)]
        parts = [mean, variance, self.beta, self.gamma]
        if axis < rank - 1:
            parts = [v if v is None else reshape(v, along) for v in parts]
        mean, variance, beta, gamma = parts
        out = nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)
        return cast(out, dtype)


def _flag(training: Any) -> Any:
    """Return True, False or a tensor of bool."""
    if isinstance(training, (bool, int)):
        return bool(training)
    flag = convert_to_tensor(training)
    if as_dtype(flag.dtype) != tf_bool:
        raise TypeError(f"training: expected a bool or a tensor of bool, got {flag!r}")
    return flag if TensorShape(flag.shape).ndims == 0 else reshape(flag, [])


flatten = layer_function(Flatten, "name=None data_format='channels_last'")
dropout = layer_function(
    Dropout, "rate=0.5 noise_shape=None seed=None training=False name=None"
)  # fmt: skip
batch_normalization = layer_function(
    BatchNormalization,
    "axis=-1 momentum=0.99 epsilon=0.001 center=True scale=True beta_initializer=None "
    "gamma_initializer=None moving_mean_initializer=None moving_variance_initializer=None "
    "beta_regularizer=None gamma_regularizer=None beta_constraint=None gamma_constraint=None "
    "training=False trainable=True name=None reuse=None renorm=False renorm_clipping=None "
    "renorm_momentum=0.99 fused=None virtual_batch_size=None adjustment=None",
)


__all__ = public_names(globals(), "Layer")
