"""The formulas that are timed: what each is given. by_numpy.py has them with gradients by hand, the
other by_*.py in one library each, under the same names.

A formula is f(parameters, *inputs, **static), a number; what is wanted is its value and its
gradient with respect to every parameter. All data is drawn from a fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from math import lgamma, log, pi, sqrt
from typing import Any

import numpy as np

GAMMA, PRIOR_M = 1.0, 0  # of gmm's prior


@dataclass
class Data:
    parameters: list[Any]
    inputs: list[Any] = field(default_factory=list)
    static: dict[str, Any] = field(default_factory=dict)  # Python numbers, part of the program


@dataclass(frozen=True)
class Workload:
    formula: str  # its name in every by_*.py
    data: Callable[[bool], Data]  # of `small`
    float64: bool = False


def rosen(small: bool) -> Data:
    return Data([np.random.default_rng(0).normal(size=10)])


def classifier(layers: tuple[int, ...], batch: int, small: bool) -> Data:
    """Inputs: images, their labels as digits, and the same as rows of zeros and a one."""
    random = np.random.default_rng(0)
    x = random.random((batch, layers[0]), dtype=np.float32)
    digits = random.integers(0, layers[-1], batch)
    parameters = []
    for rows, columns in pairwise(layers):
        scale = 1 / np.sqrt(rows)
        parameters.append(random.normal(0, scale, (rows, columns)).astype(np.float32))
        parameters.append(np.full(columns, 0.1, np.float32))
    return Data(parameters, [x, digits, np.eye(layers[-1], dtype=np.float32)[digits]])


def elem(small: bool) -> Data:
    random = np.random.default_rng(0)
    return Data([random.standard_normal(1000 if small else 10_000_000, dtype=np.float32)])


def xent(small: bool) -> Data:
    random = np.random.default_rng(0)
    rows, columns = (8, 10) if small else (4096, 1000)
    z = random.standard_normal((rows, columns), dtype=np.float32)
    return Data([z], [random.integers(0, columns, rows)])


def chain(small: bool) -> Data:
    random = np.random.default_rng(0)
    steps = 20 if small else 1000
    return Data([random.standard_normal(16, dtype=np.float32)], static={"steps": steps})


def gmm(small: bool) -> Data:
    """Parameters: alpha, mu, q and l; input: x."""
    random = np.random.default_rng(0)
    d, k, n = (4, 3, 10) if small else (64, 100, 1000)
    parameters = [
        random.normal(size=k),
        random.normal(size=(k, d)),
        random.normal(0, 0.1, (k, d)),
        random.normal(0, 0.1, (k, d * (d - 1) // 2)),
    ]
    return Data(parameters, [random.normal(size=(n, d))])


def below_diagonal(d: int) -> tuple[Any, Any]:
    """Rows and columns of what is below the diagonal, column by column."""
    columns, rows = np.triu_indices(d, 1)
    return rows, columns


def triangle(d: int) -> Any:
    """For each place of a d by d matrix its position in [0, diagonal, what is below it]."""
    index = np.zeros((d, d), np.int64)
    index[np.arange(d), np.arange(d)] = 1 + np.arange(d)
    index[below_diagonal(d)] = 1 + d + np.arange(d * (d - 1) // 2)
    return index


def gmm_constant(n: int, d: int, k: int) -> float:
    """What does not depend on parameters: of the likelihood, and of the prior."""
    nu = d + PRIOR_M + 1
    log_gamma_d = d * (d - 1) / 4 * log(pi) + sum(lgamma((nu - j) / 2) for j in range(d))
    prior = k * (nu * d * log(GAMMA / sqrt(2)) - log_gamma_d)
    return prior - n * d / 2 * log(2 * pi)


def lse(n: int, small: bool) -> Data:
    return Data([np.random.default_rng(0).normal(size=min(n, 100) if small else n)])


def llsq(n: int, small: bool) -> Data:
    """Parameter: 128 coefficients; inputs: t, and the sign of t to approximate."""
    n, m = (16, 8) if small else (n, 128)
    t = -1 + 2 * np.arange(n) / (n - 1)
    return Data([np.random.default_rng(0).normal(0, 0.1, m)], [t, np.sign(t)])


def lstm(small: bool) -> Data:
    """Parameters: weights and biases [layer, gate (forget, ingate, outgate, change), width], and
    the rows in-weight, out-weight, out-bias; inputs: characters, and states [layer, (h, c), width].
    """
    random = np.random.default_rng(0)
    layers, width, characters = 2, 14, 12 if small else 1024
    parameters = [random.normal(size=shape) for shape in [(layers, 4, width)] * 2 + [(3, width)]]
    text = random.integers(0, 2, (characters, width)).astype(np.float64)
    return Data(parameters, [text, random.normal(size=(layers, 2, width))])


SOFTREG_LAYERS, SOFTREG_BATCH = (784, 10), 100
MLP_LAYERS, MLP_BATCH = (784, 256, 256, 10), 128
LSE_SIZES = (2500, 20_000, 160_000, 1_280_000)
LLSQ_SIZES = (16, 512, 16_392)

WORKLOADS = {
    "rosen": Workload("rosen", rosen, float64=True),
    "softreg": Workload("classifier", partial(classifier, SOFTREG_LAYERS, SOFTREG_BATCH)),
    "mlp": Workload("classifier", partial(classifier, MLP_LAYERS, MLP_BATCH)),
    "elem": Workload("elem", elem),
    "xent": Workload("xent", xent),
    "chain": Workload("chain", chain),
    "gmm": Workload("gmm", gmm, float64=True),
    **{f"lse-{n}": Workload("lse", partial(lse, n), float64=True) for n in LSE_SIZES},
    **{f"llsq-{n}": Workload("llsq", partial(llsq, n), float64=True) for n in LLSQ_SIZES},
    "lstm": Workload("lstm", lstm, float64=True),
}


def summary(value: Any, gradients: Any) -> list[float]:
    """What all libraries must agree on: the value and the norm of each gradient."""
    return [float(value), *(float(np.linalg.norm(np.asarray(g))) for g in gradients)]


RATE = 1e-3  # of the training steps
MOMENTUM = {"quantized": 0.9}  # by formula; the others have none
BITS = 4  # of the weights of "quantized"


def step_summary(loss: Any, before: Any, after: Any) -> list[float]:
    """The same from a training step; `before` must be arrays that no step writes to."""
    moved = [(a - np.asarray(b)) / RATE for a, b in zip(before, after, strict=True)]
    return summary(loss, moved)
