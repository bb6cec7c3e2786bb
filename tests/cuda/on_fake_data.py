"""Steps that move, order and draw entries, on the fakes: see test_kernels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.on_fake import ODD, RNG, both, close, on_host, same_bits, there

import pullback as pb
from pullback import _core


def test_gathers() -> None:
    for dtype in ("float64", "float32", "float16", "int8", "complex64", "bool"):
        x = (RNG.normal(size=(7, 5, 6)) * 9).astype(dtype)
        for axis in (0, 1, 2, -1):
            k = RNG.integers(-5, 5, 11)
            both(lambda x, k, axis=axis: pb.take(x, k, axis), x, k)
    x = RNG.normal(size=(50, 3))
    k = RNG.integers(-50, 50, (4, 6)).astype(np.int32)
    both(lambda x, k: x[k], x, k)
    both(lambda x, k: x.T[:, k] + x[::-1].T[:, k], x, k)
    both(lambda x, k: pb.take_along_axis(x, k, 0), x, k[:, :3].copy())
    # Positions with gaps are not checked by a kernel yet.
    both(lambda x, k: pb.take_along_axis(x, k[:, :3], 0), x, k, host={"tiles (wrap_index)"})
    assert pb.take(there(x), there(k[0, :0]), 0).numpy().shape == (0, 3)


def test_cross_entropy_with_labels() -> None:
    """Groups that take or place one entry of each row; labels are checked first."""

    def loss(x: Any, k: Any) -> Any:
        return pb.mean(pb.sparse_softmax_cross_entropy(x, k))

    for shape in ((20, 7), (300, 33), (2, 5, 40), (3, 9000)):
        for dtype in (np.float32, np.float64):
            # Positive, since the order of other terms is an error of any size.
            x = RNG.uniform(1, 2, shape).astype(dtype)
            for index in (np.int32, np.int64):
                k = RNG.integers(0, shape[-1], shape[:-1]).astype(index)
                close(loss, x, k, ulps=64)
                close(lambda x, k: pb.grad(lambda x: loss(x, k))(x), x, k, ulps=64)
                close(lambda x, k: [loss(x, k), pb.grad(lambda x: loss(x, k))(x)], x, k, ulps=64)
    x, k = RNG.normal(size=(4, 6, 5)), RNG.integers(-5, 5, (4, 6, 1))
    both(lambda x, k: pb.take_along_axis(x * 2, k, 2), x, k)
    both(lambda x, k: pb.grad(lambda x: pb.sum(pb.take_along_axis(x, k, 2) ** 2))(x), x, k)
    x = there(np.ones((3, 4), np.float32))
    w = there(np.ones((2, 4), np.float32))
    for wrong in (4, -1):
        k = there(np.array([0, wrong, 7]))
        before = on_host()
        with pytest.raises(IndexError, match=f"label {wrong} is out of range for 4 classes"):
            pb.evaluate(pb.grad(lambda x, k=k: loss(x, k))(x))
        with pytest.raises(IndexError, match=f"label {wrong} is out of range for 4 classes"):
            pb.evaluate(loss(x[:, :2] @ w, k))
        assert on_host() == before, on_host()


def test_scatters_add_in_the_order_of_the_list() -> None:
    for dtype in (np.float64, np.float32, np.int32, np.int64, np.uint64):
        for n in (1, 15, 16, 17, 100, 3000):
            k = RNG.integers(-40, 40, n)
            for shape in ((40,), (40, 3)):
                x = (RNG.normal(size=shape) * 99).astype(dtype)
                y = (RNG.normal(size=(n, *shape[1:])) * 1e3).astype(dtype)
                both(lambda x, k, y: [x.at[k].add(y), x.at[k].max(y), x.at[k].min(y),
                                      x.at[k].set(y), x.at[k].multiply(y)], x, k, y)  # fmt: skip
    x, k = np.zeros((3, 4), bool), np.array([1, 1, 2])
    both(lambda x, k: x.at[k].set(True), x, k)
    x, k = RNG.normal(size=(5, 9)).astype(np.float16), RNG.integers(0, 9, 30)
    both(lambda x, k: pb.where(k[0] >= 0, x, x).at[:, k].set(1), x, k)


def test_scatters_of_many_entries_into_one() -> None:
    """Runs of one position that are longer than a block of 64 and one of 4096 entries."""
    for n in (64, 200, 14_000):
        k = np.sort(RNG.choice(np.array([0, 0, 0, 0, 0, 0, 1, 5]), n))
        k = np.concatenate([k, np.full(70, 6), [2]])
        for dtype in (np.int64, np.int32, np.uint64, np.uint8, bool, np.float64):
            for columns in ((), (3,)):
                odd = RNG.choice(np.array(ODD), (len(k), *columns))
                y = RNG.integers(0, 200, odd.shape).astype(dtype) if dtype != np.float64 else odd
                x = np.ones((8, *columns), dtype)
                both(lambda x, k: x.at[k].set(y), x, k)  # noqa: B023
                if dtype == np.uint8:
                    continue
                both(lambda x, k, y: [x.at[k].max(y), x.at[k].min(y)], x, k, y)
                both(lambda x, k, y: [x.at[k].add(y), x.at[k].multiply(y)], x, k, y)
    y = -np.ones(300)
    y[[70, 140, 200]] = -0.0, 0.0, -0.0  # the first of equals
    both(lambda x, k, y: [x.at[k].max(y), x.at[k].min(-y)], np.full(2, -1.0), np.zeros(300, int), y)


def test_gradients_of_gathers() -> None:
    """The scatters of embeddings, along each axis, with repeated rows."""
    x, k = RNG.normal(size=(30, 8)), RNG.integers(-30, 30, (5, 20))
    for dtype in (np.float32, np.float64):
        a = x.astype(dtype)
        both(lambda x, k: pb.grad(lambda x: pb.sum(pb.sin(x[k]) ** 2))(x), a[:, 0], k)
        both(lambda x, k: pb.grad(lambda x: pb.sum(pb.sin(x.T[:, k]) ** 2))(x), a, k)
        both(lambda x, k: pb.grad(lambda x: pb.sum(x[k] * x[k, :1]))(x), a, k)
        both(lambda x, k: pb.grad(lambda y: pb.sum(x.at[k[0]].set(y) ** 2))(x[:20]), a, k)


def test_random_draws() -> None:
    """The same bits as on the processor, for each size and dtype."""
    for size in ((1,), (2,), (7,), (300, 3), (9001,)):
        for dtype in ("float32", "float64", "float16"):
            for draw in (
                lambda s, d: pb.random.uniform(s, dtype=d),
                lambda s, d: pb.random.normal(s, dtype=d),
                lambda s, d: pb.random.exponential(s, dtype=d),
            ):
                ends = []
                for device in ("cuda", "cpu"):
                    before = on_host()
                    with pb.use_device(device):
                        pb.random.seed(len(size) + 5)
                        ends.append([draw(size, dtype).numpy() for _ in range(2)])
                    assert on_host() == before, on_host()
                for a, b in zip(*ends, strict=True):
                    same_bits(a, b)
        ends = []
        for device in ("cuda", "cpu"):
            with pb.use_device(device):
                pb.random.seed(3)
                low = np.array([-(2**62), 0, 5, -(2**63)])[:, None]
                high = np.array([2**62, 1, 5 + 2**40, 2**63 - 1])[:, None]
                ends.append([pb.random.integers(low, high, (4, size[0])).numpy(),
                             pb.random.integers(0, 10, size).numpy()])  # fmt: skip
        for a, b in zip(*ends, strict=True):
            same_bits(a, b)


def test_random_draws_of_the_gamma_distribution() -> None:
    few = np.array([0.0, 1e-300, 1e-3, 0.5, 0.999, 1.0, 1.5, 10.0, 1e10, np.inf, -1.0, np.nan])
    for dtype in ("float64", "float32"):
        for a in (np.tile(few, 40)[:, None], np.array(0.7), np.array(30.0)):
            ends = []
            for device in ("cuda", "cpu"):
                before = on_host()
                with pb.use_device(device):
                    pb.random.seed(8)
                    k = pb.constant(a.astype(dtype))
                    shape = np.broadcast_shapes(a.shape, (480, 3))
                    ends.append([pb.random.gamma(k, shape).numpy(),
                                 pb.random.beta(k, k + 1, shape).numpy()])  # fmt: skip
                assert on_host() == before, on_host()
            for x, y in zip(*ends, strict=True):
                same_bits(x, y)


def test_permutations() -> None:
    for n in (0, 1, 2, 3, 16, 17, 1000, 5001):
        ends = []
        for device in ("cuda", "cpu"):
            before = on_host()
            with pb.use_device(device):
                pb.random.seed(n)
                ends.append([pb.random.permutation(n).numpy() for _ in range(3)])
            assert on_host() == before, on_host()
        for x, y in zip(*ends, strict=True):
            same_bits(x, y)
            assert sorted(y) == list(range(n))


def test_random_counts() -> None:
    means = np.array([0.0, 1e-9, 0.5, 9.9, 10.0, 12.5, 1e3, 1e9, 1e15, np.inf, -1.0, np.nan])
    trials = np.array([0.0, 1, 7, 19, 20, 25, 1000, 10**9, 10**15, 2.5, -3, np.nan, np.inf])
    chances = np.array([0.0, 1e-12, 1e-3, 0.3, 0.5, 0.51, 0.99, 1.0, -0.1, 1.1, np.nan])
    draws = (
        lambda: pb.random.poisson(np.tile(means, 50)),
        lambda: pb.random.poisson(3.5, (200,)),
        lambda: pb.random.poisson(350.0, (200,)),
        lambda: pb.random.binomial(np.tile(trials, 20)[:, None], chances),
        lambda: pb.random.binomial(40.0, 0.7, (200,)),
    )
    for draw in draws:
        ends = []
        for device in ("cuda", "cpu"):
            before = on_host()
            with pb.use_device(device):
                pb.random.seed(11)
                ends.append(draw().numpy())
            assert on_host() == before, on_host()
        same_bits(*ends)


def ordered() -> list[np.ndarray[Any, Any]]:
    """Rows with repeated values, infinities, zeros of both signs and NaN."""
    few = RNG.choice(np.array([*ODD, 2.0, 3.0, -7.0]), (6, 50, 3))
    out = [few, RNG.normal(size=(3, 700, 2)), np.full((2, 40, 2), np.nan), few[:, :1]]
    with np.errstate(over="ignore"):
        narrow = [x.astype(np.float32) for x in out]
    whole = [RNG.integers(-5, 5, (4, 90, 2)).astype(d) for d in (np.int32, np.int64, np.uint64)]
    return [*out, *narrow, *whole, RNG.integers(0, 2, (4, 90, 2)).astype(bool)]


def test_positions_of_extremes() -> None:
    for x in ordered():
        for axis in (0, 1, 2, None):
            both(lambda x, axis=axis: [pb.argmax(x, axis), pb.argmin(x, axis)], x)
    both(lambda x: [pb.argmax(x), pb.argmin(x)], RNG.integers(0, 9, 70_000))


def test_sorts() -> None:
    """Stable, NaN last, and zeros of both signs are equal."""
    for x in ordered():
        for axis in (0, 1, 2):
            for descending in (False, True):
                both(lambda x, axis=axis, d=descending: [
                    pb.sort(x, axis=axis, descending=d), pb.argsort(x, axis=axis, descending=d)],
                    x)  # fmt: skip
    for n in (1, 2, 15, 16, 17, 31, 33, 1000, 4097):
        both(lambda x: [pb.sort(x), pb.argsort(x)], RNG.integers(0, n, n))
    both(lambda x: pb.sort(x.T[::-1]), RNG.normal(size=(30, 4)))


def test_searches() -> None:
    for dtype in (np.float32, np.float64, np.int32, np.int64):
        x = np.sort(RNG.integers(-9, 9, 100).astype(dtype))
        y = RNG.integers(-12, 12, (8, 9)).astype(dtype)
        if dtype in (np.float32, np.float64):
            x[-3:] = np.nan
            y[0, :4] = [np.nan, -0.0, np.inf, -np.inf]
        for side in ("left", "right"):
            both(lambda x, y, side=side: pb.searchsorted(x, y, side=side), x, y)


def test_scans() -> None:
    for shape in ((5,), (64,), (65,), (3, 4100), (3, 300, 4)):
        k = RNG.integers(-9, 9, shape)
        for dtype in (np.int64, np.int32, bool):
            whole = k.astype(dtype)
            for axis in range(len(shape)):
                both(lambda x, axis=axis: pb.cumulative_sum(x, axis=axis), whole)
                both(lambda x, axis=axis: pb.cumulative_prod(x, axis=axis), whole)
        x = RNG.normal(size=shape)
        x.flat[2] = np.inf
        x.flat[-2] = np.nan
        for axis in range(len(shape)):
            for dtype in (np.float64, np.float32):
                y = RNG.uniform(1, 2, shape).astype(dtype)
                a = x.astype(dtype)
                both(lambda x, axis=axis: pb.cumulative_max(x, axis=axis), a)
                both(lambda x, axis=axis: pb.cumulative_min(x, axis=axis), a)
                both(lambda x, axis=axis: pb.cumulative_prod(x, axis=axis), a)
                close(lambda x, axis=axis: pb.cumulative_sum(x, axis=axis), y, ulps=64)
                close(lambda x, axis=axis: pb.grad(lambda x: pb.sum(
                    pb.cumulative_sum(x, axis=axis) ** 2))(x), y, ulps=64)  # fmt: skip
    for length in (1, 7, 500):
        a, b = RNG.normal(size=(length, 3)), RNG.normal(size=(length, 3))
        both(lambda a, b: _core.linear_recurrence(a, b, 0), a, b)
    both(lambda x: pb.cumulative_sum(x), np.full(300, -0.0))
    both(lambda x: pb.cumulative_prod(x), np.r_[0.0, np.full(200, 1e200)])  # 0, not NaN
    x = np.zeros(5000)  # sums of chunks overflow, the row does not
    x[[0, 64, 100, 130, 150, 4000]] = -1.5e308, 1.5e308, 1.2e308, -1e308, -1e308, 1e300
    close(lambda x: pb.cumulative_sum(x), x, ulps=64)
    close(lambda x: pb.cumulative_sum(x, axis=0), np.stack([x, -x], 1), ulps=64)
