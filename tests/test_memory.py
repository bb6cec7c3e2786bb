"""How much memory evaluations hold: the peak of a step, and what stays behind."""

from __future__ import annotations

import numpy as np

import pullback as pb
from pullback import _core

MIB = 1 << 20


def test_the_peak_of_a_training_step() -> None:
    """Forward, backward and update over 4 MiB arrays; what is elementwise needs no temporaries."""
    w = pb.Variable(np.ones(MIB, np.float32))
    x = pb.constant(np.ones(MIB, np.float32))

    @pb.function
    def step() -> pb.Tensor:
        y = x
        for _ in range(10):
            y = pb.tanh(y * w)
        (g,) = pb.gradients(pb.sum(y), [w])
        assert g is not None
        w.assign_sub(0.1 * g)
        return pb.sum(y)

    float(step())
    before = _core.status()["live_bytes"]
    _core.reset_peak_bytes()
    for _ in range(3):
        float(step())
    # The new w beside the old one, and what the way back needs: two values for each round.
    assert 0 < _core.status()["peak_bytes"] - before <= (2 * 10 + 2) * 4 * MIB
    assert _core.status()["live_bytes"] == before


def test_the_peak_starts_anew() -> None:
    x = pb.ones(MIB, dtype=np.float32)
    pb.evaluate(x * 2.0)
    assert _core.status()["peak_bytes"] >= _core.status()["live_bytes"] + 4 * MIB
    _core.reset_peak_bytes()
    assert _core.status()["peak_bytes"] == _core.status()["live_bytes"]


def test_freed_memory_is_kept_up_to_a_bound_and_can_be_given_back() -> None:
    for size in range(100, 140):
        y = pb.ones((size, MIB // 4), dtype=np.float32) * 2.0
        pb.evaluate(y)
        del y
    assert 100 * MIB < _core.status()["cached_bytes"] <= 1024 * MIB
    _core.trim_memory()
    assert _core.status()["cached_bytes"] == 0
