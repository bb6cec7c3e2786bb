"""Values of large arrays: the same bits for any number of threads, sums that are rounded once, and
the values of the case table (test_ops.py) for each instruction set in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cases import DTYPES, same_bits, ulp_errors

import pullback as pb
from pullback import _core


@pytest.fixture
def threads() -> Iterator[Any]:
    before = _core.num_threads()
    yield pb.set_num_threads
    pb.set_num_threads(before)


def large_values(dtype: str) -> list[Any]:
    rng = np.random.default_rng(3)
    a = pb.constant(rng.standard_normal((700, 900)).astype(DTYPES[dtype]))
    b = pb.constant(rng.standard_normal((900, 310)).astype(DTYPES[dtype]))
    rows = pb.constant(rng.integers(0, 700, 5000))
    taken = pb.take(a, rows, axis=0)
    w = pb.Variable(rng.standard_normal((700, 900)).astype(DTYPES[dtype]))
    loss = pb.sum(pb.tanh(w @ b)) + pb.mean(pb.softmax(pb.take(w, rows, axis=0)) * taken)
    pb.random.seed(5)
    return [
        pb.sum(a),
        pb.sum(a, axis=0),
        pb.sum(a, axis=1),
        pb.max(a * a, axis=0),
        pb.prod(a[:200, :40], axis=0),
        pb.logsumexp(a, axis=0),
        pb.tanh(a) * pb.exp(-a),
        a @ b,
        pb.matmul(pb.transpose(b)[:, ::-1], pb.transpose(a)[::-1]),
        pb.transpose(a) + 0,
        pb.argmax(a, axis=0),
        pb.argmin(a),
        taken,
        pb.random.normal((100_000,), dtype=DTYPES[dtype]),
        pb.random.uniform((100_001,), dtype=DTYPES[dtype]),
        *pb.gradients(loss, [w]),
    ]


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_any_number_of_threads_gives_the_same_bits(threads: Any, dtype: str) -> None:
    reference: list[Any] = []
    for count in (1, 2, 3, 8, 2):
        threads(count)
        results = [x.numpy().copy() for x in large_values(dtype)]
        reference = reference or results
        for k, (got, want) in enumerate(zip(results, reference, strict=True)):
            assert same_bits(got, want), f"result {k} differs with {count} threads"


# --- accuracy of long sums (half an ulp in float32)


@pytest.mark.parametrize(
    "shape, axis", [((2_000_003,), None), ((500_001, 3), 0), ((7, 300_001), 1)]
)
def test_float32_sums_are_rounded_once(shape: tuple[int, ...], axis: int | None) -> None:
    x = np.full(shape, 0.1, np.float32)
    x.flat[0] = 1e8
    exact = np.sum(x, axis=axis, dtype=np.longdouble)
    for operation, expected in [(pb.sum, exact), (pb.mean, exact / x.size * exact.size)]:
        errors = ulp_errors(operation(pb.constant(x), axis=axis).numpy(), expected, "f")
        assert np.max(errors) <= 1.0


def test_integer_sums_accumulate_in_int64() -> None:
    x = np.full(100_000, 2**31 - 1, np.int32)
    assert pb.sum(pb.constant(x)).item() == 100_000 * (2**31 - 1)
    assert pb.sum(pb.constant(np.ones(300, bool))).item() == 300
    wrapped = pb.sum(pb.constant(np.array([2**63 - 1, 1])))
    assert wrapped.item() == -(2**63)


# --- instruction sets

LEVELS = ["baseline", "avx2", "avx512"]


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[: LEVELS.index(_core.build_info()["cpu_level"])])
def test_lower_cpu_levels(level: str) -> None:
    """The values above and the traps again, with the kernels of a lesser processor."""
    here = Path(__file__).parent
    environment = {**os.environ, "PULLBACK_CPU_LEVEL": level}
    tests = [f"{here / 'test_ops.py'}::test_values", str(here / "test_conventions.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, env=environment, cwd=here.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_unknown_cpu_level_is_an_error() -> None:
    environment = {**os.environ, "PULLBACK_CPU_LEVEL": "sse9"}
    command = [sys.executable, "-c", "import pullback"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "got 'sse9'" in done.stderr
