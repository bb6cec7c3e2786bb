"""Convolutions and pools on the fakes: see test_kernels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from support.on_fake import RNG, both, close

import pullback as pb

POOLS: list[dict[str, Any]] = [
    {"size": 2},
    {"size": (3, 2), "stride": (2, 1), "padding": "SAME"},
    {"size": 3, "stride": 2, "padding": ((1, 0), (0, 2)), "dilation": 2},
    {"size": 2, "stride": 3},
    {"size": 6, "stride": 1, "padding": "SAME"},
]


def test_pools() -> None:
    for dtype in (np.float32, np.float64):
        x = RNG.normal(size=(3, 9, 8, 5)).astype(dtype)
        few = RNG.integers(-2, 2, x.shape).astype(dtype)  # with equal entries
        odd = x.copy()
        odd[:, 2:4, 3] = np.nan
        odd[0, 5] = -np.inf
        for options in POOLS:
            for a in (x, few, odd):
                both(lambda x, o=options: pb.nn.max_pool(x, **o), a)
                both(lambda x, o=options: pb.grad(
                    lambda x: pb.sum(pb.nn.max_pool(x, **o) ** 2))(x), a)  # fmt: skip
            both(lambda x, o=options: pb.jvp(lambda x: pb.nn.max_pool(x, **o), (x,), (x * 2,)), x)
    both(lambda x: pb.nn.max_pool(x, 2), RNG.integers(-9, 9, (2, 7, 3)).astype(np.int32))
    both(lambda x: pb.nn.max_pool(x, (2, 1, 3)), RNG.integers(-9, 9, (2, 5, 3, 7, 2)))


def test_means_of_windows() -> None:
    for dtype in (np.float32, np.float64):
        x = RNG.uniform(1, 2, (3, 9, 8, 5)).astype(dtype)
        for options in ({"size": 2}, {"size": 3, "stride": 2, "padding": "SAME"}):
            close(lambda x, o=options: pb.nn.avg_pool(x, **o), x, ulps=4)
            close(lambda x, o=options: pb.grad(
                lambda x: pb.sum(pb.nn.avg_pool(x, **o) ** 2))(x), x, ulps=8)  # fmt: skip


def test_convolutions() -> None:
    """Values and gradients in x and in the kernel, whose windows have spacings."""
    for options in (
        {},
        {"stride": 2, "padding": "SAME"},
        {"stride": (1, 3), "padding": ((2, 0), (1, 1))},
        {"dilation": (2, 1), "padding": "SAME"},
        {"groups": 2},
    ):
        for dtype, ulps in ((np.float32, 8), (np.float64, 64)):
            # Positive, since the order of other terms is an error of any size.
            x = RNG.uniform(1, 2, (2, 9, 8, 4)).astype(dtype)
            w = RNG.uniform(1, 2, (3, 2, 4 // options.get("groups", 1), 6)).astype(dtype)

            def loss(x: Any, w: Any, o: Any = options) -> Any:
                return pb.sum(pb.nn.conv2d(x, w, **o) ** 2)

            close(lambda x, w, o=options: pb.nn.conv2d(x, w, **o), x, w, ulps=ulps)
            close(lambda x, w: [pb.grad(loss, 0)(x, w), pb.grad(loss, 1)(x, w)], x, w, ulps=ulps)
    x, w, b = RNG.uniform(1, 2, (2, 11, 3)), RNG.uniform(1, 2, (4, 3, 5)), RNG.uniform(1, 2, 5)
    close(lambda x, w, b: pb.nn.relu(pb.nn.conv1d(x, w, b) - 3), x, w, b, ulps=64)
    both(lambda x, w: pb.nn.conv1d(x, w), RNG.integers(-9, 9, (2, 11, 3)).astype(np.float64),
         RNG.integers(-9, 9, (4, 3, 5)).astype(np.float64))  # fmt: skip
