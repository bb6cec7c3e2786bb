"""`tf.contrib.layers`: layers with variables `weights` and `biases` and the activation relu;
regularizers and initializers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import initializers, layers, nn
from .._graph import mode
from .._graph.create import convert_to_tensor
from .._graph.graph import GraphKeys, get_default_graph, name_scope
from .._layers.base_layer import Layer
from .._ops.array_ops import constant, expand_dims, identity, squeeze
from .._ops.complex_ops import abs as absolute
from .._ops.grouping import control_dependencies
from .._ops.math_ops import add_n, multiply, reduce_sum
from .._variables.variable_scope import get_variable, variable_scope
from ..layers import by_name
from ..names import named, public_names, taking
from .framework import add_arg_scope

_COMMON = (
    "activation_fn='relu' normalizer_fn=None normalizer_params=None "
    "weights_initializer='glorot_uniform' weights_regularizer=None biases_initializer='zeros' "
    "biases_regularizer=None reuse=None variables_collections=None outputs_collections=None "
    "trainable=True scope=None"
)
_FORMATS = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}
_RENAMED = {  # arguments of contrib -> arguments of tf.layers
    "stride": "strides", "rate": "dilation_rate", "weights_initializer": "kernel_initializer",
    "weights_regularizer": "kernel_regularizer", "biases_initializer": "bias_initializer",
    "biases_regularizer": "bias_regularizer", "kernel_size": "kernel_size", "padding": "padding",
    "trainable": "trainable",
}  # fmt: skip


def _getter(collections: Any) -> Callable[..., Any]:
    """Return a getter of variables with contrib's names, in these collections too."""

    def getter(original: Callable[..., Any], name: str, **given: Any) -> Any:
        scope, _, last = name.rpartition("/")
        last = {"kernel": "weights", "bias": "biases"}.get(last, last)
        more = collections.get(last, ()) if isinstance(collections, dict) else collections or ()
        keys = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES]
        given["collections"] = [*keys, *([more] if isinstance(more, str) else more)]
        return original(f"{scope}/{last}", **given)

    return getter


def _result(out: Any, collections: Any, activation_fn: Any = None) -> Any:
    """Apply the activation to a layer's output, and add it to the collections."""
    activation, keys = by_name(activation_fn, nn, "activation_fn"), collections or ()
    out = out if activation is None else activation(out)
    if not mode.executing_eagerly():
        get_default_graph().add_to_collections([keys] if isinstance(keys, str) else keys, out)
    return out


def _weighted(name: str, who: str, cls: type[Layer], own: str, doc: str) -> Any:
    """Define a function of a layer with a kernel, whose variable scope is `who`."""

    @add_arg_scope
    @taking(f"inputs num_outputs {own} {_COMMON}", name, doc)
    def function(**given: Any) -> Any:
        normalizer, reuse = given["normalizer_fn"], given["reuse"]
        if not isinstance(given["num_outputs"], (int, np.integer)):
            raise ValueError(
                f"{name}: expected an integer for num_outputs, got {given['num_outputs']!r:.60}"
            )
        kept = {_RENAMED[k]: v for k, v in given.items() if k in _RENAMED}
        if "data_format" in given:
            kept["data_format"] = _FORMATS[given["data_format"]]
        kept["use_bias"] = normalizer is None and given["biases_initializer"] is not None
        getter = _getter(given["variables_collections"])
        with variable_scope(given["scope"], who, reuse=reuse, custom_getter=getter) as at:
            layer = cls(given["num_outputs"], _scope=at, _reuse=reuse, **kept)
            out = layer(given["inputs"])
            if normalizer is not None:
                out = normalizer(out, **(given["normalizer_params"] or {}))
            return _result(out, given["outputs_collections"], given["activation_fn"])

    return function


fully_connected = _weighted(
    "fully_connected", "fully_connected", layers.Dense, "",
    "Compute activation_fn(inputs · weights + biases) along the last axis.",
)  # fmt: skip
# A keyword, which takes precedence over an arg_scope of fully_connected.
relu = partial(fully_connected, activation_fn=nn.relu)
linear = partial(fully_connected, activation_fn=None)
conv2d = convolution2d = _weighted(
    "conv2d", "Conv", layers.Conv2D,
    "kernel_size stride=1 padding='SAME' data_format=None rate=1",
    "Compute activation_fn(convolution + biases) of images.",
)  # fmt: skip
conv2d_transpose = convolution2d_transpose = _weighted(
    "conv2d_transpose", "Conv2d_transpose", layers.Conv2DTranspose,
    "kernel_size stride=1 padding='SAME' data_format='NHWC'",
    "Compute activation_fn(transposed convolution + biases) of images.",
)  # fmt: skip


