"""Matrices of a few rows, which have kernels of their own: values, gradients and failures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
from support.matrices import close, numbers, positive

import pullback as pb

la = pb.linalg


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 15, 16, 17, 32, 33])
def test_small_matrices(n: int, dtype: str) -> None:
    """What LAPACK says and, up to 16 rows, bit for bit what each of a batch is alone."""
    count = 37
    a = numbers((count, n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype)
    a[:, [0, -1]] = a[:, [-1, 0]]  # so that rows are exchanged
    p = positive((count, n, n), dtype)
    for k in (1, 3, 20):
        b = numbers((count, n, k), dtype, k)
        functions: list[tuple[Any, tuple[Any, ...], Any]] = [
            (la.solve, (a, b), np.linalg.solve(a, b)),
            (la.inv, (a,), np.linalg.inv(a)),
            (la.det, (a,), np.linalg.det(a)),
            (la.cholesky, (p,), np.linalg.cholesky(p)),
        ]
        if k < 20:
            functions += [
                (
                    lambda t, b, lower=lower, trans=trans: la.solve_triangular(t, b, trans, lower),
                    (p, b),
                    np.stack([scipy.linalg.solve_triangular(x, y, trans, lower)
                              for x, y in zip(p, b, strict=True)]),
                )
                for lower in (False, True)
                for trans in "NT"
            ]  # fmt: skip
        for f, operands, expected in functions:
            ours = f(*operands).numpy()
            scale = np.abs(expected).max()
            close(ours / scale, expected / scale, 10)
            for i in (0, 5, count - 1) if n <= 16 else ():
                assert (f(*(x[i : i + 1] for x in operands)).numpy()[0] == ours[i]).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 4, 8, 9])
def test_gradients_of_small_matrices(n: int, dtype: str) -> None:
    count = 19
    a = numbers((count, n, n), dtype) + 2 * n**0.5 * np.eye(n, dtype=dtype)
    a = np.roll(a, 1, axis=1)  # so that the permutation of rows is not its own inverse
    b, v = numbers((count, n, 2), dtype, 1), numbers((count, n, 2), dtype, 2)
    w = numbers((count, n, n), dtype, 3)
    inverse = np.linalg.inv(a.astype("float64"))
    turned = inverse.swapaxes(-1, -2)
    det = np.linalg.det(a.astype("float64"))[:, None, None]
    of_solve = pb.grad(lambda a, b: pb.sum(la.solve(a, b) * v), (0, 1))(a, b)
    by_b = turned @ v
    expected = [
        (pb.grad(lambda a: pb.sum(la.inv(a) * w))(a), -turned @ w @ turned),
        (of_solve[0], -by_b @ (inverse @ b).swapaxes(-1, -2)),
        (of_solve[1], by_b),
        (pb.grad(lambda a: pb.sum(la.det(a)))(a), det * turned),
        (pb.grad(lambda a: pb.sum(la.slogdet(a)[1]))(a), turned),
    ]
    for ours, theirs in expected:
        scale = np.abs(theirs).max()
        close((ours.numpy() / scale).astype(dtype), theirs / scale, 20)


def test_small_matrices_that_fail() -> None:
    a = np.stack([np.eye(3)] * 40)
    a[33] = a[37] = np.ones((3, 3))
    for failing in (
        lambda: la.solve(a, np.ones((40, 3, 1))),
        lambda: la.solve(a, np.ones((40, 3, 0))),
        lambda: la.inv(a),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="place 33 of the batch is singular"):
            failing().numpy()
    assert la.solve(np.eye(3), np.ones((3, 0))).shape == (3, 0)
    assert la.inv(np.zeros((0, 3, 3))).numpy().shape == (0, 3, 3)
    assert (la.det(a).numpy()[[32, 33, 37]] == [1, 0, 0]).all()
    with pytest.raises(np.linalg.LinAlgError, match="place 33 of the batch is not positive"):
        la.cholesky(a).numpy()
    a[33] = np.nan
    a[37] = np.eye(3)
    x = la.solve(a, np.ones((40, 3, 1))).numpy()
    assert np.isnan(x[33]).all()
    assert (np.delete(x, 33, 0) == 1).all()
    assert np.isnan(la.det(a).numpy()[33])
    assert np.isnan(la.inv(a).numpy()[33]).all()


@pytest.mark.parametrize("n", [3, 40])
def test_products_of_pivots_are_rounded_once(n: int) -> None:
    pivots = np.ones(n, np.float32)
    pivots[:3] = 1e30, 1e30, 1e-30
    close(la.det(np.diag(pivots)).numpy() / np.float32(1e30), 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_determinants_alone_have_the_bits_of_those_with_factors(dtype: str) -> None:
    both = pb.function(lambda a: (la.det(a), la.slogdet(a).logabsdet))
    for n in (1, 2, 3, 4, 5, 9):
        a = np.random.default_rng(n).normal(size=(37, n, n)).astype(dtype)
        a[3] *= np.float32(1e30)
        a[18, 0] = 0
        a[36] *= np.float32(1e-30)
        alone = la.det(a).numpy()
        np.testing.assert_array_equal(alone, both(a)[0].numpy())
        with np.errstate(over="ignore"):
            expected = np.linalg.det(a.astype("float64")).astype(dtype)
        tolerance = {"float32": 1e-3, "float64": 1e-11}[dtype]
        np.testing.assert_allclose(alone, expected, rtol=tolerance, atol=np.finfo(dtype).tiny)
