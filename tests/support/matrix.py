"""What each public function supports, asked of the case table: `tools/support_matrix`.

Of every function the smallest case of its own in the table is run: with a gradient, with a gradient
of that, in each dtype, and in a plan alone. The answers are docs/support_matrix.md and the file
that `pullback.supports` reads.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

import pullback as pb
from pullback import _core

from .cases import Case
from .plans import plan_of
from .table import CASES

ROOT = Path(__file__).parents[2]
DATA = ROOT / "python" / "pullback" / "_runtime" / "support.json"
PAGE = ROOT / "docs" / "support_matrix.md"
SPACES = (pb, pb.special, pb.nn, pb.linalg)
DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
)  # fmt: skip
HEAD = """# What supports what

Written by `tools/support_matrix`, which runs a case of each function's own: *gradient*, and
*second* for the gradient of that (zero: it is there, and zero throughout); *fused*: in a plan it is
part of one step with its elementwise neighbours (view: no step at all); *dtypes*: those of its
arguments that it takes, by their kinds and bits (b bool, i and u integers, f floats, bf bfloat16, c
complex numbers). A function made of others is listed with the properties of the whole function.
`pb.supports(name, what)` answers the same questions.

| function | gradient | second | fused | dtypes |
|---|---|---|---|---|
"""


def public_name(case: Case) -> str | None:
    """The function that a case is about, if that is a public one."""
    for name in (case.id.split()[0], case.op):
        if any(name in space.__all__ for space in SPACES):
            return name
    return None


def examples() -> dict[str, Case]:
    """Of each function its first case whose arguments have some entries, and axes if any has."""
    found: dict[str, Case] = {}
    for case in sorted(CASES, key=lambda case: () in (shapes_of(case) or ())):
        name = public_name(case)
        if name and name not in found and shapes_of(case):
            found[name] = case
    return dict(sorted(found.items()))


def shapes_of(case: Case) -> Any:
    """Those of a call that is not over nothing, with axes if there is one."""
    calls = [s for s in case.shapes if all(np.prod(shape) > 0 for shape in s)]
    return max(calls, key=lambda s: sum(len(shape) > 0 for shape in s), default=None)


def first_of(result: Any) -> Any:
    return _core.flatten(result)[0]


def answers(case: Case) -> dict[str, Any]:
    xs = case.arrays(shapes_of(case), "d" if "d" in case.dtypes else case.dtypes[-1])
    gradient, second = orders(case, xs)
    return {
        "gradient": gradient,
        "second": second,
        "fused": fused(case, xs),
        "dtypes": dtypes_of(case, xs),
    }


def orders(case: Case, xs: list[Any]) -> tuple[str, str]:
    """Whether there is a gradient, and whether that has one: of sums under weights, as plain ones
    of softmax are constant."""
    rng = np.random.default_rng(0)

    def derivatives(ys: list[Any]) -> list[Any]:
        weights = [pb.constant(rng.uniform(0.5, 1.5, y.shape), y.dtype) for y in ys]
        return [g for g in pb.gradients(ys, floats, grad_ys=weights) if g is not None]

    wrt = case.wrt or range(len(xs))  # an order has no gradient
    tensors = [
        pb.Variable(x) if x.dtype.kind == "f" and k in wrt else pb.constant(x)
        for k, x in enumerate(xs)
    ]
    floats = [t for t in tensors if isinstance(t, pb.Variable)]
    results = [y for y in first_of(case.run(*tensors)) if y.dtype.kind == "f"]
    if not floats or not results:
        return "no", "no"
    grads = derivatives(results)
    if not grads:
        return "no", "no"
    return "yes", "yes" if any(h.numpy().any() for h in derivatives(grads)) else "zero"


def fused(case: Case, xs: list[Any]) -> str:
    results = first_of(case.run(*[pb.constant(x) for x in xs]))
    results = [y for y in results if isinstance(y, pb.Tensor)]
    steps, _ = plan_of(*results)
    if not steps:
        return "view"
    neighbours = [y if y.dtype.kind == "b" else pb.negative(y) for y in results]
    steps, _ = plan_of(*neighbours)
    return "yes" if steps == {"tiles": 1} else "no"


def dtypes_of(case: Case, xs: list[Any]) -> list[str]:
    return [dtype for dtype in DTYPES if takes(case, xs, dtype)]


def takes(case: Case, xs: list[Any], dtype: str) -> bool:
    try:
        # Of arguments that all have a dtype of their own, any other may do as well.
        fixed = [domain.dtype for domain in case.domains]
        cast = [
            pb.constant(x) if own and not all(fixed) else pb.astype(pb.constant(x), dtype)
            for x, own in zip(xs, fixed, strict=True)
        ]
        for y in first_of(case.run(*cast)):
            if isinstance(y, pb.Tensor):
                pb.astype(y, "float32").numpy() if y.dtype.kind == "V" else y.numpy()
    except (TypeError, ValueError, ArithmeticError, NotImplementedError) as error:
        return isinstance(error, ZeroDivisionError)
    return True


def short(dtypes: list[str]) -> str:
    """b i8 … f64 as one cell: kinds with their sizes in bits."""
    kinds: dict[str, list[str]] = {}
    for dtype in dtypes:
        letters = dtype.rstrip("0123456789")
        sign = {"bool": "b", "int": "i", "uint": "u", "float": "f", "bfloat": "bf", "complex": "c"}
        kinds.setdefault(sign[letters], []).append(dtype[len(letters) :])
    return " ".join(kind + "/".join(sizes) for kind, sizes in kinds.items())


def page(matrix: dict[str, Any]) -> str:
    rows = [
        f"| `{name}` | {a['gradient']} | {a['second']} | {a['fused']} | {short(a['dtypes'])} |"
        for name, a in matrix.items()
    ]
    return HEAD + "\n".join(rows) + "\n"


def data(matrix: dict[str, Any]) -> str:
    rows = [f" {json.dumps(name)}: {json.dumps(a)}" for name, a in matrix.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def with_second_names(matrix: dict[str, Any]) -> dict[str, Any]:
    """Add the functions that their docstring calls an alias or a variant of one in the matrix."""
    more = {}
    for space in SPACES:
        for name in space.__all__:
            text = getattr(space, name).__doc__ or ""
            first = re.match(r"(?:The same as |Alias of |.*\n\s+As )?`(\w+)`[.,]", text)
            if name not in matrix and first and first[1] in matrix:
                more[name] = matrix[first[1]]
    return dict(sorted((matrix | more).items()))


def main() -> int:
    matrix = with_second_names({name: answers(case) for name, case in examples().items()})
    wanted = {DATA: data(matrix), PAGE: page(matrix)}
    if sys.argv[1:] == ["--check"]:
        old = [path.name for path, text in wanted.items() if path.read_text() != text]
        if old:
            print(f"not current: {', '.join(old)}; run tools/support_matrix")
        return 1 if old else 0
    for path, text in wanted.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
