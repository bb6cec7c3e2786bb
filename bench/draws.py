"""Random numbers: 10⁷ of the uniform and the normal distribution, 10⁶ of the gamma distribution and
their gradient by its concentration. NumPy by both of its fast bit generators.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Make, Row

CONCENTRATION = 2.5
SIZES = {"uniform": 10**7, "normal": 10**7, "gamma": 10**6}


def _size(kind: str, small: bool) -> int:
    return 20_000 if small else SIZES[kind]


def _moments(result: Any) -> list[float]:
    """What the numbers of every library have in common."""
    values = np.asarray(result, np.float64)
    return [float(np.abs(values).mean()), float(np.sqrt((values * values).mean()))]


def _pullback(kind: str, dtype: str, gradient: bool, small: bool) -> Case:
    import pullback as pb

    size = _size(kind, small)
    pb.random.seed(0)
    a = pb.constant(np.full(size if gradient else (), CONCENTRATION, dtype))

    def draw(a: Any) -> Any:
        if kind == "gamma":
            return pb.random.gamma(a, size)
        return getattr(pb.random, kind)(size, dtype)

    f = pb.function(pb.grad(lambda a: pb.sum(draw(a))) if gradient else draw)

    def run() -> Any:
        result = f(a)
        pb.evaluate(result)
        return result

    return Case(run, check=_moments)


def _numpy(kind: str, dtype: str, bits: str, small: bool) -> Case:
    random = np.random.Generator(getattr(np.random, bits)(0))
    size = _size(kind, small)
    draws: dict[str, Callable[[], Any]] = {
        "uniform": lambda: random.random(size, np.dtype(dtype)),
        "normal": lambda: random.standard_normal(size, np.dtype(dtype)),
        "gamma": lambda: random.standard_gamma(CONCENTRATION, size, np.dtype(dtype)),
    }
    return Case(draws[kind], check=_moments)


def _torch(kind: str, dtype: str, gradient: bool, small: bool) -> Case:
    import torch

    size, of = _size(kind, small), getattr(torch, dtype)
    a = torch.full((size,), CONCENTRATION, dtype=of, requires_grad=gradient)
    draws: dict[str, Callable[[], Any]] = {
        "uniform": lambda: torch.rand(size, dtype=of),
        "normal": lambda: torch.randn(size, dtype=of),
        "gamma": lambda: torch._standard_gamma(a),
    }

    def run() -> Any:
        result = draws[kind]()
        return torch.autograd.grad(result.sum(), a)[0] if gradient else result

    return Case(run, check=lambda result: _moments(result.detach()))


def _jax(kind: str, dtype: str, gradient: bool, small: bool) -> Case:
    import jax
    import jax.numpy as jnp

    size = _size(kind, small)
    a = jnp.full((size,), CONCENTRATION, dtype)
    draws: dict[str, Callable[..., Any]] = {
        "uniform": lambda key, a: jax.random.uniform(key, (size,), dtype),
        "normal": lambda key, a: jax.random.normal(key, (size,), dtype),
        "gamma": lambda key, a: jax.random.gamma(key, a, (size,), dtype),
    }
    f = draws[kind]
    if gradient:
        f = jax.grad(lambda key, a: draws[kind](key, a).sum(), 1)
    f = jax.jit(f)
    keys = iter(jax.random.split(jax.random.key(0), 100_000))
    return Case(lambda: jax.block_until_ready(f(next(keys), a)), check=_moments)


def _row(kind: str, dtype: str, gradient: bool) -> Row:
    make: dict[tuple[str, str], Make] = {
        ("pullback", "function"): partial(_pullback, kind, dtype, gradient),
        ("torch", "eager"): partial(_torch, kind, dtype, gradient),
    }
    if dtype == "float32":  # jax has float64 only where it is all there is
        make["jax", "jit"] = partial(_jax, kind, dtype, gradient)
    if not gradient:
        for bits in ("PCG64", "SFC64"):
            make["numpy", bits] = partial(_numpy, kind, dtype, bits)
    number = "10⁷" if SIZES[kind] == 10**7 else "10⁶"
    about = f"{number} {dtype} of the {kind} distribution"
    return Row(
        about + (", their gradient by its concentration" if gradient else ""),
        "µs",
        make,
        goal=Goal(1.0, (*PEERS, "numpy")),
        tolerance=0.05,
    )


ROWS = {
    f"{kind}-{dtype}" + ("-gradient" if gradient else ""): _row(kind, dtype, gradient)
    for kind in SIZES
    for dtype in ("float32", "float64")
    for gradient in ((False, True) if kind == "gamma" else (False,))
}
