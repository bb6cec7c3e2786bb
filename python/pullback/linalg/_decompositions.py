"""Decompositions of matrices by LAPACK: Cholesky, LU, QR and singular values.

Their common properties are documented in `pb.linalg`.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, overload

from .. import _core
from .._base.checks import choice, flag
from .._base.composite import composite
from .._core import Tensor
from .._numpy.triangular import tril, triu
from .._typing import TensorLike
from ._matrices import adjoint

Degenerate = Literal["nan", "mask", "error"]


class QRResult(NamedTuple):
    """Factor with orthonormal columns, and upper triangle."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors as columns, descending singular values, and right ones as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class LUResult(NamedTuple):
    """Row permutation, lower triangle with ones on the diagonal, and upper triangle."""

    P: Tensor
    L: Tensor
    U: Tensor


@composite
def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """Compute the Cholesky factor of hermitian matrices.

    The lower triangular factor l with x = l lᴴ. Differentiable in `x`, with a hermitian gradient.

    Parameters
    ----------
    x : array_like
        Hermitian, positive definite matrices of shape (…, n, n), of which only the lower triangle
        is read (the upper one with `upper`). Integers become the default floating dtype; float16
        and bfloat16 are computed in float32.
    upper : bool, default False
        Return the adjoint of the factor, an upper triangle.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or is not positive definite (raised when the result is computed,
        with its position in the batch).
    TypeError
        If `upper` is not a bool.

    Examples
    --------
    >>> pb.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]])
    Tensor([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    if upper is not False:
        upper = flag(upper, "cholesky", "upper")
    x = _core.constant(x, who="cholesky")
    return adjoint(_core.cholesky(lower_of(x, "U", "cholesky"))) if upper else _core.cholesky(x)


@composite
def qr(x: TensorLike, /, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Compute the QR decomposition of matrices.

    The factors of x = Q R, with orthonormal columns in Q and an upper triangle R. Differentiable in
    `x`, except in mode "complete" if m > n.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    mode : {"reduced", "complete"}, default "reduced"
        Shape of the factors.

    Returns
    -------
    Q : Tensor
        Shape (…, m, k) with k = min(m, n), or (…, m, m) in mode "complete"; the floating or complex
        dtype of `x`.
    R : Tensor
        Shape (…, k, n), or (…, m, n) in mode "complete"; the dtype of `Q`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2.
    ValueError
        If `mode` is unknown.
    NotImplementedError
        If a gradient is requested in mode "complete" and m > n.

    Examples
    --------
    >>> q, r = pb.linalg.qr([[3.0], [4.0]])
    >>> pb.round(pb.abs(q), 3), pb.round(pb.abs(r), 3)
    (Tensor([[0.6],
            [0.8]], dtype=float32), Tensor([[5.]], dtype=float32))
    """
    full = choice(mode, ("reduced", "complete"), "qr", "mode") == "complete"
    return QRResult(*_core.qr(_core.constant(x, who="qr"), full))


