"""The global step: an integer variable that counts the updates of a graph."""

from __future__ import annotations

from typing import Any

from .array_ops import zeros
from .dtypes import int64
from .graph import Graph, GraphKeys, get_default_graph
from .variables import Variable

__all__ = ["create_global_step", "get_global_step", "get_or_create_global_step"]


def get_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, or None."""
    found = (graph or get_default_graph()).get_collection(GraphKeys.GLOBAL_STEP)
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Any:
    """A new int64 variable that is not trainable; ValueError if the graph has one already."""
    graph = graph or get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError("create_global_step: the graph has a global step already")
    with graph.as_default(), graph.name_scope(None):
        return Variable(
            zeros([], int64),
            trainable=False,
            name="global_step",
            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
        )


def get_or_create_global_step(graph: Graph | None = None) -> Any:
    """The graph's global step, made if there is none."""
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step
