"""What all layers share: their variable scope, their kernel and bias, their regularizers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import mode
from .dtypes import as_dtype
from .graph import GraphKeys, get_default_graph
from .random_ops import zeros_initializer
from .variable_scope import get_variable, get_variable_scope, variable_scope

__all__ = ["regularized", "scope", "variables_of"]


@contextmanager
def scope(who: str, name: str | None, reuse: Any, x: Any) -> Iterator[None]:
    """A variable scope of the layer's name."""
    with variable_scope(name, default_name=who, reuse=reuse, dtype=as_dtype(x.dtype)):
        yield


def variables_of(
    shape: list[Any], bias_length: int | None, kernel_initializer: Any, bias_initializer: Any,
    kernel_constraint: Any, bias_constraint: Any, trainable: bool, kernel_regularizer: Any,
    bias_regularizer: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """The variables `kernel`, and `bias`, which starts with zeros, or None."""
    kernel = layer_variable("kernel", shape, kernel_initializer, trainable, kernel_constraint,
                            kernel_regularizer)  # fmt: skip
    if bias_length is None:
        return kernel, None
    initial = zeros_initializer() if bias_initializer is None else bias_initializer
    return kernel, layer_variable("bias", [bias_length], initial, trainable, bias_constraint,
                                  bias_regularizer)  # fmt: skip


def layer_variable(
    key: str, shape: list[Any], initializer: Any, trainable: bool, constraint: Any,
    regularizer: Any,
) -> Any:  # fmt: skip
    """A variable of the layer; its regularizer counts once, when it is made."""
    known = f"{get_variable_scope().name}/{key}" in get_default_graph().variable_store
    made = get_variable(key, shape, initializer=initializer, trainable=trainable,
                        constraint=constraint)  # fmt: skip
    if not known:
        regularized(regularizer, made)
    return made


def regularized(regularizer: Any, x: Any) -> None:
    """Collects the loss that a regularizer gives."""
    if regularizer is None or mode.executing_eagerly():
        return
    loss = regularizer(x)
    if loss is not None:
        loss.graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
