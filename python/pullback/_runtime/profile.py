"""`profile`: the time of a computation, step by step.

A step is the unit that the runtime runs at once: a group of elementwise operations and reductions,
a matrix product, a copy. A step may contain many operations of the program; it is named after the
most prominent one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .evaluation import evaluate

__all__ = ["Profile", "ProfileStep", "profile"]

_WARM_UP = 2  # the first call makes the plan; a pending update can first occur in the second
_CALLS = 7  # odd, so that the median is one of the measurements


class ProfileStep(NamedTuple):
    """One step of a plan.

    Attributes
    ----------
    kind : str
        Kind of the step: "tiles" (elementwise operations and reductions), "gemm" (a matrix
        product), "convolution", "pool", "layout" (a copy), "gather", "scatter_add", "argmax",
        "random", "iota", "scan", "sort", "search", "library" (linear algebra, a Fourier transform
        or attention) or "callback". A step in the body of a loop counts once for all iterations.
    source : str
        The most prominent operation of the program in the step, or the function of several
        operations, such as `std`, that contains it.
    seconds : float
        Median of its time.
    bytes : int
        Bytes that it must read and write at least once.
    operations : int
        Number of arithmetic operations: 2mnk for a matrix product, one for each element of an
        elementwise operation.
    share : float
        Part of the time of the whole call.

    Examples
    --------
    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> (step,) = pb.profile(pb.matmul, x, x).steps
    >>> step.source, step.operations, step.bytes
    ('matmul', 16, 32)
    """

    kind: str
    source: str
    seconds: float
    bytes: int
    operations: int
    share: float

    @property
    def gb_per_second(self) -> float:
        """Return the throughput of memory in 10**9 bytes per second."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gflop_per_second(self) -> float:
        """Return the arithmetic throughput in 10**9 operations per second."""
        return self.operations / self.seconds / 1e9 if self.seconds else 0.0


class Profile(NamedTuple):
    """Result of `profile`. Its string is a table with the slowest step first.

    Attributes
    ----------
    steps : tuple of ProfileStep
        The steps in the order in which they ran.
    total : float
        Seconds of a whole call, including Python code, building and finding the plan.

    Examples
    --------
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
        # The medians may come from different runs, so their sum may exceed the total.
        outside = max(0.0, self.total - sum(s.seconds for s in self.steps))
        share = outside / self.total if self.total else 0.0
        lines.append(f"{'':>4} {'outside of the steps':<34} {1e6 * outside:>10.1f} {share:>6.1%}")
        lines.append(f"{'':>4} {'a call':<34} {1e6 * self.total:>10.1f}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def profile(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profile:
    """Measure the time of each step of a computation.

    `f` is called twice to warm up and seven times for the measurement; the times are medians. A
    function that trains a model trains it nine times.

    Parameters
    ----------
    f : callable
        Function that returns a tensor or a pytree of tensors, which are evaluated. It may be plain
        code, which is built anew in each call as in a loop, or a `function`.
    *args, **kwargs
        Arguments of `f`.

    Returns
    -------
    Profile
        The steps with their times, and the time of a whole call.

    Raises
    ------
    TypeError
        If `f` is not callable.
    ValueError
        If `f` did not run the same steps in each call. Exceptions of `f` are raised as well.

    Examples
    --------
    >>> w = pb.Variable(pb.ones((64, 32), "float64"))
    >>> def loss():
    ...     return pb.sum(pb.tanh(pb.ones((8, 64), "float64") @ w))
    >>> report = pb.profile(lambda: pb.gradients(loss(), w))
    >>> sorted({step.kind for step in report.steps}), report.total > 0
    (['gemm', 'tiles'], True)
    """
    if not callable(f):
        raise TypeError(f"profile: expected a function for f, got {_core.shown(f)}")

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
            "profile: expected a function that runs the same steps in each call; use arguments of "
            "one shape, for example"
        )
    total = _median(totals)
    steps: list[ProfileStep] = []
    for kind, source, moved, operations, _ in runs[0]:
        seconds = _median([run[len(steps)][4] for run in runs])
        share = seconds / total if total else 0.0
        steps.append(ProfileStep(kind, source, seconds, moved, operations, share))
    return Profile(tuple(steps), total)


def _median(samples: list[float]) -> float:
    """Return the median without `statistics`, which is slow to import."""
    return sorted(samples)[len(samples) // 2]
