"""Tables of typical mistakes: calls, their exceptions, and fragments of the messages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

# Words of the implementation that no message may contain.
PRIVATE = re.compile(
    r"incompatible function arguments|Invoked with|_core\b|\barg\d|object at 0x|__\w+__"
    r"|pullback\._|\bwho\b|NoneType' object"
)


def read(path: Path) -> list[tuple[str, str, list[str]]]:
    """Return (call, exception, fragments) for each case of a file."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if line and not line.startswith("#")]
    found = []
    for call, expected in zip(lines[::2], lines[1::2], strict=True):
        assert not call.startswith(" ") and expected.startswith("    "), call
        kind, _, fragments = expected.strip().partition(": ")
        found.append((call, kind, fragments.split(" | ")))
    return found


def check(call: str, kind: str, fragments: list[str], names: dict[str, Any]) -> None:
    """Run a call and compare its exception with the case."""
    with pytest.raises(Exception) as caught:
        exec(call, names)
    message = str(caught.value)
    classes = [cls.__name__ for cls in type(caught.value).__mro__]
    assert kind in classes, f"{type(caught.value).__name__}: {message}"
    assert not [text for text in fragments if text not in message], message
    assert not PRIVATE.search(message), message
