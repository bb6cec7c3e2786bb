# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.nn`: activations and normalization; cross entropies, convolutions and pooling have their
own files."""

from __future__ import annotations

from typing import Any

import pullback as pb

from ... import _core
from . import rnn_cell as rnn_cell
from ._graph import shape_functions
from ._graph.create import cast, convert_to_tensor, operation, row, scope_of, unary
from ._graph.opdef import like
from ._layers import rnn
from ._layers.rnn import *
from ._ops import convolutions as windows
from ._ops import cross_entropies, math_ops
from ._ops.array_ops import pad, squeeze, stop_gradient, zeros_like
from ._ops.array_ops import shape as shape_of
from ._ops.convolutions import *
from ._ops.convolutions import depth_to_space as depth_to_space
from ._ops.convolutions import space_to_depth as space_to_depth
from ._ops.cross_entropies import *
from ._ops.cross_entropies import log_uniform_candidate_sampler as log_uniform_candidate_sampler
from ._ops.cross_entropies import uniform_candidate_sampler as uniform_candidate_sampler
from ._ops.indexing_ops import concat, gather
from ._ops.math_ops import sigmoid as sigmoid
from ._ops.math_ops import softplus as softplus
from ._ops.math_ops import tanh as tanh
from ._ops.order_ops import in_top_k as in_top_k
from ._ops.order_ops import top_k as top_k
from ._ops.random_ops import dropout as dropout
from .dtypes import as_dtype, float16, float32
from .names import absent, public_names, taking

relu = unary(
    "Relu", _core.relu, "Compute max(x, 0); its gradient at 0 is 0.", "number", "features",
    from_output=lambda g, y: _core.where(y > like(y, 0), g, like(g, 0)),
)  # fmt: skip
leaky_relu = unary(
    "LeakyRelu:leaky_relu", lambda x, alpha: pb.nn.leaky_relu(x, alpha),
    "Compute x where it is positive, else alpha x.", "float", "features alpha=0.2",
)  # fmt: skip


def _last_axis(given: dict[str, Any]) -> None:
    given["axis"] = -1 if given["axis"] is None else int(given["axis"])


def _softmax_slope(g: Any, y: Any, axis: int = -1) -> Any:
    return (g - _core.sum(g * y, axis, True)) * y


softmax, log_softmax = (
    operation(
        type, function, "logits axis=None name=None",
        f"Compute {text} along an axis, without overflow.",
        aliases={"dim": "axis"}, prepare=_last_axis, domain="float", from_output=slope,
        shape=shape_functions.unchanged, fresh=True, public=function.__name__,
    )
    for type, function, text, slope in (
        ("Softmax", _core.softmax, "exp(x) / sum(exp(x))", _softmax_slope),
        ("LogSoftmax", _core.log_softmax, "log(softmax(x))", None),
    )
)  # fmt: skip


@row(
    "BiasAdd", "value bias data_format=None", domain="number", same=True,
    shape=shape_functions.unchanged,
)  # fmt: skip
def bias_add(value: Any, bias: Any, data_format: Any) -> Any:
    """Add a vector along the channels: the last axis, or the second with data_format 'NCHW'."""
    if data_format not in (None, "NHWC", "NCHW"):
        raise ValueError(
            f"bias_add: data_format must be one of 'NHWC', 'NCHW'; got {data_format!r}"
        )
    axis = 1 if data_format == "NCHW" else -1
    if len(bias.shape) != 1 or len(value.shape) < 2 or value.shape[axis] != bias.shape[0]:
        raise ValueError(
            "bias_add: expected a value of rank 2 or more and a bias with one entry for each of "
            f"its channels, got shapes {value.shape} and {bias.shape}"
        )
    if axis == 1:
        bias = _core.reshape(bias, (-1, *(1 for _ in value.shape[2:])))
    return value + bias


@row("L2Loss", "t", domain="float", shape=shape_functions.scalar)
def l2_loss(t: Any) -> Any:
    """Compute half the sum of squares."""
    return _core.sum(_core.square(t)) * like(t, 0.5)


def _relu6_slope(g: Any, y: Any) -> Any:
    return _core.where((y > like(y, 0)) & (y < like(y, 6)), g, like(g, 0))


relu6 = unary(
    "Relu6", lambda x: _core.clip(x, 0, 6),
    "Compute min(max(x, 0), 6); its gradient at 0 and at 6 is 0.", "number", "features",
    from_output=_relu6_slope, slopes={0: lambda g, ins, y: _relu6_slope(g, y)},
)  # fmt: skip
elu = unary(
    "Elu", pb.nn.elu, "Compute x where it is positive, else exp(x) - 1.", "float", "features",
    from_output=lambda g, y: _core.where(y < like(y, 0), g * (y + like(y, 1)), g),
)  # fmt: skip
_ALPHA, _SCALE = 1.6732632423543772, 1.0507009873554805
selu = unary(
    "Selu", pb.nn.selu, "Compute elu, scaled to keep mean 0 and variance 1.", "float",
    "features", from_output=lambda g, y: g * _core.where(
        y < like(y, 0), y + like(y, _SCALE * _ALPHA), like(y, _SCALE)
    ),
)  # fmt: skip
softsign = unary("Softsign", pb.nn.softsign, "Compute x / (1 + |x|).", "float", "features")
_swish = unary("swish_f32:swish", pb.nn.silu, "Compute x sigmoid(x).", "float", "features")


@taking("features")
def swish(features: Any) -> Any:
    """Compute x sigmoid(x)."""
    return _swish(features)


def xw_plus_b(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """Compute x · weights + biases."""
    with scope_of(name or "xw_plus_b", x, weights, biases) as scope:
        return bias_add(math_ops.matmul(x, weights), biases, name=scope)


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None,
        dim: Any = None) -> Any:  # fmt: skip
    """Compute x / √max(sum(x²), ε), along axes."""
    with scope_of(name or "l2_normalize", x) as scope:
        x = convert_to_tensor(x)
        total = math_ops.reduce_sum(
            math_ops.square(x), dim if axis is None else axis, keepdims=True
        )
        return math_ops.multiply(x, math_ops.rsqrt(math_ops.maximum(total, epsilon)), name=scope)


def embedding_lookup(params: Any, ids: Any, partition_strategy: str = "mod",
        name: str | None = None, validate_indices: bool = True,
        max_norm: Any = None) -> Any:  # fmt: skip
    """Return the rows of params at the ids; one table only."""
    tables = list(params) if isinstance(params, (list, tuple)) else [params]
    if len(tables) != 1 or max_norm is not None:
        raise NotImplementedError(
            f"embedding_lookup: expected one table and no max_norm, got {len(tables)} tables and "
            f"max_norm={max_norm!r}"
        )
    return gather(tables[0], ids, name=name or "embedding_lookup")


def moments(x: Any, axes: Any, shift: Any = None, name: str | None = None, keep_dims: Any = None,
        keepdims: Any = None) -> tuple[Any, Any]:  # fmt: skip
    """Compute the mean and the variance over axes; float16 is computed in float32."""
    keep = bool(keepdims if keep_dims is None else keep_dims)
    with scope_of(name or "moments", x):
        x = convert_to_tensor(x)
        dtype = as_dtype(x.dtype)
        if dtype == float16:  # squares overflow there
            x = cast(x, float32)
        axes = axes if axes is None or isinstance(axes, int) else list(axes)
        mean = math_ops.reduce_mean(x, axes, keepdims=True, name="mean")
        squares = math_ops.squared_difference(x, stop_gradient(mean))
        variance = math_ops.reduce_mean(squares, axes, keepdims=True, name="variance")
        if not keep:
            gone = [axes] if isinstance(axes, int) else axes
            mean, variance = squeeze(mean, gone), squeeze(variance, gone)
        return cast(mean, dtype), cast(variance, dtype)


def batch_normalization(x: Any, mean: Any, variance: Any, offset: Any, scale: Any,
        variance_epsilon: float, name: str | None = None) -> Any:  # fmt: skip
    """Compute (x - mean) / √(variance + ε) · scale + offset; scale and offset may be None."""
    with scope_of(name or "batchnorm", x, mean, variance):
        factor = math_ops.rsqrt(variance + variance_epsilon)
        factor = factor if scale is None else factor * scale
        scaled = convert_to_tensor(x) * factor
        return scaled + (-mean * factor if offset is None else offset - mean * factor)


@taking(
    "t=None m=None v=None beta=None gamma=None variance_epsilon=None "
    "scale_after_normalization=None name=None input=None mean=None variance=None"
)
def batch_norm_with_global_normalization(**given: Any) -> Any:
    """Compute `batch_normalization` of `t`; gamma scales it if `scale_after_normalization`."""
    x, mean, variance = (
        given[short] if given[long] is None else given[long]
        for short, long in (("t", "input"), ("m", "mean"), ("v", "variance"))
    )
    scale = given["gamma"] if given["scale_after_normalization"] else None
    epsilon, name = given["variance_epsilon"], given["name"]
    return batch_normalization(x, mean, variance, given["beta"], scale, epsilon, name)


def fused_batch_norm(
    x: Any, scale: Any, offset: Any, mean: Any = None, variance: Any = None,
    epsilon: float = 0.001, data_format: str = "NHWC", is_training: bool = True,
    name: str | None = None, exponential_avg_factor: float = 1.0,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Normalize the channels of images, and return the moments for the averages.

    In training the moments are those of the batch, and the returned variance is unbiased.
    """
    if data_format != "NHWC" or exponential_avg_factor != 1.0:
        raise NotImplementedError(
            "fused_batch_norm: expected data_format='NHWC' and exponential_avg_factor=1.0, got "
            f"{data_format!r} and {exponential_avg_factor!r}"
        )
    with scope_of(name or "FusedBatchNorm", x, scale) as scope:
        x, scale, offset = map(convert_to_tensor, (x, scale, offset))
        dtype = as_dtype(x.dtype)
        x = cast(x, scale.dtype)  # float16 pictures have float32 moments and parameters
        if is_training:
            mean, variance = moments(x, [0, 1, 2])
            count = math_ops.reduce_prod(cast(shape_of(x)[:3], x.dtype))
            unbiased = variance * (count / math_ops.maximum(count - 1.0, 1.0))
        else:
            mean, unbiased = map(convert_to_tensor, (mean, variance))
            variance = unbiased
        y = batch_normalization(x, mean, variance, offset, scale, epsilon, name=scope)
        return cast(y, dtype), mean, unbiased


