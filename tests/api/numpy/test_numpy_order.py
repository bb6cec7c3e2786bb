"""Arguments in the order of NumPy's functions, which differs from the order of ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.array([[0.3, 1.2, 2.5], [3.1, -1.4, 0.7]])

CALLS: list[Callable[[Any], Any]] = [
    lambda x: np.sum(x, 0, None, None, True),
    lambda x: np.sum(x, 0, np.float64),
    lambda x: np.cumsum(x, 0, np.float64, None),
    lambda x: np.mean(x, 0, None, None, True),
    lambda x: np.max(x, 0, None, True),
    lambda x: np.std(x, 0, None, None, 1),
    lambda x: np.var(x, 0, None, None, 1, True),
    lambda x: np.prod(x, 0, np.float64),
    lambda x: np.median(x, 0, None, False, True),
    lambda x: np.quantile(x, 0.4, 0, None, False, "linear", True),
    lambda x: np.nansum(x, 0, None, None, True),
    lambda x: np.ptp(x, 0, None, True),
    lambda x: np.sort(x, -1, None, None),
    lambda x: np.sort(x, None),
    lambda x: np.take(x, [1, 0], 1),
    lambda x: np.clip(x, 0.0, 1.0, None),
    lambda x: np.trace(x, 0, 0, 1),
    lambda x: np.reshape(x, (3, 2), "C"),
    lambda x: np.ravel(x, order="C"),
    lambda x: np.linalg.norm(x, None, 0, True),
    lambda x: np.linalg.matmul(x, x.T),
    lambda x: np.linspace(x[0, 0], x[0, 1], 5, True, False, None, 0),
    lambda x: np.cross(x, x[::-1], -1, -1, -1),
    lambda x: np.dot(x[0], x[1], None),
    lambda x: np.add.reduce(x[0, 1]),
    lambda x: np.multiply.reduce(x[0, 1]),
]


def square(result: Any) -> Any:
    return np.sum(result * result)


@each("call", CALLS)
def test_positional_order(call: Callable[[Any], Any]) -> None:
    results = []

    def loss(x: Any) -> Any:
        results.append(call(x))
        return square(results[-1])

    gradient = pb.grad(loss)(pb.asarray(X)).numpy()
    np.testing.assert_allclose(results[0].numpy(), call(X), rtol=1e-13, strict=True)
    step = 1e-6
    for index in np.ndindex(X.shape):
        change = np.zeros_like(X)
        change[index] = step
        slope = (square(call(X + change)) - square(call(X - change))) / (2 * step)
        assert gradient[index] == pytest.approx(slope, rel=1e-6, abs=1e-7)


@each(
    "call",
    [
        lambda x: np.sort(x, 0, "heapsort"),
        lambda x: np.reshape(x, (3, 2), "F"),
        lambda x: np.ravel(x, "F"),
        lambda x: np.cross(x, x[::-1], 0, 0),
        lambda x: np.quantile(x, 0.4, 0, weights=[0.3, 0.7]),
    ],
)
def test_an_argument_without_counterpart_is_an_error(call: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        pb.grad(lambda x: square(call(x)))(pb.asarray(X))
