"""Linear systems, also of more unknowns than LAPACK gets at once, without a finite solution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb


def _slope(a: Any, cotangent: Any) -> Any:
    """The gradient of cotangent · x by b, where a x = b."""

    def value(b: Any) -> Any:
        x = pb.implicit.root(lambda x, b: pb.matmul(a, x) - b, lambda f, x0, b: x0)(
            np.zeros(len(a)), b
        )
        return pb.sum(cotangent * x)

    return pb.grad(value)(np.zeros(len(a))).numpy()


@pytest.mark.parametrize("n", [100, 150])
def test_a_matrix_that_is_singular_but_for_rounding_is_an_error(n: int) -> None:
    random = np.random.default_rng(0)
    a = random.normal(size=(n, n)) + 30 * np.eye(n)
    a[:, 3] = a[:, 4]
    with pytest.raises(np.linalg.LinAlgError, match="derivative by x is singular"):
        _slope(a, random.normal(size=n))


@pytest.mark.parametrize("n", [100, 150])
def test_an_infinite_cotangent_is_not_dropped(n: int) -> None:
    cotangent = np.ones(n)
    cotangent[0] = np.inf
    assert not np.isfinite(_slope(2 * np.eye(n), cotangent)).all()
    for solve in (pb.linalg.gmres, pb.linalg.cg):
        x, info = solve(2 * np.eye(n), cotangent)
        assert int(info) > 0 and np.isnan(x.numpy()).any()


def test_the_size_of_a_cycle_is_what_was_asked_for() -> None:
    random = np.random.default_rng(0)
    a, b = random.normal(size=(40, 40)), random.normal(size=40)
    x, info = pb.linalg.gmres(a, b, restart=40)
    assert int(info) == 0
    np.testing.assert_allclose(a @ x.numpy(), b, atol=1e-4)
