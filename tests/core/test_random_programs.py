"""Random programs as one plan against an operation at a time: nothing that the planner does may
change a result by more than the order of its sums, nor may threads change a bit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.programs import Maker, Program, alone, fused

import pullback as pb

BLOCKS, BLOCK = 20, 100


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    threads = pb.num_threads()
    with np.errstate(all="ignore"):
        yield
    pb.set_num_threads(threads)


def compare(got: list[Any], expected: list[Any], exact: int) -> None:
    """The first `exact` are equal; others differ by rounding of terms as large as the largest."""
    assert [x is None for x in got] == [x is None for x in expected]
    for k, (x, y) in enumerate(zip(got, expected, strict=True)):
        if x is None:
            continue
        assert x.dtype == y.dtype and x.shape == y.shape, k
        if k < exact:
            assert np.array_equal(x, y, equal_nan=True), k
        elif np.isfinite(y).all():  # an infinite slope times a structural zero is NaN there only
            scale = float(np.max(np.abs(y), initial=0))
            tolerance = 1e-9 if x.dtype == np.float64 else 1e-3
            assert np.max(np.abs(x - y), initial=0) <= tolerance * (1 + scale), k


def check(program: Program, whole: bool) -> None:
    values, gradients = alone(program)
    expected = [*values, *gradients]
    exact = len(values) if whole else 0
    found = fused(program, [pb.Variable(x) for x in program.leaves])
    pb.evaluate([x for x in found if x is not None])
    got = [None if x is None else x.numpy() for x in found]
    compare(got, expected, exact)

    # As a function nothing but the results is kept.
    present = [k for k, x in enumerate(got) if x is not None]
    function = pb.function(lambda *leaves: [fused(program, list(leaves))[k] for k in present])
    leaves = [pb.constant(x) for x in program.leaves]
    again = []
    for threads in (1, 3):
        pb.set_num_threads(threads)
        again.append([x.numpy() for x in function(*leaves)])
    assert [x.tobytes() for x in again[0]] == [x.tobytes() for x in again[1]]
    full: list[Any] = [None] * len(got)
    for k, x in zip(present, again[0], strict=True):
        full[k] = x
    compare(full, expected, exact)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_as_one_plan_and_an_operation_at_a_time(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        whole, dtype = seed % 2 == 0, np.float32 if seed % 4 < 2 else np.float64
        maker = Maker(seed, whole, dtype)
        program = maker.make(int(maker.random.integers(3, 40)))
        try:
            check(program, whole)
        except (AssertionError, RuntimeError) as error:
            raise AssertionError(f"seed {seed}:\n{program}") from error
