"""cond and switch: one branch runs, and gradients are those of that branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.gradients import each_mode  # noqa: F401

import pullback as pb
from pullback import _core


@each("pred", [True, False])
def test_values_and_gradients(mode: Any, pred: bool) -> None:
    def f(x: Any, y: Any) -> Any:
        return pb.cond(pred, lambda a: pb.sin(a) * y, lambda a: a * a, x)

    x, y = np.array([0.5, -1.5]), np.array([2.0, 3.0])
    gx, gy = mode(f, x, y)
    np.testing.assert_allclose(gx, np.cos(x) * y if pred else 2 * x, rtol=1e-14)
    np.testing.assert_allclose(gy, np.sin(x) if pred else np.zeros(2), rtol=1e-14)


def test_only_the_chosen_one_runs() -> None:
    x, w = pb.Variable(0.0), pb.Variable(np.ones((8, 8), "float32"))
    before = _core.status()["steps"]["gemm"]
    y = pb.cond(x > 0, lambda: pb.sum(w @ w), lambda: x * 2)
    assert float(y) == 0.0
    assert _core.status()["steps"]["gemm"] == before
    assert [g.numpy().tolist() for g in pb.gradients(y, [x, w])] == [2.0, np.zeros((8, 8)).tolist()]
    assert _core.status()["steps"]["gemm"] == before


def test_no_nan_of_the_other_branch() -> None:
    x = pb.Variable(0.0)
    y = pb.cond(x > 0, pb.log, lambda x: x * 2, x)
    assert float(pb.gradients(y, x)[0]) == 2.0


def test_second_order() -> None:
    x = pb.Variable(2.0)
    for pred, values in ((True, [8.0, 12.0, 12.0, 6.0]), (False, [-2.0, -1.0])):
        y = pb.cond(pred, lambda x: x**3, lambda x: -x, x)
        got = [float(y)]
        for _ in values[1:]:
            (y,) = pb.gradients(y, x)
            got.append(float(y))
        assert got == pytest.approx(values)


@pytest.mark.parametrize(
    ("index", "expected"), [(-3, 1.0), (0, 1.0), (1, 9.0), (2, 27.0), (9, 27.0)]
)
def test_switch(index: int, expected: float) -> None:
    y = pb.switch(index, [lambda x: x * 0 + 1, lambda x: x**2, lambda x: x**3], 3.0)
    assert float(y) == expected


def test_decided_when_it_runs() -> None:
    @pb.function
    def f(x: Any, flag: Any) -> Any:
        return pb.cond(flag, lambda x: x * 2, lambda x: x / 2, x)

    assert float(f(4.0, pb.constant(True))) == 8.0
    assert float(f(4.0, pb.constant(False))) == 2.0


def test_nested_and_in_a_loop() -> None:
    def collatz(s: Any, _: Any) -> Any:
        n = pb.cond(s % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, s)
        return n, n

    _, seen = pb.scan(collatz, 6, length=8)
    assert seen.numpy().tolist() == [3, 10, 5, 16, 8, 4, 2, 1]
    x = pb.Variable(1.5)

    def step(s: Any, _: Any) -> Any:
        return pb.cond(s > 2, lambda: s / x, lambda: s * x * x), None

    last, _ = pb.scan(step, x, length=4)
    s = 1.5
    power = 1
    for _ in range(4):
        s, power = (s / 1.5, power - 1) if s > 2 else (s * 2.25, power + 2)
    assert float(last) == pytest.approx(s)
    assert float(pb.gradients(last, x)[0]) == pytest.approx(power * 1.5 ** (power - 1))


def test_nests_constants_and_passing_through() -> None:
    a, b = pb.constant([1.0, 2.0]), pb.constant([3.0, 4.0])
    for pred, first in ((True, [1.0, 2.0]), (False, [3.0, 4.0])):
        y = pb.cond(pred, lambda x, y: {"v": (x, y, 1.0)}, lambda x, y: {"v": (y, x, 2.0)}, a, b)
        assert y["v"][0].numpy().tolist() == first
        assert float(y["v"][2]) == (1.0 if pred else 2.0)


def test_random_in_a_branch() -> None:
    pb.random.seed(3)
    a = pb.cond(True, lambda: pb.random.normal((2,)), lambda: pb.zeros(2)).numpy()
    b = pb.cond(True, lambda: pb.random.normal((2,)), lambda: pb.zeros(2)).numpy()
    assert len(np.unique([a, b])) == 4


@each(
    ("call", "kind", "text"),
    [
        (lambda: pb.cond(1.0, lambda: 0.0, lambda: 1.0), TypeError, "expected a bool"),
        (lambda: pb.cond(pb.ones(2) > 0, lambda: 0.0, lambda: 1.0), TypeError, "expected a bool"),
        (lambda: pb.cond(True, 0.0, lambda: 1.0), TypeError, "cond: expected a function for f"),
        (lambda: pb.cond(True, lambda: 0.0, lambda: 1), TypeError, "cast one of them"),
        (lambda: pb.cond(True, lambda: 0.0, lambda: pb.ones(2)), ValueError, "expected one shape"),
        (lambda: pb.cond(True, lambda: 0.0, lambda: (0.0,)), ValueError, "structure"),
        (lambda: pb.switch(0, []), ValueError, "a list of functions"),
        (lambda: pb.switch(0.5, [lambda: 1.0]), TypeError, "expected an integer"),
    ],
)
def test_errors(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()


def test_a_gradient_by_one_operand_alone() -> None:
    x, y = pb.Variable(2.0), pb.Variable(3.0)
    z = pb.cond(x < y, lambda p, q: p * q, lambda p, q: p - q, x, y)
    assert float(pb.gradients(z, [x])[0]) == 3.0
    assert float(pb.gradients(z, [y])[0]) == 2.0
