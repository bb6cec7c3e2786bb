"""vmap of loops and branches, and of their derivatives, beside Python loops over the entries: with
states that become batched on the way, with numbers of iterations and choices that differ between
entries, random numbers, nests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pullback as pb

X = np.random.default_rng(0).normal(size=(4, 5))
COUNTS = np.array([0, 3, 1, 6])


def scanned(x: Any) -> Any:
    carry, ys = pb.scan(lambda c, v: (pb.tanh(c + v), c * v), np.float64(0.5), x)
    return carry + pb.sum(ys * np.arange(1.0, 6.0))


def backwards(x: Any) -> Any:
    (_, n), ys = pb.scan(
        lambda s, v: ((s[0] * v, s[1] + 1), s[0]), (np.float64(2.0), 0), x, reverse=True
    )
    return pb.sum(ys**2) + n


def mapped(x: Any) -> Any:
    return pb.sum(pb.map(lambda v: pb.sin(v) * pb.sum(x), x))


def repeated(x: Any) -> Any:
    """As often as it takes: each entry another number of times."""
    y = pb.while_loop(lambda s: pb.sum(s * s) < 50.0, lambda s: s * 1.5 + 0.1, x)
    return pb.sum(y**2 * X[0])


def together(x: Any) -> Any:
    """The condition is the same for all entries."""
    _, y = pb.while_loop(lambda s: s[0] < 4, lambda s: (s[0] + 1, pb.sin(s[1]) + x), (0, x))
    return pb.sum(y)


def limited(x: Any) -> Any:
    limit = pb.sum(x) + 3.0
    y = pb.while_loop(lambda s: pb.sum(s) < limit, lambda s: s + x * x, x * 0, memory_limit=10_000)
    return pb.sum(y**2)


def either(x: Any) -> Any:
    return pb.sum(pb.cond(x[0] > 0, lambda x: pb.log(x[0]) * x, lambda x: x**2, x) * X[1])


def chosen(x: Any) -> Any:
    """The choice is the same for all entries."""
    return pb.sum(pb.cond(pb.constant(True), pb.exp, lambda x: x * 2, x))


def of_several(x: Any) -> Any:
    which = pb.cast(pb.floor(pb.sum(x)), "int64")
    return pb.sum(pb.switch(which, [pb.sin, lambda x: x**3, pb.exp], x))


def nested(x: Any) -> Any:
    def outer(c: Any, v: Any) -> Any:
        c = pb.while_loop(lambda s: s < 3.0, lambda s: s + pb.abs(v) + 0.5, c)
        return pb.cond(c > 3.3, lambda c: c * 0.5, lambda c: c - 1, c), c

    return pb.sum(pb.scan(outer, np.float64(0), x)[1] ** 2)


def ruled(x: Any) -> Any:
    """A rule of a user inside of a body, that holds what is outside."""
    step = pb.custom_gradient(lambda c: (pb.sin(c) * x[0], lambda g: 3 * g * x[1]))
    return pb.sum(pb.fori_loop(0, 3, lambda i, c: step(c) + x, x))


PROGRAMS = [scanned, backwards, mapped, repeated, together, limited, either, chosen, of_several]
PROGRAMS += [nested, ruled]


def loop(f: Callable[..., Any], *arrays: Any) -> Any:
    return np.stack([np.asarray(f(*row)) for row in zip(*arrays, strict=True)])


def same(a: Any, b: Any) -> None:
    np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("f", PROGRAMS)
def test_values_and_derivatives(f: Any) -> None:
    same(pb.vmap(f)(X), loop(f, X))
    slope = pb.grad(f)
    want = loop(slope, X)
    same(pb.vmap(slope)(X), want)
    same(pb.grad(lambda x: pb.sum(pb.vmap(f)(x)))(X), want)
    same(pb.function(pb.vmap(slope))(X), want)
    moved = lambda x, u: pb.jvp(f, (x,), (u,))[1]  # noqa: E731
    same(pb.vmap(moved)(X, X[::-1]), loop(moved, X, X[::-1]))


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f is not ruled])
def test_second_derivatives(f: Any) -> None:
    for product in (pb.hvp, pb.vhp):
        one = lambda x, u, product=product: product(f, (x,), (u,))[0]  # noqa: E731
        same(pb.vmap(one)(X, X[::-1]), loop(one, X, X[::-1]))
    outside = pb.grad(lambda x: pb.sum(pb.vmap(pb.grad(f))(x) ** 2))
    same(outside(X), loop(pb.grad(lambda x: pb.sum(pb.grad(f)(x) ** 2)), X))
    same(pb.hessian(f)(X[0]), pb.jacobian(pb.grad(f), mode="reverse")(X[0]))


def test_counts_that_differ() -> None:
    def f(x: Any, n: Any) -> Any:
        return pb.fori_loop(0, n, lambda i, s: pb.sin(s) * 1.1 + i, x)

    slope = lambda x, n: pb.grad(lambda x: pb.sum(f(x, n) ** 2))(x)  # noqa: E731
    counts = [pb.constant(n) for n in COUNTS]
    same(pb.vmap(f)(X, COUNTS), np.stack([f(x, n) for x, n in zip(X, counts, strict=True)]))
    same(pb.vmap(slope)(X, COUNTS), np.stack([slope(x, n) for x, n in zip(X, counts, strict=True)]))


def test_random_numbers_of_each_entry_and_iteration() -> None:
    def walk(x: Any) -> Any:
        return pb.scan(lambda c, _: (c + pb.random.normal((), dtype="float64"), c), x, length=6)[1]

    steps = np.diff(pb.vmap(walk)(np.zeros(50)).numpy(), axis=1)
    assert len(np.unique(steps)) == steps.size and abs(steps.mean()) < 0.3
    alone = pb.vmap(lambda: walk(np.float64(0)), size=4)().numpy()
    assert len(np.unique(np.diff(alone, axis=1))) == 20
    w = pb.Variable(np.float64(1.0))
    noisy = pb.vmap(lambda x: pb.sum(walk(x) * w))
    y = noisy(np.zeros(3))
    same(pb.gradients(pb.sum(y), w)[0], pb.sum(y))


def test_a_condition_that_draws_is_asked_once_for_each_state() -> None:
    def tossed(x: Any) -> Any:
        """As often as a coin says: n times with probability 2^-(n+1)."""
        return pb.while_loop(lambda s: pb.random.uniform(()) < 0.5, lambda s: s * w, x)

    w = pb.Variable(np.float64(2.0))
    start = np.ones((2, 3000))
    for f, x in ((pb.vmap(tossed), start[0]), (pb.vmap(pb.vmap(tossed)), start)):
        y = f(x)
        n = np.log2(y.numpy())
        assert abs(n.mean() - 1) < 0.15
        assert abs((n == 0).mean() - 0.5) < 0.06 and abs((n == 1).mean() - 0.25) < 0.06
        same(pb.gradients(pb.sum(y), w)[0], np.sum(n * y.numpy() / 2))

    def until(x: Any) -> Any:
        """An entry stops for good at the first number that is not below x."""

        def body(s: Any) -> Any:
            return s[0] + 1, pb.random.uniform((), dtype="float64")

        return pb.while_loop(
            lambda s: s[1] + 0 * pb.random.uniform((), "float64") < x, body, (0, x - 1)
        )

    n, last = (y.numpy() for y in pb.vmap(until)(np.full(3000, 0.5)))
    assert last.min() >= 0.5 and abs(n.mean() - 2) < 0.15


def test_what_is_outside_of_the_entries() -> None:
    w = pb.Variable(X[0])
    y = pb.vmap(lambda x: pb.sum(pb.scan(lambda c, v: (c * v + w, None), w * 0 + 1, x)[0]))(X)
    (got,) = pb.gradients(pb.sum(y), w)
    want = sum(
        pb.gradients(pb.sum(pb.scan(lambda c, v: (c * v + w, None), w * 0 + 1, x)[0]), w)[0]
        for x in X
    )
    same(got, want)


def test_a_choice_with_the_gradient_of_a_loop_that_no_entry_changes() -> None:
    """The cotangents of the loop depend on no argument of its branch."""

    def powers(x: Any) -> Any:
        return pb.fori_loop(0, 2, lambda i, s: s + x * x, 0.0)

    def chosen(x: Any) -> Any:
        return pb.cond(x > 0.5, pb.grad(powers), lambda x: x, x)

    x = np.array([0.3, 1.3])
    for f in (pb.vmap(chosen), pb.function(pb.vmap(chosen))):
        np.testing.assert_allclose(f(x).numpy(), [0.3, 5.2], rtol=1e-15)