def _pooled(name: str, cls: type[Layer], who: str, doc: str) -> Callable[..., Any]:
    def function(
        inputs: Any, kernel_size: Any, stride: Any = 2, padding: str = "VALID",
        data_format: str = "NHWC", outputs_collections: Any = None, scope: str | None = None,
    ) -> Any:  # fmt: skip
        layer = cls(kernel_size, stride, padding, _FORMATS[data_format], name=scope or who)
        return _result(layer(inputs), outputs_collections)

    return add_arg_scope(named(function, name, doc))


max_pool2d = _pooled(
    "max_pool2d", layers.MaxPooling2D, "MaxPool2D", "Compute the largest entries of windows."
)
avg_pool2d = _pooled(
    "avg_pool2d", layers.AveragePooling2D, "AvgPool2D", "Compute the means of windows."
)


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: str | None = None) -> Any:
    """Merge all axes but the first."""
    return _result(layers.Flatten(name=scope or "Flatten")(inputs), outputs_collections)


@add_arg_scope
def dropout(
    inputs: Any, keep_prob: Any = 0.5, noise_shape: Any = None, is_training: Any = True,
    outputs_collections: Any = None, scope: str | None = None, seed: int | None = None,
) -> Any:  # fmt: skip
    """Set the entries that are not kept to zero, if `is_training`."""
    layer = layers.Dropout(1 - keep_prob, noise_shape, seed, name=scope or "Dropout")
    return _result(layer(inputs, training=is_training), outputs_collections)


@add_arg_scope
def batch_norm(
    inputs: Any, decay: float = 0.999, center: bool = True, scale: bool = False,
    epsilon: float = 0.001, activation_fn: Any = None, param_initializers: Any = None,
    param_regularizers: Any = None, updates_collections: Any = GraphKeys.UPDATE_OPS,
    is_training: Any = True, reuse: Any = None, variables_collections: Any = None,
    outputs_collections: Any = None, trainable: bool = True, batch_weights: Any = None,
    fused: bool | None = None, data_format: str = "NHWC", zero_debias_moving_mean: bool = False,
    scope: Any = None,
) -> Any:  # fmt: skip
    """Compute `tf.layers.batch_normalization`, by default without gamma.

    With `updates_collections=None` the output depends on the updates of the moving averages;
    otherwise these are in that collection.
    """
    if batch_weights is not None or zero_debias_moving_mean:
        raise NotImplementedError(
            "batch_norm: expected no batch_weights and no zero_debias_moving_mean, which are not "
            "part of pullback; leave them out"
        )
    x, getter = convert_to_tensor(inputs), _getter(variables_collections)
    flat = len(x.shape) == 2 and fused is not False  # unbiased variance as for four axes
    more = {f"{k}_initializer": v for k, v in (param_initializers or {}).items()}
    more |= {f"{k}_regularizer": v for k, v in (param_regularizers or {}).items()}
    axis = 1 if data_format == "NCHW" and not flat else -1
    with variable_scope(scope, "BatchNorm", reuse=reuse, custom_getter=getter) as at:
        layer = layers.BatchNormalization(
            axis, decay, epsilon, center, scale, fused=fused,
            trainable=trainable, _scope=at, _reuse=reuse, **more,
        )  # fmt: skip
        layer.update_collection = updates_collections
        out = layer(expand_dims(expand_dims(x, 1), 1) if flat else x, training=is_training)
        out = squeeze(out, [1, 2]) if flat else out
        if updates_collections is None and layer.updates:
            with control_dependencies(layer.updates):
                out = identity(out)
        return _result(out, outputs_collections, activation_fn)


