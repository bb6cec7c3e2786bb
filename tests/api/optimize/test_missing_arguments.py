"""Arguments of SciPy that the solvers do not have: an error with a hint, and a row in the docs."""

from __future__ import annotations

import re
from inspect import Parameter, signature
from pathlib import Path
from typing import Any

import pytest

import pullback as pb

scipy_optimize = pytest.importorskip("scipy.optimize")
scipy_integrate = pytest.importorskip("scipy.integrate")

PAGE = Path(__file__).parents[3] / "docs" / "with_scipy.md"
FUNCTIONS = [
    *((pb.optimize, scipy_optimize, name)
      for name in ("bisect", "curve_fit", "least_squares", "minimize", "root")),
    *((pb.integrate, scipy_integrate, name) for name in ("odeint", "quad", "solve_ivp")),
]  # fmt: skip


@pytest.mark.parametrize(("ours", "theirs", "name"), FUNCTIONS, ids=[f[2] for f in FUNCTIONS])
def test_missing_arguments(ours: Any, theirs: Any, name: str) -> None:
    function = getattr(ours, name)
    known = signature(function).parameters
    given = signature(getattr(theirs, name)).parameters.values()
    missing = [p.name for p in given if p.kind is not Parameter.VAR_KEYWORD and p.name not in known]
    table = PAGE.read_text().split("## Missing arguments")[1]
    rows = [row for row in table.splitlines() if row.startswith((f"| `{name}`", "| all"))]
    assert missing
    for argument in missing:
        with pytest.raises(
            TypeError, match=f"{name}: unexpected keyword argument '{argument}'; .+"
        ):
            function(**{argument: None})
        assert any(re.search(f"`{argument}`", row) for row in rows), argument