def relu_layer(x: Any, weights: Any, biases: Any, name: str | None = None) -> Any:
    """Compute relu(x · weights + biases)."""
    with scope_of(name or "relu_layer", x, weights, biases) as scope:
        return relu(xw_plus_b(x, weights, biases), name=scope)


def local_response_normalization(
    input: Any, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Compute x / (bias + alpha · sum of squares of channels within depth_radius)^beta."""
    with scope_of(name or "LRN", input) as scope:
        x = convert_to_tensor(input)
        near = [[0, 0]] * 3 + [[depth_radius, depth_radius]]
        squares, n = pad(math_ops.square(x), near), shape_of(x)[3]
        parts = [squares[..., i : i + n] for i in range(2 * depth_radius + 1)]
        return math_ops.divide(
            x, math_ops.pow(bias + alpha * math_ops.add_n(parts), beta), name=scope
        )


lrn = local_response_normalization


def crelu(features: Any, name: str | None = None, axis: int = -1) -> Any:
    """Join relu(x) and relu(-x) along an axis."""
    with scope_of(name or "CRelu", features) as scope:
        x = convert_to_tensor(features)
        return relu(concat([x, -x], axis), name=scope)


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """Compute the share of elements that are 0."""
    with scope_of(name or "zero_fraction", value) as scope:
        x = convert_to_tensor(value)
        return math_ops.reduce_mean(cast(math_ops.equal(x, zeros_like(x)), "float32"), name=scope)


__all__ = public_names(globals(), "dropout", *cross_entropies.__all__, *rnn.__all__,
                       *windows.__all__)  # fmt: skip
__getattr__ = absent(__name__)
