"""custom_gradient around functions that read variables: a rule may answer for them, and where it
does not they keep their ordinary gradients, counted once."""

from __future__ import annotations

from functools import partial

import numpy as np
from support.gradients import each_mode  # noqa: F401

import pullback as pb


def test_linear_poly(mode):
    weights = pb.Variable([1.0, 1.0], name="weights")
    seen = []

    @pb.custom_gradient
    def poly(x):
        def rule(upstream, variables):
            seen.append(variables)
            assert len(variables) == 1 and variables[0] is weights
            powers = upstream * pb.stack([x**0, x**1])
            return upstream * weights[1], [pb.sum(powers, axis=1)]

        return weights[1] * x + weights[0], rule

    x = pb.Variable([1.0, 2.0, 3.0])
    y = poly(x)
    assert y.numpy().tolist() == [2.0, 3.0, 4.0]
    dx, dw = pb.gradients(y, [x, weights])
    assert dx.numpy().tolist() == [1.0, 1.0, 1.0] and dw.numpy().tolist() == [3.0, 6.0]
    with pb.GradientTape() as tape:
        y = poly(x)
    dx, dw = tape.gradient(y, [x, weights])
    assert dx.numpy().tolist() == [1.0, 1.0, 1.0] and dw.numpy().tolist() == [3.0, 6.0]
    assert mode(poly, np.array([1.0, 2.0, 3.0], np.float32)) == [[1.0, 1.0, 1.0]]


def test_a_rule_that_leaves_variables_out():
    w = pb.Variable([1.0, 2.0])

    @pb.custom_gradient
    def f(x):
        return w[1] * x**2 + w[0], lambda g: 100 * g

    x = pb.Variable(3.0)
    with pb.GradientTape(persistent=True) as tape:
        y = f(x)
    for dx, dw in (pb.gradients(2 * y, [x, w]), tape.gradient(y, [x, w], output_gradients=2)):
        assert float(dx) == 200.0 and dw.numpy().tolist() == [2.0, 18.0]


def test_ordinary_gradients_of_variables_stay_inside():
    """What reaches a variable by way of an argument is the rule's business, not counted twice."""
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g: 100 * g

    x = 5 * w
    # Inside: dy/dw = x = 10; through x: 100 * 5.
    assert float(pb.gradients(f(x), w)[0]) == 510.0
    assert float(pb.gradients(pb.gradients(f(x), w)[0], w)[0]) == 5.0


def test_variables_that_do_not_count():
    frozen, given = pb.Variable(2.0, trainable=False), pb.Variable(3.0)

    @pb.custom_gradient
    def f(x, v):
        def rule(g, variables="not passed"):
            assert variables == "not passed"
            return g, 10 * g

        return x * v * frozen, rule

    x = pb.Variable(1.0)
    dx, dv, df = pb.gradients(f(x, given), [x, given, frozen])
    assert (float(dx), float(dv), df) == (1.0, 10.0, None)


def test_keyword_catch_all_takes_variables():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g, **more: (g, [10 * g for _ in more["variables"]])

    x = pb.Variable(1.0)
    assert [float(g) for g in pb.gradients(f(x), [x, w])] == [1.0, 10.0]


def test_variables_alone():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f():
        return w * 3, lambda g, variables: (None, [g * 8])

    assert float(pb.gradients(f(), w)[0]) == 8.0

    @pb.custom_gradient
    def ordinary():
        return w * 3, lambda g: None

    assert float(pb.gradients(ordinary(), w)[0]) == 3.0


def test_a_tape_that_does_not_watch_gets_none():
    w = pb.Variable(2.0)

    @pb.custom_gradient
    def f(x):
        return w * x, lambda g: g

    x = pb.constant(1.0)
    with pb.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = f(x)
    assert [g if g is None else float(g) for g in tape.gradient(y, [x, w])] == [1.0, None]


def _in_bodies(g, two, x):
    """Programs that call g, and two with its two results, in bodies of loops and branches."""
    rows = np.stack([x, x + 1])
    yield lambda: pb.sum(pb.map(g, x)) + g(x[0])
    yield lambda: pb.sum(pb.map(lambda r: pb.sum(pb.map(g, r)), rows))
    yield lambda: pb.scan(lambda c, e: (sum(two(c * e)), g(c)), np.array(0.1), x)[0]
    yield lambda: pb.fori_loop(0, 3, lambda i, c: g(c) + two(c)[1], np.array(0.2))
    yield lambda: pb.cond(pb.constant(True), g, lambda e: e, x[0]) + g(x[1])
    yield lambda: pb.sum(pb.map(lambda e: pb.cond(e > 0, g, lambda e: 2 * e, e), x))
    for used in (0, 1):  # the other result is used by nothing
        yield lambda used=used: pb.sum(pb.map(lambda e: two(e)[used] * g(e), x))
    yield lambda: pb.sum(pb.vmap(lambda r: pb.map(g, r))(rows))
    yield lambda: pb.sum(pb.map(lambda r: pb.sum(pb.vmap(g)(r)), rows))
    yield lambda: pb.function(lambda x: pb.sum(pb.map(g, x)))(x)
    yield lambda: pb.checkpoint(lambda x: pb.sum(pb.map(g, x)))(x)


