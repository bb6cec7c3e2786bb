"""`tf.keras.backend`: the functions that gradient programs use."""

from __future__ import annotations

from typing import Any

from .._gradients.backprop import gradients as _gradients
from .._ops.array_ops import stop_gradient as _stop_gradient
from .._ops.math_ops import round as round

__all__ = ["gradients", "round", "stop_gradient"]


def stop_gradient(variables: Any) -> Any:
    """Apply `tf.stop_gradient` to a tensor, or to each tensor of a list."""
    if isinstance(variables, (list, tuple)):
        return [_stop_gradient(v) for v in variables]
    return _stop_gradient(variables)


def gradients(loss: Any, variables: Any) -> list[Any]:
    """Alias of `tf.gradients`."""
    return _gradients(loss, variables)
