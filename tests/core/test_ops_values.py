"""The value of every operation against its reference in long double: every dtype it takes, shapes
from 0-d to 4-d with zero lengths, broadcasting, every layout in memory; the same bits at every
position of an array and for any number of threads; and each instruction set in a process of its
own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.cases import (
    DTYPES,
    FORMATS,
    NAMES,
    Case,
    Check,
    numpy_of,
    same_bits,
    tensor,
    ulp_errors,
)
from support.layouts import layouts, repeated

import pullback as pb
from pullback import _core


def check_value(check: Check, case: Case, xs: list[Any], got: Any, dtype: str, label: str) -> None:
    want = case.result_dtype(dtype)
    check.that(got.dtype == NAMES[want], f"{label}: dtype {got.dtype}, expected {NAMES[want]}")
    value = numpy_of(got)
    with np.errstate(all="ignore"):
        exact = case.exact(xs) if want in FORMATS else xs
        expected = np.asarray(case.reference(*exact))
        size = case.size(*exact) if case.size and want in FORMATS else None
    shapes = f"{label}: shapes {value.shape} and {got.shape}, expected {expected.shape}"
    check.that(value.shape == got.shape == expected.shape, shapes)
    if value.shape != expected.shape:
        return
    if want in FORMATS:
        worst = float(np.max(ulp_errors(value, expected, want, size), initial=0))
        if not worst <= case.ulp:
            check.that(False, f"{label}: {worst:.4g} ulp off: {value} for {expected}")
    elif not np.array_equal(value, expected):
        check.that(False, f"{label}: {value}, expected {expected}")


def check_values(case: Case, dtypes: str) -> None:
    check = Check()
    for dtype in dtypes:
        for shapes in case.shapes:
            xs = case.arrays(shapes, dtype)
            got = case.run(*inputs(case, xs, dtype))
            check_value(check, case, xs, got, dtype, f"{NAMES[dtype]} {shapes}")
    check.done()


def inputs(case: Case, xs: list[Any], dtype: str) -> list[Any]:
    pairs = zip(xs, case.domains, strict=True)
    return [tensor(x, domain.dtype or dtype) for x, domain in pairs]


def test_values(case: Case) -> None:
    check_values(case, case.dtypes)


def test_values_of_stored_dtypes(case: Case) -> None:
    """Narrow and unsigned integers, and halves."""
    check_values(case, case.stored)


def test_layouts(case: Case) -> None:
    """A view, or an array from strange memory, gives the bits that its row-major copy gives."""
    check = Check()
    main = "f" if "f" in case.dtypes else case.dtypes[0]
    for dtype in case.dtypes + case.stored:
        for shapes in case.shapes if dtype == main else [largest(case)]:
            xs = case.arrays(shapes, dtype)
            compared = list(in_layouts(case, xs, dtype))
            pb.evaluate([y for _, got, plain in compared for y in (got, plain)])
            for label, got, plain in compared:
                text = f"{NAMES[dtype]} {label} of {shapes}"
                if case.op == "matmul":  # the BLAS may add in another order
                    check_value(check, case, xs, got, dtype, text)
                elif not same_bits(numpy_of(got), numpy_of(plain)):
                    check.that(False, f"{text}: {got}, not {plain}")
    check.done()


def in_layouts(case: Case, xs: list[Any], dtype: str) -> Iterator[tuple[str, Any, Any]]:
    plain_inputs = inputs(case, xs, dtype)
    plain = case.run(*plain_inputs)
    for k, x in enumerate(xs):
        own = case.domains[k].dtype or dtype
        for layout in layouts(x):
            view = layout.view(tensor(layout.store(x), own), x)
            got = case.run(*(view if i == k else t for i, t in enumerate(plain_inputs)))
            yield f"argument {k} {layout.name}", got, plain
        if x.ndim and len(x) and case.elementwise:
            flat = repeated(x)
            memory, view = tensor(flat, own), pb.broadcast_to(tensor(x[:1], own), x.shape)
            copy, *both = (
                case.run(*(t if i == k else other for i, other in enumerate(plain_inputs)))
                for t in (tensor(np.array(flat), own), memory, view)
            )
            yield f"argument {k} in memory of stride 0", both[0], copy
            yield f"argument {k} as a view of stride 0", both[1], copy


def largest(case: Case) -> Any:
    return max(case.shapes, key=lambda shapes: sum(int(np.prod(shape)) for shape in shapes))


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_every_position_computes_the_same_bits(pointwise: Case, dtype: str) -> None:
    """The tail of a vector loop is its body: length and offset change nothing."""
    if dtype not in pointwise.dtypes:
        dtype = pointwise.dtypes[-1]
    shapes = tuple((150,) for _ in pointwise.domains)
    xs = pointwise.arrays(shapes, dtype)
    tensors = [pb.constant(x) for x in xs]
    whole = pointwise.run(*tensors).numpy()
    results, expected = [], []
    for length in range(1, 68):
        start = 150 - 2 * length if length % 3 else length
        window = slice(start, start + length)
        results.append(pointwise.run(*[pb.constant(x[window]) for x in xs]))
        results.append(pointwise.run(*[t[window] for t in tensors]))
        expected += [whole[window]] * 2
    pb.evaluate(*results)
    for got, want in zip(results, expected, strict=True):
        assert same_bits(got.numpy(), want), f"length {len(want)}"


# --- threads


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
    tests = [f"{here / 'test_ops_values.py'}::test_values", str(here / "test_conventions.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
    done = subprocess.run(command, env=environment, cwd=here.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:]


def test_unknown_cpu_level_is_an_error() -> None:
    code = "import pullback as pb; pb.constant([1.0]) + 1"
    environment = {**os.environ, "PULLBACK_CPU_LEVEL": "sse9"}
    command = [sys.executable, "-c", code + "; print(float((pb.constant(1.0) + 1)))"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "PULLBACK_CPU_LEVEL" in done.stderr
