"""The formulas of workloads.py with their gradients by hand: what the libraries must agree with.

Straightforward NumPy, which is no peer: nobody wants to write this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .case import Case
from .workloads import (
    GAMMA,
    PRIOR_M,
    Workload,
    below_diagonal,
    gmm_constant,
    summary,
)


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    u, v = x[1:] - x[:-1] ** 2, 1 - x[:-1]
    g = np.zeros_like(x)
    g[1:] = 200 * u
    g[:-1] -= 400 * u * x[:-1] + 2 * v
    return np.sum(100 * u * u + v * v), [g]


def _cross_entropy(z: Any, digits: Any) -> Any:
    """The mean over rows and its gradient."""
    rows = np.arange(len(z))
    shifted = z - z.max(axis=1, keepdims=True)
    exp = np.exp(shifted)
    sums = exp.sum(axis=1, keepdims=True)
    g = exp / sums
    g[rows, digits] -= 1
    g /= len(z)
    return np.mean(np.log(sums[:, 0]) - shifted[rows, digits]), g


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    inputs = [x]
    for i in range(0, len(parameters), 2):
        inputs[-1] = np.maximum(inputs[-1], 0) if i else inputs[-1]
        inputs.append(inputs[-1] @ parameters[i] + parameters[i + 1])
    loss, g = _cross_entropy(inputs[-1], digits)
    gradients: list[Any] = []
    for i in reversed(range(0, len(parameters), 2)):
        gradients[:0] = [inputs[i // 2].T @ g, g.sum(axis=0)]
        if i:
            g = (g @ parameters[i].T) * (inputs[i // 2] > 0)
    return loss, gradients


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    a, b = np.tanh(1.5 * x + 0.3), np.exp(-x * x)
    return np.sum(a * b), [(1.5 * (1 - a * a) - 2 * x * a) * b]


def xent(parameters: list[Any], digits: Any) -> Any:
    loss, g = _cross_entropy(parameters[0], digits)
    return loss, [g]


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    g = np.ones_like(x)
    for _ in range(steps):
        g = g * (np.float32(1.01) * np.cos(x))
        x = np.float32(1.01) * np.sin(x) + np.float32(0.1)
    return np.sum(x), [g]


def _logsumexp(x: Any, axis: int | None = None) -> tuple[Any, Any]:
    """The value and its slopes."""
    top = x.max(axis=axis, keepdims=True)
    exp = np.exp(x - top)
    sums = exp.sum(axis=axis, keepdims=True)
    return np.squeeze(np.log(sums) + top, axis=axis), exp / sums


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, len(x)
    diagonal, below = np.arange(d), below_diagonal(d)
    big_q = np.zeros((k, d, d))
    big_q[:, diagonal, diagonal] = np.exp(q)
    big_q[:, below[0], below[1]] = l
    centred = x - mu[:, None, :]
    distances = centred @ big_q.transpose(0, 2, 1)
    beta = (alpha + q.sum(axis=1))[:, None] - 0.5 * np.sum(distances**2, axis=2)
    row_values, shares = _logsumexp(beta, axis=0)
    prior_alpha, alpha_shares = _logsumexp(alpha)
    value = row_values.sum() - n * prior_alpha + PRIOR_M * q.sum()
    value += gmm_constant(n, d, k) - GAMMA**2 / 2 * np.sum(big_q**2)
    back = -shares[:, :, None] * distances
    g_big = back.transpose(0, 2, 1) @ centred - GAMMA**2 * big_q
    g_mu = -(back @ big_q).sum(axis=1)
    members = shares.sum(axis=1)
    g_q = g_big[:, diagonal, diagonal] * np.exp(q) + members[:, None] + PRIOR_M
    return value, [members - n * alpha_shares, g_mu, g_q, g_big[:, below[0], below[1]]]


def lse(parameters: list[Any]) -> Any:
    value, slopes = _logsumexp(parameters[0])
    return value, [slopes]


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    powers = np.vander(t, len(x), increasing=True)
    residuals = s - powers @ x
    return 0.5 * residuals @ residuals, [-(residuals @ powers)]


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape
    steps = len(text) - 1
    h, c = list(state[:, 0]), list(state[:, 1])
    kept = []  # by step and layer: a, h, c before; gates; c after
    outputs = np.empty((steps, width))
    for t in range(steps):
        a = text[t] * extra[0]
        for i in range(layers):
            read = np.stack([a, h[i], a, h[i]])
            gates = read * weights[i] + biases[i]
            gates[:3] = 1 / (1 + np.exp(-gates[:3]))
            gates[3] = np.tanh(gates[3])
            before = c[i]
            c[i] = before * gates[0] + gates[1] * gates[3]
            kept.append((read, gates, before, np.tanh(c[i])))
            a = h[i] = gates[2] * kept[-1][3]
        outputs[t] = a
    y = outputs * extra[1] + extra[2]
    exp = np.exp(y)
    sums = 2 + exp.sum(axis=1, keepdims=True)
    loss = -np.sum(text[1:] * (y - np.log(sums))) / (width * steps)

    g_y = text[1:].sum(axis=1, keepdims=True) * exp / sums - text[1:]
    g_y /= width * steps
    g_weights, g_biases, g_extra = (np.zeros_like(p) for p in parameters)
    g_extra[1], g_extra[2] = np.sum(g_y * outputs, axis=0), g_y.sum(axis=0)
    g_h, g_c = np.zeros((2, layers, width))
    for t in reversed(range(steps)):
        g_a = g_y[t] * extra[1]
        for i in reversed(range(layers)):
            read, gates, before, tanh = kept.pop()
            g_out = g_h[i] + g_a
            g_cell = g_c[i] + g_out * gates[2] * (1 - tanh * tanh)
            g = np.stack([g_cell * before, g_cell * gates[3], g_out * tanh, g_cell * gates[1]])
            g[:3] *= gates[:3] * (1 - gates[:3])
            g[3] *= 1 - gates[3] ** 2
            g_weights[i] += g * read
            g_biases[i] += g
            g_read = g * weights[i]
            g_a, g_h[i] = g_read[0] + g_read[2], g_read[1] + g_read[3]
            g_c[i] = g_cell * gates[0]
        g_extra[0] += g_a * text[t]
    return loss, [g_weights, g_biases, g_extra]


def by_hand(work: Workload, small: bool) -> Case:
    data = work.data(small)
    formula = globals()[work.formula]
    return Case(
        lambda: formula(data.parameters, *data.inputs, **data.static),
        check=lambda result: summary(*result),
    )
