"""What the process holds, and other processes."""

from __future__ import annotations

import gc
import subprocess
import sys

from pullback import _core


def live() -> tuple[int, int, int]:
    gc.collect()
    status = _core.status()
    return status["live_nodes"], status["live_buffers"], status["live_bytes"]


def run(code: str) -> str:
    """What a fresh interpreter prints; fails where it does not end well within a minute."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
