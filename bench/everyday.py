"""Value and gradient of everyday work that no row of formulas.py resembles: batches of small
matrices, norms, columns taken apart, shifted slices, second derivatives; and training steps.

The formulas are in everyday_formulas.py where libraries spell them alike, else in by_*.py.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .case import PEERS, Case, Goal, Make, Row, by
from .formulas import ALL, SLOW
from .workloads import Data, Workload, classifier


def _draw(shapes: list[tuple[int, ...]], inputs: list[tuple[int, ...]], small: bool) -> Data:
    """Long axes are cut for a smoke run."""
    random = np.random.default_rng(0)

    def array(shape: tuple[int, ...]) -> Any:
        cut = [min(n, 16) if small else n for n in shape]
        return random.standard_normal(cut, dtype=np.float32)

    return Data([array(s) for s in shapes], [array(s) for s in inputs])


def _of(formula: str, *shapes: tuple[int, ...], inputs: list[tuple[int, ...]] | None = None) -> Any:
    return Workload(formula, partial(_draw, list(shapes), inputs or []))


def rows_added(small: bool) -> Data:
    """Parameter: rows to add to those of a table; inputs: which, and the table."""
    random = np.random.default_rng(0)
    rows, table, width = (20, 10, 4) if small else (50_000, 10_000, 16)
    x = random.standard_normal((rows, width), dtype=np.float32)
    return Data([x], [random.integers(0, table, rows), np.ones((table, width), np.float32)])


def entries_taken(small: bool) -> Data:
    """Parameter: entries; inputs: which of them, and their weights."""
    random = np.random.default_rng(0)
    n = 20 if small else 100_000
    x, weights = (random.standard_normal(n, dtype=np.float32) for _ in range(2))
    return Data([x], [random.integers(0, n, n), weights])


def embedding(small: bool) -> Data:
    """Parameter: a table; inputs: which of its rows to move, and where to."""
    random = np.random.default_rng(0)
    rows, width, count = (50, 4, 3) if small else (1_000_000, 64, 100)
    table = random.standard_normal((rows, width), dtype=np.float32)
    wanted = random.standard_normal((count, width), dtype=np.float32)
    return Data([table], [random.integers(0, rows, count), wanted])


def physics(small: bool) -> Data:
    """Parameters: of a network from (t, x) to u; input: the points."""
    random = np.random.default_rng(0)
    parameters: list[Any] = []
    for rows, columns in [(2, 32), (32, 32), (32, 1)]:
        parameters.append(random.normal(0, rows**-0.5, (rows, columns)).astype(np.float32))
        parameters.append(random.normal(0, 0.1, columns).astype(np.float32))
    return Data(parameters, [random.random((16 if small else 256, 2), dtype=np.float32)])


GRADIENTS = {
    "vectors": _of("vectors", (20_000, 4, 4), (20_000, 4)),
    "matrices-3": _of("matrices", (20_000, 3, 3), (20_000, 3, 3)),
    "matrices-8": _of("matrices", (4_000, 8, 8), (4_000, 8, 8)),
    "matrices-16": _of("matrices", (1_000, 16, 16), (1_000, 16, 16)),
    "shared-left": _of("matrices", (16, 16), (4_000, 16, 8)),
    "bilinear": _of("bilinear", (32, 64, 64), inputs=[(128, 64), (128, 64)]),
    "cubes": _of("cubes", (1_000_000,)),
    "batch-norm": _of("batch_norm", (1024, 128), (128,), (128,), inputs=[(1024, 128)]),
    "layer-norm": _of("layer_norm", (1024, 128), (128,), (128,), inputs=[(1024, 128)]),
    "columns": _of("columns", (1_000_000, 3)),
    "cross": _of("cross", (100_000, 3), (100_000, 3), inputs=[(100_000, 3)]),
    "columns-taken": _of("columns_taken", (100_000, 3), inputs=[(100_000, 3)]),
    "entries-taken": Workload("entries_taken", entries_taken),
    "middle": _of("middle", (64, 256, 64)),
    "middle-of-3": _of("middle", (1000, 3, 300)),
    "convolution": _of("convolution", (8, 128, 128), (5, 5)),
    "rows-added": Workload("rows_added", rows_added),
    "physics": Workload("physics", physics),
}
EMBEDDING = Workload("embedding", embedding)
QUANTIZED = Workload("quantized", partial(classifier, (784, 128, 10), 128))
ARGMAX = {f"argmax-{n}": (1_000_000 // n, n) for n in (10, 100, 1000)}

STYLES = {key: style for key, style in ALL.items() if key[0] in {"pullback", "torch", "jax"}}
ABOUT = {
    "vectors": "a 4×4 matrix times a vector, 20 000 times, by einsum",
    "matrices-3": "products of 3×3 matrices, 20 000 times",
    "matrices-8": "products of 8×8 matrices, 4 000 times",
    "matrices-16": "products of 16×16 matrices, 1 000 times",
    "shared-left": "one 16×16 matrix times 4 000 of 16×8",
    "bilinear": "einsum bi,oij,bj->bo, batch 128, 64 and 64 to 32",
    "cubes": "sum of x³, 10⁶",
    "batch-norm": "batch norm of 1024×128",
    "layer-norm": "layer norm of 1024×128",
    "columns": "lengths of 10⁶ vectors, by their three columns",
    "cross": "cross products of 100 000 vectors",
    "columns-taken": "the three columns of 100 000 rows in another order, squared",
    "entries-taken": "100 000 entries of a vector of that length, squared",
    "middle-of-3": "squares of the sums over the middle axis of 1000×3×300",
    "middle": "squares of the sums over the middle axis of 64×256×64",
    "convolution": "convolution of 8×128×128 with 5×5 by shifted slices",
    "rows-added": "50 000 rows of 16 added to 10 000 rows of a table",
    "physics": "2-32-32-1 tanh network, residual of Burgers' equation at 256 points",
}


def _row(name: str) -> Row:
    make = {key: by(key[0], style, GRADIENTS[name]) for key, style in STYLES.items()}
    if name == "physics":
        del make["torch", "compile"]  # cannot compile a gradient inside
    slow = SLOW & {*make}
    return Row(f"{ABOUT[name]}, float32", "µs", make, slow=slow, goal=Goal(1.0, PEERS))


def _argmax(shape: tuple[int, int], library: str) -> Make:
    """The largest entry of each row; the check is the sum of their places."""

    def case(small: bool) -> Case:
        x = _draw([shape], [], small).parameters[0]
        run: Callable[[], Any]
        if library == "pullback":
            import pullback as pb

            value, argmax = pb.constant(x), pb.function(lambda x: pb.argmax(x, axis=-1))
            run = lambda: pb.evaluate(argmax(value))  # noqa: E731
        elif library == "torch":
            import torch

            tensor = torch.from_numpy(x)
            run = lambda: torch.argmax(tensor, -1)  # noqa: E731
        elif library == "jax":
            import jax
            import jax.numpy as jnp

            array, compiled = jnp.asarray(x), jax.jit(lambda x: jnp.argmax(x, axis=-1))
            run = lambda: jax.block_until_ready(compiled(array))  # noqa: E731
        else:
            run = lambda: np.argmax(x, axis=-1)  # noqa: E731
        return Case(run, check=lambda places: [float(np.asarray(places).sum())])

    return case


def _argmax_row(name: str) -> Row:
    rows, length = ARGMAX[name]
    libraries = {"pullback": "function", "numpy": "", "torch": "eager", "jax": "jit"}
    make = {
        (library, style): _argmax(ARGMAX[name], library) for library, style in libraries.items()
    }
    return Row(f"argmax of {rows} rows of {length} float32", "µs", make,
               goal=Goal(1.0, (*PEERS, "numpy")))  # fmt: skip


ROWS = {
    **{name: _row(name) for name in GRADIENTS},
    **{name: _argmax_row(name) for name in ARGMAX},
    "embedding-train": Row(
        "100 of 1 000 000 rows of 64 read, gradient descent: training step",
        "µs",
        {
            ("pullback", "tape"): by("pullback", "tape", EMBEDDING),
            ("pullback", "tape in function"): by("pullback", "tape_in_function", EMBEDDING),
            ("pullback", "Session.run"): by("pullback", "embedding_session", EMBEDDING),
            ("torch", "eager"): by("torch", "train", EMBEDDING),
            ("torch", "eager, dense"): by("torch", "embedding_dense", EMBEDDING),
            ("torch", "compile"): by("torch", "train_compiled", EMBEDDING),
            ("jax", "jit"): by("jax", "train", EMBEDDING),
            ("jax", "jit, rows by hand"): by("jax", "embedding_rows", EMBEDDING),
            ("tensorflow", "function"): by("tensorflow", "train", EMBEDDING),
            ("tensorflow", "XLA"): by("tensorflow", "train_xla", EMBEDDING),
        },
        slow=SLOW,
        goal=Goal(1.0, PEERS, "tape in function"),
    ),
    "quantized-train": Row(
        "784-128-10 relu, 4-bit weights straight through, batch 128, momentum: training step",
        "µs",
        {
            ("pullback", "tape in function"): by("pullback", "tape_in_function", QUANTIZED),
            ("torch", "eager"): by("torch", "train", QUANTIZED),
            ("torch", "compile"): by("torch", "train_compiled", QUANTIZED),
            ("jax", "jit"): by("jax", "train", QUANTIZED),
        },
        slow=SLOW,
        goal=Goal(1.0, PEERS, "tape in function"),
    ),
}
