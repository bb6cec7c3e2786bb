"""`python -m pullback bench`: five gradients on this machine, beside NumPy and finite differences.

Each function of ROWS is written once, for NumPy and for pullback. `measure` compares the gradient
with a finite difference before it is timed. Start reading at `bench`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import pullback as pb

SECONDS = 0.2  # of each measurement, at least
ROUNDS = 4  # measurements, between which the threads of the libraries come to rest


class Row(NamedTuple):
    """A scalar function `f(xp, x)` of an array, for the namespace NumPy or pullback."""

    name: str
    f: Callable[[Any, Any], Any]
    start: Any


class Result(NamedTuple):
    """Seconds of the value by NumPy, of value and gradient, and of n + 1 values by NumPy."""

    name: str
    numbers: int  # that the function depends on
    value: float
    gradient: float
    differences: float
    error: float  # of a directional derivative, relative to its finite difference


def _rosenbrock(xp: Any, x: Any) -> Any:
    return xp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def _elementwise(xp: Any, x: Any) -> Any:
    return xp.sum(xp.tanh(1.5 * x + 0.3) * xp.exp(-x * x))


def _network(images: Any, labels: Any) -> Callable[[Any, Any], Any]:
    def loss(xp: Any, x: Any) -> Any:
        w1, w2 = xp.reshape(x[: 784 * 64], (784, 64)), xp.reshape(x[784 * 64 :], (64, 10))
        logits = xp.tanh(images @ w1) @ w2
        return xp.mean(xp.log(xp.sum(xp.exp(logits), axis=1)) - xp.sum(labels * logits, axis=1))

    return loss


def _mixture(points: Any) -> Callable[[Any, Any], Any]:
    def loss(xp: Any, x: Any) -> Any:
        means = xp.reshape(x, (-1, points.shape[1]))
        squares = xp.sum(means * means, axis=1) - 2.0 * (points @ xp.transpose(means))
        return -xp.sum(xp.log(xp.sum(xp.exp(-0.05 * squares), axis=1)))

    return loss


def _pendulum(xp: Any, x: Any) -> Any:
    angle, speed = x[:500], x[500:]
    for _ in range(100):
        speed = speed - 0.02 * xp.sin(angle)
        angle = angle + 0.02 * speed
    return xp.sum(angle * angle)


def rows() -> list[Row]:
    """Return the rows, with random inputs from a fixed seed."""
    random = np.random.default_rng(0)
    images = random.random((128, 784)).astype(np.float32)
    labels = np.eye(10, dtype=np.float32)[random.integers(0, 10, 128)]
    weights = random.normal(0.0, 0.05, 784 * 64 + 64 * 10).astype(np.float32)
    return [
        Row("Rosenbrock's function", _rosenbrock, random.normal(size=100)),
        Row("sum of tanh(1.5x+0.3) exp(-x²), float32", _elementwise,
            random.normal(size=1_000_000).astype(np.float32)),
        Row("network 784-64-10, batch 128, float32", _network(images, labels), weights),
        Row("mixture of 50 Gaussians, 2000 points", _mixture(random.normal(size=(2000, 16))),
            random.normal(size=50 * 16)),
        Row("500 pendulums, 100 steps", _pendulum, random.normal(size=1000)),
    ]  # fmt: skip


def measure(row: Row, seconds: float) -> Result:
    """Check the gradient of a row, and measure it."""
    both = pb.function(pb.value_and_grad(lambda x: row.f(pb, x)))
    x = pb.constant(row.start)
    gradient = both(x)[1].numpy().astype(np.float64)

    # The error of float64 arithmetic does not hide that of the gradient.
    start = row.start.astype(np.float64)
    direction = gradient / (np.linalg.norm(gradient) or 1.0)
    h = 1e-5 * max(1.0, float(np.linalg.norm(start)) / start.size**0.5)
    slope = (row.f(np, start + h * direction) - row.f(np, start - h * direction)) / (2 * h)
    error = abs(float(gradient @ direction) - slope) / abs(slope)

    values, times = [], []
    for _ in range(ROUNDS):
        values.append(_fastest(lambda: row.f(np, row.start), seconds))
        times.append(_fastest(lambda: pb.evaluate(both(x)), seconds))
        time.sleep(seconds / 4)
    value = min(values)
    return Result(row.name, row.start.size, value, min(times), (row.start.size + 1) * value, error)


def _fastest(call: Callable[[], Any], seconds: float) -> float:
    """Return the time of the fastest call, of as many as take the given time and at least 3."""
    call()
    times: list[float] = []
    until = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < until:
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def _time(seconds: float) -> str:
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (100.0, 1.0, "s")):
        if seconds < limit:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds / 60:.3g} min"


def bench() -> None:
    """Measure the rows and print the table."""
    print(
        f"The fastest call, on {pb.get_num_threads()} threads. Finite differences are not run: "
        "their time is n + 1 times that of the value by NumPy, for n numbers.\n"
    )
    heads = "", "NumPy:", "pullback: value", "finite", "error of"
    second = "numbers", "value", "and gradient", "differences", "gradient"
    widths = 12, 10, 17, 13, 10
    for names in (heads, second):
        print(" " * 40 + "".join(f"{n:>{width}}" for n, width in zip(names, widths, strict=True)))
    for row in rows():
        r = measure(row, SECONDS)
        cells = f"{r.numbers:,}", *map(_time, r[2:5]), f"{r.error:.0e}"
        aligned = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{r.name:<40}{aligned}", flush=True)
