"""associative_scan: results and gradients of the same function one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.each import each

import pullback as pb

rng = np.random.default_rng(2)


@each("n", [1, 2, 3, 4, 5, 8, 13, 64])
@each("reverse", [False, True])
def test_products(n: int, reverse: bool) -> None:
    x = pb.Variable(rng.integers(1, 3, (2, n)).astype(float))
    y = pb.associative_scan(pb.multiply, x, axis=1, reverse=reverse)
    values = x.numpy()[:, ::-1] if reverse else x.numpy()
    expected = np.cumprod(values, 1)
    np.testing.assert_allclose(y.numpy(), expected[:, ::-1] if reverse else expected)
    weight = pb.constant(rng.normal(size=(2, n)))
    (a,) = pb.gradients(pb.sum(y * weight), x)
    z = pb.cumprod(x[:, ::-1], 1)[:, ::-1] if reverse else pb.cumprod(x, 1)
    (b,) = pb.gradients(pb.sum(z * weight), x)
    np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_a_recurrence_of_pairs() -> None:
    """h = a h + b is associative in (a, b)."""
    a, b = rng.normal(size=(7, 3)), rng.normal(size=(7, 3))

    def then(first: Any, second: Any) -> Any:
        return {"a": second["a"] * first["a"], "b": second["a"] * first["b"] + second["b"]}

    got = pb.associative_scan(then, {"a": pb.constant(a), "b": pb.constant(b)})["b"].numpy()
    h = np.zeros(3)
    for i in range(7):
        h = a[i] * h + b[i]
        np.testing.assert_allclose(got[i], h, rtol=1e-12)


def test_matrices_do_not_commute() -> None:
    x = rng.normal(size=(6, 2, 2))
    got = pb.associative_scan(lambda p, q: p @ q, pb.constant(x)).numpy()
    p = np.eye(2)
    for i in range(6):
        p = p @ x[i]
        np.testing.assert_allclose(got[i], p, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda: pb.associative_scan(pb.add, pb.ones(())), ValueError, "axis=0 is out of range"),
        (lambda: pb.associative_scan(pb.add, pb.ones(3), axis="x"), TypeError, "an integer"),
        (
            lambda: pb.associative_scan(lambda a, b: a, (pb.ones(3), pb.ones(4))),
            ValueError,
            r"one size along the axis for xs, got \[3, 4\]",
        ),
        (lambda: pb.associative_scan(lambda a, b: pb.sum(a), pb.ones(3)), ValueError, "shape"),
    ],
)
def test_errors(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        call()
