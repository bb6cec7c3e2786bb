"""custom_gradient: the contract, and which arguments it covers, in every mode that asks for a
gradient. Variables are in test_custom_variables.py, mistakes in test_custom_errors.py."""

from __future__ import annotations

import collections
import functools

import numpy as np
import pytest
from support.gradients import each_mode  # noqa: F401

import pullback as pb

# --- the contract


def test_log1pexp(mode):
    def naive(x):
        return pb.log(1 + pb.exp(x))

    @pb.custom_gradient
    def stable(x):
        e = pb.exp(x)
        return pb.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))

    assert np.isnan(mode(naive, np.float32(100.0))).all()
    assert mode(stable, np.float32(100.0)) == [1.0]


def test_two_inputs(mode):
    @pb.custom_gradient
    def product(x, y):
        def rule(upstream):
            return upstream * y, upstream * x

        return x * y, rule

    assert mode(product, 2.0, 3.0) == [3.0, 2.0]
    assert mode(lambda x, y: 10 * product(x, y), 2.0, 3.0) == [30.0, 20.0]


def test_one_tensor_twice(mode):
    @pb.custom_gradient
    def f(x, y):
        return x + y, lambda g: (10 * g, 100 * g)

    assert mode(lambda x: f(x, x), 1.0) == [110.0]


def test_several_outputs_and_structures(mode):
    Pair = collections.namedtuple("Pair", "a b")

    @pb.custom_gradient
    def f(x):
        return Pair({"z": x * 2, "y": x * 3}, None), lambda gy, gz: gy * 10 + gz * 1000

    def use(x):
        out = f(x)
        assert type(out) is Pair and out.b is None and list(out.a) == ["z", "y"]
        return out.a["y"] + 5 * out.a["z"]

    assert mode(use, 1.0) == [5010.0]
    assert mode(lambda x: f(x).a["y"], 1.0) == [10.0]  # the other upstream is zeros


def test_numbers_become_tensors(mode):
    @pb.custom_gradient
    def f(x, y):
        return x * pb.sum(y), lambda g: (7, np.float64(2.5))

    assert mode(f, 1.0, np.ones((2, 2), np.float32)) == [7.0, [[2.5, 2.5], [2.5, 2.5]]]


def test_none_is_no_gradient_and_other_paths_count(mode):
    @pb.custom_gradient
    def f(x, y):
        return x * y, lambda g: (None, g)

    assert mode(lambda x, y: f(x, y) + 3 * x, 2.0, 5.0) == [3.0, 1.0]


def test_second_derivatives_come_from_the_rule():
    @pb.custom_gradient
    def cube(x):
        return x**3, lambda g: g * 3 * x**2

    x = pb.Variable(2.0)
    first = pb.gradients(cube(x), x)[0]
    assert (float(first), float(pb.gradients(first, x)[0])) == (12.0, 12.0)
    assert float(pb.grad(pb.grad(cube))(2.0)) == 12.0

    @pb.custom_gradient
    def constant_slope(x):
        return x**3, lambda g: 7 * g

    first = pb.gradients(constant_slope(x), x)[0]
    assert float(first) == 7.0 and pb.gradients(first, x) == [None]


def test_second_order_in_the_wrapped_form():
    """An inner custom function of x, multiplied by dy, carries the second derivative."""

    @pb.custom_gradient
    def f(x):
        def first(dy):
            @pb.custom_gradient
            def slope(x):
                return 3 * x**2, lambda ddy: 1000 * ddy

            return dy * slope(x)

        return x**3, first

    x = pb.Variable(2.0)
    g = pb.gradients(f(x), x)[0]
    assert (float(g), float(pb.gradients(g, x)[0])) == (12.0, 1000.0)
    assert float(pb.grad(pb.grad(f))(2.0)) == 1000.0
    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            y = f(x)
        g = inner.gradient(y, x)
    assert float(outer.gradient(g, x)) == 1000.0


@pb.custom_gradient
def naively_nested(x):
    @pb.custom_gradient
    def rule(dy):
        return dy * 3 * x**2, lambda ddy: 555 * ddy  # by dy alone, not by x

    return x**3, rule


@pytest.mark.parametrize("outer", [lambda x, y: y, lambda x, y: x * y])
def test_naive_nesting_is_the_ordinary_second_derivative(outer):
    def plain(x):
        return outer(x, x**3)

    def nested(x):
        return outer(x, naively_nested(x))

    second = float(pb.grad(pb.grad(plain))(2.0))
    assert float(pb.grad(pb.grad(nested))(2.0)) == second

    x = pb.Variable(2.0)
    g = pb.gradients(nested(x), x)[0]
    assert float(pb.gradients(g, x)[0]) == second

    with pb.GradientTape() as outer_tape:
        with pb.GradientTape() as tape:
            y = nested(x)
        g = tape.gradient(y, x)
    assert float(outer_tape.gradient(g, x)) == second

    @pb.function
    def compute(x):
        return pb.grad(pb.grad(nested))(x)

    assert float(compute(2.0)) == float(compute(2.0)) == second


def test_closure_tensors_are_no_inputs():
    x, c = pb.Variable(2.0), pb.Variable(5.0).read() * 1

    @pb.custom_gradient
    def f(x):
        return x * c, lambda g: g

    assert [g if g is None else float(g) for g in pb.gradients(f(x), [x, c])] == [1.0, None]


def test_a_leaked_inner_tensor_keeps_its_ordinary_gradient():
    leaked = []

    @pb.custom_gradient
    def f(x):
        leaked.append(x * 6)
        return leaked[0] * 1, lambda g: 100 * g

    x = pb.Variable(1.0)
    y = f(x)
    assert [float(pb.gradients(t, x)[0]) for t in (leaked[0], y)] == [6.0, 100.0]
    assert float(pb.gradients(leaked[0] + y, x)[0]) == 106.0


