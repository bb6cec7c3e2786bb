"""`profile`: the time of a computation, step by step.

A step is the unit that the runtime runs at once: a group of elementwise operations and reductions,
a matrix product, a copy. A step may contain many operations of the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _core
from .._base.locations import location
from .._typing import RecordedStep
from .evaluation import evaluate
from .machine_rates import memory_seconds, product_seconds

if TYPE_CHECKING:
    from .._explain.draw import Drawing

__all__ = ["Profile", "ProfileStep", "profile"]

_WARM_UP = 2  # the first call makes the plan; a pending update can first occur in the second
_CALLS = 7  # odd, so that the median is one of the measurements
_PRODUCTS = ("gemm", "convolution")
_SHORT = 2e-6  # seconds: the overhead of a step is a considerable part of it
_MANY = 20  # short steps that are worth a sentence
_SHOWN = 3  # operations and lines of a step in a table


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
        The operation of the program that errors of the step name, or the function of several
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
    elements : int
        Number of elements that it visits.
    runs : int
        How often it runs in a call: once, or once in each iteration of a loop. All numbers above
        are sums over its runs.
    dtype : str
        Dtype of its results.
    names : tuple of str
        All its operations by the names of functions of the program, the most expensive ones first.
        Operations of a gradient have the names of the formulas that they compute.
    lines : tuple of str
        Lines of the program that made them, such as "train.py:12". Operations of a gradient were
        made where it was requested.

    Examples
    --------
    >>> x = pb.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> (step,) = pb.profile(lambda x: pb.tanh(x @ x), x).steps
    >>> step.kind, step.names, step.operations, step.bytes
    ('gemm', ('matmul', 'tanh'), 20, 48)
    """

    kind: str
    source: str
    seconds: float
    bytes: int
    operations: int
    share: float
    elements: int
    runs: int
    dtype: str
    names: tuple[str, ...]
    lines: tuple[str, ...]

    @property
    def gb_per_second(self) -> float:
        """Return the throughput of memory in 10**9 bytes per second."""
        return self.bytes / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def gflop_per_second(self) -> float:
        """Return the arithmetic throughput in 10**9 operations per second."""
        return self.operations / self.seconds / 1e9 if self.seconds else 0.0

    @property
    def ns_per_element(self) -> float:
        """Return the time of an element in nanoseconds."""
        return 1e9 * self.seconds / self.elements if self.elements else 0.0

    @property
    def memory_share(self) -> float:
        """Return the part of its time that moving its bytes takes at this machine's best rate."""
        return memory_seconds(self.bytes) / self.seconds if self.seconds else 0.0

    @property
    def product_share(self) -> float:
        """Return the part of its time that a large product with as many operations takes.

        It is 0 for steps that are neither a matrix product nor a convolution.
        """
        if not self.seconds or self.kind not in _PRODUCTS:
            return 0.0
        return product_seconds(self.operations, self.dtype) / self.seconds

    @property
    def limit(self) -> str:
        """Return what limits it: "short", "memory", "compute", or "" if neither is near.

        A step whose run takes less than 2 µs is "short": its overhead counts. One is limited by
        memory if moving its bytes alone takes half of its time, and otherwise by computing if it
        is a group of elementwise operations, or a product at half the rate of a large one.
        """
        if self.seconds < _SHORT * self.runs:
            return "short"
        if self.memory_share >= 0.5:
            return "memory"
        if self.kind == "tiles" or self.product_share >= 0.5:
            return "compute"
        return ""

    def _verdict(self) -> str:
        """Return what limits the step, for `Profile.advice`."""
        if self.limit == "short":
            often = f" and runs {self.runs:,} times" if self.runs > 1 else ""
            return f"it is short, {1e6 * self.seconds / self.runs:.2g} µs{often}"
        if self.limit == "memory":
            return f"limited by memory, {self.gb_per_second:.3g} GB/s"
        if self.kind in _PRODUCTS:
            share = self.product_share  # rates vary: a step may be faster than the measured best
            near = f"{share:.0%} of" if share <= 1 else "at"
            near += " the rate of a large product"
            return f"{self.gflop_per_second:.3g} GFLOP/s, {near}"
        rate = f"{_rounded(self.ns_per_element)} ns an element"
        if self.memory_share > 1e-4:  # otherwise it reads next to nothing
            rate += f", {_rounded(1 / self.memory_share)} times what moving its bytes takes"
        return f"limited by computing, {rate}" if self.limit else rate


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
    step  kind   operations ... share     MB  GB/s  GFLOP/s  ns/element  limit  lines
       0  tiles  exp ...
                 outside of the steps ...
                 a call ...
    """

    steps: tuple[ProfileStep, ...]
    total: float

    @property
    def outside(self) -> float:
        """Return the seconds of a call outside of its steps."""
        # The medians may come from different runs, so their sum may exceed the total.
        return max(0.0, self.total - sum(step.seconds for step in self.steps))

    @property
    def advice(self) -> tuple[str, ...]:
        """Return what takes the time, in sentences, the largest part first.

        Rates are compared with what this machine reaches at best, which is measured once for each
        number of threads and takes about a tenth of a second.

        Examples
        --------
        >>> for sentence in pb.Profile((), 1.0).advice:
        ...     print(sentence)
        100% of a call passes outside of the steps, ...
        """
        found: list[tuple[float, str]] = []
        outside = self.outside / self.total if self.total else 0.0
        if outside >= 0.3:
            found.append((outside, _OUTSIDE.format(outside)))
        short = [step for step in self.steps if step.limit == "short" and step.runs == 1]
        share = sum(step.share for step in short)
        if len(short) >= _MANY and share >= 0.1:
            found.append((share, _SHORT_STEPS.format(share, len(short))))
        for i, step in enumerate(self.steps):
            if step.share >= 0.1:
                at = f" at {_listed(step.lines)}" if step.lines else ""
                what = f"step {i} ({step.kind}: {_listed(step.names)}{at})"
                verdict = step._verdict()
                found.append((step.share, f"{step.share:.0%} of a call is {what}: {verdict}."))
        return tuple(sentence for _, sentence in sorted(found, key=lambda one: -one[0]))

    def flame_graph(self) -> Drawing:
        """Return a picture of the call, the lines of the program and their steps.

        The width of a bar is its time. The steps of a line are side by side, so the bars are not
        in the order of time.

        Returns
        -------
        Drawing
            The picture; notebooks show it, and `save` writes it as SVG.

        Examples
        --------
        >>> pb.profile(pb.exp, pb.ones(100)).flame_graph()
        <Drawing of a profile of 1 steps; save('graph.svg') writes it>
        """
        from .profile_views import flame_graph

        return flame_graph(self)

    def save_trace(self, path: Any) -> None:
        """Write the steps as JSON for chrome://tracing and https://ui.perfetto.dev.

        The steps follow each other from the start of the call; the time outside of them is at its
        end.

        Parameters
        ----------
        path : str or Path
            File to write.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     pb.profile(pb.exp, pb.ones(100)).save_trace(f"{folder}/trace.json")
        """
        from json import dump

        from .profile_views import chrome_trace

        with open(path, "w", encoding="utf-8") as file:
            dump(chrome_trace(self), file)

    def _rows(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Return the names of the columns and the cells of the table, the slowest step first."""
        rows: list[tuple[str, ...]] = []
        order = sorted(range(len(self.steps)), key=lambda i: -self.steps[i].seconds)
        for i in order:
            s = self.steps[i]
            rows.append(
                (f"{i}", s.kind, _listed(s.names), f"{1e6 * s.seconds:.1f}", f"{s.share:.1%}",
                 f"{s.bytes / 1e6:.3f}", f"{s.gb_per_second:.1f}", f"{s.gflop_per_second:.1f}",
                 f"{s.ns_per_element:.2f}", s.limit, _listed(s.lines))
            )  # fmt: skip
        share = self.outside / self.total if self.total else 0.0
        rows.append(("", "", "outside of the steps", f"{1e6 * self.outside:.1f}", f"{share:.1%}"))
        rows.append(("", "", "a call", f"{1e6 * self.total:.1f}"))
        return _COLUMNS, rows

    def __str__(self) -> str:
        head, rows = self._rows()
        return "\n".join([*_aligned([head, *rows]), "", *self.advice]).rstrip()

    def _repr_html_(self) -> str:
        from .profile_views import profile_html

        return profile_html(self)

    def __repr__(self) -> str:
        return str(self)


