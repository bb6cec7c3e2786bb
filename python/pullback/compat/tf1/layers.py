# ruff: noqa: F403 (the names of a whole namespace)
"""`tf.layers`: dropout, batch normalisation and flatten; what has a kernel, and pooling, is in
window_layers. A function makes a layer of the class beside it and calls it once."""

from __future__ import annotations

from math import prod
from typing import Any

from . import mode, nn, window_layers
from .array_ops import identity, reshape, shape, transpose
from .array_ops import size as size_of
from .base_layer import Layer as Layer
from .base_layer import layer_function
from .choice_ops import concat, where
from .create import cast, convert_to_tensor
from .dtypes import as_dtype, float64
from .dtypes import bool as tf_bool
from .math_ops import maximum
from .names import absent, public_names
from .random_ops import ones_initializer, zeros_initializer
from .shapes import TensorShape
from .window_layers import *
from .window_layers import Weighted


class Flatten(Layer):
    """All axes but the first as one; with 'channels_first' the second axis comes last there."""

    arguments = "data_format='channels_last' name=None"

    def call(self, inputs: Any) -> Any:
        if self.data_format == "channels_first" and len(inputs.shape) > 2:
            inputs = transpose(inputs, [0, *range(2, len(inputs.shape)), 1])
        dims = TensorShape(inputs.shape).as_list()
        if not dims:
            raise ValueError("flatten: expected a tensor of rank 1 or more")
        if None in dims[1:]:
            return reshape(inputs, concat([shape(inputs)[:1], [-1]], 0))
        return reshape(inputs, [-1 if dims[0] is None else dims[0], prod(dims[1:])])


class Dropout(Layer):
    """While `training`, zeros for a share `rate` of the entries, the others divided by 1 - rate;
    else the inputs. `training` may be a tensor, such as a placeholder."""

    arguments = "rate=0.5 noise_shape=None seed=None name=None"

    def call(self, inputs: Any, training: Any = False) -> Any:
        flag = _flag(training)
        if flag is False:
            return identity(inputs)
        dropped = nn.dropout(inputs, noise_shape=self.noise_shape, seed=self.seed, rate=self.rate)
        return dropped if flag is True else where(flag, dropped, inputs)


class BatchNormalization(Weighted):
    """(inputs - mean) / √(variance + ε) · gamma + beta, over all axes but one.

    While `training` the moments are those of the batch, and two operations in the collection
    `UPDATE_OPS` move `moving_mean` and `moving_variance` towards them: let the training step depend
    on them. Else the moments are the moving ones. `training` may be a tensor. Of four axes, unless
    `fused` is False or the dtype is float64, the moving variance is that of a sample: n / (n - 1)
    times the batch's.
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
            if getattr(self, key):
                raise NotImplementedError(f"batch_normalization: {key} is not part of pullback yet")
        dims = TensorShape(input_shape).as_list()
        (axis,) = self.axis if isinstance(self.axis, (list, tuple)) else [self.axis]
        self._axis, size = axis % len(dims), dims[axis]
        if size is None:
            raise ValueError(f"batch_normalization: axis {axis} of {input_shape} must be known")
        self.gamma = self._weight("gamma", [size], ones_initializer) if self.scale else None
        self.beta = self._weight("beta", [size], zeros_initializer) if self.center else None
        self.moving_mean = self._weight("moving_mean", [size], zeros_initializer, False)
        self.moving_variance = self._weight("moving_variance", [size], ones_initializer, False)
        self.built = True

    def call(self, inputs: Any, training: Any = False) -> Any:
        flag, rank, axis = _flag(training), len(inputs.shape), self._axis
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
        return nn.batch_normalization(inputs, mean, variance, beta, gamma, self.epsilon)


def _flag(training: Any) -> Any:
    """True, False or a tensor of bool."""
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
__all__ = public_names(globals(), "Layer", *window_layers.__all__)
__getattr__ = absent(__name__)
