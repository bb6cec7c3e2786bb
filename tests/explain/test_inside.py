"""`explain` looks inside of loops and branches: the operation, its line, and which iteration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pullback as pb
from pullback import _core

# The programs of these tests read values while debugging is on, which is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


def where_at(i: Any, at: int, then: Any, other: Any) -> Any:
    return pb.where(i == at, then, other)


def long_loop(trips: int, change: Callable[[Any, Any], Any], x: Any) -> Any:
    return pb.while_loop(lambda s: s[0] < trips, lambda s: (s[0] + 1, change(*s)), (0, x))[1]


@pytest.mark.parametrize(
    ("trips", "at"), [(9, 0), (9, 4), (9, 8), (2000, 4), (10_000, 0), (10_000, 8)]
)
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
    from pullback._explain.query import Question

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


def test_a_body_of_many_operations() -> None:
    x = pb.Variable(2.0)

    def long(s: Any, _: Any) -> Any:
        for _i in range(1200):
            s = s * 1.0001
        return pb.relu(s - 1000.0), None

    why = pb.explain(pb.scan(long, x, length=3)[0], x)
    assert (why.reason, why.findings[0].step.inside[0].first) == ("dead_relu", 2)


def test_states_of_many_bytes_are_looked_into_in_parts() -> None:
    x = pb.Variable(pb.ones(40_000))

    def peak(ask: Callable[[Any], Any]) -> int:
        _core.trim_memory()
        _core.reset_peak_bytes()
        before = _core.status()["live_bytes"]
        ask(pb.sum(pb.scan(lambda s, _: (pb.relu(s * 0.9 - 0.01), None), x, length=500)[0]))
        return int(_core.status()["peak_bytes"]) - before

    own = peak(lambda y: pb.gradients(y, x)[0].numpy())
    assert peak(lambda y: pb.explain(y, x)) < 10 * own


def test_a_condition_is_not_to_blame() -> None:
    x = pb.Variable(2.0)

    def stop(v: Any) -> Any:
        return pb.stop_gradient(v) * 1.0

    assert pb.explain(pb.cond(x > 0, stop, lambda v: v * 0, x), x).reason == "stop_gradient"
    y = pb.switch(pb.cast(x, pb.int64), [stop] * 2, x)
    assert pb.explain(y, x).reason == "stop_gradient"
    y = pb.scan(lambda s, _: (pb.cond(s > 0, stop, stop, s), None), x, length=3)[0]
    assert pb.explain(y, x).reason == "stop_gradient"


def test_a_loop_of_a_negative_count() -> None:
    x, w = pb.Variable(2.0), pb.Variable(3.0)
    y = pb.fori_loop(0, pb.constant(-3), lambda i, s: s * w, x)
    assert pb.explain(y, w).reason == "no_iterations"


def test_the_factor_is_that_of_all_iterations() -> None:
    x = pb.Variable(2.0)
    for trips in (60, 5000):
        rate = 1e-18 ** (1 / trips)
        y = pb.scan(lambda s, _: (s * rate, None), x, length=trips)[0]  # noqa: B023
        [finding] = pb.explain(y, x).findings
        assert finding.figures["factor"] == pytest.approx(1e-18, rel=1e-2)


def test_many_loops_of_one_line_are_answered_by_one() -> None:
    x = pb.Variable(0.1)
    y = x
    for _ in range(8):
        y = pb.scan(lambda s, _: (s * 0.99, None), y, length=5000)[0]
    made = _core.status()["live_nodes"]
    assert pb.explain(y, x).reason in ("vanishing", "times_zero", "zero_slope")
    assert _core.status()["live_nodes"] - made < 50_000


def test_an_explanation_leaves_the_records_of_the_program() -> None:
    early = pb.stop_gradient(pb.Variable(1.0) * 2.0) * 3.0
    x = pb.Variable(2.0)
    y = pb.scan(lambda s, _: (pb.relu(s * 0.99 - 9), None), x, length=5000)[0]
    for _ in range(40):
        assert pb.explain(y, x).place
    assert _core.place_of(early)[1] == inspect.currentframe().f_lineno - 5  # type: ignore


def test_a_loop_that_is_replayed_is_in_no_iteration_of_the_reverse() -> None:
    x, w = pb.Variable(2.0), pb.Variable(0.5)

    def step(s: Any) -> Any:
        return s[0] + 1, where_at(s[0], 3, pb.floor(s[1] * w), s[1] * w)

    g = pb.gradients(pb.while_loop(lambda s: s[0] < 9, step, (0, x))[1], x)[0]
    for finding in pb.explain(g, w).findings:
        assert len(finding.step.inside) <= 1, finding.where


def test_another_way_around_a_stop_under_a_tape() -> None:
    c = pb.constant([1.0, 2.0])
    with pb.GradientTape() as tape:
        tape.watch(c)
        z = c * 2 + pb.stop_gradient(c)
        noise = pb.random.uniform((2,))
        y = pb.sum(pb.scan(lambda s, _: (pb.stop_gradient(s) + noise, None), z * 1.0, length=50)[0])
    why = pb.explain(y, c, tape=tape)
    assert why.reason == "stop_gradient" and why.findings[0].step.inside


def test_what_a_rule_takes_from_an_outer_body_is_not_misread() -> None:
    x, w = pb.Variable(2.0), pb.Variable(1.0)

    def outer(s: Any, _: Any) -> Any:
        k = s * 0.0

        @pb.custom_gradient
        def f(v: Any) -> Any:
            return v * 1.0, lambda g: g * k

        return pb.scan(lambda t, _: (f(t), None), s, length=3)[0] * w, None

    why = pb.explain(pb.scan(outer, x, length=3)[0], x)
    assert why.status == "zero" and why.reason != "rule_returned_none"


def test_the_message_of_an_optimizer_looks_inside() -> None:
    w = pb.Variable(2.0)
    with pytest.raises(ValueError, match=r"stop_gradient makes its argument .* iteration 2"):
        pb.optimizers.GradientDescent(0.1).minimize(
            lambda: pb.scan(lambda s, _: (pb.stop_gradient(s), None), w, length=3)[0], [w]
        )


def test_opened_questions_have_the_same_answers() -> None:
    from pullback._explain.query import Question

    x, w = pb.Variable(0.7), pb.Variable(1.1)
    loops = {
        "scan": pb.scan(lambda s, _: (pb.tanh(s * w), s * w), x, length=40)[1][7],
        "reversed": pb.scan(
            lambda s, v: (s * v + w, s), x, pb.linspace(0.0, 1.0, 300), reverse=True
        )[0],
        "while": pb.while_loop(lambda s: s < 900.0, lambda s: s * w + 1, x),
        "counted": pb.fori_loop(0, pb.constant(700), lambda i, s: pb.sin(s * w), x),
        "branch": pb.cond(x > 0, lambda v: v * w, lambda v: v, x),
    }
    loops |= {f"slope of {name}": pb.gradients(y, x)[0] for name, y in loops.items()}
    for name, y in loops.items():
        question = Question(y, w)
        expected = pb.gradients(y, w)[0]
        for _ in range(3):
            steps = {s.operation: s for s in question.ancestry.steps.values() if s.operation}
            if not steps:
                break
            question, _ran = question.opened(list(steps.values()))
            assert question.y.numpy() == pytest.approx(y.numpy(), rel=1e-6), name
            [g] = question.gradients([w])
            assert (g is None) == (expected is None), name
            if g is not None:
                assert g.numpy() == pytest.approx(expected.numpy(), rel=1e-6, abs=1e-38), name
