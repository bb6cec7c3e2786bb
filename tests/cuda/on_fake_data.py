"""Steps that move, order and draw entries, on the fakes: see test_kernels.py."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.on_fake import ODD, RNG, both, calls, close, on_host, same_bits, there

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


def test_positions_are_checked_before_anything_is_written() -> None:
    x = there(np.arange(20.0))
    for k, wrong in (([3, 20, -21], 20), ([-21], -21), ([0] * 5000 + [77, 99], 77)):
        for dtype in (np.int32, np.int64):
            with pytest.raises(IndexError, match=rf"index {wrong} is out"):
                pb.take(x, there(np.array(k, dtype)) + there(np.zeros(1, dtype))).numpy()
    with pb.use_device("cuda"):
        v = pb.Variable(np.arange(6.0))
    for update in (lambda k: v.at[k].add(1.0), lambda k: v.at[k].set(1.0)):
        k = there([1, 6]) + there([0])
        with pytest.raises(IndexError, match="6"):
            v.assign(update(k))
            v.numpy()
        v.assign(np.arange(6.0))
        np.testing.assert_array_equal(v.numpy(), np.arange(6.0))


def waits_of_checks(f: Callable[[], Any], results: int = 1) -> int:
    """Downloads but for those of the results, which are on the device."""
    before = calls("cuMemcpyDtoHAsync_v2")
    with pb.use_device("cuda"):
        pb.evaluate(f())
    return calls("cuMemcpyDtoHAsync_v2") - before - results


def test_indices_with_a_known_range_are_not_checked() -> None:
    x = there(RNG.normal(size=(20, 5)))
    unknown = pb.sum(there(np.diag(np.arange(6))), axis=0)  # of any integers
    known: dict[str, Callable[[Any], Any]] = {
        "uploaded": lambda x: x[there(np.array([0, -20, 19]))],
        "array": lambda x: pb.take(x, np.array([3, 1, 1], np.int32), 0),
        "argmax": lambda x: x[pb.argmax(x, 0)],
        "argmin of a column": lambda x: x[pb.argmin(x[:, 1])],
        "range": lambda x: x[pb.arange(10) + pb.cast(x[:10, 0] > 0, "int64") * 10],
        "clip": lambda x: x[pb.clip(unknown, -3, 19)],
        "extremes": lambda x: x[pb.minimum(pb.maximum(unknown, 2), 7)],
        "where": lambda x: x[pb.where(x[:4, 0] > 0, 19, -20)],
        "cast": lambda x: x[pb.cast(x[:, 0] > 0, "int32")],
        "draws": lambda x: x[pb.random.integers(0, 20, (7,))],
        "positions in order": lambda x: pb.take_along_axis(x, pb.argsort(x, 0), 0),
        "gradient of a sort": lambda x: pb.grad(lambda x: pb.sum(pb.sort(x, axis=0) ** 2))(x),
        "search": lambda x: x[pb.searchsorted(pb.sort(x[:19, 0]), x[:, 0])],
        "scatter": lambda x: x.at[pb.argmax(x, 0)].add(1.0),
        "labels": lambda x: pb.grad(lambda x: pb.mean(
            pb.sparse_softmax_cross_entropy(x, np.arange(20) % 5)))(x),
    }  # fmt: skip
    for name, f in known.items():
        assert waits_of_checks(lambda f=f: f(x)) == 0, name
    for name, f in {
        "unknown": lambda x: x[unknown],
        "a step on the host": lambda x: x[pb.remainder(pb.argsort(x[:, 0]) * 7 + 3, 20)],
        "too large": lambda x: x[pb.clip(unknown, -3, 20)],
        "too small": lambda x: x[pb.clip(unknown, -21, 3)],
        "search": lambda x: x[pb.searchsorted(pb.sort(x[:, 0]), x[:, 0])],
        "wraps": lambda x: x[(pb.clip(unknown, 0, 5) + 2**62) * 2 + -(2**63)],
    }.items():
        assert waits_of_checks(lambda f=f: f(x)) > 0, name
    with pytest.raises(IndexError, match="index 20 is out"):
        pb.evaluate(x[there(np.array([0, 20]))])
    with pytest.raises(IndexError, match="label 5 is out of range"):
        pb.evaluate(pb.sparse_softmax_cross_entropy(x, np.full(20, 5)))


def random_indices(random: np.random.Generator) -> tuple[Any, Any]:
    """An array of integers, and the same as an expression on the device."""
    n = 8
    floats = random.normal(size=n)
    leaves = [
        (v := random.integers(-6, 7, n), there(v)),
        (v.astype(np.int32), there(v.astype(np.int32))),
        (np.argsort(floats, kind="stable"), pb.argsort(there(floats))),
        ((floats > 0).astype(np.int64), pb.cast(there(floats) > 0, "int64")),
        (np.arange(n), pb.cast(pb.arange(n), "int64")),
    ]

    def pick() -> Any:
        return leaves[random.integers(0, len(leaves))]

    for _ in range(random.integers(1, 7)):
        (a, x), (b, y) = pick(), pick()
        c, d = sorted(int(k) for k in random.integers(-5, 9, 2))
        small = 2**30 if random.integers(0, 8) == 0 else c
        made: list[Callable[[], Any]] = [
            lambda a=a, x=x, b=b, y=y: (a + b, x + y),
            lambda a=a, x=x, b=b, y=y: (a - b, x - y),
            lambda a=a, x=x, b=b, y=y: (a * b, x * y),
            lambda a=a, x=x, k=small: (a * k, x * k),
            lambda a=a, x=x: (-a, -x),
            lambda a=a, x=x, c=c, d=d: (np.clip(a, c, d), pb.clip(x, c, d)),
            lambda a=a, x=x, c=c: (np.minimum(a, c), pb.minimum(x, c)),
            lambda a=a, x=x, b=b, y=y: (np.maximum(a, b), pb.maximum(x, y)),
            lambda a=a, x=x, b=b, y=y: (np.where(a > b, a, b + 1), pb.where(x > y, x, y + 1)),
            lambda a=a, x=x, d=d: (np.remainder(a, d + 7), pb.remainder(x, d + 7)),
            lambda a=a, x=x, d=d: (a // (d + 7), x // (d + 7)),
            lambda a=a, x=x: (a.astype(np.int32), pb.cast(x, "int32")),
            lambda a=a, x=x: (a.astype(np.int8).astype(np.int64),
                              pb.cast(pb.cast(x, "int8"), "int64")),
            lambda a=a, x=x: (np.sort(a)[::-1].copy(), pb.sort(x)[::-1]),
            lambda a=a, x=x, b=b, y=y: (np.concatenate([a[:3], b[3:]]).astype(np.int64),
                                        pb.cast(pb.concatenate([x[:3], y[3:]]), "int64")),
            lambda a=a, x=x: (np.maximum.accumulate(a), pb.cumulative_max(x)),
            lambda a=a, x=x: (a.cumsum(), pb.cumulative_sum(x)),
            lambda a=a, x=x, b=b, y=y: (np.max(a) + b, pb.max(x) + y),
            lambda a=a, x=x, b=b, y=y: (np.sum(a) + b, pb.sum(x) + y),
        ]  # fmt: skip
        with np.errstate(over="ignore"):
            a, x = made[random.integers(0, len(made))]()
        if random.integers(0, 3) == 0:
            np.testing.assert_array_equal(x.numpy(), a)  # a later run knows its range
        leaves.append((a, x))
    return leaves[-1]


def test_ranges_of_random_indices() -> None:
    """An index outside is an error and no other is, whatever its range was derived from."""
    for seed in range(int(os.environ.get("INDEX_PROGRAMS", "40"))):
        random = np.random.default_rng(seed)
        with pb.use_device("cuda"):
            k, index = random_indices(random)
            end = max(int(np.max(k)) + 1, -int(np.min(k)), 1)
            for axis in {max(1, min(end + more, 60)) for more in (-1, 0, 1)}:
                x = np.arange(axis * 1.0)
                if end <= axis:
                    y = pb.take(there(x), index, 0).numpy()
                    np.testing.assert_array_equal(y, x[k], err_msg=str(seed))
                    continue
                with pytest.raises(IndexError, match="is out"):
                    pb.take(there(x), index, 0).numpy()


def test_a_range_ends_when_its_memory_changes() -> None:
    x = there(np.arange(8.0))
    with pb.use_device("cuda"):
        v = pb.Variable(np.array([1, 2, 3]))
        grow = pb.function(lambda step: v.assign_add(step))
        for _ in range(2):
            np.testing.assert_array_equal(x[v].numpy(), v.numpy())
            grow(np.array([2, 2, 2]))
        grow(np.array([0, 3, 0]))
        with pytest.raises(IndexError, match="index 9 is out"):
            x[v].numpy()
    for k in range(9):  # new memory for each, at the addresses of those before
        index = there(np.array([k, 0]))
        if k < 8:
            assert x[index].numpy()[0] == k
        else:
            with pytest.raises(IndexError, match="index 8 is out"):
                x[index].numpy()
        del index
    y = there(np.array([7, 7])) + there(np.array([1, 1]))
    with pytest.raises(IndexError, match="index 8 is out"):
        x[y].numpy()


def test_memory_that_another_library_may_write_has_no_range() -> None:
    fake = ctypes.CDLL(os.environ["PULLBACK_FAKE_DRIVER"])
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype = ctypes.c_void_p
    address_of.argtypes = [ctypes.py_object, ctypes.c_char_p]
    fields = ctypes.POINTER(ctypes.c_uint64)
    x, one = there(np.arange(8.0)), there(np.array([1, 1, 1]))
    made = there(np.array([1, 2, 3])), there(np.array([0, 1, 2])) + one
    for k in made:
        np.testing.assert_array_equal(pb.take(x, k + one, 0).numpy(), [2.0, 3.0, 4.0])
        capsule = k.__dlpack__(max_version=(1, 0))
        # The address follows the version, two pointers and the flags (read-only).
        managed = ctypes.cast(address_of(capsule, b"dltensor_versioned"), fields)
        memory = managed[4]
        new = np.array([20, 2, 30])
        fake.cuMemcpyHtoDAsync_v2(
            ctypes.c_uint64(memory), ctypes.c_void_p(new.ctypes.data), ctypes.c_size_t(24), None
        )
        pb.cuda.synchronize()
        for _ in range(2):
            with pytest.raises(IndexError, match=r"index (20|21) is out"):
                pb.take(x, k + one, 0).numpy()


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
