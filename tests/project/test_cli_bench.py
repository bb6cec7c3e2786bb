"""`python -m pullback bench`: five rows whose gradients agree with finite differences."""

import numpy as np

from pullback.__main__ import main
from pullback._cli.bench import Row, bench, measure, rows


def test_rows_and_their_gradients():
    for row in rows():
        result = measure(row, seconds=0.0)
        assert result.error < 1e-6, row.name
        assert result.value > 0 and result.gradient > 0
        assert result.differences == (row.start.size + 1) * result.value


def test_a_wrong_gradient_has_an_error():
    row = Row("wrong", lambda xp, x: xp.sum(x * x) * (1.0 if xp is np else 1.5), np.ones(3))
    assert measure(row, seconds=0.0).error > 0.4


def test_table(capsys, monkeypatch):
    monkeypatch.setattr(f"{bench.__module__}.SECONDS", 0.0)
    monkeypatch.setattr(f"{bench.__module__}.rows", lambda: rows()[:1])
    assert main(["bench"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "finite" in printed[2] and "gradient" in printed[3]
    assert printed[4].startswith("Rosenbrock's function") and len(printed) == 5
    assert len(printed[4]) == len(printed[3])
