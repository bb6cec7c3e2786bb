"""Loops of the plan that solve a linear equation by products with its matrix: conjugate gradients,
BiCGSTAB, MINRES and GMRES.

Each takes the products `on` with the matrix, a start `x` and its residual, and a bound of the norm
of the residual. It returns a `Solution`, whose norm exceeds the bound, or is NaN, if the steps did
not suffice. Nothing here has a derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .._control.loops import while_loop
from .._core import Tensor
from ._solve import solve_triangular

Product = Callable[[Any], Any]

_STALLED = 3  # cycles of GMRES without a smaller residual: all others would be equal


class Solution(NamedTuple):
    """A solution, the norm of its residual, and the number of steps."""

    x: Tensor
    size: Tensor
    steps: Tensor


def norm(x: Tensor) -> Tensor:
    return _core.euclidean_norm(_core.abs(x))


def _inner(a: Tensor, b: Tensor) -> Tensor:
    product = _core.multiply(_core.conj(a) if a.dtype.kind == "c" else a, b)
    out: Tensor = _core.sum(product, None, False)
    return out


def _more_steps(bound: Any, most: int) -> Callable[[Any], Any]:
    """Return the condition of a loop whose state ends with the norm and the number of steps."""

    def more(state: Any) -> Any:
        *_, size, count = state
        return _core.logical_and(_core.greater(size, bound), _core.less(count, most))

    return more


def conjugate_gradients(
    on: Product, near: Product, x: Tensor, r: Tensor, bound: Any, most: int
) -> Solution:
    """`near` is the preconditioner."""

    def step(state: Any) -> Any:
        x, r, p, rho, _, count = state
        q = on(p)
        alpha = _core.divide(rho, _inner(p, q))
        x = _core.add(x, _core.multiply(alpha, p))
        r = _core.subtract(r, _core.multiply(alpha, q))
        z = near(r)
        following = _inner(r, z)
        p = _core.add(z, _core.multiply(_core.divide(following, rho), p))
        return x, r, p, following, norm(r), _core.add(count, 1)

    z = near(r)
    start = (x, r, z, _inner(r, z), norm(r), _core.constant(0, "int64"))
    x, _, _, _, size, count = while_loop(_more_steps(bound, most), step, start)
    return Solution(x, size, count)


def minimal_residuals(on: Product, x: Tensor, r: Tensor, bound: Any, most: int) -> Solution:
    """Solve an equation with a Hermitian matrix by the recurrence of Paige and Saunders.

    The recurrence estimates the residual, so it starts again from the result until the residual is
    small enough, or no longer becomes smaller.
    """

    def more(state: Any) -> Any:
        _, _, size, before, count = state
        going = _core.logical_and(_core.greater(size, bound), _core.less(count, most))
        return _core.logical_and(going, _core.less(size, _core.multiply(before, 0.5)))

    def cycle(state: Any) -> Any:
        x, r, size, _, count = state
        change, count = _lanczos(on, r, bound, most, count)
        rest = _core.subtract(r, on(change))
        better = _core.less(norm(rest), size)
        x = _core.where(better, _core.add(x, change), x)
        r = _core.where(better, rest, r)
        return x, r, norm(r), size, count

    size = norm(r)
    infinite = _core.full((), float("inf"), size.dtype)
    start = (x, r, size, infinite, _core.constant(0, "int64"))
    x, _, size, _, count = while_loop(more, cycle, start)
    return Solution(x, size, count)


def _lanczos(on: Product, r: Tensor, bound: Any, most: int, count: Any) -> tuple[Any, Any]:
    """Return a solution of the equation with the right-hand side r, and the number of steps."""
    dtype = r.dtype
    first = norm(r)
    tiny = 1e-6 if first.dtype == "float32" else 1e-14

    def step(state: Any) -> Any:
        x, before, now, w, w_before, numbers, size, count = state
        beta_before, beta, dbar, epsilon, cosine, sine, scale = (numbers[k] for k in range(7))
        v = _core.divide(now, _core.cast(beta, dtype))
        y = on(v)
        # The first step has no vector before it: `before` is 0 then.
        y = _core.subtract(y, _core.multiply(_core.cast(beta / beta_before, dtype), before))
        alpha = _core.real(_inner(v, y)) if dtype.kind == "c" else _inner(v, y)
        y = _core.subtract(y, _core.multiply(_core.cast(alpha, dtype), v))
        following = norm(y)
        delta = cosine * dbar + sine * alpha
        gbar = sine * dbar - cosine * alpha
        gamma = _core.hypot(gbar, following)
        scale = _core.maximum(scale, _core.abs(alpha) + following)
        usable = _core.greater(gamma, scale * tiny)
        gamma = _core.where(usable, gamma, 1.0)
        w_next = v - _core.cast(epsilon, dtype) * w_before - _core.cast(delta, dtype) * w
        w_next = _core.divide(w_next, _core.cast(gamma, dtype))
        turn = gbar / gamma
        moved = _core.add(x, _core.multiply(_core.cast(turn * size, dtype), w_next))
        # A singular matrix: the direction has no effect. A size of 0 ends the loop.
        x = _core.where(usable, moved, x)
        size = _core.where(usable, following / gamma * size, 0.0)
        numbers = _core.stack(
            [
                beta,
                following,
                -cosine * following,
                sine * following,
                turn,
                following / gamma,
                scale,
            ],
            0,
        )
        return x, now, y, w_next, w, numbers, size, _core.add(count, 1)

    zeros, zero = _core.full(r.shape, 0, dtype), _core.full((), 0, first.dtype)
    one = _core.full((), 1, first.dtype)
    numbers = _core.stack([one, first, zero, zero, -one, zero, zero], 0)
    start = (zeros, zeros, r, zeros, zeros, numbers, first, count)
    x, *_, count = while_loop(_more_steps(bound, most), step, start)
    return x, count


def bicgstab(on: Product, x: Tensor, r: Tensor, bound: Any, most: int) -> Solution:
    """Solve an equation of real numbers by van der Vorst's method, with two products in a step.

    The norm is that of a residual which is updated, not computed.
    """
    first = r

    def step(state: Any) -> Any:
        x, r, p, rho, _, count = state
        v = on(p)
        alpha = _core.divide(rho, _inner(first, v))
        s = _core.subtract(r, _core.multiply(alpha, v))
        t = on(s)
        square = _core.square(norm(t))
        # s is 0 if the first half of the step reaches the solution.
        omega = _core.where(_core.greater(square, 0), _core.divide(_inner(t, s), square), 0.0)
        x = _core.add(x, _core.add(_core.multiply(alpha, p), _core.multiply(omega, s)))
        r = _core.subtract(s, _core.multiply(omega, t))
        following = _inner(first, r)
        beta = _core.multiply(_core.divide(following, rho), _core.divide(alpha, omega))
        rest = _core.subtract(p, _core.multiply(omega, v))
        p = _core.add(r, _core.multiply(beta, rest))
        return x, r, p, following, norm(r), _core.add(count, 1)

    start = (x, r, r, _core.square(norm(r)), norm(r), _core.constant(0, "int64"))
    x, _, _, _, size, count = while_loop(_more_steps(bound, most), step, start)
    return Solution(x, size, count)


def gmres(
    on: Product, near: Product, b: Tensor, x: Tensor, r: Tensor, bound: Any, restart: int, most: int
) -> Solution:
    """`near` is the preconditioner, from the right; `restart` and `most` count products and cycles.

    A cycle ends early if its residual is small enough.
    """

    def more(state: Any) -> Any:
        _, _, size, _, stalled, count = state
        able = _core.logical_and(_core.less(stalled, _STALLED), _core.less(count, most))
        return _core.logical_and(_core.greater(size, bound), able)

    def cycle(state: Any) -> Any:
        x, r, size, least, stalled, count = state
        x = _core.add(x, _best_change(on, near, r, size, bound, restart))
        r = _core.subtract(b, on(x))
        size = norm(r)
        stalled = _core.where(_core.less(size, least), 0, _core.add(stalled, 1))
        return x, r, size, _core.minimum(size, least), stalled, _core.add(count, 1)

    none = _core.constant(0, "int64")
    x, _, size, _, _, count = while_loop(more, cycle, (x, r, norm(r), norm(r), none, none))
    return Solution(x, size, count)


def _best_change(
    on: Product, near: Product, r: Tensor, size: Any, bound: Any, restart: int
) -> Tensor:
    """Return the best change of x in a Krylov space of at most `restart` dimensions.

    Givens rotations make the matrix of the products in the basis triangular. Their product is
    `turn`; its first column times `size` is the rotated right-hand side.
    """
    count, shape, dtype = restart, r.shape, r.dtype
    at = _core.arange(0, count + 1, 1, "int64")
    rows = _core.expand_dims(at, 1)
    tiny = 1e-6 if size.dtype == "float32" else 1e-14
    first = _core.divide(_core.reshape(r, (1, -1)), _core.cast(size, dtype))
    basis = _core.where(_core.equal(rows, 0), first, _core.full((), 0, dtype))
    turn = _core.eye(count + 1, count + 1, 0, dtype)
    upper = _core.eye(count, count, 0, dtype)

    def more(state: Any) -> Any:
        return _core.logical_and(_core.greater(state[3], bound), _core.less(state[4], count))

    def grow(state: Any) -> Any:
        basis, turn, upper, _, j = state
        w = _core.reshape(on(near(_core.reshape(_core.take(basis, j, 0), shape))), (-1,))
        before = norm(w)
        known: Any = None
        for _ in range(2):  # once is not enough: rounding leaves a component
            h = _core.matmul(_core.conj(basis), w)
            w = _core.subtract(w, _core.matmul(h, basis))
            known = h if known is None else _core.add(known, h)
        length = norm(w)
        # If w is not new, the basis spans the solution.
        new = _core.greater(length, _core.multiply(before, tiny))
        scale = _core.where(new, _core.divide(1.0, _core.where(new, length, 1.0)), 0.0)
        length = _core.where(new, length, 0.0)
        following = _core.equal(rows, _core.add(j, 1))
        w = _core.multiply(w, _core.cast(scale, dtype))
        basis = _core.where(following, _core.expand_dims(w, 0), basis)
        # The column of the products, rotated as those before it, and one more rotation.
        column = _core.where(_core.equal(at, _core.add(j, 1)), _core.cast(length, dtype), known)
        column = _core.matmul(turn, column)
        here = _core.take(column, j, 0)
        pivot = _core.hypot(_core.abs(here), length)
        usable = _core.greater(pivot, _core.multiply(before, tiny))
        pivot = _core.where(usable, pivot, 1.0)
        sine = _core.cast(_core.where(usable, _core.divide(length, pivot), 0.0), dtype)
        cosine = _core.where(usable, _core.divide(here, _core.cast(pivot, dtype)), 1.0)
        one, other = _core.take(turn, j, 0), _core.take(turn, _core.add(j, 1), 0)
        turned = _core.add(_core.multiply(_core.conj(cosine), one), _core.multiply(sine, other))
        turned = _core.where(usable, turned, 0.0)  # the direction has no effect: do not move in it
        other = _core.subtract(_core.multiply(cosine, other), _core.multiply(sine, one))
        turn = _core.where(_core.equal(rows, j), turned, _core.where(following, other, turn))
        below = _core.where(_core.less(at, j), column, _core.full((), 0, dtype))
        column = _core.where(_core.equal(at, j), _core.cast(pivot, dtype), below)[:-1]
        upper = _core.where(_core.equal(at[:-1], j), _core.expand_dims(column, 1), upper)
        rest = _core.multiply(size, _core.abs(other[0]))
        return basis, turn, upper, rest, _core.add(j, 1)

    start = (basis, turn, upper, size, _core.constant(0, "int64"))
    basis, turn, upper, _, j = while_loop(more, grow, start)
    wanted = _core.multiply(turn[:-1, 0], _core.cast(size, dtype))
    wanted = _core.where(_core.less(at[:-1], j), wanted, _core.full((), 0, dtype))
    y = solve_triangular(upper, wanted)
    change: Tensor = near(_core.reshape(_core.matmul(y, basis[:-1]), shape))
    return change
