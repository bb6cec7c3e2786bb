"""Ctrl-C: inside one long step too, it stops the run, publishes nothing and breaks nothing.

A timer's signal stands for the key. A run that had not noticed it would end first, and publish.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import numpy as np
import pytest
from support.each import mostly_slow

import pullback as pb
from pullback import _core

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")


@contextmanager
def threads(n: int) -> Iterator[None]:
    before = pb.num_threads()
    pb.set_num_threads(n)
    try:
        yield
    finally:
        pb.set_num_threads(before)


@contextmanager
def signal_soon(handler: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def computed(x: Any) -> bool:
    return _core.describe_plan([x]) == "nothing to compute\n"


def ready(x: pb.Tensor) -> pb.Tensor:
    pb.evaluate(x)
    return x


def wide() -> pb.Tensor:
    """More elements than any memory holds; they never exist at once."""
    x = ready(pb.ones(10_000_000, dtype=np.float32) + 0.0)
    y = ready(pb.reshape(pb.arange(1000, dtype=np.float32), (1000, 1)))
    return pb.tanh(pb.sin(x + y))


def elements(n: int) -> pb.Tensor:
    x = ready(pb.ones(n, dtype=np.float32) + 0.0)
    for _ in range(8):
        x = pb.tanh(pb.sin(x))
    return x


def product(n: int, dtype: Any) -> pb.Tensor:
    a = ready(pb.ones((n, n), dtype=dtype) + pb.cast(1, dtype))
    return a @ a


def scattered() -> pb.Tensor:
    w = pb.Variable(np.zeros(20_000_000))
    places = pb.constant(np.random.default_rng(0).permutation(20_000_000))
    g: pb.Tensor = pb.gradients(pb.sum(pb.take(w, places) ** 2), [w])[0]
    return g


LONG = {
    "product": lambda: product(5000, np.float64),
    "product of integers": lambda: product(2500, np.int64),
    "sum": lambda: pb.sum(wide()),
    "sum of rows": lambda: pb.sum(wide(), axis=1),
    "sum of columns": lambda: pb.sum(wide(), axis=0),
    "elements": lambda: elements(80_000_000),
    "random": lambda: pb.random.normal((200_000_000,), dtype=np.float32),
    "expm": lambda: pb.linalg.expm(np.full((1500, 1500), 1e-3)),
    "transform of a prime length": lambda: pb.fft.fft(np.ones(5_000_011, complex)),
    "permutation": lambda: pb.random.permutation(60_000_000),
    "scatter": scattered,
}


def interrupt(signum: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# Those that take hundreds of megabytes, or a second until they notice.
LARGE = ("elements", "product", "scatter", "sum of columns")
STEPS = [(name, n) for name in LONG for n in (1, 2)]
QUICK = [(name, n) for name, n in STEPS if name not in LARGE or (name, n) == ("product", 2)]


@pytest.mark.parametrize(("name", "n"), mostly_slow(STEPS, *QUICK))
def test_one_long_step(name: str, n: int) -> None:
    with threads(n):
        result = LONG[name]()
        with signal_soon(interrupt), pytest.raises(KeyboardInterrupt):
            pb.evaluate(result)
        assert not computed(result)
        assert float(pb.sum(pb.ones((600, 600)) @ pb.ones((600, 600)))) == 600.0**3


def test_variables_are_as_they_were() -> None:
    v = pb.Variable(np.arange(3.0))
    w = pb.Variable(np.arange(4.0))

    @pb.function
    def step() -> pb.Tensor:
        v.assign(v + 1.0)
        w.assign(w + pb.cast(pb.sum(wide()), np.float64))
        return pb.sum(v)

    with signal_soon(interrupt), pytest.raises(KeyboardInterrupt):
        step()
    assert v.numpy().tolist() == [0, 1, 2]
    assert w.numpy().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("f", [pb.special.betaincinv, pb.special.gammainc, pb.special.zeta])
def test_slow_functions_do_not_write_in_place(f: Callable[..., pb.Tensor]) -> None:
    """A run that overwrites its arguments cannot be stopped: it would lose them."""
    xs = [np.full(100_000, 0.5)] * (3 if f is pb.special.betaincinv else 2)
    assert "in place" not in _core.describe_plan([f(*xs)])
    assert "in place" in _core.describe_plan([pb.exp(xs[0]) + pb.constant(xs[0])])


def test_a_handler_may_compute() -> None:
    """It runs inside the run, on the same thread, between two chunks of a loop."""
    seen: list[float] = []

    def look(signum: int, frame: FrameType | None) -> None:
        seen.append(float(pb.sum(pb.ones((600, 600)) @ pb.ones((600, 600)))))

    with threads(2):
        n = 3000
        result = product(n, np.float64)
        with signal_soon(look):
            assert float(pb.sum(result)) == 4.0 * n**3
    assert seen == [600.0**3]
