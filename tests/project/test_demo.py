"""`python -m pullback demo`: it learns, draws, and each custom gradient has its effect."""

import subprocess
import sys

import pytest

from pullback.__main__ import main
from pullback._cli.demo import demo


def test_plain_learns(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "demo.png"
    (history,) = demo(None, 2, str(picture), None)
    costs, accuracies = zip(*history.epochs, strict=True)
    assert costs[1] < costs[0] < 1.3
    assert accuracies[1] > 0.8
    assert picture.read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert f"{accuracies[1]:.1%}" in printed
    assert "µs" in printed


def test_without_matplotlib(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    demo(None, 1, str(tmp_path / "demo.png"), None)
    assert "matplotlib is not installed" in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_straight_through(tmp_path):
    plain, custom = demo(None, 1, str(tmp_path / "demo.png"), "straight-through")
    assert max(plain.norms) == plain.moved == 0
    assert plain.epochs[-1][1] < 0.2
    assert custom.moved > 0
    assert custom.epochs[-1][1] > 0.6


def test_reversed(tmp_path):
    plain, custom = demo(None, 1, str(tmp_path / "demo.png"), "reversed")
    assert custom.costs[0] == plain.costs[0]
    assert custom.norms[0] == plain.norms[0]
    assert custom.costs[-1] > custom.costs[0] > plain.costs[-1]


def test_clipped(tmp_path):
    plain, custom = demo(None, 1, str(tmp_path / "demo.png"), "clipped")
    assert custom.norms[0] == plain.norms[0] > custom.run.clip
    assert max(custom.lengths) == pytest.approx(custom.run.rate * custom.run.clip, rel=1e-5)
    assert custom.epochs[0][0] < plain.epochs[0][0]


def test_bad_options(tmp_path, capsys):
    assert main(["demo", "--data", str(tmp_path)]) == 1
    assert "train-images-idx3-ubyte.gz" in capsys.readouterr().err
    for wrong in (["demo", "--epochs", "0"], ["demo", "--gradient", "sideways"]):
        with pytest.raises(SystemExit):
            main(wrong)


@pytest.mark.slow  # the gate runs it, and `main` is called above
def test_command_line(tmp_path):
    command = [sys.executable, "-m", "pullback", "demo", "--epochs", "1", "--out", "here.png"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, encoding="utf-8", check=True)
    assert "accuracy" in done.stdout


@pytest.mark.parametrize("out", ["nowhere/demo.png", "."])
def test_a_picture_that_cannot_be_written_is_refused_before_the_training(out, tmp_path, capsys):
    assert main(["demo", "--epochs", "1000000", "--out", str(tmp_path / out)]) == 1
    assert "--out: expected a file" in capsys.readouterr().err
