"""function when something fails: while tracing, while running, or because a traced tensor is looked
at or escapes. Variables are as they were, no trace stays open, and the next call works."""

from __future__ import annotations

import re
import sys
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.traced import Counted

import pullback as pb


def test_an_exception_while_tracing():
    v = pb.Variable(1.0)

    def body(x, fail):
        v.assign(100.0)
        if fail:
            raise KeyError("inside")
        return x + v

    f = Counted(body)
    for _ in range(2):
        with pytest.raises(KeyError, match="inside"):
            f(1.0, True)
        assert v.item() == 1.0
        assert not pb._core.Trace.active()
    assert float(f(1.0, False)) == 101.0
    assert float(v * 2) == 200.0


def test_an_exception_while_running():
    v = pb.Variable(1)

    @pb.function
    def f(n):
        v.assign_add(1)
        return v // n

    assert f(np.int64(1)).item() == 2
    with pytest.raises(ZeroDivisionError):
        f(np.int64(0)).item()
    assert v.item() == 2
    assert f(np.int64(1)).item() == 3


def place(line: int) -> str:
    """A line of this file, counted from the one that calls."""
    return f"{__file__}:{sys._getframe(1).f_lineno + line}"


LOOKS = [
    ("float", float, "return it"),
    ("int", int, "return it"),
    ("bool", bool, r"where\(\) instead of if"),
    ("bool", lambda t: 1 if t > 0 else 2, r"where\(\) instead of if"),
    ("bool", lambda t: t > 0 and t < 5, r"instead of .* and"),
    ("item", lambda t: t.item(), "return it"),
    ("numpy", lambda t: t.numpy(), "pullback's operations"),
    ("numpy", np.asarray, "pullback's operations"),
    ("evaluate", pb.evaluate, "return it"),
]


@each(("who", "look", "advice"), LOOKS)
def test_looking_at_a_traced_tensor(who, look, advice):
    def body(x):
        return look(x * 2)

    f = pb.function(body)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=advice) as caught:
            f(pb.constant(1.0))
        text = str(caught.value)
        assert text.startswith(f"{who} (") and __file__ in text
        assert "no value while its function is being traced" in text and "body (" in text
        assert not pb._core.Trace.active()


@pytest.mark.parametrize(
    "use",
    [
        lambda n: [10, 20][n],
        lambda n: range(n),
        lambda n: "ab" * n,
        lambda n: pb.ones(3)[n : n + 1],
    ],
)
def test_a_traced_tensor_as_index(use):
    f = pb.function(use)
    with pytest.raises(RuntimeError, match=r"index \(.*take\(\)"):
        f(np.int64(1))
    assert f(1) is not None  # a Python integer is known


def test_the_users_line_is_named():
    def body(x):
        y = x * 2
        return pb.where(y > 0, y, 0) if y > 0 else y

    with pytest.raises(RuntimeError, match=re.escape(place(-2))):
        pb.function(body)(1.0)


def test_repr_of_a_traced_tensor():
    v = pb.Variable(1.0, name="v")
    texts = []
    pb.function(lambda x: texts.append((repr(x), repr(v))))(pb.ones(2))
    assert texts == [
        (
            "Tensor(<traced>, shape=(2,), dtype=float32)",
            "Variable('v', <traced>, shape=(), dtype=float32)",
        )
    ]


ESCAPED_LOOKS = [
    lambda t: t.numpy(),
    float,
    lambda t: float(t + 1),
    lambda t: pb.evaluate({"t": t}),
    lambda t: pb.Variable(1.0, dtype="float64").assign(t),
    lambda t: pb.Variable(1.0, dtype="float64").assign_add(t),
    lambda t: float(pb.function(lambda x: x * 1)(t)),
    lambda t: pb.function(lambda x: x * t)(1.0),
    lambda t: pb.function(lambda: t)(),
]


@each("look", ESCAPED_LOOKS)
def test_a_traced_tensor_that_escapes(look):
    escaped: list[Any] = []

    def leaking(x):
        escaped.append(pb.cast(x * 2, "float64"))
        return x

    f = pb.function(leaking)
    f(1.0)
    with pytest.raises(RuntimeError, match=r"leaking \(.*:\d+\).*return it from") as caught:
        look(escaped[0])
    assert __file__ in str(caught.value)
    assert float(f(2.0)) == 2.0


def test_a_draw_that_escapes():
    escaped: list[Any] = []
    pb.function(lambda: escaped.append(pb.random.normal(2)))()
    with pytest.raises(RuntimeError, match=r"created by the trace of .*, and has no value outside"):
        pb.evaluate(escaped[0])


