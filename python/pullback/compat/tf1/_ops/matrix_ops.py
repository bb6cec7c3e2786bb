"""Factorizations, inverses and linear systems under TensorFlow's names, by `pb.linalg`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import pullback as pb

from .... import _core
from .._graph import shape_functions
from .._graph.create import operation, row, unary
from ..names import public_names


def _adjoint(x: Any) -> Any:
    return _core.conj(pb.matrix_transpose(x)) if x.dtype.kind == "c" else pb.matrix_transpose(x)


def _of_rhs(matrix: Any, rhs: Any, **_: Any) -> Any:
    return rhs.dims


cholesky = unary("Cholesky", pb.linalg.cholesky, "Compute the lower triangle l with input = l lᵀ.",
                 arguments="input")  # fmt: skip


@row("MatrixInverse", "input adjoint=False", domain="inexact", shape=shape_functions.unchanged)
def matrix_inverse(x: Any, adjoint: bool) -> Any:
    """Compute the inverses of matrices."""
    return pb.linalg.inv(_adjoint(x) if adjoint else x)


matrix_determinant = unary(
    "MatrixDeterminant:matrix_determinant", pb.linalg.det, "Compute the determinants of matrices.",
    arguments="input", shape=lambda x: x.dims and x.dims[:-2],
)  # fmt: skip
logdet = unary(
    "Logdet", lambda x: 2 * pb.sum(pb.log(pb.diagonal(pb.linalg.cholesky(x), 0, -2, -1)), -1),
    "Compute the logarithms of the determinants of positive definite matrices.", arguments="matrix",
    shape=lambda x: x.dims and x.dims[:-2],
)  # fmt: skip
_slogdet = unary(
    "LogMatrixDeterminant:slogdet", lambda x: list(pb.linalg.slogdet(x)), "", arguments="input",
    shape=lambda x: [x.dims and x.dims[:-2]] * 2,
)  # fmt: skip


class _SignAndLog(NamedTuple):
    sign: Any
    log_abs_determinant: Any


def slogdet(input: Any, name: str | None = None) -> _SignAndLog:
    """Return the signs and the logarithms of the absolute values of determinants."""
    return _SignAndLog(*_slogdet(input, name=name))


@row("MatrixSolve", "matrix rhs adjoint=False", domain="inexact", same=True, shape=_of_rhs)
def matrix_solve(a: Any, b: Any, adjoint: bool) -> Any:
    """Solve matrix · x = rhs."""
    return pb.linalg.solve(_adjoint(a) if adjoint else a, b)


@row(
    "MatrixTriangularSolve", "matrix rhs lower=True adjoint=False", domain="inexact", same=True,
    shape=_of_rhs,
)  # fmt: skip
def matrix_triangular_solve(a: Any, b: Any, lower: bool, adjoint: bool) -> Any:
    """Solve matrix · x = rhs for a triangular matrix."""
    return pb.linalg.solve_triangular(a, b, trans="C" if adjoint else "N", lower=lower)


@row("CholeskySolve", "chol rhs", domain="inexact", same=True, shape=_of_rhs)
def cholesky_solve(c: Any, b: Any) -> Any:
    """Solve chol · cholᵀ · x = rhs."""
    return pb.linalg.cho_solve((c, True), b)


def _set_diagonal(x: Any, diagonal: Any) -> Any:
    wanted = (*x.shape[:-2], min(x.shape[-2:]))
    if diagonal.shape != wanted:
        raise ValueError(
            f"matrix_set_diag: expected a diagonal of shape {wanted}, got {diagonal.shape}"
        )
    along = np.arange(wanted[-1])
    return x.at[..., along, along].set(diagonal)


matrix_set_diag = operation(
    "MatrixSetDiag", _set_diagonal, "input diagonal", "Return matrices with other diagonals.",
    "matrix_set_diag", default_name="set_diag", same=True, fresh=True,
    shape=shape_functions.unchanged,
)  # fmt: skip
self_adjoint_eigvals = unary(
    "SelfAdjointEigvals:self_adjoint_eigvals", pb.linalg.eigvalsh,
    "Compute the eigenvalues of symmetric matrices, ascending.", arguments="tensor",
    shape=shape_functions.without_last,
)  # fmt: skip
self_adjoint_eig = unary(
    "SelfAdjointEigV2:self_adjoint_eig", lambda x: list(pb.linalg.eigh(x)),
    "Compute the eigenvalues of symmetric matrices, ascending, and the eigenvectors as columns.",
    arguments="tensor", shape=lambda x: [shape_functions.without_last(x), x.dims],
)  # fmt: skip


def _svd(x: Any, full_matrices: bool, compute_uv: bool) -> Any:
    if not compute_uv:
        return pb.linalg.svdvals(x)
    u, s, adjoint = pb.linalg.svd(x, full_matrices=full_matrices)
    return [s, u, _adjoint(adjoint)]


def _qr(x: Any, full_matrices: bool) -> Any:
    return [*pb.linalg.qr(x, mode="complete" if full_matrices else "reduced")]


svd = unary("Svd", _svd, "Compute s, u and v with tensor = u diag(s) vᵀ; or s alone.",
            arguments="tensor full_matrices=False compute_uv=True",
            shape=lambda x, compute_uv, **_: [None] * 3 if compute_uv else None)  # fmt: skip
_qr_rows = unary("Qr", _qr, "", arguments="input full_matrices=False",
                 shape=lambda x, **_: [None] * 2)  # fmt: skip


class _QR(NamedTuple):
    q: Any
    r: Any


def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> _QR:
    """Compute orthonormal columns q and a triangular r with input = q r."""
    return _QR(*_qr_rows(input, full_matrices, name=name))


__all__ = public_names(globals())
