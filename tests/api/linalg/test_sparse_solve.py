"""Sparse linear equations and products: values beside NumPy, derivatives beside differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse
from support.matrices import DTYPES, close, numbers, shifted

import pullback as pb

la = pb.linalg
PATTERN = np.array([[1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 1]])


def sparse(dtype: str, kind: str = "csr") -> Any:
    return scipy.sparse.csr_array(PATTERN.astype(dtype) * shifted((4, 4), dtype)).asformat(kind)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "dia", "lil"])
def test_values(kind: str, dtype: str) -> None:
    a, b = sparse(dtype, kind), numbers((4, 2), dtype)
    x = la.sparse_solve(a, b)
    assert x.dtype == dtype
    close(x, np.linalg.solve(a.toarray(), b))
    close(la.sparse_solve(a, b[:, 0]), x[:, 0])
    close(la.sparse_solve(a, np.stack([b, 2 * b]))[1], 2 * x)
    close(pb.vmap(lambda c: la.sparse_solve(a, c))(pb.constant(b.T)), x.mT)


@pytest.mark.usefixtures("along_directions")
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_derivatives(kind: str, dtype: str) -> None:
    a, b = sparse(dtype, kind), numbers((4, 2), dtype)
    for c in (b, b[:, 0], np.stack([b, b[::-1]])):
        pb.testing.check_gradients(lambda v, c: la.sparse_solve(a, c, v), a.data, c, order=2)
    many = np.stack([a.data, 2 * a.data])
    x = la.sparse_solve(a, b, many)
    close(x[1], 0.5 * np.linalg.solve(a.toarray(), b))
    close(pb.vmap(lambda v: la.sparse_solve(a, b, v))(pb.constant(many)), x)
    # The gradient of a dense matrix at the positions of the entries.
    coo = a.tocoo()
    dense = pb.grad(lambda m: pb.sum(pb.abs(la.solve(m, b))))(a.toarray())
    ours = pb.grad(lambda v: pb.sum(pb.abs(la.sparse_solve(a, b, v))))(a.data)
    close(ours, np.asarray(dense)[coo.row, coo.col], 10)
    # A multiple of the matrix: forward mode.
    x, moved = pb.jvp(lambda v: la.sparse_solve(a, b, v), (a.data,), (a.data,))
    close(moved, -x)


def test_transforms() -> None:
    a, b = sparse("float64"), numbers((4,), "float64")

    def loss(v: Any) -> Any:
        return pb.sum(pb.sin(la.sparse_solve(a, b, v)))

    f = pb.function(pb.grad(loss))
    close(f(a.data), pb.grad(loss)(a.data))
    close(f(2 * a.data), pb.grad(loss)(2 * a.data))
    h = pb.hessian(loss)(a.data)
    close(h, np.asarray(h).T)
    _, ys = pb.scan(
        lambda c, v: (la.sparse_solve(a, c, v), c), pb.constant(b), np.tile(a.data, (3, 1))
    )
    close(ys[2], np.linalg.solve(a.toarray(), np.linalg.solve(a.toarray(), b)))


def test_entries_that_count_twice() -> None:
    rows, columns, v = [0, 0, 1, 1], [0, 0, 1, 0], np.array([1.0, 2.0, 4.0, 0.5])
    a = scipy.sparse.coo_array((v, (rows, columns)), shape=(2, 2))
    close(la.sparse_solve(a, [3.0, 4.5]), [1.0, 1.0])
    pb.testing.check_gradients(lambda v: la.sparse_solve(a, [3.0, 4.5], v), v, order=2)


def test_the_caller_may_modify_the_matrix() -> None:
    a = sparse("float64", "coo")
    known, w = a.toarray(), numbers((4,), "float64")
    x = pb.Variable(w)
    y = la.sparse_solve(a, x)
    product = pb.matmul(a, x)
    a.data[:], a.row[:], a.col[:] = 0, 0, 0
    close(y, np.linalg.solve(known, w))
    close(product, known @ w)
    close(pb.gradients(pb.sum(y), x)[0], np.linalg.solve(known.T, np.ones(4)))


def test_edges() -> None:
    assert la.sparse_solve(scipy.sparse.csr_array((0, 0)), np.ones((0, 2))).shape == (0, 2)
    a = scipy.sparse.csr_array([[1, 2], [0, 1]])
    assert la.sparse_solve(a, [1, 2]).dtype == "float32"
    assert la.sparse_solve(a, np.ones((2, 0))).shape == (2, 0)
    assert la.sparse_solve(a, np.ones(2), np.ones((0, 3))).shape == (0, 2)
    nan = la.sparse_solve(sparse("float64"), np.ones(4), np.full(8, np.inf))
    assert np.isnan(np.asarray(nan)).all()


def test_matmul() -> None:
    a, x = sparse("float64"), numbers((4, 3), "float64")
    for left, right in ((a, x), (a, x[:, 0]), (x.T, a), (x[:, 0], a)):
        y = pb.matmul(left, right)
        assert isinstance(y, pb.Tensor)
        close(y, left @ right)
    pb.testing.check_gradients(lambda x: pb.matmul(a, x), x, order=2)
    pb.testing.check_gradients(lambda x: pb.matmul(x, a), x.T, order=2)


def test_errors() -> None:
    a = sparse("float64")
    for call, error, text in (
        (lambda: la.sparse_solve(np.eye(2), [1.0, 2.0]), TypeError, "sparse_solve: expected a spa"),
        (lambda: la.sparse_solve(a, a), TypeError, "for b, got a sparse one"),
        (lambda: la.sparse_solve(a.todia(), np.ones(4), a.data), TypeError, "got DIA; convert it"),
        (lambda: la.sparse_solve(a, np.ones(3)), ValueError, "expected 4 rows for b, got shape"),
        (lambda: la.sparse_solve(a, np.ones(4), np.ones(7)), ValueError, "expected 8 entries for"),
        (lambda: la.sparse_solve(a[:3], np.ones(3)), ValueError, "expected a square matrix for A"),
        (lambda: pb.matmul(a, a), TypeError, "matmul: .* got two sparse ones"),
        (lambda: pb.matmul(a, np.ones(3)), ValueError, "matmul: expected a sparse matrix and a t"),
        (
            lambda: la.sparse_solve(scipy.sparse.csr_array([[1.0, 1], [1, 1]]), [1, 2]).numpy(),
            np.linalg.LinAlgError,
            "sparse_solve: the matrix is singular",
        ),
    ):
        with pytest.raises(error, match=text):
            call()


def test_rules_in_copied_graphs() -> None:
    a, b = sparse("float64"), numbers((4,), "float64")
    many = np.stack([a.data, 2 * a.data, 3 * a.data])

    def loss(v: Any) -> Any:
        return pb.sum(la.sparse_solve(a, b, v) ** 2)

    known = np.stack([pb.grad(loss)(v).numpy() for v in many])
    close(pb.vmap(pb.grad(loss))(many), known)

    def by_scan(many: Any) -> Any:
        return pb.scan(lambda c, v: (c + loss(v), 0.0), pb.constant(0.0, "float64"), many)[0]

    close(pb.grad(by_scan)(many), known)
    close(pb.vmap(pb.hessian(loss))(many)[1], pb.hessian(loss)(many[1]).numpy(), 10)
