"""Runs programs in worker processes, each with one instruction set: `tools/fuzz --help`.

A worker notes the seed that it is at, so that one that crashes or hangs is a failure like
any other.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from . import check, generate, peers, shrink
from .program import Program

LEVELS = ("baseline", "avx2", "avx512")
CHUNK = 500  # programs of a worker
PATIENCE = 120  # seconds that one program may take, being made smaller included


def failure_of(program: Program) -> str | None:
    """What is wrong and the smallest program that shows it, as text; None where all is well."""
    try:
        _check(program)
        return None
    except check.Failure as failure:
        first = failure

    def fails(candidate: Program) -> bool:
        try:
            _check(candidate, first.modes)
        except check.Failure as failure:
            return failure.kind == first.kind
        return False

    small = shrink.shrink(program, fails)
    return f"{first}\n\n{small}\n"


def _check(program: Program, modes: list[str] | None = None) -> None:
    """In these modes, or in some and beside the peers; a peer counts as a mode."""
    if modes is None or modes[0] in check.MODES:
        check.check(program, modes)
    for name in peers.of(program) if modes is None else set(modes) & set(peers.PEERS):
        try:
            check.counts[f"{name}: {peers.compare(program, name)}"] += 1
        except peers.Different as difference:
            raise check.Failure(name, str(difference)) from None


def work(first: int, last: int, at: int) -> None:
    """Checks the programs of these seeds; `at` is the file that says which one is next."""
    for seed in range(first, last):
        os.pwrite(at, b"%20d" % seed, 0)
        problem = failure_of(generate.Generator(seed).make())
        if problem:
            print(f"--- seed {seed}\n{problem}", flush=True)
    print("counts", dict(check.counts), flush=True)


class Run:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.failures = 0

    def chunk(self, first: int, last: int, level: str) -> None:
        while first < last:
            first = self._worker(first, last, level)

    def _worker(self, first: int, last: int, level: str) -> int:
        """The seed to go on with."""
        with tempfile.TemporaryFile() as at, tempfile.TemporaryFile("w+") as out:
            command = [
                sys.executable,
                "-m",
                "fuzz",
                "--work",
                str(first),
                str(last),
                str(at.fileno()),
            ]
            process = subprocess.Popen(
                command,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=os.environ | {"PULLBACK_CPU_LEVEL": level},
                pass_fds=[at.fileno()],
            )
            seed, since = first, time.monotonic()
            while True:
                try:
                    code: int | None = process.wait(timeout=5)
                    break
                except subprocess.TimeoutExpired:
                    now = int(os.pread(at.fileno(), 20, 0) or first)
                    if now != seed:
                        seed, since = now, time.monotonic()
                    elif time.monotonic() - since > PATIENCE:
                        process.kill()
                        process.wait()
                        code = None
                        break
            seed = int(os.pread(at.fileno(), 20, 0) or first)
            out.seek(0)
            self._read(out.read(), level)
        if code == 0:
            return last
        self.failures += 1
        what = "hangs" if code is None else f"ends its process with {code}"
        print(f"--- seed {seed} ({level}) {what}\n\n{generate.Generator(seed).make()}", flush=True)
        return seed + 1

    def _read(self, text: str, level: str) -> None:
        lines = text.splitlines()
        for line in lines:
            if line.startswith("counts "):
                self.counts.update(eval(line.removeprefix("counts ")))
        shown = [line for line in lines if not line.startswith("counts ")]
        self.failures += sum(line.startswith("--- seed") for line in shown)
        if shown:
            print("\n".join([f"({level})", *shown]), flush=True)


def chunks(first: int, programs: int, levels: list[str]) -> Iterator[tuple[int, int, str]]:
    for i, start in enumerate(range(first, first + programs, CHUNK)):
        yield start, min(start + CHUNK, first + programs), levels[i % len(levels)]


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--levels", nargs="+", default=LEVELS, choices=LEVELS)
    parser.add_argument("--seed", type=int, help="this program only, printed before it runs")
    parser.add_argument("--work", type=int, nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(*options.work)
        return 0
    if options.seed is not None:
        program = generate.Generator(options.seed).make()
        print(program, flush=True)
        problem = failure_of(program)
        print(f"\n{problem or 'fine'}")
        return bool(problem)
    run = Run()
    start = time.monotonic()
    with ThreadPoolExecutor(options.jobs) as pool:
        list(
            pool.map(
                lambda c: run.chunk(*c), chunks(options.first, options.programs, options.levels)
            )
        )
    for name, count in sorted(run.counts.items()):
        print(f"{name}: {count}")
    print(f"{options.programs} programs, {run.failures} failures, {time.monotonic() - start:.0f} s")
    return bool(run.failures)


if __name__ == "__main__":
    sys.exit(main())
