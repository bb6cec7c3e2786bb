"""Programs as users of HIPS autograd write them, with `import numpy as np`, under `pb.grad`.

Each takes a vector and returns a number. Its gradient is compared with finite differences of the
same program on arrays, in plain calls and in a traced function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from support.each import each

import pullback as pb

RNG = np.random.default_rng(3)
P = RNG.uniform(0.3, 1.5, 6)
DATA, LABELS = RNG.normal(size=(10, 3)), RNG.integers(0, 2, 10)
TIMES = np.linspace(0.0, 2.0, 8)


def tanh_by_hand(p: Any) -> Any:
    y = np.exp(-2.0 * p)
    return np.sum((1.0 - y) / (1.0 + y))


def rosenbrock(p: Any) -> Any:
    return np.sum(100.0 * (p[1:] - p[:-1] ** 2.0) ** 2.0 + (1 - p[:-1]) ** 2.0)


def logistic_regression(p: Any) -> Any:
    odds = 0.5 * (np.tanh(np.dot(DATA, p[:3]) / 2.0) + 1)
    likelihood = odds * LABELS + (1 - odds) * (1 - LABELS)
    return -np.sum(np.log(likelihood)) + np.linalg.norm(p[3:]) ** 2


def neural_network(p: Any) -> Any:
    w1, b1 = np.reshape(p, (3, 2)), p[:2]
    hidden = np.maximum(np.dot(DATA, w1) + b1, 0.01 * (np.dot(DATA, w1) + b1))
    scores = np.concatenate([hidden, np.ones((10, 1))], axis=1)
    logs = scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)
    return -np.mean(logs[np.arange(10), LABELS])


def mixture_of_gaussians(p: Any) -> Any:
    means, scales = p[:3], np.exp(p[3:])
    logs = -0.5 * ((DATA[:, :1] - means) / scales) ** 2 - np.log(scales)
    top = np.max(logs, axis=1, keepdims=True)
    return np.sum(np.log(np.sum(np.exp(logs - top), axis=1)) + np.squeeze(top, axis=1))


def hidden_markov_model(p: Any) -> Any:
    steps = np.abs(np.reshape(p[:4], (2, 2)))
    steps = steps / np.sum(steps, axis=1, keepdims=True)
    alpha = np.log(p[4:])
    for label in LABELS:
        alpha = np.logaddexp(alpha[0] + np.log(steps[0]), alpha[1] + np.log(steps[1]))
        alpha = alpha + np.where(np.arange(2) == label, -0.1, -2.0)
    return np.logaddexp(alpha[0], alpha[1])


def gaussian_process(p: Any) -> Any:
    apart = np.expand_dims(TIMES, 1) - np.expand_dims(TIMES, 0)
    kernel = p[0] * np.exp(-0.5 * (apart / p[1]) ** 2) + p[2] * np.eye(8)
    lower = np.linalg.cholesky(kernel)
    alpha = np.linalg.solve(kernel, np.sin(TIMES))
    return 0.5 * np.sin(TIMES) @ alpha + np.sum(np.log(np.diag(lower)))


def multivariate_normal(p: Any) -> Any:
    root = np.tril(np.outer(p[:3], p[3:])) + 2.0 * np.eye(3)
    covariance = root @ root.T
    sign, logdet = np.linalg.slogdet(covariance)
    centred = DATA - np.mean(DATA, axis=0)
    return sign * logdet + np.einsum("ni,ij,nj->", centred, np.linalg.inv(covariance), centred)


def recurrent_network(p: Any) -> Any:
    state, outputs = np.zeros(2), []
    for row in DATA[:5, :2]:
        state = np.tanh(np.dot(np.reshape(p[:4], (2, 2)), state) + row * p[4:])
        outputs.append(state)
    return np.sum(np.vstack(outputs) ** 2)


def fluid(p: Any) -> Any:
    field = np.outer(p, np.cos(TIMES))
    for _ in range(3):
        sides = np.roll(field, 1, axis=0) + np.roll(field, -1, axis=0)
        ends = np.roll(field, 1, axis=1) + np.roll(field, -1, axis=1)
        field = 0.6 * field + 0.1 * (sides + ends)
    return np.mean((field - 0.5) ** 2)


def orbit(p: Any) -> Any:
    place, speed = p[:2], p[2:4]
    for _ in range(10):
        speed = speed - 0.1 * place / np.sqrt(np.sum(place**2)) ** 3
        place = place + 0.1 * speed
    return np.arctan2(place[1], place[0]) + np.hypot(*place)


def negative_binomial(p: Any) -> Any:
    counts, r, odds = np.arange(8.0), p[0], 1 / (1 + np.exp(-p[1]))
    terms = scipy.special.gammaln(counts + r) - scipy.special.gammaln(r)
    return np.sum(terms + counts * np.log(odds) + r * np.log1p(-odds))


def filters(p: Any) -> Any:
    smooth = np.convolve(np.sin(3 * TIMES), p[:3], mode="same")
    spectrum = np.fft.fft(smooth * p[3])
    return np.sum(np.abs(spectrum) ** 2) + np.real(spectrum[1]) * p[4]


def matrix_factors(p: Any) -> Any:
    left, right = np.split(p, 2)
    product = np.tensordot(left, right, axes=0)
    _, s, _ = np.linalg.svd(product + np.diag([3.0, 2.0, 1.0]))
    return np.sum(s * np.array([1.0, 0.5, 0.2])) + np.trace(product) + np.sum(np.kron(left, right))


def eigenvalues(p: Any) -> Any:
    table = np.diag(p[:3]) + np.diag(p[3:5], 1) + np.diag(p[3:5], -1)
    values, vectors = np.linalg.eigh(table)
    return np.sum(np.log(values + 5.0)) + np.sum(vectors[:, 0] ** 4) + np.linalg.det(table)


def table_lookup(p: Any) -> Any:
    curve = np.interp(TIMES, np.linspace(0.0, 2.0, 6), p)
    return np.trapezoid(np.clip(curve, 0.5, 1.2), TIMES) + np.sum(np.gradient(curve) ** 2)


def order_statistics(p: Any) -> Any:
    ranked = np.sort(p)[::-1]
    spread = np.percentile(p, 80) - np.median(p)
    return ranked[0] * ranked[-1] + spread + np.ptp(p) + np.std(p) + np.max(np.cumsum(p))


def masked_losses(p: Any) -> Any:
    residuals = DATA @ p[:3] - p[3]
    huber = np.where(np.abs(residuals) < 1, 0.5 * residuals**2, np.abs(residuals) - 0.5)
    steps = np.select([residuals < 0, residuals < 1], [np.exp(residuals), residuals], 0.1 * p[4])
    return np.sum(huber) + np.sum(steps) + np.sum(huber[residuals > 0])


def polynomial_fit(p: Any) -> Any:
    fitted = np.polyfit(TIMES, np.insert(p, 3, [p[0] * p[1], p[2]]), 2)
    return np.sum(np.polyval(fitted, TIMES[:4]) ** 2) + np.sum(np.vander(p, 3))


def joined_blocks(p: Any) -> Any:
    square = np.reshape(p[:4], (2, 2))
    column = np.reshape(p[4:], (2, 1))
    whole = np.block([[square, column], [column.T, np.ones((1, 1))]])
    stacked = np.stack([whole, np.swapaxes(whole, 0, 1) ** 2])
    return np.sum(np.prod(stacked, axis=0)) + np.sum(np.delete(whole, 1, axis=0) ** 3)


def rows_and_axes(p: Any) -> Any:
    table = np.outer(p, p[::-1])
    norms = np.apply_along_axis(np.linalg.norm, 1, table)
    total = np.apply_over_axes(np.sum, np.tile(table, (2, 1)), (0, 1))
    return np.sum(norms) + total[0, 0] + np.sum(np.repeat(p, 2) * np.pad(p, 3, mode="edge"))


def phases(p: Any) -> Any:
    wave = p * np.exp(1j * p[::-1])
    angles = np.unwrap(np.angle(wave))
    return np.sum(np.abs(np.conj(wave) + 1)) + np.sum(np.sinc(angles)) + np.imag(np.prod(wave))


def gathers(p: Any) -> Any:
    table = np.reshape(p, (2, 3))
    rows, columns = np.unravel_index([1, 5, 3], (2, 3))
    upper = table[:, np.array([True, False, True])]
    return np.sum(table[rows, columns] ** 2) + np.sum(np.take(p, [0, 0, 2])) * np.sum(upper)


def averages(p: Any) -> Any:
    table = np.cov(np.reshape(np.append(p, DATA[0]), (3, 3)))
    weights = np.exp(p[:3]) / np.sum(np.exp(p[:3]))
    return np.trace(table) + np.average(p[3:], weights=weights) + np.var(p, ddof=1) + np.nansum(p)


PROGRAMS: list[Callable[[Any], Any]] = [
    tanh_by_hand, rosenbrock, logistic_regression, neural_network, mixture_of_gaussians,
    hidden_markov_model, gaussian_process, multivariate_normal, recurrent_network, fluid, orbit,
    negative_binomial, filters, matrix_factors, eigenvalues, table_lookup, order_statistics,
    masked_losses, polynomial_fit, joined_blocks, rows_and_axes, phases, gathers, averages,
]  # fmt: skip
# A mask whose values select elements is evaluated at the call.
DEPEND_ON_VALUES = {masked_losses}


@each("program", PROGRAMS)
def test_a_program_has_a_gradient(program: Callable[[Any], Any]) -> None:
    steps = 1e-6 * np.eye(len(P))
    want = [(program(P + step) - program(P - step)) / 2e-6 for step in steps]
    value, slopes = pb.value_and_grad(program)(P)
    assert isinstance(value, pb.Tensor) and float(value) == pytest.approx(program(P), rel=1e-12)
    np.testing.assert_allclose(slopes.numpy(), want, rtol=1e-6, atol=1e-7)
    if program not in DEPEND_ON_VALUES:
        traced = pb.function(pb.grad(program))(P)
        np.testing.assert_allclose(traced.numpy(), slopes.numpy(), rtol=1e-10, atol=1e-12)
