"""while_loop, and fori_loop with a bound that a tensor says: as many iterations as it takes, with
derivatives in both directions and of every order, whatever memory there is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each
from support.gradients import each_mode  # noqa: F401

import pullback as pb
from pullback import _core

rng = np.random.default_rng(1)


def doubling(x: Any, w: Any) -> Any:
    """As long as the sum is below a bound: how often depends on the data."""
    return pb.while_loop(lambda s: pb.sum(s) < 50.0, lambda s: s * w + pb.sin(s), x)


def by_hand(x: Any, w: Any) -> Any:
    s = pb.identity(x)
    while float(pb.sum(s)) < 50.0:
        s = s * w + pb.sin(s)
    return s


@pytest.mark.parametrize("scale", [0.1, 1.0, 100.0])
def test_values_and_gradients(scale: float) -> None:
    x, w = (pb.Variable(a * scale) for a in (np.array([0.5, 1.0, 1.5]), np.array(1.25 / scale)))
    a, b = doubling(x, w), by_hand(x, w)
    np.testing.assert_array_equal(a.numpy(), b.numpy())
    for g, h in zip(
        pb.gradients(pb.sum(a * a), [x, w]), pb.gradients(pb.sum(b * b), [x, w]), strict=True
    ):
        np.testing.assert_allclose(g.numpy(), 0 if h is None else h.numpy(), rtol=1e-13)


def test_modes(mode: Any) -> None:
    gx, gw = mode(lambda x, w: pb.sum(doubling(x, w)), np.array([0.5, 1.0]), np.array(1.25))
    x, w = pb.Variable(np.array([0.5, 1.0])), pb.Variable(np.array(1.25))
    hx, hw = pb.gradients(pb.sum(by_hand(x, w)), [x, w])
    np.testing.assert_allclose(gx, hx.numpy(), rtol=1e-13)
    np.testing.assert_allclose(gw, hw.numpy(), rtol=1e-13)


def test_no_iterations() -> None:
    x, w = pb.Variable(3.0), pb.Variable(2.0)
    y = pb.while_loop(lambda s: s < 0.0, lambda s: s * w, x)
    assert [float(g) for g in pb.gradients(y, [x, w])] == [1.0, 0.0]


def test_how_often_depends_on_what_is_fed() -> None:
    """x multiplied until it is at least 100, by x."""

    @pb.function
    def f(x: Any) -> Any:
        y = pb.while_loop(lambda s: s < 100.0, lambda s: s * x, x)
        return y, pb.gradients(y, x)[0]

    assert [float(v) for v in f(pb.constant(2.0))] == [128.0, 448.0]
    assert [float(v) for v in f(pb.constant(5.0))] == [125.0, 75.0]


@pytest.mark.parametrize("memory", [None, 3 * 64, 5 * 64])
def test_every_order(memory: int | None) -> None:
    found = []
    for form in ("while", "hand"):
        x, w = pb.Variable(np.array([0.5, 1.0])), pb.Variable(np.array(1.2))
        if form == "while":
            y = pb.while_loop(
                lambda s: pb.sum(s) < 30.0,
                lambda s, w=w: s * w + 0.1 * s * s,
                x,
                memory_limit=memory,
            )
        else:
            y = pb.identity(x)
            while float(pb.sum(y)) < 30.0:
                y = y * w + 0.1 * y * y
        values = []
        ys = [pb.sum(pb.sin(y))]
        for _ in range(3):
            ys = pb.gradients(sum(pb.sum(v * v) for v in ys), [x, w])
            values += [g.numpy() for g in ys]
        found.append(values)
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_forward_mode() -> None:
    x, w = np.array([0.5, 1.0]), np.array(1.25)
    dx, dw = np.array([1.0, -2.0]), np.array(0.5)
    y, dy = pb.jvp(doubling, (x, w), (dx, dw))
    _, back = pb.vjp(doubling, x, w)
    u = np.array([0.3, 0.7])
    gx, gw = back(u)
    left = float(pb.sum(dy * u))
    right = float(pb.sum(gx * dx) + gw * dw)
    assert left == pytest.approx(right, rel=1e-13)
    np.testing.assert_array_equal(y.numpy(), by_hand(pb.constant(x), pb.constant(w)).numpy())


def test_forward_over_reverse() -> None:
    def gradient(form: Any) -> Any:
        return pb.grad(lambda x, w: pb.sum(pb.sin(form(x, w))))

    x, w = np.array([0.5, 1.0]), np.array(1.25)
    dx = np.array([1.0, -2.0])
    _, a = pb.jvp(lambda x: gradient(doubling)(x, w), (x,), (dx,))
    h = 1e-6
    b = gradient(doubling)(x + h * dx, w) - gradient(doubling)(x - h * dx, w)
    np.testing.assert_allclose(a.numpy(), b.numpy() / (2 * h), rtol=1e-6)
    _, c = pb.jvp(
        pb.grad(lambda x: pb.jvp(lambda v: doubling(v, w)[0], (x,), (dx,))[1]), (x,), (dx,)
    )
    assert np.isfinite(c.numpy()).all()


@each("places", [1, 2, 3, 5, 20])
@each("trips", [1, 2, 3, 7, 40])
def test_memory_limit_changes_no_bits(places: int, trips: int) -> None:
    x = pb.Variable(rng.normal(size=8))

    def gradient(limit: int | None) -> Any:
        y = pb.while_loop(
            lambda s: s[0] < trips,
            lambda s: (s[0] + 1, pb.sin(s[1]) * 1.5 + pb.random.normal((8,), "float64")),
            (0, x),
            memory_limit=limit,
        )[1]
        return pb.gradients(pb.sum(y), x)[0].numpy()

    pb.random.seed(5)
    a = gradient(None)
    pb.random.seed(5)
    np.testing.assert_array_equal(a, gradient(128 * (2 + places)))


def test_few_places_take_few_steps() -> None:
    """With 6 places and 400 steps no step is taken more than four times: (6 + 1 + 4 choose 4) is
    330, and five are enough for 792."""
    x = pb.Variable(np.ones(8))

    def tiles(limit: int | None) -> int:
        y = pb.while_loop(
            lambda s: s[0] < 400, lambda s: (s[0] + 1, pb.sin(s[1])), (0, x), memory_limit=limit
        )[1]
        (g,) = pb.gradients(pb.sum(y), x)
        before = sum(_core.status()["steps"].values())
        g.numpy()
        return sum(_core.status()["steps"].values()) - before

    assert tiles(128 * 8) < 3 * tiles(None)


def test_memory_stays_under_the_limit() -> None:
    x = pb.Variable(np.ones(1024))
    y = pb.while_loop(
        lambda s: s[0] < 2000, lambda s: (s[0] + 1, pb.sin(s[1])), (0, x), memory_limit=1 << 20
    )[1]
    (g,) = pb.gradients(pb.sum(y), x)
    _core.trim_memory()
    _core.reset_peak_bytes()
    before = _core.status()["live_bytes"]
    g.numpy()
    assert _core.status()["peak_bytes"] - before < 2 << 20


def test_integer_counters_and_pairs() -> None:
    x, n = pb.Variable(1.5), pb.constant(4)

    def power(n: Any) -> Any:
        return pb.while_loop(
            lambda s: s["i"] < n, lambda s: {"i": s["i"] + 1, "y": s["y"] * x}, {"i": 0, "y": 1.0}
        )

    state = power(n)
    assert int(state["i"]) == 4
    assert float(pb.gradients(state["y"], x)[0]) == pytest.approx(4 * 1.5**3)
    assert pb.gradients(state["i"], x) == [None]


def test_same_start_twice_and_used_inside() -> None:
    x = pb.Variable(2.0)
    a, b = pb.while_loop(lambda s: s[0] < 50.0, lambda s: (s[0] * x, s[1] + x), (x, x))
    assert (float(a), float(b)) == (64.0, 12.0)
    assert float(pb.gradients(a, x)[0]) == 6 * 32.0
    assert float(pb.gradients(b, x)[0]) == 6.0


def test_nested_loops_and_branches() -> None:
    """Nested loops and a cond inside."""
    x = pb.Variable(1.1)

    def outer(s: Any) -> Any:
        y = pb.fori_loop(0, 2, lambda i, t: pb.cond(i == 0, lambda: t * x, lambda: t + x), s[1])
        z = pb.while_loop(lambda t: t < 3.0, lambda t: t * x + 0.5, y)
        return s[0] + 1, z

    a = pb.while_loop(lambda s: s[0] < 3, outer, (0, x))[1]
    s = pb.identity(x)
    for _ in range(3):
        s = s * x + x
        while float(s) < 3.0:
            s = s * x + 0.5
    assert float(a) == float(s)
    for _ in range(2):
        (a,), (s,) = pb.gradients(a, x), pb.gradients(s, x)
        assert float(a) == pytest.approx(float(s), rel=1e-5)


def test_fori_loop_of_a_tensor() -> None:
    x = pb.Variable(2.0)

    @pb.function
    def power(n: Any) -> Any:
        y = pb.fori_loop(0, n, lambda i, s: s * x, 1.0)
        return y, pb.gradients(y, x)[0], pb.gradients(pb.gradients(y, x)[0], x)[0]

    for n in (0, 1, 5):
        got = [float(v) for v in power(pb.constant(n))]
        assert got == [2.0**n, n * 2.0 ** (n - 1), n * (n - 1) * 2.0 ** (n - 2)]


def test_a_sum_needs_no_states() -> None:
    x = pb.Variable(2.0)
    y = pb.while_loop(lambda s: s[0] < 7, lambda s: (s[0] + 1, s[1] + x * x), (0, 0.0))[1]
    (g,) = pb.gradients(y, x)
    assert (float(g), float(pb.gradients(g, x)[0])) == (28.0, 14.0)


def test_interrupted_in_between() -> None:
    with pytest.raises(RuntimeError, match="no value while its function is being traced"):
        pb.while_loop(lambda s: bool(s > 0), lambda s: s, 1.0)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: pb.while_loop(lambda s: s, lambda s: s, 1.0), TypeError, "expected a bool"),
        (lambda: pb.while_loop(lambda s: (s > 0, s), lambda s: s, 1.0), TypeError, "a pytree"),
        (
            lambda: pb.while_loop(
                lambda s: s["x"] > 0,
                lambda s: {"x": pb.cast(s["x"], "float64")},
                {"x": pb.constant(1.0)},
            ),
            TypeError,
            r"while_loop: expected dtype float32 for state\['x'\] .*, got float64; cast it",
        ),
        (
            lambda: pb.while_loop(lambda s: s > 0, lambda s: s, 1.0, memory_limit=3 * 64 - 1),
            ValueError,
            "the size of three states",
        ),
        (
            lambda: pb.while_loop(lambda s: s > 0, lambda s: s, 1.0, memory_limit="1 MB"),
            TypeError,
            "an integer for memory_limit",
        ),
        (lambda: pb.fori_loop(0, 1.5, lambda i, s: s, 1.0), TypeError, "expected an integer"),
    ],
)
def test_errors(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
