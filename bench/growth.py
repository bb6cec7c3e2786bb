"""Cost must grow as the work does: a chain of 10³, 10⁴ and 10⁵ operations.

`python -m bench.growth LENGTH REPETITIONS` builds the chain x ← 1.01·sin(x)+0.1 (three operations
a step, on 16 float32), asks for its gradient, evaluates both for the first time (which plans) and
again after building it anew (which must find the plan), and answers with the figures as JSON. Each
length has a process of its own, whose peak memory counts from before the chain. Figures are the
least of the repetitions.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

from .harness import PATIENCE, ROOT, Report, Setting
from .worker import peak_bytes

LENGTHS = (1_000, 10_000, 100_000)
# Times in ms, memory in MB; "replay" is one call of a function that was traced before.
FIGURES = ("build", "gradient", "first evaluation", "second evaluation", "replay", "memory")


def measure(length: int, repetitions: int) -> dict[str, Any]:
    import numpy as np

    import pullback as pb

    from .by_pullback import chain

    warnings.simplefilter("ignore", RuntimeWarning)  # yes, many nodes
    steps = length // 3
    x = pb.Variable(np.linspace(0, 1, 16, dtype=np.float32))
    samples: dict[str, list[float]] = {name: [] for name in FIGURES}
    before = peak_bytes()

    def timed(name: str, call: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = call()
        samples[name].append(1e3 * (time.perf_counter() - began))
        return result

    def once(evaluation: str) -> None:
        value = timed("build", lambda: chain([x], steps))
        gradient = timed("gradient", lambda: pb.gradients(value, x)[0])
        timed(evaluation, lambda: pb.evaluate(value, gradient))

    once("first evaluation")  # warms up what grows but once
    for values in samples.values():
        values.clear()
    planned_again = 0
    for _ in range(repetitions):
        pb._core.clear_plans()
        once("first evaluation")
        planned = pb._core.status()["plan_misses"]
        once("second evaluation")
        planned_again += pb._core.status()["plan_misses"] - planned
    samples["memory"].append((peak_bytes() - before) / 1e6)

    both = pb.function(pb.value_and_grad(lambda x: chain([x], steps)))
    start = x.numpy()
    pb.evaluate(both(start))
    for _ in range(repetitions):
        timed("replay", lambda: pb.evaluate(both(start)))
    figures = {name: min(values) for name, values in samples.items()}  # work, not disturbance
    return {"length": length, **figures, "planned again": planned_again}


def run(report: Report, setting: Setting) -> None:
    for length in LENGTHS[:1] if setting.smoke else LENGTHS:
        print(f"growth: a chain of {length} operations", file=sys.stderr, flush=True)
        done = subprocess.run(
            [sys.executable, "-m", "bench.growth", str(length), str(setting.repetitions)],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )
        if done.returncode:
            last = done.stderr.strip().splitlines()[-1:]
            report.failures.append(f"growth: {length}: {''.join(last)}")
            continue
        figures = json.loads(done.stdout)
        if figures["planned again"]:
            report.failures.append(f"growth: {length}: the same structure was planned again")
        report.growth.append(figures)


if __name__ == "__main__":
    print(json.dumps(measure(*map(int, sys.argv[1:]))))
