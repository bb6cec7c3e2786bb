"""GradientTape: how often it answers, how it is entered, stopped and reset, how tapes nest, and
what happens to one that ends where nobody expects it."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.gradients import value

import pullback as pb

# --- how often


def test_one_answer_unless_persistent():
    x = pb.Variable(3.0)
    with pb.GradientTape() as tape:
        y = x * x
    assert value(tape.gradient(y, x)) == 6.0
    with pytest.raises(RuntimeError, match=r"not persistent.*persistent=True"):
        tape.gradient(y, x)
    assert tape.watched_variables() == (x,)

    with pb.GradientTape(persistent=True) as tape:
        y = x * x
    assert [value(tape.gradient(y, x)) for _ in range(2)] == [6.0, 6.0]


@pytest.mark.parametrize(
    "ask",
    [
        lambda tape, y, x: tape.gradient(None, x),
        lambda tape, y, x: tape.gradient(y, None),
        lambda tape, y, x: tape.gradient(3.0, x),
        lambda tape, y, x: tape.gradient(y, [x, 2.0]),
        lambda tape, y, x: tape.gradient([y, None], x),
    ],
)
def test_what_is_not_a_tensor_does_not_use_the_tape_up(ask):
    x = pb.Variable(3.0)
    with pb.GradientTape() as tape:
        y = x * x
    with pytest.raises(TypeError, match="expected a Tensor or a Variable"):
        ask(tape, y, x)
    assert value(tape.gradient(y, x)) == 6.0


def test_never_entered():
    x = pb.Variable(3.0)
    tape = pb.GradientTape()
    assert tape.watched_variables() == ()
    for misuse in (
        lambda: tape.watch(x),
        lambda: tape.gradient(x, x),
        lambda: tape.reset(),
        lambda: tape.stop_recording().__enter__(),
    ):
        with pytest.raises(RuntimeError):
            misuse()


def test_inside_its_own_block():
    x = pb.Variable(3.0)
    with pb.GradientTape() as tape:
        y = x * x
        assert value(tape.gradient(y, x)) == 6.0
    with pb.GradientTape(persistent=True) as tape:
        y = x**3
        g = tape.gradient(y, x)
        h = tape.gradient(g, x)
    assert (value(g), value(h)) == (27.0, 18.0)

    with pb.GradientTape(persistent=True) as tape:
        y = x**3
    g = tape.gradient(y, x)
    assert tape.gradient(g, x) is None  # made after the block


def test_reentry_goes_on():
    x = pb.Variable(3.0)
    tape = pb.GradientTape()
    with tape:
        y = x * x
    with tape:
        z = y * y
    assert value(tape.gradient(z, x)) == 108.0
    with tape:  # used up, so this is a fresh start
        z = y * x
    assert value(tape.gradient(z, x)) == 9.0


def test_reentry_while_active():
    tape = pb.GradientTape()
    with tape, pytest.raises(ValueError, match="still recording"):
        tape.__enter__()


def test_an_exception_leaves_the_tape_usable():
    x = pb.Variable(3.0)
    tape = pb.GradientTape()
    with pytest.raises(KeyError), tape:
        y = x * x
        raise KeyError
    assert value(tape.gradient(y, x)) == 6.0


def test_two_tapes_in_one_block():
    x = pb.Variable(3.0)
    with pb.GradientTape() as one, pb.GradientTape() as two:
        y = x * x
    assert value(one.gradient(y, x)) == value(two.gradient(y, x)) == 6.0


# --- control


def test_stop_recording():
    x = pb.Variable(4.0)
    with pb.GradientTape() as tape, pb.GradientTape() as other:
        with tape.stop_recording():
            y = x * x
        z = x * y
    assert value(tape.gradient(z, x)) == 16.0
    assert value(other.gradient(z, x)) == 48.0
    with pytest.raises(ValueError, match="not recording"), tape.stop_recording():
        pass


def test_reads_are_not_watched_while_stopped():
    x = pb.Variable(4.0)
    with pb.GradientTape() as tape, tape.stop_recording():
        x.read()
    assert tape.watched_variables() == ()


def test_reset():
    x = pb.Variable(4.0)
    with pb.GradientTape() as tape:
        y = x * x
        tape.reset()
        assert tape.watched_variables() == ()
        z = y + 3 * x
    assert value(tape.gradient(z, x)) == 3.0
    with pytest.raises(ValueError, match="not recording"):
        tape.reset()


def test_reset_forgets_watched_tensors():
    x = pb.constant(4.0)
    with pb.GradientTape() as tape:
        tape.watch(x)
        tape.reset()
        y = x * x
    assert tape.gradient(y, x) is None


def test_watched_variables_in_order_of_creation():
    u, v, w = (pb.Variable(1.0, name=name) for name in "uvw")
    with pb.GradientTape() as tape:
        (w * u).numpy()
        v.read()
    assert tape.watched_variables() == (u, v, w)


@pytest.mark.parametrize("wrong", [3.0, np.ones(2), None, "x", [pb.constant(1.0), 2.0]])
def test_watch_refuses_what_is_not_a_tensor(wrong):
    with pb.GradientTape() as tape, pytest.raises(ValueError, match="Tensor or a Variable"):
        tape.watch(wrong)


def test_watch_takes_nests():
    a, b = pb.constant(2.0), pb.constant(3.0)
    with pb.GradientTape() as tape:
        tape.watch({"a": a, "rest": (b,)})
        y = a * b
    assert [value(g) for g in tape.gradient(y, [a, b])] == [3.0, 2.0]


# --- nesting


def test_nested_tapes_need_their_own_watch():
    x = pb.constant(3.0)
    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            inner.watch(x)
            y = x * x
        g = inner.gradient(y, x)
    assert value(g) == 6.0 and outer.gradient(g, x) is None

    with pb.GradientTape() as outer:
        outer.watch(x)
        with pb.GradientTape() as inner:
            y = x * x
        assert inner.gradient(y, x) is None
    assert value(outer.gradient(y, x)) == 6.0


def test_five_orders():
    x = pb.constant(2.0)

    def derivative(order):
        if order == 0:
            return x**5
        with pb.GradientTape() as tape:
            tape.watch(x)
            y = derivative(order - 1)
        return tape.gradient(y, x)

    assert [value(derivative(order)) for order in range(1, 6)] == [80, 160, 240, 240, 120]


def test_second_derivative_of_a_linear_function():
    x = pb.Variable(2.0)
    with pb.GradientTape(persistent=True) as outer:
        with pb.GradientTape() as inner:
            y = 3 * x
        g = inner.gradient(y, x)
    assert outer.gradient(g, x) is None
    assert value(outer.gradient(g, x, unconnected_gradients="zero")) == 0.0


# --- ends


def test_a_tape_that_ends_on_another_thread():
    x = pb.Variable(3.0)
    tapes = [pb.GradientTape() for _ in range(2)]
    for tape in tapes:
        tape.__enter__()
    y = x * x
    stop = threading.Thread(target=tapes[0].__exit__, args=(None, None, None))
    drop = threading.Thread(target=tapes.pop)
    for thread in (stop, drop):
        thread.start()
        thread.join()
    del tape
    assert not pb._core.Tape.any_recording()
    assert value(tapes[0].gradient(y, x)) == 6.0


def test_a_tape_that_is_dropped_while_recording():
    x = pb.Variable(3.0)
    pb.GradientTape().__enter__()
    assert not pb._core.Tape.any_recording()
    with pb.GradientTape() as tape:
        y = x * x
    assert value(tape.gradient(y, x)) == 6.0
