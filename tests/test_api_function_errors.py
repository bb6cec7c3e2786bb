"""function when something fails: while tracing, while running, or because a traced tensor is looked
at or escapes. Variables are as they were, no trace stays open, and the next call works."""

from __future__ import annotations

import numpy as np
import pytest
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


@pytest.mark.parametrize(
    "look", [float, bool, int, lambda t: t.numpy(), lambda t: t.item(), np.asarray]
)
def test_looking_at_a_traced_tensor(look):
    f = Counted(lambda x: look(x * 2))
    with pytest.raises(RuntimeError, match="no value while its function is being traced"):
        f(pb.constant(1.0))
    assert not pb._core.Trace.active()


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


def test_a_traced_tensor_that_escapes():
    escaped = []

    @pb.function
    def f(x):
        escaped.append(x * 2)
        return x

    f(1.0)
    with pytest.raises(RuntimeError):
        escaped[0].numpy()
    with pytest.raises(RuntimeError):
        pb.Variable(1.0).assign(escaped[0])
    assert float(f(2.0)) == 2.0
