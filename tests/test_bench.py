"""`python -m bench`: every row runs, its libraries agree, and the table has its shape.

No time is asserted: the figures of a smoke run mean nothing.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
OURS = {
    "op": {"a + b", "evaluate(a + b)"},
    "softreg": {"lazy", "function"},
    "softreg-train": {"tape", "tape in function", "Session.run"},
    "mlp": {"lazy", "function"},
    "mlp-train": {"tape", "tape in function", "Session.run"},
    "first": {"lazy", "function"},
    "import": {""},
    "wheel": {""},
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


def test_smoke(tmp_path):
    table, content = bench(tmp_path, "--smoke", "--rows", *OURS)
    assert "the figures mean nothing" in table
    head, rule, *lines = cells(table)
    assert head[:5] == ["row", "library", "style", "median", "range"]
    assert set("".join(rule)) <= {"-", ":"}
    assert {len(line) for line in lines} == {len(head)}
    for row, styles in OURS.items():
        mine = [r for r in content["results"] if r["row"] == row and r["library"] == "pullback"]
        assert {r["style"] for r in mine} == styles
        assert all(len(r["samples"]) == 1 and r["samples"][0] > 0 for r in mine)
        assert all(r["peak_mb"] > 0 for r in mine)
    assert content["smoke"]
    assert content["failures"] == []
    assert content["machine"]["threads"] >= 1


def test_repetitions_and_ratios(tmp_path):
    arguments = ["--rows", "softreg", "--repetitions", "3", "--seconds", "0.001"]
    table, content = bench(tmp_path, *arguments)
    assert "the figures mean nothing" not in table
    assert {len(r["samples"]) for r in content["results"]} == {3}
    head, _, *lines = cells(table)
    ratios = {(line[1].split()[0], line[2]): line[head.index("× limit")] for line in lines}
    assert "1.00" in [ratio for (library, _), ratio in ratios.items() if library == "limit"]
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
