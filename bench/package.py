"""What a library costs before it computes anything: its size, its import, its first call."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import distribution

from .case import Case, Row
from .classifier_peers import jax_case, torch_case
from .classifier_pullback import pullback_function, pullback_lazy
from .models import MLP

# The distributions that are the library itself; what it depends on is not counted.
PARTS = {"pullback": ["pullback"], "torch": ["torch"], "jax": ["jax", "jaxlib"]}


def import_time(library: str) -> float:
    import numpy  # noqa: F401 (every library needs it)

    began = time.perf_counter()
    import_module(library)
    return 1e3 * (time.perf_counter() - began)


def first_call(library: str, make: Callable[..., Case]) -> float:
    import_module(library)
    run = make(MLP).run
    assert callable(run)
    began = time.perf_counter()
    run()
    return 1e3 * (time.perf_counter() - began)


def wheel_size(library: str) -> float:
    """The installed files, each deflated as a wheel deflates them: no wheel is at hand."""
    total = 0
    for name in PARTS[library]:
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


def each(function: Callable[[str], float]) -> dict[tuple[str, str], Callable[[], float]]:
    return {(library, ""): partial(function, library) for library in PARTS}


ROWS = {
    "import": Row("import beyond `import numpy`", "ms", each(import_time), repeat="process"),
    "first": Row(
        "mlp, first call in a new process after import",
        "ms",
        {
            ("pullback", "lazy"): partial(first_call, "pullback", pullback_lazy),
            ("pullback", "function"): partial(first_call, "pullback", pullback_function),
            ("torch", "eager"): partial(first_call, "torch", torch_case),
            ("jax", "jit"): partial(first_call, "jax", jax_case),
        },
        repeat="process",
    ),
    "wheel": Row(
        "size of the wheel",
        "MB",
        each(wheel_size),
        repeat="once",
        slow=frozenset({("torch", ""), ("jax", "")}),
    ),
}
