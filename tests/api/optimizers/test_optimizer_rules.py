"""The optimizers' rules: numbers that TensorFlow gave, and the formulas again as recurrences in
NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb
from pullback.optimizers import (
    Adadelta,
    Adafactor,
    Adagrad,
    AdagradDA,
    Adam,
    AdamW,
    Ftrl,
    GradientDescent,
    Lamb,
    Lion,
    Momentum,
    Nadam,
    ProximalAdagrad,
    ProximalGradientDescent,
    RMSProp,
)

# --- check values: v = [1, -2], g = [0.5, -1] three times (observed in TensorFlow)

CHECKED = [
    (lambda: GradientDescent(0.1), [0.85, -1.7]),
    (lambda: Momentum(0.1, 0.9), [0.7195, -1.439]),
    (lambda: Momentum(0.1, 0.9, use_nesterov=True), [0.59755, -1.1951]),
    (lambda: Adagrad(0.1), [0.796702, -1.778851]),
    (lambda: Adadelta(1, 0.9, 1e-6), [0.990293, -1.990293]),
    (lambda: Adam(), [0.997, -1.997]),
    (lambda: Adam(0.1, 0.8, 0.9, 1e-4), [0.700147, -1.700074]),
    (lambda: RMSProp(0.1), [0.838002, -1.7]),
    (lambda: RMSProp(0.1, 0.8, 0.5, 1e-3), [0.754682, -1.575212]),
    (lambda: RMSProp(0.1, 0.8, 0.5, 1e-3, centered=True), [0.748943, -1.546304]),
    (lambda: Ftrl(0.1), [0.262180, -1.175828]),
    (lambda: Ftrl(0.1, l1=0.2, l2=0.3), [0.204362, -1.091972]),
    (lambda: Ftrl(0.1, l1=0.1, l2=0.3, l2_shrinkage=0.2), [0.137424, -0.975219]),
    (lambda: Ftrl(0.1, beta=0.5), [0.132075, -0.785888]),
    (lambda: ProximalGradientDescent(0.1, 0.5, 0.2), [0.653934, -1.452062]),
    (lambda: ProximalAdagrad(0.1, l1=0.5, l2=0.2), [0.537587, -1.592046]),
    (lambda: AdagradDA(0.1, l1=0.1, l2=0.2), [-0.122205, 0.148296]),
]  # fmt: skip


@each(("make", "expected"), CHECKED)
@each("dtype", ["float32", "float64"])
def test_check_values(make: Any, expected: Any, dtype: str) -> None:
    v, optimizer = pb.Variable([1.0, -2.0], dtype=dtype), make()
    for _ in range(3):
        optimizer.apply_gradients([(np.array([0.5, -1.0], dtype), v)])
    np.testing.assert_allclose(v.numpy(), expected, atol=1.1e-6)


# --- the rules again, as a recurrence in NumPy


def descent(v, g, s):
    return v - 0.1 * g


def momentum(v, g, s, nesterov=False):
    s["m"] = 0.7 * s.get("m", 0) + g
    return v - 0.1 * (g + 0.7 * s["m"] if nesterov else s["m"])


def nesterov(v, g, s):
    return momentum(v, g, s, nesterov=True)


def rmsprop(v, g, s, centered=False):
    s["r"] = 0.8 * s.get("r", 1) + 0.2 * g**2
    s["q"] = 0.8 * s.get("q", 0) + 0.2 * g
    root = np.sqrt(s["r"] - (s["q"] ** 2 if centered else 0) + 1e-3)
    s["m"] = 0.5 * s.get("m", 0) + 0.1 * g / root
    return v - s["m"]


def centered(v, g, s):
    return rmsprop(v, g, s, centered=True)


def adagrad(v, g, s):
    s["a"] = s.get("a", 0.3) + g**2
    return v - 0.1 * g / np.sqrt(s["a"])


def adadelta(v, g, s):
    s["a"] = 0.9 * s.get("a", 0) + 0.1 * g**2
    d = g * np.sqrt((s.get("u", 0) + 1e-3) / (s["a"] + 1e-3))
    s["u"] = 0.9 * s.get("u", 0) + 0.1 * d**2
    return v - 0.5 * d


def moments(g, s):
    s["t"] = s.get("t", 0) + 1
    s["m"] = 0.8 * s.get("m", 0) + 0.2 * g
    s["s"] = 0.95 * s.get("s", 0) + 0.05 * g**2
    return s["t"], s["m"] / (1 - 0.8 ** s["t"]), np.sqrt(s["s"] / (1 - 0.95 ** s["t"]))


def adam(v, g, s):
    t, m, root = moments(g, s)
    return v - 0.1 * m * np.sqrt(1 - 0.95**t) / (root * np.sqrt(1 - 0.95**t) + 1e-4)


def adam_w(v, g, s):
    _, m, root = moments(g, s)
    return v - 0.1 * (m / (root + 1e-4) + 0.03 * v)


def nadam(v, g, s):
    t, _, root = moments(g, s)
    ahead = 0.8 * s["m"] / (1 - 0.8 ** (t + 1)) + 0.2 * g / (1 - 0.8**t)
    return v - 0.1 * ahead / (root + 1e-4)


def lamb(v, g, s):
    _, m, root = moments(g, s)
    u = m / (root + 1e-4) + 0.03 * v
    return v - 0.1 * u * np.linalg.norm(v) / np.linalg.norm(u)


def lion(v, g, s):
    m = s.get("m", 0)
    s["m"] = 0.95 * m + 0.05 * g
    return v - 0.1 * (np.sign(0.8 * m + 0.2 * g) + 0.03 * v)


def adafactor(v, g, s):
    t = s["t"] = s.get("t", 0) + 1
    b = 1 - t**-0.7
    square = g**2 + 1e-20
    if np.ndim(v) == 2:
        s["r"] = b * s.get("r", 0) + (1 - b) * square.mean(axis=1)
        s["c"] = b * s.get("c", 0) + (1 - b) * square.mean(axis=0)
        s["s"] = np.outer(s["r"], s["c"]) / s["r"].mean()
    else:
        s["s"] = b * s.get("s", 0) + (1 - b) * square
    u = g / np.sqrt(s["s"])
    u = u / max(1, np.sqrt(np.mean(u**2)) / 0.9)
    return v - max(1e-2, np.sqrt(np.mean(np.square(v)))) * min(0.4, 1 / np.sqrt(t)) * u


def ftrl(v, g, s):
    n, p = s.get("n", 0.2), 0.4
    s["n"] = n + g**2
    sigma = (s["n"] ** p - n**p) / 0.1
    s["z"] = s.get("z", 0) + g + 2 * 0.02 * v - sigma * v
    z = s["z"]
    new = (0.3 * np.sign(z) - z) / (s["n"] ** p / 0.1 + 2 * (0.05 + 0.7 / (2 * 0.1)))
    return np.where(np.abs(z) > 0.3, new, 0)


def proximal(v, g, s, rate=0.1):
    p = v - rate * g
    return np.sign(p) * np.maximum(np.abs(p) - rate * 0.4, 0) / (1 + rate * 0.2)


def proximal_adagrad(v, g, s):
    s["a"] = s.get("a", 0.3) + g**2
    return proximal(v, g, s, 0.1 / np.sqrt(s["a"]))


def dual_averaging(v, g, s):
    t = s["t"] = s.get("t", 0) + 1
    s["g"] = s.get("g", 0) + g
    s["n"] = s.get("n", 0.3) + g**2
    beyond = np.sign(s["g"]) * np.maximum(np.abs(s["g"]) - 0.4 * t, 0)
    return -0.1 * beyond / (0.2 * t * 0.1 + np.sqrt(s["n"]))


RULES = [
    (lambda: GradientDescent(0.1), descent),
    (lambda: Momentum(0.1, 0.7), momentum),
    (lambda: Momentum(0.1, 0.7, use_nesterov=True), nesterov),
    (lambda: RMSProp(0.1, 0.8, 0.5, 1e-3), rmsprop),
    (lambda: RMSProp(0.1, 0.8, 0.5, 1e-3, centered=True), centered),
    (lambda: Adagrad(0.1, 0.3), adagrad),
    (lambda: Adadelta(0.5, 0.9, 1e-3), adadelta),
    (lambda: Adam(0.1, 0.8, 0.95, 1e-4), adam),
    (lambda: AdamW(0.1, 0.8, 0.95, 1e-4, 0.03), adam_w),
    (lambda: Nadam(0.1, 0.8, 0.95, 1e-4), nadam),
    (lambda: Lamb(0.1, 0.8, 0.95, 1e-4, 0.03), lamb),
    (lambda: Lion(0.1, 0.8, 0.95, 0.03), lion),
    (lambda: Adafactor(0.4, -0.7, 1e-20, 1e-2, 0.9), adafactor),
    (lambda: Ftrl(0.1, -0.4, 0.2, 0.3, 0.05, 0.02, 0.7), ftrl),
    (lambda: ProximalGradientDescent(0.1, 0.4, 0.2), proximal),
    (lambda: ProximalAdagrad(0.1, 0.3, 0.4, 0.2), proximal_adagrad),
    (lambda: AdagradDA(0.1, 0.3, 0.4, 0.2), dual_averaging),
]  # fmt: skip


@pytest.mark.parametrize(("make", "rule"), RULES, ids=[rule.__name__ for _, rule in RULES])
@pytest.mark.parametrize("traced", [False, True])
def test_rules(make: Any, rule: Any, traced: bool) -> None:
    start = np.array([[1.0, -2.0], [0.5, 3.0]])
    v, w, optimizer = pb.Variable(start), pb.Variable(4.0, dtype="float64"), make()

    def step() -> None:
        optimizer.minimize(lambda: pb.sum(v**4) * 0.1 + pb.square(w) * pb.sum(v) * 0.01)

    if traced:
        step = pb.function(step)
    a, b, state_a, state_b = start, 4.0, {}, {}
    for _ in range(12):
        step()
        ga, gb = 0.4 * a**3 + 0.01 * b**2, 0.02 * b * a.sum()
        a, b = rule(a, ga, state_a), rule(b, gb, state_b)
        np.testing.assert_allclose(v.numpy(), a, rtol=1e-11, atol=1e-13)
        np.testing.assert_allclose(w.numpy(), b, rtol=1e-11, atol=1e-13)


# --- where a formula is at its limits


@pytest.mark.parametrize("make", [Adam, AdamW, Nadam, Lamb])
def test_float32_starts_exactly(make: Any) -> None:
    """1 - 0.999 in float32 would be off by 1e-5; the first step of Adam is the rate, for any
    gradient."""
    v, w = pb.Variable([0.5, -2.0]), pb.Variable([0.5, -2.0], dtype="float64")
    optimizer = make(0.25, epsilon=1e-30)
    for variable in (v, w):
        make(0.25, epsilon=1e-30).apply_gradients([([1e-3, 1e3], variable)])
    np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=5e-7)
    if make is Adam:
        np.testing.assert_allclose(v.numpy(), [0.25, -2.25], rtol=3e-7)
    assert optimizer.steps == 0


def test_lion_keeps_its_mean_by_the_second_beta() -> None:
    """0.9 m + 0.1 g decides the sign, m = 0.01 after the first step: the second goes back."""
    v = pb.Variable(1.0)
    optimizer = Lion(0.5, beta1=0.9, beta2=0.99)
    for gradient, expected in ((1.0, 0.5), (-0.5, 1.0)):
        optimizer.apply_gradients([(gradient, v)])
        assert float(v) == expected


def test_adam_without_decay() -> None:
    v = pb.Variable([1.0, -2.0])
    Adam(0.5, beta1=0.0, beta2=0.0, epsilon=0.0).apply_gradients([([3.0, -4.0], v)])
    assert v.numpy().tolist() == [0.5, -1.5]


def test_lamb_of_a_variable_or_a_step_of_length_zero() -> None:
    v, w = pb.Variable([0.0, 0.0]), pb.Variable([3.0, 4.0])
    optimizer = Lamb(0.5, weight_decay=0.0)
    optimizer.apply_gradients([([1.0, -1.0], v), ([0.0, 0.0], w)])
    np.testing.assert_allclose(v.numpy(), [-0.5, 0.5], rtol=1e-5)
    assert w.numpy().tolist() == [3.0, 4.0]


def test_adafactor_with_a_rate_of_its_own() -> None:
    v, w = pb.Variable(np.full((2, 2), 2.0)), pb.Variable(np.full((2, 2), 2.0))
    Adafactor(3.0, relative_step=False).apply_gradients([(np.ones((2, 2)), v)])
    Adafactor(3.0).apply_gradients([(np.ones((2, 2)), w)])
    np.testing.assert_allclose(v.numpy(), 2.0 - 3.0 * 2.0)
    np.testing.assert_allclose(w.numpy(), 2.0 - 1.0 * 2.0)


@pytest.mark.parametrize("shape", [(3, 3), (2, 3, 3), (3,), (1, 1)])
def test_adafactor_beside_zeros(shape: Any) -> None:
    """Rows and columns without a gradient, as of a dead unit and a blank pixel."""
    g = np.ones(shape, np.float32)
    g[..., 0] = 0
    if len(shape) > 1:
        g[..., 0, :] = 0
    v = pb.Variable(np.ones(shape, np.float32))
    for _ in range(3):
        Adafactor(0.1).apply_gradients([(g, v)])
    assert np.isfinite(v.numpy()).all()
    assert np.array_equal(v.numpy() == 1, g == 0)


@pytest.mark.parametrize("traced", [False, True])
def test_ftrl_at_a_rate_of_zero_stays_where_it_is(traced: bool) -> None:
    v, w = pb.Variable([1.0, -2.0]), pb.Variable([1.0, -2.0])
    optimizer, plain = Ftrl(pb.optimizers.Piecewise([1, 2, 4], [0.0, 0.1, 0.0, 0.1])), Ftrl(0.1)

    def step() -> None:
        optimizer.apply_gradients([([0.5, -1.0], v)])

    step = pb.function(step) if traced else step
    for moves in (False, True, False, False, True):
        before = v.numpy()
        step()
        assert np.array_equal(before, v.numpy()) != moves
        if moves:
            plain.apply_gradients([([0.5, -1.0], w)])
    np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=1e-6)
    Ftrl(0.0).apply_gradients([([1.0, 1.0], v)])
    np.testing.assert_allclose(v.numpy(), w.numpy(), rtol=1e-6)


@each(("make", "rule"), RULES, ids=[rule.__name__ for _, rule in RULES])
def test_a_gradient_that_is_nan_shows(make: Any, rule: Any) -> None:
    v = pb.Variable([1.0, 2.0])
    make().apply_gradients([([np.nan, 1.0], v)])
    assert np.isnan(v.numpy()[0])


@each(
    "make",
    [
        lambda: RMSProp(0.1, decay=2),
        lambda: Adadelta(rho=1.5),
        lambda: Adafactor(epsilon1=-1),
        lambda: Adafactor(clip_threshold=0),
        lambda: Adagrad(0.1, 0.0),
        lambda: Ftrl(0.1, learning_rate_power=0.5),
        lambda: Ftrl(0.1, l1=-1),
        lambda: ProximalGradientDescent(0.1, l2=-1),
        lambda: ProximalAdagrad(0.1, initial_accumulator_value=-1),
        lambda: Lion(beta1=1.0),
        lambda: Nadam(beta2=-0.1),
    ],
)
def test_numbers_out_of_range(make: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^\w+: expected a number (>=|<=|>|in \[)[^;]* for \w+, got "
    ):
        make()


def test_names_of_other_libraries() -> None:
    with pytest.raises(AttributeError, match="'SGD'; here it is 'GradientDescent'"):
        pb.optimizers.SGD  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'Adagrad'"):
        pb.optimizers.AdaGrad  # noqa: B018
    with pytest.raises(TypeError, match=r"^Nadam: unexpected .* 'lr'; use 'learning_rate'"):
        pb.optimizers.Nadam(lr=0.1)
