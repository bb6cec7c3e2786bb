"""A typed program over all namespaces: it runs, mypy --strict and pyright accept it, and both find
mistakes."""

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from support.pyright import pyright

import pullback as pb

PROGRAM = Path(__file__).with_name("typed_program.py")

# The right text, which occurs once in the program, and a mistake in its place.
MISTAKES = (
    ("step(batch.images, batch.labels)", "step(batch.images)"),
    ("losses.append(float(step(", "losses.append((step("),
    ("optimizer.apply_gradients(", "optimizer.apply_gradient("),
    ('name=f"w{n}"', 'nam=f"w{n}"'),
    ("(params, 2.0)", '(params, "2.0")'),
    ("pb.straight_through(pb.round)", "pb.straight_through(2.0)"),
    ("pb.identity(x), lambda g: pb.clip(g, -1.0, 1.0)", "pb.identity(x)"),
    ('pb.arange(8, dtype="float64"))', 'pb.arange(8, dtype="float64")), norm="orthogonal"'),
    ("area, error = pb.integrate", "area, error, info = pb.integrate"),
    ("{why.status}", "{why.state}"),
)


def test_the_program_runs_and_covers_the_namespaces() -> None:
    subprocess.run([sys.executable, str(PROGRAM)], check=True)
    text = PROGRAM.read_text("utf-8")
    spaces = [name for name in pb.__all__ if isinstance(getattr(pb, name), type(pb))]
    # Functions of interop need PyTorch or JAX, whose types are not installed everywhere, and those
    # of cuda a GPU.
    absent = [name for name in spaces if f"pb.{name}." not in text]
    assert absent == ["cuda", "interop"]
    assert len(text.splitlines()) >= 180


def write_programs(folder: Path) -> dict[str, int]:
    """Write the program and one file for each mistake; return the lines of the mistakes."""
    text = PROGRAM.read_text("utf-8")
    (folder / "right.py").write_text(text, "utf-8")
    lines = {}
    for i, (right, wrong) in enumerate(MISTAKES):
        assert text.count(right) == 1, right
        (folder / f"mistake_{i}.py").write_text(text.replace(right, wrong), "utf-8")
        lines[f"mistake_{i}.py"] = text[: text.index(right)].count("\n") + 1
    return lines


def assert_found(errors: Iterable[tuple[str, int]], lines: dict[str, int], report: str) -> None:
    """Require errors at the mistakes, and none in the program."""
    found: dict[str, set[int]] = {}
    for file, line in errors:
        found.setdefault(file, set()).add(line)
    assert "right.py" not in found, report
    missed = [MISTAKES[int(re.findall(r"\d+", f)[0])] for f in lines if f not in found]
    assert not missed, report
    for file, line in lines.items():  # a decorator is reported at its line, one or two above
        assert any(abs(line - at) <= 2 for at in found[file]), (file, line, found[file])


def test_mypy_accepts_it_and_finds_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy, of the extra dev")
    lines = write_programs(tmp_path)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--no-pretty"]
    command += ["--cache-dir", str(tmp_path / "cache"), "right.py", *lines]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    errors = re.findall(r"^(\w+\.py):(\d+): error", done.stdout, re.MULTILINE)
    assert_found(((file, int(line)) for file, line in errors), lines, done.stdout)


def test_pyright_accepts_it_and_finds_mistakes(tmp_path: Path) -> None:
    lines = write_programs(tmp_path)
    messages = pyright(tmp_path, "right.py", *lines)
    errors = [(m.file, m.line) for m in messages if m.severity == "error"]
    assert_found(errors, lines, "\n".join(map(str, messages)))


def test_strict_pyright_reports_only_lambdas(tmp_path: Path) -> None:
    # Parameters of a lambda have no type for pyright if any callable is accepted: f(x, *args).
    write_programs(tmp_path)
    text = PROGRAM.read_text("utf-8").splitlines()
    messages = pyright(tmp_path, "right.py", mode="strict")
    assert not [m for m in messages if "lambda" not in text[m.line - 1]]
