"""Functions of matrices that are none of their entries, and Sylvester equations.

The last two axes are matrices, the axes before a batch; each matrix is one thread's. Integers
become the default float, float16 and bfloat16 are computed in float32. What is not square is a
`numpy.linalg.LinAlgError`, and so is a matrix that has no such function, or holds NaN or infinity,
when it is computed: it names the place in the batch. Derivatives of every order exist in both
directions, of complex matrices too.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _core
from .._core import Tensor
from .._typing import TensorLike
from .arguments import check_matrices
from .matrices import one_dtype, same_batch


def expm(x: TensorLike, /) -> Tensor:
    """e to the power of matrices of shape (…, n, n): the sum of xᵏ / k!. NaN where x holds NaN or
    infinity.

    By scaling and squaring (Al-Mohy and Higham, 2009).

    >>> pb.round(pb.linalg.expm([[0.0, 1.0], [0.0, 0.0]]), 3)
    Tensor([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    return _of_matrices(_core.expm, x, "expm")


def logm(x: TensorLike, /) -> Tensor:
    """The logarithm of matrices of shape (…, n, n): of those that there are, the one whose
    eigenvalues have imaginary parts between -π and π.

    Of a real matrix it is real, and NaN where there is no such one, as an eigenvalue is negative:
    cast it to a complex dtype. LinAlgError where an eigenvalue is 0. By Schur's factors, roots and
    a Padé approximant (Al-Mohy and Higham, 2012).

    >>> pb.round(pb.linalg.logm([[2.0, 1.0], [1.0, 2.0]]), 3)  # of eigenvalues 1 and 3
    Tensor([[0.549, 0.549],
            [0.549, 0.549]], dtype=float32)
    """
    return _of_matrices(_core.logm, x, "logm")


def sqrtm(x: TensorLike, /) -> Tensor:
    """The square root of matrices of shape (…, n, n), whose eigenvalues have no negative real part
    themselves. No eigenvalue of x may be on the negative real axis.

    Of a real matrix it is real, and NaN where there is no such one, as an eigenvalue is negative:
    cast it to a complex dtype. LinAlgError for a singular one that has no root. The gradient solves
    a Sylvester equation, and is a LinAlgError for singular ones. By Schur's factors (Björck and
    Hammarling, 1983).

    >>> pb.round(pb.linalg.sqrtm([[5.0, 4.0], [4.0, 5.0]]), 3)
    Tensor([[2., 1.],
            [1., 2.]], dtype=float32)
    """
    return _of_matrices(_core.sqrtm, x, "sqrtm")


def _of_matrices(function: Callable[[Tensor], Tensor], x: TensorLike, who: str) -> Tensor:
    [a], rounded = one_dtype([x], who)
    check_matrices(a, who, square=True)
    return rounded(function(a))


def solve_sylvester(a: TensorLike, b: TensorLike, q: TensorLike, /) -> Tensor:
    """x with a x + x b = q, as `scipy.linalg.solve_sylvester`.

    a: of shape (…, m, m). b: (…, n, n). q: (…, m, n). Batches broadcast. LinAlgError where an
    eigenvalue of a is minus one of b. By Schur's factors (Bartels and Stewart, 1972).

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
            f"{who}: expected q of shape (…, {left.shape[-1]}, {right.shape[-1]}) for a of "
            f"{left.shape} and b of {right.shape}, got {sides.shape}"
        )
    return rounded(_core.solve_sylvester(*same_batch([left, right, sides], [2, 2, 2], who)))
