"""Gradients of whole programs of science: molecular dynamics, registration of images, a deep
equilibrium, a boundary value by shooting, splines, soft sorting, factorisation, Newton's method.

A new row is an entry of TASKS, as in transforms.py. Formulas that libraries spell alike take the
namespace `xp`.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal
from .transforms import Task, row_of

# --- molecular dynamics: Verlet steps of Lennard-Jones particles, by the potential and the start

DYNAMICS_STEPS = 100


def _particles(random: Any, small: bool) -> list[Any]:
    sides = (2, 2, 1) if small else (4, 4, 2)
    x = np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), -1).reshape(-1, 3) * 1.2
    x = x + 0.05 * random.standard_normal(x.shape)
    return [np.array([1.0, 1.0]), x, 0.1 * random.standard_normal(x.shape), np.eye(len(x))]


def _energy(x: Any, potential: Any, eye: Any) -> Any:
    d = x[:, None, :] - x[None, :, :]
    square = (d * d).sum(-1) / potential[1] ** 2 + eye
    sixth = 1 / square**3
    return 2 * potential[0] * ((sixth * sixth - sixth) * (1 - eye)).sum()


def _travelled(force: Any, loop: Any, x: Any, v: Any) -> Any:
    def step(i: Any, state: Any) -> Any:
        x, v, f = state
        v = v + 0.0025 * f
        x = x + 0.005 * v
        f = force(x)
        return x, v + 0.0025 * f, f

    end = loop(0, DYNAMICS_STEPS, step, (x, v, force(x)))[0]
    return ((end - x) ** 2).sum()


def _dynamics_pullback(potential: Any, x: Any, v: Any, eye: Any) -> Any:
    import pullback as pb

    def moved(potential: Any, v: Any) -> Any:
        slope = pb.grad(_energy)
        return _travelled(lambda x: -slope(x, potential, eye), pb.fori_loop, x, v)

    return pb.value_and_grad(moved, (0, 1))(potential, v)


def _dynamics_jax(potential: Any, x: Any, v: Any, eye: Any) -> Any:
    import jax

    def moved(potential: Any, v: Any) -> Any:
        slope = jax.grad(_energy)
        return _travelled(lambda x: -slope(x, potential, eye), jax.lax.fori_loop, x, v)

    return jax.value_and_grad(moved, (0, 1))(potential, v)


def _python_loop(lower: int, upper: int, step: Any, state: Any) -> Any:
    for i in range(lower, upper):
        state = step(i, state)
    return state


def _dynamics_torch(potential: Any, x: Any, v: Any, eye: Any) -> Any:
    import torch

    given = [a.detach().requires_grad_() for a in (potential, v)]
    start = x.detach().requires_grad_()

    def force(x: Any) -> Any:
        return -torch.autograd.grad(_energy(x, given[0], eye), x, create_graph=True)[0]

    value = _travelled(force, _python_loop, start, given[1])
    return value.detach(), torch.autograd.grad(value, given)


# --- registration: a field of shifts that moves one image onto another


def _pictures(random: Any, small: bool) -> list[Any]:
    n = 8 if small else 256
    rows, columns = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")

    def blob(row: float, column: float) -> Any:
        return np.exp(-((rows - row * n) ** 2 + (columns - column * n) ** 2) / (0.03 * n * n))

    fixed, moving = blob(0.4, 0.5) + blob(0.6, 0.3), blob(0.45, 0.5) + blob(0.6, 0.35)
    shifts = 0.3 * random.standard_normal((2, n, n))
    return [a.astype(np.float32) for a in (shifts, fixed, moving, np.stack([rows, columns]))]


def _mismatch(sample: Any, shifts: Any, fixed: Any, moving: Any, grid: Any) -> Any:
    difference = sample(moving, grid + shifts) - fixed
    rows, columns = shifts[:, 1:] - shifts[:, :-1], shifts[:, :, 1:] - shifts[:, :, :-1]
    return (difference**2).mean() + 0.01 * ((rows**2).mean() + (columns**2).mean())


def _sample_pullback(image: Any, at: Any) -> Any:
    import pullback as pb

    n, m = image.shape
    row, column = pb.clip(at[0], 0, n - 1), pb.clip(at[1], 0, m - 1)
    r, c = (pb.floor(pb.minimum(a, k - 2)) for a, k in ((row, n), (column, m)))
    down, right = row - r, column - c
    i, j = pb.cast(r, "int64"), pb.cast(c, "int64")
    above = image[i, j] * (1 - right) + image[i, j + 1] * right
    below = image[i + 1, j] * (1 - right) + image[i + 1, j + 1] * right
    return above * (1 - down) + below * down


def _registration_pullback(shifts: Any, *images: Any) -> Any:
    import pullback as pb

    loss, slope = pb.value_and_grad(partial(_mismatch, _sample_pullback))(shifts, *images)
    return loss, shifts - 10 * slope


def _registration_jax(shifts: Any, *images: Any) -> Any:
    import jax

    def sample(image: Any, at: Any) -> Any:
        return jax.scipy.ndimage.map_coordinates(image, list(at), order=1, mode="nearest")

    loss, slope = jax.value_and_grad(partial(_mismatch, sample))(shifts, *images)
    return loss, shifts - 10 * slope


def _registration_torch(shifts: Any, *images: Any) -> Any:
    import torch

    def sample(image: Any, at: Any) -> Any:
        n, m = image.shape
        places = torch.stack([2 * at[1] / (m - 1) - 1, 2 * at[0] / (n - 1) - 1], -1)[None]
        return torch.nn.functional.grid_sample(
            image[None, None], places, padding_mode="border", align_corners=True
        )[0, 0]

    shifts = shifts.detach().requires_grad_()
    loss = _mismatch(sample, shifts, *images)
    (slope,) = torch.autograd.grad(loss, [shifts])
    return loss.detach(), shifts.detach() - 10 * slope


# --- a deep equilibrium: the fixed point of a layer, with the gradient of the equation


def _equilibrium_data(random: Any, small: bool) -> list[Any]:
    batch, width, units = (2, 5, 70) if small else (32, 64, 128)

    def draw(scale: float, *shape: int) -> Any:
        return (scale * random.standard_normal(shape)).astype(np.float32)

    w = draw(0.4 * units**-0.5, units, units)
    return [w, draw(width**-0.5, width, units), draw(0.1, units), draw(1, batch, width),
            draw(1, batch, units)]  # fmt: skip


def _equilibrium_pullback(*arrays: Any) -> Any:
    import pullback as pb

    def solver(f: Any, z: Any, *theta: Any) -> Any:
        def more(state: Any) -> Any:
            z, before, steps = state
            return (pb.max(pb.abs(z - before)) > 1e-6) & (steps < 100)

        def step(state: Any) -> Any:
            z, _, steps = state
            return f(z), z, steps + 1

        return pb.while_loop(more, step, (f(pb.constant(z)), pb.constant(z), 0))[0]

    layer = pb.implicit.fixed_point(lambda z, w, inputs: pb.tanh(z @ w + inputs), solver)

    def loss(w: Any, u: Any, b: Any, x: Any, wanted: Any) -> Any:
        z = layer(pb.zeros_like(wanted), w, x @ u + b)
        return pb.mean((z - wanted) ** 2)

    return pb.value_and_grad(loss, (0, 1, 2))(*arrays)


def _equilibrium_jax(*arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def fixed_point(f: Any, z: Any) -> Any:
        def more(state: Any) -> Any:
            z, before, steps = state
            return (jnp.max(jnp.abs(z - before)) > 1e-6) & (steps < 100)

        def step(state: Any) -> Any:
            z, _, steps = state
            return f(z), z, steps + 1

        return jax.lax.while_loop(more, step, (f(z), z, 0))[0]

    def f(z: Any, w: Any, inputs: Any) -> Any:
        return jnp.tanh(z @ w + inputs)

    @jax.custom_vjp
    def layer(w: Any, inputs: Any) -> Any:
        return fixed_point(lambda z: f(z, w, inputs), jnp.zeros_like(inputs))

    def forward(w: Any, inputs: Any) -> Any:
        z = layer(w, inputs)
        return z, (z, w, inputs)

    def backward(kept: Any, g: Any) -> Any:
        pull = jax.vjp(f, *kept)[1]
        return pull(fixed_point(lambda v: g + pull(v)[0], g))[1:]

    layer.defvjp(forward, backward)

    def loss(w: Any, u: Any, b: Any, x: Any, wanted: Any) -> Any:
        return jnp.mean((layer(w, x @ u + b) - wanted) ** 2)

    return jax.value_and_grad(loss, (0, 1, 2))(*arrays)


def _equilibrium_torch(w: Any, u: Any, b: Any, x: Any, wanted: Any) -> Any:
    import torch

    def fixed_point(f: Any, z: Any) -> Any:
        before, z, steps = z, f(z), 1
        while (z - before).abs().max() > 1e-6 and steps < 100:
            before, z, steps = z, f(z), steps + 1
        return z

    w, u, b = given = [a.detach().requires_grad_() for a in (w, u, b)]
    inputs = x @ u + b
    with torch.no_grad():
        z = fixed_point(lambda z: torch.tanh(z @ w + inputs), torch.zeros_like(wanted))
    z = torch.tanh(z @ w + inputs)
    at = z.detach().requires_grad_()
    again = torch.tanh(at @ w + inputs)

    def pull(g: Any) -> Any:
        return fixed_point(lambda v: g + torch.autograd.grad(again, at, v, retain_graph=True)[0], g)

    z.register_hook(pull)
    value = ((z - wanted) ** 2).mean()
    return value.detach(), torch.autograd.grad(value, given)


# --- shooting: y'' = -rate exp(y), y(0) = y(1) = 0, by its slope at 0, and how that moves with rate


def _boundary(random: Any, small: bool) -> list[Any]:
    return [np.array(1.0), np.array(0.1)]


def _shots(value_and_grad: Any, loop: Any, end: Any, rate: Any, slope: Any) -> Any:
    """`end` is y(1) of the slope and the rate, which Newton's method makes 0."""

    def step(i: Any, slope: Any) -> Any:
        missed, by_slope = value_and_grad(end, 0)(slope, rate)
        return slope - missed / by_slope

    slope = loop(0, 5, step, slope)
    _, (by_slope, by_rate) = value_and_grad(end, (0, 1))(slope, rate)
    return slope, -by_rate / by_slope


