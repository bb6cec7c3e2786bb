"""Factors of matrices, by LAPACK: Cholesky's, LU, QR, singular values, eigenvalues. What holds for
all of them is said in `pb.linalg`."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import choice, flag
from .arranging import tril, triu

Degenerate = Literal["nan", "mask", "error"]


class EigResult(NamedTuple):
    """Eigenvalues, in no order, and the vectors as columns, of length 1; all complex."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EighResult(NamedTuple):
    """Eigenvalues, ascending, and the vectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """A factor with orthonormal columns, and an upper triangle."""

    Q: Tensor
    R: Tensor


class SVDResult(NamedTuple):
    """Left vectors as columns, singular values, descending, and right vectors as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class LUResult(NamedTuple):
    """Rows in another order, a lower triangle with ones on its diagonal, an upper one."""

    P: Tensor
    L: Tensor
    U: Tensor


def _turned(x: Tensor) -> Tensor:
    """The adjoint of each matrix."""
    return _core.conj(x.mT) if x.dtype.kind == "c" else x.mT


def cholesky(x: TensorLike, /, *, upper: bool = False) -> Tensor:
    """The lower triangle l with x = l lᴴ; with `upper` its adjoint.

    x: hermitian and positive definite, of shape (…, n, n). Only its lower triangle is read (the
        upper one with `upper`), and its gradient is hermitian.

    >>> pb.linalg.cholesky([[4.0, 2.0], [2.0, 10.0]])
    Tensor([[2., 0.],
           [1., 3.]], dtype=float32)
    """
    if upper is not False:
        upper = flag(upper, "cholesky", "upper")
    x = _core.constant(x, who="cholesky")
    return _turned(_core.cholesky(_lower_of(x, "U", "cholesky"))) if upper else _core.cholesky(x)


def qr(x: TensorLike, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Q, with orthonormal columns, and the upper triangle R of x = Q R.

    x: of shape (…, m, n). With k = min(m, n), Q is (…, m, k) and R (…, k, n); in mode "complete" Q
        is (…, m, m) and R (…, m, n), and where m > n there is no gradient.

    >>> q, r = pb.linalg.qr([[3.0], [4.0]])
    >>> pb.round(pb.abs(q), 3), pb.round(pb.abs(r), 3)
    (Tensor([[0.6],
            [0.8]], dtype=float32), Tensor([[5.]], dtype=float32))
    """
    full = choice(mode, ("reduced", "complete"), "qr", "mode") == "complete"
    return QRResult(*_core.qr(_core.constant(x, who="qr"), full))


def svd(
    x: TensorLike, /, *, full_matrices: bool = True, degenerate: Degenerate = "nan"
) -> SVDResult:
    """U, the singular values S, and Vh of x = U diag(S) Vh.

    x: of shape (…, m, n). With k = min(m, n), S is (…, k), descending. U is (…, m, m) and Vh
        (…, n, n), or (…, m, k) and (…, k, n) without `full_matrices`, which gradients of U and Vh
        need unless m = n.
    degenerate: "nan", "mask" or "error", what gradients of vectors of equal singular values are
        (see `pb.linalg`).

    >>> u, s, vh = pb.linalg.svd([[3.0, 0.0], [0.0, -4.0]])
    >>> pb.round(s, 3)
    Tensor([4., 3.], dtype=float32)
    """
    if full_matrices is not True:
        full_matrices = flag(full_matrices, "svd", "full_matrices")
    word = _degenerate(degenerate, "svd")
    return SVDResult(*_core.svd(_core.constant(x, who="svd"), full_matrices, word))


def svdvals(x: TensorLike, /) -> Tensor:
    """The singular values of matrices, descending: (…, m, n) gives (…, min(m, n)).

    >>> pb.round(pb.linalg.svdvals([[3.0, 0.0], [0.0, -4.0]]), 3)
    Tensor([4., 3.], dtype=float32)
    """
    out: Tensor = _core.svd(_core.constant(x, who="svdvals"), False)[1]
    return out


def _degenerate(word: Any, who: str) -> str:
    return choice(word, ("nan", "mask", "error"), who, "degenerate")


def eigh(
    x: TensorLike,
    /,
    UPLO: Literal["L", "U"] = "L",  # noqa: N803
    *,
    degenerate: Degenerate = "nan",
) -> EighResult:
    """The eigenvalues of hermitian matrices, ascending and real, and their vectors.

    x: of shape (…, n, n), of which the lower triangle (or the upper one) is read; its gradient is
        hermitian. Values are (…, n), vectors (…, n, n), column k for value k.
    degenerate: "nan", "mask" or "error", what gradients of vectors of equal values are (see
        `pb.linalg`).

    >>> w, v = pb.linalg.eigh([[2.0, 1.0], [1.0, 2.0]])
    >>> pb.round(w, 3)
    Tensor([1., 3.], dtype=float32)
    """
    word = _degenerate(degenerate, "eigh")
    return EighResult(*_core.eigh(_lower_of(x, UPLO, "eigh"), word))


def eigvalsh(x: TensorLike, /, UPLO: Literal["L", "U"] = "L") -> Tensor:  # noqa: N803
    """The eigenvalues of hermitian matrices, ascending and real: (…, n, n) gives (…, n).

    >>> pb.round(pb.linalg.eigvalsh([[2.0, 1.0], [1.0, 2.0]]), 3)
    Tensor([1., 3.], dtype=float32)
    """
    out: Tensor = _core.eigh(_lower_of(x, UPLO, "eigvalsh"))[0]
    return out


def eig(x: TensorLike, /, *, degenerate: Degenerate = "nan") -> EigResult:
    """The eigenvalues of square matrices and their vectors, both complex.

    x: of shape (…, n, n), real or complex. Values are (…, n), vectors (…, n, n), column k for value
        k, each of length 1 with its largest entry real (its sign is the library's); gradients are
        those of vectors that stay so. A matrix that has no n independent vectors has values, but
        no gradients.
    degenerate: "nan", "mask" or "error", what gradients of vectors of equal values are (see
        `pb.linalg`).

    >>> w, v = pb.linalg.eig([[0.0, -1.0], [1.0, 0.0]])
    >>> w
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """
    word = _degenerate(degenerate, "eig")
    return EigResult(*_core.eig(_core.constant(x, who="eig"), word))


def eigvals(x: TensorLike, /) -> Tensor:
    """The eigenvalues of square matrices, complex, in no order: (…, n, n) gives (…, n).

    >>> pb.linalg.eigvals([[0.0, -1.0], [1.0, 0.0]])
    Tensor([0.+1.j, 0.-1.j], dtype=complex64)
    """
    out: Tensor = _core.eig(_core.constant(x, who="eigvals"))[0]
    return out


def _lower_of(x: Any, which: Any, who: str) -> Tensor:
    upper = choice(which, ("L", "U"), who, "UPLO") == "U"
    x = _core.constant(x, who=who)
    return _turned(x) if upper and len(x.shape) > 1 else x


def lu(x: TensorLike, /) -> LUResult:
    """P, L and U of x = P L U, with partial pivoting, as `scipy.linalg.lu`.

    x: of shape (…, m, n). With k = min(m, n), P is (…, m, m), L (…, m, k) and U (…, k, n). P has no
        gradient.

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
