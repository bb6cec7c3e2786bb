"""Random programs with structural zeros, against the gradient of the safe rewrite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pullback as pb


@dataclass
class Part:
    """A tensor, whether each of its entries depends on an unsafe one, and how to make it of x."""

    taint: np.ndarray
    make: Callable[[Any], Any]


UNSAFE: list[Callable[[Any], Any]] = [
    pb.log,
    pb.sqrt,
    lambda x: 1.0 / x,
    lambda x: x**0.5,
    lambda x: x**-1.5,
    lambda x: pb.log(x) * pb.sqrt(x),
    lambda x: 1.0 / pb.sqrt(x),
]
SMOOTH: list[Callable[[Any], Any]] = [
    pb.tanh,
    pb.sin,
    lambda x: 0.5 * x,
    lambda x: -x,
    lambda x: x * x,
    lambda x: pb.sigmoid(x) + x,
]
KINKS: list[Callable[[Any], Any]] = [
    pb.relu,
    pb.abs,
    lambda x: pb.clip(x, -0.5, 1.0),
    lambda x: pb.maximum(x, 0.1),
]


class Maker:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        shape = tuple(self.rng.integers(2, 5, size=self.rng.integers(1, 4)))
        bad = self.rng.random(shape) < 0.4
        self.x = np.where(
            bad,
            self.rng.choice([0.0, -1.0, -np.inf, np.nan], shape),
            self.rng.uniform(0.5, 2.0, shape),
        )
        self.bad = bad
        self.safe = np.where(bad, 1.0, self.x)
        self.start = [Part(bad, lambda x, f=f: f(x)) for f in self.choose(UNSAFE, 2)]

    def choose(self, items: list[Any], n: int) -> list[Any]:
        return [items[i] for i in self.rng.integers(0, len(items), n)]

    def weights(self, shape: tuple[int, ...]) -> np.ndarray:
        return self.rng.uniform(-1.0, 1.0, shape)

    def step(self, p: Part) -> Part:
        shape = p.taint.shape
        kinds = ["smooth", "weigh", "choose", "flag", "reshape", "kink"]
        if shape:
            kinds += ["sum", "slice", "take", "transpose", "concat", "set", "maximum", "spread"]
            kinds += ["product", "product", "square product", "softmax", "logsumexp"]
        kind = self.rng.choice(kinds)
        make, taint = p.make, p.taint
        if "product" in kind:
            return self.product(p, kind)
        if kind == "kink":
            f = self.choose(KINKS, 1)[0]
            return Part(taint, lambda x: f(make(x)))
        if kind == "smooth":
            f = self.choose(SMOOTH, 1)[0]
            return Part(taint, lambda x: f(make(x)))
        if kind == "weigh":
            w = self.weights(shape)
            return Part(taint, lambda x: make(x) * w)
        if kind == "choose":
            m = self.mask(shape)
            other = self.weights(shape)
            return Part(taint & m, lambda x: pb.where(m, make(x), other))
        if kind == "flag":
            flag = bool(self.rng.random() < 0.7)
            return Part(taint & flag, lambda x: pb.where(flag, make(x), 0.25))
        if kind == "reshape":
            return Part(taint.reshape(-1), lambda x: pb.reshape(make(x), (-1,)))
        axis = int(self.rng.integers(0, len(shape)))
        n = shape[axis]
        if kind == "sum":
            keep = bool(self.rng.random() < 0.5)
            return Part(
                taint.any(axis=axis, keepdims=keep),
                lambda x: pb.sum(make(x), axis=axis, keepdims=keep),
            )
        if kind == "maximum":
            return Part(taint.any(axis=axis), lambda x: pb.max(make(x), axis=axis))
        if kind == "logsumexp":
            return Part(taint.any(axis=axis), lambda x: pb.logsumexp(make(x), axis=axis))
        if kind == "softmax":
            rows = np.broadcast_to(taint.any(axis=axis, keepdims=True), shape)
            f = self.choose([pb.softmax, pb.log_softmax], 1)[0]
            return Part(rows, lambda x: f(make(x), axis=axis))
        if kind == "slice":
            low = int(self.rng.integers(0, n))
            at = (slice(None),) * axis + (slice(low, None, int(self.rng.integers(1, 3))),)
            return Part(taint[at], lambda x: make(x)[at])
        if kind == "take":
            rows = self.rng.integers(0, n, self.rng.integers(1, 4))
            return Part(np.take(taint, rows, axis), lambda x: pb.take(make(x), rows, axis=axis))
        if kind == "transpose":
            return Part(taint.T, lambda x: pb.transpose(make(x)))
        if kind == "concat":
            return Part(
                np.concatenate([taint, taint], axis),
                lambda x: pb.concat([make(x), 2.0 * make(x)], axis=axis),
            )
        if kind == "set":
            at = (slice(None),) * axis + (0,)
            left = taint.copy()
            left[at] = False
            return Part(left, lambda x: make(x).at[at].set(0.5))
        rows = taint.any(axis=axis, keepdims=True)  # spread
        w = self.weights(shape)
        return Part(
            np.broadcast_to(rows, shape), lambda x: pb.sum(make(x), axis=axis, keepdims=True) + w
        )

    def product(self, p: Part, kind: str) -> Part:
        """With weights on either side, or with itself turned."""
        make, taint = p.make, p.taint
        if kind == "square product" and taint.ndim > 1:
            a, b = taint[..., :, :, None], np.swapaxes(taint, -1, -2)[..., None, :, :]
            return Part(
                (a | b).any(axis=-2),
                lambda x: (lambda u: u @ pb.matrix_transpose(pb.tanh(u)))(make(x)),
            )
        n = taint.shape[-1]
        w = self.weights((n, 3))
        if taint.ndim > 1 and self.rng.random() < 0.5:
            w = self.weights((2, taint.shape[-2]))
            rows = taint.any(axis=-2, keepdims=True)
            return Part(np.repeat(rows, 2, axis=-2), lambda x: w @ make(x))
        rows = taint.any(axis=-1)
        return Part(np.stack([rows] * 3, axis=-1), lambda x: make(x) @ w)

    def mask(self, shape: tuple[int, ...]) -> np.ndarray:
        narrow = tuple(1 if self.rng.random() < 0.3 else n for n in shape)
        return np.broadcast_to(self.rng.random(narrow) < 0.6, shape)

    def program(self) -> Callable[[Any], Any]:
        """A sum of branches, each chosen only where no unsafe entry is behind it."""
        terms = []
        for _ in range(int(self.rng.integers(1, 4))):
            part = self.choose(self.start, 1)[0]
            for _ in range(int(self.rng.integers(0, 4))):
                part = self.step(part)
            mask = self.mask(part.taint.shape) & ~part.taint
            w = self.weights(part.taint.shape)
            terms.append((part, mask, w, self.rng.random() < 0.5))

        def run(x: Any) -> Any:
            total: Any = 0.0
            for part, mask, w, outside in terms:
                y = pb.where(mask, part.make(x), 0.0)
                total = total + (pb.sum(y * w) if outside else pb.sum(y * y))
            return total

        return run


@pytest.mark.parametrize("block", range(8))
def test_random_branches(block: int) -> None:
    for seed in range(block * 25, block * 25 + 25):
        maker = Maker(seed)
        f = maker.program()
        v = maker.weights(maker.x.shape)

        def both(x: Any, f: Any = f, v: Any = v) -> Any:
            (g,) = pb.gradients(f(x), [x], unconnected_gradients="zero")
            (h,) = pb.gradients(pb.sum(g * v), [x], unconnected_gradients="zero")
            return g, h

        expected = [
            np.where(maker.bad, 0.0, part.numpy()) for part in both(pb.Variable(maker.safe))
        ]
        for style in (both, pb.function(both)):
            for got, want in zip(style(pb.Variable(maker.x)), expected, strict=True):
                np.testing.assert_allclose(
                    got.numpy(), want, rtol=1e-12, atol=1e-13, err_msg=f"seed {seed}"
                )
