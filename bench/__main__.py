"""The command line: `python -m bench`. What it does is in harness.py."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from . import native_bench, peers, plot
from .case import all_rows
from .harness import Report, Setting
from .report import content_of, machine, render, write_json
from .run import run

SMOKE_ROWS = 2  # that run at a time


def arguments(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Times pullback beside other libraries."
    )
    parser.add_argument("--rows", nargs="+", choices=names, metavar="ROW", default=names,
                        help=f"of {', '.join(names)} (default: all)")  # fmt: skip
    parser.add_argument("--smoke", action="store_true", help="everything once, small, in seconds")
    parser.add_argument("--repetitions", type=int, default=7, metavar="N", help="default: 7")
    parser.add_argument("--seconds", type=float, default=0.1, metavar="S",
                        help="of one repetition, at least (default: 0.1)")  # fmt: skip
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every sample here")
    parser.add_argument("--png", type=Path, metavar="FILE",
                        help="draw times over the fastest peer's (needs matplotlib)")  # fmt: skip
    parser.add_argument("--cache", type=Path, default=Path(".bench"), metavar="DIR",
                        help="environments and builds (default: .bench)")  # fmt: skip
    parser.add_argument("--install-peers", nargs="*", choices=[*peers.PEERS], metavar="PEER",
                        help=f"of {', '.join(peers.PEERS)} (default: all)")  # fmt: skip
    parser.add_argument("--native", action="store_true", help="build the C++ benches")
    return parser


def main() -> int:
    rows = all_rows()
    parser = arguments([*rows, "growth", *native_bench.NAMES])
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error(f"--repetitions: expected at least 1, got {options.repetitions}")
    try:
        import pullback as pb
    except ImportError as error:
        print(f"python -m bench: {error}; install pullback first: pip install .", file=sys.stderr)
        return 1
    cache = options.cache.absolute()
    if options.install_peers is not None:
        peers.install(cache, options.install_peers or [*peers.PEERS])
    if options.native:
        peers.prepare(cache)
        native_bench.build(cache)

    setting = Setting(cache, options.repetitions, options.seconds)
    if options.smoke:
        setting = Setting(cache, repetitions=1, smoke=True)
    about = machine(pb._core.build_info())
    blas = pb._core.build_info()["blas"]["path"]
    run_one = partial(run, setting, blas)
    report = Report()
    reports: Iterable[Report]
    if options.smoke:
        # A fork for each row, of a process that has imported what all rows need.
        context = get_context("forkserver" if hasattr(os, "fork") else "spawn")
        context.set_forkserver_preload(["bench.run", "pullback"])
        with ProcessPoolExecutor(SMOKE_ROWS, context, max_tasks_per_child=1) as pool:
            reports = [*pool.map(run_one, options.rows)]
    else:
        reports = map(run_one, options.rows)  # each has the machine to itself
    for one in reports:
        report.add(one)
    content = content_of(report, rows, about, options.smoke)
    print(render(content))
    if options.json:
        write_json(options.json, content)
    if options.png:
        plot.draw(options.png, content)
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
