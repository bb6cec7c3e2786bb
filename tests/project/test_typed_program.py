"""A typed program over all namespaces: it runs, mypy --strict accepts it, and finds mistakes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_mypy_accepts_it_and_finds_mistakes(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="needs mypy, of the extra dev")
    text = PROGRAM.read_text("utf-8")
    lines = {}
    for i, (right, wrong) in enumerate(MISTAKES):
        assert text.count(right) == 1, right
        (tmp_path / f"mistake_{i}.py").write_text(text.replace(right, wrong), "utf-8")
        lines[f"mistake_{i}.py"] = text[: text.index(right)].count("\n") + 1
    (tmp_path / "right.py").write_text(text, "utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--no-pretty"]
    command += ["--cache-dir", str(tmp_path / "cache"), "right.py", *lines]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    found: dict[str, set[int]] = {}
    for file, line in re.findall(r"^(\w+\.py):(\d+): error", done.stdout, re.MULTILINE):
        found.setdefault(file, set()).add(int(line))
    assert "right.py" not in found, done.stdout
    missed = [MISTAKES[int(re.findall(r"\d+", f)[0])] for f in lines if f not in found]
    assert not missed, done.stdout
    for file, line in lines.items():  # a decorator is reported at its line, one or two above
        assert any(abs(line - at) <= 2 for at in found[file]), (file, line, found[file])
