"""The core calls the program: rules, callbacks, conversions, destructors, signal handlers. Each of
these may build nodes, evaluate, assign, clear caches, raise, fork and start threads, and the
numbers of the interrupted operation stay right. `tools/sanitize` runs this file too."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.process import live, run

import pullback as pb
from pullback import _core

Act = Callable[[], None]


class World:
    """Tensors and a variable that the actions work with."""

    def __init__(self) -> None:
        self.pending = pb.Variable(np.arange(5.0)) * 2
        self.counter = pb.Variable(np.zeros(3))
        self.done = 0

    def build(self) -> None:
        small = [pb.sum(pb.constant(np.ones(5000, np.float32)) * k) for k in range(30)]
        self.kept = small[::2]

    def evaluate(self) -> None:
        assert float(pb.stop_gradient(pb.sum(self.pending + self.counter[0]))) >= 20

    def assign(self) -> None:
        self.counter.assign(self.counter + 1)

    def clear(self) -> None:
        _core.clear_plans()
        _core.trim_memory()

    def fail(self) -> None:
        raise ZeroDivisionError("planned")

    def fork(self) -> None:
        child = os.fork()
        if child == 0:
            right = float(pb.stop_gradient(pb.sum(pb.ones(7) * 3))) == 21
            os._exit(0 if right else 1)
        assert os.waitpid(child, 0)[1] == 0

    def thread(self) -> None:
        seen: list[float] = []
        body = lambda: seen.append(float(pb.sum(pb.ones(7) * 3)))  # noqa: E731
        thread = threading.Thread(target=body)
        thread.start()
        thread.join(60)
        assert seen == [21.0]


ACTIONS = ("build", "evaluate", "assign", "clear", "fail", "fork", "thread")


def by_rule(act: Act) -> None:
    @pb.custom_gradient
    def f(x: Any) -> Any:
        def rule(g: Any) -> Any:
            act()
            return g * 3

        return x * 3, rule

    x = pb.Variable([1.0, 2.0])
    (g,) = pb.gradients(pb.sum(f(x * 2)), x)
    np.testing.assert_array_equal(g, [6, 6])


def by_override(act: Act) -> None:
    x = pb.Variable(np.ones(4, np.float32) * 3)
    y = pb.stop_gradient(x * 2.0)
    z = pb.sum(y * 1.0)

    def rule(op: Any, g: Any) -> Any:
        y.numpy()  # its own output, whose inputs are let go by that
        act()
        return g

    (g,) = pb.gradients(z, x, overrides={"stop_gradient": rule})
    np.testing.assert_array_equal(g, np.full(4, 2))


def by_callback(act: Act) -> None:
    def f(a: Any) -> Any:
        act()
        return a + 1

    v = pb.Variable(np.ones(3))
    call = pb.numpy_function(f, lambda x: x)

    @pb.function
    def step(x: Any) -> Any:
        v.assign(v + call(x))
        return pb.sum(v * 2)

    np.testing.assert_array_equal(call(pb.Variable([1.0, 2.0]) * 2), [3, 5])
    try:
        assert float(step(np.zeros(3))) == 12
    except ZeroDivisionError:
        np.testing.assert_array_equal(v, np.ones(3))
        raise
    np.testing.assert_array_equal(v, np.full(3, 2.0))


class Converted:
    def __init__(self, act: Act) -> None:
        self.act = act

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self.act()
        return np.arange(3.0)

    def __index__(self) -> int:
        self.act()
        return 1


def by_array(act: Act) -> None:
    x = pb.Variable([1.0, 1.0, 1.0], dtype="float64")
    y = pb.add(x * 2, Converted(act))  # type: ignore[arg-type]
    np.testing.assert_array_equal(y, [2, 3, 4])


def by_index(act: Act) -> None:
    x = pb.Variable([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal((x * 2)[Converted(act)], [6, 8])
    np.testing.assert_array_equal(pb.sum(x * 2, axis=Converted(act)), [6, 14])


class Dying:
    def __init__(self, act: Act) -> None:
        self.act = act

    def __del__(self) -> None:
        self.act()


def by_destructor(act: Act) -> None:
    """Of what a rule closes over: it ends with the nodes."""

    def build() -> Any:
        dying, part = Dying(act), pb.sum(pb.constant(np.ones(4096, np.float32)) * 2.0)

        @pb.custom_gradient
        def f(x: Any) -> Any:
            def rule(g: Any) -> Any:
                return dying and g * part

            return x * 2.0, rule

        return f(pb.Variable(1.0))

    for _ in range(3):
        y = build()
        assert float(y) == 2
        del y


def by_weak_reference(act: Act) -> None:
    y = pb.Variable([1.0, 2.0]) * 2
    seen: list[Any] = []

    def ended(_: Any) -> None:
        seen.append(1)
        act()

    reference = weakref.ref(y, ended)
    z = y + 1
    del y
    np.testing.assert_array_equal(z, [3, 5])
    assert seen and reference() is None


def by_signal(act: Act) -> None:
    """While a plan runs, or between two instructions of the program."""

    def handler(*_: Any) -> None:
        act()

    before = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.005)
    try:
        y = pb.Variable(np.ones(400_000))
        for _ in range(40):
            y = pb.sin(y)
        total = float(pb.sum(y))
        signal.setitimer(signal.ITIMER_REAL, 0)
        expected = np.ones(400_000)
        for _ in range(40):
            expected = np.sin(expected)
        assert total == pytest.approx(float(expected.sum()))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


PLACES = {
    place.__name__: place
    for place in (
        by_rule,
        by_override,
        by_callback,
        by_array,
        by_index,
        by_destructor,
        by_weak_reference,
        by_signal,
    )
}
# Python prints what these raise and goes on.
UNRAISABLE = {"by_destructor", "by_weak_reference"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@each("place, action", itertools.product(PLACES, ACTIONS))
def test_the_program_may_do_anything(place: str, action: str) -> None:
    world = World()
    act = getattr(world, action)

    def counted() -> None:
        world.done += 1
        act()

    raised = False
    try:
        PLACES[place](counted)
    except ZeroDivisionError as error:
        assert str(error) == "planned"
        raised = True
    if place != "by_signal":  # whose time may come late
        assert world.done and raised == (action == "fail" and place not in UNRAISABLE)
    world.evaluate()
    if action == "assign":
        np.testing.assert_array_equal(world.counter, np.full(3, world.done))


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs setitimer")
def test_a_handler_computes_what_is_being_computed() -> None:
    """A convolution with a slow function after it, whose tile in the thread's memory must not be
    the one of a convolution in a handler that runs between two of its units."""
    rng = np.random.default_rng(3)
    weights = rng.normal(size=(3, 3, 4, 8))
    small, large = (pb.Variable(rng.normal(size=(1, n, n, 4))) for n in (160, 200))

    def program(x: Any) -> Any:
        return pb.special.polygamma(3, pb.square(pb.nn.conv2d(x, weights, padding="SAME")) + 0.5)

    expected = [program(x).numpy() for x in (small, large)]
    wrong, handled = 0, 0

    def handler(*_: Any) -> None:
        nonlocal wrong, handled
        handled += 1
        wrong += not np.array_equal(program(large).numpy(), expected[1])

    before = signal.signal(signal.SIGALRM, handler)
    try:
        for _ in range(20):
            signal.setitimer(signal.ITIMER_REAL, 0.004)
            wrong += not np.array_equal(program(small).numpy(), expected[0])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert handled and not wrong


def test_a_destructor_finds_no_node_that_is_about_to_end() -> None:
    """Nodes with large inputs are listed for an early evaluation; a node that waits for its end is
    not."""
    code = """
