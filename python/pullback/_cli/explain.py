"""`python -m pullback explain FILE`: run a script and explain gradients that are None, zero or NaN.

`Watch` receives every request for gradients of the script, with the gradients, and counts them by
the line of the request and by the source. `explain_script` runs the script. Only operations record
their lines: the other effects of `set_debug` could change what the script does.
"""

from __future__ import annotations

import io
import os
import sys
import threading
import weakref
from collections.abc import Callable
from contextlib import redirect_stdout, suppress
from functools import partial
from types import ModuleType, TracebackType
from typing import Any

import numpy as np

from .. import _core
from .._base import last_query
from .._base.checks import counted
from .._explain.analysis import analyse
from .._explain.ancestry import Place
from .._explain.explanation import TITLES
from .._explain.query import Question
from .._explain.query_kinds import question_of
from .._numpy.display import value_of

SHOWN = 20  # reports; the others are counted
MOST = 100  # explanations, since each evaluates all operations between target and source
NOT_EXPLAINED = "not explained: it was requested inside of a transform, or there are too many"
Text = str | Callable[[], str]
BAD = ("none", "nan", "infinite", "zero")


class Entry:
    """The gradients of one line by one source.

    Attributes
    ----------
    counts : dict
        Number of gradients of each status.
    first : dict
        The text that explains the first gradient of each status of BAD, or a function for it.
    last : str
        Status of the newest gradient.
    variable : weakref or None
        The variable, if a gradient by it had no value.
    """

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.first: dict[str, Text] = {}
        self.last = ""
        self.variable: weakref.ref[Any] | None = None

    def reported(self) -> list[str]:
        """Return the statuses to report.

        A gradient may be zero at the start or for a while, so zeros count if the last one is zero.
        """
        return [s for s in BAD if self.counts.get(s) and (s != "zero" or self.last == "zero")]

    def status_of_variable(self) -> str:
        """Return the status of the present value of the variable; "flows" without a value."""
        variable = self.variable and self.variable()
        try:
            return "flows" if variable is None else _status_of(value_of(variable))
        except Exception:  # of a computation that the program has not read
            return "flows"


class Watch:
    """Listener for the gradients that a program requests."""

    def __init__(self) -> None:
        self.entries: dict[tuple[Place | None, int, str], Entry] = {}
        self.requests = 0
        self.without_values = 0
        self.lost = 0
        self.lock = threading.Lock()
        self.busy = threading.local()
        self.explained = 0

    def __call__(self, request: last_query.Asked, answers: list[Any]) -> None:
        if getattr(self.busy, "on", False):  # a rule that runs for an explanation
            return
        site = _core.current_site()
        self.busy.on = True
        try:
            self._add(request, answers, Place(*site) if site else None)
        except Exception:  # the program goes on in any case
            self.lost += 1
        finally:
            self.busy.on = False

    def _add(self, request: last_query.Asked, answers: list[Any], place: Place | None) -> None:
        ys, xs, seeds, tape, stops, overrides = request
        given = {"tape": tape, "stops": stops, "overrides": overrides}
        statuses = _statuses(answers)
        new = []
        with self.lock:  # it is released before code of the program can run
            self.requests += 1
            for i, (x, status) in enumerate(zip(xs, statuses, strict=True)):
                is_variable = isinstance(x, _core.Variable)
                name = f"Variable '{x.name}'" if is_variable else f"source {i}"
                entry = self.entries.setdefault((place, i, name), Entry())
                entry.counts[status] = entry.counts.get(status, 0) + 1
                entry.last = status
                if status == "unknown":
                    self.without_values += 1
                    entry.variable = weakref.ref(x) if is_variable else None
                if status in BAD and status not in entry.first:
                    entry.first[status] = NOT_EXPLAINED
                    new.append((entry, status, x))
        for entry, status, x in new:
            entry.first[status] = self._explained(status, ys, x, seeds, given)

    def _explained(
        self, status: str, ys: list[Any], x: Any, seeds: list[Any], given: dict[str, Any]
    ) -> Text:
        """Return the explanation for the first of the targets whose gradient has the status.

        One that runs code of the program, which may print or draw random numbers, is made at the
        end of the program.
        """
        self.explained += 1
        questions = []
        with suppress(Exception):  # the program goes on in any case
            for y, seed in zip(ys if self.explained <= MOST else (), seeds, strict=False):
                questions.append(question_of("explain", y, x, seed=seed, **given))
            if any(_runs_code(question) for question in questions):
                return partial(_text_of, questions, status)
        return _text_of(questions, status)

    def report(self) -> tuple[str, bool]:
        """Return the text for the user, and whether a gradient is reported."""
        entries = list(self.entries.items())  # daemon threads may add some
        found = [
            (place, name, entry, status)
            for (place, _, name), entry in entries
            for status in entry.reported()
        ]
        paragraphs = []
        for place, name, entry, status in found[:SHOWN]:
            total = sum(entry.counts.values())
            often = f"{entry.counts[status]} of {total} times" if total > 1 else "once"
            at = f"{place}: " if place else ""
            head = f"{at}the gradient by {name} {TITLES[status]} ({often})"
            known = entry.first[status]
            text = (known if isinstance(known, str) else known()).replace("\n", "\n  ")
            paragraphs.append(f"{head}\n  {text}")
        if len(found) > SHOWN:
            paragraphs.append(f"{len(found) - SHOWN} more gradients are None, zero or not finite.")
        for (place, _, name), entry in entries:
            status = entry.status_of_variable()
            if status in ("nan", "infinite"):
                at = f"{place}: " if place else ""
                paragraphs.append(
                    f"{at}{name} {TITLES[status]} in the end, and its gradient was requested while "
                    "a function was traced\n  do    call it inside of `with pb.check_numerics():`"
                )
                found.append((place, name, entry, status))
        findings = counted(len(found), "finding") if found else "no findings"
        summary = f"explain: {counted(self.requests, 'request')} for gradients, {findings}"
        if self.without_values:
            summary += (
                f"\n{counted(self.without_values, 'gradient')} of traced functions, loops or "
                "graphs had no value, so only None is found there. Inside of "
                "`with pb.check_numerics():` functions run as plain code."
            )
        if self.lost:
            summary += f"\n{counted(self.lost, 'request')} could not be analysed"
        return "\n\n".join([*paragraphs, summary]), bool(found)


