"""Failures in the middle of things, planted with `fail_allocation` and `fail_run`: nothing is
published, nothing leaked, right the next time. And what must not be kept alive: nodes
and buffers by plans, Python rules by cycles."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.process import live

import pullback as pb
from pullback import _core


@pytest.fixture
def null_backend() -> Iterator[None]:
    _core.set_backend("null")
    yield
    _core.fail_run(0)
    _core.set_backend("cpu")


@pytest.fixture
def no_faults() -> Iterator[None]:
    yield
    _core.fail_allocation(0)


# --- failures in the middle: nothing published, nothing leaked, right the next time


def program() -> tuple[list[Any], Callable[[bool], list[float]]]:
    """Variables, and a training step: what it saw, and the variables after it."""
    rng = np.random.default_rng(0)
    w = pb.Variable(rng.standard_normal((6, 4)))
    b = pb.Variable(np.zeros(4))
    x = pb.constant(rng.standard_normal((5, 6)))

    def step(update_first: bool) -> list[float]:
        h = pb.softmax(x @ w + b)
        loss = pb.logsumexp(pb.take(h, [0, 3, 3], axis=0) * 2) + pb.prod(h[:, 1])
        gw, gb = pb.gradients(loss, [w, b])
        if update_first:
            w.assign_sub(0.1 * gw)
            b.assign_sub(0.1 * gb)
        seen = [float(loss), float(pb.sum(gw * gw)), float(pb.max(gb))]
        if not update_first:
            w.assign_sub(0.1 * gw)
            b.assign_sub(0.1 * gb)
        return [*seen, float(pb.sum(w * w)), float(b[0])]

    return [w, b], step


@pytest.mark.parametrize("update_first", [False, True])
def test_every_allocation_may_fail(no_faults: None, update_first: bool) -> None:
    """A MemoryError or the right numbers, nothing in between; afterwards the right numbers."""
    variables, step = program()
    start = [v.numpy() for v in variables]

    def restart() -> tuple[int, int, int]:
        for v, value in zip(variables, start, strict=True):
            v.assign(value)
        pb.evaluate(variables)
        return live()

    restart()
    expected = step(update_first)
    failures = []
    for k in range(1, 80):
        before = restart()
        _core.fail_allocation(k)
        try:
            assert step(update_first) == expected, k
        except MemoryError as error:
            failures.append(k)
            assert "cannot allocate" in str(error) or "scratch" in str(error)
        _core.fail_allocation(0)
        assert restart() == before, f"allocation {k}"
        assert step(update_first) == expected, f"after a failure of allocation {k}"
    assert 3 < len(failures) < 70  # fewer where a look survives the failure of an update


def test_every_run_may_fail(null_backend: None) -> None:
    def attempt(k: int) -> bool:
        _core.fail_run(k)
        x = pb.constant(np.ones(3))
        results = [x + 1, pb.exp(x), pb.sum(x) * 2]
        before = live()
        failed = False
        for y in results:
            try:
                y.numpy()
            except RuntimeError as error:
                assert "injected" in str(error)
                failed = True
                break
        # What ran before is kept; of the one that failed there is nothing.
        assert live()[1] == before[1] + (k - 1 if failed else 3)
        _core.fail_run(0)
        pb.evaluate(results)
        assert live()[1] == before[1] + 3
        return failed

    assert [attempt(k) for k in (1, 2, 3, 4)] == [True, True, True, False]


def test_a_failed_run_publishes_nothing(null_backend: None) -> None:
    x = pb.Variable(np.ones(4))
    a = pb.exp(x)
    b = pb.sum(a * a)
    (g,) = pb.gradients(b, [x])
    before = live()
    for _ in range(3):
        _core.fail_run(1)
        with pytest.raises(RuntimeError, match="injected"):
            pb.evaluate(a, b, g)
        assert live() == before

    def runs() -> int:
        status = _core.status()
        return int(status["plan_hits"] + status["plan_misses"])

    ran = runs()
    pb.evaluate(a, b, g)
    assert runs() == ran + 1
    pb.evaluate(a, b, g)
    assert runs() == ran + 1


def test_a_look_survives_the_failure_of_an_update_that_ran_with_it(null_backend: None) -> None:
    x, y = pb.Variable(np.ones(4)), pb.constant(np.ones(3))
    x.assign(x * 2)
    _core.fail_run(1)  # the run that computes both
    (y + 1).numpy()
    _core.fail_run(1)  # and the update alone, where somebody looks at it
    x.assign_add(np.ones(4))
    x.numpy()


# --- leaks


def test_the_plan_cache_holds_no_nodes_and_no_buffers(nothing_left: None) -> None:
    for n in range(1, 60):
        x = pb.Variable(np.ones((n, 3)))
        loss = pb.sum(pb.tanh(x @ np.ones((3, n))))
        float(loss)
        pb.evaluate(pb.gradients(loss, [x]))
    del x, loss
    assert _core.status()["plans"] > 60


def test_failed_calls_leak_nothing(nothing_left: None) -> None:
    x = pb.Variable(np.ones(3))
    for _ in range(200):
        with pytest.raises(ValueError, match="broadcast"):
            x + np.ones(4)
        with pytest.raises(IndexError):
            pb.take(x, pb.constant([5]) + 0, axis=0).numpy()
        with pytest.raises(ValueError, match="shape"):
            pb.gradients(x * 2, [x], grad_ys=np.ones(7))


def test_rules_in_cycles_are_collected(nothing_left: None) -> None:
    died: list[int] = []

    class Token:
        pass

    def build() -> None:
        token = Token()
        weakref.finalize(token, died.append, 1)

        @pb.custom_gradient
        def f(x: Any) -> Any:
            y = pb.exp(x)

            def rule(g: Any) -> Any:
                assert token
                return g * held[0] * y

            return y, rule

        x = pb.Variable(np.ones(2))
        held: list[Any] = []
        held.append(f(x))  # the rule holds its own output, which holds the rule
        pb.gradients(held[0], [x])[0].numpy()

    for _ in range(5):
        build()
    gc.collect()
    assert len(died) == 5


def test_rules_die_with_their_tensors() -> None:
    class Rule:
        def __call__(self, op: Any, g: Any) -> Any:
            return g

    rule = Rule()
    alive = weakref.ref(rule)
    x = pb.Variable(np.ones(2))
    with pb.gradient_override_map({"sin": rule}):
        y = pb.sin(x)
    del rule
    gc.collect()
    assert alive() is not None
    assert pb.gradients(y, [x])[0].numpy().tolist() == [1.0, 1.0]
    del y
    gc.collect()
    assert alive() is None


def test_an_update_that_cannot_be_computed_is_tried_once() -> None:
    bad, good = pb.Variable([1, 2]), pb.Variable([1.0, 2.0])
    bad.assign(bad // pb.constant([1, 0]))
    good.assign_add([1.0, 1.0])
    x = pb.constant(2.0)

    def look() -> int:
        before = _core.status()["plan_hits"] + _core.status()["plan_misses"]
        x_next = x * 3.0
        assert float(x_next) == 6.0
        return _core.status()["plan_hits"] + _core.status()["plan_misses"] - before

    look()
    assert [look() for _ in range(5)] == [1] * 5
    assert good.read().numpy().tolist() == [2.0, 3.0]
    for _ in range(2):  # who looks at it is told
        with pytest.raises(ZeroDivisionError):
            bad.read().numpy()
        with pytest.raises(ZeroDivisionError):
            bad.assign_add([1, 1])
    bad.assign([5, 7])
    bad.assign_add([1, 1])
    look()
    assert bad.read().numpy().tolist() == [6, 8]
    bad.assign(bad // pb.constant([1, 0]))
    good.assign_add([1.0, 1.0])  # the next one is again computed with the others
    look()
    bad.assign([0, 0])
    assert good.read().numpy().tolist() == [3.0, 4.0]


ROWS = {
    "sort": lambda x: pb.sort(x),
    "argsort": lambda x: pb.argsort(x),
    "median": lambda x: pb.median(x),
    "partition": lambda x: pb.partition(x, 3),
    "topk": lambda x: pb.topk(x, 3)[0],
    "quantile": lambda x: pb.quantile(x, 0.3),
    "argmax": lambda x: pb.argmax(x),
    "cumulative_sum": lambda x: pb.cumulative_sum(x),
    "cumulative_logsumexp": lambda x: pb.cumulative_logsumexp(x),
    "sum": lambda x: pb.sum(pb.exp(x)),
    "solve": lambda x: pb.linalg.solve(pb.diag(x[:9]), x[:9]),
    "fft": lambda x: pb.fft.rfft(x),
}


@each("name", ROWS)
def test_a_step_without_memory_leaves_variables_as_they_were(name: str, no_faults: None) -> None:
    v = pb.Variable(np.arange(3.0))
    u = pb.Variable(2.0, dtype="float64")
    x = np.linspace(1, 2, 300_000)

    @pb.function
    def step(x: Any) -> Any:
        v.assign(v + 1)
        return ROWS[name](x * u)

    step(x)
    failed = 0
    for after in range(1, 12):
        before = v.numpy().copy()
        _core.fail_allocation(after)
        try:
            step(x)
            _core.fail_allocation(0)
            np.testing.assert_array_equal(v, before + 1)
        except MemoryError:
            _core.fail_allocation(0)
            failed += 1
            np.testing.assert_array_equal(v, before)
    assert failed


def test_matrices_beyond_lapack_and_transforms_beyond_memory() -> None:
    """Refused when they are planned: LAPACK's workspace counts in int, and the table of roots of a
    transform would be computed for seconds."""
    x = pb.zeros((33_000, 33_000))
    for results in (pb.linalg.eigh(x), pb.linalg.svd(x)):
        with pytest.raises(ValueError, match=r"(eigh|svd): .* got shape \(33000, 33000\)"):
            _core.describe_plan(list(results))
    _core.describe_plan([pb.linalg.svdvals(x)])  # without vectors its workspace is small
    for points in (2**36, 2**40):
        for f in (pb.fft.rfft, pb.fft.fft, lambda x, n: pb.fft.dct(x, 2, n)):
            # By what the machine has, not by what the system promises.
            with pytest.raises(MemoryError, match="cannot allocate"):
                f([1.0, 2.0], points).numpy()
