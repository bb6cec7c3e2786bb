"""implicit.root, fixed_point and minimum: derivatives of solutions beside closed forms and
differences, through solvers of any kind."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import pullback as pb
from pullback import implicit

RNG = np.random.default_rng(0)


def by_scipy(f, x0, *theta):
    return optimize.root(f, x0, tol=1e-13).x


def by_newton(f, x0, *theta):
    """Of this library's operations and NumPy's."""
    x = np.array(x0)
    for _ in range(30):
        slope = pb.jacobian(f)(x).numpy()
        x = x - np.linalg.solve(slope.reshape(x.size, x.size), f(x).ravel()).reshape(x.shape)
    return x


def by_iteration(f, x0, *theta):
    for _ in range(60):
        x0 = f(x0, *theta)
    return x0


def by_minimize(f, x0, *theta):
    value_and_slope = pb.value_and_grad(lambda x: f(x, *theta))
    both = lambda x: tuple(one.numpy() for one in value_and_slope(x))  # noqa: E731
    return optimize.minimize(both, x0, jac=True, method="BFGS", options={"gtol": 1e-13}).x


def same(got, expected, rtol=1e-7):
    np.testing.assert_allclose(np.asarray(got), expected, rtol=rtol, atol=1e-10)


@pytest.mark.parametrize("solver", [by_scipy, by_newton])
def test_square_roots_to_the_third_order(solver):
    solve = implicit.root(lambda x, a: x * x - a, solver)
    a = pb.Variable([4.0, 9.0, 0.25], dtype="float64")
    at = a.numpy()
    y = solve(np.ones(3), a)
    same(y, np.sqrt(at))
    for expected in (at**-0.5 / 2, -(at**-1.5) / 4, 3 * at**-2.5 / 8):
        y = pb.gradients(y, a)[0]
        same(y, expected)


def equations(x, a, b):
    return pb.stack([x[0] ** 3 + b * x[1] - a[0], pb.sin(x[1]) + x[1] - a[1] * x[0]])


def test_a_system_in_both_directions():
    solve = implicit.root(equations, by_scipy)
    a, b = np.array([2.0, 0.7]), np.float64(0.3)
    pb.testing.check_gradients(lambda a, b: solve(np.ones(2), a, b), a, b)
    x = solve(np.ones(2), a, b).numpy()
    by_x = np.array([[3 * x[0] ** 2, b], [-a[1], np.cos(x[1]) + 1]])
    by_a = np.array([[-1, 0], [0, -x[0]]])
    expected = -np.linalg.solve(by_x, by_a)
    f = lambda a: solve(np.ones(2), a, b)  # noqa: E731
    same(pb.jacobian(f, mode="reverse")(a), expected)
    same(pb.jacobian(f, mode="forward")(a), expected)
    value, tangent = pb.jvp(f, (a,), (np.array([1.0, -2.0]),))
    same(value, x)
    same(tangent, expected @ [1.0, -2.0])
    total = lambda a: pb.sum(f(a) ** 2)  # noqa: E731
    step = 1e-5
    slopes = [(pb.grad(total)(a + d).numpy() - pb.grad(total)(a - d).numpy()) / (2 * step)
              for d in np.eye(2) * step]  # fmt: skip
    same(pb.hessian(total)(a), slopes, rtol=1e-6)


@pytest.mark.usefixtures("along_directions")
def test_fixed_points():
    mix = RNG.normal(size=(3, 3)) / 4
    solve = implicit.fixed_point(lambda x, w, b: pb.tanh(w @ x + b), by_iteration)
    pb.testing.check_gradients(lambda w, b: solve(np.zeros(3), w, b), mix, RNG.normal(size=3))
    x = solve(np.zeros(3), mix, np.ones(3))
    same(np.tanh(mix @ x.numpy() + 1), x)


def test_minima_and_their_hyperparameters():
    t, s = RNG.normal(size=(20, 4)), RNG.normal(size=20)

    def loss(w, weight, s):
        return pb.sum((t @ w - s) ** 2) + weight * pb.sum(w**2)

    solve = implicit.minimum(loss, by_minimize)
    weight = pb.Variable(0.5, dtype="float64")
    w = solve(np.zeros(4), weight, s)
    matrix = t.T @ t + 0.5 * np.eye(4)
    exact = np.linalg.solve(matrix, t.T @ s)
    same(w, exact, rtol=1e-6)
    slope = pb.gradients(w, weight, np.ones(4))[0]
    same(slope, -np.linalg.solve(matrix, exact).sum(), rtol=1e-6)
    second = pb.gradients(slope, weight)[0]
    same(second, 2 * np.linalg.solve(matrix, np.linalg.solve(matrix, exact)).sum(), rtol=1e-6)


# --- arguments


def test_nests_and_what_is_no_tensor():
    def f(x, theta, power, scale):
        assert power == 2 and scale == 3.0
        return {
            "u": x["u"] ** power - theta["a"],
            "v": (scale * x["v"][0] - theta["b"] * x["u"][0],),
        }

    def solver(f, x0, theta, power, scale):
        assert power == 2 and scale == 3.0 and isinstance(x0["u"], np.ndarray)
        assert isinstance(theta["a"], np.ndarray) and theta["a"].flags.writeable
        u = np.sqrt(theta["a"])
        answer = {"u": u, "v": (theta["b"] * u[0] / scale,)}
        for given in ((), (theta, power, scale)):
            residual = f(answer, *given)
            assert np.abs(residual["u"]).max() < 1e-12 and np.abs(residual["v"][0]).max() < 1e-12
        other = f(answer, {"a": theta["a"] + 1, "b": theta["b"]}, power, scale)
        same(other["u"], -np.ones(2))
        return answer

    solve = implicit.root(f, solver)
    theta = {"a": pb.Variable([4.0, 9.0], dtype="float64"), "b": pb.Variable(6.0, dtype="float64")}
    x = solve({"u": np.ones(2), "v": (np.float64(1),)}, theta, 2, 3.0)
    same(x["u"], [2, 3])
    same(x["v"][0], 4)
    by_a, by_b = pb.gradients(x["v"][0], [theta["a"], theta["b"]])
    same(by_a, [0.5, 0])
    same(by_b, 2 / 3)


def test_a_scalar_unknown_and_float32():
    solve = implicit.root(lambda x, a: pb.exp(x) - a, lambda f, x0, a: np.log(a))
    a = pb.Variable(2.0)
    x = solve(np.float32(0), a)
    assert x.shape == () and x.dtype == np.float32
    same(pb.gradients(x, a)[0], 0.5, rtol=1e-6)
    bracket = lambda f, x0, *theta: optimize.brentq(lambda x: float(f(x)), 0.0, 5.0)  # noqa: E731
    solve = implicit.root(lambda x, a: pb.exp(x) - a, bracket)
    same(pb.grad(lambda a: solve(1.0, a))(2.0), 0.5, rtol=1e-5)


def test_what_f_reads_outside_has_gradients_too():
    scale, shift = pb.Variable(2.0, dtype="float64"), pb.Variable([1.0, 3.0], dtype="float64")
    tensor = shift * 2.0
    solve = implicit.root(lambda x: scale * x - tensor, by_scipy)
    x = solve(np.zeros(2))
    by_scale, by_shift = pb.gradients(x, [scale, shift])
    scale.assign(100.0)  # what was read stays as it was
    same(x, [1, 3])
    same(by_scale, -2)
    same(by_shift, [1, 1])
    same(pb.gradients(by_scale, shift)[0], [-0.5, -0.5])


def test_no_gradient_by_the_start():
    x0 = pb.Variable([1.0, 1.0], dtype="float64")
    solve = implicit.root(lambda x, a: x * x - a, by_scipy)
    assert pb.gradients(solve(x0, np.array([4.0, 9.0])), x0) == [None]


def test_inside_of_a_function():
    calls = []

    def solver(f, x0, *theta):
        calls.append(1)
        return by_scipy(f, x0)

    solve = implicit.root(lambda x, a: x**3 - a, solver)
    w = pb.Variable(2.0, dtype="float64")

    @pb.function
    def step(a):
        with pb.GradientTape() as tape:
            loss = pb.sum(solve(np.ones(2), w * a))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    expected = 2.0
    for a in (np.array([1.0, 8.0]), np.array([27.0, 1.0])):
        roots = np.cbrt(expected * a)
        same(step(a), roots.sum())
        expected -= 0.1 * (a / (3 * roots**2)).sum()
        same(w, expected)
    assert len(calls) == 2


def test_a_value_is_computed_once_for_its_gradients():
    calls = []

    def solver(f, x0, *theta):
        calls.append(1)
        return by_scipy(f, x0)

    a = pb.Variable([4.0, 9.0], dtype="float64")
    x = implicit.root(lambda x, a: x * x - a, solver)(np.ones(2), a)
    slope = pb.gradients(x, a)[0]
    pb.evaluate([x, slope, pb.gradients(slope, a)[0]])
    assert len(calls) == 1


# --- many unknowns


def line(u, a):
    p = pb.pad(u, 1)
    return 4.0 * u - p[2:] - p[:-2] + u**3 - a


@pytest.mark.parametrize("n", [128, 150])  # solved directly, and by iteration
def test_many_unknowns(n):
    def solver(f, x0, *theta):
        u = np.zeros(n)
        for _ in range(8):
            slope = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) + np.diag(3 * u**2)
            u = u - np.linalg.solve(slope, f(u))
        return u

    solve = implicit.root(line, solver)
    a = pb.Variable(np.linspace(-1, 2, n))
    u = solve(np.zeros(n), a)
    slope = pb.gradients(pb.sum(u**2), a)[0]
    at = u.numpy()
    matrix = 4 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1) + np.diag(3 * at**2)
    w = np.linalg.solve(matrix, 2 * at)
    same(slope, w)
    # d(w·1)/da: w = J⁻¹ 2u, J = J(u(a)).
    second = pb.gradients(pb.sum(slope), a)[0]
    ones = np.linalg.solve(matrix, np.ones(n))
    same(second, np.linalg.solve(matrix, 2 * ones - 6 * at * w * ones))


def test_many_unknowns_of_a_minimum():
    n = 300
    energy = lambda u, a: pb.sum(u**2) + pb.sum((u[1:] - u[:-1]) ** 2) - 2 * pb.sum(a * u)  # noqa: E731
    matrix = np.eye(n)
    matrix[:-1, :-1] += np.eye(n - 1)
    matrix[1:, 1:] += np.eye(n - 1)
    matrix -= np.eye(n, k=1) + np.eye(n, k=-1)
    solve = implicit.minimum(energy, lambda f, x0, a: np.linalg.solve(matrix, a))
    a = pb.Variable(np.linspace(0, 1, n))
    same(pb.gradients(solve(np.zeros(n), a), a)[0], np.linalg.solve(matrix, np.ones(n)))


def test_a_rotation_on_which_the_short_recurrence_breaks_down():
    """The products with the derivative are orthogonal to their operands."""
    n = 130
    scale = np.repeat([1.0, 2.0, 5.0, 7.0, 11.0], n // 10)

    def f(x, a):
        first, second = x[: n // 2], x[n // 2 :]
        return pb.concat([-scale * second, scale * first]) - a

    solve = implicit.root(f, lambda f, x0, a: np.r_[a[n // 2 :] / scale, -a[: n // 2] / scale])
    weights = RNG.normal(size=n)
    slope = pb.grad(lambda a: pb.sum(weights * solve(np.zeros(n), a)))(RNG.normal(size=n))
    same(slope, np.r_[-weights[n // 2 :] / scale, weights[: n // 2] / scale])


def test_a_matrix_on_which_gmres_stagnates():
    """It is formed. All directions of a random rotation have to be visited."""
    n = 150
    turn = np.linalg.qr(RNG.normal(size=(n, n)))[0]
    solve = implicit.root(lambda x, a: pb.sin(turn @ x) - a, lambda f, x0, a: turn.T @ np.arcsin(a))
    a = RNG.uniform(-0.9, 0.9, (2, n))
    total = lambda a: pb.sum(solve(np.zeros(n), a) ** 2)  # noqa: E731
    slope, rest = np.arcsin(a), 1 - a**2
    same(pb.grad(total)(a[0]), 2 * slope[0] / rest[0] ** 0.5)
    same(pb.vmap(pb.grad(total))(a), 2 * slope / rest**0.5)
    second = pb.grad(lambda a: pb.sum(pb.grad(total)(a)))(a[0])
    same(second, 2 / rest[0] + 2 * slope[0] * a[0] / rest[0] ** 1.5)


def test_many_unknowns_of_a_batch():
    n = 140
    mix = RNG.normal(size=(n, n)) / (4 * n**0.5)
    solve = implicit.fixed_point(lambda x, b: pb.tanh(mix @ x + b), by_iteration)
    slope = pb.vmap(pb.grad(lambda b: pb.sum(solve(np.zeros(n), b) ** 2)))
    # Different numbers of steps: the second equation is almost decoupled.
    b = np.stack([0.1 * RNG.normal(size=n), np.full(n, 9.0), np.zeros(n)])
    for got, one in zip(slope(b), b, strict=True):
        x = solve(np.zeros(n), one).numpy()
        by_x = np.eye(n) - (1 - x**2)[:, None] * mix
        same(got, (1 - x**2) * np.linalg.solve(by_x.T, 2 * x))


# --- errors


def test_errors_at_the_call():
    for name in ("root", "fixed_point", "minimum"):
        make = getattr(implicit, name)
        with pytest.raises(TypeError, match=rf"^{name}: expected a function for f, got 3"):
            make(3, by_scipy)
        with pytest.raises(TypeError, match=rf"^{name}: expected a function for solver, got None"):
            make(lambda x: x, None)
        for x0 in (1j, np.float16([1]), {"a": 1.0, "b": np.float64(2)}, {}, "abc", None):
            with pytest.raises(TypeError, match=rf"^{name}: .*x0"):
                make(lambda x: x, by_scipy)(x0)
    solve = implicit.root(lambda x: x[0], by_scipy)
    with pytest.raises(ValueError, match=r"^root: expected shape \(2,\) from .* got \(\)"):
        solve(np.ones(2))
    with pytest.raises(ValueError, match=r"^root: the result of .* expected the keys 'a'"):
        implicit.root(lambda x: x["a"], by_scipy)({"a": 1.0})
    with pytest.raises(
        TypeError, match=r"^root: expected dtype float64 from .* got float32; cast it"
    ):
        implicit.root(lambda x: pb.cast(x, "float32"), by_scipy)(np.ones(2))
    with pytest.raises(ValueError, match=r"^root: expected a result that depends on x"):
        implicit.root(lambda x: pb.ones(2, "float64"), by_scipy)(np.ones(2))
    with pytest.raises(
        TypeError,
        match=r"^minimum: expected a floating tensor of shape \(\) .* got float64 of shape \(2,\)",
    ):
        implicit.minimum(lambda x: x, by_scipy)(np.ones(2))


def test_errors_when_it_is_computed():
    a = pb.Variable([1.0, 2.0], dtype="float64")
    for answer, error, text in (
        (np.ones(3), ValueError, r"expected shape \(2,\) .* got \(3,\)"),
        (np.ones(2, np.float32), TypeError, "expected dtype float64 .* got float32"),
        (["a", "b"], (TypeError, ValueError), "^root: the result of"),
        (None, TypeError, "^root: the result of .* got a NoneType"),
    ):
        x = implicit.root(lambda x, a: x - a, lambda f, x0, a, answer=answer: answer)(np.ones(2), a)
        with pytest.raises(error, match=text):
            x.numpy()
    listed = implicit.root(lambda x, a: x - a, lambda f, x0, a: [1.0, 2.0])(np.ones(2), a)
    same(listed, [1, 2])

    def failing(f, x0, a):
        raise KeyError("no convergence")

    with pytest.raises(KeyError, match="no convergence"):
        implicit.root(lambda x, a: x - a, failing)(np.ones(2), a).numpy()
    flat = implicit.root(lambda x, a: x**2 - a * 0.0, lambda f, x0, a: np.zeros(2))
    slope = pb.gradients(flat(np.ones(2), a), a)[0]
    with pytest.raises(np.linalg.LinAlgError, match=r"^root: .*the derivative by x is singular"):
        slope.numpy()
    for n, text in ((200, "the derivative by x is singular"), (2100, "gmres did not solve")):
        flat = implicit.root(lambda x, a: x**2 - a, lambda f, x0, a, n=n: np.zeros(n))
        a = pb.Variable(np.zeros(n))
        with pytest.raises(np.linalg.LinAlgError, match=rf"^root: .*{text}"):
            pb.gradients(flat(np.ones(n), a), a)[0].numpy()


@pb.custom_gradient
def cube(x):
    return x * x * x, lambda g: g * 3 * x * x


@pb.custom_gradient
def cube_by_another(x):
    @pb.custom_gradient
    def slope(x):
        return 3 * x * x, lambda g: g * 6 * x

    return x * x * x, lambda g: g * slope(x)


@pb.custom_gradient
def cube_and_product(x, y):
    return (x**3, x * y), lambda g, h: (3 * g * x * x + h * y, h * x)


def overridden_square(x):
    with pb.gradient_override_map({"square": lambda op, g: 2 * g * op.inputs[0]}):
        return pb.square(x)


RULES = {
    "custom": lambda x: cube(x) + x,
    "several": lambda x: sum(cube_and_product(x, pb.ones_like(x))),
    "nested": lambda x: cube_by_another(x) + x,
    "override": lambda x: x * overridden_square(x) + x,
    "numpy": lambda x: (
        pb.numpy_function(lambda x: x**3, x, vjp=lambda p, u: u[0] * 3 * p[0] ** 2)(x) + x
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules_of_users_are_asked_at_the_solution(name):
    """They hold the tensors that f was recorded with, which stand for the start."""
    f = RULES[name]
    a = pb.Variable([2.0, 0.5], dtype="float64")
    x = implicit.root(lambda x: f(x) - f(a) * 2.0, by_scipy)(np.ones(2))
    (first,) = pb.gradients(x, a)
    (second,) = pb.gradients(first, a)
    s, b = x.numpy(), a.numpy()
    slope, curvature = lambda x: 3 * x * x + 1, lambda x: 6 * x
    np.testing.assert_allclose(s**3 + s, 2 * (b**3 + b), rtol=1e-10)
    np.testing.assert_allclose(first.numpy(), 2 * slope(b) / slope(s), rtol=1e-9)
    expected = (2 * curvature(b) - curvature(s) * (2 * slope(b) / slope(s)) ** 2) / slope(s)
    np.testing.assert_allclose(second.numpy(), expected, rtol=1e-8)


def test_arguments_that_enter_through_operations_of_their_own() -> None:
    """What is made from them alone is tracked when the rule asks, after the tape has ended."""
    root = implicit.root(lambda x, t: x**3 + x - pb.exp(pb.sin(t)), by_newton)
    t = np.array([0.3, 1.1])
    x = root(np.ones(2), t).numpy()
    slope = np.exp(np.sin(t)) * np.cos(t) / (3 * x**2 + 1)
    same(pb.grad(lambda t: pb.sum(root(np.ones(2), t)))(pb.constant(t)), slope)
    same(pb.jacobian(lambda t: root(np.ones(2), t))(pb.constant(t)), np.diag(slope))


def test_a_solver_that_calls_f_with_arguments_of_its_own():
    """Arguments that nothing else watches are no constants of f."""
    seen = []

    def by_continuation(f, x0, a):
        for part in (0.25, 0.5, 1.0):
            seen.append(np.array(f(x0, part * a)))
            x0 = by_newton(lambda x, part=part: f(x, part * a), x0)
        return x0

    start, a = np.ones(2), np.array([10.0, 30.0])
    same(implicit.root(lambda x, a: x**3 + x - a, by_continuation)(start, a), [2, 3.0])
    same(seen[0], 2 - 0.25 * a)


def test_a_symmetric_system_on_which_conjugate_gradients_stop_early() -> None:
    scale = np.logspace(0, 8, 140)
    lowest = pb.implicit.minimum(
        lambda x, b: pb.sum(scale * x * x) / 2 - pb.sum(b * x), lambda f, x0, b: b / scale
    )
    weights = np.linspace(1.0, 2.0, 140)
    got = pb.grad(lambda b: pb.sum(lowest(np.zeros(140), b) * weights))(np.ones(140))
    np.testing.assert_allclose(got.numpy(), weights / scale, rtol=1e-6)
