"""Kernel texts on the host, with the fake driver and the fake NVRTC: see test_kernels.py."""

from __future__ import annotations

import ctypes
import itertools
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.on_fake import FAKE, ODD, RNG, both, calls, close, on_host, same_bits, there

import pullback as pb
from pullback import _core

DEFINITIONS = Path(__file__).parents[2] / "cpp/graph/elementwise.def"
# Rows that call functions of the host, for all or a part of their domain; beside special::.
ON_HOST = {
    "gammaln", "digamma", "polygamma", "gamma", "gamma_nth", "rgamma", "rgamma_nth", "betaln",
    "beta", "zeta", "zeta_dq", "zeta_ds", "erfcx_derivative", "sinc", "sinc_derivative", "j0", "j1",
    "y0", "y1", "jn", "jn_derivative", "yn", "yn_derivative", "iv", "ive", "ive_derivative",
}  # fmt: skip
# They may refuse integers when they run, and `same` and wrap_index have no public form.
CAN_FAIL = {"floor_divide", "remainder", "pow"}
# AVX-512 has its own versions of these, with other digits.
WIDE = {"exp", "tanh", "tanh_slope"} if _core.build_info()["cpu_level"] == "avx512" else set()


def rows() -> list[tuple[str, int, str, str]]:
    """Name, number of operands, domain and value of each row."""
    found = re.findall(
        r"^(UNARY|BINARY|TERNARY) *\((\w+), *(\w+), *\w+, *\w+, *\w+, *\w+, *([^\n]*)$",
        DEFINITIONS.read_text(),
        re.M,
    )
    counts = {"UNARY": 1, "BINARY": 2, "TERNARY": 3}
    return [(name, counts[shape], domain, value) for shape, name, domain, value in found]