@overload
def svd(
    x: TensorLike,
    /,
    full_matrices: bool = True,
    compute_uv: Literal[True] = True,
    *,
    degenerate: Degenerate = "nan",
) -> SVDResult: ...
@overload
def svd(
    x: TensorLike,
    /,
    full_matrices: bool = True,
    *,
    compute_uv: Literal[False],
    degenerate: Degenerate = "nan",
) -> Tensor: ...
@composite
def svd(
    x: TensorLike,
    /,
    full_matrices: bool = True,
    compute_uv: bool = True,
    *,
    degenerate: Degenerate = "nan",
) -> SVDResult | Tensor:
    """Compute the singular value decomposition of matrices.

    The factors of x = U diag(S) Vh. Differentiable in `x`; gradients of U and Vh require
    ``full_matrices=False`` unless m = n.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    full_matrices : bool, default True
        Return complete orthonormal bases in `U` and `Vh`.
    compute_uv : bool, default True
        If False, return `S` alone, as `svdvals` does.
    degenerate : {"nan", "mask", "error"}, default "nan"
        Gradient of the vectors of equal values: NaN, without the terms between these vectors, or an
        error; see `pb.linalg`.

    Returns
    -------
    U : Tensor
        Left singular vectors as columns, shape (…, m, m), or (…, m, k) with k = min(m, n) if not
        `full_matrices`; the floating or complex dtype of `x`.
    S : Tensor
        Singular values in descending order, shape (…, k); the real floating dtype of `x`.
    Vh : Tensor
        Right singular vectors as rows, conjugated, shape (…, n, n), or (…, k, n) if not
        `full_matrices`; the dtype of `U`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2, or if a matrix has no decomposition, for example because it
        contains NaN or infinity (raised when the result is computed, with its position in the
        batch).
        With `degenerate` "error" also if a gradient meets equal values.
    ValueError
        If `degenerate` is unknown.
    NotImplementedError
        If a gradient of `U` or `Vh` is requested with `full_matrices` and m is not n.

    Examples
    --------
    >>> u, s, vh = pb.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> pb.round(s, 3)
    Tensor([4., 3.], dtype=float32)
    """
    if full_matrices is not True:
        full_matrices = flag(full_matrices, "svd", "full_matrices")
    if not flag(compute_uv, "svd", "compute_uv"):
        return _singular_values(x, "svd")
    word = degenerate_word(degenerate, "svd")
    return SVDResult(*_core.svd(_core.constant(x, who="svd"), full_matrices, word))


@composite
def svdvals(x: TensorLike, /) -> Tensor:
    """Compute the singular values of matrices.

    Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Singular values in descending order, shape (…, min(m, n)); the real floating dtype of `x`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2, or if a matrix has no decomposition, for example because it
        contains NaN or infinity (raised when the result is computed, with its position in the
        batch).

    Examples
    --------
    >>> pb.round(pb.linalg.svdvals([[3.0, 0.0], [0.0, -4.0]]), 3)
    Tensor([4., 3.], dtype=float32)
    """
    return _singular_values(x, "svdvals")


def _singular_values(x: TensorLike, who: str) -> Tensor:
    out: Tensor = _core.svd(_core.constant(x, who=who), False, who=who)[1]
    return out


def degenerate_word(word: Any, who: str) -> str:
    return choice(word, ("nan", "mask", "error"), who, "degenerate")


def lower_of(x: Any, which: Any, who: str) -> Tensor:
    if hasattr(which, "dtype"):  # the second argument of SciPy's function
        raise ValueError(
            f"{who}: expected 'L' or 'U' for UPLO, got a matrix; pass that of the generalised "
            "problem as b="
        )
    upper = choice(which, ("L", "U"), who, "UPLO") == "U"
    x = _core.constant(x, who=who)
    return adjoint(x) if upper and len(x.shape) > 1 else x


@composite
def lu(x: TensorLike, /) -> LUResult:
    """Compute the LU decomposition of matrices with partial pivoting, as ``scipy.linalg.lu``.

    The factors of x = P L U. `L` and `U` are differentiable in `x`, `P` is not.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, m, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    P : Tensor
        Permutation matrices of shape (…, m, m); the floating or complex dtype of `x`, float32 for
        float16 and bfloat16.
    L : Tensor
        Lower triangles with ones on the diagonal, shape (…, m, k) with k = min(m, n); the dtype of
        `P`.
    U : Tensor
        Upper triangles of shape (…, k, n); the dtype of `P`.

    Raises
    ------
    LinAlgError
        If `x` has a rank below 2.

    Examples
    --------
    >>> p, l, u = pb.linalg.lu([[1.0, 2.0], [4.0, 4.0]])
    >>> l
    Tensor([[1.  , 0.  ],
           [0.25, 1.  ]], dtype=float32)
    """
    x = _core.constant(x, who="lu")
    both, positions, *_ = _core.lu(x)
    m, n = both.shape[-2:]
    k = min(m, n)
    lower = _core.add(tril(both[..., :k], k=-1), _core.eye(m, k, 0, both.dtype))
    rows = _core.reshape(_core.arange(0, m, 1, "int64"), (m, 1))
    places = _core.reshape(positions, (*positions.shape[:-1], 1, m))
    swapped = _core.cast(_core.equal(rows, places), both.dtype)
    return LUResult(swapped, lower, triu(both[..., :k, :]))
