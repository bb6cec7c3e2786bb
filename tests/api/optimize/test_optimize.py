"""Solvers beside SciPy; derivatives of solutions beside finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

scipy_optimize = pytest.importorskip("scipy.optimize")
random = np.random.default_rng(5)


def rosenbrock(x: Any) -> Any:
    return pb.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def near(got: Any, want: Any, tolerance: float = 1e-7) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=tolerance, atol=tolerance)


def test_minima() -> None:
    for n, start in ((2, -1.2), (2, 5.0), (5, 0.0), (30, -1.2), (200, 0.5)):
        result = pb.optimize.minimize(rosenbrock, np.full(n, start))
        assert bool(result.success), (n, start)
        near(result.x, np.ones(n), 1e-6)
        near(result.fun, 0.0, 1e-12)
    problems: list[tuple[Any, Any, Any]] = [
        (lambda x: pb.sum(pb.cosh(x - [1.0, -2.0])), [0.0, 0.0], [1.0, -2.0]),
        (lambda x: pb.sum((x * [1.0, 1e3]) ** 4) + pb.sum(x**2), [3.0, 3.0], [0.0, 0.0]),
        (lambda x: -pb.log(x[0]) + x[0], [0.01], [1.0]),  # NaN beside the domain
        (lambda x: pb.sqrt(1 + x[0] ** 2) * 1e6, [30.0], [0.0]),
    ]
    for f, start, want in problems:
        result = pb.optimize.minimize(f, np.array(start))
        assert bool(result.success)
        near(result.x, want, 1e-5)
    result = pb.optimize.minimize(rosenbrock, np.zeros(4, np.float32))
    assert bool(result.success)
    assert result.x.dtype == np.float32
    near(result.x, np.ones(4), 2e-2)
    tree = pb.optimize.minimize(
        lambda p: (p["a"] - 1.0) ** 2 + pb.sum((p["b"] + 2.0) ** 2),
        {"a": np.float64(0.0), "b": np.zeros(3)},
    )
    near(tree.x["a"], 1.0)
    near(tree.x["b"], np.full(3, -2.0))


def quartic(x: Any, a: Any, scale: Any) -> Any:
    return pb.sum((x - a) ** 4 + scale * (x - a) ** 2) + pb.sum(x) ** 2


A, SCALE = np.array([1.0, 3.0, -0.5]), np.float64(1.5)


def test_derivatives_of_minima() -> None:
    def x_of(a: Any, scale: Any) -> Any:
        return pb.optimize.minimize(quartic, np.zeros(3), (a, scale), tol=1e-12).x

    pb.testing.check_gradients(x_of, A, SCALE, order=2)
    compiled = pb.function(x_of)
    near(compiled(A, SCALE), x_of(A, SCALE))
    jacobian = pb.jacobian(x_of)(A, SCALE)
    near(pb.jacobian(compiled)(A, SCALE), jacobian)
    near(pb.vmap(pb.jacobian(x_of), in_axes=(0, None))(np.stack([A, A + 1]), SCALE)[0], jacobian)
    # fun is differentiable too: the derivative of a minimum by a parameter, at the minimum.
    slope = pb.grad(lambda s: pb.optimize.minimize(quartic, np.zeros(3), (A, s)).fun)(SCALE)
    near(slope, np.sum((np.asarray(x_of(A, SCALE)) - A) ** 2), 1e-6)


def test_roots() -> None:
    def f(x: Any, a: Any) -> Any:
        return pb.stack([x[0] * pb.exp(x[1]) - a[0], x[0] ** 2 + x[1] ** 3 - a[1]])

    a = np.array([2.0, 3.0])
    result = pb.optimize.root(f, np.array([1.0, 1.0]), a)
    assert bool(result.success)
    near(result.fun, np.zeros(2), 1e-12)
    x_of = lambda a: pb.optimize.root(f, np.array([1.0, 1.0]), a).x  # noqa: E731
    pb.testing.check_gradients(x_of, a, order=2)
    near(pb.vmap(x_of)(np.stack([a, a + 0.1]))[1], x_of(a + 0.1))
    huge = pb.optimize.root(lambda x: 1e200 * (x**3 - 2.0), np.ones(2))
    near(huge.x, np.full(2, 2 ** (1 / 3)))
    far = pb.optimize.root(lambda x: pb.atan(x), np.array([20.0]))  # plain Newton diverges
    near(far.x, [0.0])
    n = 200
    laplace = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    b = random.uniform(0.5, 1.0, n)
    large = lambda x, b: pb.matmul(laplace, x) + 0.1 * x**3 - b  # noqa: E731
    result = pb.optimize.root(large, np.zeros(n), b)
    assert bool(result.success)
    near(result.fun, np.zeros(n), 1e-9)
    x = np.asarray(result.x)
    slope = pb.grad(lambda b: pb.sum(pb.optimize.root(large, np.zeros(n), b).x))(b)
    near(slope, np.linalg.solve(laplace + np.diag(0.3 * x**2), np.ones(n)), 1e-6)
    with pytest.raises(np.linalg.LinAlgError):
        pb.optimize.root(lambda x: x**2 + 1.0, np.zeros(1)).x.numpy()


def test_bisect() -> None:
    def f(x: Any, a: Any) -> Any:
        return x * pb.exp(x) - a

    a = np.array([[0.5, 2.0, 20.0], [1.0, 0.0, 7.0]])
    x_of = lambda a: pb.optimize.bisect(f, 0.0, np.full((2, 3), 5.0), a)  # noqa: E731
    expected = [scipy_optimize.brentq(lambda x, c=c: x * np.exp(x) - c, 0, 5) for c in a.flat]
    near(x_of(a), np.reshape(expected, a.shape), 1e-11)
    small = lambda a: pb.optimize.bisect(f, np.float64(0.0), np.float64(5.0), a)  # noqa: E731
    pb.testing.check_gradients(small, np.float64(2.0), order=2)
    near(pb.vmap(pb.grad(small))(a[0]), 1 / (np.exp(x_of(a)[0]) * (1 + np.asarray(x_of(a)[0]))))
    near(pb.jacobian(x_of)(a)[0, 1, 0, 1], pb.grad(small)(np.float64(2.0)))
    for ends in ((np.float32(0), np.float64(5)), (0.0, 5.0), (0, 5)):
        mixed = pb.optimize.bisect(f, *ends, np.float64(2.0))
        assert mixed.dtype == np.float64
        near(mixed, expected[1], 1e-11)
    assert pb.optimize.bisect(f, 0, 5, np.float32(2)).dtype == np.float32
    traced = pb.function(lambda a: pb.optimize.bisect(f, 0.0, 5.0, a))
    assert np.isnan(float(traced(-3.0)))
    with pytest.raises(ValueError, match=r"bisect: .* different signs at a and b"):
        pb.optimize.bisect(f, 0.0, 5.0, -3.0)


def test_a_failure_is_not_silent() -> None:
    a = pb.Variable(A)
    result = pb.optimize.minimize(quartic, np.array([5.0, -7.0, 1.0]), (a, SCALE), maxiter=2)
    assert not bool(result.success)
    assert int(result.nit) == 2
    assert np.isfinite(np.asarray(result.x)).all()
    assert np.isnan(np.asarray(pb.gradients(pb.sum(result.x), a)[0])).all()
    below = pb.optimize.minimize(lambda x: -pb.sum(x), np.zeros(2), maxiter=50)
    assert not bool(below.success)
    rootless = pb.optimize.root(lambda x: pb.exp(x), np.zeros(1))
    assert not bool(rootless.success)
    stuck = pb.optimize.least_squares(lambda x: pb.exp(-x) + 1.0, np.zeros(1), maxiter=3)
    assert not bool(stuck.success)


def test_failures_in_every_mode() -> None:
    def f(a: Any) -> Any:
        start = np.full(3, 9.0)
        return pb.optimize.root(lambda x, a: pb.exp(x) - a, start, a, maxiter=2).x

    for mode in ("forward", "reverse"):
        assert np.isnan(np.asarray(pb.jacobian(f, mode=mode)(np.float64(1.0)))).all()
    for g in (lambda x: x**2 + 1.0, lambda x: pb.sum(x) * np.ones(200) - np.arange(200.0)):
        assert not bool(pb.optimize.root(g, np.ones(200)).success)
    stuck = lambda x: pb.where(x > 0, x + 1, np.nan)  # noqa: E731
    assert not bool(pb.optimize.least_squares(stuck, np.ones(1)).success)
    assert np.isnan(float(pb.optimize.bisect(lambda x: x - 0.3, 0.0, 1.0, maxiter=3)))
    assert np.isnan(float(pb.optimize.bisect(lambda x: x - 1, np.float64(0), np.float64(1e300))))


def test_random_numbers_in_the_function_are_drawn_once() -> None:
    def noise() -> Any:
        return pb.random.normal((3,), dtype="float64")

    root = lambda: pb.optimize.root(lambda x: x**3 + x - noise(), np.zeros(3))  # noqa: E731
    for result in (root(), pb.function(root)()):
        assert bool(result.success)
        assert float(pb.max(pb.abs(result.x))) > 0.01
        near(result.fun, np.zeros(3), 1e-12)
    found = pb.optimize.minimize(lambda x: pb.sum((x - noise()) ** 2), np.zeros(3))
    assert bool(found.success)
    near(found.fun, 0.0)
    near(pb.optimize.least_squares(lambda x: x - noise(), np.zeros(3)).fun, np.zeros(3))
    with pytest.raises(RuntimeError, match=r"random_gamma: .* drawn before a loop"):
        pb.optimize.root(lambda x: x - pb.random.gamma(1 + x * x), np.zeros(3))
    loop = lambda x: pb.scan(lambda c, _: (c + noise(), c), x, length=2)[0]  # noqa: E731
    with pytest.raises(RuntimeError, match=r"loop: .* drawn before a loop"):
        pb.optimize.root(lambda x: x - loop(x), np.zeros(3))
    # The numbers of a loop around the solver differ.
    around = pb.scan(lambda c, _: (root().x, c), np.zeros(3), length=3)[1]
    assert float(pb.min(pb.abs(around[2] - around[1]))) > 1e-6


def test_integers_and_tuples_as_in_scipy() -> None:
    square = lambda x: pb.sum((x - np.array([3, 5], np.float32)) ** 2)  # noqa: E731
    for start in ((1.0, 2.0), (1, 2), np.array([1, 2]), pb.constant([1, 2])):
        x = pb.optimize.minimize(square, start).x
        assert (x.shape, x.dtype) == ((2,), np.float32)
        near(x, [3.0, 5.0], 1e-3)
    near(pb.optimize.root(lambda x: x**3 - 8, (1.0, 3.0)).x, [2.0, 2.0], 1e-3)
    near(pb.optimize.least_squares(lambda x: x - 2, np.array([1, 2])).x, [2.0, 2.0], 1e-3)
    fit = pb.optimize.curve_fit(lambda x, a, b: a + b * x, (0.0, 1.0, 2.0), (1.0, 3.0, 5.0), (1, 1))
    near(fit.popt, [1.0, 2.0], 1e-3)
    # A tuple of tensors is a pytree.
    pair = pb.optimize.root(lambda x: (x[0] - 1, x[1] - 2), (pb.constant(0.0), pb.constant(0.0))).x
    assert isinstance(pair, tuple)


def test_lists_as_in_scipy() -> None:
    start = [np.float64(1.0), 1.0]
    result = pb.optimize.root(lambda x: [x[0] + 2 * x[1] - 2, x[0] ** 2 + 4 * x[1] ** 2 - 4], start)
    assert result.x.shape == result.fun.shape == (2,)
    near(result.fun, np.zeros(2), 1e-6)
    near(pb.optimize.minimize(lambda x: pb.sum((x - 1) ** 2), [0, 0]).x, np.ones(2), 1e-5)
    fit = pb.optimize.least_squares(lambda x: (x - 1, 2.0), np.zeros(2))
    near(fit.fun[1], 2.0)
    with pytest.raises(TypeError, match="minimize has no has_aux"):
        pb.optimize.minimize(lambda x: (pb.sum(x), x), np.zeros(2))


def test_messages() -> None:
    minimize, start = pb.optimize.minimize, np.full(2, 3.0)
    assert minimize(rosenbrock, start).message == "The solver converged."
    short = minimize(rosenbrock, start, maxiter=2)
    assert int(short.status) == 1
    assert "maxiter" in short.message
    stuck = pb.optimize.root(lambda x: pb.where(x > 5, x - 4, x - 20), np.zeros(1))
    assert int(stuck.status) == 2
    assert stuck.message.startswith("No step improves")
    traced = pb.function(lambda x: pb.constant(len(minimize(rosenbrock, x).message)))
    assert int(traced(start)) > 0


def test_an_offset_does_not_hide_a_slope() -> None:
    # The minimum of the rounded function is not that of the function within 1e-3.
    smooth = pb.optimize.minimize(lambda x: 1e12 + pb.sum(pb.cosh(x - 1)), np.zeros(2))
    assert bool(smooth.success)
    near(smooth.x, np.ones(2), 1e-6)
    kink = pb.optimize.minimize(lambda x: 1e9 + pb.sum(pb.abs(x - 0.3) * [1.0, 1e3]), np.zeros(2))
    assert not bool(kink.success)


def test_a_jump_is_no_root() -> None:
    for below in (0.0, 1e9):
        for value in (-0.5, -1.0, -0.05):
            f = lambda x: pb.where(x > 5, 1 + 1e9 * (x - 5), value + (below + 1) * (x - 5))  # noqa: B023, E731
            for start in (4.9, 5 + 1e-7, 6.0):
                result = pb.optimize.root(f, np.array([start]))
                assert not bool(result.success) or abs(float(result.fun[0])) < 1e-6, (below, value)
    for power in (1, 2, 3, 4):  # multiple roots are roots
        assert bool(pb.optimize.root(lambda x: (x - 1) ** power, np.full(1, 3.0)).success)  # noqa: B023


def test_a_root_of_many_unknowns_with_a_bad_condition() -> None:
    n = 150
    left, right = (np.linalg.qr(random.normal(size=(n, n)))[0] for _ in range(2))
    matrix = left @ np.diag(np.logspace(0, -6, n)) @ right
    want = random.normal(size=n)
    f = lambda x: matrix @ (x + 0.1 * x**3) - matrix @ (want + 0.1 * want**3)  # noqa: E731
    result = pb.optimize.root(f, np.zeros(n))
    assert bool(result.success)
    assert int(result.nit) < 20
    near(result.x, want, 1e-7)


def test_errors() -> None:
    optimize = pb.optimize
    for error, words, call in (
        (TypeError, "minimize: expected a floating tensor of shape", lambda: optimize.minimize(
            lambda x: x, np.zeros(2))),
        (ValueError, "minimize: expected a result that depends on x", lambda: optimize.minimize(
            lambda x: pb.sum(pb.ones(2)), np.zeros(2))),
        (TypeError, "minimize: x0: expected a floating dtype", lambda: optimize.minimize(
            lambda x: x, np.zeros(2, bool))),
        (ValueError, "minimize: expected tol > 0", lambda: optimize.minimize(
            rosenbrock, np.zeros(2), tol=0.0)),
        (ValueError, "root: expected maxiter >= 1", lambda: optimize.root(
            lambda x: x, np.zeros(2), maxiter=0)),
        (ValueError, "root: expected shape", lambda: optimize.root(lambda x: x[:1], np.zeros(2))),
        (TypeError, "least_squares: expected residuals of dtype float64", lambda: (
            optimize.least_squares(lambda x: pb.astype(x, "float32"), np.zeros(2)))),
        (ValueError, "bisect: expected shape", lambda: optimize.bisect(
            lambda x: x[:1], np.zeros(2), np.ones(2))),
    ):  # fmt: skip
        with pytest.raises(error, match=words):
            call()


def test_a_function_cannot_read_its_unknown() -> None:
    """The function runs once: a value or a branch would be that of the start in each iteration."""
    x0, data = np.array([1.0, 2.0]), np.arange(4.0)
    number = lambda x: pb.sum((x - 3) ** 2) * float(x[0]) + x[1] ** 2  # noqa: E731
    branch = lambda x: pb.sum((x - 3) ** 2 if x[0] > 2 else x**2)  # noqa: E731
    calls: list[tuple[str, Any]] = [
        ("float .* minimize of", lambda: pb.optimize.minimize(number, x0)),
        (r"bool .* minimize of .* cond\(\)", lambda: pb.optimize.minimize(branch, x0)),
        ("item .* least_squares of", lambda: pb.optimize.least_squares(
            lambda x: x * x[0].item(), x0)),
        ("float .* root of", lambda: pb.optimize.root(lambda x: x * float(x[0]) - 4, x0)),
        ("bool .* bisect of", lambda: pb.optimize.bisect(
            lambda x: x - 1 if x > 2 else x - 3, np.float64(0), np.float64(5))),
        ("float .* least_squares of .*test_optimize.py", lambda: pb.optimize.curve_fit(
            lambda x, a, b: a * x + float(b), data, data)),
        ("float .* root of", lambda: pb.implicit.root(
            lambda x: x * float(x[0]) - 4, lambda f, x: x)(x0)),
        ("float .* cg of", lambda: pb.linalg.cg(lambda x: x * float(x[0]), x0)),
        ("float .* quad of .*test_optimize.py", lambda: pb.integrate.quad(
            lambda x: x * float(x), 0.0, 5.0)),
    ]  # fmt: skip
    for words, call in calls:
        with pytest.raises(RuntimeError, match=words):
            call()
    shown: list[str] = []

    def printing(x: Any) -> Any:
        shown.append(str(x))
        return pb.sum((x - 3) ** 2)

    near(pb.optimize.minimize(printing, x0).x, [3.0, 3.0])
    assert shown == ["Tensor(<traced>, shape=(2,), dtype=float64)"]


def test_a_start_of_python_numbers_takes_the_dtype_of_the_result() -> None:
    a, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    want = np.linalg.solve(a, b)
    for solve, f in (
        (pb.optimize.root, lambda x: a @ x - b),
        (pb.optimize.least_squares, lambda x: a @ x - b),
        (pb.optimize.minimize, lambda x: pb.sum((a @ x - b) ** 2)),
        (pb.optimize.minimize, lambda x: (x[0] - want[0]) ** 2 + (x[1] - want[1]) ** 2),
    ):
        for start in ([0.0, 0.0], (0, 0)):
            x = solve(f, start).x
            assert x.dtype == np.float64
            near(x, want, 1e-7)
        assert solve(lambda x, f=f: f(x).astype("float32"), np.zeros(2, "float32")).x.dtype == "f4"
    calls = []

    def f32(x: Any) -> Any:
        calls.append(x.dtype.name)
        return x - pb.constant([1.0, 2.0])

    assert pb.optimize.root(f32, [0.0, 0.0]).x.dtype == np.float32
    assert calls == ["float32"] * 2
    slope = pb.grad(lambda c: pb.sum(pb.optimize.root(lambda x, c: x**3 - c, [1.0, 1.0], c).x))
    near(slope(np.array([8.0, 27.0])), [1 / 12, 1 / 27])
    assert pb.optimize.minimize(
        lambda x: pb.sum((a @ x - b) ** 2), [0.0, 0.0], bounds=[(0, 1), (0, 0.5)]
    ).x.dtype == np.float64  # fmt: skip