def profile(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profile:
    """Measure the time of each step of a computation.

    `f` is called ten times: twice to warm up, once to find the lines of the program, for which
    functions are traced anew, and seven times for the measurement; the times are medians. A
    function that trains a model trains it ten times.

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
    located = _core.recorded_steps(call, locate=True)
    runs: list[list[RecordedStep]] = []
    totals = []
    for _ in range(_CALLS):
        began = time.perf_counter()
        runs.append(_core.recorded_steps(call))
        totals.append(time.perf_counter() - began)
    if any(_kinds(run) != _kinds(runs[0]) for run in runs):
        raise ValueError(
            "profile: expected a function that runs the same steps in each call; use arguments of "
            "one shape, for example"
        )
    total = _median(totals)
    if _kinds(located) != _kinds(runs[0]):  # the tracing of f takes other steps
        located = runs[0]
    steps: list[ProfileStep] = []
    for kind, source, dtype, moved, operations, elements, times, _, _ in runs[0]:
        seconds = _median([run[len(steps)][7] for run in runs])
        share = seconds / total if total else 0.0
        names, lines = _labels(located[len(steps)])
        steps.append(
            ProfileStep(
                kind,
                source,
                seconds,
                moved,
                operations,
                share,
                elements,
                times,
                dtype,
                names,
                lines,
            )
        )
    return Profile(tuple(steps), total)


_COLUMNS = ("step", "kind", "operations", "µs", "share", "MB", "GB/s", "GFLOP/s", "ns/element",
            "limit", "lines")  # fmt: skip
_OUTSIDE = (
    "{:.0%} of a call passes outside of the steps, in Python code, in building and finding plans "
    "and between the iterations of loops: put the code into one `function`, and give each call and "
    "iteration more work."
)
_SHORT_STEPS = (
    "{:.0%} of a call is in {} short steps, where the overhead of a step counts: work on larger "
    "arrays (`vmap`), or write Python loops as `scan` or `while_loop`."
)


def _rounded(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def _kinds(run: list[RecordedStep]) -> list[Any]:
    """Return what the steps of a run are, without their times and lines."""
    return [step[:7] for step in run]


def _labels(step: RecordedStep) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the operations of a step and the lines where they were made."""
    names = dict.fromkeys(name for name, _ in step[8])
    places = {place[:2] for _, place in step[8] if place}
    lines = tuple(location(file, line, brief=True) for file, line in sorted(places))
    return tuple(names) or (step[1],), lines


def _listed(texts: tuple[str, ...]) -> str:
    """Return the first texts, and the number of others."""
    others = [f"+{len(texts) - _SHOWN}"] if len(texts) > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *others])


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Return the rows of a table as lines; numbers are aligned on the right."""
    count = max(len(row) for row in rows)
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(count)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if i in (1, 2, 9, 10) else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=False))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def _median(samples: list[float]) -> float:
    """Return the median without `statistics`, which is slow to import."""
    return sorted(samples)[len(samples) // 2]
