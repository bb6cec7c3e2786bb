"""What the process holds, and other processes."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Callable

from pullback import _core


def live() -> tuple[int, int, int]:
    gc.collect()
    status = _core.status()
    return status["live_nodes"], status["live_buffers"], status["live_bytes"]


def _pace() -> float:
    """Seconds that the machine takes at this moment for what always costs the same."""
    best = float("inf")
    for _ in range(5):
        begin = time.process_time()
        sum(i * i for i in range(20_000))
        best = min(best, time.process_time() - begin)
    return best


def over_many_steps(step: Callable[[int], None]) -> list[int]:
    """Takes 100 000 steps, in time that stays the same for each, as far as the machine's own does;
    what was held after every 10 000 of them, in bytes."""
    paces, times, memory = [], [], []
    begin = time.process_time()
    for k in range(100_001):
        step(k)
        if k % 10_000 == 0:
            spent = time.process_time() - begin
            paces.append(_pace())
            times.append(spent / paces[-1])
            memory.append(live()[2])
            begin = time.process_time()
    assert min(times[-3:]) < 2 * min(times[1:4]) + 0.1 / min(paces)
    return memory


def run(code: str, **environment: str) -> str:
    """What a fresh interpreter prints, with these variables in its environment; fails where it does
    not end well within a minute."""
    command, env = [sys.executable, "-c", code], os.environ | environment
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout
