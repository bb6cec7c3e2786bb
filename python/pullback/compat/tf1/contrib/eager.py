"""`tf.contrib.eager`: gradients with respect to the variables that a function reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._gradients.tape import GradientTape as GradientTape
from .._graph.mode import enable_eager_execution as enable_eager_execution
from .._graph.mode import executing_eagerly as executing_eagerly
from .._layers.base_layer import Layer
from .._variables.variables import Variable as Variable
from ..names import public_names


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes f and its gradients by the variables it reads.

    Its result is the value, and the pairs of gradient and trainable variable in the order of their
    creation.

    Raises
    ------
    ValueError
        If f returns None or reads no trainable variable.
    """

    def function(*args: Any, **keywords: Any) -> tuple[Any, list[tuple[Any, Any]]]:
        with GradientTape() as tape:
            value = f(*args, **keywords)
        variables = tape.watched_variables()
        if value is None or not variables:
            got = "None" if value is None else "a function that reads none"
            raise ValueError(
                "implicit_gradients: expected a loss that depends on trainable variables for the "
                f"value of f, got {got}; return it"
            )
        return value, list(zip(tape.gradient(value, variables), variables, strict=True))

    return function


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `implicit_value_and_gradients` without the value, for `apply_gradients`."""
    function = implicit_value_and_gradients(f)
    return lambda *args, **keywords: function(*args, **keywords)[1]


class Iterator:
    """An iterator over a Dataset, in eager mode."""

    def __init__(self, dataset: Any) -> None:
        self._entries = iter(dataset)

    def next(self) -> Any:
        """Return the next element; StopIteration after the last one."""
        return next(self._entries)

    __next__ = next

    def __iter__(self) -> Iterator:
        return self


class Network(Layer):
    """A model whose `call` uses layers; their variables belong to it."""

    arguments = "name=None"

    def track_layer(self, layer: Any) -> Any:
        """Return the layer."""
        return layer


__all__ = public_names(
    globals(), "GradientTape", "Variable", "enable_eager_execution", "executing_eagerly"
)  # fmt: skip
