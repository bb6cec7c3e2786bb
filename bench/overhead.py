"""The cost of an operation on three floats: everything but the arithmetic."""

from __future__ import annotations

from .case import Case, Row

VALUES = [1.0, 2.0, 3.0]


def pullback_add() -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("a + b", {"a": a, "b": b})


def pullback_look() -> Case:
    import pullback as pb

    a, b = pb.Variable(VALUES).read(), pb.Variable(VALUES).read()
    return Case("evaluate(a + b)", {"a": a, "b": b, "evaluate": pb.evaluate})


def torch_add() -> Case:
    import torch

    a, b = (torch.tensor(VALUES, requires_grad=True) for _ in range(2))
    return Case("a + b", {"a": a, "b": b})


def jax_add() -> Case:
    import jax.numpy as jnp

    a, b = jnp.array(VALUES), jnp.array(VALUES)
    return Case("(a + b).block_until_ready()", {"a": a, "b": b})


ROWS = {
    "op": Row(
        "a + b on 3 floats from Python, tracked",
        "µs",
        {
            ("pullback", "a + b"): pullback_add,
            ("pullback", "evaluate(a + b)"): pullback_look,
            ("torch", "a + b"): torch_add,
            ("jax", "a + b"): jax_add,
        },
    )
}
