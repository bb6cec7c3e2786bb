"""Runs a row: a process for each library and style, taking turns, A B A B.

Turns spread whatever disturbs the machine over all of them; a median and the extremes of at least
seven repetitions say how much there was. Before any timing, every process shows the numbers it
computed: a row whose libraries disagree is no comparison.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from time import sleep
from typing import Any

from .case import Row
from .peers import built, interpreter
from .worker import Answer, answers

ROOT = Path(__file__).resolve().parent.parent
RATES = ("GB/s", "GFLOP/s")  # billions of Case.work a second; other rows are in µs
PATIENCE = 600  # seconds until a silent process is killed; some compile for minutes


@dataclass(frozen=True)
class Setting:
    cache: Path
    repetitions: int = 7
    seconds: float = 0.1  # of one repetition, at least
    smoke: bool = False  # everything once


@dataclass
class Result:
    row: str
    library: str
    style: str
    unit: str
    samples: list[float] = field(default_factory=list)
    version: str = ""
    first_ms: float | None = None
    peak_mb: float | None = None
    check: list[float] | None = None


@dataclass
class Report:
    results: list[Result] = field(default_factory=list)
    growth: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # not installed, or not written yet
    failures: list[str] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.results += other.results
        self.growth += other.growth
        self.missing += [what for what in other.missing if what not in self.missing]
        self.failures += other.failures


class WorkerError(Exception):
    """A worker that said why it cannot, or died."""


def without_error(answer: Answer) -> Answer:
    if "error" in answer:
        raise WorkerError(answer["error"])
    return answer


class Worker:
    """A process of its own."""

    def __init__(self, python: str, result: Result, setting: Setting) -> None:
        self.result = result
        self._work = 0.0
        self._errors = tempfile.TemporaryFile()  # shown only if it dies  # noqa: SIM115
        self._process = subprocess.Popen(
            [
                *(python, "-m", "bench.worker", result.row, result.library, result.style),
                *(["--small"] if setting.smoke else []),
            ],
            cwd=ROOT,
            env={
                **os.environ,
                "PYTHONPATH": "",
                "JAX_PLATFORMS": "cpu",
                "BENCH_BY_HAND": str(built(setting.cache, "by_hand") or ""),
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
        )

    def answer(self) -> Answer:
        assert self._process.stdout
        watchdog = Timer(PATIENCE, self._process.kill)
        watchdog.start()
        line = self._process.stdout.readline()
        watchdog.cancel()
        if line:
            return without_error(json.loads(line))
        code = self._process.wait()
        self._errors.seek(0)
        last = self._errors.read().decode(errors="replace").strip().splitlines()[-1:]
        raise WorkerError(f"died with code {code} {''.join(last)}")

    def open(self) -> Answer:
        """The first call, or the figure itself; only `missing` where there is no such module."""
        hello = self.answer()
        if "missing" in hello:
            return hello
        self.result.version = hello["version"]
        first = self.answer()
        self._work = first.get("work", 0.0)
        return first

    def figure(self, loops: int) -> float:
        """One sample, in the row's unit."""
        each = self.seconds(loops) / loops
        return self._work / each / 1e9 if self.result.unit in RATES else 1e6 * each

    def ask(self, loops: int) -> None:
        assert self._process.stdin
        with suppress(BrokenPipeError):  # the answer will say why
            self._process.stdin.write(f"{loops}\n")
            self._process.stdin.flush()

    def ask_no_more(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()

    def seconds(self, loops: int) -> float:
        self.ask(loops)
        return float(self.answer()["seconds"])

    def warm_up(self, setting: Setting) -> int:
        """How many loops make a repetition."""
        loops = 1
        while not setting.smoke and self.seconds(loops) < setting.seconds:
            loops *= 2
        return loops

    def finish(self) -> None:
        self.ask_no_more()
        self.result.peak_mb = self.answer()["peak"] / 1e6

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream:
                stream.close()


class WorkerInside(Worker):
    """Work in this process, for a smoke run: starting Python would take most of its time."""

    def __init__(self, result: Result) -> None:
        self.result = result
        self._requests: list[str] = []
        requests = iter(lambda: self._requests.pop() if self._requests else None, None)
        self._answers = answers(result.row, result.library, result.style, True, requests)

    def answer(self) -> Answer:
        return without_error(next(self._answers))

    def ask(self, loops: int) -> None:
        self._requests.append(str(loops))

    def ask_no_more(self) -> None:
        pass

    def close(self) -> None:
        self._answers.close()


def miss(report: Report, what: str) -> None:
    if what not in report.missing:
        report.missing.append(what)


def _start(report: Report, setting: Setting, name: str, row: Row) -> list[Result]:
    """An empty result for everything that can run here."""
    results = []
    for library, style in row.make:
        if setting.smoke and (library, style) in row.slow:
            continue
        if library == "C++" and not built(setting.cache, "by_hand"):
            miss(report, "C++: not built (--native)")
        elif interpreter(setting.cache, library):
            results.append(Result(name, library, style, row.unit))
        else:
            miss(report, f"{library}: not installed (--install-peers)")
    return results


def _open(report: Report, setting: Setting, result: Result) -> tuple[Worker, Answer] | None:
    python = interpreter(setting.cache, result.library)
    assert python
    inside = setting.smoke and python == sys.executable
    worker = WorkerInside(result) if inside else Worker(python, result, setting)
    with _reporting(report, result):
        first = worker.open()
        if "missing" not in first:
            return worker, first
        miss(report, f"{_name(result)}: {first['missing']}")
    worker.close()
    return None


def _name(result: Result) -> str:
    return f"{result.row} {result.library} {result.style}".strip()


@contextmanager
def _reporting(report: Report, result: Result) -> Iterator[None]:
    """A worker that fails takes its own result down and no other."""
    try:
        yield
    except WorkerError as failure:
        report.failures.append(f"{_name(result)}: {failure}")
        result.samples.clear()


def _calls(report: Report, setting: Setting, results: list[Result]) -> None:
    loops: dict[Worker, int] = {}
    with ExitStack() as stack:
        for result in results:
            opened = _open(report, setting, result)
            if not opened:
                continue
            worker, first = opened
            stack.callback(worker.close)
            result.first_ms, result.check = 1e3 * first["first"], first["check"]
            with _reporting(report, result):
                loops[worker] = worker.warm_up(setting)
        for _ in range(setting.repetitions):
            for worker in list(loops):
                count = loops.pop(worker)
                if not setting.smoke:
                    sleep(0.2)  # threads of whoever ran before still spin on a core for a while
                with _reporting(report, worker.result):
                    worker.result.samples.append(worker.figure(count))
                    loops[worker] = count  # it lives: it has another turn
        for worker in loops:
            with _reporting(report, worker.result):
                worker.finish()


def _processes(report: Report, setting: Setting, results: list[Result], repetitions: int) -> None:
    able = list(results)
    for _ in range(repetitions):
        for result in list(able):
            opened = _open(report, setting, result)
            if not opened:
                able.remove(result)
                continue
            worker, answer = opened
            result.samples.append(answer["value"])
            result.peak_mb = max(result.peak_mb or 0, answer["peak"] / 1e6)
            worker.close()


def _compare(report: Report, results: list[Result], tolerance: float) -> None:
    checked = [result for result in results if result.check]
    for result in checked[1:]:
        known = checked[0]
        assert known.check and result.check
        if len(known.check) == len(result.check) and all(
            math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance**2)
            for a, b in zip(known.check, result.check, strict=True)
        ):
            continue
        report.failures.append(
            f"{result.row}: {result.library} {result.style} computed {result.check}, "
            f"{known.library} {known.style} computed {known.check}"
        )


def run_row(report: Report, setting: Setting, name: str, row: Row) -> None:
    print(f"{name}: {row.about}", file=sys.stderr, flush=True)
    results = _start(report, setting, name, row)
    if row.repeat == "call":
        _calls(report, setting, results)
    else:
        _processes(report, setting, results, setting.repetitions if row.repeat == "process" else 1)
    _compare(report, results, row.tolerance)
    report.results += [result for result in results if result.samples]
