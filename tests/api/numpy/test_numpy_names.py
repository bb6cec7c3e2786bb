"""Functions of NumPy that are not operations of the table: values of NumPy, and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pullback as pb

random = np.random.default_rng(0)
F = random.standard_normal((5, 6))
X, Y = np.cumsum(random.uniform(0.2, 1, 6)), np.cumsum(random.uniform(0.2, 1, 5))
PHASES = np.array([0, 1, 3, -3, -2, 2.9, -3.1, 9.0, -20])
A, B = np.array([1, np.nan, np.nan, 3.0]), np.array([2, 5, np.nan, 3.0])


def same(got: Any, want: Any) -> None:
    np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12, atol=1e-13)


def test_gradient() -> None:
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((), {}), ((0.3,), {}), ((0.5, 2.0), {}), ((Y, X), {}), ((Y, 0.3), {"edge_order": 2}),
        ((), {"axis": 1}), ((X,), {"axis": -1, "edge_order": 2}), ((0.1, 0.2), {"axis": (1, 0)}),
    ]  # fmt: skip
    for args, options in calls:
        ours, theirs = pb.gradient(F, *args, **options), np.gradient(F, *args, **options)
        if isinstance(theirs, np.ndarray):
            ours, theirs = (ours,), (theirs,)
        for got, want in zip(ours, theirs, strict=True):
            same(got, want)
    same(pb.gradient(F[:2, :2])[0], np.gradient(F[:2, :2])[0])
    same(pb.gradient([1, 2, 4]), np.gradient([1, 2, 4]))
    pb.testing.check_gradients(lambda f, x: pb.gradient(f, x, axis=1, edge_order=2) ** 2, F, X)
    pb.testing.check_gradients(lambda f, h: pb.gradient(f, h, axis=0) ** 2, F, np.float64(0.3))
    for error, words, call in (
        (ValueError, "gradient: expected at least 2 samples", lambda: pb.gradient([1.0])),
        (ValueError, "gradient: expected 1 or 2", lambda: pb.gradient(X, edge_order=3)),
        (TypeError, "gradient: expected no distance, one", lambda: pb.gradient(F, 1.0, 1.0, 1.0)),
        (ValueError, "gradient: expected 6 coordinates", lambda: pb.gradient(X, Y)),
        (TypeError, "gradient: .* rank 1 or more", lambda: pb.gradient(1.0)),
    ):
        with pytest.raises(error, match=words):
            call()


def test_polynomials_and_phases() -> None:
    same(pb.polyval(PHASES, F), np.polyval(PHASES, F))
    same(pb.polyval([], [1.0, 2.0]), [0.0, 0.0])
    pb.testing.check_gradients(pb.polyval, np.array([1.0, -2.0, 0.5]), X)
    for options in ({}, {"N": 4}, {"N": 4, "increasing": True}, {"N": 0}):
        same(pb.vander(X, **options), np.vander(X, **options))
    pb.testing.check_gradients(lambda x: pb.vander(x, 4) ** 2, X)
    for args, options in (((), {}), ((5.0,), {}), ((), {"period": 4.0})):
        same(pb.unwrap(PHASES, *args, **options), np.unwrap(PHASES, *args, **options))
    same(pb.unwrap(F, axis=0), np.unwrap(F, axis=0))
    same(pb.grad(lambda p: pb.sum(pb.unwrap(p) * PHASES))(PHASES), PHASES)


def test_functions_that_ignore_nan() -> None:
    same(pb.fmax(A, B), np.fmax(A, B))
    same(pb.fmin(A, B), np.fmin(A, B))
    for f, first in ((pb.fmax, [0, 0, 0, 0.5]), (pb.fmin, [1, 0, 0, 0.5])):
        by_a, by_b = pb.grad(lambda a, b, f=f: pb.nansum(f(a, b)), argnums=(0, 1))(A, B)
        same(by_a, first)
        same(by_b, [1 - first[0], 1, 0, 0.5])
    same(pb.nanprod(A), 3.0)
    same(pb.grad(pb.nanprod)(A), [3.0, 0.0, 0.0, 1.0])
    same(pb.nancumsum(A), [1.0, 1.0, 1.0, 4.0])
    rows = np.stack([A, B])
    same(pb.nanargmax(rows, 1), np.nanargmax(rows, 1))
    same(pb.nanargmin(rows, 1, keepdims=True), np.nanargmin(rows, 1, keepdims=True))


def test_sets() -> None:
    for x, y in (([3, 1, 3, 2], [2, 5]), ([3.0, 1.0, np.nan], [1.0]), ([], [1.0]),
                 ([np.nan, np.nan, 2.0], [np.nan, np.nan])):  # fmt: skip
        same(pb.setdiff1d(x, y), np.setdiff1d(x, y))
        same(pb.setxor1d(x, y), np.setxor1d(x, y))
    same(
        pb.grad(lambda x: pb.sum(pb.setdiff1d(x, [1.0]) ** 2))(np.array([1.0, 4.0, 4.0])), [0, 8, 0]
    )
