"""`python -m bench`: every row is there and runs, what is compared computes the same, and a report
says what the figures say.

No time is asserted: the figures of a smoke run mean nothing.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.each import each
from support.table import CASES

import pullback as pb
from bench import (
    attention,
    bundle_adjustment,
    descents,
    draws,
    error_functions,
    everyday,
    fitting_programs,
    function_table,
    functions,
    goals,
    gradbench,
    hand_tracking,
    limits,
    loops,
    matrices,
    networks,
    overhead,
    page,
    recompute,
    report,
    science_programs,
    short_rows,
    small_loops,
    sparse,
    training_programs,
    transforms,
    vocabulary,
)
from bench.case import PEERS, all_rows
from bench.workloads import WORKLOADS, below_diagonal, triangle

ROOT = Path(__file__).resolve().parents[2]
ROWS = all_rows()
LSE = [f"lse-{n}" for n in (2500, 20000, 160000, 1280000)]
LLSQ = [f"llsq-{n}" for n in (16, 512, 16392)]
GRADIENTS = ["rosen", "softreg", "mlp", "elem", "xent", "chain", "gmm", *LSE, *LLSQ, "lstm"]
GRADBENCH = [
    *descents.ROWS,
    *gradbench.ROWS,
    *bundle_adjustment.ROWS,
    *hand_tracking.ROWS,
]
TRAINING = ["softreg-train", "mlp-train"]
# One of each family in a smoke run, with the styles of pullback it has.
SMOKE = {
    "op": {"a + b", "evaluate(a + b)"},
    "softreg-train": {"tape", "tape in function", "Session.run"},
    "gmm": {"lazy", "function", "value"},
    "lse-2500": {"lazy", "function", "value"},
    "first": {"lazy", "function"},
    "import": {""},
    "wheel": {"", "with its BLAS"},
}


def bench(tmp_path, *arguments):
    """The table, and the JSON that was written beside it."""
    written = tmp_path / "results.json"
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--cache", tmp_path, "--json", written, *arguments],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout, json.loads(written.read_text(encoding="utf-8"))


def cells(table):
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line.startswith("|")
    ]


def test_rows():
    others = ["op", "import", "first", "wheel", "triad", "gemm"]
    others += [
        *everyday.ROWS,
        *networks.ROWS,
        *overhead.MADE_OF,
        "session",
        "dataset",
        "dataset-batched",
        "op-debug",
        *recompute.ROWS,
        *sparse.ROWS,
        *training_programs.ROWS,
        *science_programs.ROWS,
        *fitting_programs.ROWS,
        *transforms.ROWS,
        *loops.ROWS,
        *short_rows.ROWS,
        *small_loops.ROWS,
        *GRADBENCH,
        *vocabulary.ROWS,
        *error_functions.ROWS,
        *matrices.ROWS,
        *draws.ROWS,
        *attention.ROWS,
    ]
    assert sorted(ROWS) == sorted([*GRADIENTS, *TRAINING, *others])
    for name in GRADIENTS:
        libraries = {library for library, _ in ROWS[name].make}
        assert {"pullback", *PEERS, "numpy"} <= libraries
        assert {style for library, style in ROWS[name].make if library == "pullback"} == {
            *("lazy", "function", "value")
        }
        assert ("tensorflow", "XLA") in ROWS[name].make
    for name in TRAINING:
        styles = {style for library, style in ROWS[name].make if library == "pullback"}
        assert styles == {"tape", "tape in function", "Session.run"}


# Functions of bits of integers, which bench.functions does not measure.
BITS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert"}
BITS |= {"bitwise_left_shift", "bitwise_right_shift", "left_shift", "right_shift"}

# The column "goal, first" of the workloads, in times of the best peer.
RATIOS = {"rosen": 0.4, "softreg": 0.5, "mlp": 0.8, "elem": 0.5, "xent": 0.6, "chain": 0.4}
RATIOS |= {"gmm": 0.3, "softreg-train": 0.5, "mlp-train": 0.8}
AT_PAR = [
    *LSE,
    *LLSQ,
    *everyday.ROWS,
    *networks.ROWS,
    *overhead.MADE_OF,
    *recompute.ROWS,
    *sparse.ROWS,
    *training_programs.ROWS,
    *science_programs.ROWS,
    *fitting_programs.ROWS,
    *(name for name, row in transforms.ROWS.items() if row.goal),
    *loops.ROWS,
    *short_rows.ROWS,
    *small_loops.ROWS,
    *GRADBENCH,
    *vocabulary.ROWS,
    *error_functions.ROWS,
    *matrices.ROWS,
    *draws.ROWS,
    "session",
    "dataset",
    "dataset-batched",
]
RATIOS |= dict.fromkeys(AT_PAR, 1.0) | dict.fromkeys(attention.ROWS, 1.1)
ABSOLUTE = {"lstm": 30_000, "import": 60, "first": 6, "op": 0.3, "wheel": 7}


def test_each_elementwise_function_is_measured():
    """bench.functions has every public function that is elementwise in the table of cases."""
    called = " ".join(
        function.expression(name, "pullback")
        for name, function in function_table.ELEMENTWISE.items()
    )
    listed = set(re.findall(r"\w+(?=\()", called)) | function_table.SAME_KERNEL
    spaces = (pb, pb.special, pb.nn)
    elementwise = {case.id for case in CASES if case.elementwise}
    public = {name for name in elementwise if any(name in space.__all__ for space in spaces)}
    assert len(public) > 90
    assert public - listed - {"cast", "invert", *BITS} == set()


ITEMS = [item for item in functions.items(functions.FAMILIES) if item.size == 0]


@each("item", ITEMS, ids=[" ".join(map(str, item)) for item in ITEMS])
def test_functions_agree(item):
    """The calls of pullback and of NumPy or SciPy that bench.functions times, on small arrays."""
    ours = functions.call_of("pullback", item, small=True)()
    assert ours.dtype.name in {item.dtype, "bool", "int64", "float64"}
    try:
        expected = functions.call_of("numpy", item, small=True)()
    except (NameError, AttributeError):
        return  # NumPy and SciPy have no such function, or it is a gradient
    tolerance = 2e-4 if item.dtype == "float32" else 1e-9
    np.testing.assert_allclose(ours.numpy(), expected, tolerance, tolerance)


def test_functions_that_are_far_behind_are_listed():
    seconds = [{"pullback": 3e-5, "jax": 1e-6, "numpy": 2e-6}, {"pullback": 9e-6, "jax": 1e-6}]
    results = [
        {"item": item._asdict(), "seconds": each_library, "errors": {}}
        for item, each_library in zip(ITEMS, seconds, strict=False)
    ]
    first = f"30.0 × {ITEMS[0].name} "
    assert first in functions.far_behind(results)
    assert functions.far_behind(results).count("\n") == 1
    assert functions.far_behind(results[1:]) == "No function takes more than 10 × the best."


def test_goals_of_rows():
    for name, row in ROWS.items():
        if name in RATIOS:
            assert (row.goal.most, set(PEERS) <= set(row.goal.over)) == (RATIOS[name], True)
            assert ("C++" in row.goal.over) == name.startswith("lse")
            measured = {**vocabulary.ROWS, **error_functions.ROWS, **matrices.ROWS, **draws.ROWS}
            beside_numpy = name.startswith("argmax") or name in measured
            assert ("numpy" in row.goal.over) == beside_numpy
        elif name in ABSOLUTE:
            assert (row.goal.most, row.goal.over) == (ABSOLUTE[name], ())
        else:
            assert row.goal is None
        if row.goal:
            assert ("pullback", row.goal.style) in row.make
        assert row.cpp_most == (1.2 if ("C++", "by hand") in row.make else None)


# mlp has the kinks of relu, and the formula of softreg.
@each("name", [name for name in WORKLOADS if name != "mlp"])
def test_gradient_by_hand(name):
    """by_numpy.py, which all libraries are compared with, against differences of its values."""
    from bench import by_numpy

    data = WORKLOADS[name].data(small=True)
    formula = getattr(by_numpy, WORKLOADS[name].formula)
    parameters = [p.astype(np.float64) for p in data.parameters]
    if name == "chain":  # its steps compute in float32
        data.static["steps"] = 2
    random = np.random.default_rng(1)
    directions = [random.normal(size=p.shape) for p in parameters]

    def value(step):
        moved = [p + step * d for p, d in zip(parameters, directions, strict=True)]
        return formula(moved, *data.inputs, **data.static)[0]

    _, gradients = formula(parameters, *data.inputs, **data.static)
    slope = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
    h = 1e-6
    assert (value(h) - value(-h)) / (2 * h) == pytest.approx(float(slope), rel=1e-5)


@pytest.mark.parametrize("style", ["lazy", "function"])
@pytest.mark.parametrize("name", WORKLOADS)
def test_pullback_agrees_with_the_gradient_by_hand(name, style):
    from bench import by_numpy, by_pullback

    work = WORKLOADS[name]
    value, gradients = getattr(by_pullback, style)(work, True).run()
    expected, slopes = by_numpy.by_hand(work, True).run()
    tolerance = 1e-10 if work.float64 else 1e-4
    assert float(value) == pytest.approx(float(expected), rel=tolerance)
    for gradient, slope in zip(gradients, slopes, strict=True):
        scale = np.abs(slope).max()
        np.testing.assert_allclose(gradient.numpy(), slope, tolerance, tolerance * scale)


@each("style", ["lazy", "function"])
@each("name", WORKLOADS)
def test_a_second_evaluation_plans_nothing(name, style):
    from bench import by_pullback

    run = getattr(by_pullback, style)(WORKLOADS[name], True).run
    run()
    planned = pb._core.status()["plan_misses"]
    run()
    assert pb._core.status()["plan_misses"] == planned


def test_lower_triangles():
    d = 5
    rows, columns = below_diagonal(d)
    assert (rows > columns).all()
    assert list(zip(columns, rows, strict=True)) == sorted(zip(columns, rows, strict=True))
    matrix = np.zeros((d, d), np.int64)
    matrix[np.arange(d), np.arange(d)] = 1 + np.arange(d)
    matrix[rows, columns] = 1 + d + np.arange(len(rows))
    np.testing.assert_array_equal(triangle(d), matrix)


def test_limits_are_the_products_of_the_network():
    shapes = [(p.m, p.k, p.n) for p in limits.network_products((784, 256, 10), 128)(False)]
    assert shapes == [
        *((128, 784, 256), (784, 128, 256)),
        *((128, 256, 10), (256, 128, 10), (128, 10, 256)),
    ]
    # Q x forward, and back to x and to Q: 2·n·d·d each, for each of k.
    work = sum(2 * p.m * p.n * p.k * p.times for p in limits.gmm_products(False))
    assert work == 3 * 2 * 1000 * 64 * 64 * 100


@pytest.mark.parametrize(
    "rows", [["first"], pytest.param([*SMOKE, "triad"], marks=pytest.mark.slow)], ids=["one", "all"]
)
def test_smoke(tmp_path, rows):
    table, content = bench(tmp_path, "--smoke", "--rows", *rows, "growth")
    assert "the figures mean nothing" in table
    head, rule, *lines = cells(table.split("\n\n× peer")[0])
    assert head[:5] == ["row", "library", "style", "median", "range"]
    assert set("".join(rule)) <= {"-", ":"}
    assert {len(line) for line in lines} == {len(head)}
    assert " met" not in table and " missed" not in table
    for row in {*rows} & {*SMOKE}:
        mine = [r for r in content["results"] if r["row"] == row and r["library"] == "pullback"]
        assert {r["style"] for r in mine} == SMOKE[row]
        assert all(len(r["samples"]) == 1 and r["samples"][0] > 0 for r in mine)
        assert all(r["peak_mb"] > 0 for r in mine)
    assert content["smoke"]
    assert content["failures"] == []
    assert content["machine"]["threads"] >= 1
    (growth,) = content["growth"]
    assert growth["length"] == 1000
    assert growth["planned again"] == 0
    assert all(growth[name] > 0 for name in ("build", "gradient", "first evaluation", "replay"))


@pytest.mark.slow
def test_repetitions_and_ratios(tmp_path):
    arguments = ["--rows", "softreg", "--repetitions", "3", "--seconds", "0.001"]
    table, content = bench(tmp_path, *arguments)
    assert "the figures mean nothing" not in table
    assert {len(r["samples"]) for r in content["results"]} == {3}
    head, _, *lines = cells(table)
    ratios = {(line[1].split()[0], line[2]): line[head.index("× limit")] for line in lines}
    assert "1.00" in [ratio for (library, _), ratio in ratios.items() if library == "OpenBLAS"]
    assert float(ratios["pullback", "lazy"]) > 0
    # The same numbers, whoever computed them.
    checks = [r["check"] for r in content["results"] if r["check"]]
    assert len(checks) >= 3
    assert all(len(check) == 3 for check in checks)


def test_unknown_row(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "bench", "--rows", "nonsense"],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 2
    assert "softreg" in done.stderr


def result(row, library, style, samples, unit="µs", version="1.0"):
    return {
        "row": row,
        "library": library,
        "style": style,
        "unit": unit,
        "samples": samples,
        "version": version,
        "first_ms": None,
        "peak_mb": None,
        "check": None,
    }


@pytest.fixture
def content():
    """A run that was made up."""
    about = {"processor": "a processor", "cores": 2, "system": "a system", "python": "3.12"}
    about |= {"pullback": "1.0", "cpu_level": "avx2", "threads": 2, "blas": "x", "load": 0.0}
    made = report.content_of(report.Report(), ROWS, {**about, "environment": {}}, False)
    made["results"] = [
        result("mlp", "pullback", "lazy", [650.0]),
        result("mlp", "pullback", "function", [400.0, 390.0, 900.0]),
        result("mlp", "pullback", "value", [100.0]),
        result("mlp", "torch", "eager", [600.0], version="2.0+cpu"),
        result("mlp", "jax", "jit", [500.0]),
        result("mlp", "OpenBLAS", "all threads", [350.0], version=""),
        result("elem", "pullback", "function", [20_000.0]),
        result("import", "pullback", "", [59.0], "ms"),
        result("triad", "limit", "1 thread", [12.0], "GB/s", ""),
        result("triad", "limit", "all threads", [21.0], "GB/s", ""),
    ]
    made["growth"] = [
        {"length": 1000, "build": 1.0, "memory": 3.0, "planned again": 0},
        {"length": 10_000, "build": 11.0, "memory": 27.0, "planned again": 0},
    ]
    return made


def test_verdicts(content):
    def said(index):
        return [str(v) for v in goals.verdicts(content, content["results"][index])]

    assert said(0) == ["≤ 1.3 × function missed", "< torch missed"]
    assert said(1) == ["≤ 0.8 × best met", "≤ 3 × value missed"]  # 400 of 500 and of 100
    assert said(2) == said(3) == said(8) == []
    assert said(6) == ["≤ 0.5 × best"]  # no peer in this run
    assert said(7) == ["≤ 60 ms met"]
    content["smoke"] = True
    assert said(7) == ["≤ 60 ms"]


def test_table_of_a_run(content):
    text = report.render(content)
    head, _, *lines = cells(text.split("\n\n× peer")[0])
    function = dict(zip(head, lines[1], strict=True))
    assert function["median"] == "400 µs"
    assert function["range"] == "390 to 900"
    assert (function["× peer"], function["× limit"], function["× value"]) == (
        "0.80",
        "1.14",
        "4.00",
    )
    growth = cells(text.split("peer")[-1])
    assert growth[0] == ["operations", "build ms", "memory MB"]
    assert growth[3] == ["", "× 11.0", "× 9.00"]


def test_table_of_a_page(content, tmp_path):
    path = tmp_path / "benchmarks.md"
    other = f"{page.begin('other')}\nkept\n{page.END}"
    path.write_text(f"before\n{page.begin()}\nold\n{page.END}\n{other}\nafter\n", encoding="utf-8")
    page.write(path, content)
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith(f"{other}\nafter\n")
    assert "old" not in text
    assert "21.0 GB/s" in text
    head, _, *lines = cells(text)
    assert head[1:] == ["pullback", "in `@pb.function`", "torch 2.0", "jax 1.0", "OpenBLAS alone"]
    assert lines[0][1:] == ["650 µs", "400 µs", "600 µs", "500 µs", "350 µs"]
    assert lines[1][1:3] == ["–", "20.0 ms"]
    assert len(lines) == 3
    page.write(path, content)  # again: the markers are still there
    page.write(path, content, "other")
    again = path.read_text(encoding="utf-8")
    assert "kept" not in again and again.count("650 µs") == 2
    with pytest.raises(SystemExit, match="bench none: "):
        page.write(path, content, "none")
    content["smoke"] = True
    with pytest.raises(SystemExit, match="mean nothing"):
        page.write(path, content)


def test_benchmarks_page_has_the_markers():
    text = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    assert text.count(page.begin()) == text.count(page.begin("science")) == 1
    assert text.count(page.END) == 2


def test_picture(content, tmp_path):
    pytest.importorskip("matplotlib")
    from bench import plot

    assert plot.points(content) == {
        "mlp": {
            "pullback": 0.8,
            "pullback, plain code": 1.3,
            "torch": 1.2,
            "jax": 1.0,
            "OpenBLAS": 0.7,
        }
    }
    picture = tmp_path / "run.png"
    plot.draw(picture, content)
    assert picture.read_bytes().startswith(b"\x89PNG")