def test_variables_in_bodies_of_loops_and_branches():
    """First and second derivatives are those of the same functions without a rule."""
    v, w = pb.Variable(np.array(0.7)), pb.Variable(np.array([0.3, 0.5]))

    def g(e):  # its second factor depends on variables alone
        return pb.sin(e * v) * pb.sum(w * v)

    def two(e):
        return pb.sin(e * v), pb.exp(e * w[0])

    @pb.custom_gradient
    def with_rule(e):
        return g(e), lambda d: d * v * pb.cos(e * v) * pb.sum(w * v)

    @pb.custom_gradient
    def two_with_rule(e):
        return two(e), lambda d, k: d * v * pb.cos(e * v) + k * w[0] * pb.exp(e * w[0])

    def derivatives(f):
        first = pb.gradients(f(), [v, w])
        return first + pb.gradients(first[0] * 1.5 + pb.sum(first[1] ** 2), [v, w])

    x = np.array([1.3, -0.4, 0.9])
    plain = list(_in_bodies(g, two, x))
    for k, f in enumerate(_in_bodies(with_rule, two_with_rule, x)):
        for got, want in zip(derivatives(f), derivatives(plain[k]), strict=True):
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-10, err_msg=str(k))


def _vmapped(v, g, x):
    """Programs that call g in a batch inside of a body or around one."""
    start, t = pb.constant(np.array(2.0)), pb.constant(x)

    def total(factor=1.0):
        return pb.sum(pb.vmap(g)(x * factor))

    yield lambda: pb.cond(pb.constant(True), lambda t: pb.sum(pb.vmap(g)(t)), pb.sum, t)
    yield lambda: pb.cond(pb.constant(True), total, lambda: v * 1.0)
    yield lambda: pb.sum(pb.map(lambda e: e * total(), x))
    yield lambda: pb.fori_loop(0, 2, lambda i, c: c + total(), start)
    yield lambda: pb.while_loop(lambda s: s[0] < 2, lambda s: (s[0] + 1, s[1] + total()),
                                (pb.constant(0), start))[1]  # fmt: skip
    yield lambda: pb.sum(pb.map(lambda e: pb.cond(e > 0, total, lambda e: e * v, e), x))
    yield lambda: pb.sum(pb.vmap(lambda e: pb.cond(e > 0, g, lambda e: e * v, e))(x))
    yield lambda: pb.sum(pb.vmap(lambda r: pb.sum(pb.map(lambda e: g(e) * r, x)))(x))


def test_variables_in_batches_inside_of_bodies():
    """As above, of functions that call another one with a rule or an operation that can fail."""
    v, w = pb.Variable(np.array(0.7)), pb.Variable(np.array([0.3, 0.5]))
    matrix = np.array([[2.0, 1.0], [1.0, 3.0]])

    def by_variable(e):
        return e * v, lambda d: d * v

    def by_several(e):
        s = v * pb.sum(w * w)
        return e * s, lambda d: d * s

    def by_another(h, e):
        s = h(w[0] * 1.0) * h(w[1])
        return e * s, lambda d: d * s

    def by_inverse(e):
        s = pb.sum(pb.linalg.inv(matrix * v))
        return e * s, lambda d: d * s

    def derivatives(f):
        firsts = pb.gradients(f(), [v, w], unconnected_gradients="zero")
        square = sum(pb.sum(g * g) for g in firsts)
        return firsts + pb.gradients(square, [v, w], unconnected_gradients="zero")

    plain_variable, with_rule = (lambda e: by_variable(e)[0]), pb.custom_gradient(by_variable)
    for f, g in (
        (by_several, by_several),
        (partial(by_another, plain_variable), partial(by_another, with_rule)),
        (by_inverse, by_inverse),
    ):
        x = np.array([1.3, -0.4, 0.9])
        plain = list(_vmapped(v, lambda e, f=f: f(e)[0], x))
        for k, program in enumerate(_vmapped(v, pb.custom_gradient(g), x)):
            for got, want in zip(derivatives(program), derivatives(plain[k]), strict=True):
                np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, err_msg=str(k))


def test_a_tensor_beyond_the_function_has_no_gradient_in_a_body_either():
    v, x = pb.Variable(np.array(2.0)), np.array([3.0, 1.0])

    def each(e):
        u = v * v

        @pb.custom_gradient
        def g(e):
            return e * v * u, lambda d: d * v * u

        return g(e)

    assert float(pb.gradients(each(x[0]) + each(x[1]), v)[0]) == 16.0
    assert float(pb.gradients(pb.sum(pb.map(each, x)), v)[0]) == 16.0
