"""implicit.root, fixed_point and minimum of equations that contain operations with several results,
and batches of equations."""

from __future__ import annotations

import numpy as np
from support.each import each

import pullback as pb

from .test_implicit import by_iteration, by_minimize, by_newton, by_scipy, same


def by_rows(z):
    """A matrix far from degenerate whose entries depend on z."""
    return pb.diag(pb.constant([1.0, 3.0], dtype="float64")) + 0.2 * pb.sin(pb.outer(z, z + 1))


W = pb.constant(np.linspace(-0.4, 0.5, 16).reshape(8, 2))
# Operations with several results, each as a function of a vector of two entries. A reverse pass
# takes further results of these: the states of a loop, the vectors of a factorisation.
SEVERAL_RESULTS = {
    "scan": lambda z: pb.scan(lambda h, e: (pb.sin(h) * e, h * e), z[0], z)[1],
    "fori_loop": lambda z: pb.fori_loop(0, 2, lambda i, h: pb.cos(h), z),
    "while_loop": lambda z: pb.while_loop(
        lambda s: s[0] < 2, lambda s: (s[0] + 1, pb.sin(s[1])), (0, z)
    )[1],
    "odeint": lambda z: pb.integrate.odeint(
        lambda y, t: -pb.sin(y), z, np.array([0.0, 0.5]), adjoint="discrete"
    )[1],
    "lstm": lambda z: pb.nn.lstm(pb.reshape(z, (2, 1, 1)), (0.1, z[0]), W[:, :1], W)[0][:, 0, 1],
    "eigh": lambda z: pb.linalg.eigh(by_rows(z) + by_rows(z).T)[1][0] ** 2,
    "eigvalsh": lambda z: pb.linalg.eigvalsh(by_rows(z) + by_rows(z).T),
    "svd": lambda z: pb.linalg.svd(by_rows(z))[0][0] ** 2,
    "svdvals": lambda z: pb.linalg.svdvals(by_rows(z)),
    "qr": lambda z: pb.linalg.qr(by_rows(z))[1][0],
    "slogdet": lambda z: z * pb.linalg.slogdet(by_rows(z))[1],
    "solve": lambda z: pb.linalg.solve(by_rows(z), z),
    "sort": lambda z: pb.sort(pb.sin(z)),
    "function": pb.function(lambda z: pb.scan(lambda h, e: (pb.sin(h) * e, h * e), z[0], z)[1]),
    "checkpoint": pb.checkpoint(lambda z: pb.fori_loop(0, 2, lambda i, h: pb.cos(h), z)),
}


@each("name", SEVERAL_RESULTS)
def test_operations_with_several_results(name):
    """To the second order, in both modes."""
    body = SEVERAL_RESULTS[name]
    root = pb.implicit.root(lambda z, t: z + 0.2 * body(z) * t - t, by_newton)
    point = pb.implicit.fixed_point(lambda z, t: t - 0.2 * body(z) * t, by_iteration)
    least = pb.implicit.minimum(
        lambda z, t: pb.sum(z**2) + 0.1 * pb.sum(body(z) * t) - pb.sum(z * t), by_minimize
    )
    start, t = np.zeros(2), np.array([0.7, 1.2])
    for solution, rtol in ((root, 1e-5), (point, 1e-5), (least, 1e-4)):
        f = lambda t, solution=solution: pb.sum(pb.sin(solution(start, t)))  # noqa: E731
        numbers = lambda t, f=f: np.array(pb.grad(f)(pb.constant(t)))  # noqa: E731
        expected = np.stack(
            [
                (numbers(t + step) - numbers(t - step)) / 2e-4
                for step in (np.array([1e-4, 0]), np.array([0, 1e-4]))
            ]
        )
        value = lambda t, f=f: float(pb.stop_gradient(f(pb.constant(t))))  # noqa: E731
        first = [(value(t + s) - value(t - s)) / 2e-4 for s in np.eye(2) * 1e-4]
        np.testing.assert_allclose(numbers(t), first, rtol=1e-4, atol=1e-6)
        for mode in ("forward", "reverse"):
            second = pb.jacobian(pb.grad(f), mode=mode)(pb.constant(t))
            np.testing.assert_allclose(second, expected, rtol=rtol, atol=1e-5, err_msg=mode)


def by_cubic_newton(f, z, *theta):
    z = np.array(z)
    for _ in range(60):
        z = z - np.asarray(f(z, *theta)) / (3 * z**2)
    return z


def test_a_batch_of_equations():
    """The solver is called for each entry; values, first and second derivatives, nested batches."""
    root = pb.implicit.root(lambda z, t: z**3 - t, by_cubic_newton)
    t = np.array([1.0, 8.0, 3.0])
    x = lambda t: root(np.float64(1.0), t)  # noqa: E731
    batch = pb.vmap(x)
    same(batch(t), t ** (1 / 3))
    same(pb.vmap(pb.grad(x))(t), t ** (-2 / 3) / 3)
    same(pb.vmap(pb.grad(pb.grad(x)))(t), -2 / 9 * t ** (-5 / 3))
    same(pb.jacobian(batch)(t), np.diag(t ** (-2 / 3) / 3))
    same(pb.grad(lambda t: pb.sum(pb.square(batch(t))))(t), 2 / 3 * t ** (-1 / 3))
    same(pb.vmap(batch)(np.stack([t, t + 1])), np.stack([t, t + 1]) ** (1 / 3))
    same(pb.vmap(lambda z: root(z, np.float64(8.0)))(np.array([1.0, 3.0])), [2, 2])
    assert batch(np.zeros(0)).shape == (0,)
    linear = pb.implicit.root(lambda z, a, b: a @ z - b, by_scipy)
    a = np.stack([np.eye(2) * 2, np.array([[2.0, 1.0], [0.0, 3.0]])])
    b = np.array([[1.0, 2.0], [3.0, 4.0]])
    solve = pb.vmap(lambda a, b: linear(np.zeros(2), a, b))
    same(solve(a, b), np.linalg.solve(a, b[..., None])[..., 0])
    by_b = pb.grad(lambda b: pb.sum(solve(pb.constant(a), b)))(b)
    same(by_b, np.linalg.solve(np.swapaxes(a, 1, 2), np.ones((2, 2, 1)))[..., 0])
    least = pb.implicit.minimum(lambda z, t: (z - pb.sin(t)) ** 2, by_minimize)
    same(pb.vmap(pb.grad(lambda t: least(np.float64(0.1), t)))(t), np.cos(t), 1e-5)
