"""The core's own entries for loops and branches say what does not fit, and run nothing of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.each import each

import pullback as pb
from pullback import _core


def body(*arguments: tuple[str, tuple[int, ...]], returns: int | None = None) -> Any:
    trace = _core.BodyTrace("a test", "identity")
    trace.open()
    given = [trace.argument(dtype, shape) for dtype, shape in arguments]
    return trace.close(given[:returns], False)


X = pb.constant(1.0)
XS = pb.ones((2, 3))
NOTHING: Any = None
ONE = ("float32", ())
INDEX = pb.constant(0)
TRUE = ("bool", ())

WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "no body": (lambda: _core.branch(INDEX, [NOTHING], []), TypeError, "a Body, got None"),
    "no bodies": (lambda: _core.branch(INDEX, [], []), ValueError, "at least one body"),
    "index": (
        lambda: _core.branch(X, [body(ONE)], [X]),
        TypeError,
        r"expected int64 \(\) for index 0",
    ),
    "operands": (
        lambda: _core.branch(INDEX, [body(ONE)], []),
        ValueError,
        "expected 1 tensors for the body, got 0",
    ),
    "an operand": (lambda: _core.branch(INDEX, [body(ONE)], [XS]), ValueError, "operand 0"),
    "results": (
        lambda: _core.branch(INDEX, [body(ONE), body(ONE, returns=0)], [X]),
        ValueError,
        "expected 1 results of each body, got 0",
    ),
    "carries": (
        lambda: _core.scan_loop(body(ONE), [X, X, X], [], 2, False),
        ValueError,
        "expected 1 tensors for the body, got 3",
    ),
    "roots": (
        lambda: _core.scan_loop(body(ONE, ONE, returns=1), [X, X], [], 2, False),
        ValueError,
        "expected 2 results .* got 1",
    ),
    "a carry": (
        lambda: _core.scan_loop(body(ONE), [XS], [], 2, False),
        ValueError,
        r"expected float32 \(\) for carry 0, got float32 \(2, 3\)",
    ),
    "its dtype": (
        lambda: _core.scan_loop(body(ONE), [INDEX], [], 2, False),
        TypeError,
        r"expected float32 \(\) for carry 0",
    ),
    "stacked": (
        lambda: _core.scan_loop(body(("float32", (3,))), [], [XS], 3, False),
        ValueError,
        r"expected float32 \(3, 3\) for stacked 0",
    ),
    "trips": (lambda: _core.scan_loop(body(ONE), [X], [], -1, False), ValueError, ">= 0 for"),
    "count": (
        lambda: _core.counted_loop(X, body(ONE), [X]),
        TypeError,
        r"expected int64 \(\) for count 0",
    ),
    "more than carries": (
        lambda: _core.counted_loop(INDEX, body(ONE, returns=0), [X]),
        ValueError,
        "expected 1 results .* got 0",
    ),
    "condition": (
        lambda: _core.while_loop(body(ONE), body(ONE), [X], 0),
        TypeError,
        r"expected bool \(\) for condition 0",
    ),
    "conditions": (
        lambda: _core.while_loop(body(TRUE, TRUE), body(TRUE, TRUE), [X > 0, X > 0], 0),
        ValueError,
        "expected one result of the condition, got 2",
    ),
    "memory": (
        lambda: _core.while_loop(body(TRUE), body(TRUE), [X > 0], -1),
        ValueError,
        ">= 0 for",
    ),
}


@each("what", WRONG)
def test_what_does_not_fit_is_said(what: str) -> None:
    call, error, says = WRONG[what]
    with pytest.raises(error, match=says):
        call()
