"""What the process holds, and other processes."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable

from pullback import _core


def live() -> tuple[int, int, int]:
    gc.collect()
    status = _core.status()
    return status["live_nodes"], status["live_buffers"], status["live_bytes"]


def over_many_steps(step: Callable[[int], None]) -> list[int]:
    """Takes 100 000 steps, in time that stays the same for each; what was held after every 10 000
    of them, in bytes."""
    times, memory = [], []
    begin = time.process_time()
    for k in range(100_001):
        step(k)
        if k % 10_000 == 0:
            now = time.process_time()
            times.append(now - begin)
            begin = now
            memory.append(live()[2])
    assert min(times[-3:]) < 2 * min(times[1:4]) + 0.1
    return memory


def run(code: str) -> str:
    """What a fresh interpreter prints; fails where it does not end well within a minute."""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
