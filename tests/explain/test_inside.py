"""`explain` looks inside of loops and branches: the operation, its line, and which iteration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pullback as pb


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


def where_at(i: Any, at: int, then: Any, other: Any) -> Any:
    return pb.where(i == at, then, other)


def long_loop(trips: int, change: Callable[[Any, Any], Any], x: Any) -> Any:
    return pb.while_loop(lambda s: s[0] < trips, lambda s: (s[0] + 1, change(*s)), (0, x))[1]


@pytest.mark.parametrize("trips", [9, 2000, 10_000])
@pytest.mark.parametrize("at", [0, 4, 8])
def test_the_iteration_that_loses_a_gradient(trips: int, at: int) -> None:
    x = pb.Variable(2.0)
    at = at * (trips - 1) // 8

    def lose(i: Any, v: Any) -> Any:
        return where_at(i, at, v * 0.0, v * 1.0)

    why = pb.explain(long_loop(trips, lose, x), x)
    assert (why.status, why.reason) == ("zero", "times_zero"), why
    [inside] = why.as_dict()["findings"][0]["inside"]
    assert (inside["kind"], inside["iteration"], inside["of"]) == ("loop", at, trips)
    _, line = inspect.getsourcelines(lose)
    assert why.as_dict()["findings"][0]["line"] == line + 1
    assert f"iteration {at} (of 0 to {trips - 1}) of the loop at" in str(why)


@pytest.mark.parametrize("trips", [9, 3000])
def test_the_iteration_that_makes_a_nan(trips: int) -> None:
    x, at = pb.Variable(2.0), trips // 2
    y = long_loop(trips, lambda i, v: v + pb.log(pb.cast(at - i, pb.float32) * v) * 1e-9, x)
    why = pb.explain(y, x)
    first = why.as_dict()["findings"][0]
    assert (why.status, why.reason, first["operation"]) == ("nan", "bad_value", "log"), why
    assert first["inside"][0]["iteration"] == at


def test_an_entry_of_what_is_stacked() -> None:
    xs = pb.Variable([1.0, 2.0, 3.0])
    for reverse in (False, True):
        _, ys = pb.scan(
            lambda c, v: (c + 1, where_at(c, 1, pb.round(v), v * 0)), 0, xs, reverse=reverse
        )
        why = pb.explain(pb.sum(ys), xs)
        assert {f.reason for f in why.findings} == {"steps", "times_zero"}
        [steps] = [f.as_dict() for f in why.findings if f.reason == "steps"]
        assert steps["inside"][0]["iteration"] == 1


def test_loops_in_loops_and_in_branches_and_in_functions() -> None:
    x = pb.Variable(2.0)

    def inner(s: Any, _: Any) -> Any:
        return pb.relu(s - 1.0), None

    def outer(s: Any, _: Any) -> Any:
        return pb.cond(s > -9, lambda v: pb.scan(inner, v, length=4)[0] * 2, lambda v: v, s), None

    f = pb.function(lambda x: pb.scan(outer, x, length=3)[0])
    why = pb.explain(f(x), x)
    assert (why.status, why.reason) == ("zero", "dead_relu")
    inside = why.as_dict()["findings"][0]["inside"]
    assert [place["kind"] for place in inside] == ["loop", "branch", "loop"]
    assert [place.get("iteration", place.get("branch")) for place in inside] == [2, 0, 3]


def test_a_loop_that_draws_has_the_same_numbers_inside() -> None:
    x = pb.Variable(2.0)

    def noisy(s: Any, _: Any) -> Any:
        return pb.relu(s - pb.random.uniform(()) - 5), None

    y = pb.scan(noisy, x, length=5)[0]
    why = pb.explain(y, x)
    assert why.reason == "dead_relu"
    draw = lambda s, _: (s, pb.random.uniform(()))  # noqa: E731
    pb.random.seed(7)
    _, drawn = pb.scan(draw, x, length=6)
    from pullback._explain.ancestry import Question

    question = Question(pb.sum(drawn) + x, x)
    steps = [s for s in question.ancestry.steps.values() if s.operation]
    inner, _ = question.opened(steps)
    assert inner.y.numpy() == question.y.numpy()


def test_what_vanishes_over_many_iterations() -> None:
    x = pb.Variable(2.0)
    for trips in (60, 5000):
        rate = 1e-18 ** (1 / trips)
        why = pb.explain(pb.scan(lambda s, _: (s * rate, None), x, length=trips)[0], x)  # noqa: B023
        assert (why.status, why.reason) == ("tiny", "vanishing")
        assert why.as_dict()["findings"][0]["operation"] == "multiply"


def test_rules_of_the_program_inside() -> None:
    x = pb.Variable(2.0)

    @pb.custom_gradient
    def zeros(v: Any) -> Any:
        h = pb.exp(v)
        return h, lambda g: g * h * 0.0

    @pb.custom_gradient
    def none(v: Any) -> Any:
        return v * 1.0, lambda g: None

    for rule, reason in ((zeros, "rule_returned_zeros"), (none, "rule_returned_none")):
        y = pb.scan(lambda s, _: (rule(s * 0.1), None), x, length=3)[0]  # noqa: B023
        assert pb.explain(y, x).reason == reason


def test_what_did_not_run() -> None:
    x, w = pb.Variable(2.0), pb.Variable(3.0)
    why = pb.explain(pb.while_loop(lambda s: s < 0, lambda s: s * w, x), w)
    assert (why.status, why.reason) == ("zero", "no_iterations")
    why = pb.explain(pb.cond(x > 0, lambda v: v * 1, lambda v: v * w, x), w)
    assert (why.status, why.reason) == ("zero", "not_chosen")
    assert "number 0 of its functions" in str(why)
    why = pb.explain(pb.switch(5, [lambda v: v * w, lambda v: v], x), w)
    assert why.reason == "not_chosen" and "number 1 of its functions" in str(why)


def test_a_gradient_that_a_loop_carries_along() -> None:
    x, w = pb.Variable(2.0), pb.Variable(1.5)

    def trip(f: Callable[[Any], Any]) -> Any:
        y = pb.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, f(s[1])), (0, x))[1]
        return pb.gradients(y, x)[0]

    assert pb.explain(trip(lambda v: v * w + 1), x).reason == "unused"  # it is w**3
    why = pb.explain(trip(lambda v: pb.relu(v * v - 100)), x)
    assert why.status == "zero" and why.findings[0].step.inside


def test_under_a_tape() -> None:
    c = pb.constant([1.0, 2.0])
    with pb.GradientTape() as tape:
        tape.watch(c)
        flat = pb.sum(pb.scan(lambda s, _: (pb.floor(s), None), c, length=3)[0])
        cut = pb.sum(pb.scan(lambda s, _: (pb.stop_gradient(s * 1.0), None), c, length=3)[0])
        assert pb.explain(cut, c, tape=tape).reason == "stop_gradient"
    assert pb.explain(flat, c, tape=tape).reason == "steps"
    assert pb.explain(cut, c, tape=tape).reason == "stop_gradient"


def test_without_debugging_there_is_no_line() -> None:
    pb.set_debug(False)
    x = pb.Variable(2.0)
    why = pb.explain(pb.scan(lambda s, _: (pb.relu(s - 9), None), x, length=30)[0], x)
    assert why.reason == "dead_relu" and len(why.findings) == 1
    assert why.findings[0].where == "iteration 29 (of 0 to 29) of the loop"
