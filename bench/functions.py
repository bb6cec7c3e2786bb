"""Every public elementwise function and a table of array functions beside other libraries, so that
one that is far behind is noticed.

`python -m bench.functions` prints, for each function, dtype and size, the times of its value and of
the gradient of its weighted sum: pullback in a `function`, NumPy or SciPy, jax.jit, torch eager.
Each library has one process for all functions; they take turns at each. Times are minima. The
functions that take longer than FAR times the best are listed at the end, the slowest first.
`--at-most RATIO` makes the command fail if a function takes longer than RATIO times the best.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .function_table import ELEMENTWISE, RENAMED, Function
from .function_table_arrays import ARRAYS
from .harness import ROOT
from .peers import interpreter
from .report import number, table
from .vocabulary import Operation, case_of

FAMILIES = {"elementwise": ELEMENTWISE, **ARRAYS}
LIBRARIES = ("pullback", "numpy", "jax", "torch")
# Where names of calls are looked up, in this order.
MODULES = {
    "pullback": ("pullback", "pullback.special", "pullback.nn"),
    "numpy": ("numpy", "scipy.special"),
    "jax": ("jax.numpy", "jax.scipy.special", "jax.nn", "jax"),
    "torch": ("torch", "torch.special", "torch.nn.functional"),
}
TURNS = 5
FAR = 10


class Item(NamedTuple):
    family: str
    name: str
    dtype: str
    size: int  # of three; elementwise functions have one
    gradient: bool

    @property
    def function(self) -> Function:
        return FAMILIES[self.family][self.name]


def items(families: Iterable[str]) -> Iterator[Item]:
    for family in families:
        for name, function in FAMILIES[family].items():
            for dtype in ("float32", "float64"):
                for size in range(len(function.shapes) or 1):
                    for gradient in (False, True) if function.gradient else (False,):
                        yield Item(family, name, dtype, size, gradient)


class _Names(dict[str, Any]):
    """The names of a call: its arguments, and what the modules of a library have."""

    def __init__(self, library: str) -> None:
        super().__init__()
        self._renamed = RENAMED.get(library, {})
        self._modules = [import_module(module) for module in MODULES[library]]

    def __missing__(self, name: str) -> Any:
        if name == "scipy":
            return import_module("jax.scipy" if "jax" in sys.modules else "scipy")
        path = self._renamed.get(name, name).split(".")
        for module in self._modules:
            found = module
            for part in path:
                found = vars(found).get(part) if found is not None else None
            if found is not None:
                return found
        raise NameError(name)

    def with_arguments(self, arguments: tuple[Any, ...]) -> _Names:
        self.update(zip("xyz", arguments, strict=False))
        return self


def _draw(item: Item, random: Any, small: bool) -> list[Any]:
    shapes = item.function.arguments(item.size)
    return [
        random.uniform(*bounds, [min(n, 16) for n in shape] if small else shape).astype(item.dtype)
        for shape, bounds in zip(shapes, item.function.ranges, strict=True)
    ]


def call_of(library: str, item: Item, small: bool = False) -> Callable[[], Any]:
    """A call without arguments that computes a value or a gradient. NameError: no such function."""
    expression = item.function.expression(item.name, library)
    if not expression or (library == "numpy" and item.gradient):
        raise NameError(expression)
    code, names = compile(expression, "call", "eval"), _Names(library)

    def call(_: Any, *arguments: Any) -> Any:
        return eval(code, {}, names.with_arguments(arguments))

    operation = Operation(
        item.name, partial(_draw, item), call, gradient=item.gradient, sized=item.function.sized
    )
    run = case_of(library, operation, item.gradient, small).run
    assert callable(run)
    return run


def _seconds(run: Callable[[], Any], least: float) -> float:
    """Of one call: the best of calls that together take `least` seconds."""
    best, total = float("inf"), 0.0
    while total < least:
        began = time.perf_counter()
        run()
        took = time.perf_counter() - began
        best, total = min(best, took), total + took
    return best


def serve(library: str) -> None:
    """The process of a library: an item arrives as a line, its time leaves as one."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    known: tuple[Item, Callable[[], Any]] | None = None
    for line in sys.stdin:
        item = Item(*json.loads(line))
        try:
            if known is None or known[0] != item:
                run = call_of(library, item)
                run()
                known = item, run
            answer = {"seconds": _seconds(known[1], 0.01)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
            absent = isinstance(error, (NameError, AttributeError, NotImplementedError))
            if absent and library != "pullback":
                answer = {}
        print(json.dumps(answer), file=out, flush=True)


def _measure(workers: dict[str, subprocess.Popen[str]], item: Item) -> dict[str, Any]:
    """The best time of each library that has the function."""
    best: dict[str, float] = {}
    errors: dict[str, str] = {}
    active = list(workers)
    for _ in range(TURNS):
        for library in list(active):
            process = workers[library]
            assert process.stdin and process.stdout
            process.stdin.write(json.dumps(item) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            answer = json.loads(line) if line else {"error": "its process ended"}
            if "seconds" in answer:
                best[library] = min(best.get(library, float("inf")), answer["seconds"])
            else:
                active.remove(library)
                if "error" in answer:
                    errors[library] = answer["error"].splitlines()[0][:200]
            if not line:
                del workers[library]
    return {"item": item._asdict(), "seconds": best, "errors": errors}


def _line(result: dict[str, Any]) -> list[str]:
    item, seconds = Item(**result["item"]), result["seconds"]
    shapes = item.function.arguments(item.size)
    work = max(int(np.prod(shape)) for shape in shapes)
    each = [number(1e9 * seconds[name] / work) if name in seconds else "" for name in LIBRARIES]
    ratio = ratio_of(result)
    return [
        item.name,
        "×".join(map(str, shapes[0])),
        item.dtype,
        "gradient" if item.gradient else "value",
        *each,
        number(ratio) if ratio else "",
    ]


def ratio_of(result: dict[str, Any]) -> float | None:
    """Time of pullback over the best other one."""
    seconds = dict(result["seconds"])
    ours = seconds.pop("pullback", None)
    return ours / min(seconds.values()) if ours and seconds else None


def far_behind(slowest: list[dict[str, Any]]) -> str:
    """The functions that take longer than FAR times the best library."""
    far = [result for result in slowest if (ratio_of(result) or 0.0) > FAR]
    if not far:
        return f"No function takes more than {FAR} × the best."
    lines = [f"{number(ratio_of(result) or 0.0)} × {' '.join(_line(result)[:4])}" for result in far]
    return "\n".join([f"More than {FAR} × the best:", *lines])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.functions")
    parser.add_argument("families", nargs="*", help=f"of {', '.join(FAMILIES)}; default: all")
    parser.add_argument("--only", default="", metavar="TEXT", help="names that contain TEXT")
    parser.add_argument(
        "--cache", type=Path, default=Path(".bench"), metavar="DIR", help="environments of peers"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results to FILE too")
    parser.add_argument(
        "--at-most", type=float, metavar="RATIO", help="fail beyond RATIO times the best"
    )
    options = parser.parse_args()
    for family in options.families:
        if family not in FAMILIES:
            parser.error(f"expected families of {', '.join(FAMILIES)}, got {family!r}")
    if not any(options.only in item.name for item in items(options.families or FAMILIES)):
        parser.error(f"no function of these families has {options.only!r} in its name")
    workers = {}
    for library in LIBRARIES:
        python = interpreter(options.cache.absolute(), library)
        if python:
            environment = {**os.environ, "JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}
            workers[library] = subprocess.Popen(
                [python, "-c", f"from bench.functions import serve; serve({library!r})"],
                cwd=ROOT,
                env={**environment, "PYTHONPATH": ""},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
            )
    results = []
    for item in items(options.families or FAMILIES):
        if options.only in item.name:
            print(*item, file=sys.stderr, flush=True)
            results.append(_measure(workers, item))
    for process in workers.values():
        assert process.stdin
        process.stdin.close()
        process.wait()
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    slowest = sorted(results, key=lambda result: -(ratio_of(result) or 0.0))
    head = ["function", "size", "dtype", "what", *LIBRARIES, "× best"]
    print("ns per entry of the largest argument; the slowest against the best first\n")
    print(table(head, [_line(result) for result in slowest]))
    for result in results:
        for library, error in result["errors"].items():
            print(f"{' '.join(map(str, result['item'].values()))}: {library}: {error}")
    print(f"\n{far_behind(slowest)}")
    failed = any(
        options.at_most and (ratio_of(result) or 0.0) > options.at_most for result in results
    )
    return 1 if failed or any("pullback" in result["errors"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
