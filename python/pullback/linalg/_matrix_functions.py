"""Functions of matrices that are not elementwise, polar factors, and Sylvester equations.

The last two axes are matrices, the leading axes a batch; each matrix is computed by one thread.
Integers become the default floating dtype; float16 and bfloat16 are computed in float32. A matrix
that is not square raises `numpy.linalg.LinAlgError`. So does a matrix that has no such function, or
contains NaN or infinity, when the result is computed; the message contains its position in the
batch. Derivatives of every order exist in forward and reverse mode, of complex matrices too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from .. import _core
from .._base.checks import check_matrices, choice
from .._base.composite import composite
from .._core import Rule, Tensor
from .._typing import TensorLike
from ._matrices import adjoint, hermitian, one_dtype, same_batch


class PolarResult(NamedTuple):
    """Factor with orthonormal rows or columns, and Hermitian factor."""

    u: Tensor
    p: Tensor


@composite
def expm(x: TensorLike, /) -> Tensor:
    """Compute the matrix exponential.

    The sum of xᵏ / k! over all k, by scaling and squaring [1]_. NaN if `x` contains NaN or
    infinity. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square.

    References
    ----------
    .. [1] A. H. Al-Mohy, N. J. Higham, "A new scaling and squaring algorithm for the matrix
       exponential", SIAM J. Matrix Anal. Appl. 31, 2009.

    Examples
    --------
    >>> pb.round(pb.linalg.expm([[0.0, 1.0], [0.0, 0.0]]), 3)
    Tensor([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return _of_matrices(_core.expm, x, "expm")


@composite
def logm(x: TensorLike, /) -> Tensor:
    """Compute the principal matrix logarithm.

    The logarithm whose eigenvalues have imaginary parts between -π and π, by the Schur
    decomposition, square roots and a Padé approximant [1]_. The result for a real matrix is real,
    and NaN if no real logarithm exists because an eigenvalue is negative; cast such a matrix to a
    complex dtype. Differentiable in `x`.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, or if an eigenvalue is 0 or the matrix contains NaN or infinity
        (raised when the result is computed, with its position in the batch).

    References
    ----------
    .. [1] A. H. Al-Mohy, N. J. Higham, "Improved inverse scaling and squaring algorithms for the
       matrix logarithm", SIAM J. Sci. Comput. 34, 2012.

    Examples
    --------
    >>> pb.round(pb.linalg.logm([[2.0, 1.0], [1.0, 2.0]]), 3)  # of eigenvalues 1 and 3
    Tensor([[0.549, 0.549],
            [0.549, 0.549]], dtype=float32)
    """
    return _of_matrices(_core.logm, x, "logm")


@composite
def sqrtm(x: TensorLike, /) -> Tensor:
    """Compute the principal matrix square root.

    The root whose eigenvalues have no negative real part, by the Schur decomposition [1]_. No
    eigenvalue of `x` may lie on the negative real axis: the result for a real matrix is real, and
    NaN if no real root exists because an eigenvalue is negative; cast such a matrix to a complex
    dtype. Differentiable in `x` if it is not singular; the gradient solves a Sylvester equation.

    Parameters
    ----------
    x : array_like
        Matrices of shape (…, n, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.

    Returns
    -------
    Tensor
        Shape (…, n, n); the floating or complex dtype of `x`.

    Raises
    ------
    LinAlgError
        If a matrix is not square, if it is singular and has no root or contains NaN or infinity
        (raised when the result is computed, with its position in the batch), or if the gradient of
        a singular matrix is computed.

    References
    ----------
    .. [1] Å. Björck, S. Hammarling, "A Schur method for the square root of a matrix", Linear
       Algebra Appl. 52/53, 1983.

    Examples
    --------
    >>> pb.round(pb.linalg.sqrtm([[5.0, 4.0], [4.0, 5.0]]), 3)
    Tensor([[2., 1.],
            [1., 2.]], dtype=float32)
    """
    return _of_matrices(_core.sqrtm, x, "sqrtm")


def _of_matrices(function: Callable[[Tensor], Tensor], x: TensorLike, who: str) -> Tensor:
    [a], rounded = one_dtype([x], who)
    check_matrices(a, who, square=True)
    return rounded(function(a))


@composite
def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike, /) -> Tensor:
    """Solve the Sylvester equation ``a @ x + x @ b = q``, as ``scipy.linalg.solve_sylvester``.

    By Schur decompositions [1]_. Differentiable in all inputs. Batches broadcast.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, m, m). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    b : array_like
        Matrices of shape (…, n, n).
    q : array_like
        Right-hand sides of shape (…, m, n).

    Returns
    -------
    Tensor
        Shape (…, m, n); the floating or complex dtype to which the inputs promote.

    Raises
    ------
    LinAlgError
        If `a` or `b` is not square, if `q` has a rank below 2, or if an eigenvalue of `a` is minus
        an eigenvalue of `b` (raised when the result is computed).
    ValueError
        If the shape of `q` does not match or the batches do not broadcast.

    References
    ----------
    .. [1] R. H. Bartels, G. W. Stewart, "Solution of the matrix equation AX + XB = C", Commun. ACM
       15, 1972.

    Examples
    --------
    >>> x = pb.linalg.solve_sylvester([[1.0, 0.0], [0.0, 2.0]], [[3.0]], [[8.0], [5.0]])
    >>> pb.round(x, 3)
    Tensor([[2.],
           [1.]], dtype=float32)
    """
    who = "solve_sylvester"
    (left, right, sides), rounded = one_dtype([a, b, q], who)
    check_matrices(left, who, square=True)
    check_matrices(right, who, square=True)
    check_matrices(sides, who)
    if sides.shape[-2:] != (left.shape[-1], right.shape[-1]):
        raise ValueError(
            f"{who}: expected shape (…, {left.shape[-1]}, {right.shape[-1]}) for q with a and b "
            f"of shapes {left.shape} and {right.shape}, got {sides.shape}"
        )
    left, right, sides = same_batch([left, right, sides], [2, 2, 2], who)
    return rounded(_core.solve_sylvester(left, right, sides))


@composite
def polar(a: TensorLike, /, side: Literal["right", "left"] = "right") -> PolarResult:
    """Compute the polar decomposition ``a = u @ p``, or ``a = p @ u``, as ``scipy.linalg.polar``.

    Differentiable in `a` if it has full rank, also if singular values are equal: the gradient
    solves a Sylvester equation.

    Parameters
    ----------
    a : array_like
        Matrices of shape (…, m, n). Integers become the default floating dtype; float16 and
        bfloat16 are computed in float32.
    side : {"right", "left"}, default "right"
        Side of `u` on which the Hermitian factor is.

    Returns
    -------
    u : Tensor
        Shape (…, m, n), with orthonormal columns if m ≥ n and orthonormal rows if m ≤ n; the
        floating or complex dtype of `a`.
    p : Tensor
        Hermitian and positive semidefinite, shape (…, n, n), or (…, m, m) for `side` "left"; the
        dtype of `u`.

    Raises
    ------
    LinAlgError
        If `a` has a rank below 2, if a matrix contains NaN or infinity (raised when the result is
        computed), or if the gradient of a matrix without full rank is computed.
    ValueError
        If `side` is unknown.

    Examples
    --------
    >>> u, p = pb.linalg.polar([[0.0, -2.0], [3.0, 0.0]])
    >>> pb.round(u, 3) + 0.0, pb.round(p, 3) + 0.0
    (Tensor([[ 0., -1.],
           [ 1.,  0.]], dtype=float32), Tensor([[3., 0.],
           [0., 2.]], dtype=float32))
    """
    [x], rounded = one_dtype([a], "polar")
    check_matrices(x, "polar")
    left = choice(side, ("right", "left"), "polar", "side") == "left"
    wide = x.shape[-2] < x.shape[-1]
    u = adjoint(_unitary(adjoint(x))) if wide else _unitary(x)
    p = hermitian(_core.matmul(x, adjoint(u)) if left else _core.matmul(adjoint(u), x))
    return PolarResult(rounded(u), rounded(p))


def _unitary(a: Tensor) -> Tensor:
    """Return the polar factor of matrices that are not wider than high."""
    v, _, wh = _core.svd(_core.stop_gradient(a), False, who="polar")
    value = _core.matmul(v, wh)

    def rule(op: str, inputs: list[Any], outputs: list[Any], cotangents: list[Any]) -> list[Any]:
        # With p = uᴴ a: du = u w + (1 - u uᴴ) da p⁻¹, where p w + w p = uᴴ da - daᴴ u.
        (a,), (u,), (g,) = inputs, outputs, cotangents
        p = hermitian(_core.matmul(adjoint(u), a))
        inside = _core.matmul(adjoint(u), g)
        w = _core.solve_sylvester(p, p, _core.subtract(inside, adjoint(inside)))
        found = _core.matmul(u, w)
        if a.shape[-2] != a.shape[-1]:
            outside = _core.subtract(g, _core.matmul(u, inside))
            found = _core.add(found, adjoint(_core.solve(p, adjoint(outside))))
        return [found]

    return _core.custom([value], [a], Rule(rule, "polar"))[0]
