"""vmap of loops and branches: entry by entry the same as alone, derivatives included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

rng = np.random.default_rng(3)
W = rng.normal(size=(3, 3)) / 2


def rnn(h: Any, xs: Any) -> Any:
    last, ys = pb.scan(lambda h, x: (pb.tanh(h @ W + x), pb.sum(h * x)), h, xs)
    return pb.sum(last * last) + pb.sum(ys)


def counted(x: Any, n: Any) -> Any:
    return pb.fori_loop(0, n, lambda i, s: pb.sin(s) * 1.5 + pb.cast(i, s.dtype), x)


def until(x: Any, w: Any) -> Any:
    return pb.while_loop(lambda s: s < 20.0, lambda s: s * w + pb.sin(s), x)


def chosen(x: Any, k: Any) -> Any:
    return pb.switch(k, [lambda x: pb.sin(x), lambda x: x * x, lambda x: 1 / x], x)


def guarded(x: Any) -> Any:
    return pb.cond(x > 0, pb.log, lambda x: 2 * x, x)


def nested(x: Any) -> Any:
    def outer(s: Any, _: Any) -> Any:
        t = pb.while_loop(lambda t: t < 3.0, lambda t: t * 1.5 + s * 0.25, x)
        return pb.cond(t > 4, lambda: s + t, lambda: s * t), t

    last, seen = pb.scan(outer, x, length=2)
    return last + pb.sum(seen)


ONES = np.linspace(0.5, 3.0, 5)
CASES: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
    "scan": (rnn, (rng.normal(size=(5, 3)), rng.normal(size=(5, 4, 3))), 0),
    "scan of one batch": (rnn, (rng.normal(size=(5, 3)), rng.normal(size=(4, 3))), (0, None)),
    "scan along a batch": (rnn, (rng.normal(size=3), rng.normal(size=(4, 5, 3))), (None, 1)),
    "the same count": (counted, (ONES, np.array(3)), (0, None)),
    "counts": (counted, (ONES, np.array([3, 0, 1, 5, 2])), 0),
    "conditions": (until, (ONES, np.linspace(1.3, 2.2, 5)), 0),
    "conditions of one": (until, (ONES, np.array(1.25)), (0, None)),
    "choices": (chosen, (ONES, np.array([0, 1, 2, 1, 0])), 0),
    "one choice": (chosen, (ONES, np.array(1)), (0, None)),
    "guarded": (guarded, (np.array([0.0, 1.0, -2.0, 0.5, 0.0]),), 0),
    "nested": (nested, (ONES,), 0),
}


def entry(args: Any, axes: Any, i: int) -> list[Any]:
    spread = axes if isinstance(axes, tuple) else (axes,) * len(args)
    return [a if d is None else np.take(a, i, d) for a, d in zip(args, spread, strict=True)]


@each("order", [0, 1, 2])
@each("name", CASES)
def test_entry_by_entry(name: str, order: int) -> None:
    f, args, axes = CASES[name]
    for _ in range(order):
        f = pb.grad(lambda *xs, f=f: pb.sum(f(*xs)))
    got = pb.vmap(f, axes)(*args).numpy()
    for i in range(5):
        expected = f(*(pb.constant(a) for a in entry(args, axes, i))).numpy()
        np.testing.assert_allclose(got[i], expected, rtol=1e-12, atol=1e-13)


@each("order", [0, 1])
@each("name", CASES)
def test_gradient_of_a_batch(name: str, order: int) -> None:
    f, args, axes = CASES[name]
    if order:
        f = pb.grad(lambda *xs, f=f: pb.sum(f(*xs)))

    def total(*xs: Any) -> Any:
        return pb.sum(pb.sin(pb.vmap(f, axes)(*xs)))

    def one_by_one(*xs: Any) -> Any:
        spread = axes if isinstance(axes, tuple) else (axes,) * len(xs)
        entries = []
        for i in range(5):
            own = [
                x if d is None else pb.take(x, i, axis=d) for x, d in zip(xs, spread, strict=True)
            ]
            entries.append(pb.sum(pb.sin(f(*own))))
        return sum(entries)

    a, b = pb.grad(total)(*args), pb.grad(one_by_one)(*(pb.constant(x) for x in args))
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-13)


@each("name", CASES)
def test_forward_mode_of_a_batch(name: str) -> None:
    f, args, axes = CASES[name]
    first = args[0]
    v = np.cos(np.arange(first.size)).reshape(first.shape)

    def total(x: Any) -> Any:
        return pb.vmap(f, axes)(x, *args[1:])

    _, t = pb.jvp(total, (first,), (v,))
    _, back = pb.vjp(total, first)
    u = np.sin(np.arange(5.0))
    (g,) = back(u)
    assert float(pb.sum(t * u)) == pytest.approx(float(pb.sum(g * v)), rel=1e-11)


def test_a_batch_of_batches() -> None:
    x = rng.normal(size=(2, 3))
    f = lambda v: pb.scan(lambda s, _: (pb.sin(s) + v, None), v, length=3)[0]  # noqa: E731
    got = pb.vmap(pb.vmap(f))(x).numpy()
    np.testing.assert_allclose(got, f(pb.constant(x)).numpy(), rtol=1e-14)


def test_random_numbers_for_each_entry() -> None:
    f = lambda x: pb.scan(lambda s, _: (s, pb.random.normal((2,))), x, length=3)[1]  # noqa: E731
    assert len(np.unique(pb.vmap(f)(np.zeros(4)).numpy())) == 24


def test_a_rule_of_a_user_inside() -> None:
    @pb.custom_gradient
    def double(x: Any) -> Any:
        return x * 1.0, lambda upstream: upstream * 2.0 * x

    f = lambda x: pb.scan(lambda s, _: (double(s), None), x, length=2)[0]  # noqa: E731
    g = pb.vmap(pb.grad(f))(np.array([1.0, 2.0, 3.0])).numpy()
    np.testing.assert_allclose(g, 4 * np.array([1.0, 2.0, 3.0]) ** 2)


def test_a_jacobian_through_a_loop() -> None:
    f = lambda x: pb.scan(lambda s, _: (pb.sin(s) * x, None), x, length=3)[0]  # noqa: E731
    x = np.array([0.5, 1.0, 2.0])
    jacobian = pb.jacobian(f)(x).numpy()
    np.testing.assert_allclose(np.diag(np.diag(jacobian)), jacobian)
    np.testing.assert_allclose(
        np.diag(jacobian), pb.grad(lambda x: pb.sum(f(x)))(x).numpy(), rtol=1e-13
    )


def test_a_jacobian_of_a_jacobian() -> None:
    """Where a batch of cotangents goes back through a loop of none, and is differentiated."""

    def f(x: Any) -> Any:
        step = lambda s: (s[0] + 1, pb.cos(s[1] * x))  # noqa: E731
        return pb.while_loop(lambda s: s[0] < 2, step, (0, x))[1]

    x = pb.Variable(np.array([0.5, 1.0, 2.0]))
    with pb.GradientTape(persistent=True) as outer:
        with pb.GradientTape(persistent=True) as inner:
            y = f(x)
        first = pb.sum(inner.jacobian(y, x), 0)
    second = outer.jacobian(first, x).numpy()
    np.testing.assert_allclose(second, pb.hessian(lambda x: pb.sum(f(x)))(x).numpy(), rtol=1e-12)
