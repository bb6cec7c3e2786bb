"""What small things cost: an operation on three floats, a tensor made of Python's or NumPy's
numbers, a Session.run of one operation. Everything but the arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Make, Row

VALUES = [1.0, 2.0, 3.0]


def pullback_add(small: bool) -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("a + b", {"a": a, "b": b})


def pullback_look(small: bool) -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("evaluate(a + b)", {"a": a, "b": b, "evaluate": pb.evaluate})


def add_while_debugging(debug: bool, small: bool) -> float:
    """µs of an operation that notes its line, or does not: a process of its own, as it stays on."""
    from timeit import repeat

    import pullback as pb

    pb.set_debug(debug)
    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    loops = 1000 if small else 200_000
    return 1e6 * min(repeat("a + b", globals={"a": a, "b": b}, number=loops, repeat=3)) / loops


def torch_add(small: bool) -> Case:
    import torch

    a, b = (torch.tensor(VALUES, requires_grad=True) for _ in range(2))
    return Case("a + b", {"a": a, "b": b})


def jax_add(small: bool) -> Case:
    import jax.numpy as jnp

    a, b = jnp.array(VALUES), jnp.array(VALUES)
    return Case("(a + b).block_until_ready()", {"a": a, "b": b})


def tensorflow_add(small: bool) -> Case:
    import tensorflow as tf

    return Case("a + b", {"a": tf.constant(VALUES), "b": tf.constant(VALUES)})


def binding(small: bool) -> Case:
    """An operator of a type written in C, which makes an object."""
    return Case("a + b", {"a": timedelta(1), "b": timedelta(2)})


MADE_OF: dict[str, tuple[str, Callable[[], Any]]] = {
    "list": ("a list of 3 floats", lambda: VALUES),
    "lists": (
        "100 lists of 10 floats",
        lambda: [[float(i + j) for j in range(10)] for i in range(100)],
    ),
    "numpy-scalar": ("a NumPy scalar", lambda: np.float32(1.5)),
    "array": ("an array of 3 float32", lambda: np.array(VALUES, np.float32)),
}


def conversion(library: str, values: Callable[[], Any], small: bool) -> Case:
    make: Any
    if library == "pullback":
        import pullback as pb

        make = pb.constant
    elif library == "torch":
        from torch import tensor as make
    elif library == "jax":
        from jax.numpy import asarray as make
    else:
        from tensorflow import constant as make
    return Case("make(values)", {"make": make, "values": values()})


def conversion_row(what: str, values: Callable[[], Any]) -> Row:
    make: dict[tuple[str, str], Make] = {
        (library, ""): partial(conversion, library, values)
        for library in ("pullback", "torch", "jax", "tensorflow")
    }
    return Row(f"a tensor of {what}", "µs", make, goal=Goal(1.0, PEERS, ""))


def session_run(library: str, small: bool) -> Case:
    tf: Any
    if library == "pullback":
        import pullback.compat.tf1 as tf
    else:
        import tensorflow.compat.v1 as tf
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [3])
        y = x + 1.0
        session = tf.Session(graph=graph)
    feed = {x: np.array(VALUES, np.float32)}
    return Case(lambda: session.run(y, feed_dict=feed), check=lambda y: [float(sum(y))])


def pipeline(library: str, batch_first: bool, small: bool) -> Case:
    """A batch of a dataset that is shuffled, scaled and repeated."""
    tf: Any
    if library == "pullback":
        import pullback.compat.tf1 as tf
    else:
        import tensorflow.compat.v1 as tf
    count, size = (20, 4) if small else (10_000, 28 * 28)
    images = np.random.default_rng(0).integers(0, 256, (count, size)).astype(np.uint8)
    graph = tf.Graph()
    with graph.as_default():
        data = tf.data.Dataset.from_tensor_slices((images, np.arange(count))).shuffle(count)
        steps = [
            lambda data: data.map(lambda x, y: (tf.cast(x, tf.float32) / 255.0, y)),
            lambda data: data.batch(10 if small else 100),
        ]
        for step in reversed(steps) if batch_first else steps:
            data = step(data)
        batch = tf.data.make_one_shot_iterator(data.repeat().prefetch(1)).get_next()
        session = tf.Session(graph=graph)
    return Case(lambda: session.run(batch), check=lambda batch: [float(x.size) for x in batch])


def pipeline_row(about: str, batch_first: bool) -> Row:
    make: dict[tuple[str, str], Make] = {
        (library, "Session.run"): partial(pipeline, library, batch_first)
        for library in ("pullback", "tensorflow")
    }
    return Row(about, "µs", make, goal=Goal(1.0, PEERS, "Session.run"))


ROWS = {
    **{name: conversion_row(what, values) for name, (what, values) in MADE_OF.items()},
    "session": Row(
        "Session.run of x + 1, 3 floats fed",
        "µs",
        {
            (library, "Session.run"): partial(session_run, library)
            for library in ("pullback", "tensorflow")
        },
        goal=Goal(1.0, PEERS, "Session.run"),
    ),
    "dataset": pipeline_row("tf.data: a batch of 100 images, shuffled, scaled one by one", False),
    "dataset-batched": pipeline_row("tf.data: a batch of 100 images, shuffled, scaled", True),
    "op": Row(
        "a + b on 3 floats from Python, tracked",
        "µs",
        {
            ("pullback", "a + b"): pullback_add,
            ("pullback", "evaluate(a + b)"): pullback_look,
            ("torch", "a + b"): torch_add,
            ("jax", "a + b"): jax_add,
            ("tensorflow", "a + b"): tensorflow_add,
            ("limit", "two timedeltas"): binding,
        },
        goal=Goal(0.3, style="a + b"),
    ),
    "op-debug": Row(
        "a + b on 3 floats from Python, tracked, in the same loop",
        "µs",
        {
            ("pullback", f"debugging {name}"): partial(add_while_debugging, name == "on")
            for name in ("off", "on")
        },
        repeat="process",
    ),
}
