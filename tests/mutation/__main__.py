"""Which injected bugs the test suite detects: `tools/mutants --help`."""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import Any

from .build import build
from .catalogue import NUMBERS, ROOT, CatalogueError, Mutant, numbered, read
from .report import as_text, difference

# Where tests of a part are most likely: these are tried first.
NEAR = {
    "autodiff": ("tests/api/autodiff/test_jacobian", "tests/api/autodiff/test_derivatives",
                 "tests/api/implicit", "tests/api/autodiff/test_sparse",
                 "tests/api/autodiff/test_check"),
    "batch": ("tests/api/autodiff/test_vmap", "tests/control", "tests/core/test_ops.py",
              "tests/core/test_batch"),
    "bindings": ("tests/api/autodiff/test_function", "tests/api/numpy/test_index",
                 "tests/api/numpy/test_item", "tests/api/numpy/test_numbers",
                 "tests/core/test_error"),
    "compat": ("tests/tf1",),
    "derivatives": ("tests/core/test_ops.py", "tests/core/test_ops_digits"),
    "explain": ("tests/explain",),
    "fusion": ("tests/core/test_fusion", "tests/core/test_parts", "tests/core/test_planner"),
    "grad": ("tests/api/autodiff/test_gradients", "tests/api/autodiff/test_taylor",
             "tests/api/autodiff/test_overrides", "tests/api/autodiff/test_sparse",
             "tests/core/test_ops.py"),
    "kernels": ("tests/core/test_large", "tests/core/test_sizes", "tests/core/test_ops.py"),
    "linalg": ("tests/api/linalg", "tests/api/autodiff/test_complex_gradients"),
    "loops": ("tests/control",),
    "masks": ("tests/core/test_structural_zeros", "tests/core/test_windows"),
    "memory": ("tests/core/test_memory", "tests/core/test_faults", "tests/core/test_planner",
               "tests/api/autodiff/test_function_history",
               "tests/api/optimizers/test_optimizer_memory"),
    "ops": ("tests/core/test_ops.py", "tests/core/test_conventions"),
    "optimizers": ("tests/api/optimizers", "tests/api/autodiff/test_clip"),
    "plan": ("tests/core/test_simplify", "tests/core/test_planner", "tests/core/test_ops.py"),
    "python": ("tests/api",),
}  # fmt: skip
ROUNDS = 6  # tests of a function that come before those of functions that are not near
LONGEST = 6000  # tests that are listed for a mutant, unless all are wanted


def main() -> int:
    options = _options()
    if options.compare:
        before, after = (json.loads(Path(path).read_text()) for path in options.compare)
        print(difference(before, after))
        return 0
    work = Path(options.build).resolve()
    everything = read()
    chosen = [m for m in everything if _matches(m, options.mutants)]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.part:12} {mutant.name} ({mutant.file})")
        return 0
    begin = time.monotonic()
    try:
        package = build(work, everything)
    except CatalogueError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"built {len(everything)} mutants ({time.monotonic() - begin:.0f} s)", flush=True)
    if options.again:
        for name in ("reached", "results"):
            shutil.rmtree(work / name, ignore_errors=True)
    for name in ("reached", "results"):
        (work / name).mkdir(exist_ok=True)
    long = _long_tests(options.durations, options.longest) if options.durations else []
    (work / "left_out.json").write_text(json.dumps(long))
    jobs = Jobs(work, package, options)
    if not (work / "reached" / "all").exists():
        jobs.run("record")
        if jobs.is_over():
            print("not all tests are recorded: call it again")
            return 3
        (work / "reached" / "all").touch()
    print(f"recorded which tests reach them ({time.monotonic() - begin:.0f} s)", flush=True)
    report = _tried(work, jobs, everything, chosen, options)
    if report is None:
        print("not all mutants are tried: call it again")
        return 3
    print(f"tried ({time.monotonic() - begin:.0f} s)\n", flush=True)
    print(as_text(report))
    (work / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    if options.json:
        shutil.copy(work / "report.json", options.json)
    left = [e for e in report["mutants"].values() if e["status"] != "killed" and not e["reason"]]
    return 1 if left else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tools/mutants", description=__doc__,
        epilog="A run that was ended goes on where it was; what is done lies in the build folder. "
        "After the sources or the tests have changed, begin anew with --again. The exit status is "
        "1 if a mutant survives that has no reason in the catalogue, 3 if there is more to do.",
    )  # fmt: skip
    parser.add_argument("tests", nargs="*", help="pytest arguments (default: the default suite)")
    parser.add_argument("--mutants", nargs="+", metavar="NAME", default=["*"],
                        help="names or parts, with * as in a shell (default: all)")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS",
                        help="processor time for a mutant; 0: all tests (default: 60)")  # fmt: skip
    parser.add_argument("--durations", metavar="XML",
                        help="report of an earlier `pytest --junitxml`, for --longest")  # fmt: skip
    parser.add_argument("--longest", type=float, default=0.5, metavar="SECONDS",
                        help="leave out tests that took longer there (default: 0.5)")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=float("inf"),
                        help="take no further work after this time")  # fmt: skip
    parser.add_argument("--build", default=ROOT / "build-mutants", help="folder, which is kept")
    parser.add_argument("--json", help="write the report to this file, too")
    parser.add_argument("--again", action="store_true", help="forget earlier runs, not the build")
    parser.add_argument("--list", action="store_true", help="list the mutants and end")
    parser.add_argument("--compare", nargs=2, metavar="REPORT", help="kills lost and gained")
    options, rest = parser.parse_known_args()
    options.tests += rest
    return options


