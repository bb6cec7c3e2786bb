# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.layers`: dense layers, dropout, batch normalisation, flatten; convolutions and
pooling are in window_layers. Their variables are those of
`get_variable` in a variable scope of the layer's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import mode, nn, window_layers
from .array_ops import identity, reshape, shape, transpose
from .array_ops import size as size_of
from .choice_ops import concat, where
from .create import cast, convert_to_tensor, scope_of
from .dtypes import as_dtype
from .dtypes import bool as tf_bool
from .graph import GraphKeys
from .layer_scopes import layer_variable, regularized, scope, variables_of
from .math_ops import matmul, maximum
from .names import absent, public_names
from .random_ops import ones_initializer, zeros_initializer
from .shapes import TensorShape
from .window_layers import *


def _refuse(who: str, **given: Any) -> None:
    for key, value in given.items():
        if value is not None:
            raise NotImplementedError(f"{who}: {key} is not part of pullback yet")


def dense(
    inputs: Any, units: int, activation: Callable[[Any], Any] | None = None, use_bias: bool = True,
    kernel_initializer: Any = None, bias_initializer: Any = None, kernel_regularizer: Any = None,
    bias_regularizer: Any = None, activity_regularizer: Any = None, kernel_constraint: Any = None,
    bias_constraint: Any = None, trainable: bool = True, name: str | None = None,
    reuse: Any = None,
) -> Any:  # fmt: skip
    """activation(inputs · kernel + bias) along the last axis, whose length must be known.

    The variables are `kernel` of shape (last axis, units), and `bias` of shape (units,), which
    starts with zeros.

    >>> from pullback.compat import tf1 as tf
    >>> with tf.Graph().as_default():
    ...     y = tf.layers.dense(tf.ones([3, 4]), 2, tf.nn.relu, name="hidden")
    ...     y.shape, [v.name for v in tf.trainable_variables()]
    (TensorShape([Dimension(3), Dimension(2)]), ['hidden/kernel:0', 'hidden/bias:0'])
    """
    x = convert_to_tensor(inputs)
    if not as_dtype(x.dtype).is_floating:
        raise TypeError(f"dense: expected floats, got {x!r}")
    dims = TensorShape(x.shape).as_list()
    if len(dims) < 2 or dims[-1] is None:
        raise ValueError(
            f"dense: expected inputs of rank 2 or more whose last dimension is known, got {x!r}"
        )
    with scope("dense", name, reuse, x):
        kernel, bias = variables_of(
            [dims[-1], units], units if use_bias else None, kernel_initializer, bias_initializer,
            kernel_constraint, bias_constraint, trainable, kernel_regularizer, bias_regularizer,
        )  # fmt: skip
        rows = x if len(dims) == 2 else reshape(x, [-1, dims[-1]])
        out = matmul(rows, kernel)
        out = out if bias is None else nn.bias_add(out, bias)
        if len(dims) != 2:
            out = reshape(out, _with_last(x, dims, units))
        out = out if activation is None else activation(out)
        regularized(activity_regularizer, out)
        return out


def _with_last(x: Any, dims: list[int | None], units: int) -> Any:
    if None not in dims[:-1]:
        return [*dims[:-1], units]
    return concat([shape(x)[:-1], [units]], 0)


def flatten(inputs: Any, name: str | None = None, data_format: str = "channels_last") -> Any:
    """All axes but the first as one; with 'channels_first' the second axis comes last there."""
    x = convert_to_tensor(inputs)
    if data_format == "channels_first" and len(x.shape) > 2:
        x = transpose(x, [0, *range(2, len(x.shape)), 1])
    dims = TensorShape(x.shape).as_list()
    if not dims:
        raise ValueError("flatten: expected a tensor of rank 1 or more")
    if None in dims[1:]:
        with scope_of(name or "flatten", x):
            return reshape(x, concat([shape(x)[:1], [-1]], 0))
    size = 1
    for dim in dims[1:]:
        size *= dim or 0
    with scope_of(name or "flatten", x) as scope:
        return reshape(x, [-1 if dims[0] is None else dims[0], size], name=scope)


