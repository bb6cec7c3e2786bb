"""`explain` beside the catalogue: what it needs, what it answers with, and what it leaves alone."""

from __future__ import annotations

import html.parser
import inspect
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from support.each import each
from support.process import run

import pullback as pb
from explain.broken import PROGRAMS, weights
from pullback import _core

# The programs of these tests read values while debugging is on, which is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")


@pytest.fixture
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


def line_of(function: Any, text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    [found] = [first + i for i, line in enumerate(lines) if text in line and "line_of" not in line]
    return found


# --- without debugging


NEED_RECORDS = {"numpy", "assignment", "another_variable", "not_differentiable", "stop_gradient"}


@each("broken", PROGRAMS, ids=lambda broken: broken.program.__name__)
def test_without_records_it_names_operations(broken: Any) -> None:
    """The reason is the same where the history is still there; otherwise it says what to do."""
    y, x, *options = broken.program()
    why = pb.explain(y, x, **(options[0] if options else {}))
    assert why.status == broken.status
    if why.reason != broken.reason:
        assert broken.reason in NEED_RECORDS | {"integer", "not_watched", "rebound"}
        assert why.reason in ("not_kept", "unused", "not_watched", "made_after", "integer"), why
    assert why.place is None


def test_it_says_how_to_see_more() -> None:
    w = weights(1, 2)
    y = pb.sum(pb.constant((w * 2).numpy()))
    assert "set_debug(True)" in str(pb.explain(y, w))


def test_a_function_that_was_traced_before_has_its_lines() -> None:
    traces = []

    @pb.function
    def f(x: Any) -> Any:
        traces.append(1)
        return pb.sum(pb.round(x))  # jumps

    x = pb.Variable([1.5, 2.5])
    f(x)
    pb.set_debug(True)
    try:
        why = pb.explain(f(x), x)
    finally:
        pb.set_debug(False)
    assert why.reason == "steps" and len(traces) == 2
    assert (
        f":{line_of(test_a_function_that_was_traced_before_has_its_lines, '# jumps')} " in why.place
    )
    f(x)
    assert len(traces) == 2


def test_a_tape_that_was_asked_for_a_jacobian(debugging: None) -> None:
    x = pb.Variable([1.5, 2.5])
    with pb.GradientTape() as tape:
        y = pb.round(x)
    found = tape.jacobian(y, x)
    for subject in (tape, found):
        [why] = pb.explain(subject)
        assert (why.status, why.reason) == ("zero", "steps")


# --- what flows


def test_a_gradient_that_flows(debugging: None) -> None:
    w = weights(1, 2)
    why = pb.explain(pb.sum(pb.exp(w)), w)
    assert (why.status, why.reason, why.place) == ("flows", None, None)
    assert [step.name for step in why.path] == ["sum", "exp", "read"]
    assert why.figures["largest"] == pytest.approx(np.exp(2), rel=1e-6)
    assert "is finite and not zero" in str(why)


def test_y_itself() -> None:
    w = weights(1, 2).read()
    assert pb.explain(w, w).status == "flows"


def test_overrides_are_noted(debugging: None) -> None:
    w = weights(1.2, 2.7)
    with pb.gradient_override_map({"round": lambda op, g: g}):
        y = pb.sum(pb.round(w))
    why = pb.explain(y, w)
    assert why.status == "flows" and "round has the gradient rule" in why.notes[0]
    assert "round has the gradient rule" in str(why)


# --- where things happen


def test_lines_within_traced_functions(debugging: None) -> None:
    @pb.function
    def network(w: Any) -> Any:
        hidden = pb.relu(w - 100)  # off
        return pb.sum(hidden)

    w = weights(1, 2)
    for _ in range(3):
        why = pb.explain(network(w), w)
        found = why.as_dict()["findings"][0]
        assert (why.reason, found["line"]) == ("dead_relu", line_of(network.__wrapped__, "# off"))


def test_lines_of_callers_of_the_library_only(debugging: None) -> None:
    w = weights(3, 4)

    def loss() -> Any:
        normal = pb.clip_by_norm(pb.round(w), 1.0)  # here
        return pb.sum(normal)

    found = pb.explain(loss(), w).as_dict()["findings"][0]
    assert found["line"] == line_of(loss, "# here")


def test_what_has_died_is_still_known(debugging: None) -> None:
    w = weights(1, 2)
    best = pb.cast(pb.argmax(w * 2), "float32")
    for _ in range(50):
        best = best + 1
        best.numpy()
    why = pb.explain(best, w)
    assert why.reason == "not_differentiable"
    assert why.as_dict()["findings"][0]["operation"] == "argmax"
    assert len(str(why).splitlines()) < 40


def test_records_do_not_grow(debugging: None) -> None:
    """The ring has a size; what is older is not known any more."""
    w = weights(1, 2)
    hidden = pb.cast(pb.argmax(w), "float32")
    hidden.numpy()
    for _ in range(300_000):
        pb.add(w, 1)
    why = pb.explain(hidden * 2, w)
    assert why.status == "none" and why.reason in ("unused", "not_kept", "not_tracked")


def test_a_look_of_something_else_is_no_culprit(debugging: None) -> None:
    w, other = weights(1, 2), weights(3, name="other")
    print(float(pb.sum(other)))
    assert pb.explain(pb.sum(other * 2), w).reason == "unused"


# --- what it is asked


def test_nests_answer_in_order() -> None:
    a, b = weights(1, 2, name="a"), weights(3, name="b")
    found = pb.explain(pb.sum(pb.relu(a - 9)), {"a": a, "b": b})
    assert [why.status for why in found] == ["zero", "none"]
    assert "dead" not in repr(found) and "relu is off" in repr(found)


def test_the_last_question(debugging: None) -> None:
    a, b = weights(1, 2, name="a"), weights(3, name="b")
    y = pb.sum(a * a)
    answer = pb.gradients(y, [a, b])
    assert [why.status for why in pb.explain(answer)] == ["flows", "none"]
    with pb.GradientTape() as tape:
        z = pb.sum(a) * pb.stop_gradient(pb.sum(b))
    slopes = tape.gradient(z, {"a": a, "b": b})
    for subject in (tape, slopes):
        assert [why.reason for why in pb.explain(subject)] == [None, "stop_gradient"]
    with pytest.raises(
        ValueError, match="explain: expected y and x, or the source of the last gradient"
    ):
        pb.explain(answer)
    optimizer = pb.optimizers.Adam(0.1)
    optimizer.minimize(lambda: pb.sum(pb.square(a)), [a, b])
    assert [why.status for why in pb.explain(optimizer)] == ["flows", "none"]


def test_stop_gradients_and_overrides_of_the_last_question(debugging: None) -> None:
    a = weights(1, 2, name="a")
    hidden = pb.exp(a)
    answer = pb.gradients(pb.sum(hidden), a, stop_gradients=hidden)
    assert pb.explain(answer)[0].reason == "stop_gradients"
    answer = pb.gradients(pb.sum(hidden), [a], overrides={"exp": lambda op, g: None})
    assert pb.explain(answer)[0].reason == "rule_returned_none"


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda w: pb.explain(3.0, w), TypeError, "explain: expected a Tensor for y, got 3.0"),
        (
            lambda w: pb.explain(w * 2, 3.0),
            TypeError,
            "explain: expected a Tensor or a Variable for x, got 3.0",
        ),
        (lambda w: pb.explain(w * 2), ValueError, r"set_debug\(True\)"),
        (lambda w: pb.explain(w * 2, w, overrides={"expp": abs}), LookupError, "'exp'"),
    ],
)
def test_errors(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(weights(1, 2))


def test_a_rule_that_raises() -> None:
    w = weights(1, 2)

    def rule(op: Any, g: Any) -> Any:
        raise ArithmeticError("no")

    with pb.gradient_override_map({"exp": rule}):
        y = pb.sum(pb.exp(w))
    why = pb.explain(y, w)
    assert (why.status, why.reason) == ("error", "error") and "ArithmeticError: no" in str(why)


def test_an_integer_division_by_zero_beside_the_path() -> None:
    w = weights(1, 2)
    n = pb.constant([1, 2]) // pb.constant([0, 1])
    why = pb.explain(pb.sum(pb.where(n > 0, w, 0.0)), w)
    assert why.status in ("flows", "error")


# --- forms


@pytest.mark.parametrize("broken", PROGRAMS[::5], ids=lambda broken: broken.program.__name__)
def test_dict_and_page(broken: Any, debugging: None) -> None:
    y, x, *options = broken.program()
    why = pb.explain(y, x, **(options[0] if options else {}))
    plain = json.loads(json.dumps(why.as_dict()))
    assert plain["status"] == broken.status and plain["findings"][0]["reason"] == broken.reason

    class Checker(html.parser.HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.open: list[str] = []
            self.all: set[str] = set()

        def handle_starttag(self, tag: str, attrs: Any) -> None:
            self.all.add(tag)
            if tag not in ("meta", "br"):
                self.open.append(tag)

        def handle_startendtag(self, tag: str, attrs: Any) -> None:
            self.all.add(tag)

        def handle_endtag(self, tag: str) -> None:
            assert self.open.pop() == tag

    checker = Checker()
    checker.feed(why.as_html())
    assert not checker.open and (not why.path or "svg" in checker.all)
    assert why._repr_html_() in why.as_html() and "http" not in why.as_html().replace(
        "http://www.w3.org/2000/svg", ""
    )


# --- what it leaves alone


def test_programs_compute_the_same(debugging: None) -> None:
    w = weights(1, 2)
    y = pb.sum(pb.tanh(w * 3))
    expected = pb.gradients(y, w)[0].numpy()
    pb.explain(y, w)
    np.testing.assert_array_equal(pb.gradients(y, w)[0].numpy(), expected)
    before = _core.status()["live_nodes"]
    for _ in range(5):
        pb.explain(y, w)
    assert _core.status()["live_nodes"] <= before + 5


def test_the_environment_starts_it() -> None:
    script = """
import pullback as pb
w = pb.Variable([1.0, 2.0])
hidden = pb.stop_gradient(w)
print(pb.explain(pb.sum(hidden), w).place)
"""
    out = run(script, PULLBACK_DEBUG="1")
    assert ":4" in out


def test_what_a_loop_does_is_said_once(debugging: None) -> None:
    w = weights(1, 2)
    y = w * 0
    for i in range(50):
        y = y + pb.relu(w - 10 - i)  # off
    [finding] = pb.explain(pb.sum(y), w).findings[1:] or pb.explain(pb.sum(y), w).findings
    assert finding.reason in ("dead_relu", "times_zero")


def test_what_is_stopped_beside_what_is_dead_is_said_too(debugging: None) -> None:
    w = weights(1, 2)
    y = pb.sum(pb.stop_gradient(w)) + pb.sum(pb.relu(w - 10))
    why = pb.explain(y, w)
    assert why.status == "zero"
    assert {finding.reason for finding in why.findings} == {"stop_gradient", "dead_relu"}


def test_large_graphs(debugging: None) -> None:
    """No more than a few seconds and pages, whatever the length."""
    w = weights(1, 2)
    y = w
    for _ in range(1500):
        y = pb.mean(pb.tanh(y) / 1.001) + w * 1e-3
    why = pb.explain(pb.sum(y), w)
    assert why.status in ("flows", "tiny")
    assert len(str(why).splitlines()) < 60 and len(why.as_html()) < 100_000


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_stored_floats_flow(dtype: str) -> None:
    v = pb.Variable([1.0, 2.0], dtype=dtype)
    assert "finite and not zero" in str(pb.explain(pb.sum(v * v), v))


# --- functions that are made of several operations

COMPOSITES = {
    "std": lambda h: pb.std(h, axis=0),
    "layer_norm": pb.nn.layer_norm,
    "norm": lambda h: pb.linalg.norm(h, ord=3, axis=0),
    "quantile": lambda h: pb.quantile(h, 0.3),
    "relu6": pb.nn.relu6,
    "cumulative_logsumexp": lambda h: pb.cumulative_logsumexp(h, axis=1),
}


@each("name", COMPOSITES)
def test_the_stop_of_the_program_and_not_that_of_a_composite(name: str, debugging: None) -> None:
    x = pb.Variable(np.arange(6.0).reshape(2, 3) / 3 + 1)
    hidden = pb.stop_gradient(x * 2)  # the culprit
    why = pb.explain(pb.sum(COMPOSITES[name](hidden)), x)
    assert why.reason == "stop_gradient" and len(why.findings) == 1
    here = line_of(test_the_stop_of_the_program_and_not_that_of_a_composite, "# the culprit")
    assert f":{here}" in why.place


def test_a_composite_that_is_constant_is_named(debugging: None) -> None:
    x = pb.Variable(np.ones(3))
    why = pb.explain(pb.std(x), x)
    assert (why.status, why.reason) == ("zero", "composite")
    assert why.findings[0].what.startswith("std, a function of several operations")
    why = pb.explain(pb.sum(pb.where(x > 5, x, 0.0)), x)  # the program's own
    assert why.reason == "masked"


def test_of_two_operands_of_zeros_the_slope_is_named(debugging: None) -> None:
    w = weights(1, 2)
    factor = pb.Variable([0.0, 0.0], name="factor")
    y = pb.sum((w - pb.constant([1.0, 2.0])) * factor)
    why = pb.explain(y, w)
    assert why.reason == "times_zero", why
    assert re.search(r"operand of zeros, [^,]*factor", str(why)), why
