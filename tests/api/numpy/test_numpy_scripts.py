"""Programs that are written with `import numpy as np` and run under `pb.grad` unchanged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

RNG = np.random.default_rng(7)
DESIGN, TARGET = RNG.normal(size=(12, 3)), RNG.normal(size=12)
LABELS = np.arange(12) % 2
SIGNAL = RNG.normal(size=16)


def least_squares(p: Any) -> Any:
    residuals = np.dot(DESIGN, p) - TARGET
    weights = np.exp(-np.abs(residuals))
    ridge = np.linalg.solve(DESIGN.T @ DESIGN + np.diag(p**2), DESIGN.T @ TARGET)
    return np.mean(weights * residuals**2) + np.linalg.norm(ridge)


def softmax_classifier(p: Any) -> Any:
    scores = np.stack([DESIGN @ p, np.tanh(DESIGN) @ p[::-1]], axis=1)
    scores = scores - np.max(scores, axis=1, keepdims=True)
    logs = scores - np.log(np.sum(np.exp(scores), axis=1, keepdims=True))
    return -np.mean(logs[np.arange(12), LABELS]) + 0.1 * np.sum(np.square(p))


def pendulum(p: Any) -> Any:
    angle, speed, damping = p
    path = []
    for _ in range(20):
        speed = speed - 0.05 * (np.sin(angle) + damping * speed)
        angle = angle + 0.05 * speed
        path.append(angle)
    return np.sum(np.array([1.0, -1.0] * 10) * np.stack(path)) + np.hypot(angle, speed)


def filtered_signal(p: Any) -> Any:
    frequencies = np.fft.rfftfreq(16)
    gain = p[0] / (1.0 + (frequencies / p[1]) ** 2)
    smooth = np.fft.irfft(np.fft.rfft(SIGNAL * p[2]) * gain, 16)
    return np.sum(np.diff(smooth) ** 2) + np.max(np.cumsum(smooth))


def statistics(p: Any) -> Any:
    data = np.concatenate([DESIGN @ p, np.outer(p, p).ravel()])
    spread = np.percentile(data, 75) - np.percentile(data, 25)
    centred = np.where(data > np.median(data), data, 0.5 * data)
    table = np.cov(np.reshape(data[:18], (3, 6)))
    return spread + np.std(centred, ddof=1) + np.trace(table) + np.average(data[:3], weights=p)


@each("script", [least_squares, softmax_classifier, pendulum, filtered_signal, statistics])
def test_scripts_of_numpy(script: Callable[[Any], Any]) -> None:
    p = np.array([0.7, 0.4, 1.1])
    value, gradient = pb.value_and_grad(script)(pb.asarray(p))
    assert float(value) == pytest.approx(float(script(p)), rel=1e-12)
    for k, change in enumerate(1e-6 * np.eye(3)):
        slope = (script(p + change) - script(p - change)) / 2e-6
        assert gradient.numpy()[k] == pytest.approx(slope, rel=1e-6, abs=1e-8)
