"""The pytest plugin of `tools/mutants`; not part of an ordinary run of the tests.

Environment of a run: MUTATION_WORK names the folder that the jobs share, MUTATION_MODE is

record
    Run each test once without a mutant, and write down which mutants it reached. Caches of plans
    and of Python functions are cleared before each test: what a cached plan skips counts as not
    reached. The jobs take chunks of tests from the folder, each once.
try
    Run no test in this process. For each mutant of `tries.json` fork a child, which chooses the
    mutant and runs the listed tests in that order until one fails. A child begins with the caches
    of a process that has only collected tests, so nothing leaks from one mutant to another. A
    failure, a crash and a time-out kill the mutant, if the test passes in a child without a mutant
    and fails in another one with it.
"""

from __future__ import annotations

import ctypes
import gc
import hashlib
import json
import mmap
import os
import select
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import _lru_cache_wrapper
from itertools import groupby
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from pullback import _core, _mutation

from .catalogue import NUMBERS

WORK = Path(os.environ["MUTATION_WORK"])
MODE = os.environ["MUTATION_MODE"]
BUDGET = float(os.environ.get("MUTATION_BUDGET", "60"))
END = float(os.environ.get("MUTATION_END", "inf"))  # when the jobs take no further work
CHUNK = 100  # tests
SLOW = 20.0  # times that a test may be slower with a mutant than without one, …
PATIENCE = 15.0  # … and seconds that are added

_library = ctypes.CDLL(_core.__file__)
assert Path(_core.__file__).is_relative_to(WORK), f"{_core.__file__} has no mutants"
hypothesis.settings.register_profile(
    "mutation",
    derandomize=True,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate],  # no time for shrinking
)
hypothesis.settings.load_profile("mutation")


def choose(number: int) -> None:
    """Make a mutant the chosen one, in this process and in those that it starts."""
    _library.pullback_choose_mutant(number)
    _mutation.choose(number)
    os.environ["PULLBACK_MUTANT"] = str(number)


def clear_caches() -> None:
    _core.clear_plans()
    for cache in _caches():
        cache.cache_clear()


_found: list[Any] = []


def _caches() -> list[Any]:
    if not _found:
        _found.extend(
            x
            for x in gc.get_objects()
            if isinstance(x, _lru_cache_wrapper) and x.__module__.startswith("pullback")
        )
    return _found


def claim(name: str) -> bool:
    """Return whether this job is the first one that asks for `name`."""
    path = WORK / "claims" / name
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


_reports: list[pytest.TestReport] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _reports.append(report)


def run(item: pytest.Item, following: pytest.Item | None) -> list[pytest.TestReport]:
    """Run one test with all that pytest does around it."""
    _reports.clear()
    item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
    return list(_reports)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = WORK / "left_out.json"
    names = set(json.loads(left_out.read_text())) if left_out.exists() else set()
    out = [item for item in items if item.nodeid in names]
    if out:
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item.nodeid not in names]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    if session.testsfailed:
        raise session.Interrupted(f"{session.testsfailed} errors during collection")
    if not session.config.option.collectonly:
        record(session) if MODE == "record" else try_all(session)
    return True


# --- record


def chunks(items: list[pytest.Item]) -> Iterator[tuple[str, list[pytest.Item]]]:
    """Yield the tests of a file in pieces, each with a name made of what is in it."""
    for _, group in groupby(items, key=lambda item: item.path):
        rest = list(group)
        while rest:
            piece, rest = rest[:CHUNK], rest[CHUNK:]
            text = "\n".join(item.nodeid for item in piece)
            yield hashlib.sha1(text.encode()).hexdigest()[:16], piece


def record(session: pytest.Session) -> None:
    with open(os.environ["PULLBACK_MUTANTS_REACHED"], "r+b") as file:
        table = mmap.mmap(file.fileno(), NUMBERS)
    at_import = [k for k in range(NUMBERS) if table[k]]
    (WORK / "at_import.json").write_text(json.dumps(at_import))
    for name, items in chunks(session.items):
        done = WORK / "reached" / f"{name}.json"
        if done.exists() or time.time() > END or not claim(name):
            continue
        rows = []
        for item, following in zip(items, [*items[1:], None], strict=True):
            clear_caches()
            table[:] = bytes(NUMBERS)
            begin = time.perf_counter()
            reports = run(item, following)
            seconds = time.perf_counter() - begin
            passed = len(reports) == 3 and all(report.passed for report in reports)
            failed = any(report.failed for report in reports)
            outcome = "passed" if passed else "failed" if failed else "skipped"
            mark = table[:]
            reached = [k for k in range(NUMBERS) if mark[k]] if any(mark) else []
            rows.append([item.nodeid, round(seconds, 4), outcome, reached])
        temporary = done.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(rows))
        temporary.rename(done)


