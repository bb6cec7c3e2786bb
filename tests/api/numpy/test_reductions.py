"""What reductions are told: which entries count, where they start, in which dtype; and errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

X = np.random.default_rng(0).normal(size=(3, 4))
MASK = np.random.default_rng(1).random((3, 4)) < 0.6
AXES: list[Any] = [None, 0, -1, (0, 1), ()]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_as_numpy(axis: Any, keepdims: bool) -> None:
    k: Any = {"axis": axis, "keepdims": keepdims}
    for name in ("sum", "prod", "max", "min"):
        ours, theirs = getattr(pb, name), getattr(np, name)
        wheres: list[Any] = [{}, {"where": MASK}, {"where": MASK[0]}]
        for where in wheres:
            more = {"initial": 0.5, **where}
            got = ours(X, **k, **more)
            np.testing.assert_allclose(got.numpy(), theirs(X, **k, **more), rtol=1e-13)
    for name in ("mean", "var", "std", "any", "all"):
        got = getattr(pb, name)(X, **k, where=MASK)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = getattr(np, name)(X, **k, where=MASK)
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-13)
    holes = np.where(MASK, X, nan)
    for name in ("nansum", "nanmean", "nanmax", "nanmin", "nanvar", "nanstd"):
        got = getattr(pb, name)(holes, **k)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = getattr(np, name)(holes, **k)
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-13)


def test_dtypes() -> None:
    assert pb.sum([1, 2], dtype="float32").dtype == "float32"
    assert pb.sum([1.5, 2.5], dtype="int64").item() == 3
    assert pb.mean([1, 2], dtype="float64").dtype == "float64"
    assert pb.max([1, 5], where=[True, False], initial=0).item() == 1
    assert pb.sum([True, True], where=[True, False]).item() == 1
    assert pb.prod(np.float32([2, 3]), initial=2).dtype == "float32"
    assert pb.max(np.zeros((0, 3)), axis=0, initial=2).numpy().tolist() == [2, 2, 2]
    assert pb.min(np.zeros((0, 3)), axis=0, keepdims=True, initial=2).shape == (1, 3)


def slope(f: Callable[[Any], Any], x: Any) -> Any:
    v = pb.Variable(np.asarray(x, np.float64))
    return pb.gradients(f(v), v)[0].numpy().tolist()


def test_what_does_not_count_has_no_gradient() -> None:
    mask = np.array([True, False])
    for f in (pb.sum, pb.mean):
        assert slope(lambda x, f=f: f(pb.log(x), where=mask), [1.0, 0.0]) == [1.0, 0.0]
        assert slope(lambda x, f=f: f(pb.sqrt(x), where=mask), [0.25, -1.0]) == [1.0, 0.0]
    assert slope(lambda x: pb.var(x, where=[True, True, False]), [0.0, 2.0, inf]) == [-1, 1, 0]
    assert slope(lambda x: pb.max(x, where=mask, initial=-9), [1.0, nan]) == [1.0, 0.0]
    assert slope(lambda x: pb.nanmax(x), [1.0, nan, 1.0]) == [0.5, 0.0, 0.5]
    assert slope(lambda x: pb.max(x, where=mask, initial=1.0), [1.0, 1.0]) == [0.5, 0.0]
    assert slope(lambda s: pb.sum([1.0, 2.0], initial=s), 3.0) == 1.0
    assert slope(lambda s: pb.prod([4.0, 2.0], initial=s), 3.0) == 8.0
    assert slope(pb.nanstd, [2.0, nan, 2.0]) == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_variances_beside_a_large_mean(dtype: str) -> None:
    x = np.array([1e8, 1e8 + 8, 1e8 + 8], dtype)
    small = np.array([0, 8, 8], dtype)
    for f in (pb.var, pb.std, pb.cov):
        np.testing.assert_allclose(f(x).numpy(), f(small).numpy(), rtol=2e-7)
    v, s = pb.Variable(x), pb.Variable(small)
    (far,), (near,) = pb.gradients(pb.var(v), v), pb.gradients(pb.var(s), s)
    np.testing.assert_allclose(far.numpy(), near.numpy(), rtol=4e-7)
    for n in (3, 10, 1000):
        assert pb.var(np.full(n, 0.1, dtype)).item() == 0


def test_nothing_counts() -> None:
    none = np.zeros(2, bool)
    assert np.isnan(float(pb.mean([1.0, 2.0], where=none)))
    assert np.isnan(float(pb.var([1.0, 2.0], where=none)))
    assert np.isnan(float(pb.nanmax([nan, nan]))) and float(pb.nansum([nan])) == 0
    assert float(pb.nanmin([nan], initial=4)) == 4
    assert np.isnan(float(pb.var([1.0, 2.0], where=[True, False], correction=1)))


ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: pb.max([1.0], where=[True]), ValueError, "^max: expected a number for initial"),
    (lambda: pb.nanmin([1.0], where=[True]), ValueError, "^nanmin: expected a number for initial"),
    (lambda: pb.sum([1.0], where=[1]), TypeError, "^sum: expected dtype bool for where, got int64"),
    (lambda: pb.sum([1.0], where=[[True]] * 2), ValueError, r"^sum: .* for where, got \(2, 1\)"),
    (
        lambda: pb.prod([1.0], initial=[1.0, 2.0]),
        ValueError,
        "^prod: expected a scalar for initial",
    ),
    (lambda: pb.var([1.0], correction="x"), TypeError, "^var: expected a number for correction"),  # type: ignore[arg-type]
    (lambda: pb.std([1.0], ddof="1"), TypeError, "^std: expected a number for ddof, got '1'"),  # type: ignore[arg-type]
    (lambda: pb.mean([1.0], where=[True], axis=1), ValueError, "^mean: "),
    (lambda: pb.nanmax(pb.zeros(0)), ValueError, "^nanmax: "),
    (
        lambda: pb.average([1.0], weights=[[1.0]]),
        TypeError,
        "^average: expected shape .*; pass axis",
    ),
    (
        lambda: pb.average([[1.0]], 0, [1.0, 2.0]),
        ValueError,
        "^average: expected shape .* that of axis 0 of x",
    ),
    (lambda: pb.cov(pb.ones((2, 2, 2))), ValueError, "^cov: expected at most two axes"),
    (
        lambda: pb.cov([1.0, 2.0], [1.0]),
        ValueError,
        "^cov: expected 2 observations, as in x, for y, got 1",
    ),
    (
        lambda: pb.cov([1.0, 2.0], aweights=[1.0]),
        ValueError,
        "^cov: expected shape .2,. for aweights",
    ),
    (
        lambda: pb.trapezoid([1.0, 2.0], [1.0]),
        ValueError,
        "^trapezoid: expected 2 points along axis 0",
    ),
    (lambda: pb.diff([1.0], -1), ValueError, "^diff: expected an integer >= 0 for n"),
    (lambda: pb.diff([1.0], prepend=[[1.0]]), ValueError, "^diff: "),
]


@each("call, kind, text", ERRORS, ids=[text for _, _, text in ERRORS])
def test_errors(call: Callable[[], Any], kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