def operands(dtype: str, count: int) -> list[np.ndarray[Any, Any]]:
    if dtype == "bool":
        return [RNG.integers(0, 2, 300).astype(bool) for _ in range(count)]
    if dtype.startswith(("int", "uint")):
        limit = np.iinfo(dtype)
        odd = np.array([0, 1, limit.max, limit.min, 3, 31, limit.max // 3], dtype)
        pairs = np.array(list(itertools.product(odd, repeat=max(count, 2))), dtype).T
        return [np.concatenate([p, RNG.integers(0, 9, 200).astype(dtype)]) for p in pairs[:count]]
    pairs = np.array(list(itertools.product(ODD, repeat=2))).T
    out = [np.concatenate([p, RNG.normal(size=400) * 3, RNG.uniform(size=400)]) for p in pairs]
    out.append(RNG.permutation(out[0]))
    with np.errstate(over="ignore"):
        return [x.astype(dtype) for x in out[:count]]


def of_dtype(dtype: str) -> list[tuple[str, int]]:
    domains = {
        "bool": {"A", "AC", "B", "W"},
        "int32": {"A", "AC", "N", "NC", "W", "I"},
        "uint64": {"A", "AC", "N", "NC", "W", "I"},
        "int64": {"A", "AC", "N", "NC", "W", "I"},
        "float32": {"A", "AC", "N", "NC", "F", "FC"},
        "float64": {"A", "AC", "N", "NC", "F", "FC"},
    }[dtype]
    whole = not dtype.startswith("float")
    return [
        (name, count)
        for name, count, domain, value in rows()
        if domain in domains and name not in ON_HOST | WIDE and not value.startswith("special::")
        and not (whole and (name in CAN_FAIL or name == "abs")) and hasattr(_core, name)
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint64", "bool"])
def test_rows_have_the_bits_of_the_processor(dtype: str) -> None:
    for count in (1, 2, 3):
        names = [name for name, n in of_dtype(dtype) if n == count]
        assert len(names) > 0
        arrays = operands(dtype, count)
        condition = RNG.integers(0, 2, len(arrays[0])).astype(bool)

        def results(*x: Any, names: list[str] = names, c: Any = condition) -> list[Any]:
            c = there(c) if x[0].device != "cpu" else c
            return [
                getattr(_core, name)(*((c, *x[1:]) if name == "where" else x)) for name in names
            ]

        both(results, *arrays)


def test_rows_of_other_digits_on_avx512() -> None:
    for dtype in ("float32", "float64"):
        (x,) = operands(dtype, 1)
        for name in sorted(WIDE):
            moved, here = (getattr(_core, name)(f(x)).numpy() for f in (there, pb.constant))
            assert (np.isnan(moved) == np.isnan(here)).all()
            np.testing.assert_array_max_ulp(moved[~np.isnan(here)], here[~np.isnan(here)], 4)


def test_host_rows_are_named() -> None:
    x = RNG.uniform(1, 2, 100)
    for name, count, _, value in rows():
        if name in ON_HOST or value.startswith("special::"):
            both(lambda *a, name=name: getattr(_core, name)(*a), *[x] * count,
                 host={f"tiles ({name})"})  # fmt: skip


def test_casts() -> None:
    dtypes = ["bool", "int32", "int64", "uint64", "float32", "float64"]
    for dtype in dtypes:
        (x,) = operands(dtype, 1)
        both(lambda x: [pb.cast(x, to) + pb.cast(x, to) for to in dtypes if to != "bool"], x)
        if dtype != "bool":
            both(lambda x: [pb.cast(x, "bool")], x)


def test_storage_dtypes() -> None:
    """They are rounded after every operation, and wrap."""
    (x,) = operands("float64", 1)
    x = np.concatenate([x, RNG.uniform(-7e4, 7e4, 500), RNG.normal(size=500) * 1e-6])
    halves = [pb.cast(pb.constant(x), name).numpy() for name in ("float16", "bfloat16")]
    small = [RNG.integers(0, 256, 300).astype(np.uint8).astype(d) for d in
             (np.int8, np.uint8, np.int16, np.uint16, np.uint32)]  # fmt: skip
    for a in (*halves, *small):
        both(lambda x: [x * x + x, pb.maximum(x, 3), x > 2], a)
        both(lambda x: [pb.max(x), pb.sum(pb.cast(x, "int64"))], a[:40])
        both(lambda x: [pb.cast(x, d) for d in ("float32", "float64", "int32", "uint64")], a)
    wide = RNG.integers(0, 65536, 300).astype(np.uint16)
    for a in (wide, wide.astype(np.int16), wide.astype(np.int8)):  # low bits suffice
        both(lambda x: [x * x - x, -pb.square(x), ~x ^ 3, pb.where(x > 9, x, x * 5)], a)
    for a in halves:
        both(lambda x: [pb.sqrt(pb.abs(x)) / 3, pb.log1p(x)], a)
        both(lambda x: pb.sum(pb.square(x[-400:].reshape(20, 20)), 1), a)
    for dtype in ("float32", "float64", "int64", "uint64"):
        (y,) = operands(dtype, 1)
        names = ("float16", "bfloat16", "int8", "uint8", "int16", "uint16", "uint32")
        both(lambda x, names=names: [pb.cast(x, to) for to in names], y)


def test_views_and_broadcasts() -> None:
    x = RNG.normal(size=(7, 5, 6))
    y = RNG.normal(size=(5, 1))
    for f in (
        lambda x, y: x + y,
        lambda x, y: pb.where(x > 0, pb.log1p(pb.square(x)), y),
        lambda x, y: pb.transpose(x, (2, 1, 0)) * y - 1,
        lambda x, y: x[::-1, 1:4, ::2] * x[:, 2:5, ::-2],
        lambda x, y: x[0] * x[:, :1] + x[3, :, 2:3],
        lambda x, y: pb.reshape(pb.transpose(x, (1, 0, 2)), (35, 6)) + x[0, 0],
        lambda x, y: pb.sinh(y) * 2.5,
        lambda x, y: [x + 1, y * 2, pb.sin(x) * y],
        lambda x, y: pb.concat([x * 2, x + 1], axis=1),
    ):
        before = on_host()
        moved, here = pb.evaluate(f(there(x), there(y))), pb.evaluate(f(*map(pb.constant, (x, y))))
        for a, b in zip(moved if isinstance(moved, list) else [moved],
                        here if isinstance(here, list) else [here], strict=True):  # fmt: skip
            same_bits(a, b)
        assert on_host() == before, on_host()
    both(lambda x: x * 2, np.zeros((0, 3)))
    both(lambda x: pb.sin(x) + 1, np.array(0.5))


def test_large_operands_loop_in_their_threads() -> None:
    both(lambda x: x * 2 + 1, RNG.normal(size=(300, 1000)).astype(np.float32))


def test_what_has_no_kernel_runs_on_the_host() -> None:
    x = RNG.normal(size=(40, 30))
    both(lambda x: pb.special.gammaln(pb.abs(x)), x, host={"tiles (gammaln)"})
    both(lambda x: pb.fft.fft(x).real, x, host={"library"})
    with pytest.raises(ZeroDivisionError):
        (there([1, 2]) // there([1, 0])).numpy()


def test_reductions_of_equal_bits() -> None:
    """The order of these does not matter."""
    for shape in ((3, 5, 7), (5000,), (40, 1), (2, 3000, 2)):
        x = RNG.normal(size=shape)
        x[..., -1] = -0.0
        k = RNG.integers(-9, 9, shape).astype(np.int32)
        for axis in (None, 0, -1, tuple(range(1, len(shape))) or 0):
            both(lambda x, axis=axis: [pb.max(x, axis), pb.min(x * 2, axis)], x)
        both(lambda k: [pb.sum(k, -1), pb.max(k, -1), pb.any(k > 8, -1), pb.all(k > -9, -1)], k)
        both(lambda k: [pb.sum(k, 0), pb.max(k), pb.any(k > 8, 0), pb.all(k > -9)], k)
    both(lambda k: pb.sum(k), np.array([2**62, 2**62, 2**62]))  # wraps
    both(lambda x: pb.max(x, 1), np.array([[1.0, np.nan], [-0.0, 0.0]]))
    both(lambda x: pb.sum(x), np.full(3, -0.0))


def test_sums() -> None:
    """Positive terms, since the order of others is an error of any size."""
    for dtype in (np.float32, np.float64):
        for shape in ((3, 5, 7), (70_000,), (2, 3000, 2), (300, 200)):
            x = RNG.uniform(1, 2, shape).astype(dtype)
            for axis in (None, 0, -1, tuple(range(1, len(shape))) or 0):
                close(lambda x, axis=axis: pb.sum(x, axis), x, ulps=1 if dtype == np.float32 else 9)
                close(lambda x, axis=axis: [pb.mean(x * x, axis), pb.sum(x, axis)], x, ulps=9)


def test_rows() -> None:
    """Groups with folds inside: one depth after another."""
    for dtype in (np.float32, np.float64):
        x = RNG.uniform(1, 2, (30, 70)).astype(dtype)
        y = RNG.uniform(1, 2, 30).astype(dtype)
        close(lambda x: pb.softmax(x), x, ulps=16)
        close(lambda x, y: x / pb.sum(x, 1, keepdims=True) + y[:, None], x, y, ulps=16)
        close(lambda x, y: pb.sum(x * y[:, None], 1) * y, x, y, ulps=16)
        close(lambda x: pb.sum(pb.square(x - pb.mean(x, 1, keepdims=True)), 1), x, ulps=4000)
        close(lambda x: pb.logsumexp(x, 1), x, ulps=16)
        close(lambda x: [pb.max(x, 1), x - pb.max(x, 1, keepdims=True), pb.sum(x)], x, ulps=16)


def test_products() -> None:
    for dtype in (np.float32, np.float64):
        x = RNG.uniform(1, 2, (7, 9, 70)).astype(dtype)
        y = RNG.uniform(1, 2, (70, 11)).astype(dtype)
        bias = RNG.uniform(1, 2, 11).astype(dtype)
        for f in (
            lambda x, y: x @ y,
            lambda x, y: x[0] @ y,
            lambda x, y: pb.transpose(y) @ x[:, 3].T,
            lambda x, y: x[:, ::2, :35] @ y[::-2],
            lambda x, y: x[0, 0] @ y,
            lambda x, y: x @ pb.transpose(x, (0, 2, 1)),
            lambda x, y, bias=bias: pb.relu(x[0] @ y + bias),
            lambda x, y: pb.sum(pb.tanh(x[0] @ y), 0),
        ):
            close(f, x, y, ulps=64)
    k = RNG.integers(-9, 9, (8, 8))
    both(lambda k: k @ k, k)
    both(lambda k: k @ k, k.astype(np.int32))


def test_norms_of_float64() -> None:
    """Squares overflow, vanish or are inaccurate in each of these. Sums have another order."""
    x = RNG.normal(size=(40, 30))
    for scale in (1.0, 1e-170, 1e-320, 1e170, 1e305):
        a = x * scale
        a[3] = 0
        close(lambda x: pb.linalg.norm(x), a, ulps=16)
        close(lambda x: [pb.linalg.norm(x, axis=1), pb.linalg.norm(x, axis=0)], a, ulps=16)
        close(lambda x: x / pb.linalg.norm(x, axis=1, keepdims=True), a + scale, ulps=16)
    for odd in (np.inf, -np.inf, np.nan):
        x[3, 4] = odd
        close(lambda x: [pb.linalg.norm(x), pb.linalg.norm(x, axis=1)], x, ulps=16)


def test_norms() -> None:
    x = RNG.normal(size=(40, 30)).astype(np.float32)
    for scale in (1.0, 1e-30, 1e30):
        a = x * np.float32(scale)
        close(lambda x: pb.linalg.norm(x), a, ulps=1)
        close(lambda x: [pb.linalg.norm(x, axis=1), pb.linalg.norm(x, axis=0)], a, ulps=1)


def test_copies() -> None:
    x = RNG.normal(size=(6, 5, 4))
    for dtype in ("float64", "float16", "int8", "bool"):
        a = x.astype(dtype)
        both(lambda x: pb.concat([x, pb.flip(x, 0)], 1), a)
        both(lambda x: pb.transpose(x, (2, 0, 1)).reshape(20, 6), a)
        both(lambda x: pb.pad(x, 2), a)
    both(lambda x: pb.grad(lambda x: pb.sum(x[1:4, ::2] * x[2:5, ::2]))(x), x)
    both(lambda x: pb.roll(x, 2, 1), x.astype(np.complex64))
    both(lambda k: pb.arange(7) + k, np.array([3]))


def test_a_training_step_stays_there() -> None:
    """A network with a hidden layer: no step runs on the host."""
    x, y = RNG.normal(size=(32, 6)), RNG.normal(size=(32, 3))
    start = [RNG.normal(size=s) for s in ((6, 16), (16,), (16, 3), (3,))]
    ends = []
    for device in ("cuda", "cpu"):
        before = on_host()
        with pb.use_device(device):
            w = [pb.Variable(a) for a in start]

            @pb.function
            def step(x: Any, y: Any, w: Any = w) -> Any:
                loss = pb.mean(pb.square(pb.tanh(x @ w[0] + w[1]) @ w[2] + w[3] - y))
                for v, g in zip(w, pb.gradients(loss, w), strict=True):
                    v.assign_sub(0.01 * g)
                return loss

            for _ in range(5):
                loss = step(x, y)
            ends.append([float(loss), *(a.numpy() for a in w)])
        assert on_host() == before, on_host()
    for a, b in zip(*ends, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)


def test_gradient_of_a_loss() -> None:
    rng = np.random.default_rng(7)  # a sum that cancels has other last digits in another order
    x, y = rng.normal(size=(20, 8)), rng.normal(size=20)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return pb.mean(pb.square(pb.sum(pb.tanh(x) * w, 1) - y))

    w = rng.normal(size=8)
    moved = pb.grad(loss)(there(w), there(x), there(y))
    here = pb.grad(loss)(pb.constant(w), pb.constant(x), pb.constant(y))
    np.testing.assert_allclose(moved.numpy(), here.numpy(), rtol=1e-13)


def test_updates_in_place() -> None:
    with pb.use_device("cuda"):
        v = pb.Variable(np.arange(6.0).reshape(2, 3))
    before = on_host()
    for _ in range(3):
        v.assign(v * 2 + 1)
        v.assign_add(pb.cos(v) * 0 + 1)
    want = np.arange(6.0).reshape(2, 3)
    for _ in range(3):
        want = (want * 2 + 1) + 1
    np.testing.assert_array_equal(v.numpy(), want)
    assert on_host() == before


def test_a_second_size_compiles_nothing() -> None:
    both(lambda x: pb.sin(x) * 3 + 1, RNG.normal(size=50))
    before = calls("cuModuleLoadData")
    both(lambda x: pb.sin(x) * 5 + 2, RNG.normal(size=70))
    assert calls("cuModuleLoadData") == before


def test_an_image_that_the_driver_refuses() -> None:
    x = RNG.normal(size=9)
    FAKE.fake_fail(b"cuModuleLoadData", ctypes.c_int64(1), 209)  # NO_BINARY_FOR_GPU
    both(
        lambda x: pb.cos(x) - 0.25 * x * x + x,
        x,
        host={"tiles (its kernel was not compiled or not loaded)"},
    )
    FAKE.fake_reset()


LOSE = """
import ctypes, os, numpy as np, pullback as pb
fake = ctypes.CDLL(os.environ["PULLBACK_FAKE_DRIVER"])
x, here = pb.asarray(np.ones(3), device="cuda"), pb.constant([1.0, 2.0])
(x + x).numpy()
fake.fake_fail(b"cuLaunchKernel", ctypes.c_int64(1), 700)
for _ in range(2):
    try:
        (x + x).numpy()
    except RuntimeError as error:
        assert "cuLaunchKernel failed with CUDA_ERROR_ILLEGAL_ADDRESS" in str(error), error
    else:
        raise AssertionError("no error")
assert (here + 1).numpy().tolist() == [2, 3]
"""


def test_a_failed_launch_loses_the_device() -> None:
    done = subprocess.run([sys.executable, "-c", LOSE], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
