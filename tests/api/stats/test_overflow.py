"""Quantiles that overflow: an infinite value with the sign of the infinite slope."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpmath import mp

import pullback as pb


@pytest.mark.parametrize(("q", "dfn", "dfd"), [(1e-300, 1.0, 0.5), (1e-200, 2.0, 1.0)])
def test_isf_of_f(q: float, dfn: float, dfd: float) -> None:
    at = tuple(map(np.float64, (q, dfn, dfd)))
    assert float(pb.stats.f.isf(*at)) == np.inf
    assert float(pb.grad(pb.stats.f.isf)(*at)) == -np.inf


def test_slopes_by_degrees_of_f() -> None:
    """There, the quantile is a power of q: the slope of its logarithm has the sign of its slope."""

    def log(q: Any, dfn: Any, dfd: Any) -> Any:
        m, n = dfn / 2, dfd / 2
        return mp.log(n / m) - mp.log(q * n * mp.beta(m, n)) / n

    for at in ((1e-300, 2.0, 1.0), (1e-200, 0.1, 0.5), (1e-20, 0.01, 0.01), (1e-300, 4.0, 0.3)):
        for k in (1, 2):
            order = tuple(int(j == k) for j in range(3))
            want = np.copysign(np.inf, float(mp.diff(log, at, order)))
            assert float(pb.grad(pb.stats.f.isf, k)(*map(np.float64, at))) == want
    # Next to quantiles that do not overflow, which keep their slopes.
    q = np.array([1e-300, 0.3])
    (slopes,) = pb.gradients(pb.stats.f.isf(q, a := pb.Variable(np.array([2.0, 3.0])), 1.0), [a])
    alone = float(pb.grad(pb.stats.f.isf, 1)(np.float64(0.3), np.float64(3.0), 1.0))
    assert slopes.numpy().tolist() == [np.inf, alone]
    # For dfd = 2 it is 1 / q, whatever dfn is.
    assert float(pb.grad(pb.stats.f.isf, 1)(np.float64(1e-310), np.float64(3.0), 2.0)) == 0