def _runs_code(question: Question) -> bool:
    """Return whether the explanation runs rules of the program, or bodies of loops that may."""
    return any(
        step.custom or step.rule or step.kind in ("loop", "branch")
        for step in question.ancestry.steps.values()
    )


def _text_of(questions: list[Question], status: str) -> str:
    """Return the text of the first explanation with the status."""
    for question in questions:
        with suppress(Exception), redirect_stdout(io.StringIO()):
            why = analyse(question)
            if why.status == status:
                return str(why)
    return NOT_EXPLAINED


def _statuses(answers: list[Any]) -> list[str]:
    """Return the status of each gradient: one of BAD, "flows" or "unknown"."""
    known = [g for g in answers if isinstance(g, _core.Tensor) and not _core.is_traced(g)]
    try:
        with _aside():
            arrays = iter(_core.arrays_of(known))
    except Exception:  # the program receives it when it reads the value
        known = []
        arrays = iter(())
    kept = {id(g) for g in known}
    return [
        "none" if g is None else _status_of(next(arrays)) if id(g) in kept else "unknown"
        for g in answers
    ]


def _status_of(array: Any) -> str:
    if np.isnan(array).any():
        return "nan"
    if np.isinf(array).any():
        return "infinite"
    return "flows" if np.any(array) or not array.size else "zero"


def _aside() -> Any:
    """Return the context manager inside which evaluations leave no traces in the records."""
    return Question.asking(None)  # type: ignore[arg-type]


def explain_script(path: str, arguments: list[str]) -> int:
    """Run a script as `python path *arguments` does, and print a report to the standard error.

    Returns the exit status of the script if it is not 0, and otherwise 1 if a gradient is reported.
    """
    with io.open_code(path) as file:
        source = file.read()
    file_name = os.path.abspath(path)
    module = ModuleType("__main__")
    module.__dict__.update(__file__=file_name, __builtins__=__builtins__, __cached__=None)
    sys.argv = [path, *arguments]
    if not getattr(sys.flags, "safe_path", False):  # otherwise it is not the current folder
        sys.path[0] = os.path.dirname(file_name)
    sys.modules["__main__"] = module
    watch = Watch()
    _core.set_recording(True)
    last_query.listen(watch)
    status = 0
    try:
        exec(compile(source, file_name, "exec", dont_inherit=True), module.__dict__)
    except SystemExit as end:
        status = _status_of_exit(end)
    except BaseException as error:
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
        trace = _of_script(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    for thread in threading.enumerate():  # the interpreter waits for them at its end
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    last_query.listen(None)
    _core.set_recording(False)
    text, reported = watch.report()
    with suppress(AttributeError, OSError, ValueError):  # the script may have closed it
        sys.stdout.flush()
    print(f"\n{text}", file=sys.stderr)
    return status or int(reported)


def _status_of_exit(end: SystemExit) -> int:
    """Return the exit status, and print the message, as the interpreter does."""
    if end.code is None:
        return 0
    if isinstance(end.code, int):
        return end.code
    print(end.code, file=sys.stderr)
    return 1


def _of_script(trace: TracebackType | None) -> TracebackType | None:
    """Return the part of a traceback that begins in the script."""
    return trace.tb_next if trace else None
