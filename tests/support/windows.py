"""What tests of convolutions and pools share."""

from __future__ import annotations

from typing import Any

import numpy as np

import pullback as pb


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def padded(x: Any, size: Any, stride: Any, padding: Any, dilation: Any, fill: float = 0) -> Any:
    """x (batch, axes …, channels) with what is around it, and how many windows there are."""
    pads, out = [], []
    for n, k, s, d, axis in zip(
        x.shape[1:-1], size, stride, dilation, range(len(size)), strict=True
    ):
        span = (k - 1) * d + 1
        pair = (0, 0)
        if padding == "SAME":
            missing = max((-(-n // s) - 1) * s + span - n, 0)
            pair = (missing // 2, missing - missing // 2)
        elif padding != "VALID":
            pair = padding[axis]
        pads.append(pair)
        out.append((n + sum(pair) - span) // s + 1)
    return np.pad(x, [(0, 0), *pads, (0, 0)], constant_values=fill), out


def same_both_ways(f: Any, *xs: Any) -> None:
    """Forward mode against reverse mode: of f, and of its gradient."""
    ts = [numbers(*x.shape, seed=7) for x in xs]
    loss = lambda *xs: pb.sum(f(*xs) * numbers(*f(*xs).shape, seed=8))  # noqa: E731
    every = tuple(range(len(xs)))
    slopes = pb.grad(loss, argnums=every)
    for function, back in (
        (loss, slopes),
        (lambda *xs: sum(pb.sum(g * g) for g in slopes(*xs)), None),
    ):
        back = back or pb.grad(function, argnums=every)
        _, t = pb.jvp(function, tuple(map(pb.constant, xs)), tuple(map(pb.constant, ts)))
        expected = sum(float(pb.sum(g * t)) for g, t in zip(back(*xs), ts, strict=True))
        np.testing.assert_allclose(float(t), expected, rtol=1e-9, atol=1e-12)
