"""One library at work, in a process of its own: `python -m bench.worker ROW LIBRARY STYLE`, and
`--small` for the inputs of a smoke run.

Answers on stdout, a line of JSON each: first what it is (or why it cannot), then, for every number
of loops that arrives on stdin, the seconds they took; when stdin ends, the peak of its memory. Runs
in any of the environments: needs NumPy and the library.
"""

from __future__ import annotations

import json
import os
import sys
import time
import timeit
from collections.abc import Iterable, Iterator
from typing import Any

from .case import Case, all_rows
from .package import PARTS

Answer = dict[str, Any]


def peak_bytes() -> int:
    try:
        with open("/proc/self/status") as status:  # ru_maxrss also knows the parent's past
            return next(1024 * int(line.split()[1]) for line in status if "VmHWM" in line)
    except (OSError, StopIteration):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def version_of(library: str) -> str:
    known = getattr(sys.modules.get(library.lower()), "__version__", "")
    if known:
        return str(known)
    from importlib.metadata import PackageNotFoundError, version  # a seventh of a worker's start

    try:
        return version(PARTS.get(library, [library])[0])
    except PackageNotFoundError:
        return ""


def serve(case: Case, requests: Iterable[str]) -> Iterator[Answer]:
    call = None if isinstance(case.run, str) else case.run
    names = {"run": call, **case.names}
    # Programs run with the collector on; timeit would turn it off.
    statement = "run()" if call else case.run
    timer = timeit.Timer(statement, "import gc; gc.enable()", time.perf_counter, names)
    began = time.perf_counter()
    result = call() if call else None
    first = time.perf_counter() - began if call else timer.timeit(1)
    yield {"first": first, "check": case.check(result) if case.check else None, "work": case.work}
    del result
    for line in requests:
        loops = int(line)
        timer.timeit(max(1, loops // 20))  # whoever ran meanwhile has emptied the caches
        yield {"seconds": timer.timeit(loops)}
    yield {"peak": peak_bytes()}


def answers(
    row: str, library: str, style: str, small: bool, requests: Iterable[str]
) -> Iterator[Answer]:
    """What a worker says; `requests` are numbers of loops."""
    try:
        made = all_rows()[row].make[library, style](small)
        yield {"version": version_of(library)}
        if isinstance(made, Case):
            yield from serve(made, requests)
        else:
            yield {"value": made, "peak": peak_bytes()}
    except ImportError as error:
        yield {"missing": str(error)}
    except Exception as error:
        yield {"error": f"{type(error).__name__}: {error}"}


def main(row: str, library: str, style: str, *options: str) -> None:
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints is not an answer
    for answer in answers(row, library, style, "--small" in options, sys.stdin):
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
