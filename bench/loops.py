"""Loops that are one operation: value and gradient of recurrences, by the loop of each library that
has one (torch and autograd run Python's).

A new row is an entry of TASKS, as in transforms.py.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal, Row
from .transforms import Task, row_of
from .workloads import WORKLOADS

STEPS = 1000


# --- the LSTM of the formulas: parameters, characters, states


def _lstm(random: Any, small: bool) -> list[Any]:
    data = WORKLOADS["lstm"].data(small)
    return [*data.parameters, *data.inputs]


def _lstm_loss(xp: Any, sigmoid: Any, scan: Any, parameters: Any, text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape

    def step(states: Any, character: Any) -> Any:
        a, after = character * extra[0], []
        for i, (h, c) in enumerate(states):
            w, b = weights[i], biases[i]
            forget, outgate = sigmoid(a * w[0] + b[0]), sigmoid(a * w[2] + b[2])
            ingate, change = sigmoid(h * w[1] + b[1]), xp.tanh(h * w[3] + b[3])
            c = c * forget + ingate * change
            a = outgate * xp.tanh(c)
            after.append((a, c))
        return after, a

    states = [(state[i, 0], state[i, 1]) for i in range(layers)]
    _, outputs = scan(step, states, text[:-1])
    y = outputs * extra[1] + extra[2]
    log_p = y - xp.log(2 + xp.sum(xp.exp(y), axis=1, keepdims=True))
    return -xp.sum(text[1:] * log_p) / (width * len(outputs))


def _lstm_pullback(*arrays: Any) -> Any:
    import pullback as pb

    loss = partial(_lstm_loss, pb, pb.sigmoid, pb.scan)
    return pb.value_and_grad(loss)(list(arrays[:3]), *arrays[3:])


def _lstm_jax(*arrays: Any) -> Any:
    import jax
    import jax.numpy as jnp

    loss = partial(_lstm_loss, jnp, jax.nn.sigmoid, jax.lax.scan)
    return jax.value_and_grad(loss)(list(arrays[:3]), *arrays[3:])


def _lstm_torch(*arrays: Any) -> Any:
    import torch

    from .by_torch import lstm

    parameters = [x.detach().requires_grad_() for x in arrays[:3]]
    loss = lstm(parameters, *arrays[3:])
    return loss.detach(), torch.autograd.grad(loss, parameters)


def _lstm_autograd(*arrays: Any) -> Any:
    from autograd import value_and_grad

    from .by_autograd import lstm

    return value_and_grad(lambda p: lstm(p, *arrays[3:]))(list(arrays[:3]))


# --- Lotka and Volterra's equations by 1000 steps of Runge and Kutta's method of order 4


def _predators(random: Any, small: bool) -> list[Any]:
    return [np.array([1.5, 1.0, 3.0, 1.0]), np.array([1.0, 1.0])]


def _rk4_step(stack: Any, rates: Any, y: Any) -> Any:
    a, b, c, d = rates[0], rates[1], rates[2], rates[3]

    def slope(y: Any) -> Any:
        return stack([a * y[0] - b * y[0] * y[1], d * y[0] * y[1] - c * y[1]])

    dt = 0.01
    k1 = slope(y)
    k2 = slope(y + dt / 2 * k1)
    k3 = slope(y + dt / 2 * k2)
    k4 = slope(y + dt * k3)
    return y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def _unrolled(step: Any, y: Any) -> Any:
    for _ in range(STEPS):
        y = step(y)
    return y


def _rk4_pullback(rates: Any, y: Any) -> Any:
    import pullback as pb

    def end(rates: Any) -> Any:
        step = partial(_rk4_step, pb.stack, rates)
        return pb.sum(pb.fori_loop(0, STEPS, lambda i, y: step(y), y) ** 2)

    return pb.value_and_grad(end)(rates)


def _rk4_jax(rates: Any, y: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def end(rates: Any) -> Any:
        step = partial(_rk4_step, jnp.stack, rates)
        return jnp.sum(jax.lax.fori_loop(0, STEPS, lambda i, y: step(y), y) ** 2)

    return jax.value_and_grad(end)(rates)


def _rk4_torch(rates: Any, y: Any) -> Any:
    import torch

    rates = rates.detach().requires_grad_()
    end = (_unrolled(partial(_rk4_step, torch.stack, rates), y) ** 2).sum()
    return end.detach(), torch.autograd.grad(end, [rates])


def _rk4_autograd(rates: Any, y: Any) -> Any:
    import autograd.numpy as anp
    from autograd import value_and_grad

    def end(rates: Any) -> Any:
        return anp.sum(_unrolled(partial(_rk4_step, anp.stack, rates), y) ** 2)

    return value_and_grad(end)(rates)


# --- the log-likelihood of 1000 observations by a Kalman filter of 4 states and 2 observed numbers


def _tracking(random: Any, small: bool) -> list[Any]:
    move = np.eye(4) + 0.1 * np.eye(4, k=2)
    seen = np.eye(2, 4)
    noise = 0.01 * np.eye(4)
    error = 0.1 * np.eye(2)
    return [move, seen, noise, error, random.standard_normal((12 if small else STEPS, 2)).cumsum(0)]


def _inverse_and_log_det(stack: Any, log: Any, s: Any) -> tuple[Any, Any]:
    det = s[0, 0] * s[1, 1] - s[0, 1] * s[1, 0]
    turned = stack([stack([s[1, 1], -s[0, 1]]), stack([-s[1, 0], s[0, 0]])])
    return turned / det, log(det)


def _kalman_step(xp: Any, model: Any, state: Any, y: Any) -> Any:
    move, seen, noise, error = model
    m, p = state
    m = move @ m
    p = move @ p @ move.T + noise
    surprise = y - seen @ m
    inverse, log_det = _inverse_and_log_det(xp.stack, xp.log, seen @ p @ seen.T + error)
    gain = p @ seen.T @ inverse
    m = m + gain @ surprise
    p = p - gain @ seen @ p
    return (m, p), -0.5 * (surprise @ inverse @ surprise + log_det)


def _kalman(xp: Any, scan: Any, zeros: Any, eye: Any, noise: Any, error: Any, rest: Any) -> Any:
    move, seen, ys = rest
    step = partial(_kalman_step, xp, (move, seen, noise, error))
    _, terms = scan(step, (zeros, eye), ys)
    return xp.sum(terms)


def _python_scan(stack: Any, step: Any, state: Any, ys: Any) -> Any:
    terms = []
    for y in ys:
        state, term = step(state, y)
        terms.append(term)
    return state, stack(terms)


def _kalman_pullback(move: Any, seen: Any, noise: Any, error: Any, ys: Any) -> Any:
    import pullback as pb

    def likelihood(noise: Any, error: Any) -> Any:
        zeros, eye = pb.zeros(4, dtype="float64"), pb.eye(4, dtype="float64")
        return _kalman(pb, pb.scan, zeros, eye, noise, error, (move, seen, ys))

    return pb.value_and_grad(likelihood, (0, 1))(noise, error)


def _kalman_jax(move: Any, seen: Any, noise: Any, error: Any, ys: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def likelihood(noise: Any, error: Any) -> Any:
        zeros, eye = jnp.zeros(4), jnp.eye(4)
        return _kalman(jnp, jax.lax.scan, zeros, eye, noise, error, (move, seen, ys))

    return jax.value_and_grad(likelihood, (0, 1))(noise, error)


def _kalman_torch(move: Any, seen: Any, noise: Any, error: Any, ys: Any) -> Any:
    import torch

    zeros, eye = torch.zeros(4, dtype=torch.float64), torch.eye(4, dtype=torch.float64)
    given = [x.detach().requires_grad_() for x in (noise, error)]
    scan = partial(_python_scan, torch.stack)
    value = _kalman(torch, scan, zeros, eye, *given, (move, seen, ys))
    return value.detach(), torch.autograd.grad(value, given)


def _kalman_autograd(move: Any, seen: Any, noise: Any, error: Any, ys: Any) -> Any:
    import autograd.numpy as anp
    from autograd import value_and_grad

    def likelihood(given: Any) -> Any:
        scan = partial(_python_scan, anp.stack)
        return _kalman(anp, scan, np.zeros(4), np.eye(4), *given, (move, seen, ys))

    return value_and_grad(likelihood)([noise, error])


TASKS = {
    "lstm-scan": Task(
        "character LSTM of 1024 characters by scan, float64",
        _lstm,
        _lstm_pullback,
        _lstm_jax,
        _lstm_torch,
        _lstm_autograd,
        tolerance=1e-7,
    ),
    "rk4": Task(
        f"{STEPS} Runge-Kutta steps of Lotka-Volterra by fori_loop, float64, by its rates",
        _predators,
        _rk4_pullback,
        _rk4_jax,
        _rk4_torch,
        _rk4_autograd,
        tolerance=1e-7,
    ),
    "kalman": Task(
        f"Kalman filter of {STEPS} observations by scan, 4 states, float64, by its covariances",
        _tracking,
        _kalman_pullback,
        _kalman_jax,
        _kalman_torch,
        _kalman_autograd,
        tolerance=1e-6,
    ),
}


def _row(task: Task) -> Row:
    return row_of(task, Goal(1.0, PEERS), compiled=False)  # torch.compile unrolls for minutes


ROWS = {name: _row(task) for name, task in TASKS.items()}