def _long_tests(path: str, longest: float) -> list[str]:
    """Return the names of tests that took longer than this."""
    cases = ElementTree.parse(path).getroot().iter("testcase")
    return [
        f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        for case in cases
        if float(case.get("time", "0")) > longest
    ]


def _matches(mutant: Mutant, patterns: list[str]) -> bool:
    names = (mutant.name, mutant.part)
    return any(fnmatch.fnmatchcase(name, p) for name in names for p in patterns)


class Jobs:
    """Processes of pytest that share the work through files in a folder."""

    def __init__(self, work: Path, package: Path, options: argparse.Namespace) -> None:
        self.work, self.package, self.options = work, package, options
        self.end = time.time() + options.seconds

    def is_over(self) -> bool:
        """Return whether the time is over, so that some work may be left."""
        return time.time() > self.end

    def run(self, mode: str) -> None:
        """Run pytest in all jobs and wait for them.

        Raises
        ------
        SystemExit
            If a job ends before the work is done.
        """
        claims = self.work / "claims"
        shutil.rmtree(claims, ignore_errors=True)
        claims.mkdir(parents=True)
        running = []
        for k in range(self.options.jobs):
            table = self.work / f"table.{k}"
            table.write_bytes(bytes(NUMBERS))
            path = [str(self.package), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
            environment = {
                **os.environ,
                "PYTHONPATH": os.pathsep.join(filter(None, path)),
                "PULLBACK_MUTANTS_REACHED": str(table),
                "MUTATION_WORK": str(self.work),
                "MUTATION_MODE": mode,
                "MUTATION_BUDGET": str(self.options.budget),
                "MUTATION_END": str(self.end),
            }
            command = [
                sys.executable, "-m", "pytest", "-q", "-n", "0", "-s", "-p", "mutation.plugin",
                "-p", "no:cacheprovider", "-p", "no:randomly", *self.options.tests,
            ]  # fmt: skip
            log = (self.work / f"{mode}.{k}.log").open("w")
            running.append(
                subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
            )
        for k, job in enumerate(running):
            # 1: tests failed, which the report lists.
            if job.wait() not in (0, 1):
                raise SystemExit(
                    f"tools/mutants: pytest ended with {job.returncode}: see "
                    f"{self.work / f'{mode}.{k}.log'}"
                )


def _tried(
    work: Path, jobs: Jobs, everything: list[Mutant], chosen: list[Mutant], options: Any
) -> dict[str, Any] | None:
    """Try the mutants that have no result yet. Returns the report, None if the time was over."""
    rows = [row for path in sorted((work / "reached").glob("*.json"))
            for row in json.loads(path.read_text())]  # fmt: skip
    seconds = {test: time for test, time, _, _ in rows}
    reaching: dict[int, list[str]] = defaultdict(list)
    for test, _, outcome, reached in rows:
        if outcome == "passed":
            for number in reached:
                reaching[number].append(test)
    numbers = numbered(everything)
    key = hashlib.sha1(f"{options.budget}".encode()).hexdigest()[:8]
    entries = {}
    for mutant in chosen:
        number = numbers[mutant.name]
        known = work / "results" / f"{mutant.name}.json"
        if known.exists():
            found = json.loads(known.read_text())
            if found["status"] == "killed" or found["key"] == key:
                continue
            known.unlink()
        tests = _ordered(mutant, reaching[number], seconds)
        listed = tests if options.budget == 0 else tests[:LONGEST]
        entries[mutant.name] = {"number": number, "tests": listed, "reaching": len(tests)}
    if entries:
        used = {test for entry in entries.values() for test in entry["tests"]}
        content = {"key": key, "mutants": entries, "seconds": {t: seconds[t] for t in used}}
        (work / "tries.json").write_text(json.dumps(content))
        jobs.run("try")
        if any(not (work / "results" / f"{name}.json").exists() for name in entries):
            return None
    out: dict[str, Any] = {"tests": len(rows), "budget": options.budget, "mutants": {}}
    out["left_out"] = json.loads((work / "left_out.json").read_text())
    for mutant in chosen:
        found = json.loads((work / "results" / f"{mutant.name}.json").read_text())
        del found["key"]
        given = {"part": mutant.part, "file": mutant.file, "reason": mutant.reason}
        out["mutants"][mutant.name] = given | found
    out["unusable"] = [test for test, _, outcome, _ in rows if outcome == "failed"]
    return out


def _ordered(mutant: Mutant, tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Order the tests that reach a mutant: those near it first, one of each function before the
    second of any, the quick functions first."""
    functions: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        functions[test.partition("[")[0]].append(test)
    for name, group in functions.items():
        functions[name] = sorted(group, key=lambda test: _scattered(mutant.name + test))
    order = sorted(functions, key=lambda name: seconds[functions[name][0]])
    near = [name for name in order if name.startswith(NEAR[mutant.part])]
    out = _in_turn([functions[name] for name in near], 0, ROUNDS)
    out += _in_turn([functions[name] for name in order if name not in near], 0, ROUNDS)
    return out + _in_turn([functions[name] for name in order], ROUNDS, None)


def _in_turn(groups: list[list[str]], first: int, end: int | None) -> list[str]:
    longest = max((len(group) for group in groups), default=0)
    rounds = range(first, longest if end is None else min(end, longest))
    return [group[k] for k in rounds for group in groups if k < len(group)]


def _scattered(text: str) -> int:
    return int.from_bytes(hashlib.sha1(text.encode()).digest()[:8], "big")


if __name__ == "__main__":
    sys.exit(main())
