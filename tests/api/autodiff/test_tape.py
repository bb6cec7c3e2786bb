"""GradientTape: what it records and what it answers. How often it answers, how it is controlled and
how tapes nest is in test_tape_control.py."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from support.gradients import value

import pullback as pb


def test_the_parabola_of_the_tutorial():
    x = pb.Variable(0.0, name="x")
    a, b, c = pb.constant(1.0), pb.constant(-2.0), pb.constant(1.0)
    with pb.GradientTape() as tape:
        y = a * x**2 + b * x + c
    assert value(tape.gradient(y, x)) == -2.0

    with pb.GradientTape() as tape:
        tape.watch([a, b, c])
        y = a * x**2 + b * x + c
    answers = tape.gradient(y, [x, a, b, c])
    assert [value(g) for g in answers] == [-2.0, 0.0, 0.0, 1.0]

    with pb.GradientTape() as outer:
        with pb.GradientTape() as inner:
            y = a * x**2 + b * x + c
        first = inner.gradient(y, x)
    assert value(outer.gradient(first, x)) == 2.0


# --- what is recorded


def test_trainable_variables_are_watched_when_read():
    v, frozen, idle = pb.Variable(2.0), pb.Variable(3.0, trainable=False), pb.Variable(4.0)
    with pb.GradientTape() as tape:
        y = v * frozen
    assert [value(g) for g in tape.gradient(y, [v, frozen, idle])] == [3.0, None, None]
    with pb.GradientTape() as tape:
        tape.watch(frozen)
        y = v * frozen
    assert [value(g) for g in tape.gradient(y, [v, frozen])] == [3.0, 2.0]


def test_the_size_of_a_variable_is_no_read():
    v = pb.Variable([[1.0, 2.0, 3.0]])
    with pb.GradientTape() as tape:
        found = v.shape, v.dtype, v.ndim, v.size, v.itemsize, v.nbytes, len(v)
    assert found == ((1, 3), np.float32, 2, 3, 4, 12, 1)
    assert tape.watched_variables() == ()
    with pytest.raises(TypeError, match="len: expected a tensor of rank 1 or more"):
        len(pb.Variable(1.0))


def test_without_accessed_variables_only_watched_ones_count():
    v, w = pb.Variable(2.0), pb.Variable(3.0)
    with pb.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(v)
        y = v * w
    assert tape.watched_variables() == (v,)
    assert [value(g) for g in tape.gradient(y, [v, w])] == [3.0, None]


def test_constants_are_not_watched():
    x = pb.constant(3.0)
    with pb.GradientTape() as tape:
        y = x * x
    assert tape.gradient(y, x) is None


def test_watch_counts_from_then_on():
    x = pb.constant(3.0)
    with pb.GradientTape(persistent=True) as tape:
        y = x * x
        tape.watch(x)
        z = 5 * x
    assert tape.gradient(y, x) is None
    assert value(tape.gradient(z, x)) == 5.0
    assert value(tape.gradient([y, z], x)) == 5.0


def test_what_is_made_outside_is_not_recorded():
    x = pb.Variable(3.0)
    y = x * x
    with pb.GradientTape() as tape:
        z = y * 2
    assert tape.gradient(z, x) is None


def test_integers_are_watched_in_vain():
    n, x = pb.Variable(3), pb.constant([1, 2])
    with pb.GradientTape() as tape:
        with pytest.warns(UserWarning, match="int64 has no gradient"):
            tape.watch(x)
        y = n * 2.0 + pb.sum(x) * 1.0
    assert tape.watched_variables() == (n,)
    with pytest.warns(UserWarning, match="gradient: a source of int64 has no gradient") as caught:
        assert tape.gradient(y, [n, x]) == [None, None]
    assert {one.filename for one in caught} == {__file__}
    for xs in (n, [n], {"n": n}):
        with pytest.warns(UserWarning, match="int64 has no gradient, so its result is None; use"):
            pb.gradients(y, xs)


def test_a_value_that_left_is_a_constant():
    x = pb.Variable(3.0)
    with pb.GradientTape(persistent=True) as tape:
        y = x * float(x)
        z = pb.constant(x.numpy()) * 2
    assert value(tape.gradient(y, x)) == 3.0
    assert tape.gradient(z, x) is None


def test_reads_are_snapshots_and_assignment_is_no_path():
    v = pb.Variable(2.0)
    with pb.GradientTape() as tape:
        y = v * v
        v.assign(10.0)
        z = v * v
    assert value(tape.gradient([y, z], v)) == 24.0

    x = pb.constant(3.0)
    with pb.GradientTape() as tape:
        tape.watch(x)
        v.assign(x * x)
        y = 3 * v
    assert [value(g) for g in tape.gradient(y, [x, v])] == [None, 3.0]


def test_other_threads_are_not_recorded():
    x = pb.Variable(3.0)
    made = []
    with pb.GradientTape(persistent=True) as tape:
        thread = threading.Thread(target=lambda: made.append(x.read()))
        thread.start()
        thread.join()
        y = x * x
    assert tape.watched_variables() == (x,)
    assert value(tape.gradient(y, x)) == 6.0


def test_what_another_thread_builds_is_not_recorded():
    """A tape is open on one thread; another works with the same tensors at the same time."""
    x = pb.constant([1.0, 2.0])
    v = pb.Variable([3.0, 4.0])
    made = []

    def work():
        made.append(x * x * v)

    with pb.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * v
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        z = y * x
    assert tape.gradient(made[0], x) is None
    assert tape.gradient(made[0], v) is None
    assert value(tape.gradient(z, x)) == [6.0, 16.0]
    assert value(tape.gradient(z, v)) == [1.0, 4.0]
    assert value(pb.gradients(made[0], [v])[0]) == [1.0, 4.0]  # its history is there all the same
    # What it built is a constant to what this thread makes of it.
    with pb.GradientTape() as tape:
        tape.watch(x)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        y = made[1] * x
    assert value(tape.gradient(y, x)) == [3.0, 16.0]


def test_tapes_of_many_threads_are_complete():
    v = pb.Variable([0.5, 0.25])
    step = pb.function(lambda a: pb.sin(a) * v)
    wrong = []

    def work(k):
        x = pb.constant([float(k), 1.0])
        for _ in range(50):
            with pb.GradientTape() as tape:
                tape.watch(x)
                y = x * v
                y = step(y) + pb.exp(y) * x
                y = pb.sum(y * y)
            got = [g.numpy() for g in tape.gradient(y, [x, v])]
            if not all(np.array_equal(a, b) for a, b in zip(got, expected[k], strict=True)):
                wrong.append((k, got))

    expected = {}
    for k in range(4):
        x = pb.Variable([float(k), 1.0])
        y = x * v
        y = pb.sin(y) * v + pb.exp(y) * x
        expected[k] = [g.numpy() for g in pb.gradients(pb.sum(y * y), [x, v])]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_evaluation_inside_does_not_lose_the_history():
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = x * x
        z = y.numpy().sum()
        w = pb.sum(y * y)
        assert float(w) == 17.0 and z == 5.0
    assert value(tape.gradient(w, x)) == [4.0, 32.0]


# --- what is answered


def test_structures():
    a, b, c = pb.Variable(2.0), pb.Variable(3.0), pb.Variable(4.0)
    with pb.GradientTape(persistent=True) as tape:
        y = {"p": a * b, "q": [b * c]}
    answer = tape.gradient(y, {"t": (a, b), "l": [c]})
    assert isinstance(answer["t"], tuple) and isinstance(answer["l"], list)
    assert [value(g) for g in (*answer["t"], *answer["l"])] == [3.0, 6.0, 3.0]
    assert [value(g) for g in tape.gradient(y, [a, a])] == [3.0, 3.0]
    assert tape.gradient(y, []) == []


def test_targets_are_summed():
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape(persistent=True) as tape:
        y = x * x
    assert value(tape.gradient(y, x)) == [2.0, 4.0]
    assert value(tape.gradient([y, y], x)) == [4.0, 8.0]


def test_target_is_source():
    x = pb.constant([1.0, 2.0])
    with pb.GradientTape(persistent=True) as tape:
        pass
    assert value(tape.gradient(x, x)) == [1.0, 1.0]
    v = pb.Variable(5.0)
    assert value(tape.gradient(v, v)) == 1.0


def test_a_read_is_a_source_of_its_own():
    v = pb.Variable(2.0)
    with pb.GradientTape(persistent=True) as tape:
        first = v.read()
        y = first * first
        v.assign(5.0)
        y = y + v * v
    assert value(tape.gradient(y, first)) == 4.0
    assert value(tape.gradient(y, v)) == 14.0


def test_unconnected_gradients():
    x, other = pb.Variable(1.0), pb.Variable([1, 2])
    with pb.GradientTape(persistent=True) as tape:
        y = x * 2
    with pytest.warns(UserWarning, match="int64 has no gradient"):
        assert tape.gradient(y, [other]) == [None]
    zero = tape.gradient(y, other, unconnected_gradients="zero")
    assert value(zero) == [0, 0] and zero.dtype == np.int64
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(y, x, unconnected_gradients="Zero")


def test_output_gradients():
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape(persistent=True) as tape:
        y = x * x
        z = 3 * x
    weights = pb.constant([1.0, 10.0])
    assert value(tape.gradient(y, x, output_gradients=weights)) == [2.0, 40.0]
    assert value(tape.gradient([y, z], x, output_gradients=[weights, None])) == [5.0, 43.0]
    assert value(tape.gradient({"a": y}, x, output_gradients={"a": weights})) == [2.0, 40.0]
    assert value(tape.gradient(y, x, output_gradients=2)) == [4.0, 8.0]


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ([1.0], ValueError),
        ([1.0, 2.0, 3.0], ValueError),
        ([pb.ones(3), None], ValueError),
        ([pb.ones(2, "float64"), None], TypeError),
    ],
)
def test_output_gradients_that_do_not_fit(weights, error):
    x = pb.Variable([1.0, 2.0])
    with pb.GradientTape() as tape:
        y = [x * x, 3 * x]
    with pytest.raises(error, match="output_gradients"):
        tape.gradient(y, x, output_gradients=weights)
    assert value(tape.gradient(y, x)) == [5.0, 7.0]  # still there


def test_a_tape_whose_thread_has_ended_records_nothing_more():
    """Numbers of threads are not given again: what new threads build is not the old one's."""
    x = pb.Variable([1.0, 2.0])
    tape = pb.GradientTape(persistent=True)
    made, again = [], []

    def record():
        tape.__enter__()
        tape.watch(x)
        made.append(x * 2.0)

    for work in (record, *(lambda: again.append(x * 3.0) for _ in range(5))):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    tape.__exit__(None, None, None)
    assert value(tape.gradient(made[0], x)) == [2.0, 2.0]
    assert [tape.gradient(y, x) for y in again] == [None] * 5
    assert value(pb.gradients(again[0], [x])[0]) == [3.0, 3.0]
