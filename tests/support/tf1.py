"""For the tests of pullback.compat.tf1: a fresh graph for each test, and running it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pullback.compat.tf1 as tf
from pullback.compat.tf1._gradients import backprop
from pullback.compat.tf1._graph import mode, registry


@contextmanager
def graph_of_its_own() -> Iterator[Any]:
    """And the tables of the process as they were."""
    rules, integers = dict(registry._rules), backprop._integer_gradients
    with tf.Graph().as_default() as graph:
        yield graph
    registry._rules.clear()
    registry._rules.update(rules)
    tf.set_integer_gradients(integers)


@pytest.fixture(autouse=True)
def fresh_graph() -> Iterator[Any]:
    with graph_of_its_own() as graph:
        yield graph


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Eager mode; the graph stack is emptied, since a graph on it means graph mode."""
    from pullback.compat.tf1._graph import graph

    monkeypatch.setattr(graph._stack, "graphs", [])
    monkeypatch.setattr(graph, "_global_graph", tf.Graph())
    monkeypatch.setattr(mode, "enabled", True)
    return


def run(fetches: Any, feed: Any = None) -> Any:
    """The values in a new session in which every variable has its initial value."""
    with tf.Session() as session:
        session.run(tf.no_op())
        session.run(tf.global_variables_initializer())
        return session.run(fetches, feed)


def listed(values: Any) -> Any:
    """Arrays and NumPy scalars in a nest as Python lists and numbers."""
    if isinstance(values, (list, tuple)):
        return [listed(v) for v in values]
    return values.tolist() if hasattr(values, "tolist") else values


def slope(y: Any, x: Any) -> Any:
    """The value of dy/dx as a list or a number, None where there is none."""
    (g,) = tf.gradients(y, x)
    return None if g is None else listed(run(g))