def test_the_result_is_a_new_tensor():
    @pb.custom_gradient
    def same(x):
        return x, lambda g: 2 * g

    x = pb.Variable(3.0).read()
    y = same(x)
    assert y is not x and float(y) == 3.0
    assert float(pb.gradients(y, x)[0]) == 2.0


def test_the_rule_runs_once_per_gradient_and_never_forward():
    count = []

    @pb.custom_gradient
    def f(x):
        def rule(g):
            count.append(1)
            return g

        return x * 2, rule

    x = pb.Variable(1.0)
    y = f(x)
    y.numpy()
    assert not count
    pb.gradients(y + y * y, x)
    assert len(count) == 1
    pb.gradients(y, [])
    pb.gradients(x * 2, x)
    assert len(count) == 1


def test_unwatched_inputs_call_no_rule():
    @pb.custom_gradient
    def f(x):
        return x * 2, lambda g: pytest.fail("called")

    x, v = pb.constant(1.0), pb.Variable(1.0)
    with pb.GradientTape() as tape:
        y = f(x) * v
    assert float(tape.gradient(y, v)) == 2.0


def test_both_forms_of_the_decorator_and_what_they_keep():
    @pb.custom_gradient
    def one(x):
        "Doc of one."
        return x * 1, lambda g: g

    @pb.custom_gradient()
    def two(x):
        return x * 1, lambda g: 2 * g

    assert one.__name__ == "one" and one.__doc__ == "Doc of one." and one.__wrapped__
    x = pb.Variable(1.0)
    assert float(pb.gradients(two(x), x)[0]) == 2.0


def test_methods():
    class Layer:
        def __init__(self):
            self.k = 3.0

        @pb.custom_gradient
        def call(self, x):
            return self.k * x, lambda g: 50 * g

        @staticmethod
        @pb.custom_gradient
        def static(x):
            return x * 1, lambda g: 60 * g

        @classmethod
        @pb.custom_gradient
        def of_class(cls, x):
            return x * 1, lambda g: 70 * g

    x, layer = pb.Variable(1.0), Layer()
    answers = [pb.gradients(f(x), x)[0] for f in (layer.call, layer.static, layer.of_class)]
    assert [float(g) for g in answers] == [50.0, 60.0, 70.0]


# --- rules that are decorated themselves, or wrap one that is


@pb.custom_gradient
def times_one(t):
    """The identity, with the gradient 1 and a rule of its own below."""
    return t * 1.0, lambda g: g


@functools.wraps(times_one)
def doubled(g):
    return 2 * times_one(g)


class Rules:
    def __init__(self, factor):
        self.factor = factor

    @pb.custom_gradient
    def rule(self, g):
        return self.factor * g, lambda upstream: upstream


@pytest.mark.parametrize(
    ("rule", "slope"),
    [
        (times_one, 1.0),
        (doubled, 2.0),
        (functools.partial(doubled), 2.0),
        (pb.grad(pb.custom_gradient(lambda t: (t * t, lambda g: 7.0 * g))), 7.0),
        (Rules(3.0).rule, 3.0),
        (pb.function(doubled), 2.0),
    ],
)
def test_a_rule_is_called_as_it_is(rule, slope):
    """functools.wraps copies the attributes of what it wraps; the wrapper is what was returned."""
    x = pb.Variable(1.0)
    f = pb.custom_gradient(lambda t: (t * 1.0, rule))
    assert pb.gradients(f(x), x)[0].item() == slope


def test_a_rule_written_in_c():
    """It has no signature to ask for `variables`."""
    x, w = pb.Variable(3.0), pb.Variable(5.0)
    f = pb.custom_gradient(lambda t: (t * w, pb._core.negative))
    assert [g.item() for g in pb.gradients(f(x), [x, w])] == [-1.0, 3.0]


def test_a_rule_means_the_same_for_numbers_that_are_traced() -> None:
    x = pb.Variable([1.0, 2.0])

    @pb.custom_gradient
    def scaled(x, n):
        return x * n, lambda g: (g * n, g * x)

    @pb.custom_gradient
    def with_mode(x, n, mode):
        return x * n, lambda g: (g * n, None)

    for f in (
        lambda n: pb.gradients(scaled(x, n), x),
        lambda n: pb.gradients(with_mode(x, n, "a"), x),
    ):
        assert f(2.0)[0].numpy().tolist() == [2.0, 2.0]
        assert pb.function(f)(2.0)[0].numpy().tolist() == [2.0, 2.0]


def test_a_rule_that_differentiates_itself():
    """By its own argument, however that was made: a leaf that was watched, or a result."""

    @pb.custom_gradient
    def sine(z):
        y = pb.sin(z)
        return y, lambda u: pb.gradients(y, z, u)[0]

    x = pb.constant(np.linspace(0.0, 1.0, 3))
    slope = np.cos(x.numpy())
    np.testing.assert_allclose(pb.grad(lambda x: pb.sum(sine(x)))(x), slope)
    np.testing.assert_allclose(pb.grad(lambda x: pb.sum(sine(x * 1)))(x), slope)
    v = pb.Variable(x)
    np.testing.assert_allclose(pb.gradients(sine(v), v)[0], slope)
    with pb.GradientTape() as tape:
        tape.watch(x)
        y = sine(x)
    np.testing.assert_allclose(tape.gradient(y, x), slope)
    second = pb.grad(lambda x: pb.sum(pb.grad(lambda x: pb.sum(sine(x)))(x)))(x)
    np.testing.assert_allclose(second, -np.sin(x.numpy()))