def _shooting_pullback(rate: Any, slope: Any) -> Any:
    import pullback as pb

    def end(slope: Any, rate: Any) -> Any:
        start = (pb.zeros_like(slope), slope)
        f = lambda y, t: (y[1], -rate * pb.exp(y[0]))  # noqa: E731
        return pb.integrate.odeint(f, start, [0.0, 1.0], rtol=1e-8, atol=1e-8)[0][1]

    return _shots(pb.value_and_grad, pb.fori_loop, end, rate, slope)


def _shooting_jax(rate: Any, slope: Any) -> Any:
    import jax
    import jax.numpy as jnp
    from jax.experimental.ode import odeint

    def end(slope: Any, rate: Any) -> Any:
        start = (jnp.zeros_like(slope), slope)
        f = lambda y, t, rate: (y[1], -rate * jnp.exp(y[0]))  # noqa: E731
        return odeint(f, start, jnp.array([0.0, 1.0]), rate, rtol=1e-8, atol=1e-8)[0][1]

    return _shots(jax.value_and_grad, jax.lax.fori_loop, end, rate, slope)


def _shooting_torch(rate: Any, slope: Any) -> Any:
    """By 40 steps of Runge and Kutta's method of order 4: torch has no solver."""
    import torch

    def end(slope: Any, rate: Any) -> Any:
        def f(y: Any) -> Any:
            return torch.stack([y[1], -rate * torch.exp(y[0])])

        y, h = torch.stack([torch.zeros_like(slope), slope]), 1 / 40
        for _ in range(40):
            k1 = f(y)
            k2 = f(y + h / 2 * k1)
            k3 = f(y + h / 2 * k2)
            y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(y + h * k3))
        return y[0]

    def value_and_grad(f: Any, by: Any) -> Any:
        def both(*given: Any) -> Any:
            given = tuple(a.detach().requires_grad_() for a in given)
            value = f(*given)
            slopes = torch.autograd.grad(value, given)
            return value.detach(), slopes if by == (0, 1) else slopes[0]

        return both

    return _shots(value_and_grad, _python_loop, end, rate, slope)


TASKS = {
    "molecular-dynamics": Task(
        f"{DYNAMICS_STEPS} Verlet steps of 32 Lennard-Jones particles, float64, by the potential",
        _particles,
        _dynamics_pullback,
        _dynamics_jax,
        _dynamics_torch,
        tolerance=1e-6,
    ),
    "registration": Task(
        "registration of 256×256 float32 by a field of shifts: step of descent",
        _pictures,
        _registration_pullback,
        _registration_jax,
        _registration_torch,
        moved=1,
    ),
    "deep-equilibrium": Task(
        "fixed point of a layer of 128, batch 32, float32, with its gradient",
        _equilibrium_data,
        _equilibrium_pullback,
        _equilibrium_jax,
        _equilibrium_torch,
    ),
    "shooting": Task(
        "Bratu's boundary value by Newton's method and odeint, float64, by its rate",
        _boundary,
        _shooting_pullback,
        _shooting_jax,
        _shooting_torch,
        tolerance=1e-5,
    ),
}

UNROLLED = {"molecular-dynamics", "shooting", "deep-equilibrium"}  # torch.compile unrolls these

ROWS = {
    name: row_of(task, Goal(1.0, PEERS), compiled=name not in UNROLLED)
    for name, task in TASKS.items()
}
