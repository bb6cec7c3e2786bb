"""Checks of positions, and ranges that make them unnecessary, on the fakes: see test_kernels.py."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.on_fake import RNG, calls, there

import pullback as pb


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


def unknown(values: Any) -> Any:
    """Integers on the default device of which nothing is known: a sum has any."""
    return pb.sum(pb.asarray(np.diag(values)), axis=0)


def test_checks_of_a_run_share_a_wait() -> None:
    x, y = there(RNG.normal(size=20)), there(RNG.normal(size=8))
    with pb.use_device("cuda"):
        i, j, k = unknown(np.arange(6)), unknown(np.arange(6) + 2), unknown(np.arange(8))
        pb.evaluate(i, j, k)
    # A function does not read its arguments before it runs.
    functions: list[tuple[Callable[..., Any], int]] = [
        (lambda i, j, k: x[i] * y[j], 1),
        (lambda i, j, k: x.at[i].add(y[j]).at[j].set(y[i]), 1),
        (lambda i, j, k: x[k[i]] + y[j], 2),  # positions that are read at positions
        (lambda i, j, k: x[k[i] + j] + y[j], 2),
    ]
    for f, waits in functions:
        traced = pb.function(f)
        assert waits_of_checks(lambda traced=traced: traced(i, j, k)) == waits


def test_errors_of_shared_checks_are_those_of_the_processor() -> None:
    def errors(device: str, i: Any, j: Any, table: Any) -> list[str]:
        out = []
        with pb.use_device(device):
            v = pb.Variable(np.arange(6.0))
            x, k = pb.asarray(np.arange(4.0)), unknown(table)
            programs: list[Callable[[Any, Any], Any]] = [
                lambda i, j: v.assign(v.at[i].add(x[j])),
                lambda i, j: v.assign(v.at[j].set(x[i])),
                lambda i, j: v.assign(v.at[k[i]].add(x[j])),
                lambda i, j: v.assign(v + pb.sum(x[k[j]]) + pb.sum(x[i])),
            ]
            for program in programs:
                try:
                    program(unknown(i), unknown(j))
                    v.numpy()
                    out.append("")
                except IndexError as error:
                    out.append(str(error))
                v.assign(np.arange(6.0))
                np.testing.assert_array_equal(v.numpy(), np.arange(6.0))
        return out

    table = np.array([3, 1, 0, 9])
    for i, j in (([0, 1], [2, 3]), ([0, 8], [2, 1]), ([0, 1], [7, 1]), ([0, -9], [5, 1]),
                 ([3, 5], [1, 3])):  # fmt: skip
        moved, here = (errors(device, i, j, table) for device in ("cuda", "cpu"))
        assert moved == here, (i, j)


def test_ranges_in_bodies() -> None:
    x = there(RNG.normal(size=(20, 5)))
    zero = there(np.zeros((), int))
    start = x[0]
    known: dict[str, Callable[[], Any]] = {
        "counter": lambda: pb.fori_loop(0, 20, lambda i, y: y + x[i], start),
        "counter below": lambda: pb.fori_loop(3, 23, lambda i, y: y + x[22 - i], start),
        "scanned": lambda: pb.scan(lambda s, k: (s + x[k], None), start, pb.argsort(x[:, 0]))[0],
        "captured": lambda: pb.fori_loop(0, 3, lambda i, y: y + pb.sum(x[pb.argmax(x, 0)]), start),
        "carried": lambda: pb.fori_loop(
            0, 5, lambda i, s: (s[0] + x[s[1]], pb.clip(s[1] + 7, 0, 19)), (start, zero))[0],
        "exchanged": lambda: pb.fori_loop(
            0, 5, lambda i, s: (s[0] + x[s[1]], s[2], s[1]), (start, zero, zero + 19))[0],
        "after": lambda: x[pb.fori_loop(0, 5, lambda i, k: k + 3, zero)],
        "stacked": lambda: x[pb.scan(lambda s, k: (s, k * 2), start, pb.arange(10))[1]],
        "branch": lambda: pb.sum(x[pb.switch(2, [lambda: zero, lambda: zero + 19])]),
        "condition": lambda: pb.while_loop(
            lambda s: (s[1] < 5) & (x[s[1], 0] < 99),
            lambda s: (s[0] * 2, pb.clip(s[1] + 1, 0, 19)), (start, zero))[0],
        "nested": lambda: pb.fori_loop(0, 4, lambda i, y: pb.fori_loop(
            0, 5, lambda j, z: z + x[i * 4 + j], y), start),
        "gradient": lambda: pb.grad(lambda x: pb.sum(
            pb.fori_loop(0, 20, lambda i, y: y * x[i], start)))(x),
        "gradient of a scan": lambda: pb.grad(lambda x: pb.sum(
            pb.scan(lambda s, k: (s * x[k], x[k]), start, pb.argsort(x[:, 0]))[1]))(x),
    }  # fmt: skip
    pb.evaluate(start)
    read = {"branch": 1, "condition": 6}  # values that decide
    for name, f in known.items():
        assert waits_of_checks(f) == read.get(name, 0), name

    def replayed(at: Callable[[Any], Any]) -> int:
        """The gradient of a loop whose states are computed again."""
        return waits_of_checks(lambda: pb.grad(lambda x: pb.sum(pb.while_loop(
            lambda s: s[1] < 7, lambda s: (s[0] * pb.sin(at(s[1])), pb.clip(s[1] + 1, 0, 19)),
            (x[0], zero), memory_limit=400)[0]))(x))  # fmt: skip

    assert replayed(lambda k: x[k]) == replayed(lambda k: x[0] * pb.cast(k, x.dtype))
    for name, trips, g in (
        ("grows", 4, lambda i, s: (s[0] + x[s[1]], s[1] * 2 + 1)),
        ("both", 4, lambda i, s: (s[0] + x[s[1]], pb.maximum(s[1], i * i * i))),
    ):
        f = lambda g=g, trips=trips: pb.fori_loop(0, trips, g, (start, zero))[0]  # noqa: E731
        assert waits_of_checks(f) == trips, name
    for first, last, wrong in ((0, 21, 20), (-22, 0, -22), (15, 30, 20)):
        with pytest.raises(IndexError, match=f"index {wrong} is out"):
            pb.evaluate(pb.fori_loop(first, last, lambda i, y: y + x[i], start))
    n = there(np.array(21))
    assert waits_of_checks(lambda: pb.fori_loop(0, n - 1, lambda i, y: y + x[i], start)) == 1
    with pytest.raises(IndexError, match="index 20 is out"):
        pb.evaluate(pb.fori_loop(0, n, lambda i, y: y + x[i], start))


def random_body(random: np.random.Generator) -> Callable[[Any, Any, Any, Any], tuple[Any, Any]]:
    """The next values of two carries of integers, from these, an entry and a constant; the
    functions are of NumPy and pullback alike."""

    def pick() -> Callable[..., Any]:
        c, d = sorted(int(k) for k in random.integers(-4, 7, 2))
        choices: list[Callable[..., Any]] = [
            lambda m, a, b, k, w: a + c,
            lambda m, a, b, k, w: a - d,
            lambda m, a, b, k, w: b,
            lambda m, a, b, k, w: a,
            lambda m, a, b, k, w: k,
            lambda m, a, b, k, w: w,
            lambda m, a, b, k, w: m.clip(a + b, c, d),
            lambda m, a, b, k, w: m.minimum(a + 1, w),
            lambda m, a, b, k, w: m.maximum(b, k),
            lambda m, a, b, k, w: m.remainder(a * 2 + 1, d + 7),
            lambda m, a, b, k, w: m.where(a > b, k, w - 1),
        ]
        return choices[random.integers(0, len(choices))]

    first, second = pick(), pick()
    return lambda m, s, k, w: (first(m, s[0], s[1], k, w), second(m, s[1], s[0], k, w))


def run_loop(body: Callable[..., Any], x: Any, a: Any, b: Any, w: Any, ks: Any) -> tuple[Any, Any]:
    """The entries at the first carry in each iteration, and those at the second one at the end."""
    (_, last), entries = pb.scan(lambda s, k: (body(pb, s, k, w), pb.take(x, s[0], 0)), (a, b), ks)
    return entries, x[last]


def test_ranges_of_random_loops() -> None:
    """An index outside in any iteration is an error, and no other is."""
    for seed in range(int(os.environ.get("INDEX_PROGRAMS", "25"))):
        random = np.random.default_rng(seed)
        body = random_body(random)
        trips = int(random.integers(1, 6))
        a, b, w = random.integers(-3, 5, (3, 4))
        ks = random.integers(-3, 5, (trips, 4))
        state, used = (a, b), []
        for k in ks:
            used.append(state[0])
            state = body(np, state, k, w)
        used.append(state[1])
        end = max(int(np.max(used)) + 1, -int(np.min(used)), 1)
        table, inputs = np.arange(end + 1.0), [there(v) for v in (a, b, w, ks)]
        with pb.use_device("cuda"):
            for axis in {end, end - 1} - {0}:
                x = there(table[:axis])
                if axis == end:
                    ys, last = run_loop(body, x, *inputs)
                    np.testing.assert_array_equal(ys.numpy(), table[:axis][np.array(used[:-1])])
                    np.testing.assert_array_equal(last.numpy(), table[:axis][used[-1]])
                    continue
                with pytest.raises(IndexError, match="is out"):
                    pb.evaluate(*run_loop(body, x, *inputs))
