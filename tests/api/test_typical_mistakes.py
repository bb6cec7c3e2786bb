"""Typical mistakes of users: each raises the right exception, and its message names the function,
the argument, the expected and the received value, and the remedy. The cases are in
`typical_mistakes*.txt`, as calls and fragments of messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

# Words of the implementation that no message may contain.
PRIVATE = re.compile(
    r"incompatible function arguments|Invoked with|_core\b|\barg\d|object at 0x|__\w+__"
    r"|pullback\._|\bwho\b|NoneType' object"
)


def cases(name: str) -> list[tuple[str, str, list[str]]]:
    """Return (call, exception, fragments) for each case of a file."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found = []
    for call, expected in zip(lines[::2], lines[1::2], strict=True):
        assert not call.startswith(" ") and expected.startswith("    "), call
        kind, _, fragments = expected.strip().partition(": ")
        found.append((call, kind, fragments.split(" | ")))
    return found


def run(call: str) -> None:
    def f(x: Any) -> Any:
        return pb.sum(pb.square(x))

    x, w = pb.constant([1.0, 2.0, 3.0]), pb.Variable([1.0, 2.0, 3.0], name="w")
    with pb.GradientTape() as tape:
        y = f(w)
    names = {"pb": pb, "np": np, "x": x, "w": w, "m": pb.ones((2, 3)), "sq": pb.eye(2)}
    names |= {"f": f, "loss": f(w), "tape": tape, "y": y, "a": np.ones(3)}
    names["enter"] = lambda manager: manager.__enter__()
    exec(call, names)


def check(call: str, kind: str, fragments: list[str]) -> None:
    with pytest.raises(Exception) as caught:
        run(call)
    message = str(caught.value)
    classes = [cls.__name__ for cls in type(caught.value).__mro__]
    assert kind in classes, f"{type(caught.value).__name__}: {message}"
    assert not [text for text in fragments if text not in message], message
    assert not PRIVATE.search(message), message


MISTAKES = cases("typical_mistakes.txt")


@each("call, kind, fragments", MISTAKES, ids=[call for call, _, _ in MISTAKES])
def test_mistake(call: str, kind: str, fragments: list[str]) -> None:
    check(call, kind, fragments)


def test_there_are_enough() -> None:
    assert len(MISTAKES) >= 150
    assert len({call for call, _, _ in MISTAKES}) == len(MISTAKES)