def dropout(
    inputs: Any, rate: Any = 0.5, noise_shape: Any = None, seed: int | None = None,
    training: Any = False, name: str | None = None,
) -> Any:  # fmt: skip
    """While `training`, zeros for a share `rate` of the entries, the others divided by 1 - rate;
    else the inputs. `training` may be a tensor, such as a placeholder."""
    x = convert_to_tensor(inputs)
    with scope_of(name or "dropout", x):
        flag = _flag(training)
        if flag is False:
            return identity(x)
        dropped = nn.dropout(x, noise_shape=noise_shape, seed=seed, rate=rate)
        return dropped if flag is True else where(flag, dropped, x)


def batch_normalization(
    inputs: Any, axis: int = -1, momentum: float = 0.99, epsilon: float = 1e-3,
    center: bool = True, scale: bool = True, beta_initializer: Any = None,
    gamma_initializer: Any = None, moving_mean_initializer: Any = None,
    moving_variance_initializer: Any = None, beta_regularizer: Any = None,
    gamma_regularizer: Any = None, beta_constraint: Any = None, gamma_constraint: Any = None,
    training: Any = False, trainable: bool = True, name: str | None = None, reuse: Any = None,
    renorm: bool = False, renorm_clipping: Any = None, renorm_momentum: float = 0.99,
    fused: bool | None = None, virtual_batch_size: Any = None, adjustment: Any = None,
) -> Any:  # fmt: skip
    """(inputs - mean) / √(variance + ε) · gamma + beta, over all axes but the last.

    While `training` the moments are those of the batch, and two operations in the collection
    `UPDATE_OPS` move `moving_mean` and `moving_variance` towards them: let the training step depend
    on them. Else the moments are the moving ones. `training` may be a tensor. Of four axes, unless
    `fused` is False, the moving variance is that of a sample: n / (n - 1) times the batch's.
    """
    _refuse("batch_normalization", renorm=renorm or None, virtual_batch_size=virtual_batch_size,
            adjustment=adjustment)  # fmt: skip
    x = convert_to_tensor(inputs)
    dims = TensorShape(x.shape).as_list()
    if axis not in (-1, len(dims) - 1):
        raise NotImplementedError("batch_normalization: only the last axis yet")
    if dims[-1] is None:
        raise ValueError(f"batch_normalization: the last dimension of {x!r} must be known")
    with scope("batch_normalization", name, reuse, x):

        def made(key: str, initializer: Any, default: Any, trains: bool = trainable,
                 constraint: Any = None, regularizer: Any = None) -> Any:  # fmt: skip
            initial = default() if initializer is None else initializer
            return layer_variable(key, [dims[-1]], initial, trains, constraint, regularizer)

        gamma = made("gamma", gamma_initializer, ones_initializer, trainable, gamma_constraint,
                     gamma_regularizer) if scale else None  # fmt: skip
        beta = made("beta", beta_initializer, zeros_initializer, trainable, beta_constraint,
                    beta_regularizer) if center else None  # fmt: skip
        moving = [
            made("moving_mean", moving_mean_initializer, zeros_initializer, False),
            made("moving_variance", moving_variance_initializer, ones_initializer, False),
        ]
        flag = _flag(training)
        if flag is False:
            mean, variance = moving
        else:
            batch = list(nn.moments(x, list(range(len(dims) - 1))))
            now = [
                b if flag is True else where(flag, b, m) for b, m in zip(batch, moving, strict=True)
            ]
            mean, variance = now
            if len(dims) == 4 and fused is not False:
                n = cast(size_of(x), as_dtype(x.dtype)) / dims[-1]
                sample = batch[1] * (n / maximum(n - 1, 1.0))
                now = [mean, sample if flag is True else where(flag, sample, moving[1])]
            for average, value in zip(moving, now, strict=True):
                update = average.assign_sub((average - value) * (1 - momentum))
                if not mode.executing_eagerly():
                    average.graph.add_to_collection(GraphKeys.UPDATE_OPS, update.op)
        return nn.batch_normalization(x, mean, variance, beta, gamma, epsilon)


def _flag(training: Any) -> Any:
    """True, False or a tensor of bool."""
    if isinstance(training, (bool, int)):
        return bool(training)
    flag = convert_to_tensor(training)
    if as_dtype(flag.dtype) != tf_bool:
        raise TypeError(f"training: expected a bool or a tensor of bool, got {flag!r}")
    return flag


__all__ = public_names(globals(), *window_layers.__all__)
__getattr__ = absent(__name__)