@add_arg_scope
def layer_norm(
    inputs: Any, center: bool = True, scale: bool = True, activation_fn: Any = None,
    reuse: Any = None, variables_collections: Any = None, outputs_collections: Any = None,
    trainable: bool = True, begin_norm_axis: int = 1, begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:  # fmt: skip
    """Normalize each example over the axes from `begin_norm_axis`.

    The variables beta and gamma have the shape of the axes from `begin_params_axis`.
    """
    x = convert_to_tensor(inputs)
    size, rank = x.shape[begin_params_axis:], len(x.shape)
    in_range = all(-rank <= axis < rank for axis in (begin_norm_axis, begin_params_axis))
    if not in_range or not size.is_fully_defined():
        raise ValueError(
            f"layer_norm: expected known axes from begin_params_axis={begin_params_axis} and an "
            f"axis begin_norm_axis={begin_norm_axis}, got the shape {x.shape}"
        )
    getter = _getter(variables_collections)
    with variable_scope(scope, "LayerNorm", [x], reuse=reuse, custom_getter=getter):
        beta, gamma = (
            get_variable(name, size, x.dtype, initializer, trainable=trainable) if used else None
            for name, initializer, used in (
                ("beta", initializers.zeros(), center),
                ("gamma", initializers.ones(), scale),
            )
        )
        axes = list(range(begin_norm_axis % rank, rank))
        mean, variance = nn.moments(x, axes, keepdims=True)
        epsilon = 1e-3 if x.dtype == "float16" else 1e-12
        out = nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)
        return _result(out, outputs_collections, activation_fn)


def repeat(inputs: Any, repetitions: int, layer: Any, *args: Any, **kwargs: Any) -> Any:
    """Apply a layer several times, with the scopes `scope_1`, `scope_2`, ..."""
    scope = kwargs.pop("scope", None)
    function = layer.func if isinstance(layer, partial) else layer
    with variable_scope(scope, "Repeat"):
        out = convert_to_tensor(inputs)
        for i in range(repetitions):
            kwargs["scope"] = f"{scope or getattr(function, '__name__', 'repeat')}_{i + 1}"
            out = layer(out, *args, **kwargs)
        return out


# --- initializers and regularizers


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: Any = "float32"
) -> Any:
    """Return Glorot's initializer, uniform or normal."""
    return (initializers.glorot_uniform if uniform else initializers.glorot_normal)(seed, dtype)


xavier_initializer_conv2d = xavier_initializer


def variance_scaling_initializer(
    factor: float = 2.0, mode: str = "FAN_IN", uniform: bool = False, seed: int | None = None,
    dtype: Any = "float32",
) -> Any:  # fmt: skip
    """Draw with the variance factor / n; n is the number 'FAN_IN', 'FAN_OUT' or 'FAN_AVG'."""
    kind = "uniform" if uniform else "truncated_normal"
    return initializers.variance_scaling(factor, mode.lower(), kind, seed, dtype)


def _regularizer(who: str, loss: Callable[[Any], Any], scale: Any) -> Callable[[Any], Any]:
    if isinstance(scale, int) or not scale >= 0:
        raise ValueError(f"{who}: expected a float of 0 or more for scale, got {scale!r}")
    return lambda weights: multiply(scale, loss(weights), name=who) if scale else None


def l1_regularizer(scale: float, scope: str | None = None) -> Callable[[Any], Any]:
    """Return a function: scale times the sum of absolute values; None if scale is 0."""
    return _regularizer("l1_regularizer", lambda w: reduce_sum(absolute(w)), scale)


def l2_regularizer(scale: float, scope: str | None = None) -> Callable[[Any], Any]:
    """Return a function: scale times half the sum of squares; None if scale is 0."""
    return _regularizer("l2_regularizer", nn.l2_loss, scale)


def apply_regularization(regularizer: Callable[[Any], Any], weights_list: Any = None) -> Any:
    """Return the sum of a regularizer over weights, a regularization loss of the graph.

    Default: the weights in the collection `GraphKeys.WEIGHTS`.
    """
    weights = weights_list or get_default_graph().get_collection("weights")
    if not weights:
        raise ValueError("apply_regularization: expected weights, got none")
    with name_scope("get_regularization_penalty", values=weights) as scope:
        found = [loss for loss in map(regularizer, weights) if loss is not None]
        losses = [convert_to_tensor(loss) for loss in found]
        for loss in losses:
            if loss.shape.ndims not in (0, None):
                raise ValueError(
                    "apply_regularization: expected a regularizer that returns scalars, got shape "
                    f"{loss.shape}"
                )
        total = add_n(losses or [constant(0.0)], name=scope)
    get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
    return total


__all__ = public_names(globals(), "linear", "relu")
