"""Special values of the inverses of incomplete functions and of Student's distribution."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import special as sc
from support.each import each

import pullback as pb

SHAPES = [0.25, 1.0, 3.0, 80.0]
SHARES = [0.0, 1e-30, 0.25, 1.0, -0.25, 1.5, np.nan, np.inf, -np.inf]
POINTS = [0.0, -0.0, 2.5, -2.5, np.inf, -np.inf, np.nan, 1e10]
ARGUMENTS = {
    "gammaincinv": (SHAPES, SHARES),
    "gammainccinv": (SHAPES, SHARES),
    "betaincinv": (SHAPES, SHAPES, SHARES),
    "betainccinv": (SHAPES, SHAPES, SHARES),
    "betaincc": (SHAPES, SHAPES, SHARES),
    "stdtr": (SHAPES, POINTS),
    "stdtrit": (SHAPES, SHARES),
}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_as_scipy_has_them(name: str) -> None:
    xs = [np.array(column) for column in zip(*product(*ARGUMENTS[name]), strict=True)]
    got = getattr(pb.special, name)(*xs).numpy()
    with np.errstate(all="ignore"):
        want = getattr(sc, name)(*xs)
    if name == "stdtrit":  # SciPy has +inf at 0
        want = np.where(xs[-1] == 0, -np.inf, want)
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-300)


@each("name", ARGUMENTS)
@each("bad", [np.nan, -1.0])
def test_shapes_that_are_none(name: str, bad: float) -> None:
    rest: list[Any] = [0.5] * (len(ARGUMENTS[name]) - 1)
    assert np.isnan(getattr(pb.special, name)(bad, *rest).numpy())


@pytest.mark.parametrize("bad", [0.0, 1.0])
def test_the_slope_at_the_ends(bad: float) -> None:
    """x grows infinitely fast where the density is 0, and stays where it is infinite."""
    p = pb.Variable(np.array([bad]))
    for name, shapes, slope in (
        ("betaincinv", (2.0, 2.0), np.inf),
        ("betaincinv", (0.5, 0.5), 0.0),
    ):
        x = getattr(pb.special, name)(*shapes, p)
        (g,) = pb.gradients(x, [p])
        assert g.numpy().tolist() == [slope]
