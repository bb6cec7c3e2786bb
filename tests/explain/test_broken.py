"""`explain` names the culprit of every broken program: the reason and the line."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

import pullback as pb
from explain.broken import PROGRAMS, Broken

# The programs of these tests read values while debugging is on, which is a warning.
pytestmark = pytest.mark.filterwarnings("ignore:.*leaves the graph:RuntimeWarning")


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


def culprit_line(program: Any) -> int | None:
    lines, first = inspect.getsourcelines(program)
    marked = [first + i for i, line in enumerate(lines) if line.rstrip().endswith("# culprit")]
    assert len(marked) < 2
    return marked[0] if marked else None


@pytest.mark.parametrize("broken", PROGRAMS, ids=lambda broken: broken.program.__name__)
def test_the_culprit_is_named(broken: Broken) -> None:
    y, x, *options = broken.program()
    why = pb.explain(y, x, **(options[0] if options else {}))
    assert (why.status, why.reason) == (broken.status, broken.reason), why
    line = culprit_line(broken.program)
    first = why.as_dict()["findings"][0]
    if line is not None:
        assert (first["line"], first["function"]) == (line, broken.program.__name__) or (
            first["line"] == line
        ), why
        assert first["file"] == inspect.getsourcefile(broken.program)
    assert first["advice"] and str(why).count("\n") < 40


def test_the_advice_for_a_length_has_a_finite_gradient() -> None:
    w = pb.Variable([0.0, 0.0])
    why = pb.explain(pb.sqrt(pb.sum(w * w)), w)
    assert "use pb.linalg.norm" in why.as_dict()["findings"][0]["advice"]
    (slope,) = pb.gradients(pb.linalg.norm(w), [w])
    assert slope.numpy().tolist() == [0, 0]


def test_there_are_enough() -> None:
    assert len(PROGRAMS) >= 40
    assert len({broken.reason for broken in PROGRAMS}) >= 20
