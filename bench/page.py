"""The tables of docs/benchmarks.md: one line for each workload, one column for each library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .case import OPENBLAS, PEERS
from .goals import best, middle, of
from .report import number, table

END = "<!-- /bench -->"


def begin(part: str = "") -> str:
    """Return the marker before a table; a page has one table for each part."""
    name, option = (f" {part}", f" --part {part}") if part else ("", "")
    return f"<!-- bench{name}: python -m bench.report FILE --page docs/benchmarks.md{option} -->"


# Styles of pullback and the column they stand in; the last have a line of their own.
PLAIN = ("lazy", "tape", "a + b", "")
IN_FUNCTION = ("function", "tape in function")
OWN_LINE = {
    "Session.run": "the same, `compat.tf1` `Session.run`",
    "evaluate(a + b)": "the same, and computed: `evaluate(a + b)`",
    "with its BLAS": "the same, with the `scipy-openblas32` that it loads",
}
LEFT_OUT = {"triad", "gemm"}  # the machine's, said above the table


def human(value: float | None, unit: str) -> str:
    if value is None:
        return "–"
    if unit == "µs" and value >= 10_000:
        value, unit = value / 1e3, "ms"
    if unit == "ms" and value >= 10_000:
        value, unit = value / 1e3, "s"
    return f"{number(value)} {unit}"


def first_of(results: list[dict[str, Any]], styles: tuple[str, ...]) -> float | None:
    found = (of(results, "pullback", style) for style in styles)
    return next((value for value in found if value is not None), None)


def lines(content: dict[str, Any]) -> list[list[str]]:
    out = []
    for name, row in content["rows"].items():
        same = [r for r in content["results"] if r["row"] == name]
        if name in LEFT_OUT or not same:
            continue
        unit = row["unit"]
        others = [best(same, [library]) for library in (*PEERS, "C++", OPENBLAS, "limit")]
        cells = [human(value, unit) for value in others]
        plain, function = first_of(same, PLAIN), first_of(same, IN_FUNCTION)
        out.append([row["about"], human(plain, unit), human(function, unit), *cells])
        for style, about in OWN_LINE.items():
            value = of(same, "pullback", style)
            if value is not None:
                out.append([about, human(value, unit), "–", *cells])
    return out


def first_calls(content: dict[str, Any], known: dict[str, str]) -> list[str]:
    """What tracing, planning or compiling thousands of operations costs, once."""
    libraries = ("pullback", *PEERS)
    cells = []
    for name, row in content["rows"].items():
        forms: dict[str, list[dict[str, Any]]] = {library: [] for library in libraries}
        for r in content["results"]:
            if r["row"] == name and r["library"] in forms and r["first_ms"] is not None:
                forms[r["library"]].append(r)
        ours = [r for r in forms["pullback"] if r["style"] == "function"]
        if not row["unrolled"] or not ours:
            continue
        fastest = [min(forms[peer], key=middle, default=None) for peer in PEERS]
        times = [f["first_ms"] if f else None for f in (ours[0], *fastest)]
        cells.append([row["about"], *(human(time, "ms") for time in times)])
    head = ["first call: tracing, planning or compiling", "pullback in `@pb.function`"]
    head += [f"{library} {known.get(library, '')}".strip() for library in PEERS]
    used = [i for i in range(len(head)) if i < 2 or any(row[i] != "–" for row in cells)]
    if not cells:
        return []
    return ["", table([head[i] for i in used], [[row[i] for i in used] for row in cells])]


def versions(content: dict[str, Any]) -> dict[str, str]:
    return {r["library"]: r["version"].split("+")[0] for r in content["results"] if r["version"]}


def speeds(content: dict[str, Any], row: str, unit: str) -> str:
    """What the machine did, the best of each kind."""
    kinds: dict[str, float] = {}
    for result in content["results"]:
        if result["row"] == row:
            kind = result["style"].split(", ")[0] if ", " in result["style"] else ""
            kinds[kind] = max(kinds.get(kind, 0), middle(result))
    return " and ".join(f"{number(value)} {unit} {kind}".strip() for kind, value in kinds.items())


def text(content: dict[str, Any]) -> str:
    about, known = content["machine"], versions(content)
    head = ["value and gradient unless stated otherwise", "pullback", "in `@pb.function`"]
    head += [f"{library} {known.get(library, '')}".strip() for library in PEERS]
    head += ["C++ by hand", "OpenBLAS alone", "limit"]
    cells = lines(content)
    used = [i for i in range(len(head)) if i < 3 or any(row[i] != "–" for row in cells)]
    measured = [speeds(content, "triad", "GB/s"), speeds(content, "gemm", "GFLOP/s")]
    limits = "; ".join(filter(None, measured))
    return "\n".join(
        [
            f"Medians of `python -m bench`, some rows at a time, on {content['date'][:10]}: "
            f"{about['cores']} cores of {about['processor']},",
            f"{about['cpu_level']} kernels{f' ({limits})' if limits else ''}. Each library runs in "
            "its own process, and",
            "repetitions are interleaved. Of each peer the fastest variant counts. *OpenBLAS "
            "alone* is the time of the",
            "matrix products of the row in the library that pullback loads. *limit* is the time "
            "to read and write the",
            "arrays of the row, or of one empty call.",
            "",
            table([head[i] for i in used], [[row[i] for i in used] for row in cells]),
            *first_calls(content, known),
        ]
    )


def write(path: Path, content: dict[str, Any], part: str = "") -> None:
    """Replace the text between the two markers of the part."""
    if content["smoke"]:
        raise SystemExit(f"{path}: the figures of a smoke run mean nothing")
    mark = begin(part)
    before, found, rest = path.read_text(encoding="utf-8").partition(mark)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise SystemExit(f"{path}: put the table's place between {mark} and {END}")
    path.write_text(f"{before}{mark}\n{text(content)}\n{END}{after}", encoding="utf-8")
