"""Quantiles that overflow: an infinite value with the sign of the infinite slope."""

from __future__ import annotations

import numpy as np
import pytest

import pullback as pb


@pytest.mark.parametrize(("q", "dfn", "dfd"), [(1e-300, 1.0, 0.5), (1e-200, 2.0, 1.0)])
def test_isf_of_f(q: float, dfn: float, dfd: float) -> None:
    at = tuple(map(np.float64, (q, dfn, dfd)))
    assert float(pb.stats.f.isf(*at)) == np.inf
    assert float(pb.grad(pb.stats.f.isf)(*at)) == -np.inf
