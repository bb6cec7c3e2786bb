"""Memory for time: a chain of 64 blocks whose insides are kept for the gradient, or computed again
(`checkpoint` and its like). The peak of each process is in the report beside its time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Row

BLOCKS, BATCH, WIDTH, INNER = 64, 1024, 256, 1024  # each of four arrays inside of a block: 4 MB


def _data(small: bool) -> tuple[Any, list[Any]]:
    blocks, batch, width, inner = (3, 8, 4, 16) if small else (BLOCKS, BATCH, WIDTH, INNER)
    random = np.random.default_rng(0)

    def array(*shape: int) -> Any:
        return random.standard_normal(shape, dtype=np.float32) / np.float32(shape[0] ** 0.5)

    return array(batch, width), [array(*s) for s in [(width, inner), (inner, width)] * blocks]


def _checked(result: Any) -> list[float]:
    loss, gradients = result
    return [float(loss), *(float(np.abs(np.asarray(g)).sum()) for g in gradients[:2])]


def _block(m: Any, x: Any, w1: Any, w2: Any) -> Any:
    h = x @ w1
    return x + (m.tanh(h) * m.sigmoid(h)) @ w2


def _chain(m: Any, block: Any, x: Any, weights: list[Any]) -> Any:
    for w1, w2 in zip(weights[::2], weights[1::2], strict=True):
        x = block(x, w1, w2)
    return m.mean(x * x)


def by_pullback(checkpoint: bool, small: bool) -> Case:
    import pullback as pb

    block = partial(_block, pb)
    again = pb.checkpoint(block) if checkpoint else block
    x, weights = _data(small)
    step = pb.function(pb.value_and_grad(partial(_chain, pb, again, pb.constant(x))))
    given = [pb.constant(w) for w in weights]

    def run() -> Any:
        value, gradients = step(given)
        pb.evaluate(value, gradients)
        return value, gradients

    return Case(run, check=_checked)


def by_torch(checkpoint: bool, small: bool) -> Case:
    import torch
    from torch.utils.checkpoint import checkpoint as recomputed

    block = partial(_block, torch)
    again = partial(recomputed, block, use_reentrant=False) if checkpoint else block
    x, arrays = _data(small)
    weights = [torch.tensor(w, requires_grad=True) for w in arrays]
    start = torch.tensor(x)

    def run() -> Any:
        loss = _chain(torch, again, start, weights)
        return loss.detach(), torch.autograd.grad(loss, weights)

    return Case(run, check=_checked)


def by_jax(checkpoint: bool, small: bool) -> Case:
    import jax

    class Names:
        tanh, sigmoid, mean = jax.numpy.tanh, jax.nn.sigmoid, jax.numpy.mean

    block = partial(_block, Names)
    again = jax.checkpoint(block) if checkpoint else block
    x, arrays = _data(small)
    step = jax.jit(jax.value_and_grad(partial(_chain, Names, again, x)))
    weights = [jax.numpy.asarray(w) for w in arrays]
    return Case(lambda: jax.block_until_ready(step(weights)), check=_checked)


ABOUT = "64 blocks 256-1024-256, tanh · sigmoid, batch 1024: loss and gradients"
STYLES = {
    "pullback": (by_pullback, "function"),
    "torch": (by_torch, "eager"),
    "jax": (by_jax, "jit"),
}
ROWS = {
    f"blocks-{name}": Row(
        f"{ABOUT}, {'insides computed again' if again else 'insides kept'}",
        "µs",
        {(library, style): partial(make, again) for library, (make, style) in STYLES.items()},
        goal=Goal(1.0, PEERS),
        slow=frozenset({("torch", "eager"), ("jax", "jit")}),
    )
    for name, again in (("kept", False), ("again", True))
}
