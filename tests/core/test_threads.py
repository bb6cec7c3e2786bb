"""Several Python threads, forked children, and what importing the library must leave alone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import run

import pullback as pb


def in_threads(work: Callable[[int], None], count: int = 4) -> None:
    problems: list[BaseException] = []
    start = threading.Barrier(count)

    def guarded(k: int) -> None:
        try:
            start.wait()
            work(k)
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=guarded, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert not problems, problems[0]


def test_threads_with_graphs_of_their_own() -> None:
    def work(k: int) -> None:
        w = pb.Variable(np.full((20, 20), 0.01 * (k + 1)))
        for step in range(150):
            loss = pb.sum(pb.tanh(w @ w))
            (g,) = pb.gradients(loss, [w])
            w.assign_sub(0.0 * g)
            if step % 10 == 0:
                row = np.tanh(20 * (0.01 * (k + 1)) ** 2)
                np.testing.assert_allclose(float(loss), 400 * row, rtol=1e-12)

    in_threads(work)


def test_threads_that_look_at_one_graph() -> None:
    for _ in range(30):
        x = pb.Variable(np.arange(2000.0))
        parts = [pb.sum(pb.sin(x) * float(k)) for k in range(8)]
        total = sum(parts[1:], start=parts[0])
        (g,) = pb.gradients(total, [x])
        expected = float(np.sum(np.sin(np.arange(2000.0))))

        seen: list[Any] = [None] * 4

        def work(k: int, seen: Any = seen, graph: Any = (total, g, parts)) -> None:
            total, g, parts = graph
            seen[k] = float(total), float(parts[k]), float(parts[7 - k]), g.numpy()

        in_threads(work)
        for k, (all_of_it, low, high, slope) in enumerate(seen):
            scales = [28 * expected, k * expected, (7 - k) * expected]
            np.testing.assert_allclose([all_of_it, low, high], scales, rtol=1e-12)
            np.testing.assert_allclose(slope, 28 * np.cos(np.arange(2000.0)), rtol=1e-12)


def test_threads_that_update_one_variable() -> None:
    v = pb.Variable(np.zeros(500))

    def work(k: int) -> None:
        for _ in range(200):
            v.assign_add(np.ones(500))  # built under the interpreter lock: none is lost
            if k == 0:
                v.numpy()

    in_threads(work)
    assert v.numpy().tolist() == [800.0] * 500


@pytest.mark.parametrize("held", [False, True])
def test_an_assignment_during_a_call_that_updates_in_place(held: bool) -> None:
    """The call is not made twice. Where its own update is lost, as the value before it was held and
    could be read meanwhile, it says so."""
    large, small = pb.Variable(np.zeros(500_000)), pb.Variable(np.zeros(3), name="small")
    calls, errors, done = 0, 0, False

    @pb.function
    def step() -> None:
        small.assign(small * 2 + 1)
        large.assign(large + 1)

    def other() -> None:
        while not done:
            small.assign(np.zeros(3))
            time.sleep(0.0002)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        while calls < (2000 if held and not errors else 50):
            before = small.read() if held else None
            if held:
                before.numpy()
            calls += 1
            try:
                step()
            except RuntimeError as error:
                assert held and '"small" was assigned by another thread' in str(error)
                errors += 1
    finally:
        done = True
        thread.join()
    assert (large.numpy() == calls).all()
    assert bool(errors) == held


@pytest.mark.parametrize(
    "seconds", [0.5, pytest.param(20.0, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_a_function_an_assignment_and_gradients_of_one_variable(seconds: float) -> None:
    w = pb.Variable(np.ones(4000))
    start = w.numpy()

    @pb.function
    def step(x: Any) -> Any:
        w.assign(w * 0.5 + x)
        return pb.sum(w)

    def work(k: int) -> None:
        end = time.monotonic() + seconds
        held: list[Any] = []
        while time.monotonic() < end:
            if k == 0:
                step(np.full(4000, 0.5))
            elif k == 1:
                w.assign((w * 1.0 + 1.0) * 0.5)
            elif k == 2:
                loss = pb.sum(pb.sin(w) * w)
                (g,) = pb.gradients(loss, [w])
                assert np.isfinite(float(loss)) and np.isfinite(g.numpy()).all()
            else:  # looks at some of what it holds, and drops the rest
                held.append(w.read() * 2.0 + (held[0] if held else 0.0))
                if len(held) % 3 == 0:
                    assert np.isfinite(held[len(held) // 2].numpy()).all()
                if len(held) > 6:
                    held.clear()

    in_threads(work)
    assert 0.9 < w.numpy().min() <= w.numpy().max() < 2.1
    assert start.tolist() == [1.0] * 4000, "memory that NumPy looks at was written to"


def test_first_use_on_several_threads() -> None:
    """Whatever is looked up once (NumPy's functions, the BLAS, the kernels) is looked up safely."""
    code = """if True:
    import threading
    import numpy as np
    import pullback as pb
    start = threading.Barrier(6)
    results = []
    def work():
        start.wait()
        w = pb.Variable(np.ones((30, 30)))
        loss = pb.logsumexp(w @ w)
        results.append(float(pb.gradients(loss, [w])[0][0, 0]) + float(pb.random.uniform()) * 0)
    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(len(results), len(set(results)))
    """
    for _ in range(5):
        assert run(code).split() == ["6", "1"]


def test_a_forked_child_computes() -> None:
    """After a parallel step in the parent: the child has none of its threads."""
    code = """if True:
    import os, sys
    import numpy as np
    import pullback as pb
    pb.set_num_threads(4)
    x = pb.constant(np.ones((700, 700)))
    expected = float(pb.sum(pb.exp(x) @ x))
    child = os.fork()
    if child == 0:
        got = float(pb.sum(pb.exp(x + 0.0) @ x))
        w = pb.Variable(np.ones((600, 600)))
        (g,) = pb.gradients(pb.sum(w @ w), [w])
        ok = got == expected and g.numpy()[0, 0] == 1200.0
        os._exit(0 if ok else 3)
    _, status = os.waitpid(child, 0)
    again = float(pb.sum(pb.exp(x) @ x))
    print(os.waitstatus_to_exitcode(status), again == expected)
    """
    assert run(code).split() == ["0", "True"]


def test_import_changes_nothing_else() -> None:
    code = """if True:
    import locale, os, signal, threading, warnings
    def state():
        return (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGFPE), locale.setlocale(
            locale.LC_ALL), os.environ.copy(), threading.active_count(), 5e-324 * 1.0,
            1e308 * 10, (0.1 + 0.2).hex(), len(warnings.filters))
    import numpy
    before = state()
    import pullback as pb
    float(pb.sum(pb.exp(pb.ones((500, 500)) @ pb.ones((500, 500)))))
    after = state()
    changed = [k for k, (a, b) in enumerate(zip(before, after)) if a != b]
    print(changed)
    """
    assert run(code).strip() == "[]"


def test_the_group_on_a_product_of_many_matrices() -> None:
    """It runs on pieces of the product as they are computed: the same bits on any threads."""
    random = np.random.default_rng(0)
    for m in (1000, 997, 64, 7):
        a, b = random.normal(size=(9, m, 40)), random.normal(size=(9, 40, 48))
        results = []
        before = pb.num_threads()
        try:
            for threads in (1, 2, 3):
                pb.set_num_threads(threads)
                product = pb.constant(a) @ pb.constant(b)
                whole, rows = pb.square(product), pb.sum(pb.square(product), axis=2)
                total = pb.sum(product)
                pb.evaluate(whole, rows, total)
                results.append([x.numpy() for x in (whole, rows, total)])
        finally:
            pb.set_num_threads(before)
        squares = np.square(a @ b)
        for x, expected in zip(results[0], [squares, squares.sum(2), (a @ b).sum()], strict=True):
            np.testing.assert_allclose(x, expected, rtol=1e-9)
        for other in results[1:]:
            for x, y in zip(results[0], other, strict=True):
                np.testing.assert_array_equal(x, y)
