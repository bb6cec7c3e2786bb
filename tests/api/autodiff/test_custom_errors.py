"""custom_gradient when something is wrong: the text names the rule and its place, the next call
works, and no tape, tensor or rule is left behind."""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable

import numpy as np
import pytest

import pullback as pb

# --- mistakes, with the rule's name and place in the text


def rule_error(error, make, *words):
    x, w = pb.Variable([1.0, 2.0]), pb.Variable(3.0)

    @pb.custom_gradient
    def faulty(x):
        return make(x, w)

    with pytest.raises(error) as caught:
        pb.gradients(faulty(x), [x, w])
    text = str(caught.value)
    assert all(word in text for word in ("test_custom_errors.py:", *words)), text
    assert pb.gradients(x * w, x)[0].numpy().tolist() == [3.0, 3.0]  # the next call works


def test_wrong_count():
    rule_error(
        ValueError,
        lambda x, w: (x * 1, lambda g: (g, g)),
        "expected 1 gradient for its arguments, got 2",
        "faulty",
    )
    rule_error(
        ValueError,
        lambda x, w: (x * 1, lambda g: ()),
        "expected 1 gradient for its arguments, got 0",
    )
    rule_error(
        ValueError,
        lambda x, w: (x * w, lambda g, variables: (g, [])),
        "expected 1 gradient for its variables, got 0",
    )
    rule_error(ValueError, lambda x, w: (x * w, lambda g, variables: g), "pair")


def test_wrong_shape_or_dtype():
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: pb.sum(g)), "()", "(2,)", "input 0")
    rule_error(ValueError, lambda x, w: (x * 1, lambda g: pb.ones(3)), "(3,)", "(2,)")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: pb.cast(g, "float64")), "float64")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: "nothing"), "str")
    rule_error(TypeError, lambda x, w: (x * 1, lambda g: np.ones(2)), "float64", "float32")


@pytest.mark.parametrize(
    "returned",
    [None, 3.0, lambda x: (x, 3.0), lambda x: x, lambda x: (x, x, x), lambda x: (x, "rule")],
)
def test_f_must_return_a_pair(returned):
    @pb.custom_gradient
    def f(x):
        return returned(x) if callable(returned) else returned

    with pytest.raises(TypeError, match=r"test_custom_errors.py:\d+"):
        f(pb.Variable(1.0))


def test_wrong_arguments():
    @pb.custom_gradient
    def f(x):
        return x, lambda g: g

    with pytest.raises(TypeError, match="'x'"):
        f()
    with pytest.raises(TypeError):
        f(1.0, 2.0)
    with pytest.raises(TypeError, match="expected a function"):
        pb.custom_gradient(3)


def test_an_exception_inside_leaves_no_tape_behind():
    @pb.custom_gradient
    def f(x):
        raise KeyError("inside")

    v = pb.Variable(1.0)
    with pb.GradientTape() as tape:
        with pytest.raises(KeyError):
            f(v)
        y = v * v
    assert float(tape.gradient(y, v)) == 2.0


def test_an_exception_in_the_rule():
    @pb.custom_gradient
    def f(x):
        def rule(g):
            raise KeyError("in the rule")

        return x * 1, rule

    x = pb.Variable(1.0)
    y = f(x)
    with pytest.raises(KeyError, match="in the rule"):
        pb.gradients(y, x)
    assert float(y) == 1.0


def test_rules_die_with_their_tensors():
    class Marker:
        pass

    marker = Marker()
    watch = weakref.ref(marker)

    @pb.custom_gradient
    def f(x, kept):
        return x * 2, lambda g: (g, kept)[0]

    x = pb.Variable(1.0)
    y = f(x, marker)
    g = pb.gradients(y, x)
    del marker, y, g
    gc.collect()
    assert watch() is None


def test_a_cycle_through_a_rule_is_collected():
    class Holder:
        pass

    def make():
        holder = Holder()

        @pb.custom_gradient
        def f(x):
            return x * 2, lambda g: (g, holder)[0]

        holder.y = f(pb.Variable(1.0))
        return weakref.ref(holder)

    watch = make()
    gc.collect()
    assert watch() is None


def test_arguments_that_do_not_fit():
    @pb.custom_gradient
    def mine(x, y=1.0):
        return x * y, lambda g: g

    for call, words in ((mine, "argument: 'x'"), (lambda: mine(1.0, z=2.0), "argument 'z'")):
        with pytest.raises(TypeError, match=rf"mine \(.*test_custom_errors.py:\d+\): .*{words}"):
            call()


def test_the_place_is_that_of_the_users_function():
    """Whatever decorates it."""
    from unittest.mock import Mock, call

    from pullback._autodiff.rules import place

    def mine(x):
        return x * x

    plain = place(mine)
    assert plain.startswith("test_the_place") and "test_custom_errors.py:" in plain
    for wrapped in (
        pb.grad(mine),
        pb.function(mine),
        pb.function(pb.grad(mine)),
        functools.partial(pb.value_and_grad(mine), has_aux=False),
        pb.custom_gradient(functools.partial(mine)),
    ):
        assert place(wrapped) == plain
    assert place(pb.sin) == place(pb.grad(pb.sin)) == "pb.sin"
    assert place(pb.linalg.solve) == "pb.linalg.solve"
    assert place(pb.ones(2).sum) == "pb.sum" and place(pb.stats.norm.pdf) == "Continuous.pdf"
    assert place(Mock()) == "Mock"
    assert place(call)  # every attribute of it is another of its kind


def test_the_place_of_equal_functions_of_two_files() -> None:
    from pullback._autodiff.rules import place

    functions = []
    for file in ("first.py", "second.py"):
        space: dict[str, Callable[..., object]] = {}
        exec(compile("def f(x):\n    return x\n", file, "exec"), space)
        functions.append(space["f"])
    assert functions[0].__code__ == functions[1].__code__
    assert [place(f) for f in functions] == ["f (first.py:1)", "f (second.py:1)"]


@pytest.mark.parametrize("kind", [list, dict])
def test_a_rule_may_empty_what_holds_the_xs(kind: type) -> None:
    """They live until the answer is there."""
    w = pb.Variable([3.0])
    entries = {"a": pb.Variable(np.ones(1000)), "w": w}
    xs = entries if kind is dict else list(entries.values())

    @pb.custom_gradient
    def f(x: pb.Tensor) -> tuple[pb.Tensor, Callable[[pb.Tensor], pb.Tensor]]:
        def rule(g: pb.Tensor) -> pb.Tensor:
            xs.clear()
            entries.clear()
            return g

        return x * 1.0, rule

    got = pb.gradients(f(w), xs, unconnected_gradients="zero")
    first, second = got.values() if kind is dict else got
    assert first.numpy().tolist() == [0.0] * 1000
    assert second.numpy().tolist() == [1.0]
