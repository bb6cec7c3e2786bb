"""What other libraries fell into, one test or more each: deep graphs, growth, repeated
work, snapshots, exported memory. Faults are in test_faults.py, threads in test_threads.py."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.process import live, run

import pullback as pb
from pullback import _core


def steps(kind: str) -> int:
    return int(_core.status()["steps"][kind])


# --- a million operations in a row: built, differentiated, evaluated, deleted


MANY = "ignore:more than 100000 graph nodes:RuntimeWarning"


def chain(n: int) -> None:
    x = pb.Variable(1.0)
    y = x
    for _ in range(n):
        y = y + 1.0
    (g,) = pb.gradients(y, [x])
    assert float(y) == 1.0 + n and float(g) == 1.0
    (half,) = pb.gradients(y, [x], grad_ys=0.5)
    del y, g  # never evaluated: `half`
    del half


@pytest.mark.slow
@pytest.mark.filterwarnings(MANY)
def test_a_chain_of_a_million_operations(nothing_left: None) -> None:
    chain(1_000_000)


@pytest.mark.filterwarnings(MANY)
def test_a_deep_chain_on_a_small_stack(nothing_left: None) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            chain(200_000)
            y = pb.constant(np.float64(0.0))
            for _ in range(100_000):
                y = pb.sin(y) + 1.0
            float(y)
        except BaseException as error:
            caught.append(error)

    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    assert not caught


def test_deep_second_order(nothing_left: None) -> None:
    x = pb.Variable(np.float64(0.5))
    y = x
    for _ in range(3000):
        y = pb.sin(y)
    (g,) = pb.gradients(y, [x])
    (h,) = pb.gradients(g, [x])
    value, first, second = np.float64(0.5), 1.0, 0.0
    for _ in range(3000):
        second = np.cos(value) * second - np.sin(value) * first * first
        first *= np.cos(value)
        value = np.sin(value)
    np.testing.assert_allclose([float(y), float(g), float(h)], [value, first, second], rtol=1e-11)


# --- growth: 200 000 steps that nobody looks at


def resident_kilobytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def flat(step: Callable[[], None]) -> None:
    """No node, buffer or page more after 80 000 steps than after the first 20 000."""
    for _ in range(20_000):
        step()
    nodes, buffers, _ = live()
    memory = resident_kilobytes()
    for _ in range(60_000):
        step()
    now = live()
    assert now[0] <= nodes + 10_000 and now[1] <= buffers + 10
    assert resident_kilobytes() - memory < 4096


def test_training_steps_without_a_look_do_not_grow() -> None:
    w = pb.Variable(np.ones(2, np.float32))
    m = pb.Variable(np.zeros(2, np.float32))

    def step() -> None:
        (g,) = pb.gradients(pb.sum(w * w), [w])
        m.assign(0.9 * m + g)
        w.assign_sub(1e-5 * m)

    flat(step)
    assert np.isfinite(w.numpy()).all()


def test_array_loops_without_a_look_do_not_grow() -> None:
    state = [pb.constant(np.float32(0.0))]

    def step() -> None:
        state[0] = 0.5 * state[0] + 1.0

    flat(step)
    assert float(state[0]) == 2.0


def test_assignments_alone_do_not_grow(nothing_left: None) -> None:
    v = pb.Variable(np.float64(0.0))
    for _ in range(10_000):
        v.assign_add(1.0)
    assert float(v) == 10_000


# --- nothing expensive is computed twice


def layers() -> tuple[list[Any], Any, list[Any]]:
    rng = np.random.default_rng(0)
    w = [pb.Variable(rng.standard_normal((8, 8))) for _ in range(3)]
    h = pb.constant(rng.standard_normal((4, 8)))
    for k in w:
        h = pb.tanh(h @ k)
    loss = pb.mean(h * h)
    return w, loss, pb.gradients(loss, w)


GEMMS = 3 + 5  # three forward; backward two each, but the first layer's input wants nothing


def test_loss_then_gradients_repeats_no_product() -> None:
    _, loss, grads = layers()
    before = steps("gemm")
    float(loss)
    assert steps("gemm") - before == 3
    pb.evaluate(grads)
    float(loss)
    assert steps("gemm") - before == GEMMS


def test_gradients_then_loss_repeats_no_product() -> None:
    _, loss, grads = layers()
    before = steps("gemm")
    pb.evaluate(grads)
    float(loss)
    assert steps("gemm") - before == GEMMS


def test_gradients_one_by_one_repeat_no_product() -> None:
    _, loss, grads = layers()
    before = steps("gemm")
    for g in reversed(grads):
        g.numpy()
    float(loss)
    assert steps("gemm") - before == GEMMS


def test_updates_then_loss_repeat_no_product() -> None:
    w, loss, grads = layers()
    before = steps("gemm")
    for variable, g in zip(w, grads, strict=True):
        variable.assign_sub(0.1 * g)
    float(loss)
    w[0].numpy()
    assert steps("gemm") - before == GEMMS


def test_a_second_look_runs_nothing() -> None:
    _, loss, grads = layers()
    pb.evaluate(loss, grads)
    before = _core.status()["steps"]
    float(loss)
    for g in grads:
        g.numpy()
    assert _core.status()["steps"] == before


# --- one plan for a thousand learning rates


def test_a_thousand_learning_rates_are_one_plan() -> None:
    w = pb.Variable(np.ones(3, np.float32))

    def step(rate: float) -> None:
        (g,) = pb.gradients(pb.sum(w * w), [w])
        w.assign_sub(rate * g)
        pb.evaluate(w)

    for _ in range(2):
        step(0.1)
    before = _core.status()
    for k in range(1000):
        step(1e-4 * k)
    after = _core.status()
    assert after["plan_misses"] == before["plan_misses"]
    assert after["plans"] == before["plans"]


# --- variables are snapshots


def test_swap_and_cycle() -> None:
    a, b, c = (pb.Variable(np.full(2, k, np.float32)) for k in (1.0, 2.0, 3.0))
    x, y = a.read(), b.read()
    a.assign(y)
    b.assign(x)
    assert (a.numpy()[0], b.numpy()[0]) == (2.0, 1.0)
    x, y, z = a + 0, b + 0, c + 0
    a.assign(z)
    b.assign(x)
    c.assign(y)
    assert (a.numpy()[0], b.numpy()[0], c.numpy()[0]) == (3.0, 2.0, 1.0)


def test_what_was_read_before_an_assignment_keeps_its_value() -> None:
    v = pb.Variable(np.arange(6.0))
    read, view, product = v.read(), v[::2], v * 2
    reshaped, transposed = pb.reshape(v, (2, 3)), pb.transpose(pb.reshape(v, (2, 3)))
    seen = v.numpy()
    v.assign(np.zeros(6))
    v.assign_add(np.ones(6))
    assert v.numpy().tolist() == [1.0] * 6
    v.assign(v * 5)
    assert read.numpy().tolist() == seen.tolist() == list(range(6))
    assert view.numpy().tolist() == [0.0, 2.0, 4.0]
    assert product.numpy().tolist() == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    assert reshaped.numpy().tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    assert transposed.numpy().tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]
    assert v.numpy().tolist() == [5.0] * 6


def test_gradients_use_the_values_of_the_forward_pass() -> None:
    v = pb.Variable(np.float64(3.0))
    y = v * v
    v.assign(10.0)
    (g,) = pb.gradients(y, [v])
    v.assign_add(1.0)
    assert (float(g), float(y), float(v)) == (6.0, 9.0, 11.0)


def test_exported_memory_never_changes(nothing_left: None) -> None:
    v = pb.Variable(np.zeros(1000))
    arrays = []
    for k in range(50):
        arrays.append(v.numpy())
        arrays.append(pb.reshape(v, (10, 100)).numpy())
        v.assign_add(1.0)
        (v * 2 + pb.sum(v)).numpy()
        del k
    for k, array in enumerate(arrays):
        assert not array.flags.writeable
        assert (array == k // 2).all()
    weak = weakref.ref(arrays[0])
    kept = arrays[0][:10]
    del v, arrays, array
    gc.collect()
    assert kept.tolist() == [0.0] * 10
    del kept
    assert weak() is None


def test_history_that_grows_is_warned_about_once() -> None:
    code = """if True:
    import warnings
    import pullback as pb
    x = pb.Variable(1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            total = x
            for _ in range(250_000):
                total = total * 1.0
            print(len(caught), end=" ")
            del total
    print(caught[0].category.__name__, caught[0].message)
    """
    assert run(code).startswith("1 2 RuntimeWarning more than 100000 graph nodes are alive; the")
