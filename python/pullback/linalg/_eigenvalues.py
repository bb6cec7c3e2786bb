"""Eigenvalues and eigenvectors of matrices by LAPACK, and the generalised Hermitian problem.

Their common properties are documented in `pb.linalg`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import _core
from .._base.checks import check_matrices
from .._base.composite import composite
from .._core import Rule, Tensor
from .._numpy.triangular import tril
from .._typing import TensorLike, Triangle
from ._decompositions import Degenerate, degenerate_word, lower_of
from ._matrices import adjoint, hermitian, one_dtype, same_batch

_Map = Callable[[Tensor], Tensor]


class EigResult(NamedTuple):
    """Eigenvalues in no particular order and eigenvectors as columns of length 1, both complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """Eigenvalues in ascending order and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


@composite
def eigh(
    x: TensorLike,
    /,
    UPLO: Triangle = "L",  # noqa: N803
    *,
    b: TensorLike | None = None,
    degenerate: Degenerate = "nan",
) -> EighResult:
    """Compute the eigenvalues and eigenvectors of hermitian matrices.

    With `b`, those of the generalised problem ``x @ v = b @ v * w``, by the Cholesky factor of `b`,
    as in ``scipy.linalg.eigh``. Differentiable in `x` and `b`, with hermitian gradients.

    Parameters
    ----------
    x : array_like
        Hermitian matrices of shape (…, n, n), of which one triangle is read. Integers become the
        default floating dtype; float16 and bfloat16 are computed in float32.
    UPLO : {"L", "U"}, default "L"
        Triangle that is read, the lower or the upper one.
    b : array_like, optional
        Hermitian, positive definite matrices of shape (…, n, n), of which the same triangle is
        read. Batches broadcast. Default: the unit matrix.
    degenerate : {"nan", "mask", "error"}, default "nan"
        Gradient of the vectors of equal values: NaN, without the terms between these vectors, or an
        error; see `pb.linalg`.

    Returns
    -------
    eigenvalues : Tensor
        Ascending, shape (…, n); the real floating dtype of `x`.
    eigenvectors : Tensor
        Columns, column k for eigenvalue k, shape (…, n, n); the floating or complex dtype of `x`.
        They are orthonormal; with `b`, ``vᴴ @ b @ v`` is the unit matrix.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if it has no decomposition, for example because it contains
        NaN or infinity or `b` is not positive definite (raised when the result is computed, with
        its position in the batch). With `degenerate` "error" also if a gradient meets equal values.
    ValueError
        If `UPLO` or `degenerate` is unknown, or if the shapes of `x` and `b` do not match.

    Examples
    --------
    >>> w, v = pb.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> pb.round(w, 3)
    Tensor([1., 3.], dtype=float32)
    """
    word = degenerate_word(degenerate, "eigh")
    if b is not None:
        reduced, back, rounded = _reduced(x, b, UPLO, "eigh")
        values, vectors = _core.eigh(reduced, word)
        real = rounded(values) if values.dtype == vectors.dtype else values
        return EighResult(real, rounded(back(vectors)))
    return EighResult(*_core.eigh(lower_of(x, UPLO, "eigh"), word))


@composite
def eigvalsh(
    x: TensorLike, /, UPLO: Triangle = "L", *, b: TensorLike | None = None,  # noqa: N803
) -> Tensor:  # fmt: skip
    """Compute the eigenvalues of hermitian matrices.

    With `b`, those of the generalised problem of `eigh`. Differentiable in `x` and `b`, with
    hermitian gradients.

    Parameters
    ----------
    x : array_like
        Hermitian matrices of shape (…, n, n), of which one triangle is read. Integers become the
        default floating dtype; float16 and bfloat16 are computed in float32.
    UPLO : {"L", "U"}, default "L"
        Triangle that is read, the lower or the upper one.
    b : array_like, optional
        Hermitian, positive definite matrices of shape (…, n, n), of which the same triangle is
        read. Batches broadcast. Default: the unit matrix.

    Returns
    -------
    Tensor
        Eigenvalues in ascending order, shape (…, n); the real floating dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if it has no decomposition, for example because it contains
        NaN or infinity or `b` is not positive definite (raised when the result is computed, with
        its position in the batch).
    ValueError
        If `UPLO` is unknown, or if the shapes of `x` and `b` do not match.

    Examples
    --------
    >>> pb.round(pb.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]), 3)
    Tensor([1., 3.], dtype=float32)
    """
    if b is not None:
        reduced, _, rounded = _reduced(x, b, UPLO, "eigvalsh")
        values = _core.eigh(reduced, who="eigvalsh")[0]
        return rounded(values) if values.dtype == reduced.dtype else values
    out: Tensor = _core.eigh(lower_of(x, UPLO, "eigvalsh"), who="eigvalsh")[0]
    return out


@composite
def eig(x: TensorLike, /, *, degenerate: Degenerate = "nan") -> EigResult:
    """Compute the eigenvalues and right eigenvectors of square matrices.

    Each vector has length 1 and its largest element is real, with the sign that the library
    chooses; the gradients are those of vectors normalised in this way. Differentiable in `x`; the
    gradients are NaN for a matrix whose vectors are dependent within the rounding error.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    degenerate : {"nan", "mask", "error"}, default "nan"
        Gradient of the vectors of equal values: NaN, without the terms between these vectors, or an
        error; see `pb.linalg`.

    Returns
    -------
    eigenvalues : Tensor
        Eigenvalues in no particular order, shape (…, n); complex dtype.
    eigenvectors : Tensor
        Column k for eigenvalue k, shape (…, n, n); complex dtype.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if it has no decomposition, for example because it contains
        NaN or infinity (raised when the result is computed, with its position in the batch).
        With `degenerate` "error" also if a gradient meets equal values.
    ValueError
        If `degenerate` is unknown.

    Examples
    --------
    >>> w, v = pb.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> w
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """
    word = degenerate_word(degenerate, "eig")
    return EigResult(*_core.eig(_core.constant(x, who="eig"), word))


@composite
def eigvals(x: TensorLike, /) -> Tensor:
    """Compute the eigenvalues of square matrices.

    Differentiable in `x`; the gradients are NaN for a matrix whose eigenvectors are dependent
    within the rounding error.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Eigenvalues in no particular order, shape (…, n); complex dtype.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if it has no decomposition, for example because it contains
        NaN or infinity (raised when the result is computed, with its position in the batch).

    Examples
    --------
    >>> pb.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """
    out: Tensor = _core.eig(_core.constant(x, who="eigvals"), who="eigvals")[0]
    return out


def _reduced(x: Any, b: Any, which: Any, who: str) -> tuple[Tensor, _Map, _Map]:
    """Return l⁻¹ x l⁻ᴴ for the Cholesky factor l of `b`, and the functions that map eigenvectors
    back and round a result."""
    pair, rounded = one_dtype([x, b], who)
    for one in pair:
        check_matrices(one, who, square=True)
    if pair[0].shape[-1] != pair[1].shape[-1]:
        raise ValueError(
            f"{who}: expected matrices of one size for x and b, got shapes {pair[0].shape} and "
            f"{pair[1].shape}"
        )
    lower = [lower_of(one, which, who) for one in pair]
    full, weight = same_batch([_from_lower(lower[0]), lower[1]], [2, 2], who)
    factor = _core.cholesky(weight)
    half = _core.triangular_solve(factor, full, True, "N", False)
    reduced = _core.triangular_solve(factor, adjoint(half), True, "N", False)
    return (
        reduced,
        lambda v: _core.triangular_solve(factor, v, True, "C", False),
        rounded,
    )


def _from_lower(x: Tensor) -> Tensor:
    """Return the hermitian matrices of these lower triangles; the gradient is hermitian."""
    frozen = _core.stop_gradient(x)
    below = tril(frozen, k=-1)
    middle = _core.subtract(tril(frozen), below)
    if x.dtype.kind == "c":
        middle = _core.cast(_core.real(middle), x.dtype)
    full = _core.add(_core.add(below, adjoint(below)), middle)

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        return [hermitian(cotangents[0])]

    return _core.custom([full], [x], Rule(rule, "eigh"))[0]
