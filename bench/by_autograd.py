"""The formulas of workloads.py in autograd."""

from __future__ import annotations

from functools import partial
from typing import Any

import autograd
import autograd.numpy as np
from autograd.scipy.special import logsumexp

from .case import Case
from .workloads import GAMMA, PRIOR_M, Workload, gmm_constant, summary, triangle


def rosen(parameters: list[Any]) -> Any:
    (x,) = parameters
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def classifier(parameters: list[Any], x: Any, digits: Any, labels: Any) -> Any:
    for i in range(0, len(parameters), 2):
        x = np.dot(np.maximum(x, 0) if i else x, parameters[i]) + parameters[i + 1]
    return np.mean(logsumexp(x, axis=1) - np.sum(labels * x, axis=1))


def elem(parameters: list[Any]) -> Any:
    (x,) = parameters
    return np.sum(np.tanh(1.5 * x + 0.3) * np.exp(-x * x))


def xent(parameters: list[Any], digits: Any) -> Any:
    (z,) = parameters
    return np.mean(logsumexp(z, axis=1) - z[np.arange(len(digits)), digits])


def chain(parameters: list[Any], steps: int) -> Any:
    (x,) = parameters
    for _ in range(steps):
        x = 1.01 * np.sin(x) + 0.1
    return np.sum(x)


def gmm(parameters: list[Any], x: Any) -> Any:
    alpha, mu, q, l = parameters  # noqa: E741 (the formula's names)
    (k, d), n = mu.shape, len(x)
    entries = np.concatenate([np.zeros((k, 1)), np.exp(q), l], axis=1)
    big_q = entries[:, triangle(d)]
    distances = np.matmul(x - mu[:, None, :], np.swapaxes(big_q, 1, 2))
    beta = (alpha + np.sum(q, axis=1))[:, None] - 0.5 * np.sum(distances**2, axis=2)
    likelihood = np.sum(logsumexp(beta, axis=0)) - n * logsumexp(alpha)
    prior = PRIOR_M * np.sum(q) - GAMMA**2 / 2 * np.sum(big_q**2)
    return likelihood + prior + gmm_constant(n, d, k)


def lse(parameters: list[Any]) -> Any:
    return logsumexp(parameters[0])


def llsq(parameters: list[Any], t: Any, s: Any) -> Any:
    (x,) = parameters
    return 0.5 * np.sum((s - np.dot(np.vander(t, len(x), increasing=True), x)) ** 2)


def lstm(parameters: list[Any], text: Any, state: Any) -> Any:
    weights, biases, extra = parameters
    layers, _, width = weights.shape
    w = [np.ravel(weights[i]) for i in range(layers)]  # all gates of a layer at once
    b = [np.ravel(biases[i]) for i in range(layers)]
    h, c = list(state[:, 0]), list(state[:, 1])
    in_weight, outputs = extra[0], []
    for t in range(len(text) - 1):
        a = text[t] * in_weight
        for i in range(layers):
            gates = np.concatenate((a, h[i], a, h[i])) * w[i] + b[i]
            opened = 0.5 * (np.tanh(0.5 * gates[: 3 * width]) + 1)  # the logistic function
            forget, ingate = opened[:width], opened[width : 2 * width]
            c[i] = c[i] * forget + ingate * np.tanh(gates[3 * width :])
            a = h[i] = opened[2 * width :] * np.tanh(c[i])
        outputs.append(a)
    y = np.stack(outputs) * extra[1] + extra[2]
    log_p = y - np.log(2 + np.sum(np.exp(y), axis=1, keepdims=True))
    return -np.sum(text[1:] * log_p) / (width * len(outputs))


def value_and_grad(work: Workload, small: bool) -> Case:
    data = work.data(small)
    both = autograd.value_and_grad(partial(globals()[work.formula], **data.static))
    return Case(lambda: both(data.parameters, *data.inputs), check=lambda result: summary(*result))
