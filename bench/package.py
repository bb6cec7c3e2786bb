"""What a library costs before it computes anything: its size, its import, its first call."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from functools import partial
from importlib import import_module

from .case import Case, Goal, Make, Row, by
from .workloads import WORKLOADS

# The distributions that are the library itself.
PARTS = {
    "pullback": ["pullback"],
    "torch": ["torch"],
    "jax": ["jax", "jaxlib"],
    "tensorflow": ["tensorflow_cpu"],
    "autograd": ["autograd"],
}


def import_time(library: str, small: bool) -> float:
    import numpy  # noqa: F401 (every library needs it)

    began = time.perf_counter()
    import_module(library)
    return 1e3 * (time.perf_counter() - began)


def first_call(library: str, style: str, small: bool) -> float:
    import_module(library)
    case = by(library, style, WORKLOADS["mlp"])(small)
    assert isinstance(case, Case) and callable(case.run)
    began = time.perf_counter()
    case.run()
    return 1e3 * (time.perf_counter() - began)


def wheel_size(parts: list[str], small: bool) -> float:
    """The installed files, each deflated as a wheel deflates them: no wheel is at hand."""
    from importlib.metadata import distribution  # here, as it takes long to import

    total = 0
    for name in parts:
        for file in distribution(name).files or ():
            path = file.locate()
            if file.suffix == ".pyc" or not path.is_file():
                continue
            deflate = zlib.compressobj()
            with open(path, "rb") as opened:
                while block := opened.read(1 << 20):
                    total += len(deflate.compress(block))
            total += len(deflate.flush())
    return total / 1e6


def each(function: Callable[[str, bool], float]) -> dict[tuple[str, str], Make]:
    return {(library, ""): partial(function, library) for library in PARTS}


FIRST = (
    ("pullback", "lazy", "lazy"),
    ("pullback", "function", "function"),
    ("torch", "eager", "eager"),
    ("jax", "jit", "jit"),
    ("tensorflow", "function", "function"),
    ("tensorflow", "XLA", "xla"),
    ("autograd", "", "value_and_grad"),
)

ROWS = {
    "import": Row(
        "import beyond `import numpy`",
        "ms",
        each(import_time),
        repeat="process",
        goal=Goal(60, style=""),
    ),
    "first": Row(
        "mlp, first call in a new process after import",
        "ms",
        {(library, name): partial(first_call, library, style) for library, name, style in FIRST},
        repeat="process",
        goal=Goal(6),
    ),
    "wheel": Row(
        "size of the wheel",
        "MB",
        {(library, ""): partial(wheel_size, parts) for library, parts in PARTS.items()}
        | {("pullback", "with its BLAS"): partial(wheel_size, ["pullback", "scipy-openblas32"])},
        repeat="once",
        slow=frozenset((library, "") for library in PARTS if library != "pullback"),
        goal=Goal(7, style=""),
    ),
}
