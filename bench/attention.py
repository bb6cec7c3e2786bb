"""Attention of many heads, its value and its gradients. The peak of each process is in the report
beside its time: what stores no weights takes no memory for them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Make, Row

Shape = tuple[int, int, int, int]  # batch, heads, length, features of each


def _data(shape: Shape, small: bool) -> list[Any]:
    random = np.random.default_rng(0)
    cut = (2, 2, 6, 4) if small else shape
    return [random.standard_normal(cut, dtype=np.float32) for _ in range(3)]


def _checked(result: Any) -> list[float]:
    results = result if isinstance(result, (list, tuple)) else [result]
    return [float(np.abs(np.asarray(x)).sum()) for x in results]


def by_numpy(shape: Shape, gradient: bool, small: bool) -> Case:
    q, k, v = _data(shape, small)

    def value() -> Any:
        scores = (q @ k.swapaxes(-1, -2)) * np.float32(q.shape[-1] ** -0.5)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return scores @ v

    assert not gradient
    return Case(value, check=_checked)


def by_pullback(composed: bool, shape: Shape, gradient: bool, small: bool) -> Case:
    import pullback as pb

    def formula(q: Any, k: Any, v: Any) -> Any:
        return pb.softmax(q @ pb.matrix_transpose(k) * q.shape[-1] ** -0.5) @ v

    f = formula if composed else pb.nn.scaled_dot_product_attention
    given = [pb.constant(x) for x in _data(shape, small)]
    loss = pb.grad(lambda *xs: pb.sum(pb.square(f(*xs))), argnums=(0, 1, 2))
    step = pb.function(loss if gradient else f)
    return Case(lambda: pb.evaluate(step(*given)), check=_checked)


def by_torch(shape: Shape, gradient: bool, small: bool) -> Case:
    import torch

    f = torch.nn.functional.scaled_dot_product_attention
    given = [torch.tensor(x, requires_grad=gradient) for x in _data(shape, small)]

    def slopes() -> Any:
        return torch.autograd.grad(torch.square(f(*given)).sum(), given)

    return Case(slopes if gradient else lambda: f(*given), check=_checked)


def by_jax(shape: Shape, gradient: bool, small: bool) -> Case:
    import jax

    def f(q: Any, k: Any, v: Any) -> Any:
        scores = jax.numpy.matmul(q, k.swapaxes(-1, -2)) * q.shape[-1] ** -0.5
        return jax.numpy.matmul(jax.nn.softmax(scores), v)

    given = [jax.numpy.asarray(x) for x in _data(shape, small)]
    loss = jax.grad(lambda *xs: jax.numpy.square(f(*xs)).sum(), argnums=(0, 1, 2))
    step = jax.jit(loss if gradient else f)
    return Case(lambda: jax.block_until_ready(step(*given)), check=_checked)


STYLES: dict[tuple[str, str], Callable[..., Case]] = {
    ("pullback", "function"): partial(by_pullback, False),
    ("pullback", "composed"): partial(by_pullback, True),
    ("torch", "eager"): by_torch,
    ("jax", "jit"): by_jax,
}
SHAPES: dict[str, Shape] = {"attention": (8, 8, 512, 64), "attention-long": (2, 8, 2048, 64)}


def _row(shape: Shape, gradient: bool) -> Row:
    make: dict[tuple[str, str], Make] = {
        style: partial(case, shape, gradient) for style, case in STYLES.items()
    }
    if not gradient:
        make["numpy", ""] = partial(by_numpy, shape, gradient)
    about = "gradients of the sum of squares of attention" if gradient else "attention"
    return Row(
        f"{about}, {'×'.join(map(str, shape))} (batch, heads, length, features), float32",
        "µs",
        make,
        slow=frozenset({("torch", "eager"), ("jax", "jit")}),
        goal=Goal(1.1, PEERS),
    )


ROWS = {
    f"{name}{'-grad' if gradient else ''}": _row(shape, gradient)
    for name, shape in SHAPES.items()
    for gradient in (False, True)
}