import numpy as np
import pullback as pb
big = [pb.constant(np.ones(300_000, np.float32)) for _ in range(20)]
w = pb.Variable(np.float32(1))
class Log:
    def __del__(self):
        self.seen = [pb.sum(b) for b in big]
def build():
    log, part = Log(), pb.sum(pb.constant(np.ones(4096, np.float32)) * 2.0)
    @pb.custom_gradient
    def f(w):
        def rule(g):
            log
            return g * part
        return w * 2.0, rule
    return f(w)
for _ in range(30):
    y = build()
    del y
print("right")
"""
    assert run(code) == "right\n"


def test_a_chain_of_rules_ends_without_recursion() -> None:
    before = live()
    h: Any = pb.Variable(1.0)
    for _ in range(20_000):
        h = pb.custom_gradient(lambda h, held=h: (h * 1.0, lambda g, held=held: g * held))(h)
    del h
    assert live() == before


def test_a_callback_waits_for_a_thread_that_evaluates() -> None:
    other = pb.sum(pb.Variable(np.ones(5)) * 3)
    seen: list[float] = []

    def f(a: Any) -> Any:
        thread = threading.Thread(target=lambda: seen.append(float(other)))
        thread.start()
        thread.join(60)
        return a

    call = pb.numpy_function(f, lambda x: x)
    np.testing.assert_array_equal(call(pb.Variable(np.ones(3))), np.ones(3))
    assert seen == [15.0]


def test_an_assignment_during_a_call_that_assigns_is_not_lost() -> None:
    """The call sees that the variable is another one, and runs again."""
    v = pb.Variable(1.0)
    calls: list[Any] = []

    def f(a: Any) -> Any:
        calls.append(a)
        if len(calls) == 1:
            v.assign(100.0)
        return a

    call = pb.numpy_function(f, lambda x: x)

    @pb.function
    def step(x: Any) -> None:
        v.assign(v + call(x))

    step(np.float32(2.0))
    assert float(v) == 102 and len(calls) == 2


def test_exit_while_a_daemon_thread_is_in_a_callback() -> None:
    code = """
import threading, time
import numpy as np
import pullback as pb
f = pb.numpy_function(np.sin, lambda x: x)
x = pb.Variable(np.ones(3))
def work():
    while True:
        float(pb.sum(f(x)))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
"""
    for _ in range(3):
        assert run(code) == ""


def endless() -> dict[str, Any]:
    itself: list[Any] = []
    itself.append(itself)
    first: list[Any] = [pb.constant(1.0)]
    first.append(first)
    last: list[Any] = []
    last.append(pb.constant([1.0]))
    last.append([last])
    deep: Any = 1.0
    for _ in range(90):
        deep = [deep]
    return {
        "alone": itself,
        "second": [1.0, itself],
        "many": [[itself] * 10] * 10,
        "with a tensor": [pb.ones(()), itself],
        "after a tensor": first,
        "below a tensor": last,
        "deep": deep,
    }


@each("name", endless())
def test_lists_without_end(name: str) -> None:
    bad = endless()[name]
    v = pb.Variable([1.0, 2.0])
    for call in (
        pb.sum, pb.constant, pb.Variable, v.assign, v.__add__, v.__eq__,
        lambda bad: pb.where(bad, 1, 2), lambda bad: pb.concat([v, bad]), lambda bad: bad @ v,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="nested at most 16 levels deep"):
            call(bad)
