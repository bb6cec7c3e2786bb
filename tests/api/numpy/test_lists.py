"""A list of Python numbers, and a number, take the dtype of the floats that they meet: the answer
is that of an array of float64, to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

A = np.array([0.3, 0.7, 0.1])
X = pb.constant(A)
L = [0.1, 0.3, 0.7]
W = [0.2, 0.3, 0.5]
RISING = np.array(L)

CALLS: dict[str, Callable[[Callable[[Any], Any]], Any]] = {
    "add": lambda w: pb.add(X, w(L)),
    "allclose": lambda w: pb.allclose(X, w(A.tolist()), rtol=0, atol=0),
    "append": lambda w: pb.append(X, w(L)),
    "append along": lambda w: pb.append(X, w(L), axis=0),
    "average": lambda w: pb.average(X, weights=w(W)),
    "average of": lambda w: pb.average(w(L), weights=X),
    "betainc": lambda w: pb.special.betainc(X, w(L), w(W)),
    "choose": lambda w: pb.choose([0, 1, 0], [X, w(L)]),
    "clip": lambda w: pb.clip(X, w([0.2, 0.2, 0.2]), w(L)),
    "column_stack": lambda w: pb.column_stack([X, w(L)]),
    "concat": lambda w: pb.concat([w(L), X]),
    "concat flat": lambda w: pb.concat([w(L), X], axis=None),
    "corrcoef": lambda w: pb.corrcoef(X, w(L)),
    "cosine_similarity": lambda w: pb.nn.cosine_similarity(X, w(L)),
    "cov": lambda w: pb.cov(w(L), X),
    "cov weights": lambda w: pb.cov(X, aweights=w(L)),
    "diff": lambda w: pb.diff(X, prepend=w([0.1]), append=w([0.3])),
    "digitize": lambda w: pb.digitize(X, w(L)),
    "digitize of": lambda w: pb.digitize(w(L), RISING),
    "dstack": lambda w: pb.dstack([X, w(L)]),
    "ediff1d": lambda w: pb.ediff1d(X, to_end=w([0.1]), to_begin=w([0.3])),
    "einsum": lambda w: pb.einsum("i,i", w(L), X),
    "fill_diagonal": lambda w: pb.fill_diagonal(pb.stack([X, X, X]), w(L)),
    "gammainc": lambda w: pb.special.gammainc(X, w(L)),
    "geomspace": lambda w: pb.geomspace(X, w(L), 3),
    "heaviside": lambda w: pb.heaviside(X - 0.3, w(L)),
    "hinge": lambda w: pb.nn.hinge(X, w(L)),
    "histogram": lambda w: pb.histogram(X, bins=w(L))[0],
    "histogram weights": lambda w: pb.histogram(X, bins=RISING, weights=w(W))[0],
    "hstack": lambda w: pb.hstack([X, w(L)]),
    "huber_loss": lambda w: pb.nn.huber_loss(X, w(L)),
    "inner": lambda w: pb.inner(w(L), X),
    "interp at": lambda w: pb.interp(w(L), RISING, np.array(W)),
    "interp points": lambda w: pb.interp(X, w(L), np.array(W)),
    "interp values": lambda w: pb.interp(X, RISING, w(W)),
    "intersect1d": lambda w: pb.intersect1d(X, w(L)),
    "isclose": lambda w: pb.isclose(X, w(A.tolist()), rtol=0, atol=0),
    "isclose to a number": lambda w: pb.isclose(X, w([0.3])[0], rtol=0, atol=0),
    "isin": lambda w: pb.isin(X, w(L)),
    "isin of": lambda w: pb.isin(w(L), X),
    "kl_divergence": lambda w: pb.nn.kl_divergence(X, w(W)),
    "kron": lambda w: pb.kron(X, w(L)),
    "l1_loss": lambda w: pb.nn.l1_loss(X, w(L)),
    "layer_norm": lambda w: pb.nn.layer_norm(X, w(L), w(W)),
    "lerp": lambda w: pb.lerp(X, w(L), w(W)),
    "lexsort": lambda w: pb.lexsort([X, w(L)]),
    "linspace": lambda w: pb.linspace(X, w(L), 3),
    "matmul": lambda w: pb.matmul(w(L), X),
    "outer": lambda w: pb.outer(X, w(L)),
    "piecewise": lambda w: pb.piecewise(X, [X > 0.2], [w([0.1])[0], 0.3]),
    "searchsorted": lambda w: pb.searchsorted(w(L), X, side="right"),
    "searchsorted of": lambda w: pb.searchsorted(RISING, w([0.3, 0.1]), side="right"),
    "select": lambda w: pb.select([X > 0.2, X > 0], [w(L), X], w(W)),
    "sigmoid_cross_entropy": lambda w: pb.nn.sigmoid_cross_entropy(X, w(L)),
    "smooth_l1": lambda w: pb.nn.smooth_l1(X, w(L)),
    "stack": lambda w: pb.stack([w(L), X]),
    "tensordot": lambda w: pb.tensordot(X, w(L), 1),
    "trapezoid": lambda w: pb.trapezoid(w(L), X),
    "trapezoid over": lambda w: pb.trapezoid(X, w(L)),
    "union1d": lambda w: pb.union1d(X, w(L)),
    "vecdot": lambda w: pb.vecdot(X, w(L)),
    "vstack": lambda w: pb.vstack([w(L), X]),
    "where": lambda w: pb.where(X > 0.2, w(L), X),
    "xlogy": lambda w: pb.special.xlogy(w(L), X),
}


@each("name", CALLS)
def test_a_list_is_as_exact_as_an_array(name: str) -> None:
    call = CALLS[name]
    got, of_array, of_tensor = (
        call(w) for w in (lambda v: v, np.array, lambda v: pb.constant(np.array(v)))
    )
    assert got.dtype == of_array.dtype == of_tensor.dtype
    np.testing.assert_array_equal(got.numpy(), of_array.numpy())
    np.testing.assert_array_equal(got.numpy(), of_tensor.numpy())


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64"])
def test_a_number_keeps_the_dtype_of_integers(dtype: str) -> None:
    x = pb.constant([5, 1], dtype)
    for y in (pb.select([x > 1], [x]), pb.piecewise(x, [x > 1], [3]), pb.diff(x, prepend=0)):
        assert y.dtype == dtype
    large = pb.constant([2**63, 1], "uint64")
    assert pb.select([large > 1], [large]).tolist() == [2**63, 0]
    assert pb.isclose(pb.constant([5], "int8"), 300).tolist() == [False]


def test_lists_of_integers_stay_exact_beside_floats() -> None:
    for zeros in (np.zeros(2, "f4"), np.zeros(2)):
        assert pb.lexsort([zeros, [2**53 + 1, 2**53]]).tolist() == [1, 0]
    counts, _ = pb.histogram(np.zeros(2, "f4"), bins=1, weights=[16777217, 1])
    assert counts.tolist() == [16777218]


def test_lists_beside_halves_keep_their_range() -> None:
    half = np.array([0.5, 0.25], np.float16)
    assert pb.interp(half, [0.0, 1.0], [0.0, 70000.0]).tolist() == [35000.0, 17500.0]
    assert pb.histogram(half, bins=1, weights=[70000.0, 1.0])[0].tolist() == [70001.0]
    assert np.isfinite(pb.average(half, weights=[70000.0, 1.0]).item())


def test_lists_alone_are_of_the_default_dtype() -> None:
    assert pb.hstack([[0.1], [0.2]]).dtype == "float32"
    assert pb.interp([0.5], [0.0, 1.0], [0.0, 1.0]).dtype == "float32"
    assert pb.searchsorted([1, 2], [2]).tolist() == [1]
    assert pb.union1d([2, 1], [3]).dtype == "int64"


@each("function", ["linspace", "logspace", "geomspace"])
@each("endpoint", [True, False])
@each("ends", [([1.0, 2.0], [3.0, 5.0]), (1.0, [[2.0], [3.0]]), ([1.0], 4.0)])
def test_grids_between_arrays(function: str, endpoint: bool, ends: Any) -> None:
    start, stop = (np.array(end) for end in ends)
    expected = getattr(np, function)(start, stop, 4, endpoint=endpoint)
    got = getattr(pb, function)(start, stop, 4, endpoint=endpoint)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-14)
