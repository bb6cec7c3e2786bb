"""What a call needs beside what there is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pullback import _core


def bytes_beside(call: Callable[[], Any], times: int = 10) -> int:
    """The most memory that a call takes beside what was held before it, of the call that takes
    least: plans are made once, and now and then a buffer of another program goes."""
    least = None
    for _ in range(times):
        _core.reset_peak_bytes()
        before = _core.status()["live_bytes"]
        call()
        beside = _core.status()["peak_bytes"] - before
        least = beside if least is None else min(least, beside)
    assert least is not None
    return int(least)
