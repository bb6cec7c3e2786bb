"""Eight threads on shared variables, functions and tapes, for a moment; `tools/soak` goes on."""

from __future__ import annotations

from pathlib import Path

from support.process import run


def test_threads_that_share_everything() -> None:
    """In a process of its own: what goes wrong here may end it."""
    tests = str(Path(__file__).parents[1])
    code = (
        f"import sys; sys.path.insert(0, {tests!r}); from support.soak import soak; print(soak(4))"
    )
    assert int(run(code)) > 100
