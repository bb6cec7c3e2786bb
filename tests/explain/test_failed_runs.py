"""Errors of a run name the line of the program that made the operation, while debugging is on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pullback as pb


@pytest.fixture(autouse=True)
def debugging() -> Iterator[None]:
    pb.set_debug(True)
    yield
    pb.set_debug(False)


NEGATIVE = -np.eye(3)
MESSAGES = {
    "cholesky": "cholesky, made at {place}: the matrix is not positive definite",
    "take": "take, made at {place}: index 7 is out of range for an axis of size 4",
    "divide": "floor_divide, made at {place}: integer division by zero",
}


def _cholesky(a: Any) -> Any:
    return pb.sum(pb.linalg.cholesky(a))  # line of "cholesky"


def _take(a: Any) -> Any:
    return 2 * pb.take(pb.ones(4), a + 0)  # line of "take"


def _divide(a: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        return s // a  # line of "divide"

    return pb.fori_loop(0, 3, body, pb.constant(3))


PROGRAMS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "cholesky": (_cholesky, NEGATIVE),
    "take": (_take, np.array([7])),
    "divide": (_divide, np.array(0)),
}


def _place(name: str) -> str:
    lines, first = inspect.getsourcelines(PROGRAMS[name][0])
    at = next(i for i, line in enumerate(lines) if f'# line of "{name}"' in line)
    return f"{__file__}:{first + at}"


def _message(run: Callable[[Any], Any], given: Any) -> str:
    with pytest.raises((np.linalg.LinAlgError, IndexError, ZeroDivisionError)) as caught:
        np.asarray(run(pb.constant(given)))
    return str(caught.value)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_an_error_names_the_line(name: str, traced: bool) -> None:
    program, given = PROGRAMS[name]
    run = pb.function(program) if traced else program
    expected = MESSAGES[name].format(place=_place(name))
    assert _message(run, given) == expected
    assert _message(run, given) == expected  # from the cache of plans, or of traces


def test_equal_programs_on_other_lines_have_other_places() -> None:
    a = pb.constant(NEGATIVE)
    first = pb.linalg.cholesky(a)
    second = pb.linalg.cholesky(a)
    messages = []
    for made in (first, second):
        with pytest.raises(np.linalg.LinAlgError) as caught:
            made.numpy()
        messages.append(str(caught.value))
    lines = [int(message.split(": the matrix")[0].rsplit(":", 1)[1]) for message in messages]
    assert lines[1] == lines[0] + 1


def test_places_of_an_earlier_recording_are_not_used() -> None:
    run = pb.function(_cholesky)
    assert "made at" in _message(run, NEGATIVE)
    pb.set_debug(False)
    plain = "cholesky: the matrix is not positive definite"
    assert _message(run, NEGATIVE) == plain
    pb.set_debug(True)
    _ = pb.ones(2) + 1  # has the first number of the new recording
    assert _message(run, NEGATIVE) == plain
