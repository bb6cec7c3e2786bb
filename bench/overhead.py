"""The cost of an operation on three floats: everything but the arithmetic."""

from __future__ import annotations

from datetime import timedelta

from .case import Case, Goal, Row

VALUES = [1.0, 2.0, 3.0]


def pullback_add(small: bool) -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("a + b", {"a": a, "b": b})


def pullback_look(small: bool) -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("evaluate(a + b)", {"a": a, "b": b, "evaluate": pb.evaluate})


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


ROWS = {
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
    )
}
