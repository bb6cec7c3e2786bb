"""Value and gradient, and training steps, of what programs of TensorFlow compute: convolutions and
pools, small convolutional networks, an adversarial pair, recurrent cells in a loop.

The formulas are in network_formulas.py, the layers of each library in its by_*.py. Torch has no
loop: its recurrences are Python's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Goal, Row, by
from .workloads import Data, Workload


def _draw(shapes: list[tuple[int, ...]], inputs: list[tuple[int, ...]], classes: int) -> Data:
    """Parameters of these shapes, inputs of these, and a digit for each entry of the batch."""
    random = np.random.default_rng(0)

    def array(shape: tuple[int, ...]) -> Any:
        scale = 1.0 if len(shape) < 2 else np.sqrt(2 / np.prod(shape[:-1]))
        return (scale * random.standard_normal(shape)).astype(np.float32)

    made: list[Any] = [random.standard_normal(shape, dtype=np.float32) for shape in inputs]
    if classes:
        batch = inputs[0][0] if len(inputs[0]) != 3 else inputs[0][1]
        made.append(random.integers(0, classes, batch))
    return Data([array(shape) for shape in shapes], made)


def _sizes(small: bool, *numbers: int) -> list[int]:
    return [2 if small else n for n in numbers]


def convolved(small: bool) -> Data:
    batch, channels, outputs = _sizes(small, 32, 64, 128)
    return _draw([(batch, 12, 12, channels), (5, 5, channels, outputs)], [], 0)


def pooled(small: bool) -> Data:
    batch, channels = _sizes(small, 64, 64)
    return _draw([(batch, 24, 24, channels)], [], 0)


def images(first: int, second: int, hidden: int, small: bool) -> Data:
    batch, a, b, n = _sizes(small, 64, first, second, hidden)
    sizes = [49 * b, n, 10] if hidden else [49 * b, 10]
    dense = [s for i in range(len(sizes) - 1) for s in ((sizes[i], sizes[i + 1]), (sizes[i + 1],))]
    filters = [(5, 5, 1, a), (a,), (5, 5, a, b), (b,)]
    return _draw([*filters, *dense], [(batch, 28, 28, 1)], 10)


def adversarial(small: bool) -> Data:
    batch, a, b, noise = _sizes(small, 64, 64, 128, 100)
    judge = [(5, 5, 1, a), (a,), (5, 5, a, b), (b,), (b,), (49 * b, 1), (1,)]
    maker = [(noise, 49 * b), (b,), (b,), (5, 5, a, b), (a,), (a,), (5, 5, 1, a), (1,)]
    return _draw([*judge, *maker], [(batch, 28, 28, 1), (batch, noise)], 0)


def recurrent(gates: tuple[int, ...], small: bool) -> Data:
    """Matrices of so many gates each, from the input and the state."""
    steps, batch, width, n = _sizes(small, 28, 128, 28, 128)
    cells = [s for g in gates for s in ((width + n, g * n), (g * n,))]
    return _draw([*cells, (n, 10), (10,)], [(steps, batch, width)], 10)


def _row(about: str, work: Workload, train: bool = False, compiled: bool = True) -> Row:
    styles = {
        ("pullback", "tape in function" if train else "function"): (
            "tape_in_function" if train else "function"
        ),
        ("torch", "eager"): "train" if train else "eager",
        ("torch", "compile"): "train_compiled" if train else "compile",
        ("tensorflow", "function"): "train" if train else "function",
        ("tensorflow", "XLA"): "train_xla" if train else "xla",
    }
    if not compiled:  # it unrolls for minutes
        del styles["torch", "compile"]
    make = {key: by(key[0], style, work) for key, style in styles.items()}
    goal = Goal(1.0, PEERS, "tape in function" if train else "function")
    slow = frozenset({("torch", "compile")}) & {*make}
    return Row(f"{about}, float32", "µs", make, slow=slow, goal=goal)


def _work(formula: str, data: Callable[..., Data], *given: Any) -> Workload:
    return Workload(formula, partial(data, *given))


ROWS = {
    "conv-both": _row("32×12×12×64 by 128 filters of 5×5, by both", _work("convolved", convolved)),
    "max-pool-both": _row("largest of 2×2 of 64×24×24×64", _work("pooled", pooled)),
    "images-train": _row(
        "28×28-32-64-1024-10 convolutional network, batch 64: training step",
        _work("images", images, 32, 64, 1024),
        train=True,
    ),
    "images-small-train": _row(
        "28×28-16-32-10 convolutional network, batch 64: training step",
        _work("images", images, 16, 32, 0),
        train=True,
    ),
    "dcgan-train": _row(
        "DCGAN of 28×28 images, 64 and 128 channels, batch 64: training step",
        _work("adversarial", adversarial),
        train=True,
    ),
    "lstm-loop": _row(
        "LSTM of 128 over 28 steps of 28, batch 128, by a loop",
        _work("lstm_loop", recurrent, (4,)),
        compiled=False,
    ),
    "gru-loop": _row(
        "GRU of 128 over 28 steps of 28, batch 128, by a loop",
        _work("gru_loop", recurrent, (2, 1)),
        compiled=False,
    ),
}
