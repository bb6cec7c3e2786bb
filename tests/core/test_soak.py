"""Eight threads on shared variables, functions and tapes, for a moment; `tools/soak` goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.process import run


@pytest.mark.parametrize("seconds", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_threads_that_share_everything(seconds: int) -> None:
    """In a process of its own: what goes wrong here may end it."""
    tests = str(Path(__file__).parents[1])
    code = f"import sys; sys.path.insert(0, {tests!r}); from support.soak import soak"
    assert int(run(f"{code}; print(soak({seconds}))")) > 25 * seconds
