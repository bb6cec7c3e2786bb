"""profile: where the time of a computation goes, step by step.

A step is what the runtime runs at once: a group of elementwise operations and reductions, a matrix
product, a copy. Many operations of a program are one step, and a step is named after the one of
them that a reader would recognise.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .evaluation import evaluate

_WARM_UP = 2  # the first call plans; the second may be the first with a pending update
_CALLS = 7  # odd, so that a median is one of them


class ProfileStep(NamedTuple):
    """One step of a plan. `bytes` are those it must read and write at least once, `operations` what
    it computes: 2mnk for a product, one for each operation on an element.

    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> (step,) = pb.profile(pb.matmul, x, x).steps
    >>> step.source, step.operations, step.bytes
    ('matmul', 16, 32)
    """

    # tiles, gemm, layout, gather, scatter_add, argmax, random, iota, scan, sort, search, host; a
    # step of a loop's body once for all iterations
    kind: str
    source: str
    seconds: float
    bytes: int
    operations: int
    share: float  # of the whole call

    @property
    def gb_per_second(self) -> float:
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gflop_per_second(self) -> float:
        return self.operations / self.seconds / 1e9 if self.seconds else 0.0


class Profile(NamedTuple):
    """What `profile` found: `steps` in the order in which they ran, and `total`, the seconds of a
    whole call, with Python, building and looking up the plan. Printed, it is a table with the
    slowest step first.

    >>> print(pb.profile(pb.exp, pb.ones(100)))
    step kind        source ... share        MB    GB/s  GFLOP/s
       0 tiles       exp ...
         outside of the steps ...
         a call ...
    """

    steps: tuple[ProfileStep, ...]
    total: float

    def __str__(self) -> str:
        lines = [f"{'step':>4} {'kind':<11} {'source':<22} {'µs':>10} {'share':>6} "
                 f"{'MB':>9} {'GB/s':>7} {'GFLOP/s':>8}"]  # fmt: skip
        order = sorted(range(len(self.steps)), key=lambda i: -self.steps[i].seconds)
        for i in order:
            s = self.steps[i]
            lines.append(
                f"{i:>4} {s.kind:<11} {s.source:<22} {1e6 * s.seconds:>10.1f} {s.share:>6.1%} "
                f"{s.bytes / 1e6:>9.3f} {s.gb_per_second:>7.1f} {s.gflop_per_second:>8.1f}"
            )
        # Of medians, each of which may come from another run.
        outside = max(0.0, self.total - sum(s.seconds for s in self.steps))
        share = outside / self.total if self.total else 0.0
        lines.append(f"{'':>4} {'outside of the steps':<34} {1e6 * outside:>10.1f} {share:>6.1%}")
        lines.append(f"{'':>4} {'a call':<34} {1e6 * self.total:>10.1f}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def profile(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profile:
    """Calls f several times, evaluates the tensors it returns, and says how long every step took.

    f is any callable that returns a tensor or a nest of them: plain code, which is built anew in
    each call as in a loop, or a `function`. It is called twice to warm up and seven times for the
    figures, which are medians; if it trains, it trains that often.

    Raises ValueError if f did not run the same steps in each call, and what f raises.

    >>> w = pb.Variable(pb.ones((64, 32), "float64"))
    >>> def loss():
    ...     return pb.sum(pb.tanh(pb.ones((8, 64), "float64") @ w))
    >>> report = pb.profile(lambda: pb.gradients(loss(), w))
    >>> sorted({step.kind for step in report.steps}), report.total > 0
    (['gemm', 'tiles'], True)
    """

    if not callable(f):
        raise TypeError(f"profile: expected a function, got {_core.shown(f)}")

    def call() -> None:
        evaluate(f(*args, **kwargs))

    for _ in range(_WARM_UP):
        call()
    runs: list[list[tuple[str, str, int, int, float]]] = []
    totals = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        runs.append(_core.recorded_steps(call))
        totals.append(time.perf_counter() - began)
    if any([step[:4] for step in run] != [step[:4] for step in runs[0]] for run in runs):
        raise ValueError(
            "profile: the function did not run the same steps in each call; profile one that does, "
            "for example on arguments of one shape"
        )
    total = _median(totals)
    steps: list[ProfileStep] = []
    for kind, source, moved, operations, _ in runs[0]:
        seconds = _median([run[len(steps)][4] for run in runs])
        share = seconds / total if total else 0.0
        steps.append(ProfileStep(kind, source, seconds, moved, operations, share))
    return Profile(tuple(steps), total)


def _median(samples: list[float]) -> float:
    """Without `statistics`, whose import costs more than a small package."""
    return sorted(samples)[len(samples) // 2]