# --- try


def try_all(session: pytest.Session) -> None:
    tries = json.loads((WORK / "tries.json").read_text())
    items = {item.nodeid: item for item in session.items}
    gc.collect()
    gc.freeze()  # pages that children do not touch stay shared
    trial = Trial(items, tries["seconds"])
    for name, entry in tries["mutants"].items():
        if time.time() > END or not claim(name):
            continue
        result = trial.of(entry["number"], [t for t in entry["tests"] if t in items])
        result["reaching"] = entry["reaching"]
        path = WORK / "results" / f"{name}.json"
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps({"key": tries["key"], **result}))
        temporary.rename(path)
        print(f"{name}: {result['status']} {result.get('test', '')}", flush=True)


class Trial:
    """Runs of mutants in forked children of this process."""

    def __init__(self, items: dict[str, pytest.Item], seconds: dict[str, float]) -> None:
        self.items = items
        self.seconds = seconds
        self.used = 0.0  # processor time of the children
        self.sound: dict[str, bool] = {}  # of tests that killed: whether they pass without a mutant

    def of(self, number: int, tests: list[str]) -> dict[str, Any]:
        """Run the tests until one kills the mutant, or for as long as the budget lasts."""
        at, begin = 0, self.used
        while at < len(tests):
            left = BUDGET - (self.used - begin) if BUDGET else float("inf")
            if left <= 0:
                break
            done, how, why = self.child(number, tests[at:], left)
            at += done
            if how == "over":
                break
            if how == "passed":
                continue
            test = tests[at]
            at += 1
            if self.is_sound(test) and self.child(number, [test], float("inf"))[1] != "passed":
                return {"status": "killed", "test": test, "how": how, "why": why, "tried": at}
        return {"status": "survived", "tried": at}

    def is_sound(self, test: str) -> bool:
        if test not in self.sound:
            self.sound[test] = self.child(-1, [test], float("inf"))[1] == "passed"
        return self.sound[test]

    def child(self, number: int, tests: list[str], budget: float) -> tuple[int, str, str]:
        """Run tests in a child until one fails.

        Returns how many have passed; "passed", "over" (of the budget), "failed", "crashed" or
        "timed out"; and what the failure says.
        """
        read, write = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            self._run(number, tests, budget, write)
        os.close(write)
        passed, text, finished = 0, b"", False
        deadline = time.monotonic() + self.patience(tests[0])
        while True:
            ready, _, _ = select.select([read], [], [], max(deadline - time.monotonic(), 0))
            if not ready:
                with suppress(ProcessLookupError):
                    os.killpg(pid, signal.SIGKILL)
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                self._wait(pid)
                os.close(read)
                return passed, "timed out", ""
            data = os.read(read, 1 << 16)
            if not data:
                break
            text += data
            *lines, text = text.split(b"\n")
            for line in lines:
                if line == b".":
                    passed += 1
                    following = tests[min(passed, len(tests) - 1)]
                    deadline = time.monotonic() + self.patience(following)
                elif line in (b"over", b"end"):
                    finished = True
        os.close(read)
        status = self._wait(pid)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)  # what the tests have left running
        if finished:
            return passed, "passed" if passed == len(tests) else "over", ""
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 1:
            return passed, "failed", text.decode(errors="replace")
        return passed, "crashed", f"wait status {status}"

    def _wait(self, pid: int) -> int:
        _, status, usage = os.wait4(pid, 0)
        self.used += usage.ru_utime + usage.ru_stime
        return status

    def patience(self, test: str) -> float:
        return PATIENCE + SLOW * self.seconds.get(test, 1.0)

    def _run(self, number: int, tests: list[str], budget: float, write: int) -> None:
        code = 2
        try:
            os.setsid()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            choose(number)
            for k, test in enumerate(tests):
                if k and sum(os.times()[:4]) > budget:
                    os.write(write, b"over\n")
                    break
                item = self.items[test]
                following = self.items[tests[k + 1]] if k + 1 < len(tests) else None
                bad = [report for report in run(item, following) if report.failed]
                if bad:
                    os.write(write, _reason(bad[0]).encode())
                    code = 1
                    return
                os.write(write, b".\n")
            else:
                os.write(write, b"end\n")
            code = 0
        finally:
            os._exit(code)


def _reason(report: Any) -> str:
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr)
    return " ".join(text.split())[:200]