def test_a_variable_made_inside_names_the_line():
    def body():
        return pb.Variable(1.0)

    with pytest.raises(RuntimeError, match=re.escape(place(-2)) + ".*create it outside"):
        pb.function(body)()


def test_listings_are_refused_inside():
    inner = pb.function(lambda x: x * 2)
    with pytest.raises(RuntimeError, match=r"plan: .*being traced"):
        pb.function(lambda x: inner.plan(x))(1.0)

    class Model:
        @pb.function
        def step(self, x):
            return x * 2

    model = Model()
    for name in ("plan", "graph"):
        with pytest.raises(TypeError, match=rf"{name}: .* object first, as in Model.step.{name}\("):
            getattr(model.step, name)(1.0)
        assert getattr(Model.step, name)(model, 1.0)
    with (
        pytest.raises(RuntimeError, match=r"graph: .*gradient_override_map"),
        pb.gradient_override_map({"tanh": lambda op, g: g}),
    ):
        inner.graph(1.0)


def test_an_exception_while_a_call_is_tracked():
    w = pb.Variable(3)
    f = pb.function(lambda n: w // n)
    assert f(np.int64(2)).item() == 1
    with pytest.raises(ZeroDivisionError):
        f(np.int64(0))
    assert f(np.int64(3)).item() == 1


def leaks(make):
    """A tensor of another function's trace."""
    leaked = []

    @pb.function
    def first(x):
        leaked.append(make())
        return x + leaked[0]

    first(1.0)
    return leaked[0]


@pytest.mark.parametrize("make", [pb.random.uniform, pb.random.normal], ids=["uniform", "normal"])
def test_random_tensors_of_another_trace_are_refused(make):
    r = leaks(lambda: make((2, 3)))
    second = pb.function(lambda x: x + r)
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"\(2, 3\) from another trace of .*first"):
            second(1.0)
    with pytest.raises(RuntimeError, match=r"\(2, 3\).*first .*return it from"):
        pb.function(lambda x: x * 2.0)(r)
    for look in (pb.evaluate, lambda t: t.numpy(), lambda t: pb.sum(t).item()):
        with pytest.raises(RuntimeError, match="first"):
            look(r)
    with pytest.raises(RuntimeError):
        pb.Variable([[0.0] * 3] * 2, dtype=r.dtype).assign(r)


def test_permutations_of_another_trace_are_refused():
    r = leaks(lambda: pb.random.permutation(4))
    with pytest.raises(RuntimeError, match=r"\(4,\) from another trace of .*first"):
        pb.function(lambda x: pb.take(x, r))(np.arange(4.0))


def test_states_that_take_each_others_place():
    """Assigned from values as they were before the call, run, recorded by a tape or nested."""

    def swap(x):
        old = a.read()
        a.assign(b)
        b.assign(old * x)
        return x * 2.0

    def nested(x):
        return pb.function(swap)(x)

    for body in (swap, nested):
        for taped in (False, True):
            for pending in (False, True):
                a, b = pb.Variable([1.0, 2.0]), pb.Variable([3.0, 4.0])
                if pending:
                    a.assign_add([10.0, 10.0])
                    b.assign_add([20.0, 20.0])
                first, second = ([11.0, 12.0], [23.0, 24.0]) if pending else ([1, 2], [3, 4])
                f, x = pb.function(body), pb.Variable(1.0)
                with pb.GradientTape() if taped else nullcontext():
                    f(x.read())
                assert a.read().numpy().tolist() == second
                assert b.read().numpy().tolist() == first


@pytest.mark.parametrize("taped", [False, True])
@pytest.mark.parametrize("order", [0, 1])
def test_all_variables_are_assigned_or_none(order, taped):
    a, b = pb.Variable([1, 2]), pb.Variable([3, 4])
    a.assign(a // pb.constant([0, 1]))  # will fail

    @pb.function
    def step(x):
        for v in (a, b) if order else (b, a):
            v.assign(v + 1)
        return x * 2.0

    x = pb.Variable(1.0)
    for _ in range(2):
        with pb.GradientTape() if taped else nullcontext(), pytest.raises(ZeroDivisionError):
            step(x.read())
        assert b.read().numpy().tolist() == [3, 4]
    a.assign([5, 6])
    step(x.read())
    assert (a.read().numpy().tolist(), b.read().numpy().tolist()) == ([6, 7], [4, 5])
