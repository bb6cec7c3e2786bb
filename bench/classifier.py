"""The classifiers that the rows of models.py train: their data, their network, what must agree.

classifier_pullback.py and classifier_peers.py do the work, in one function per library and style.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

RATE = 1e-3


class Model(NamedTuple):
    layers: tuple[int, ...]
    batch: int

    def data(self) -> tuple[Any, Any, list[Any]]:
        """Images, one-hot labels, and the parameters w1, b1, w2, …"""
        random = np.random.default_rng(0)
        x = random.random((self.batch, self.layers[0]), dtype=np.float32)
        labels = np.eye(self.layers[-1], dtype=np.float32)[
            random.integers(0, self.layers[-1], self.batch)
        ]
        parameters = []
        for rows, columns in pairwise(self.layers):
            scale = 1 / np.sqrt(rows)
            parameters.append(random.normal(0, scale, (rows, columns)).astype(np.float32))
            parameters.append(np.full(columns, 0.1, np.float32))
        return x, labels, parameters


def network(x: Any, parameters: list[Any], relu: Callable[[Any], Any]) -> Any:
    for i in range(0, len(parameters), 2):
        x = (relu(x) if i else x) @ parameters[i] + parameters[i + 1]
    return x


def summary(loss: Any, arrays: Any) -> list[float]:
    """What all libraries must agree on: the loss and the norm of each gradient."""
    return [float(loss), *(float(np.linalg.norm(np.asarray(a))) for a in arrays)]


def step_summary(loss: Any, before: Any, after: Any) -> list[float]:
    """The same from a training step; `before` must be arrays that no step writes to."""
    moved = [(a - np.asarray(b)) / RATE for a, b in zip(before, after, strict=True)]
    return summary(loss, moved)
