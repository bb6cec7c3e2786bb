"""`explain` and `draw` for functions that are made of several operations: a finding about an
operation inside is one about the function, at the line of the program that called it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb

pytestmark = pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")


@pytest.fixture(params=[True, False], ids=["debugging", "without"])
def debugging(request: pytest.FixtureRequest) -> Iterator[bool]:
    pb.set_debug(request.param)
    yield request.param
    pb.set_debug(False)


def weights() -> pb.Variable:
    return pb.Variable(np.arange(1.0, 7.0, dtype="float32").reshape(2, 3), name="w")


OTHER = np.ones(3, "float32")
FLAT: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "relu6": ("dead_relu", lambda w: pb.nn.relu6(w - 10)),
    "hard_sigmoid": ("composite", lambda w: pb.nn.hard_sigmoid(w + 10)),
    "hard_tanh": ("clip_bound", lambda w: pb.nn.hard_tanh(w + 10)),
    "std": ("composite", lambda w: pb.std(0 * w, axis=0)),
    "gelu": ("zero_slope", lambda w: pb.nn.gelu(w - 40)),
    "layer_norm": ("cancels", pb.nn.layer_norm),
    "median": ("not_selected", lambda w: pb.median(pb.stack([w[0] + 100, OTHER, -OTHER]), axis=0)),
    "silu": ("vanishing", lambda w: pb.nn.silu(w - 80)),
}


@pytest.mark.parametrize("name", FLAT)
def test_a_finding_inside_is_the_composites(name: str, debugging: bool) -> None:
    reason, program = FLAT[name]
    w = weights()
    why = pb.explain(pb.sum(program(w)), w)
    [finding] = why.as_dict()["findings"][:1]
    assert (why.reason, finding["operation"]) == (reason, name), str(why)
    assert name in finding["what"] and not {"where", "sqrt", "stop_gradient"} & {
        step["operation"] for step in why.as_dict()["path"]
    }
    assert "stop_gradient" not in str(why) and "where selects" not in str(why)
    line = inspect.getsourcelines(FLAT["relu6"][1])[1] if name == "relu6" else finding["line"]
    assert finding["line"] == (line if debugging else None)
    if debugging and name != "layer_norm":
        assert finding["file"] == __file__


def test_operations_inside_are_one_step(debugging: bool) -> None:
    w = weights()
    found = pb.explain(pb.sum(pb.nn.mish(w - 80)), w).as_dict()["findings"]
    assert [finding["operation"] for finding in found] == ["mish"]
    assert "steps" not in found[0]["what"]


def test_values_that_are_not_finite(debugging: bool) -> None:
    w = weights()
    why = pb.explain(pb.sum(pb.corrcoef(w * 0)), w)
    assert why.reason == "bad_value" and "corrcoef returns NaN" in str(why)
    assert "divisor" not in str(why)


def test_the_librarys_stop_gradient_is_not_the_reason() -> None:
    pb.set_debug(True)
    try:
        w = weights()
        hidden = pb.stop_gradient(w * 2)
        line = inspect.currentframe().f_lineno - 1
        why = pb.explain(pb.sum(pb.nn.layer_norm(pb.std(hidden, axis=0))), w)
    finally:
        pb.set_debug(False)
    assert why.reason == "stop_gradient" and f":{line}" in why.place
    assert [step.name for step in why.path][:3] == ["sum", "layer_norm", "std"]


def test_a_function_that_a_composite_is_given_is_the_programs() -> None:
    pb.set_debug(True)
    try:
        w = weights()

        def flat(x: Any) -> Any:
            return pb.round(x)

        y = pb.piecewise(w, [w > 0], [flat])
        why = pb.explain(pb.sum(y), w)
    finally:
        pb.set_debug(False)
    assert why.reason == "steps" and "round is flat" in str(why) and "in flat" in why.place


def test_paths_and_drawings_show_composites(debugging: bool) -> None:
    w = weights()
    y = pb.sum(pb.std(pb.exp(w), axis=0))
    assert [step.name for step in pb.explain(y, w).path] == ["sum", "std", "exp", "read"]
    drawing = pb.draw(y, w)
    assert "Drawing of 4 operations" in repr(drawing) and ">std<" in drawing.svg
    # A composite that keeps sums separate divides like its operations.
    parts = pb.gradient_paths(pb.average(pb.ravel(w) + pb.ravel(w * w)), w)
    assert len(parts) == 2


def test_a_difference_of_equal_operands(debugging: bool) -> None:
    w = weights()
    why = pb.explain(pb.sum(w - w), w)
    assert why.reason == "cancels" and "subtract takes variable 'w'" in str(why)


def test_a_path_does_not_go_through_a_condition(debugging: bool) -> None:
    w = weights()
    taken = pb.where(w > 100, pb.exp(pb.sin(w)), 0.0)
    why = pb.explain(pb.sum(taken), w)
    assert why.reason == "masked"
    assert [step.name for step in why.path] == ["sum", "where", "exp", "sin", "read"]
