"""Initial values: moments, bounds, orthogonality, what shares its formula with compat.tf1."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
import pytest
import scipy.stats

import pullback as pb

of = pb.nn.initializers
SHAPE = (3, 3, 40, 20)  # 360 inputs, 180 outputs
FANS = {"fan_in": 360, "fan_out": 180, "fan_avg": 270}
NAMED = {
    "glorot_uniform": (1, "fan_avg", "uniform"),
    "glorot_normal": (1, "fan_avg", "truncated_normal"),
    "he_uniform": (2, "fan_in", "uniform"),
    "he_normal": (2, "fan_in", "truncated_normal"),
    "lecun_uniform": (1, "fan_in", "uniform"),
    "lecun_normal": (1, "fan_in", "truncated_normal"),
}


def distribution(kind: str, variance: float) -> Any:
    if kind == "uniform":
        limit = sqrt(3 * variance)
        return scipy.stats.uniform(-limit, 2 * limit)
    if kind == "normal":
        return scipy.stats.norm(0, sqrt(variance))
    return scipy.stats.truncnorm(-2, 2, 0, sqrt(variance / scipy.stats.truncnorm(-2, 2).var()))


def follows(drawn: Any, truth: Any) -> bool:
    return bool(scipy.stats.kstest(drawn.numpy().ravel(), truth.cdf).pvalue > 0.01)


@pytest.mark.parametrize("name", NAMED)
def test_by_name(name: str) -> None:
    scale, mode, kind = NAMED[name]
    pb.random.seed(3)
    drawn = getattr(of, name)(SHAPE)
    assert drawn.shape == SHAPE and drawn.dtype == "float32"
    assert follows(drawn, distribution(kind, scale / FANS[mode]))
    assert getattr(of, name)((2,), "float64").dtype == "float64"


@pytest.mark.parametrize("mode", FANS)
@pytest.mark.parametrize("kind", ["uniform", "normal", "truncated_normal"])
def test_scaling(mode: str, kind: str) -> None:
    pb.random.seed(4)
    drawn = of.variance_scaling(SHAPE, 0.5, mode, kind, "float64")
    assert follows(drawn, distribution(kind, 0.5 / FANS[mode]))


def test_draws() -> None:
    pb.random.seed(5)
    assert follows(of.uniform(5000, 2.0, 5.0), scipy.stats.uniform(2, 3))
    assert follows(of.normal(5000, 1.0, 3.0), scipy.stats.norm(1, 3))
    cut = of.truncated_normal(5000, 1.0, 3.0)
    assert follows(cut, scipy.stats.truncnorm(-2, 2, 1, 3))
    assert (np.abs(cut.numpy() - 1) <= 6).all()


def test_constants() -> None:
    assert of.constant((2, 3), 0.5).numpy().tolist() == [[0.5] * 3] * 2
    assert of.constant((2, 3), [1, 2, 3], "float64").numpy().tolist() == [[1.0, 2.0, 3.0]] * 2
    assert of.identity((3, 2), 2.0).numpy().tolist() == [[2, 0], [0, 2], [0, 0]]
    assert of.zeros((2,)).numpy().tolist() == [0, 0] and of.ones((1,)).numpy().tolist() == [1]


@pytest.mark.parametrize("shape", [(5, 5), (7, 3), (3, 7), (2, 3, 4)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    pb.random.seed(6)
    w = of.orthogonal(shape, 3.0, "float64").numpy()
    assert w.shape == shape
    w = w.reshape(-1, shape[-1])
    small = w.T @ w if w.shape[0] >= w.shape[1] else w @ w.T
    np.testing.assert_allclose(small, 9 * np.eye(len(small)), atol=1e-13)


def test_all_orthogonal_ones_are_equally_likely() -> None:
    """Of a rotation or reflection of the plane, the first column's angle is uniform."""
    pb.random.seed(7)
    columns = np.stack([of.orthogonal((2, 2)).numpy()[:, 0] for _ in range(300)])
    turns = np.arctan2(columns[:, 1], columns[:, 0]) / (2 * np.pi) + 0.5
    assert scipy.stats.kstest(turns, "uniform").pvalue > 0.01


def test_errors() -> None:
    for text, call in (
        (
            "variance_scaling: expected a number > 0 for scale",
            lambda: of.variance_scaling((2, 2), -1.0),
        ),
        ("variance_scaling: mode", lambda: of.variance_scaling((2, 2), 1.0, "fan")),
        ("variance_scaling: distribution", lambda: of.variance_scaling((2, 2), 1, "fan_in", "t")),
        ("orthogonal: expected at least two axes", lambda: of.orthogonal((3,))),
        ("identity: expected two axes", lambda: of.identity((3,))),
    ):
        with pytest.raises(ValueError, match=f"^{text}"):
            call()
    with pytest.raises(TypeError, match=r"^identity: expected floats"):
        of.identity((2, 2), dtype="int32")
