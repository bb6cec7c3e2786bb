"""`tf.gradients` in a `tf.function` of eager mode, whose tensors are the main namespace's."""

from __future__ import annotations

from typing import Any

import pullback

from ...._typing import Unconnected
from .._graph.graph import _stack as stack
from .._graph.tensor import as_core, as_eager


def gradients_in_function(
    groups: list[list[Any]], weights: list[Any] | None, unconnected: Unconnected
) -> list[Any]:
    """Differentiate in a `tf.function`; the groups are ys, xs and the stopped tensors."""
    if not stack.in_function:
        raise RuntimeError("gradients: not possible in eager mode; use tf.GradientTape")
    ys, xs, stops = ([as_core(x) for x in group] for group in groups)
    given = None if weights is None else [as_core(g) for g in weights]
    answers = pullback.gradients(
        ys, xs, given, stop_gradients=stops, unconnected_gradients=unconnected
    )
    return [None if g is None else as_eager(g) for g in answers]
