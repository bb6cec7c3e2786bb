"""Factors, inverses and equations of matrices under TensorFlow's names, by `pb.linalg`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from ... import _core
from . import shape_functions
from .create import operation, unary
from .names import public_names


def _adjoint(x: Any) -> Any:
    return _core.conj(pb.matrix_transpose(x)) if x.dtype.kind == "c" else pb.matrix_transpose(x)


def _triangular(a: Any, b: Any, lower: bool, adjoint: bool) -> Any:
    return pb.linalg.solve_triangular(a, b, trans="C" if adjoint else "N", lower=lower)


def _of_rhs(matrix: Any, rhs: Any, **_: Any) -> Any:
    return rhs.dims


cholesky = unary("Cholesky", pb.linalg.cholesky, "The lower triangle l with input = l lᵀ.",
                 arguments="input")  # fmt: skip
matrix_inverse = unary(
    "MatrixInverse:matrix_inverse",
    lambda x, adjoint: pb.linalg.inv(_adjoint(x) if adjoint else x),
    "The inverses of matrices.", arguments="input adjoint=False",
)  # fmt: skip
matrix_determinant = unary(
    "MatrixDeterminant:matrix_determinant", pb.linalg.det, "The determinants of matrices.",
    arguments="input", shape=lambda x: x.dims and x.dims[:-2],
)  # fmt: skip
logdet = unary(
    "Logdet", lambda x: pb.linalg.slogdet(x)[1],
    "The logarithms of the determinants of positive definite matrices.", arguments="matrix",
    shape=lambda x: x.dims and x.dims[:-2],
)  # fmt: skip
_slogdet = unary(
    "LogMatrixDeterminant", lambda x: list(pb.linalg.slogdet(x)), "", arguments="input",
    shape=lambda x: [x.dims and x.dims[:-2]] * 2,
)  # fmt: skip


class _SignAndLog(NamedTuple):
    sign: Any
    log_abs_determinant: Any


def slogdet(input: Any, name: str | None = None) -> _SignAndLog:
    """The signs and the logarithms of the absolute values of determinants."""
    return _SignAndLog(*_slogdet(input, name=name))


matrix_solve = operation(
    "MatrixSolve", lambda a, b, adjoint: pb.linalg.solve(_adjoint(a) if adjoint else a, b),
    "matrix rhs adjoint=False", "x with matrix · x = rhs.", "matrix_solve", domain="inexact",
    same=True, fresh=True, shape=_of_rhs,
)  # fmt: skip
matrix_triangular_solve = operation(
    "MatrixTriangularSolve", _triangular, "matrix rhs lower=True adjoint=False",
    "x with matrix · x = rhs, for a triangular matrix.", "matrix_triangular_solve",
    domain="inexact", same=True, fresh=True, shape=_of_rhs,
)  # fmt: skip
cholesky_solve = operation(
    "CholeskySolve", lambda c, b: pb.linalg.cho_solve((c, True), b), "chol rhs",
    "x with chol · cholᵀ · x = rhs.", "cholesky_solve", domain="inexact", same=True, fresh=True,
    shape=_of_rhs,
)  # fmt: skip


def _set_diagonal(x: Any, diagonal: Any) -> Any:
    along = np.arange(min(x.shape[-2:]))
    return x.at[..., along, along].set(diagonal)


matrix_set_diag = operation(
    "MatrixSetDiag", _set_diagonal, "input diagonal", "Matrices with other diagonals.",
    "matrix_set_diag", default_name="set_diag", same=True, fresh=True,
    shape=shape_functions.unchanged,
)  # fmt: skip
self_adjoint_eigvals = unary(
    "SelfAdjointEigvals:self_adjoint_eigvals", pb.linalg.eigvalsh,
    "The eigenvalues of symmetric matrices, ascending.", arguments="tensor",
    shape=shape_functions.without_last,
)  # fmt: skip
self_adjoint_eig = unary(
    "SelfAdjointEigV2:self_adjoint_eig", lambda x: list(pb.linalg.eigh(x)),
    "The eigenvalues of symmetric matrices, ascending, and the eigenvectors as columns.",
    arguments="tensor", shape=lambda x: [shape_functions.without_last(x), x.dims],
)  # fmt: skip


def _svd(x: Any, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return pb.linalg.svdvals(x)
    u, s, adjoint = pb.linalg.svd(x, full_matrices=full_matrices)
    return [s, u, _adjoint(adjoint)]


def _qr(x: Any, full_matrices: bool) -> Any:
    return [*pb.linalg.qr(x, mode="complete" if full_matrices else "reduced")]


svd = unary("Svd", _svd, "The singular values s, u and v with tensor = u diag(s) vᵀ; or s alone.",
            arguments="tensor full_matrices=False compute_uv=True",
            shape=lambda x, compute_uv, **_: [None] * 3 if compute_uv else None)  # fmt: skip
_qr_rows = unary("Qr", _qr, "", arguments="input full_matrices=False",
                 shape=lambda x, **_: [None] * 2)  # fmt: skip


class _QR(NamedTuple):
    q: Any
    r: Any


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> _QR:
    """Orthonormal columns q and a triangle r with input = q r."""
    return _QR(*_qr_rows(input, full_matrices, name=name))


__all__ = public_names(globals())
