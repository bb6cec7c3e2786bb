"""How loops run: in between somebody may press Ctrl-C, profiles and listings look inside, and the
memory of a step is that of one iteration."""

from __future__ import annotations

import signal

import numpy as np
import pytest

import pullback as pb
from pullback import _core


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
@pytest.mark.parametrize("kind", ["while", "scan"])
def test_ctrl_c_is_seen_between_iterations(kind: str) -> None:
    x = pb.constant(np.ones(4))
    if kind == "while":
        y = pb.while_loop(lambda s: s[0] >= 0, lambda s: (s[0] * 0, pb.sin(s[1])), (0, x))[1]
    else:
        y = pb.scan(lambda s, _: (pb.sin(s), None), x, length=1 << 40)[0]

    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, pressed)  # a timer's signal stands for the key
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            y.numpy()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert float(pb.sum(x)) == 4.0


def test_a_profile_looks_inside() -> None:
    def run() -> None:
        step = lambda s, x: (pb.tanh(s @ x), None)  # noqa: E731
        pb.scan(step, pb.ones((4, 4)), pb.ones((5, 4, 4)))[0].numpy()

    steps = pb.profile(run).steps
    (product,) = (step for step in steps if step.kind == "gemm")
    assert product.operations == 5 * (2 * 4**3 + 4 * 4)
    assert all(step.kind != "loop" for step in steps)


def test_a_listing_shows_the_body() -> None:
    f = pb.function(lambda x: pb.scan(lambda s, v: (pb.sin(s) + v, s), 0.0, x))
    listing = f.plan(pb.ones(3))
    assert "loop 3 times" in listing and "sin" in listing
    g = pb.function(lambda x: pb.cond(x > 0, pb.exp, pb.cos, x))
    assert "branch" in g.plan(1.0) and "exp" in g.plan(1.0) and "cos" in g.plan(1.0)


def test_a_long_loop_takes_the_memory_of_one_iteration() -> None:
    x = pb.constant(np.ones(10000))
    y, _ = pb.scan(lambda s, _: (pb.sin(s) + pb.cumsum(s), None), x, length=1000)
    _core.reset_peak_bytes()
    before = _core.status()["live_bytes"]
    y.numpy()
    assert _core.status()["peak_bytes"] - before < 16 * 80000


def test_a_large_body_uses_all_threads_and_no_other_bits() -> None:
    x = pb.constant(np.linspace(0, 1, 1 << 20))

    def run() -> np.ndarray:
        return pb.scan(lambda s, _: (pb.sin(s) + pb.mean(s), None), x, length=3)[0].numpy()

    threads = pb.num_threads()
    try:
        pb.set_num_threads(1)
        a = run()
        pb.set_num_threads(4)
        b = run()
    finally:
        pb.set_num_threads(threads)
    np.testing.assert_array_equal(a, b)


def test_a_failure_in_an_iteration_changes_nothing() -> None:
    v = pb.Variable([1.0, 2.0, 3.0])

    @pb.function
    def step(i: pb.Tensor) -> pb.Tensor:
        last, _ = pb.scan(lambda s, k: (s + pb.take(v, k), None), 0.0, i)
        v.assign(v * 2)
        return last

    assert float(step(pb.constant([0, 1]))) == 3.0
    with pytest.raises(IndexError, match="take: index 5"):
        step(pb.constant([0, 5]))
    assert v.numpy().tolist() == [2.0, 4.0, 6.0]


def test_equal_loops_are_one() -> None:
    x = pb.Variable(np.ones(3))
    a, b = (pb.scan(lambda s, _: (pb.sin(s), None), x, length=5)[0] for _ in range(2))
    before = _core.status()["steps"]["loop"]
    assert np.array_equal(*(y.numpy() for y in (a + b, 2 * a)))
    total = a + b
    total.numpy()
    assert _core.status()["steps"]["loop"] - before <= 3


def test_what_is_the_same_in_every_iteration_is_computed_once() -> None:
    w = pb.constant(np.ones((8, 8)))
    x = pb.constant(np.ones(8))
    y, _ = pb.scan(lambda s, _: (s * pb.sum(w @ w), None), x, length=10)
    before = _core.status()["steps"]["gemm"]
    y.numpy()
    assert _core.status()["steps"]["gemm"] - before == 1
