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
    "no bodies": (lambda: _core.branch(INDEX, [], []), ValueError, "no bodies"),
    "index": (lambda: _core.branch(X, [body(ONE)], [X]), TypeError, "index 0: expected int64"),
    "operands": (lambda: _core.branch(INDEX, [body(ONE)], []), ValueError, "takes 1 .* given 0"),
    "an operand": (lambda: _core.branch(INDEX, [body(ONE)], [XS]), ValueError, "operand 0"),
    "results": (
        lambda: _core.branch(INDEX, [body(ONE), body(ONE, returns=0)], [X]),
        ValueError,
        "different numbers",
    ),
    "carries": (
        lambda: _core.scan_loop(body(ONE), [X, X, X], [], 2, False),
        ValueError,
        "takes 1 .* given 3",
    ),
    "roots": (
        lambda: _core.scan_loop(body(ONE, ONE, returns=1), [X, X], [], 2, False),
        ValueError,
        "returns 1 .* for 2",
    ),
    "a carry": (
        lambda: _core.scan_loop(body(ONE), [XS], [], 2, False),
        ValueError,
        r"carry 0: expected float32 \(\), got float32 \(2, 3\)",
    ),
    "its dtype": (
        lambda: _core.scan_loop(body(ONE), [INDEX], [], 2, False),
        TypeError,
        "carry 0: expected float32",
    ),
    "stacked": (
        lambda: _core.scan_loop(body(("float32", (3,))), [], [XS], 3, False),
        ValueError,
        r"stacked 0: expected float32 \(3, 3\)",
    ),
    "trips": (lambda: _core.scan_loop(body(ONE), [X], [], -1, False), ValueError, "at least 0"),
    "count": (lambda: _core.counted_loop(X, body(ONE), [X]), TypeError, "count 0: expected int64"),
    "more than carries": (
        lambda: _core.counted_loop(INDEX, body(ONE, returns=0), [X]),
        ValueError,
        "returns 0 .* for 1",
    ),
    "condition": (
        lambda: _core.while_loop(body(ONE), body(ONE), [X], 0),
        TypeError,
        "condition 0: expected bool",
    ),
    "conditions": (
        lambda: _core.while_loop(body(TRUE, TRUE), body(TRUE, TRUE), [X > 0, X > 0], 0),
        ValueError,
        "expected one condition",
    ),
    "memory": (
        lambda: _core.while_loop(body(TRUE), body(TRUE), [X > 0], -1),
        ValueError,
        "at least 0",
    ),
}


@each("what", WRONG)
def test_what_does_not_fit_is_said(what: str) -> None:
    call, error, says = WRONG[what]
    with pytest.raises(error, match=says):
        call()
