"""A rule for pow is one for every power: also for x**2, x**3 and x**-1, which are computed as
products and quotients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.process import run

import pullback as pb

EXPONENTS = [-1, 2, 3, 4, 0.5, -1.0, 2.0, 3.0]


def seven(op: Any, g: Any) -> list[Any]:
    assert op.type == "pow" and len(op.inputs) == 2
    assert op.inputs[1].dtype == op.inputs[0].dtype
    return [7 * g, None]


@each("exponent", EXPONENTS)
@each("dtype", ["float32", "float64"])
def test_overrides_of_a_call(exponent: float, dtype: str) -> None:
    x = pb.Variable(np.array([3.0, 2.0], dtype))
    rules = {"pow": seven}
    for y in (x**exponent, pb.pow(x, exponent)):
        assert pb.gradients(y, x, overrides=rules)[0].numpy().tolist() == [7, 7]
        plain = pb.gradients(y, x)[0].numpy()
        np.testing.assert_allclose(plain, exponent * x.numpy() ** (exponent - 1), rtol=1e-6)
    with pb.GradientTape() as tape:
        y = x**exponent
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), plain, rtol=1e-6)


@pytest.mark.parametrize("exponent", [-1, 2, 3, 4, 2.0])
def test_an_override_map(exponent: float) -> None:
    x = pb.Variable(3.0)
    with pb.gradient_override_map({"pow": lambda op, g: [7 * g] + [None] * (len(op.inputs) - 1)}):
        for y in (x**exponent, pb.pow(x, exponent)):
            assert float(pb.gradients(y, x)[0]) == 7
            assert float(y) == pytest.approx(3**exponent)


@each("exponent", EXPONENTS)
def test_inside_of_a_function(exponent: float) -> None:
    x = np.array([3.0, 2.0])
    slope = pb.function(lambda t: pb.gradients(t**exponent, [t], overrides={"pow": seven})[0])
    power = pb.function(lambda t: t**exponent)
    for _ in range(2):
        assert slope(x).numpy().tolist() == [7, 7]
        v = pb.Variable(x)
        assert pb.gradients(power(v), v, overrides={"pow": seven})[0].numpy().tolist() == [7, 7]
    with pb.gradient_override_map({"pow": seven}):
        stamped = pb.function(lambda t: t**exponent)
        assert pb.gradients(stamped(v), v)[0].numpy().tolist() == [7, 7]


def test_numbers_given_to_a_function() -> None:
    """A traced number stays one: what it meets keeps its dtype."""
    f = pb.function(lambda x, k: x * k**2 + k**-1)
    y = f(np.ones(2, np.float32), 0.1)
    assert y.dtype == pb.float32
    np.testing.assert_array_equal(y.numpy(), np.float32(1) * np.float32(0.1**2) + np.float32(10))


def test_what_the_rule_is_told() -> None:
    seen = []

    def rule(op: Any, g: Any) -> list[Any]:
        x, n = op.inputs
        seen.append((x.numpy().tolist(), float(n), op.outputs[0].numpy().tolist()))
        return [g * n * x ** (n - 1), None]

    x = pb.Variable(np.array([2.0, -1.0]))
    (g,) = pb.gradients(x**3, x, overrides={"pow": rule})
    assert g.numpy().tolist() == [12, 3]
    assert seen == [([2.0, -1.0], 3.0, [8.0, -1.0])]


def test_registered() -> None:
    """In a process of its own: it lasts."""
    code = (
        "import pullback as pb\n"
        "x = pb.Variable(2.0)\n"
        "before = [x**n for n in (-1, 2, 3, 4)]\n"
        "f = pb.function(lambda t: pb.gradients(t**2 + t**3, [t])[0])\n"
        "print(float(f(x)))\n"
        "pb.register_gradient('pow', replace=True)(lambda op, g: [5 * g, None])\n"
        "print([float(pb.gradients(y, x)[0]) for y in before])\n"
        "print(float(f(x)))\n"
    )
    out = run(code)
    assert out.split("\n")[:3] == ["16.0", "[5.0, 5.0, 5.0, 5.0]", "10.0"]


@pytest.mark.parametrize("exponent", [2, 3, 4, 2.0])
def test_a_bool_is_a_number_as_in_other_arithmetic(exponent: float) -> None:
    b = pb.constant([True, False])
    assert (b**exponent).dtype == (b + exponent).dtype
    assert (b**exponent).numpy().tolist() == [1, 0]
    with pytest.raises(TypeError, match=r"^pow: expected numbers, got bool"):
        b**b
