"""Loops and branches on the fakes, whose bodies run on the device: see test_kernels.py."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest
from support.on_fake import RNG, both, calls, close, on_host, there

import pullback as pb

X = RNG.uniform(0.5, 1, (7, 5))


def test_loops_of_known_length() -> None:
    both(lambda x: pb.fori_loop(0, 5, lambda i, y: y * 0.5 + pb.sqrt(x), x), X)
    both(lambda x: pb.fori_loop(0, 0, lambda i, y: y * 2, x) + 1, X)
    both(lambda x: pb.fori_loop(2, 6, lambda i, y: y + i, x), X)
    # Two carries that change places, and one that stays.
    both(lambda x: pb.fori_loop(0, 5, lambda i, s: (s[1], s[0] + s[2], s[2]),
                                (x, x * 2, x * 3)), X)  # fmt: skip
    both(lambda x, n: pb.fori_loop(0, n, lambda i, y: y * 1.5, x), X, np.array(4))


def test_scans_over_entries() -> None:
    def f(x: Any) -> Any:
        return pb.scan(lambda s, row: (s * 0.5 + row, pb.sin(row) + s), x[0], x)

    both(f, X)
    both(lambda x: pb.scan(lambda s, row: (s * 0.5 + row, s), x[0], x, reverse=True), X)
    both(lambda x: pb.grad(lambda x: pb.sum(f(x)[0] * 2) + pb.sum(f(x)[1] ** 2))(x), X)
    both(lambda x: pb.hessian(lambda x: pb.sum(f(x)[0] ** 3))(x), X[:3, :2].copy())
    with pb.use_device("cuda"):
        long = there(RNG.uniform(0.9, 1, (300, 3)))
        pb.evaluate(pb.grad(lambda x: pb.sum(f(x)[0]))(long))


def test_products_in_loops() -> None:
    w = RNG.uniform(0.1, 0.2, (5, 5))
    for dtype, ulps in ((np.float64, 256), (np.float32, 64)):
        close(lambda x, w: pb.fori_loop(0, 4, lambda i, h: pb.tanh(h @ w + x), x),
              X.astype(dtype), w.astype(dtype), ulps=ulps)  # fmt: skip
        close(lambda x, w: pb.grad(lambda w: pb.sum(
            pb.fori_loop(0, 4, lambda i, h: pb.tanh(h @ w + x), x)))(w),
            X.astype(dtype), w.astype(dtype), ulps=ulps)  # fmt: skip


def test_loops_until_a_condition() -> None:
    both(lambda x: pb.while_loop(lambda y: pb.max(y) < 100, lambda y: y * 2 + 1, x), X)
    both(lambda x: pb.while_loop(lambda y: pb.max(y) < 0, lambda y: y * 2 + 1, x) + 0, X)
    both(lambda x: pb.while_loop(lambda s: s[1] < 9, lambda s: (s[0] * 1.5, s[1] + 2), (x, 0)), X)


def test_branches() -> None:
    for sign in (1, -1):
        both(lambda x: pb.cond(pb.sum(x) > 0, lambda: x * 2, lambda: x - 1), X * sign)
        both(lambda x: pb.grad(lambda x: pb.sum(
            pb.cond(pb.max(x) > 0, lambda: x**3, lambda: x**2)))(x), X * sign)  # fmt: skip
    for k in range(3):
        both(lambda x, k: pb.switch(k, [lambda: x + 1, lambda: x * 2, lambda: pb.exp2(x)]), X,
             np.array(k))  # fmt: skip

    def f(x: Any) -> Any:
        def step(s: Any, row: Any) -> Any:
            return pb.cond(pb.max(s) > 2, lambda: s / row, lambda: s * row * 3), s

        return pb.sum(pb.scan(step, x[0], x)[1] ** 2)

    close(f, X, ulps=16)
    close(lambda x: pb.grad(f)(x), X, ulps=64)


def test_nested_loops() -> None:
    def inner(y: Any) -> Any:
        return pb.fori_loop(0, 3, lambda j, z: z * 0.5 + y, y)

    both(lambda x: pb.fori_loop(0, 4, lambda i, y: inner(y) * 0.25, x), X)
    both(lambda x: pb.grad(lambda x: pb.sum(
        pb.fori_loop(0, 4, lambda i, y: inner(y) * 0.25, x) ** 2))(x), X)  # fmt: skip


def test_gradients_with_recomputed_states() -> None:
    """With memory for a few states, the loop runs again from these."""

    def f(x: Any, memory: Any) -> Any:
        def body(s: Any) -> Any:
            return pb.sqrt(s[0] + x), s[1] + 1

        y, _ = pb.while_loop(lambda s: s[1] < 40, body, (x, 0), memory_limit=memory)
        return pb.sum(y**2)

    for memory in (None, 10_000):
        both(lambda x, m=memory: pb.grad(lambda x: f(x, m))(x), np.tile(X, (8, 1)))


def test_indices_and_draws_in_loops() -> None:
    both(lambda x: pb.fori_loop(0, 7, lambda i, y: y + pb.take(x, i, 0), x[0]), X)
    both(lambda x: pb.fori_loop(0, 7, lambda i, y: y.at[i].add(1.0), x), X)
    both(lambda x: pb.scan(lambda s, k: (s + x[k], pb.argmax(s)), x[0], pb.argsort(x[:, 0])), X)
    ends = []
    for device in ("cuda", "cpu"):
        with pb.use_device(device):
            pb.random.seed(4)
            before = on_host()
            ends.append(pb.fori_loop(0, 5, lambda i, y: y + pb.random.normal((5,), dtype="float64"),
                                     np.zeros(5)).numpy())  # fmt: skip
            assert on_host() == before
    np.testing.assert_array_equal(*ends)
    # A list of integers that changes: its range does not stay known.
    x = there(np.arange(8.0))
    with pb.use_device("cuda"):
        for trips in (3, 4):
            k = pb.fori_loop(0, trips, lambda i, k: k * 2, there(np.array([1, 0])))
            if trips == 3:
                with pytest.raises(IndexError, match="index 8 is out"):
                    x[k].numpy()
            y = pb.fori_loop(0, trips, lambda i, k: k + 2, there(np.array([0, 1])))
            if trips == 3:
                assert x[y].numpy().tolist() == [6, 7]
            else:
                with pytest.raises(IndexError, match="index 8 is out"):
                    x[y].numpy()


def test_errors_in_loops_name_the_operation() -> None:
    with pytest.raises(IndexError, match=r"take: index 7 is out"):
        pb.fori_loop(0, 9, lambda i, y: y + pb.take(there(X), i, 0), there(X)[0]).numpy()


def test_no_copies_to_the_host() -> None:
    x = there(X)
    y = pb.fori_loop(0, 50, lambda i, y: pb.sin(y) + x, x)
    before = [calls(f) for f in ("cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2")]
    y.numpy()
    after = [calls(f) for f in ("cuMemcpyDtoHAsync_v2", "cuMemcpyHtoDAsync_v2")]
    assert after[0] == before[0] + 1 and after[1] <= before[1] + 1


def test_a_loop_with_a_step_without_a_kernel_runs_on_the_host() -> None:
    both(lambda x: pb.fori_loop(0, 3, lambda i, y: pb.linalg.solve(x.T @ x + y, x.T @ x), x.T @ x),
         np.eye(4) + X[:4, :4], host={"loop (library)"})  # fmt: skip


def test_ctrl_c_ends_a_loop() -> None:
    x = there(X[0])
    y = pb.fori_loop(0, 10**9, lambda i, y: y * 0.5 + x, x)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(KeyboardInterrupt):
            y.numpy()
    finally:
        signal.signal(signal.SIGALRM, before)
    np.testing.assert_array_equal((x + 1).numpy(), X[0] + 1)
