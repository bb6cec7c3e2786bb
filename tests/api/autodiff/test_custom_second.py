"""custom_gradient(second=…): a rule whose own gradient is given."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import pullback as pb
from pullback import _core


def tagged(primals, upstream, directions):
    """Not the derivative: it shows."""
    (x,), (u,), (v,) = primals, upstream, directions
    return 1000 * v * u, v * 3 * x**2


@pb.custom_gradient(second=tagged, intentional=True)
def cube(x):
    return x**3, lambda upstream: upstream * 3 * x**2


def product_second(primals, upstream, directions):
    (x, y), (u,), (a, b) = primals, upstream, directions
    return (u * b, u * a), a * y + b * x


def product(**options):
    @pb.custom_gradient(second=product_second, **options)
    def multiply(x, y):
        return x * y, lambda upstream: (upstream * y, upstream * x)

    return multiply


def test_in_every_mode():
    x = pb.Variable(2.0)
    (first,) = pb.gradients(cube(x), x)
    assert (float(first), float(pb.gradients(first, x)[0])) == (12.0, 1000.0)
    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            y = cube(x)
        first = inner.gradient(y, x)
    assert (float(first), float(outer.gradient(first, x))) == (12.0, 1000.0)
    second = pb.grad(pb.grad(cube))
    assert float(second(2.0)) == float(pb.function(second)(2.0)) == 1000.0


def test_derivatives_of_the_tangent():
    """Forward mode applies the rule as reverse mode does, so `second` is its derivative there."""
    x, one = pb.asarray(2.0), pb.asarray(1.0)

    def tangent(f):
        return lambda x: pb.jvp(f, (x,), (one,))[1]

    def once(f):
        return lambda x: pb.while_loop(lambda s: s[0] < 1, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]

    def repeated(f):
        return lambda x: pb.fori_loop(0, 1, lambda i, y: f(y), x)

    for f in (cube, once(cube), repeated(cube), pb.function(cube), pb.checkpoint(cube)):
        assert float(tangent(f)(x)) == 12.0
        for second in (pb.grad(tangent(f)), tangent(tangent(f)), tangent(pb.grad(f))):
            assert float(second(x)) == 1000.0
        assert float(pb.grad(pb.grad(f))(x)) == 1000.0
    third = pb.grad(lambda x: 2.0 * tangent(pb.grad(cube))(x))
    assert float(third(x)) == 0.0  # that of 1000 v u, by x


def test_numbers_for_upstream():
    f = pb.custom_gradient(
        lambda x: (x, lambda g: 1.0 * g), second=lambda *_: (5.0, 0.0), intentional=True
    )
    one = pb.asarray(1.0)
    assert float(pb.grad(pb.grad(f))(2.0)) == 5.0
    assert float(pb.jvp(f, (one,), (one,))[1]) == 0.0


def test_the_derivative_by_upstream_of_a_rule_with_several_arguments():
    f = product(verify="always")
    x, y, a, b = (pb.asarray(v) for v in (3.0, 5.0, 0.5, 0.25))

    def tangent(x, y, a, b):
        return pb.jvp(f, (x, y), (a, b))[1]

    found = [float(g) for g in pb.grad(tangent, argnums=(0, 1, 2, 3))(x, y, a, b)]
    assert found == [0.25, 0.5, 5.0, 3.0]


def test_a_rule_that_is_not_linear_in_upstream():
    def second(primals, upstream, directions):
        (x,), (u,), (v,) = primals, upstream, directions
        return v * u**2, 2 * v * u * x

    @pb.custom_gradient(second=second, intentional=True)
    def f(x):
        return x**2, lambda u: u**2 * x

    # The gradient of 3 f is 9 x; by u = 3 it is 2 u x = 6 x, whose derivative by u is 2 x.
    def answer(u):
        return pb.grad(lambda x: u * f(x))(pb.asarray(2.0))

    u = pb.asarray(3.0)
    found = [float(g(u)) for g in (answer, pb.grad(answer), pb.grad(pb.grad(answer)))]
    assert found == [18.0, 12.0, 4.0]


def test_third_derivatives_are_those_of_the_second_rule():
    f = product(verify="always")
    third = pb.grad(pb.grad(pb.grad(lambda x: f(x, f(x, x)))))
    assert float(third(5.0)) == 6.0


def test_a_constant_argument_and_one_without_a_gradient():
    f = product()
    assert float(pb.grad(pb.grad(lambda x: f(x, 3.0 * x)))(2.0)) == 6.0

    def second(primals, upstream, directions):
        assert directions[1] is None
        return (directions[0] * 7, None), directions[0] * 2 * primals[0]

    @pb.custom_gradient(second=second, intentional=True)
    def half(x, y):
        return x * x + y, lambda upstream: (upstream * 2 * x, None)

    x, y = pb.Variable(3.0), pb.Variable(1.0)
    (first,) = pb.gradients(half(x, y), x)
    assert [g if g is None else float(g) for g in pb.gradients(first, [x, y])] == [7.0, None]


def test_with_a_jvp():
    def jvp(primals, tangents):
        return 3 * primals[0] ** 2 * tangents[0]

    f = pb.custom_gradient(lambda x: x**3, jvp=jvp, second=tagged, intentional=True)
    assert float(pb.grad(pb.grad(f))(2.0)) == 1000.0


def test_it_is_verified():
    def wrong(primals, upstream, directions):
        (x, y), (u,), (a, b) = primals, upstream, directions
        return (u * b, 2 * u * a), a * y + b * x

    @pb.custom_gradient(second=wrong, verify="always")
    def multiply(x, y):
        return x * y, lambda upstream: (upstream * y, upstream * x)

    first = pb.grad(multiply)
    with pytest.raises(pb.testing.GradientError, match=r"wrong .*derivative by argument 'primals'"):
        pb.grad(lambda x: first(x, x * x))(3.0)
    good = product(verify="always")
    assert float(pb.grad(lambda x: pb.grad(good)(x, x * x))(3.0)) == 6.0
    pb.testing.check_gradients(product(), 2.0, 3.0)


def test_a_number_is_no_primal_inside_of_a_function_either():
    @pb.custom_gradient(second=tagged, intentional=True)
    def scaled(x, k=5.0):
        return k * x**3, lambda upstream: upstream * k * 3 * x**2

    second = pb.grad(pb.grad(scaled))
    assert float(second(2.0)) == 1000.0
    assert float(pb.function(lambda x, k: pb.grad(pb.grad(scaled))(x, k=k))(2.0, 5.0)) == 1000.0


def test_a_variable_has_the_value_of_the_call():
    seen = []

    def second(primals, upstream, directions):
        seen.append(float(primals[0]))
        return directions[0] * 6 * primals[0] * upstream[0], directions[0] * 3 * primals[0] ** 2

    @pb.custom_gradient(second=second)
    def f(x):
        return x**3, lambda upstream: upstream * 3 * x**2

    x = pb.Variable(2.0)
    (first,) = pb.gradients(f(x), x)
    x.assign(10.0)
    assert float(pb.gradients(first, x)[0]) == 12.0 and seen == [2.0]


def test_nothing_is_left_of_a_call():
    gc.collect()
    gc.disable()
    try:
        before = _core.status()["live_nodes"]
        for _ in range(20):
            x = pb.Variable(np.ones(1000))
            pb.evaluate(pb.gradients(pb.gradients(cube(x), x)[0], x)[0])
            del x
        assert _core.status()["live_nodes"] == before
    finally:
        gc.enable()


def test_one_entry_for_each_argument_with_defaults():
    @pb.custom_gradient
    def power(x, n=2, *, more=None):
        return x**n, lambda upstream: (upstream * 7, None, None)

    x = pb.Variable(2.0)
    for y in (power(x), power(x, 3), power(x, n=3), power(x, more=1)):
        assert float(pb.gradients(y, x)[0]) == 7.0


def test_a_verification_leaves_the_random_numbers():
    @pb.custom_gradient(verify="always")
    def dropped(x):
        mask = pb.random.uniform(x.shape) < 0.5
        return pb.where(mask, x, 0.0) * x, lambda up: pb.where(mask, 2 * up * x, 0.0)

    draws = []
    for verified in (dropped, lambda x: pb.random.uniform(x.shape)):
        pb.random.seed(3)
        pb.evaluate(verified(pb.constant(np.ones(50))))
        draws.append(pb.random.uniform((4,)).numpy())
    np.testing.assert_array_equal(*draws)


def test_a_jvp_that_is_not_linear():
    f = pb.custom_gradient(lambda x: x**2, jvp=lambda p, t: 2 * p[0] * t[0] ** 2)
    x = pb.Variable(2.0)
    with pytest.raises(ValueError, match=r"expected a jvp that is linear in the tangents"):
        pb.gradients(f(x), x)


def test_bad_rules():
    def run(answer):
        @pb.custom_gradient(second=lambda *_: answer, intentional=True)
        def f(x):
            return x * x, lambda upstream: upstream * 2 * x

        return pb.grad(pb.grad(f))(2.0)

    with pytest.raises(ValueError, match="expected a pair, the gradients of the primals and"):
        run(3.0)
    with pytest.raises(ValueError, match="expected 1 gradient for the primals, got 2"):
        run(([1.0, 2.0], 1.0))
    with pytest.raises(TypeError, match="expected a function for second, got 3"):
        pb.custom_gradient(lambda x: (x, None), second=3)
    v = pb.Variable(2.0)

    @pb.custom_gradient(second=tagged)
    def reads(x):
        return x * v, lambda upstream, variables: (upstream * v, [upstream * x])

    with pytest.raises(ValueError, match="takes `variables` cannot have a `second`"):
        reads(pb.Variable(1.0))
