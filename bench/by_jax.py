"""The formulas of workloads.py in jax, compiled with jit."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.nn import log_softmax, logsumexp, relu, sigmoid

from . import everyday_formulas
from .case import Case
from .workloads import (
    BITS,
    GAMMA,
    MOMENTUM,
    PRIOR_M,
    RATE,
    Workload,
    below_diagonal,
    gmm_constant,
    step_summary,
    summary,
)


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = (relu(x) if i else x) @ parameters[i] + parameters[i + 1]
    return -(labels * log_softmax(x)).sum(axis=1).mean()


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    return jnp.sum(jnp.tanh(1.5 * x + 0.3) * jnp.exp(-x * x))


def xent(parameters: list[Any], digits: Any) -> Any:
    (z,) = parameters
    chosen = jnp.take_along_axis(z, digits[:, None], axis=1)[:, 0]
    return (logsumexp(z, axis=1) - chosen).mean()


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    for _ in range(steps):
        x = 1.01 * jnp.sin(x) + 0.1
    return jnp.sum(x)


def chain_scan(parameters: list[Any], steps: int) -> Any:
    x, _ = jax.lax.scan(lambda x, _: (1.01 * jnp.sin(x) + 0.1, None), parameters[0], length=steps)
    return jnp.sum(x)


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, len(x)
    diagonal, (rows, columns) = jnp.arange(d), below_diagonal(d)
    big_q = jnp.zeros((k, d, d)).at[:, diagonal, diagonal].set(jnp.exp(q))
    big_q = big_q.at[:, rows, columns].set(l)
    distances = (x - mu[:, None, :]) @ big_q.mT
    beta = (alpha + q.sum(1))[:, None] - 0.5 * jnp.square(distances).sum(2)
    likelihood = logsumexp(beta, axis=0).sum() - n * logsumexp(alpha)
    prior = PRIOR_M * q.sum() - GAMMA**2 / 2 * jnp.square(big_q).sum()
    return likelihood + prior + gmm_constant(n, d, k)


def lse(parameters: list[Any]) -> Any:
    return logsumexp(parameters[0])


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    return 0.5 * jnp.square(s - jnp.polyval(x[::-1], t)).sum()


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape

    def step(states: Any, character: Any) -> Any:
        a, after = character * extra[0], []
        for i, (h, c) in enumerate(states):
            w, b = weights[i], biases[i]
            forget, outgate = sigmoid(a * w[0] + b[0]), sigmoid(a * w[2] + b[2])
            ingate, change = sigmoid(h * w[1] + b[1]), jnp.tanh(h * w[3] + b[3])
            c = c * forget + ingate * change
            a = outgate * jnp.tanh(c)
            after.append((a, c))
        return after, a

    states = [(state[i, 0], state[i, 1]) for i in range(layers)]
    _, outputs = jax.lax.scan(step, states, text[:-1])
    y = outputs * extra[1] + extra[2]
    log_p = y - jnp.log(2 + jnp.exp(y).sum(axis=1, keepdims=True))
    return -jnp.sum(text[1:] * log_p) / (width * len(outputs))


def rows_added(parameters: list[Any], rows: Any, table: Any) -> Any:
    return jnp.sum(jnp.square(table.at[rows].add(parameters[0])))


def embedding(parameters: list[Any], rows: Any, wanted: Any) -> Any:
    return jnp.sum(jnp.square(parameters[0][rows] - wanted))


def _network(parameters: list[Any], x: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = (jnp.tanh(x) if i else x) @ parameters[i] + parameters[i + 1]
    return x[:, 0]


def physics(parameters: list[Any], points: Any) -> Any:
    def slopes(points: Any) -> Any:
        return jax.grad(lambda points: jnp.sum(_network(parameters, points)))(points)

    u, first = _network(parameters, points), slopes(points)
    second = jax.grad(lambda points: jnp.sum(slopes(points)[:, 1]))(points)[:, 1]
    return jnp.mean(jnp.square(first[:, 0] + u * first[:, 1] - 0.01 * second))


def quantized(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    def fewer_bits(w: Any) -> Any:
        step = jnp.max(jnp.abs(w)) / (2 ** (BITS - 1) - 1)
        most = 2 ** (BITS - 1) - 1
        return w + jax.lax.stop_gradient(jnp.clip(jnp.round(w / step), -most, most) * step - w)

    for i in range(0, len(parameters), 2):
        x = (relu(x) if i else x) @ fewer_bits(parameters[i]) + parameters[i + 1]
    return -(labels * log_softmax(x)).sum(axis=1).mean()


def _program(work: Workload, small: bool, formula: str) -> tuple[Any, list[Any], list[Any]]:
    jax.config.update("jax_enable_x64", work.float64)
    data = work.data(small)
    f = globals().get(formula) or partial(getattr(everyday_formulas, formula), jnp)
    f = partial(f, **data.static)
    return f, jax.device_put(data.parameters), jax.device_put(data.inputs)


def jit(work: Workload, small: bool, formula: str = "") -> Case:
    f, parameters, inputs = _program(work, small, formula or work.formula)
    both = jax.jit(jax.value_and_grad(f))
    return Case(
        lambda: jax.block_until_ready(both(parameters, *inputs)),
        check=lambda result: summary(*result),
    )


def jit_scan(work: Workload, small: bool) -> Case:
    return jit(work, small, work.formula + "_scan")


def train(work: Workload, small: bool) -> Case:
    f, parameters, inputs = _program(work, small, work.formula)
    before = work.data(small).parameters

    momentum = MOMENTUM.get(work.formula)
    state = [jnp.zeros_like(p) for p in parameters] if momentum else []

    @partial(jax.jit, donate_argnums=(0, 1))
    def step(parameters: list[Any], state: list[Any], *inputs: Any) -> Any:
        loss, moves = jax.value_and_grad(f)(parameters, *inputs)
        if momentum:
            moves = state = [momentum * s + g for s, g in zip(state, moves, strict=True)]
        return loss, [p - RATE * g for p, g in zip(parameters, moves, strict=True)], state

    def run() -> Any:
        nonlocal parameters, state
        loss, parameters, state = jax.block_until_ready(step(parameters, state, *inputs))
        return loss

    return Case(run, check=lambda loss: step_summary(loss, before, parameters))


def embedding_rows(work: Workload, small: bool) -> Case:
    """As somebody would write it who wants the cost of the rows."""
    _, (table,), inputs = _program(work, small, work.formula)
    before = work.data(small).parameters

    @partial(jax.jit, donate_argnums=0)
    def step(table: Any, rows: Any, wanted: Any) -> Any:
        loss, g = jax.value_and_grad(lambda x: jnp.sum(jnp.square(x - wanted)))(table[rows])
        return loss, table.at[rows].add(-RATE * g)

    def run() -> Any:
        nonlocal table
        loss, table = jax.block_until_ready(step(table, *inputs))
        return loss

    return Case(run, check=lambda loss: step_summary(loss, before, [table]))
